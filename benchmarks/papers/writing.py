"""The page that the experiments write: blocks of figures, and how figures look in them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from benchmarks.page import DOCS, replace_block, table

__all__ = ["PAGE", "Write", "count", "least_to_most", "milliseconds", "percent", "picture", "table", "write"]

PAGE = DOCS / "papers.md"
Write = Callable[[str, str], None]
"""Takes the name of a block and its new text."""


def write(block: str, text: str) -> None:
    """Replace a block of the page."""
    replace_block(PAGE, block, text)


def count(number: int) -> str:
    """A number of things.

    Examples
    --------
    >>> count(45222)
    '45,222'
    """
    return f"{number:,}"


def least_to_most(numbers: Sequence[int]) -> str:
    """What several samples gave.

    Examples
    --------
    >>> least_to_most([1200, 950]), least_to_most([0, 0])
    ('950 to 1,200', '0')
    """
    low, high = min(numbers), max(numbers)
    return count(low) if low == high else f"{count(low)} to {count(high)}"


def milliseconds(seconds: float) -> str:
    """A time, to three digits.

    Examples
    --------
    >>> milliseconds(0.0123), milliseconds(1.23456)
    ('12.3', '1,230')
    """
    return f"{float(f'{seconds * 1e3:.3g}'):,.10g}"


def percent(share: float) -> str:
    """A share with one decimal.

    Examples
    --------
    >>> percent(0.9864)
    '98.6%'
    """
    return f"{share:.1%}"


def picture(title: str, name: str) -> str:
    """The line that shows a picture beside the page."""
    return f"![{title}]({name}.svg)"
