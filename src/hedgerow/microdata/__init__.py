"""Reading tables and encoding them to profiles with counts."""

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
