"""Release folders written by hand, with the table and the link that belong to them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq

from hedgerow.plan import Plan
from hedgerow.verification import Verification, verify_release
from tests.cases.stated import exact_ends, facts_of

Cell = Any
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")


def guard(text: str) -> str:
    """What the export does to a cell that a spreadsheet would run."""
    return "'" + text if re.match(r"'*[=+\-@\t\r＝＋－＠]", text) and not NUMBER.fullmatch(text) else text  # noqa: RUF001


def write_csv(
    path: Path, header: list[str], rows: list[list[Cell]], delimiter: str = ",", encoding: str = "utf-8"
) -> None:
    def cell(value: Cell) -> str:
        text = "" if value is None else str(value)
        quoted = value == "" or any(sign in text for sign in (delimiter, '"', "\n", "\r"))
        return '"' + text.replace('"', '""') + '"' if quoted else text

    lines = [delimiter.join(cell(value) for value in row) + "\n" for row in [header, *rows]]
    path.write_bytes("".join(lines).encode(encoding))


@dataclass
class Release:
    """A release folder with its private companions, written by hand."""

    home: Path
    plan: dict[str, Any]
    original: list[list[Cell]]  # header first
    data: list[list[Cell]]  # header first
    link: list[list[Cell]] = field(default_factory=list)  # without header; by default record i is row i
    facts: dict[str, Any] = field(default_factory=dict)
    format: str = "csv"

    @property
    def folder(self) -> Path:
        return self.home / "release"

    def true_facts(self) -> dict[str, Any]:
        plan = Plan.from_dict(self.plan)
        return facts_of(plan, self.data[0], self.data[1:], len(self.original) - 1, {**self._ends(plan), **self.facts})

    def _ends(self, plan: Plan) -> dict[str, Any]:
        links = self.link or [[i, i] for i in range(1, len(self.data))]
        behind = {row: self.original[record] for record, row in links if 0 < record < len(self.original)}
        pairs = {
            name: [
                (behind[row][self.original[0].index(name)], cells[self.data[0].index(name)])
                for row, cells in enumerate(self.data[1:], start=1)
                if row in behind and name in self.original[0]
            ]
            for name in plan.quasi_identifiers
            if name in self.data[0]
        }
        return {"exact_end_points": exact_ends(plan, pairs)}

    def write(self) -> Release:
        self.folder.mkdir(parents=True, exist_ok=True)
        if self.format == "csv":
            rows = [[guard(cell) if isinstance(cell, str) else cell for cell in row] for row in self.data]
            write_csv(self.folder / "data.csv", rows[0], rows[1:])
        else:
            columns = list(zip(*self.data[1:], strict=True))
            table = pa.table([pa.array(column) for column in columns], names=self.data[0])
            pq.write_table(table, self.folder / "data.parquet")
        (self.folder / "plan.yaml").write_text(Plan.from_dict(self.plan).to_yaml(), encoding="utf-8")
        (self.folder / "facts.json").write_text(json.dumps(self.true_facts()), encoding="utf-8")
        write_csv(self.home / "original.csv", self.original[0], self.original[1:])
        links = self.link or [[i, i] for i in range(1, len(self.data))]
        write_csv(self.home / "link.csv", ["record", "row"], links)
        return self

    def verify(self, original: bool = True, link: bool = True) -> Verification:
        return verify_release(
            self.folder, self.home / "original.csv" if original else None, self.home / "link.csv" if link else None
        )

    def check(self, original: bool = True, link: bool = True) -> Verification:
        return self.write().verify(original, link)


QI = "quasi-identifier"
LOCATION = {
    "United States": {
        "West Coast": {"California": ["San Diego", "Los Angeles"]},
        "Midwest": {"Kansas": ["Wichita", "Kansas City"], "Nebraska": ["Lincoln"]},
    }
}


def broken(found: Verification) -> list[str]:
    """What is broken, but for two that say again, of everything, what another promise says of one thing.

    ``facts`` says so of what is of the wrong kind, ``possible`` of what no record can have behind it.
    """
    return [promise.name for promise in found.broken if promise.name not in ("facts", "possible")]
