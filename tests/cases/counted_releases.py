"""Releases in a database, with the counted link, and all that a test may change of them."""

from __future__ import annotations

import datetime as dt
import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq

import hedgerow as hr
from hedgerow.engines.dialect import SqlDialect
from hedgerow.plan import Plan
from hedgerow.verification import (
    InDatabase,
    LinkClaim,
    Verification,
    verify_in_place,
    verify_release,
)

Rows = list[dict[str, Any]]


class Duck(SqlDialect):
    """A database of our own that runs what it is told, and remembers it."""

    text_type = "VARCHAR"
    binary = ""

    def __init__(self) -> None:
        self.connection = duckdb.connect()
        self.asked: list[str] = []

    def quote(self, name: str) -> str:
        return '"' + name.replace('"', '""') + '"'

    def literal(self, text: str) -> str:
        return "'" + text.replace("'", "''") + "'"

    def ask(self, query: str) -> pa.Table:
        self.asked.append(query)
        return self.connection.sql(query).to_arrow_table()

    def stream(self, query: str) -> Iterator[pa.RecordBatch]:
        yield from self.ask(query).to_batches(max_chunksize=50)

    def put(self, name: str, table: pa.Table) -> InDatabase:
        self.connection.register(name, table)
        kinds = []
        for column in table.columns:
            kind = "text" if pa.types.is_string(column.type) or pa.types.is_large_string(column.type) else ""
            kind = kind or ("integer" if pa.types.is_integer(column.type) else "")
            kind = kind or ("decimal" if pa.types.is_decimal(column.type) else "")
            kind = kind or ("date" if pa.types.is_date(column.type) else "float")
            kinds.append(kind)
        return InDatabase(self, self.quote(name), tuple(zip(table.column_names, kinds, strict=True)))


@dataclass
class Case:
    """A release, the table that it was made from, and all that a test may change."""

    plan: Plan
    facts: dict[str, Any]
    original: pa.Table
    released: pa.Table
    record_of_row: list[int]
    link: LinkClaim = field(init=False)
    duck: Duck = field(default_factory=Duck)

    def __post_init__(self) -> None:
        self.link = self.true_link()

    @property
    def names(self) -> list[str]:
        return [*self.plan.quasi_identifiers, *self.plan.columns("sensitive")]

    def clean(self, value: Any) -> Any:
        text = value.strip() if isinstance(value, str) else value
        return None if text in self.plan.data.missing else text

    def true_link(self) -> LinkClaim:
        records, rows = self.original.to_pylist(), self.released.to_pylist()
        keys = sorted({self.clean(record[self.plan.person]) for record in records}) if self.plan.person else []
        classes: dict[tuple[Any, ...], int] = {}
        profiles: dict[tuple[Any, ...], None] = {}
        labels: dict[tuple[Any, ...], int] = {}
        parts: Counter[tuple[int, int]] = Counter()
        for row, number in zip(rows, self.record_of_row, strict=True):
            record = records[number]
            person = [keys.index(self.clean(record[self.plan.person])) + 1] if self.plan.person else []
            key = (*(self.clean(record[name]) for name in self.names), *person)
            of = classes.setdefault(key, 100 + 7 * len(classes))
            profiles[(*(record[name] for name in self.names), *person, of)] = None
            group = labels.setdefault(tuple(row[name] for name in self.plan.quasi_identifiers), 5 + 3 * len(labels))
            parts[of, group] += 1
        types = [self.original.schema.field(name).type for name in self.names]
        types += [pa.int64()] * (len(next(iter(profiles), ())) - len(types))
        profile_names = [*self.names, *(["person"] if self.plan.person else []), "class"]
        texts = [pa.string()] * len(self.plan.quasi_identifiers)
        return LinkClaim(
            _table(profile_names, types, list(profiles)),
            _table(["class", "g", "n"], [pa.int64()] * 3, [(*key, n) for key, n in parts.items()]),
            _table(["g", *self.plan.quasi_identifiers], [pa.int64(), *texts], [(g, *key) for key, g in labels.items()]),
        )

    def verify(self, link: bool = True, original: bool = True) -> Verification:
        where = self.duck.put("released", self.released)
        source = self.duck.put('the "original"', self.original) if original else None
        return verify_in_place(self.plan, self.facts, where, source, self.link if link else None)

    def verify_rows(self, link: bool = True, original: bool = True) -> Verification:
        with tempfile.TemporaryDirectory() as home:
            self.write(Path(home))
            rows = range(1, len(self.record_of_row) + 1)
            table = pa.table({"record": np.array(self.record_of_row, np.int64) + 1, "row": np.array(rows, np.int64)})
            return verify_release(Path(home), self.original if original else None, table if link else None)

    def write(self, folder: Path, ending: str = "parquet") -> Path:
        folder.mkdir(exist_ok=True)
        (folder / "plan.yaml").write_text(self.plan.to_yaml(), encoding="utf-8")
        (folder / "facts.json").write_text(json.dumps(self.facts), encoding="utf-8")
        if ending == "parquet":
            pq.write_table(self.released, folder / "data.parquet")
        else:
            arrow_csv.write_csv(self.released, folder / "data.csv")
        return folder

    def change(self, row: int, name: str, value: Any) -> None:
        """Change a cell of the release."""
        rows = self.released.to_pylist()
        rows[row][name] = value
        self.released = pa.Table.from_pylist(rows, self.released.schema)

    def edit(self, part: str, change: Callable[[Rows], Any]) -> None:
        """Change a table of the link."""
        table = getattr(self.link, part)
        rows = table.to_pylist()
        change(rows)
        self.link = replace(self.link, **{part: pa.Table.from_pylist(rows, table.schema)})


def _table(names: list[str], types: list[pa.DataType], rows: list[tuple[Any, ...]]) -> pa.Table:
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    return pa.table([pa.array(list(column), kind) for column, kind in zip(columns, types, strict=True)], names)


TREE = {"any": {"lungs": ["flu", "cold"], "other": {"skin": ["eczema"], "blood": ["anaemia", "HIV"]}}}
ATTRIBUTES: dict[str, Any] = {
    "name": "identifier",
    "age": {"role": "quasi-identifier", "hierarchy": {"bands": [5, 20]}},
    'se"x': "quasi-identifier",
    "school": {"role": "quasi-identifier", "hierarchy": {"tree": {"all": {"low": ["1", "2"], "high": ["3"]}}}},
    "illness": {"role": "sensitive", "hierarchy": {"tree": TREE}},
    "income": "sensitive",
    "ward; DROP": "other",
    "since": "other",
}
PLANS: dict[str, dict[str, Any]] = {
    "cluster": {"privacy": {"k": 4}},
    "limits": {"privacy": {"k": 2}, "limits": {"age": 2, "school": 1}, "withhold": "40%"},
    "limits-ignored": {"privacy": {"k": 5}, "limits": {"age": 1}, "method": {"name": "cluster", "limits": "ignore"}},
    "p": {"privacy": {"k": 3, "p": 2}},
    "l": {"privacy": {"k": 3, "l": {"illness": {"distinct": 3}}}},
    "entropy": {"privacy": {"k": 3, "l": {"illness": {"entropy": 2}}}},
    "recursive": {"privacy": {"k": 3, "l": {"illness": {"recursive": [3, 2]}}}},
    "t": {"privacy": {"k": 3, "t": {"illness": 0.4}}},
    "t-ordered": {"privacy": {"k": 3, "t": {"income": {"at_most": 0.3, "distance": "ordered"}}}},
    "alpha": {"privacy": {"k": 3, "alpha": 0.6}},
    "lattice": {"privacy": {"k": 4}, "method": "lattice"},
    "lattice-limits": {"privacy": {"k": 2}, "method": "lattice", "limits": {"age": 2}, "withhold": "60%"},
    "persons": {"privacy": {"k": 3}, "person": "name"},
    "persons-p": {"privacy": {"k": 3, "p": 2}, "person": "name"},
    "free": {"privacy": {"k": 4}, "free": True},
    "sets": {
        "privacy": {"k": 4},
        "method": {"name": "cluster", "improve": "quick"},
        "publish": {'se"x': "set", "school": "set"},
    },
    "mean": {"privacy": {"k": 4}, "mean": True},
    "utility": {"privacy": {"k": 4}, "method": {"name": "utility", "overlap": "forbidden"}, "free": True},
    "suppress": {
        "privacy": {"k": 3, "p": 2},
        "method": {"name": "utility", "suppress": True},
        "missing": "matches-any",
    },
    "own-names": {"privacy": {"k": 3}, "person": "name", "names": {"school": "class", "illness": "person", "age": "g"}},
    "rules": {"privacy": {"k": 4}, "rules": [{"attribute": "school", "keep_apart": ["1", "2"]}], "method": "utility"},
}


def original(seed: int = 1, records: int = 160) -> pa.Table:
    """Records with spaces around cells, markers of missing values, and two ways to write a number."""
    random = np.random.default_rng(seed)

    def pick(values: list[Any]) -> list[Any]:
        return [values[number] for number in random.integers(0, len(values), records)]

    age = [str(number) for number in random.integers(20, 75, records)]
    return pa.table(
        {
            "name": [f" P{number} " if number % 3 else f"P{number}" for number in random.integers(0, 110, records)],
            "age": [text + ".0" if number % 5 == 0 else text for number, text in enumerate(age)],
            'se"x': pick(["F", "M", " F ", "\u3000M", "?", None]),
            "school": pick(["1", "2", "3", " 3"]),
            "illness": pick(["flu", "Flu", "cold", " eczema", "HIV", "HIV", "anaemia", "?", ""]),
            "income": pa.array(pick([Decimal("1.50"), Decimal("2.25"), Decimal("10.00"), None]), pa.decimal128(8, 2)),
            "ward; DROP": pick(["=A", "'B", "C\n", " D,", "?", "E'"]),
            "since": pa.array(pick([dt.date(2020, 1, 1), dt.date(2024, 2, 29), None]), pa.date32()),
        }
    )


MADE: dict[str, Case] = {}


def make(name: str) -> Case:
    """A release by one of the plans."""
    if name not in MADE:
        asked = dict(PLANS[name])
        attributes = {key: dict(value) if isinstance(value, dict) else value for key, value in ATTRIBUTES.items()}
        for column, level in asked.pop("limits", {}).items():
            attributes[column]["limit"] = {"level": level}
        if asked.pop("free", False):
            attributes["age"] = {"role": "quasi-identifier", "intervals": "free"}
        if asked.pop("mean", False):
            age = {"role": "quasi-identifier", "intervals": "free", "publish": "mean", "limit": {"width": 25}}
            attributes["age"] = age
        for column, instead in asked.pop("publish", {}).items():
            attributes[column] = {"role": "quasi-identifier", "publish": instead}
        names = asked.pop("names", {})
        attributes = {names.get(column, column): attribute for column, attribute in attributes.items()}
        plan = Plan.from_dict({"data": {"missing": ["", "?"]}, "attributes": attributes, **asked})
        table = original()
        table = table.rename_columns([names.get(column, column) for column in table.column_names])
        with tempfile.TemporaryDirectory() as home:
            release = hr.anonymize(table, plan, output=Path(home) / "release", format="parquet")
            facts = json.loads((Path(home) / "release" / "facts.json").read_text(encoding="utf-8"))
            plan = Plan.load(Path(home) / "release" / "plan.yaml")
            rows = pq.read_table(Path(home) / "release" / "data.parquet")
        for name_of in plan.published_as_numbers:  # as in a file of text
            cells = [None if cell is None else f"{cell:g}" for cell in rows.column(name_of).to_pylist()]
            rows = rows.set_column(rows.column_names.index(name_of), name_of, pa.array(cells, pa.string()))
        MADE[name] = Case(plan, facts, table, rows, release.record_of_row.tolist())
    made = MADE[name]
    return Case(made.plan, json.loads(json.dumps(made.facts)), made.original, made.released, list(made.record_of_row))


def parts_of(case: Case, folder: Path, parts: int) -> Path:
    """Write the release as a folder of Parquet files, as Spark does."""
    case.write(folder)
    (folder / "data.parquet").unlink()
    (folder / "data.parquet").mkdir()
    size = -(-case.released.num_rows // parts)
    for number in range(parts):
        pq.write_table(case.released.slice(number * size, size), folder / "data.parquet" / f"part-{number:05d}.parquet")
    return folder
