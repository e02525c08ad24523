"""The table as algorithms see it: read, parsed in a child, encoded to small numbers, collapsed to profiles with counts.

``parsing/`` turns the bytes of files into columns; ``read`` finds and checks them; ``microdata`` encodes them;
``recoding`` says who is in which group, published as what.

May import: ``plan`` and what is below. Start reading at ``microdata.py``.
"""

from hedgerow.microdata.columns import FreeColumn, QuasiIdentifier, TreeColumn
from hedgerow.microdata.microdata import Microdata, encode_table
from hedgerow.microdata.read import Table, column_names, read_table
from hedgerow.microdata.sensitive import SensitiveColumn

__all__ = [
    "FreeColumn",
    "Microdata",
    "QuasiIdentifier",
    "SensitiveColumn",
    "Table",
    "TreeColumn",
    "column_names",
    "encode_table",
    "read_table",
]
