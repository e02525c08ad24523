"""The example of Truta and Campan 2007 through the product: the loss of three solutions, and the break that optimization picks."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from hedgerow.anonymization.clustering.numbering import recoding_of
from hedgerow.maintenance.changes.change import maintain
from hedgerow.maintenance.changes.optimize import optimize
from hedgerow.measures import total_loss
from hedgerow.microdata import Microdata, encode_table, read_table
from hedgerow.plan import Plan

PEOPLE = pa.table(
    {
        "tuple": ["r1", "r2", "r3", "r4", "r5", "r6", "r7"],
        "Age": ["25", "40", "35", "55", "33", "42", "38"],
        "ZipCode": ["41076", "41935", "12345", "33333", "41733", "41076", "41933"],
        "Gender": ["Male", "Female", "Male", "Male", "Female", "Male", "Male"],
    }
)
PLAN = Plan.from_dict(
    {
        "key": "tuple",
        "attributes": {
            "Age": {"role": "quasi-identifier", "intervals": "free"},
            "ZipCode": {"role": "quasi-identifier", "hierarchy": {"prefix": [4, 3, 2, 1, 0]}},
            "Gender": "quasi-identifier",
        },
        "privacy": {"k": 2},
    }
)
S = [{"r1", "r2"}, {"r3", "r4"}, {"r5", "r6", "r7"}]
S1 = [{"r1", "r2", "r5", "r7"}, {"r3", "r4", "r6"}]
S2 = [{"r1", "r2", "r5"}, {"r3", "r4", "r6", "r7"}]


@pytest.fixture(scope="module")
def microdata() -> Microdata:
    return encode_table(read_table(PEOPLE, PLAN), PLAN)


def names(microdata: Microdata) -> list[str]:
    return [PEOPLE["tuple"][int(record)].as_py() for record in microdata.record_of]


def numbers(microdata: Microdata, clusters: list[set[str]]) -> np.ndarray:
    return np.array([next(i for i, part in enumerate(clusters) if name in part) for name in names(microdata)])


def parts(microdata: Microdata, cluster_of: np.ndarray) -> list[set[str]]:
    found: dict[int, set[str]] = {}
    for name, number in zip(names(microdata), cluster_of.tolist(), strict=True):
        found.setdefault(number, set()).add(name)
    return [found[number] for number in sorted(found)]


@pytest.mark.parametrize(
    ("clusters", "loss"),
    [(S, Fraction(397, 30)), (S1, Fraction(67, 5)), (S2, Fraction(389, 30))],
    ids=["S", "S1", "S2"],
)
def test_the_losses_of_the_three_solutions(microdata: Microdata, clusters: list[set[str]], loss: Fraction) -> None:
    assert total_loss(microdata, recoding_of(microdata, numbers(microdata, clusters))) == loss  # 13.2333, 13.4, 12.9667


def test_optimization_picks_the_interesting_break(microdata: Microdata) -> None:
    change = optimize(microdata, PLAN, numbers(microdata, S), used=3, passes=0)
    assert parts(microdata, change.cluster_of) == S2
    assert change.steps["broken"] == 1


def test_optimization_leaves_what_it_cannot_improve(microdata: Microdata) -> None:
    for clusters in (S2, S1):
        change = optimize(microdata, PLAN, numbers(microdata, clusters), used=2, passes=0)
        assert parts(microdata, change.cluster_of) == clusters


def test_the_local_search_goes_further_and_never_back(microdata: Microdata) -> None:
    for clusters in (S, S1, S2):
        before = total_loss(microdata, recoding_of(microdata, numbers(microdata, clusters)))
        change = optimize(microdata, PLAN, numbers(microdata, clusters), used=len(clusters))
        after = recoding_of(microdata, change.cluster_of)
        assert total_loss(microdata, after) <= before
        assert after.sizes.min() >= 2


def test_a_record_joins_the_cluster_whose_loss_grows_least(microdata: Microdata) -> None:
    without = numbers(microdata, [{"r1", "r2"}, {"r3", "r4"}, {"r5", "r6"}, {"r7"}])
    change = maintain(microdata, PLAN, np.where(without == 3, -1, without), used=3)
    growth = {}
    for number in range(3):
        joined = np.where(without == 3, number, without)
        growth[number] = total_loss(microdata, recoding_of(microdata, joined))
    assert parts(microdata, change.cluster_of)[min(growth, key=lambda n: (growth[n], n))] >= {"r7"}
