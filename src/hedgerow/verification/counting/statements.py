"""The statements that a check has run where the data lies: one text for DuckDB, PostgreSQL, MariaDB and Spark.

They name only columns that the plan releases, and the person key, of which only a number comes back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hedgerow.plan import DataFormat, Plan
from hedgerow.verification.reading.places import InDatabase

WHITE_SPACE = (
    "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""All characters that are white space in Python's eyes."""
TEXT = ("text", "other")


def count_rows(place: InDatabase, names: Sequence[str], person: str | None = None, missing: Sequence[str] = ()) -> str:
    """Count the distinct rows of some columns, c0, c1 and so on, and the number p of the person, as n."""
    columns = [f"{_read(place, name)} AS c{number}" for number, name in enumerate(names)]
    found = [f"c{number}" for number in range(len(names))]
    if person is not None:
        key = _cleaned(place, person, missing)
        rank = f"DENSE_RANK() OVER (ORDER BY {place.lender.last(key)})"
        columns.append(f"CASE WHEN {key} IS NULL THEN NULL ELSE {rank} END AS p")
        found.append("p")
    if not columns:
        return f"SELECT COUNT(*) AS n FROM {place.relation} AS t"
    inner = f"SELECT {', '.join(columns)} FROM {place.relation} AS t"
    return f"SELECT {', '.join(found)}, COUNT(*) AS n FROM ({inner}) AS u GROUP BY {', '.join(found)}"


def deal_groups(place: InDatabase, columns: int, quasi_identifiers: int, counted: str, tasks: int) -> str:
    """Deal out the groups of rows that were counted, c0, c1 and so on with n, to tasks."""
    crew: Any = place.lender
    keys = ", ".join(f"c{number}" for number in range(quasi_identifiers))
    listed = ", ".join(f"c{number}" for number in range(columns))
    return f"SELECT {listed}, n, {crew.task_of(keys, tasks)} AS task FROM {counted} AS t"


def count_foreign(original: InDatabase, claim: str, plan: Plan) -> str:
    """Count the records of a claim that the original has not, or not so often."""
    names = [*plan.quasi_identifiers, *plan.columns("sensitive")]
    quasi = len(plan.quasi_identifiers)
    aliases = [f"c{at}" if at < quasi else f"s{at - quasi}" for at in range(len(names))]
    records = [f"{_read(original, name)} AS {alias}" for name, alias in zip(names, aliases, strict=True)]
    if plan.person is not None:
        records.append(f"{_cleaned(original, plan.person, plan.data.markers(plan.person))} AS p")
        aliases.append("p")
    listed = ", ".join(aliases)
    both = (
        f"SELECT {listed}, n FROM {claim} AS t UNION ALL"
        f" SELECT {', '.join(records)}, CAST(-1 AS BIGINT) AS n FROM {original.relation} AS t"
    )
    summed = _summed(original, both, aliases)
    return f"SELECT CAST(SUM(CASE WHEN d > 0 THEN d ELSE 0 END) AS BIGINT) AS n FROM ({summed}) AS v"


def compare_rows(released: InDatabase, original: InDatabase, claim: str, plan: Plan) -> str:
    """Count the rows of a release that a claim does not give, and those that it gives and are not there."""
    empty = [text for text in plan.data.missing if not text]
    shown, told, aliases = [], [], []
    for at, name in enumerate(plan.quasi_identifiers):
        value = _read(released, name, as_text=True)
        for marker in empty:
            value = f"NULLIF({value}, {released.lender.literal(marker)})"
        shown.append(f"{value} AS x{at}")
        told.append(f"l{at} AS x{at}")
        aliases.append(f"x{at}")
    kinds = dict(original.columns)
    sensitive = plan.columns("sensitive")
    for at, name in enumerate(sensitive):
        as_text = _kind(released, name) != _kind(original, name)
        shown.append(f"{_cleaned(released, name, empty, as_text)} AS y{at}")
        value = _cleaning(original, f"t.s{at}", kinds[name], plan.data.markers(name), as_text)
        told.append(f"{value} AS y{at}")
        aliases.append(f"y{at}")
    both = (
        f"SELECT {', '.join(shown)}, CAST(1 AS BIGINT) AS n FROM {released.relation} AS t UNION ALL"
        f" SELECT {', '.join(told)}, -n AS n FROM {claim} AS t"
    )
    summed = _summed(released, both, aliases)
    return (
        "SELECT CAST(SUM(CASE WHEN d > 0 THEN d ELSE 0 END) AS BIGINT) AS more,"
        f" CAST(SUM(CASE WHEN d < 0 THEN -d ELSE 0 END) AS BIGINT) AS fewer FROM ({summed}) AS v"
    )


def _summed(place: InDatabase, rows: str, names: Sequence[str]) -> str:
    """Add ``n`` up, as ``d``, over rows that agree in some columns, known by fingerprints: they take few bytes."""
    crew: Any = place.lender
    marks = crew.fingerprints(names)
    listed = ", ".join(f"m{number}" for number in range(len(marks)))
    marked = ", ".join(f"{mark} AS m{number}" for number, mark in enumerate(marks))
    return f"SELECT SUM(n) AS d FROM (SELECT {marked}, n FROM ({rows}) AS u) AS m GROUP BY {listed}"


def read_pairs(claim: str, quasi_identifiers: int) -> str:
    """Read what lies behind the published values of every quasi-identifier: c0, l0, c1 and so on, and n."""
    pairs = [f"c{at}, l{at}" for at in range(quasi_identifiers)]
    return f"SELECT {', '.join([*pairs, 'n'])} FROM {claim} AS t"


def fewest_persons(claim: str, quasi_identifiers: int) -> str:
    """Count the persons of the group that has fewest."""
    labels = ", ".join(f"l{at}" for at in range(quasi_identifiers))
    persons = f"SELECT COUNT(DISTINCT p) AS n FROM {claim} AS t GROUP BY {labels}"
    return f"SELECT CAST(MIN(n) AS BIGINT) AS n FROM ({persons}) AS u"


def fetch_rows(place: InDatabase, names: Sequence[str]) -> str:
    """Fetch some columns, c0, c1 and so on."""
    columns = [f"{_read(place, name)} AS c{number}" for number, name in enumerate(names)]
    return f"SELECT {', '.join(columns)} FROM {place.relation} AS t"


def count_surplus(released: InDatabase, original: InDatabase, names: Sequence[str], form: DataFormat) -> str:
    """Count the released rows that remain when each takes an equal row of the original away.

    The release is not freed of texts that mean a missing value, as there should be none; but an empty text may be how a
    missing value was written.
    """
    empty = [text for text in form.missing if not text]
    sides = []
    for place in (released, original):
        columns = []
        for number, name in enumerate(names):
            as_text = _kind(released, name) != _kind(original, name)
            markers = empty if place is released else form.markers(name)
            columns.append(f"{_cleaned(place, name, markers, as_text)} AS c{number}")
        sides.append(f"SELECT {', '.join(columns)} FROM {place.relation} AS t")
    return f"SELECT COUNT(*) AS n FROM ({sides[0]} EXCEPT ALL {sides[1]}) AS u"


def _kind(place: InDatabase, name: str) -> str:
    kind = dict(place.columns)[name]
    return "text" if kind in TEXT else kind


def _read(place: InDatabase, name: str, as_text: bool = False) -> str:
    return _reading(place, f"t.{place.lender.quote(name)}", dict(place.columns)[name], as_text)


def _reading(place: InDatabase, column: str, kind: str, as_text: bool) -> str:
    if as_text or kind in TEXT:
        return f"CAST({column} AS {place.lender.text_type}){place.lender.binary}"
    if kind == "float" and place.lender.nan is not None:  # what is no number is missing
        return f"CASE WHEN {column} = {place.lender.nan} THEN NULL ELSE {column} END"
    return column


def _cleaned(place: InDatabase, name: str, missing: Sequence[str], as_text: bool = False) -> str:
    """Trim a column of text, and empty the cells that mean a missing value."""
    return _cleaning(place, f"t.{place.lender.quote(name)}", dict(place.columns)[name], missing, as_text)


def _cleaning(place: InDatabase, column: str, kind: str, missing: Sequence[str], as_text: bool) -> str:
    text = _reading(place, column, kind, as_text)
    if not as_text and kind not in TEXT:
        return text
    lender = place.lender
    text = lender.trimmed(text, WHITE_SPACE)
    for marker in missing:
        text = f"NULLIF({text}, {lender.literal(marker)})"
    return f"{text}{lender.binary}"
