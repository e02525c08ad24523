"""What analysts work out from an original and its release: as numpy and scikit-learn work it out directly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import statsmodels.api as sm
from sklearn.linear_model import LogisticRegression

import hedgerow as hr
from hedgerow.evaluation.analysing.comparing import propensity
from hedgerow.evaluation.analysing.regressions import linear, logistic, overlaps
from hedgerow.plan import Plan

DRAW = np.random.default_rng(7)
AGES = DRAW.integers(18, 90, 400)
SEX = DRAW.choice(["F", "M"], 400)
STATE = DRAW.choice(["CA", "OR", "NY", "MA"], 400)
PAY = 1000 + 12 * AGES + 150 * (SEX == "M") + DRAW.normal(0, 90, 400).round(2)
ILL = np.where(DRAW.random(400) < 1 / (1 + np.exp(4 - AGES / 15)), "yes", "no")
PEOPLE = pa.table({"age": AGES, "sex": SEX, "state": STATE, "pay": PAY, "ill": ILL})
TREE = {"*": {"West": ["CA", "OR"], "East": ["NY", "MA"]}}


def released(tmp_path: Path, k: int = 5, age: dict[str, Any] | None = None, people: pa.Table = PEOPLE) -> Path:
    attributes = {
        "age": {"role": "quasi-identifier", **(age or {"hierarchy": {"bands": [5, 10]}, "limit": {"level": 2}})},
        "sex": {"role": "quasi-identifier", "limit": {"level": 0}},
        "state": {"role": "quasi-identifier", "hierarchy": {"tree": TREE}},
        "pay": "sensitive",
        "ill": "sensitive",
    }
    method = {"name": "cluster", "improve": "quick"}
    plan = Plan.from_dict({"attributes": attributes, "privacy": {"k": k}, "method": method})
    hr.anonymize(people, plan, tmp_path / "release")
    return tmp_path / "release"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return released(tmp_path_factory.mktemp("utility"))


@pytest.fixture(scope="module")
def found(folder: Path) -> hr.Utility:
    return hr.utility(folder, PEOPLE, regress=["pay ~ age + sex", "ill ~ age"])


def test_figures_are_those_of_numpy(folder: Path, found: hr.Utility) -> None:
    middle = hr.read_release(folder)["age"].middle
    told = {(one.column, one.figure): one for one in found.figures}
    assert told["age", "mean"].original == pytest.approx(AGES.mean())
    assert told["age", "mean"].released == pytest.approx(middle.mean())  # type: ignore[union-attr]
    assert told["age", "standard deviation"].released == pytest.approx(middle.std())  # type: ignore[union-attr]
    assert told["pay", "quantile 0.9"].original == pytest.approx(np.quantile(PAY, 0.9))
    assert str(told["pay", "mean"]).startswith("the mean of pay moves from")
    (pair,) = found.correlations
    assert pair.columns == ("age", "pay")
    assert pair.original == pytest.approx(np.corrcoef(AGES, PAY)[0, 1])
    assert found.eigenvalues[0] == pytest.approx(np.sort(np.linalg.eigvalsh(np.corrcoef(AGES, PAY)))[::-1])


def test_a_linear_regression_is_that_of_least_squares(found: hr.Utility) -> None:
    design = np.stack([np.ones(400), AGES, SEX == "M"], axis=1).astype(float)
    solved, rest, *_ = np.linalg.lstsq(design, PAY, rcond=None)
    fit = linear(design, PAY)
    errors = np.sqrt(rest[0] / 397 * np.diag(np.linalg.inv(design.T @ design)))
    assert fit.coefficients == pytest.approx(solved)
    assert fit.errors == pytest.approx(errors)
    told = found.regressions[0]
    assert (told.kind, [one.name for one in told.coefficients]) == ("linear", ["constant", "age", "sex: M"])
    assert [one.original for one in told.coefficients] == pytest.approx(solved.tolist())
    assert told.overlap > 0.7


def test_a_logistic_regression_is_that_of_scikit_learn(found: hr.Utility) -> None:
    model = LogisticRegression(C=1e9, max_iter=10_000, tol=1e-10).fit(AGES[:, None] / 10, ILL == "yes")
    told = found.regressions[1]
    assert told.kind == "logistic"
    assert told.coefficients[1].original == pytest.approx(model.coef_[0, 0] / 10, rel=1e-4)
    assert told.coefficients[0].original == pytest.approx(model.intercept_[0], rel=1e-4)


def test_weights_count_as_repeated_rows() -> None:
    design = np.stack([np.ones(400), AGES], axis=1).astype(float)
    twice = np.where(AGES > 50, 2, 1)
    for fit, outcome in ((linear, PAY), (logistic, (ILL == "yes").astype(float))):
        weighted = fit(design, outcome, twice.astype(float)).coefficients
        repeated = fit(np.repeat(design, twice, axis=0), np.repeat(outcome, twice)).coefficients
        assert weighted == pytest.approx(repeated, rel=1e-6)


def test_errors_of_regressions_are_those_of_statsmodels(found: hr.Utility) -> None:
    design = np.stack([np.ones(400), AGES, SEX == "M"], axis=1).astype(float)
    theirs = sm.OLS(PAY, design).fit()
    assert linear(design, PAY).errors == pytest.approx(theirs.bse, rel=1e-8)
    chance = sm.Logit((ILL == "yes").astype(float), design[:, :2]).fit(disp=0)
    ours = logistic(design[:, :2], (ILL == "yes").astype(float))
    assert ours.coefficients == pytest.approx(chance.params, rel=1e-6)
    assert ours.errors == pytest.approx(chance.bse, rel=1e-4)
    assert found.regressions[0].coefficients[1].original == pytest.approx(theirs.params[1])


WEIGHTS = DRAW.integers(1, 5, 400)


def test_with_weights_everything_is_as_if_rows_were_repeated(tmp_path: Path) -> None:
    plan = {
        "attributes": {
            "age": {"role": "quasi-identifier", "hierarchy": {"bands": [5, 10]}, "limit": {"level": 2}},
            "sex": "quasi-identifier",
            "pay": "sensitive",
            "w": "other",
        },
        "privacy": {"k": 5},
        "weight": "w",
    }
    people = PEOPLE.select(["age", "sex", "pay"]).append_column("w", pa.array(WEIGHTS))
    release = hr.anonymize(people, hr.Plan.from_dict(plan))
    weighted = hr.utility(release, people, regress=["pay ~ age"])
    assert weighted.weighted == "w"
    repeated = np.repeat(np.arange(400), WEIGHTS)
    told = {(one.column, one.figure): one for one in weighted.figures}
    assert told["pay", "mean"].original == pytest.approx(PAY[repeated].mean())
    assert told["pay", "standard deviation"].original == pytest.approx(PAY[repeated].std())
    assert told["pay", "quantile 0.5"].original == np.quantile(PAY[repeated], 0.5, method="inverted_cdf")
    rows = release.record_of_row
    assert told["pay", "mean"].released == pytest.approx(np.average(PAY[rows], weights=WEIGHTS[rows]))
    (pair,) = weighted.correlations
    assert pair.original == pytest.approx(np.corrcoef(AGES[repeated], PAY[repeated])[0, 1])
    fit = sm.WLS(PAY, sm.add_constant(AGES), weights=WEIGHTS).fit()
    assert weighted.regressions[0].coefficients[1].original == pytest.approx(fit.params[1])


def test_il1s_is_the_distance_of_every_record_from_its_row(folder: Path, tmp_path: Path) -> None:
    plan = hr.read_release(folder).plan
    release = hr.anonymize(PEOPLE, plan, tmp_path / "again", link=tmp_path / "link.csv")
    middle = hr.read_release(tmp_path / "again")["age"].middle
    assert middle is not None
    far = np.abs(AGES[release.record_of_row] - middle).mean() / (np.sqrt(2) * AGES.std())
    for found in (
        hr.utility(release, PEOPLE, columns=["age"]),
        hr.utility(tmp_path / "again", PEOPLE, columns=["age"], link=tmp_path / "link.csv"),
    ):
        assert found.il1s == pytest.approx(far)
    assert hr.utility(tmp_path / "again", PEOPLE).il1s is None


def test_the_original_of_a_treated_column_is_as_it_was() -> None:
    plan = {
        "attributes": {"age": "quasi-identifier", "pay": {"role": "sensitive", "treat": {"round": 1000}}},
        "privacy": {"k": 2},
    }
    people = PEOPLE.select(["age", "pay"])
    told = {one.column: one for one in hr.utility(hr.anonymize(people, hr.Plan.from_dict(plan)), people).figures}
    assert told["pay"].original != told["pay"].released


def test_intervals_overlap_wholly_or_not_at_all() -> None:
    design = np.stack([np.ones(400), AGES], axis=1).astype(float)
    fit = linear(design, PAY)
    assert overlaps(fit, fit) == pytest.approx([1, 1])
    assert overlaps(fit, linear(design, PAY + 1e6))[0] == 0


def test_propensity_of_a_copy_of_the_same_people_and_of_others() -> None:
    features = np.stack([np.ones(400), AGES / 20, PAY / 500], axis=1)
    assert propensity(features, features).pmse == pytest.approx(0, abs=1e-12)
    draw = np.random.default_rng(3)
    ratios = []
    for _ in range(60):
        one, other = (np.stack([np.ones(200), *draw.normal(size=(3, 200))], axis=1) for _ in range(2))
        ratios.append(propensity(one, other).ratio)
    assert np.mean(ratios) == pytest.approx(1, abs=0.25)
    other = features + np.array([0, 1.0, 0])
    assert propensity(features, other).ratio > 20


def test_tables_spread_what_is_coarse(folder: Path, found: hr.Utility) -> None:
    release = hr.read_release(folder)
    told = {one.columns: one.distance for one in found.tables}
    leaves = ["CA", "MA", "NY", "OR"]
    stands_for = {"West": ["CA", "OR"], "East": ["NY", "MA"], "*": leaves} | {leaf: [leaf] for leaf in leaves}
    after = {(leaf, sex): 0.0 for leaf in leaves for sex in "FM"}
    labels, sexes = release["state"].labels.to_pylist(), release["sex"].labels.to_pylist()
    for label, sex in zip(labels, sexes, strict=True):
        for leaf in stands_for[label]:
            after[leaf, sex] += 1 / len(stands_for[label]) / len(labels)
    before = {key: float(np.mean((key[0] == STATE) & (key[1] == SEX))) for key in after}
    assert told["sex", "state"] == pytest.approx(sum(abs(after[key] - before[key]) for key in after) / 2)


def test_an_exact_release_moves_nothing(tmp_path: Path) -> None:
    twice = pa.concat_tables([PEOPLE, PEOPLE])
    folder = released(tmp_path, k=2, age={"intervals": "free"}, people=twice)
    exact = hr.utility(folder, twice, regress=["pay ~ age + state"])
    assert max(abs(one.shift) for one in exact.figures) == pytest.approx(0, abs=1e-9)
    assert max(one.distance for one in exact.tables) == pytest.approx(0, abs=1e-9)
    assert exact.regressions[0].overlap == pytest.approx(1)
    assert exact.propensity.pmse == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    ("formula", "said"),
    [("pay", "names an outcome"), ("pay ~ salary", "not released"), ("state ~ age", "neither of numbers")],
)
def test_a_regression_that_cannot_be_made_is_refused(folder: Path, formula: str, said: str) -> None:
    with pytest.raises(hr.DataError, match=said):
        hr.utility(folder, PEOPLE, regress=[formula])


def test_everything_is_plain_data_and_a_few_sentences(found: hr.Utility) -> None:
    told = found.to_dict()
    parts = {"figures", "correlations", "eigenvalues", "tables", "regressions", "propensity"}
    assert set(told) == parts | {"weighted", "il1s", "sentences"}
    assert told["propensity"]["ratio"] == pytest.approx(found.propensity.ratio, rel=1e-3)
    assert len(found.sentences) == 6
    assert repr(found) == "\n".join(found.sentences)
