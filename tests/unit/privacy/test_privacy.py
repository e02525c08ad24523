"""Sensitive values and the models on them: what counts as different, what holds, what is disclosed."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest

import hedgerow as hr
from hedgerow.privacy import (
    AlphaShare,
    BetaLikeness,
    DeltaDisclosure,
    EntropyL,
    PSensitive,
    RecursiveCL,
    TCloseness,
    holds_for,
)

CANCERS = {"*": {"cancer": ["Lung cancer", "Throat cancer"], "infection": ["Flu", "Cold"]}}


def release(
    values: list[Any], privacy: dict[str, Any], sensitive: dict[str, Any] | None = None, **more: Any
) -> hr.Release:
    attributes = {"sex": "quasi-identifier", "illness": {"role": "sensitive", **(sensitive or {})}}
    plan = hr.Plan.from_dict({"attributes": attributes, "privacy": privacy, **more})
    return hr.anonymize(
        pa.table(
            {"sex": ["F"] * (len(values) // 2) + ["M"] * (len(values) - len(values) // 2), "illness": pa.array(values)}
        ),
        plan,
    )


def test_spelling_does_not_fake_diversity() -> None:
    values = ["Flu", "flu ", "Flu", "cold", "Cold", "ﬂu"]
    made = release(values, {"k": 3, "p": 2})
    assert made.facts["groups"] == 1  # the first three are one value
    with pytest.raises(hr.NoSolution, match="has only 2 different values"):
        release(values, {"k": 3, "p": 3})


def test_values_that_meet_at_a_level_count_once() -> None:
    values = ["Lung cancer", "throat cancer", "Lung cancer", "Flu", "Cold", "Flu"]
    tree = {"hierarchy": {"tree": CANCERS}}
    assert release(values, {"k": 3, "p": 2}, tree).facts["groups"] == 2
    assert release(values, {"k": 3, "p": 2}, {**tree, "level": 1}).facts["groups"] == 1


def test_missing_never_counts_towards_p() -> None:
    values = ["Flu", None, None, "Flu", "Cold", "Cold"]
    assert release(values, {"k": 3}).facts["groups"] == 2
    assert release(values, {"k": 3, "p": 2}).facts["groups"] == 1


def test_disclosures_are_counted_and_listed() -> None:
    made = release(["Flu", "Flu", "Flu", "Flu", "Cold", None], {"k": 3})
    assert made.facts["attribute_disclosures"] == {
        "count": 1,
        "by_attribute": {"illness": 1},
        "listed": [(0, "illness")],
    }


def test_codes_of_a_sensitive_prefix_hierarchy_are_folded_and_verified() -> None:
    values = ["A0112", "a0113", "B0112", "b0113", "A0112", "B0999"]
    made = release(values, {"k": 3, "p": 2, "t": 1}, {"hierarchy": {"prefix": [1]}, "level": 1})
    assert made.plan.attributes["illness"].hierarchy.length == 5


@pytest.mark.parametrize("unknown", ["withhold", "own-leaf-under-root"])
def test_sensitive_values_without_a_leaf(unknown: str) -> None:
    values = ["Flu", "Cold", "Flu", "Cold", "Flu", "Plague"]
    tree = {"hierarchy": {"tree": CANCERS}}
    with pytest.raises(hr.DataError, match=r"1 records \(1 different values\) have no leaf") as caught:
        release(values, {"k": 2, "p": 2}, tree)
    assert "Plague" not in str(caught.value)
    made = release(values, {"k": 2, "p": 2}, {**tree, "unknown": unknown})
    assert made.withheld == (1 if unknown == "withhold" else 0)


def test_an_ordered_distance_needs_an_order() -> None:
    with pytest.raises(hr.DataError, match="an ordered distance needs numbers"):
        release(["a", "b", "a", "b"], {"k": 2, "t": {"at_most": 0.5, "distance": "ordered"}})
    release([1, 2, 1, 2], {"k": 2, "t": {"at_most": 0.5, "distance": "ordered"}})


def test_demands_by_column() -> None:
    plan = hr.Plan.from_dict(
        {
            "attributes": {"sex": "quasi-identifier", "a": "sensitive", "b": "sensitive"},
            "privacy": {"k": 2, "p": {"a": 2}, "alpha": {"b": 0.5}},
        }
    )
    made = hr.anonymize(pa.table({"sex": list("FFMM"), "a": list("xyxy"), "b": list("uvuv")}), plan)
    assert made.facts["groups"] == 2
    made = hr.anonymize(pa.table({"sex": list("FFMM"), "a": list("xyxy"), "b": list("uuuv")}), plan)
    assert made.private["withheld_because"]["fits_no_group"] == 2  # only one group can have the v
    with pytest.raises(hr.NoSolution, match="No group could be formed"):
        hr.anonymize(pa.table({"sex": list("FFMM"), "a": list("xyxy"), "b": list("uuuu")}), plan)


@pytest.mark.parametrize(
    ("model", "values", "overall", "holds"),
    [
        (PSensitive(2), "aab", None, True),
        (PSensitive(3), "aab", None, False),
        (EntropyL(2), "aabb", None, True),
        (EntropyL(2), "aaab", None, False),
        (EntropyL(2), "", None, False),
        (RecursiveCL(Fraction(11, 5), 2), "a" * 55 + "b" * 25, None, False),
        (RecursiveCL(3, 2), "aaab", None, False),
        (RecursiveCL(4, 2), "aaab", None, True),
        (TCloseness(0.5), "aa", "aabb", True),
        (TCloseness(0.49), "aa", "aabb", False),
        (TCloseness(0.5, "ordered"), "aaa", "abc", True),
        (TCloseness(0.49, "ordered"), "aaa", "abc", False),
        (AlphaShare(0.75), "aaab", None, True),
        (AlphaShare(0.7), "aaab", None, False),
        (BetaLikeness(1), "aab", "aabbbb", True),
        (BetaLikeness(0.99), "aab", "aabbbb", False),
        (BetaLikeness(0.7, enhanced=True), "aab", "aaabbb", True),  # −ln ½ is more than ⅓
        (BetaLikeness(1, enhanced=True), "aa", "aaabbb", False),  # and less than 1
        (BetaLikeness(0), "", "ab", True),
        (DeltaDisclosure(0.41), "aab", "aabb", True),  # ln 3/2 = 0.4055
        (DeltaDisclosure(0.4), "aab", "aabb", False),
        (DeltaDisclosure(9), "aa", "aab", False),
        (DeltaDisclosure(9), "", "ab", False),
        (DeltaDisclosure(9), "", "", True),
    ],
)
def test_models_by_hand(model: Any, values: str, overall: str | None, holds: bool) -> None:
    assert holds_for(model, values, overall) == holds


def test_t_closeness_of_the_paper() -> None:
    """Li et al. 2007: salaries 3k–11k; {3, 4, 5} is at distance 0.375 and {6, 8, 11} at 0.167 from all nine."""
    salaries = list(range(3, 12))
    assert holds_for(TCloseness(0.375, "ordered"), [3, 4, 5], salaries)
    assert not holds_for(TCloseness(0.374, "ordered"), [3, 4, 5], salaries)
    assert holds_for(TCloseness(0.167, "ordered"), [6, 8, 11], salaries)
    assert not holds_for(TCloseness(0.166, "ordered"), [6, 8, 11], salaries)


def test_what_each_model_says_of_itself() -> None:
    assert PSensitive.survives_growth
    assert not any(
        model.survives_growth
        for model in (EntropyL, RecursiveCL, TCloseness, AlphaShare, BetaLikeness, DeltaDisclosure)
    )
