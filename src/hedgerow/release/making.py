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
from hedgerow.microdata import Microdata, Table
from hedgerow.microdata.notes import ColumnNote
from hedgerow.plan import Plan
from hedgerow.plan.concepts import METHODS
from hedgerow.release.certifying import certified
from hedgerow.release.facts import private_facts, reasons_facts, release_facts
from hedgerow.release.release import Release
from hedgerow.release.unit_facts import with_price_of_link
from hedgerow.types import Progress, silent

if TYPE_CHECKING:
    from hedgerow.engines.spread.rounds import SpreadRelease


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
    """Make a release of a table that was read; ``resolved``: the table under the plan, if it is known already."""
    tell("encoding", 0, 0)
    doing = "searching" if METHODS[plan.method.name].needs_levels else "clustering"
    settled = settle(
        table,
        plan,
        threads,
        lambda done, total: tell(doing, done, total),
        patience,
        source.executor,
        resolved=resolved,
    )
    settled = with_price_of_link(certified(settled, threads, tell), threads)
    tell("measuring", 0, 0)
    return MadeRelease(make_release(table, settled, source), settled)


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
        replace(rows, notes=titled_notes(plan, table.notes)),
        plan,
        release_facts(plan, table, Counts.of(plan, microdata, solution.recoding), solution),
        engine.library,
        private_facts(plan, settled.whole, solution),
        population=None if microdata.population is None else microdata.population.source,
    )
