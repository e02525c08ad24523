"""A register as what an attacker knows: people by name, more of them than were asked, with errors of its own.

Who of the register is which record of the original is told by a column of both, so that it can be counted how often the
attacker is right; what the attacker knows of a person stands in the register alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.errors import DataError, HedgerowError, Problem, did_you_mean
from hedgerow.evaluation.attacking.known import SeenRelease
from hedgerow.microdata.read import column_names
from hedgerow.plan import DataFormat, Plan
from hedgerow.plan.model import Attribute
from hedgerow.types import IntArray
from hedgerow.verification import Original, distinct_cells, read_original

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, eq=False)
class Register:
    """People of whom somebody has a register.

    Attributes
    ----------
    table
        What the register has of the quasi-identifiers, under the plan's names.
    record_of
        Which record of the original everybody is; −1: none.
    """

    table: Original
    record_of: IntArray

    @property
    def known(self) -> int:
        """How many of them are in the original."""
        return int((self.record_of >= 0).sum())

    def wrong(self, original: Original, people: IntArray, columns: Sequence[str]) -> float:
        """Return the share of cells, of people who are in the original, that are not as they are there."""
        there = people[self.record_of[people] >= 0]
        if not len(there):
            return 0.0
        differ = 0
        for name in columns:
            number: dict[str, int] = {}
            here, own = (_numbered(table.columns[name], number) for table in (self.table, original))
            differ += int((here[there] != own[self.record_of[there]]).sum())
        return differ / (len(there) * len(columns))


def _numbered(column: pa.ChunkedArray, number: dict[str, int]) -> IntArray:
    texts, cells = distinct_cells(column)
    codes = [number.setdefault(text.strip().casefold(), len(number)) for text in texts]
    return np.array([*codes, -1], np.int64)[cells]


def read_register(
    source: Any, plan: Plan, original: Any, key: str | None, asked: Mapping[str, str] | None, there: Sequence[str]
) -> Register:
    """Read a register, and find everybody in the original by a column of both.

    Parameters
    ----------
    source, original
        The two tables.
    key
        The column of both that says who somebody is; by default the plan's ``key``, or its ``person``.
    asked
        The quasi-identifiers that are known, and what the register calls them; by default all that it has.
    there
        The quasi-identifiers of the release.

    Raises
    ------
    HedgerowError, DataError
        If the tables do not go together: a column is not there, the key is not a key, nobody is in both.
    """
    place = str(source) if isinstance(source, str | Path) else "the register"
    form = DataFormat(missing=plan.data.missing)
    names = column_names(source, form)
    columns = _columns(plan, names, asked, there, place)
    key = key or plan.key or plan.person
    if key is None:
        message = "Nothing says who of the register is which record of the original."
        raise HedgerowError(Problem("usage", message, hint="name a column that both have, such as a number: --key id"))
    if key not in names:
        message = f"The register has no column {key!r}, by which its people are found in the original."
        raise DataError(Problem("missing-column", message, place, "name another column of both with --key"))
    parts = {theirs: plan.attributes[own] for own, theirs in columns.items()}
    read = _read(source, plan, {**parts, key: Attribute(role="other")}, form)
    told = _read(original, plan, {key: Attribute(role="other")}, plan.data)
    record_of = _who(read.columns[key], told.columns[key], key)
    if not (record_of >= 0).any():
        message = f"Nobody of the register is in the original: no {key!r} is in both."
        raise DataError(Problem("no-such-key", message, place, "are both keys written alike?"))
    renamed = {own: read.columns[theirs] for own, theirs in columns.items()}
    kinds = {own: read.kinds[theirs] for own, theirs in columns.items()}
    return Register(Original(renamed, kinds, read.records), record_of)


def check_values(seen: SeenRelease, register: Register) -> None:
    """Refuse a register that writes a column in another way than the original, so that nothing in it ever fits."""
    problems = []
    for name, column in register.table.columns.items():
        texts, _ = distinct_cells(column)
        shown = seen.shown(name, texts)
        labels = [at for at, label in enumerate(shown.labels) if label is not None]
        if not shown.covers[:, labels].any():
            message = f"No value that the register has in {name!r} may be behind one that is published."
            hint = "write it as the original does, or leave the column out with --columns"
            problems.append(Problem("no-leaf", message, "the register", hint))
    if problems:
        raise DataError(problems)


def _columns(
    plan: Plan, names: Sequence[str], asked: Mapping[str, str] | None, there: Sequence[str], place: str
) -> dict[str, str]:
    """Say by which columns of the register people are known: under the plan's names."""
    if asked is None:
        called = {} if plan.population is None else dict(plan.population.columns or {})
        both = {own: own if own in names else called.get(own, own) for own in there}
        found = {own: theirs for own, theirs in both.items() if theirs in names}
        if not found:
            message = "The register has none of the quasi-identifiers of the release."
            hint = f"say what it calls them: --columns {there[0]}=NAME"
            raise DataError(Problem("missing-column", message, place, hint))
        return found
    for own, theirs in asked.items():
        if own in there and theirs not in names:
            message = f"The register has no column {theirs!r}."
            hint = did_you_mean(theirs, names) if theirs != own else f"say what it calls it: --columns {own}=NAME"
            raise DataError(Problem("missing-column", message, place, hint))
    return dict(asked)


def _read(source: Any, plan: Plan, attributes: Mapping[str, Attribute], form: DataFormat) -> Original:
    """Read some columns of a table as the check reads an original."""
    nothing_else = dict.fromkeys(("key", "person", "unit", "weight"))
    asked = plan.model_copy(update={**nothing_else, "attributes": dict(attributes), "data": form})
    return read_original(source, asked)


def _who(register: pa.ChunkedArray, original: pa.ChunkedArray, key: str) -> IntArray:
    """Find everybody of a register in the original; a key must name nobody twice, and who has none is not there."""
    number: dict[str, int] = {}
    sides = [_numbered(column, number) for column in (register, original)]
    for codes, where in zip(sides, ("register", "original"), strict=True):
        counts = np.bincount(codes[codes >= 0], minlength=1)
        if counts.max() > 1:
            message = f"Column {key!r} does not say who somebody is: {int((counts > 1).sum()):,} of its values "
            message += f"occur more than once in the {where}."
            raise DataError(Problem("duplicate-key", message, hint="name another column of both with --key"))
    record = np.full(len(number) + 1, -1, np.int64)
    there = np.flatnonzero(sides[1] >= 0)
    record[sides[1][there]] = there
    return record[sides[0]]  # −1, without a key, is the last: nobody
