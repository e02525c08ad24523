"""Parsing the bytes of tables: CSV, Parquet, Arrow. What stands here is run in a child process; see ``sandbox``."""
