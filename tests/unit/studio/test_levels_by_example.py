"""Levels are named by what a value is there."""

from __future__ import annotations

from typing import Any

import pytest

from hedgerow import Plan
from hedgerow.reports.level_words import level_words
from hedgerow.studio.differences import differences
from hedgerow.studio.limit_changes import in_short

CASES: dict[str, tuple[Any, list[str], list[str]]] = {
    "bands": ({"bands": [5, 10]}, ["37", "35-39", "30-39", "*"], ["bands of 5, such as 35-39", "bands of 10, such as 30-39"]),
    "cuts": ({"cuts": [[0, 18, 65]]}, ["37", "18-64", "*"], ["ranges, such as 18-64"]),
    "prefix": ({"prefix": [3, 1], "length": 5}, ["67202", "672**", "6****", "*"],
               ["the first 3 characters, such as 672**", "the first character, such as 6****"]),
    "dates": ({"dates": ["year", "decade"]}, ["1984-05-02", "1984", "1980s", "*"],
              ["the year, such as 1984", "the decade, such as 1980s"]),
    "tree": ({"tree": {"US": {"West": {"Nevada": ["Reno"]}}}}, ["Reno", "Nevada", "West", "US"],
             ["groups such as Nevada", "groups such as West"]),
    "flat": (None, ["m", "*"], []),
}  # fmt: skip


def planned(hierarchy: Any, limit: Any = None) -> Plan:
    keys = {"hierarchy": hierarchy} if hierarchy else {}
    limited = {} if limit is None else {"limit": limit}
    raw = {"attributes": {"x": {"role": "quasi-identifier", **keys, **limited}}, "privacy": {"k": 2}}
    return Plan.from_dict(raw)


@pytest.mark.parametrize("kind", CASES)
def test_every_level_has_words_and_an_example(kind: str) -> None:
    hierarchy, examples, words = CASES[kind]
    column = planned(hierarchy).attributes["x"]
    assert level_words(column, 0, examples) == f"as they are, such as {examples[0]}"
    assert [level_words(column, level, examples) for level in range(1, len(examples) - 1)] == words
    assert examples[-1] in level_words(column, len(examples) - 1, examples)


@pytest.mark.parametrize("kind", CASES)
def test_no_limit_is_told_by_a_number_of_steps(kind: str) -> None:
    hierarchy, examples, _ = CASES[kind]
    for level in range(len(examples)):
        plan = planned(hierarchy, {"level": level})
        for said in (
            in_short(plan.attributes["x"], examples),
            in_short(plan.attributes["x"]),
            *differences(planned(hierarchy), plan),
        ):
            assert "level" not in said
            assert "steps" not in said
