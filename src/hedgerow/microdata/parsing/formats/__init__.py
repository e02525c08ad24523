"""The file formats, one per module, each with its reader and the descriptor by which everybody else finds it.

Start reading at ``parquet.py``.
"""
