"""What the records themselves say to conditions that the thesis prints, and to those of our trees."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

import hedgerow as hr
from benchmarks.papers.writing import count, percent, table
from hedgerow.evaluation.comparison import plan_for

Numbers = dict[str, npt.NDArray[np.int64]]
Mask = npt.NDArray[np.bool_]
LOW, HIGH = "<=50K", ">50K"
ONE_SIDED = re.compile(r"^(\S+) (?:surely |maybe )?(≥|<) (-?\d+)$")
TWO_SIDED = re.compile(r"^(-?\d+) ≤ (\S+) < (-?\d+)$")

# What Tables 13 to 17 print, and the same condition on records: conditions, and which class is counted.
PRINTED_CONDITIONS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("utility, k = 3: 144 people with more than 35K, 100%", ("capital-gain ≥ 35001",), HIGH),
    (
        "suppression, k = 3: 1,381 with more than 5178 and education > 9, 100%",
        ("capital-gain ≥ 5179", "education-num ≥ 10"),
        HIGH,
    ),
    ("suppression, k = 3: 3,706 with education < 7, 97%", ("education-num < 7",), LOW),
    ("utility, k = 5: 1,019 with more than 7400, 100%", ("capital-gain ≥ 7401",), HIGH),
    ("utility, k = 10: 1,174 with more than 7444, 100%", ("capital-gain ≥ 7445",), HIGH),
    ("global, k = 5: 1,387 with 6000 or more, 95%", ("capital-gain ≥ 6000",), HIGH),
)
OLDER_AND_LESS_SCHOOLED = ("age ≥ 28", "education-num < 9")


def numbers(people: pa.Table) -> Numbers:
    """The columns of numbers."""
    return {
        name: np.array(people.column(name).to_pylist()).astype(np.int64)
        for name in people.column_names
        if name != "salary"
    }


def meets(raw: Numbers, conditions: Sequence[str]) -> Mask:
    """Which records meet all conditions; *surely* and *maybe* count for nothing, for these are records, not ranges.

    Examples
    --------
    >>> raw = {"age": np.array([20, 30, 40])}
    >>> meets(raw, ["age maybe < 40", "age surely ≥ 25"]).tolist(), meets(raw, ["20 ≤ age < 40"]).tolist()
    ([False, True, False], [True, True, False])
    """
    found = np.ones(len(next(iter(raw.values()))), bool)
    for condition in conditions:
        one, two = ONE_SIDED.match(condition), TWO_SIDED.match(condition)
        if one:
            column, sign, bound = raw[one[1]], one[2], int(one[3])
            found &= column >= bound if sign == "≥" else column < bound
        elif two:
            found &= (raw[two[2]] >= int(two[1])) & (raw[two[2]] < int(two[3]))
        else:
            raise ValueError(f"a condition that is not about a number: {condition}")
    return found


def printed_conditions_table(people: pa.Table) -> str:
    """What the raw data say to the printed conditions."""
    raw, salaries = numbers(people), np.array(people.column("salary").to_pylist())
    lines = []
    for words, conditions, salary in PRINTED_CONDITIONS:
        there = meets(raw, conditions)
        lines.append([words, f"{count(int(there.sum()))}, {percent(float((salaries[there] == salary).mean()))}"])
    return table(("printed", "raw data, same condition"), lines)


def suppressed_release(people: pa.Table, plan: Path, k: int) -> pa.Table:
    """What utility-driven merging with suppression publishes."""
    return hr.anonymize(people, plan_for(hr.Plan.load(plan), "utility-suppress", k)).data


def suppression_table(people: pa.Table, releases: Mapping[int, pa.Table]) -> str:
    """How empty the releases are, and how pure one pattern becomes in them."""
    raw, salaries = numbers(people), np.array(people.column("salary").to_pylist())
    there = meets(raw, OLDER_AND_LESS_SCHOOLED)
    share = float((salaries[there] == LOW).mean())
    lines: list[list[object]] = [["raw data", count(people.num_rows), 0, count(int(there.sum())), percent(share)]]
    for k, release in releases.items():
        empty = Counter(sum(cell is None for cell in row.values()) for row in release.to_pylist())
        whole = release.filter(pc.invert(_any_empty(release)))
        mine = meets(numbers(whole), OLDER_AND_LESS_SCHOOLED)
        shown = np.array(whole.column("salary").to_pylist())[mine]
        lines.append(
            [f"k = {k}", count(empty[0]), count(empty[4]), count(len(shown)), percent(float((shown == LOW).mean()))]
        )
    head = (
        "",
        "records published exactly",
        "with all four cells empty",
        "28 or older, education < 9",
        "of them 50K or less",
    )
    return table(head, lines)


def _any_empty(release: pa.Table) -> pa.ChunkedArray:
    found = release.column(0).is_null()
    for place in range(1, release.num_columns):
        found = pc.or_(found, release.column(place).is_null())
    return found
