"""Bytes and tables in: whatever is checked becomes columns of text here, without a cell ever in a message.

``published`` reads a release, ``original`` the data behind it, ``link`` which record is behind which row; start there.
``formats`` has one entry for each format of files, ``tables`` asks a child process to parse them, and ``delimited`` and
``columnar`` are what runs in that child. ``cells`` writes values as text, ``stated`` knows every fact of facts.json.
Imports ``values``, for numbers.
"""
