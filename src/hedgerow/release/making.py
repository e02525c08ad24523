"""From a solution to a release: facts, rows and a plan that needs no other file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from hedgerow.anonymization.counts import Counts
from hedgerow.anonymization.lattice import Patience
from hedgerow.anonymization.withholding import Settled, settle
from hedgerow.engines.base import Engine
from hedgerow.engines.in_place import search_in_place
from hedgerow.engines.local import LocalEngine
from hedgerow.engines.sql import SqlEngine
from hedgerow.errors import DataError, Problem
from hedgerow.microdata import Microdata, Table
from hedgerow.microdata.notes import ColumnNote
from hedgerow.microdata.points import points_of, treated_by
from hedgerow.plan import Plan
from hedgerow.plan.concepts import METHODS
from hedgerow.plan.model import Treatment
from hedgerow.release.certifying import certified
from hedgerow.release.facts import private_facts, reasons_facts, release_facts
from hedgerow.release.release import Release
from hedgerow.release.unit_facts import with_price_of_link
from hedgerow.types import Progress, silent

if TYPE_CHECKING:
    from hedgerow.engines.spread.rounds import SpreadRelease


MOST_TURNS = 20
"""Releases that are made until the points of treatments are those of the records that are released."""


@dataclass(frozen=True)
class MadeRelease:
    """A release that is not yet verified, and what it was made from."""

    release: Release
    settled: Settled


def make(
    source: Engine,
    table: Table,
    plan: Plan,
    threads: int | None = None,
    tell: Progress = silent,
    patience: Patience | None = None,
    resolved: tuple[Microdata, Plan] | None = None,
) -> MadeRelease:
    """Make a release of a table that was read; ``resolved``: the table under the plan, if it is known already.

    Points of treatments that are found in the data are found in all records first. Where those who are released have
    other points, the release is made again with these, until it is one of records whose own points it has: then nothing
    in it depends on a record that is not.
    """
    tell("encoding", 0, 0)
    doing = "searching" if METHODS[plan.method.name].needs_levels else "clustering"
    steps = partial(tell, doing)
    settled = settle(table, plan, threads, steps, patience, source.executor, resolved=resolved)
    turns = 1
    while (found := _points_of_released(table, plan, settled)) != dict(table.treatments):
        if turns == MOST_TURNS:
            raise _unsettled(found)
        turns += 1
        table = treated_by(table, plan, found)
        settled = settle(table, plan, threads, steps, patience, source.executor)
    settled = with_price_of_link(certified(settled, threads, tell), threads)
    tell("measuring", 0, 0)
    return MadeRelease(make_release(table, settled, source), settled)


def _points_of_released(table: Table, plan: Plan, settled: Settled) -> dict[str, Treatment]:
    """Return the treatments whose points are found in the data, as those who are released have them found."""
    if not table.treatments or not len(settled.microdata.unknown):
        return dict(table.treatments)
    if not table.untreated:
        message = f"The points of {', '.join(map(repr, table.treatments))} must be those of the records that are "
        message += "released, and records are withheld: only the local engine finds them then."
        hint = "use --engine local, or give the points as numbers"
        raise DataError(Problem("point", message, hint=hint))
    return points_of(table, plan, settled.microdata.record_of)


def _unsettled(found: Mapping[str, Treatment]) -> DataError:
    names = ", ".join(map(repr, found))
    message = f"The points of {names} are not settled after {MOST_TURNS} turns: others are withheld at each."
    return DataError(Problem("point", message, hint="give them as numbers, such as treat: {top: 90}"))


def make_where_it_lies(
    source: Engine,
    plan: Plan,
    threads: int | None = None,
    tell: Progress = silent,
    patience: Patience | None = None,
) -> Release:
    """Make a release of a table where it lies: its profiles are read only if they fit here, or are needed."""
    found = None
    if isinstance(source, SqlEngine):
        spread = source.make_in_tasks(plan, tell, threads)
        if spread is not None:
            return _of_sums(spread, source)
    if isinstance(source, SqlEngine) and plan.population is None:
        found = search_in_place(source.session, plan, partial(tell, "searching"), patience)
    if found is None:
        return make(source, source.read(plan), plan, threads, tell, patience).release
    tell("encoding", 0, 0)
    settled = settle(found.table, plan, threads, None, patience, source.executor, research=found.research)
    tell("measuring", 0, 0)
    release = make_release(found.table, settled, source)
    return replace(release, private={**release.private, "frequency_sets_counted_in_place": found.counted})


def _of_sums(spread: SpreadRelease, engine: Engine) -> Release:
    """Put a release together of which only sums are here."""
    return Release(
        replace(spread.rows, notes=titled_notes(spread.plan, {})),
        spread.plan,
        release_facts(spread.plan, spread.table, spread.counts, spread.solution),
        engine.library,
        reasons_facts(spread.solution) | {"limits_by_attribute": spread.by_limits},
    )


def titled_notes(plan: Plan, notes: Mapping[str, ColumnNote]) -> dict[str, ColumnNote]:
    """Return what is said of the released columns, with the titles of the plan."""
    return {
        name: replace(notes.get(name, ColumnNote()), title=plan.attributes[name].title or "")
        for name in plan.released_columns
        if name in notes or plan.attributes[name].title
    }


def make_release(table: Table, settled: Settled, engine: Engine | None = None) -> Release:
    """Put what is settled into rows, plan and facts; what comes out is not verified yet."""
    engine = engine or LocalEngine()
    microdata, solution = settled.microdata, settled.solution
    plan = settled.plan
    rows = engine.apply(plan, table, settled.whole, microdata, solution.recoding)
    return Release(
        replace(rows, notes=titled_notes(plan, table.notes), numbers=plan.published_as_numbers),
        plan,
        release_facts(plan, table, Counts.of(plan, microdata, solution.recoding), solution),
        engine.library,
        private_facts(plan, settled.whole, solution),
        population=None if microdata.population is None else microdata.population.source,
    )
