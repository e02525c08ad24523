"""The same table in several orders, and what a release of it holds."""

from __future__ import annotations

import random
from pathlib import Path

PLAN = """\
attributes:
  age: {role: quasi-identifier, hierarchy: {bands: [5, 10, 20]}, limit: {level: 2}}
  zip: {role: quasi-identifier, hierarchy: {prefix: [5, 3, 1, 0]}}
  pay: {role: quasi-identifier, intervals: free, limit: {cuts: [50], width: 40}}
  sex: quasi-identifier
  illness: sensitive
  note: other
privacy: {k: 3}
"""


def write(folder: Path, order: int) -> Path:
    draw = random.Random(0)
    rows = []
    for _ in range(300):
        zip_code = draw.choice(["43102", "43103", "50111", "5011", ""])
        rows.append(
            f"{draw.randint(18, 60)},{zip_code},{draw.randint(0, 99)},{draw.choice('FM')},"
            f"{draw.choice(['flu', 'cold', 'a,b'])},{draw.randint(0, 9)}"
        )
    random.Random(order).shuffle(rows)
    path = folder / f"data{order}.csv"
    lines = [row.replace("a,b", '"a,b"') for row in rows]
    path.write_text("age,zip,pay,sex,illness,note\n" + "\n".join(lines) + "\n")
    return path


def files(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}
