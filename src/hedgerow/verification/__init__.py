"""The independent check of a release: reads what was written, and shares no code with what wrote it.

Start reading at ``check.py``, which goes from promise to promise, and at ``result.py``, which says what each means.
Below them, each knowing only those after it:

- ``promises``: one file for each promise or family of promises;
- ``counting``: rows, groups and histograms, and all of it brought together as evidence;
- ``reading``: files, databases and tables in memory, to columns of text;
- ``values``: what a cell means: numbers, ranges, trees, limits.

Of Hedgerow it may import the plan, the errors and types, and what bounds and carries bytes (``outside``): the import
contracts hold all this. Other rooms import from here only.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hedgerow.verification.check import verify_release
    from hedgerow.verification.counting.row_evidence import RowEvidence
    from hedgerow.verification.counting.tabulation import find_groups
    from hedgerow.verification.in_place import verify_in_place, verify_release_in_place
    from hedgerow.verification.reading.cells import distinct_cells
    from hedgerow.verification.reading.link import read_link
    from hedgerow.verification.reading.listing import SIGNATURE, Listing
    from hedgerow.verification.reading.original import Original, read_original
    from hedgerow.verification.reading.places import InDatabase, InFile, Lender, LinkClaim, PlacedClaim, Where
    from hedgerow.verification.reading.published import Unreadable, open_release, read_release
    from hedgerow.verification.reading.stated import is_number
    from hedgerow.verification.result import MEANINGS, Promise, Verification
    from hedgerow.verification.values.columns import Cell
    from hedgerow.verification.values.numbers import read_number, read_span

_HOME = {
    "Unreadable": "reading.published",
    "read_span": "values.numbers",
    "read_release": "reading.published",
    "read_original": "reading.original",
    "read_number": "values.numbers",
    "read_link": "reading.link",
    "find_groups": "counting.tabulation",
    "distinct_cells": "reading.cells",
    "RowEvidence": "counting.row_evidence",
    "Original": "reading.original",
    "Cell": "values.columns",
    "LinkClaim": "reading.places",
    "InDatabase": "reading.places",
    "InFile": "reading.places",
    "Lender": "reading.places",
    "Listing": "reading.listing",
    "MEANINGS": "result",
    "PlacedClaim": "reading.places",
    "Promise": "result",
    "SIGNATURE": "reading.listing",
    "Verification": "result",
    "Where": "reading.places",
    "is_number": "reading.stated",
    "open_release": "reading.published",
    "verify_in_place": "in_place",
    "verify_release": "check",
    "verify_release_in_place": "in_place",
}

__all__ = [
    "MEANINGS",
    "SIGNATURE",
    "Cell",
    "InDatabase",
    "InFile",
    "Lender",
    "LinkClaim",
    "Listing",
    "Original",
    "PlacedClaim",
    "Promise",
    "RowEvidence",
    "Unreadable",
    "Verification",
    "Where",
    "distinct_cells",
    "find_groups",
    "is_number",
    "open_release",
    "read_link",
    "read_number",
    "read_original",
    "read_release",
    "read_span",
    "verify_in_place",
    "verify_release",
    "verify_release_in_place",
]


def __getattr__(name: str) -> Any:
    """Load a name when it is first used: the process that parses files needs the parser only."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
