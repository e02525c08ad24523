"""Hedgerow as a scikit-learn transformer."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from hedgerow.sklearn import KAnonymizer


@parametrize_with_checks([KAnonymizer(k=2)])  # type: ignore[untyped-decorator]
def test_it_keeps_to_what_scikit_learn_asks_of_transformers(estimator: Any, check: Any) -> None:
    check(estimator)


def people() -> pd.DataFrame:
    ages = [20, 22, 25, 31, 33, 38, 41, 44, 48, 52, 57, 61]
    return pd.DataFrame({"age": ages, "sex": list("FM" * 6), "ill": [age > 40 for age in ages]})


def smallest_group(rows: pd.DataFrame) -> int:
    return int(rows.groupby(["age", "sex"], dropna=False).size().min())


def test_rows_it_was_fitted_with_agree_with_enough_others() -> None:
    found = KAnonymizer(k=3, columns=["age", "sex"]).set_output(transform="pandas").fit_transform(people())
    assert list(found.columns) == ["age", "sex", "ill"]
    assert smallest_group(found.dropna()) >= 3
    assert found["ill"].tolist() == people()["ill"].tolist()  # what is no quasi-identifier stays as it is


def test_a_plan_is_kept_with_its_limits() -> None:
    plan = {
        "attributes": {
            "age": {"role": "quasi-identifier", "intervals": "free", "limit": {"cuts": [40]}},
            "sex": "quasi-identifier",
            "ill": "other",
        },
        "privacy": {"k": 3},
    }
    anonymizer = KAnonymizer(plan=plan, publish="interval").fit(people())
    assert anonymizer.facts_["limits_broken"] == 0
    for age, interval in zip(people()["age"], anonymizer.transform(people())[:, 0], strict=True):
        low, high = map(int, interval.split("-"))
        assert low <= age <= high
        assert high < 40 or low >= 40


def test_rows_in_no_group_are_missing_altogether() -> None:
    anonymizer = KAnonymizer(k=3, columns=["age", "sex"]).fit(people())
    outside = anonymizer.transform(pd.DataFrame({"age": [99], "sex": ["F"], "ill": [True]}))
    assert pd.isna(outside).all()


def test_columns_that_the_plan_does_not_release_are_refused() -> None:
    plan = {"attributes": {"age": {"role": "quasi-identifier", "intervals": "free"}}, "privacy": {"k": 3}}
    with pytest.raises(ValueError, match="X has 2 columns that the plan does not release"):
        KAnonymizer(plan=plan).fit(people())


def test_it_stands_in_a_pipeline() -> None:
    model = make_pipeline(KAnonymizer(k=3), LogisticRegression())
    ages = people()[["age"]]
    assert model.fit(ages, people()["ill"]).score(ages, people()["ill"]) == 1
