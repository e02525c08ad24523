"""A table of people and their parishes, plans for it, and its files."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow.csv

SECRET = "Quasimodo"
"""Part of every name, and a parish of its own that one misspelled rule nearly names."""
PLAN = """\
attributes:
  name: identifier
  age: {role: quasi-identifier, hierarchy: {bands: [5, 10, 20]}, intervals: free}
  city: {role: quasi-identifier, hierarchy: {tree: {US: {Kansas: [Wichita, Topeka], Nebraska: [Lincoln, Omaha]}}}}
  parish: quasi-identifier
  sex: quasi-identifier
  illness: sensitive
privacy: {k: 4}
"""
AT_END = len(PLAN.splitlines()) + 1
RULES = """\
rules:
  - {name: retirement, attribute: age, keep_apart: [64, 65], importance: 25}
  - {attribute: city, keep_apart: [Kansas, Nebraska], importance: 2.5}
  - {name: sexes, attribute: sex, keep_apart: [F, M]}
"""
SUPPRESS = "method: {name: utility, suppress: true}\nmissing: matches-any\n"
LIMITED = PLAN.replace("sex: quasi-identifier", "sex: {role: quasi-identifier, limit: {level: 0}}").replace(
    "parish: quasi-identifier", "parish: {role: quasi-identifier, limit: {level: 0}}"
)
"""Sexes and parishes must stay: about 30 records of every pair."""
BY_VALUE = "method: {name: lattice, objective: research-value}\n"


def write_table(folder: Path) -> Path:
    """Write ``data.csv`` into a folder, and return the folder."""
    draw = random.Random(4)
    rows = [
        f"{SECRET}{i},{draw.randint(18, 89)},{draw.choice(['Wichita', 'Topeka', 'Lincoln', 'Omaha'])},"
        f"{draw.choice(['Saint Jude', 'Saint Anne', 'Saint Mary', SECRET])},"
        f"{draw.choice('FM')},{draw.choice(['flu', 'cold', 'gout'])}"
        for i in range(240)
    ]
    (folder / "data.csv").write_text("name,age,city,parish,sex,illness\n" + "\n".join(rows) + "\n")
    return folder


def write_plan(folder: Path, *parts: str, name: str = "plan.yaml") -> str:
    (folder / name).write_text(PLAN + "".join(parts))
    return name


def rows_of(path: Path) -> list[dict[str, Any]]:
    options = pyarrow.csv.ConvertOptions(strings_can_be_null=True, quoted_strings_can_be_null=True, null_values=[""])
    rows: list[dict[str, Any]] = pyarrow.csv.read_csv(path, convert_options=options).to_pylist()
    return rows


def files(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def write_hard(folder: Path, records: int, attributes: int) -> None:
    """Independent columns of eight values, three levels and different weights: an optimum takes very long to prove."""
    draw = random.Random(3)
    names = [f"q{number}" for number in range(attributes)]
    columns = [draw.choices(range(8), [30, 20, 15, 12, 9, 7, 5, 2], k=records) for _ in names]
    lines = [",".join(map(str, row)) for row in zip(*columns, strict=True)]
    (folder / "hard.csv").write_text("\n".join([",".join(names), *lines]) + "\n")
    parts = "hierarchy: {bands: [2, 4]}, numeric: false"
    attributes_text = "".join(
        f"  {name}: {{role: quasi-identifier, {parts}, weight: {1 + number % 3}}}\n"
        for number, name in enumerate(names)
    )
    (folder / "plan.yaml").write_text(
        f"attributes:\n{attributes_text}privacy: {{k: 5}}\nwithhold: 5%\n"
        "method: {name: lattice, objective: research-value}\n"
    )
