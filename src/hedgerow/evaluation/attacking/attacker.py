"""Attacking a release with what others may know, to see that nobody is found more often than it promises.

A check counts every group, an attack tries some. But an attack shows what a promise is worth to those who do not take a
count for an answer, and it says how much can be guessed, of which k promises nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hedgerow.errors import DataError, HedgerowError, Problem
from hedgerow.evaluation.attacking.asked import AttackAsked, check, known_columns
from hedgerow.evaluation.attacking.guessing import Guessing, guesses, rate_of
from hedgerow.evaluation.attacking.known import Knowledge, SeenRelease, knowledge
from hedgerow.evaluation.attacking.linking import (
    Linkage,
    Setting,
    UnitKinds,
    link_rows,
    link_units,
    own_kinds,
)
from hedgerow.evaluation.attacking.looked_for import LookedFor, RegisterTold, of_register, rows_perhaps, trace
from hedgerow.outside.outputs import PrivateFolder
from hedgerow.plan import Plan
from hedgerow.release import Release, write_release
from hedgerow.types import IntArray, Progress, silent
from hedgerow.verification import (
    Original,
    RowEvidence,
    Unreadable,
    distinct_cells,
    read_link,
    read_original,
    read_release,
)

USUAL_PEOPLE = 2000
HOUSEHOLDS = 500
"""Households that are looked for at most: each is compared with all of its size."""


@dataclass(frozen=True)
class Attack:
    """What attacks on a release came to.

    Attributes
    ----------
    k
        What the plan promises.
    columns
        What the attacker knows of everybody who is looked for.
    people
        Of how many.
    register
        What is told of a register, where the attacker has one; else what is known is what the original says.
    noise
        How much of it is wrong, besides.
    linked
        Whether a link says which row is whose; else a row that may be theirs is taken for it.
    withheld
        People among them who are certainly not in the release; nobody finds them, and they are in no rate but that of
        ``traced``.
    confidence
        That of all intervals.
    linkage
        Who picks a row among those that contradict least of what is known.
    nearest
        Who picks the row whose published values are nearest.
    traced
        Who picks somebody of the register for a row, where there is a register and a link.
    units
        Who knows whole households, where the release links them.
    guesses
        Who guesses sensitive columns.
    """

    k: int
    columns: tuple[str, ...]
    people: int
    register: RegisterTold | None
    noise: float
    linked: bool
    withheld: int
    confidence: float
    linkage: Linkage
    nearest: Linkage
    traced: Linkage | None
    units: Linkage | None
    guesses: tuple[Guessing, ...]

    @property
    def beaten(self) -> bool:
        """Whether some attack was right more often than the plan promises, beyond its confidence interval."""
        attacks = (self.linkage, self.nearest, self.traced, self.units)
        return any(found.beaten for found in attacks if found is not None)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "k": self.k,
            "columns": list(self.columns),
            "people": self.people,
            "register": None if self.register is None else asdict(self.register),
            "noise": self.noise,
            "linked": self.linked,
            "withheld": self.withheld,
            "confidence": self.confidence,
            "beaten": self.beaten,
            "linkage": self.linkage.to_dict(),
            "nearest": self.nearest.to_dict(),
            "traced": None if self.traced is None else self.traced.to_dict(),
            "units": None if self.units is None else self.units.to_dict(),
            "guesses": [guess.to_dict() for guess in self.guesses],
        }

    def __repr__(self) -> str:
        found = self.linkage.rate
        said = "more than promised" if self.beaten else "no more than promised"
        return f"Attack({found.right:,} of {found.tries:,} found, 1 in {self.k} promised: {said})"


def attack(
    release: Release | str | Path,
    original: Any,
    *,
    columns: Sequence[str] | Mapping[str, str] | None = None,
    link: Any = None,
    control: Any = None,
    knowledge: Any = None,
    key: str | None = None,
    people: int = USUAL_PEOPLE,
    noise: float = 0.0,
    confidence: float = 0.95,
    seed: int = 0,
    progress: Progress | None = None,
) -> Attack:
    """Attack a release with what somebody knows of people in the original.

    Parameters
    ----------
    release
        A release folder, or a release in memory. It is taken as it is, even if it breaks its promises.
    original
        The table that it was made from: a path, or a table in memory.
    columns
        Quasi-identifiers that the attacker knows; by default all. With a register of the attacker also a mapping, from
        these to what it calls them.
    link
        The private link table: it says which row is whose. A release in memory has it. Without it a row that may be
        somebody's is taken for theirs.
    control
        A table of the same shape with people who are *not* in the release. What the release lets somebody guess of them
        is what it tells of everybody; by default guesses are held against the value that most people have.
    knowledge
        A register of the attacker's own, in place of what the original says: with more people, other columns, errors.
        A path, or a table in memory.
    key
        The column of register and original that says who somebody is; by default the plan's ``key`` or ``person``.
    people
        How many people are looked for, of the original or of the register; more make the intervals narrower.
    noise
        How much of what the attacker knows is wrong, from 0 to 1: such cells are those of somebody else.
    confidence
        Confidence level of the intervals.
    seed
        Picks the people, what is wrong, and the draws among rows that fit alike.

    Examples
    --------
    >>> import hedgerow as hr, pyarrow as pa
    >>> table = pa.table({"age": [str(20 + n % 30) for n in range(300)], "ill": ["flu", "cold", "none"] * 100})
    >>> age = {"role": "quasi-identifier", "intervals": "free"}
    >>> plan = hr.Plan.from_dict({"attributes": {"age": age, "ill": "sensitive"}, "privacy": {"k": 5}})
    >>> found = attack(hr.anonymize(table, plan), table)
    >>> found.beaten, found.linkage.fewest >= 5
    (False, True)
    """
    tell = progress or silent
    check(release, people, noise, confidence)
    asked = AttackAsked(columns, control, knowledge, key, people, noise, confidence, seed)
    if knowledge is None and key is not None:
        message = "A key says who of the attacker's register is which record, and none is given."
        raise HedgerowError(Problem("usage", message, hint="leave the key out, or give the register as knowledge"))
    if isinstance(release, Release):
        record = release.rows.link
        with PrivateFolder() as scratch:
            folder = scratch.folder("release")
            write_release(release, folder, "parquet")
            if link is None and isinstance(record, np.ndarray):
                link = (record + 1, np.arange(1, len(record) + 1))
            return _attack(folder, original, link, asked, tell)
    return _attack(Path(release), original, link, asked, tell)


def _attack(folder: Path, source: Any, link: Any, asked: AttackAsked, tell: Progress) -> Attack:
    tell("reading", 0, 0)
    try:
        published = read_release(folder)
    except Unreadable as error:
        message = f"The data file of the release is not a table: {error}"
        raise DataError(Problem("not-a-release", message, str(folder))) from None
    plan = published.plan
    columns = known_columns(asked, published.quasi_identifiers)
    original = read_original(source, plan)
    evidence = RowEvidence(published, original, None if link is None else read_link(link))
    if evidence.has_link and not evidence.linked:
        message = f"The link table does not fit: {evidence.link_fault}."
        raise DataError(Problem("format", message, hint="give the one that was written with this release"))
    if not published.rows:
        raise DataError(Problem("empty", "The release has no rows.", str(folder)))
    seen = SeenRelease(evidence)
    draw = np.random.default_rng(asked.seed)
    setting = Setting(draw, asked.confidence, 1 / plan.privacy.k)
    of_record = _row_of_record(evidence, original)
    if asked.register is None:
        there = np.sort(draw.permutation(original.records)[: asked.people])
        looked_for = LookedFor(there, knowledge(seen, original, there, columns, asked.noise, draw))
    else:
        looked_for = of_register(seen, source, columns, published.quasi_identifiers, asked, draw)
        columns = looked_for.known.columns
    tell("linking", 0, 0)
    known, record = looked_for.known, looked_for.record
    if of_record is not None:
        own = np.where(record < 0, -1, of_record[record])
    else:
        own = rows_perhaps(seen, original, looked_for, columns, setting)
    groups = len(seen.sizes)
    linkage = link_rows(seen, known.candidates(groups), own, setting)
    tell("nearest", 0, 0)
    nearest = link_rows(seen, known.nearest(groups), own, setting)
    traced = trace(looked_for, seen, of_record, asked, setting)
    tell("guessing", 0, 0)
    others = None if asked.control is None else _control(seen, plan, columns, asked, draw)
    found = [_guess(seen, original, name, looked_for, own, others, setting) for name in evidence.sensitive]
    units = None
    if asked.register is None and plan.unit is not None and plan.unit.column in published.columns:
        tell("linking units", 0, 0)
        units = _units(seen, original, plan.unit.column, columns, of_record, asked, setting)
    return Attack(
        plan.privacy.k,
        columns,
        len(record),
        looked_for.told,
        asked.noise,
        evidence.linked,
        int((own < 0).sum()),
        asked.confidence,
        linkage,
        nearest,
        traced,
        units,
        tuple(found),
    )


def _row_of_record(evidence: RowEvidence, original: Original) -> IntArray | None:
    """Return the row of every record, −1 if it is not released; None if no link says."""
    if not evidence.linked:
        return None
    found = np.full(original.records, -1, np.int64)
    found[evidence.record_of_row] = np.arange(len(evidence.record_of_row))
    return found


Others = tuple[Original, Knowledge, IntArray]


def _control(
    seen: SeenRelease, plan: Plan, columns: Sequence[str], asked: AttackAsked, draw: np.random.Generator
) -> Others:
    """Take people who are not in the release, and what is known of them."""
    table = read_original(asked.control, plan)
    taken = np.sort(draw.permutation(table.records)[: asked.people])
    return table, knowledge(seen, table, taken, columns, asked.noise, draw), taken


def _guess(
    seen: SeenRelease,
    original: Original,
    name: str,
    looked_for: LookedFor,
    own: IntArray,
    others: Others | None,
    setting: Setting,
) -> Guessing:
    """Guessing one sensitive column with the release, and by a baseline without it."""
    released, codes_of = _codes(seen, original, name)
    groups, confidence = len(seen.sizes), setting.confidence
    known = looked_for.known
    true = np.where(own < 0, -1, codes_of(original)[looked_for.record])
    found = guesses(seen, known.candidates(groups), released, known.people)
    with_release = rate_of(found, true, confidence)
    if others is not None:
        table, known_of_others, taken = others
        again = guesses(seen, known_of_others.candidates(groups), released, known_of_others.people)
        return Guessing(name, with_release, rate_of(again, codes_of(table)[taken], confidence), "control")
    every = codes_of(original)
    counts = np.bincount(every[every >= 0], minlength=1)
    common = rate_of(np.full(len(true), int(np.argmax(counts))), true, confidence)
    return Guessing(name, with_release, common, "commonest")


def _codes(seen: SeenRelease, original: Original, name: str) -> tuple[IntArray, Callable[[Original], IntArray]]:
    """Number the values of a sensitive column: those of the release, and what numbers the records of a table alike."""
    number: dict[str, int] = {}
    texts, cells = distinct_cells(seen.evidence.as_original(name, original))
    lookup = np.array([*(number.setdefault(text.strip().casefold(), len(number)) for text in texts), -1], np.int64)

    def of_table(table: Original) -> IntArray:
        there, codes = distinct_cells(table.columns[name])
        own = [number.setdefault(text.strip().casefold(), len(number)) for text in there]
        return np.array([*own, -1], np.int64)[codes]

    return lookup[cells], of_table


def _units(
    seen: SeenRelease,
    original: Original,
    column: str,
    columns: Sequence[str],
    of_record: IntArray | None,
    asked: AttackAsked,
    setting: Setting,
) -> Linkage:
    """Look for whole households, with what is known of all their members."""
    published = distinct_cells(seen.evidence.published.columns[column])[1]
    units = UnitKinds.of(published, seen.group_of)
    names, unit_of_record = distinct_cells(original.columns[column])
    looked_for = setting.draw.permutation(len(names))[: min(asked.people, HOUSEHOLDS)]
    records = np.flatnonzero(np.isin(unit_of_record, looked_for))
    known = knowledge(seen, original, records, columns, asked.noise, setting.draw)
    order = np.argsort(unit_of_record[records], kind="stable")
    starts = np.flatnonzero(np.diff(unit_of_record[records][order], prepend=-2))
    households = np.split(order, starts[1:])
    if of_record is None:
        own = own_kinds(known, households, units, setting)
    else:
        rows = [of_record[records[those]] for those in households]
        own = [None if (row < 0).any() else tuple(sorted(seen.group_of[row].tolist())) for row in rows]
    return link_units(known, households, units, own, setting)
