"""A table in a database with its columns treated, as statements name it: every value is replaced by what becomes of it.

The different values of a treated column come here, are treated by the code of all engines, and go up as a table of two
columns that the source is joined with. So the statements, and what is counted and released, know treated values only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from hedgerow.errors import DataError, Problem
from hedgerow.microdata.points import found_in
from hedgerow.microdata.read import needed_columns
from hedgerow.microdata.treating import treated
from hedgerow.plan.model import Treatment

if TYPE_CHECKING:
    from hedgerow.engines.sql import SqlColumn, SqlSource


@dataclass(frozen=True)
class TreatedSource:
    """A source with treated columns.

    Attributes
    ----------
    relation
        How statements name it.
    columns
        Its columns as they are now, by name.
    treatments
        The treatments whose points were found in the data.
    """

    relation: str
    columns: Mapping[str, SqlColumn]
    treatments: Mapping[str, Treatment] = field(default_factory=dict)


@dataclass(frozen=True)
class _Changed:
    """What becomes of the values of a column: how statements name the table, and in it what is shown; its treatment."""

    table: str
    shown: str
    column: SqlColumn
    treat: Treatment


_CHANGED: WeakKeyDictionary[Any, dict[str, _Changed]] = WeakKeyDictionary()
"""What was uploaded in a session, by column and treatment: it is there as long as the session is."""


def treated_source(source: SqlSource) -> TreatedSource:
    """Return the source of some statements with the columns treated that their plan treats."""
    plan, session = source.plan, source.session
    asked = {name: part.treat for name, part in plan.attributes.items() if part.treat is not None}
    if not asked:
        return TreatedSource(session.source, source.kinds)
    changed = {name: _changed(source, name) for name in asked if name in source.kinds}
    out, joins = list[str](), list[str]()
    for name in needed_columns(plan, key=plan.key in source.kinds):
        if name in changed:
            table = f"x{len(joins)}"
            joins.append(f" LEFT JOIN {changed[name].table} AS {table} ON {table}.v = {source.value(name)}")
            out.append(f"{changed[name].shown.format(table)} AS {session.quote(name)}")
        elif name in source.kinds:
            out.append(f"t.{session.quote(name)} AS {session.quote(name)}")
    return TreatedSource(
        f"(SELECT {', '.join(out)} FROM {session.source} AS t{''.join(joins)})",
        {**source.kinds, **{name: one.column for name, one in changed.items()}},
        {name: one.treat for name, one in changed.items() if not asked[name].found},
    )


def _changed(source: SqlSource, name: str) -> _Changed:
    known = _CHANGED.setdefault(source.session, {})
    key = repr((name, source.plan.attributes[name], source.plan.data, source.plan.person))
    if key not in known:
        known[key] = _uploaded(source, name, len(known))
    return known[key]


def _uploaded(source: SqlSource, name: str, number: int) -> _Changed:
    """Treat the different values of a column, and upload what becomes of each."""
    import pyarrow as pa

    from hedgerow.engines.sql import SqlColumn, cleaned, gathered

    session, plan, there = source.session, source.plan, source.kinds[name]
    found = gathered(session, source.different(name))
    found = found.filter(found.column("v").is_valid())
    counts = found.column("n").to_numpy().astype(np.int64)
    values = cleaned(found.column("v"), there, plan.data.markers(name))
    attribute = plan.attributes[name]
    treat = attribute.treat
    assert treat is not None
    if not treat.found:
        if plan.person is not None:
            message = f"Column {name!r}: the people beyond a point are counted by the local engine only."
            raise DataError(Problem("usage", message, hint="use --engine local, or give the point as a number"))
        treat = found_in(name, attribute, values, plan.data, counts)
        attribute = attribute.model_copy(update={"treat": treat})
    changed = treated(name, attribute, values, plan.data, counts)
    if pa.types.is_dictionary(changed.type):
        changed = changed.cast(pa.string())
    shown, kind = "{}.w", "text" if pa.types.is_string(changed.type) else there.kind
    if pa.types.is_decimal(changed.type):  # drivers forget how many places there are
        shown = f"CAST({{}}.w AS DECIMAL({changed.type.precision:d}, {changed.type.scale:d}))"
        changed = changed.cast(pa.string())
    table = session.upload(f"hedgerow_treated_{number}", pa.table({"v": found.column("v"), "w": changed}))
    return _Changed(table, shown, SqlColumn(name, kind, None if kind == "text" else there.type), treat)
