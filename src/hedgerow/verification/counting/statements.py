"""The statements that a check has run where the data lies: one text for DuckDB, PostgreSQL, MariaDB and Spark.

They name only columns that the plan releases, and the person key, of which only a number comes back.
"""

from __future__ import annotations

from collections.abc import Sequence

from hedgerow.plan import DataFormat
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
    column = f"t.{place.lender.quote(name)}"
    if as_text or _kind(place, name) == "text":
        return f"CAST({column} AS {place.lender.text_type}){place.lender.binary}"
    if _kind(place, name) == "float" and place.lender.nan is not None:  # what is no number is missing
        return f"CASE WHEN {column} = {place.lender.nan} THEN NULL ELSE {column} END"
    return column


def _cleaned(place: InDatabase, name: str, missing: Sequence[str], as_text: bool = False) -> str:
    """Trim a column of text, and empty the cells that mean a missing value."""
    text = _read(place, name, as_text)
    if not as_text and _kind(place, name) != "text":
        return text
    lender = place.lender
    text = lender.trimmed(text, WHITE_SPACE)
    for marker in missing:
        text = f"NULLIF({text}, {lender.literal(marker)})"
    return f"{text}{lender.binary}"
