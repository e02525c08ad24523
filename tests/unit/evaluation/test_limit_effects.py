"""What limits did: releases with and without each, against what can be worked out by hand and by separate runs."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest

import hedgerow as hr
from hedgerow.engines.opening import read_microdata
from hedgerow.evaluation.limit_effects import measure_limits, without_limit_of

QI = "quasi-identifier"
TREE = {"*": {"Kansas": ["Wichita", "Topeka"], "Nebraska": ["Lincoln", "Omaha"]}}


def plan(attributes: dict[str, Any], k: int, **more: Any) -> hr.Plan:
    return hr.Plan.from_dict({"attributes": attributes, "privacy": {"k": k}, **more})


def test_by_hand() -> None:
    city = {"role": QI, "hierarchy": {"tree": TREE}, "limits": ["Kansas", "Nebraska"]}
    table = pa.table({"city": ["Wichita", "Wichita", "Topeka", "Omaha"]})
    (effect,) = measure_limits(*read_microdata(table, plan({"city": city}, 3)))
    # with it Omaha is withheld (1) and the others become Kansas (1/2 each); without it all four become *
    assert effect.to_dict() == {
        "attribute": "city",
        "limit": "Kansas, Nebraska",
        "withheld": {"with": 1, "without": 0},
        "loss": {"with": 0.625, "without": 1.0},
        "share_lost": {"with": 0.625, "without": 1.0},
    }


@pytest.mark.parametrize("method", ["cluster", "partition", "lattice"])
def test_they_are_what_separate_releases_say(method: str) -> None:
    draw = random.Random(2)
    table = pa.table(
        {
            "age": [str(draw.randint(18, 60)) for _ in range(150)],
            "city": [draw.choice(["Wichita", "Topeka", "Lincoln", "Omaha"]) for _ in range(150)],
        }
    )
    asked = plan(
        {
            "age": {"role": QI, "hierarchy": {"bands": [5, 10, 20]}, "limit": {"level": 1}},
            "city": {"role": QI, "hierarchy": {"tree": TREE}, "limits": ["Kansas", "Nebraska"], "weight": 3},
        },
        5,
        method=method,
        withhold="50%",
    )
    stages: list[str] = []
    found = measure_limits(*read_microdata(table, asked), lambda stage, done, total: stages.append(stage))
    assert [effect.attribute for effect in found] == ["age", "city"]
    assert len(stages) == 3
    kept = hr.anonymize(table, asked).facts
    for effect in found:
        lifted = hr.anonymize(table, without_limit_of(asked, effect.attribute)).facts
        assert effect.to_dict() == {
            "attribute": effect.attribute,
            "limit": kept["limits_by_attribute"][effect.attribute]["limit"],
            "withheld": {"with": kept["withheld"], "without": lifted["withheld"]},
            "loss": {"with": kept["ntil"], "without": lifted["ntil"]},
            "share_lost": {
                "with": kept["share_lost_by_attribute"][effect.attribute],
                "without": lifted["share_lost_by_attribute"][effect.attribute],
            },
        }


def test_there_is_nothing_to_measure_without_limits_or_where_they_are_ignored() -> None:
    table = pa.table({"city": ["Wichita", "Wichita", "Omaha", "Omaha"]})
    assert measure_limits(*read_microdata(table, plan({"city": QI}, 2))) == ()
    city = {"role": QI, "hierarchy": {"tree": TREE}, "limits": ["Kansas"]}
    ignoring = plan({"city": city}, 2, method={"name": "cluster", "limits": "ignore"})
    assert measure_limits(*read_microdata(table, ignoring)) == ()
