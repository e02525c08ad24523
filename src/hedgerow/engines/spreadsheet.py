"""Making CSV cells harmless in a spreadsheet, reversibly.

A cell that starts with = + - @ or a tab is run as a formula by common programs. One apostrophe in front stops that.
Numbers are left alone. A cell that already starts with apostrophes before such a sign gets one more, so that taking
one off always gives the original back.
"""

from __future__ import annotations

import re

_RUNS = re.compile(r"'*[=+\-@\t\r＝＋－＠]")  # noqa: RUF001 - their wide forms run too
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\Z", re.ASCII)


def guard(cell: str) -> str:
    """Put an apostrophe before a cell that a spreadsheet would run.

    Examples
    --------
    >>> guard("=1+1"), guard("-5"), guard("-5--1"), guard("flu")
    ("'=1+1", '-5', "'-5--1", 'flu')
    """
    return "'" + cell if _RUNS.match(cell) and not _NUMBER.match(cell) else cell


def unguard(cell: str) -> str:
    """Take the apostrophe away again.

    Examples
    --------
    >>> unguard("'=1+1"), unguard("-5"), unguard("'tis")
    ('=1+1', '-5', "'tis")
    """
    return cell[1:] if cell.startswith("'") and _RUNS.match(cell) else cell
