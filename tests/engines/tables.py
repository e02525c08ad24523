"""Tables and plans that every engine must treat alike."""

from __future__ import annotations

import datetime as dt
import random
from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from hedgerow.plan import Plan

DROP = '"; DROP TABLE people; --'
QUOTES = 'it\'s `a` "b" [c] $1 ? %s {x} ${env:HOME} \\n \\'
SPACED = "\u2003 lead\u00a0"


def hostile(records: int = 90, seed: int = 0) -> pa.Table:
    """Everything that a table may hold to confuse a database, a parser or a spreadsheet."""
    draw = random.Random(seed)

    def some(values: list[Any], missing: float = 0.08) -> list[Any]:
        return [None if draw.random() < missing else draw.choice(values) for _ in range(records)]

    day = dt.date(1999, 12, 31)
    return pa.table(
        {
            "iden'tifier": pa.array([f"person {i}" for i in range(records)]),
            DROP: some(
                ["é", "e\u0301", " é\u00a0", "日本", DROP, QUOTES, "", "a,b", "\u2003", "x" * 300, "😀", "é\u2003"]
            ),
            "semi;colon`tick": some(["left", "Left ", "RIGHT\r\n", "a\r\nb", "-1", "n/a", "'; --", "\x85up\x1f"]),
            "age": pa.array(some(list(range(18, 60))), pa.int32()),
            "born": some([day - dt.timedelta(days=97 * i) for i in range(40)]),
            "pay": pa.array(some([Decimal(i * i) / 4 - 20 for i in range(40)]), pa.decimal128(9, 2)),
            "flag": some([True, False]),
            "illness": some(["flu", "flu ", "Flu", "cold", "=1+1", "@x", "+3", "n/a", DROP, "'", "\\", "a\tb"]),
            "stage": pa.array(some([1, 2, 3], 0.2), pa.int64()),
            "note": some([f" n{i % 7}\r\n{i}" for i in range(9)] + ["?", "", "-", "=cmd|' /C calc'!A0", "'=x", SPACED]),
            "cost": pa.array(some([Decimal(i) / 100 for i in range(30)]), pa.decimal128(12, 2)),
            "seen": pa.array(
                some([dt.datetime(2020, 2, 29, 23, 59, i, i * 1000) for i in range(9)]), pa.timestamp("us")
            ),
            "known": pa.array(
                some([dt.datetime(2020, 3, 29, 1, i, tzinfo=dt.UTC) for i in range(9)]), pa.timestamp("us", "UTC")
            ),
            "ratio": pa.array(some([0.1, 1e-7, 1e22, -2.5, 3.0, float("nan"), float("inf")]), pa.float64()),
            "mood": pa.array(some([False, True])),
            "small": pa.array(some([-1, 0, 7]), pa.int16()),
            "left behind": some([1, 2]),
        }
    )


def hostile_plan(**more: Any) -> Plan:
    """Roles for all columns of :func:`hostile`, and names that would do harm if they were not quoted."""
    tree = {DROP + " all": {"s'ide": ["left", "Left", "RIGHT", "a\r\nb"], 'o"ther`': ["-1", "'; --", "up"]}}
    attributes: dict[str, Any] = {
        "iden'tifier": "identifier",
        DROP: "quasi-identifier",
        "semi;colon`tick": {"role": "quasi-identifier", "hierarchy": {"tree": tree}},
        "age": {"role": "quasi-identifier", "hierarchy": {"bands": [5, 10, 20]}},
        "born": {"role": "quasi-identifier", "hierarchy": {"dates": ["month", "year", "decade"]}},
        "pay": {"role": "quasi-identifier", "intervals": "free"},
        "illness": "sensitive",
        "flag": "quasi-identifier",
        "stage": "sensitive",
        **dict.fromkeys(["note", "cost", "seen", "known", "ratio", "mood", "small"], "other"),
    }
    asked: dict[str, Any] = {
        "data": {"missing": ["", "?", "n/a", DROP, "'", "\\", "-"]},
        "attributes": attributes,
        "privacy": {"k": 3, "p": {"illness": 2}},
    }
    return Plan.from_dict({**asked, **more})


# ---- small tables of any kind ----------------------------------------------------------------------------------------

LETTERS = st.sampled_from(["a", "A", "b", "é", "e\u0301", "ß", "日", "😀", "'", '"', "`", "\\", ";", "$", "?", "%", "-", "=",
                           " ", "\u00a0", "\u2003", "\t", "\r\n", "\n", ",", "0", "1", ".", "\x7f", "\u200b", "\ufeff"])  # fmt: skip
WORDS = st.lists(LETTERS, max_size=3).map("".join)
KINDS: dict[str, tuple[pa.DataType, st.SearchStrategy[Any]]] = {
    "text": (pa.string(), WORDS),
    "integer": (pa.int64(), st.integers(-3, 12)),
    "decimal": (pa.decimal128(6, 2), st.decimals(-9, 9, places=2)),
    "float": (pa.float64(), st.sampled_from([0.5, 0.0, 1.5, 1e300, float("inf"), -2.0])),
    "boolean": (pa.bool_(), st.booleans()),
    "date": (pa.date32(), st.dates(dt.date(1969, 12, 29), dt.date(1970, 3, 3))),
    "timestamp": (pa.timestamp("us"), st.datetimes(dt.datetime(1969, 12, 31), dt.datetime(1970, 1, 2))),
}
NUMERIC = ("integer", "decimal")
ROLES = ["quasi-identifier", "quasi-identifier", "sensitive", "other", "identifier"]


@st.composite
def cases(draw: st.DrawFn) -> tuple[pa.Table, Plan]:
    """A small table of any types, and a plan for it."""
    records = draw(st.integers(2, 14))
    width = draw(st.integers(2, 6))
    names = st.lists(LETTERS.filter(lambda sign: sign not in "\r\n\t"), max_size=4).map("".join).map(str.strip)
    columns = draw(st.lists(names.filter(bool), min_size=width, max_size=width, unique_by=str.lower))
    roles = ["quasi-identifier", *(draw(st.sampled_from(ROLES)) for _ in columns[1:])]
    table, attributes = {}, {}
    for name, role in zip(columns, roles, strict=True):
        kind = draw(st.sampled_from([*KINDS] if role != "quasi-identifier" else ["text", *NUMERIC, "boolean", "date"]))
        some = st.none() | KINDS[kind][1]
        if kind == "float" and role == "other":
            some |= st.just(float("nan"))
        values = draw(st.lists(some, min_size=records, max_size=records))
        table[name] = pa.array(values, KINDS[kind][0])
        attributes[name] = {"role": role}
        if role == "quasi-identifier" and kind in NUMERIC:
            attributes[name] |= draw(st.sampled_from([{}, {"intervals": "free"}, {"hierarchy": {"bands": [2, 4]}}]))
        if role == "quasi-identifier" and kind == "date":
            attributes[name] |= draw(st.sampled_from([{}, {"hierarchy": {"dates": ["month", "year"]}}]))
    missing = draw(st.lists(WORDS, max_size=3, unique=True))
    method = draw(st.sampled_from(["cluster", "partition", "utility"]))
    plan = {
        "data": {"missing": missing},
        "attributes": attributes,
        "privacy": {"k": 2},
        "method": method,
        "seed": draw(st.integers(0, 3)),
    }
    return pa.table(table), Plan.from_dict(plan)
