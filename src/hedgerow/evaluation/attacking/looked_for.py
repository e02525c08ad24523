"""The people who are looked for: some of the original, or of a register that the attacker has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgerow.evaluation.attacking.asked import AttackAsked
from hedgerow.evaluation.attacking.known import Knowledge, SeenRelease, knowledge
from hedgerow.evaluation.attacking.linking import Linkage, Setting, link_people, own_rows
from hedgerow.evaluation.attacking.register import Register, check_values, read_register
from hedgerow.types import IntArray
from hedgerow.verification import Original


@dataclass(frozen=True)
class RegisterTold:
    """What is told of a register that an attacker has.

    Attributes
    ----------
    people, known
        How many people it has; how many of them are in the original.
    wrong
        Of those who are looked for and are in the original: the share of cells that are not as they are there.
    """

    people: int
    known: int
    wrong: float


@dataclass(frozen=True, eq=False)
class LookedFor:
    """The people who are looked for: which record each is (−1: none), what is known of them, what the register is."""

    record: IntArray
    known: Knowledge
    told: RegisterTold | None = None
    everybody: Knowledge | None = None
    register: Register | None = None


def of_register(
    seen: SeenRelease,
    source: Any,
    columns: Sequence[str],
    there: Sequence[str],
    asked: AttackAsked,
    draw: np.random.Generator,
) -> LookedFor:
    """Take people of the attacker's own register to look for, and what it says of them."""
    named = dict(zip(columns, columns, strict=True)) if not isinstance(asked.columns, Mapping) else asked.columns
    plan = seen.evidence.plan
    register = read_register(asked.register, plan, source, asked.key, None if asked.columns is None else named, there)
    check_values(seen, register)
    table = register.table
    names = tuple(name for name in there if name in table.columns)
    people = np.sort(draw.permutation(table.records)[: asked.people])
    known = knowledge(seen, table, people, names, asked.noise, draw)
    everybody = knowledge(seen, table, np.arange(table.records), names, asked.noise, draw)
    original = seen.evidence.original
    assert original is not None
    told = RegisterTold(table.records, register.known, round(register.wrong(original, people, names), 6))
    return LookedFor(register.record_of[people], known, told, everybody, register)


def rows_perhaps(
    seen: SeenRelease, original: Original, looked_for: LookedFor, columns: Sequence[str], setting: Setting
) -> IntArray:
    """Take a row that may be theirs for everybody, where no link says which is."""
    if looked_for.register is None:
        return own_rows(seen, looked_for.known, setting)
    there = np.flatnonzero(looked_for.record >= 0)
    own = np.full(len(looked_for.record), -1, np.int64)
    true = knowledge(seen, original, looked_for.record[there], columns, 0.0, setting.draw)
    own[there] = own_rows(seen, true, setting)
    return own


def trace(
    looked_for: LookedFor, seen: SeenRelease, of_record: IntArray | None, asked: AttackAsked, setting: Setting
) -> Linkage | None:
    """Pick somebody of the register for each of some rows; it takes a link to know who is behind a row."""
    if of_record is None or looked_for.register is None or looked_for.everybody is None:
        return None
    rows = np.sort(setting.draw.permutation(len(seen.group_of))[: asked.people])
    person_of_row = np.full(len(seen.group_of), -1, np.int64)
    record_of = looked_for.register.record_of
    people = np.flatnonzero(record_of >= 0)
    row = of_record[record_of[people]]
    person_of_row[row[row >= 0]] = people[row >= 0]
    return link_people(seen, looked_for.everybody, rows, person_of_row[rows], setting)
