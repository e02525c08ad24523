"""How the CSV file of a release is written: with commas in UTF-8, or as the file was that it is made from.

Where a file has decimal commas, published numbers have them too, and the ends of intervals are told apart by a
semicolon: ``[70,5; 80)``. What is published as it was read stands as it was read in any case.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable
from dataclasses import dataclass

from hedgerow.errors import DataError, Problem
from hedgerow.plan import Plan
from hedgerow.plan.hierarchy.kind import HIERARCHY_KINDS

_NUMBER = r"-?[0-9]+(?:\.[0-9]+)?"
_FRACTION = re.compile(r"-?[0-9]+\.[0-9]+")
_OPEN = re.compile(rf"{_NUMBER}(?:\+| or less)")
_INTERVAL = re.compile(rf"\[({_NUMBER}), ({_NUMBER})([\])])")


@dataclass(frozen=True)
class ReleaseDialect:
    """How a CSV file is written.

    Attributes
    ----------
    numbers
        The columns in which published values are numbers and intervals of numbers.
    """

    delimiter: str = ","
    quote: str = '"'
    encoding: str = "utf-8"
    decimal: str = "."
    numbers: frozenset[str] = frozenset()

    @classmethod
    def of(cls, plan: Plan) -> ReleaseDialect:
        """Return the dialect in which releases under a plan are written."""
        form = plan.data
        if form.output != "as-read":
            return STANDARD
        numbers = frozenset(name for name in plan.quasi_identifiers if _of_numbers(plan, name))
        return cls(form.delimiter or ",", form.quote, form.encoding, form.decimal, numbers)

    @property
    def standard(self) -> bool:
        """Tell whether files have commas, and are UTF-8."""
        return (self.delimiter, self.quote, self.encoding, self.decimal) == (",", '"', "utf-8", ".")

    def shown(self, label: str) -> str:
        """Write a published number or interval.

        Examples
        --------
        >>> german = ReleaseDialect(";", decimal=",")
        >>> [german.shown(label) for label in ("72.5", "[70.5, 80)", "70-79", "*")]
        ['72,5', '[70,5; 80)', '70-79', '*']
        """
        if self.decimal == ".":
            return label
        if _FRACTION.fullmatch(label) or _OPEN.fullmatch(label):
            return label.replace(".", self.decimal)
        ends = _INTERVAL.fullmatch(label)
        if ends is None:
            return label
        return f"[{ends[1]}; {ends[2]}{ends[3]}".replace(".", self.decimal)

    def read(self, cell: str) -> str:
        """Read a published number or interval back.

        Examples
        --------
        >>> ReleaseDialect(";", decimal=",").read("[70,5; 80)")
        '[70.5, 80)'
        """
        label = cell.replace(self.decimal, ".").replace("; ", ", ") if self.decimal != "." else cell
        return label if self.shown(label) == cell else cell

    def cell(self, text: str) -> str:
        """Quote a cell that would be misread without quotes; an empty one would be read as missing."""
        misread = any(sign in text for sign in (self.delimiter, self.quote, "\r", "\n"))
        if text and text == text.strip() and not misread:
            return text
        return f"{self.quote}{text.replace(self.quote, 2 * self.quote)}{self.quote}"

    def encoder(self) -> codecs.IncrementalEncoder:
        """Return what turns text into bytes, piece by piece."""
        return codecs.getincrementalencoder(self.encoding)()

    def check(self, texts: Iterable[str]) -> None:
        """Refuse texts that the encoding has no bytes for."""
        try:
            for text in texts:
                text.encode(self.encoding)
        except UnicodeError:
            message = f"The release holds characters that {self.encoding}, the encoding of the data, does not have."
            raise DataError(Problem("output", message, hint="set data.output: standard in the plan")) from None


STANDARD = ReleaseDialect()


def _of_numbers(plan: Plan, name: str) -> bool:
    attribute = plan.attributes[name]
    spec = attribute.hierarchy
    return attribute.free or (spec is not None and HIERARCHY_KINDS[spec.kind].as_numbers)
