"""The risk of samples: weights, households, special uniques; as the papers and another program have them."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hedgerow
from hedgerow.errors import HedgerowError
from hedgerow.evaluation.assessing.people import Crowd
from hedgerow.evaluation.assessing.special import dis_scores, shares_of_score
from hedgerow.evaluation.assessing.subsets import all_together, every_subset
from hedgerow.privacy.sampled import household_risks, individual_risks
from hedgerow.types import silent
from hedgerow.verification.promises.weights import _risk as integral
from tests.cases.data import data
from tests.naive import assessing as naive_assessing
from tests.naive import sampled as naive


@pytest.fixture
def sample() -> pa.Table:
    """Six people, of three households, who stand for others."""
    return pa.table(
        {
            "age": ["30", "30", "30", "40", "40", "50"],
            "sex": list("FFMFFM"),
            "weight": ["10", "20.5", "5", "1", "1", "100"],
            "home": ["a", "a", "b", "b", "c", "c"],
        }
    )


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 90), st.floats(1.0, 400.0))
def test_the_risk_is_the_mean_of_one_over_those_who_may_agree(records: int, times: float) -> None:
    people = records * times
    found = individual_risks(np.array([records]), np.array([people]))[0]
    assert found == pytest.approx(naive.individual_risk(records, people), rel=1e-9)


@pytest.mark.parametrize("chance", [0.001, 0.2, 0.499, 0.5, 0.501, 0.9])
def test_one_and_two_records_have_closed_forms(chance: float) -> None:
    one, two = individual_risks(np.array([1, 2]), np.array([1 / chance, 2 / chance]))
    odds = chance / (1 - chance)
    assert one == pytest.approx(odds * math.log(1 / chance), rel=1e-9)
    assert two == pytest.approx(odds - odds**2 * math.log(1 / chance), rel=1e-9)


def test_a_sample_of_everybody_has_the_risk_of_its_groups() -> None:
    assert individual_risks(np.array([1, 4, 5]), np.array([1.0, 4.0, 3.0])).tolist() == [1.0, 0.25, 0.2]


def test_a_household_is_found_by_any_of_its_members() -> None:
    risks = np.array([0.5, 0.1, 0.2, 1.0, 0.3])
    found = household_risks(risks, np.array([0, 0, 1, 2, 2]), 3)
    assert found.tolist() == pytest.approx([naive.household_risk(part) for part in ([0.5, 0.1], [0.2], [1.0, 0.3])])


def test_weights_say_who_else_could_be_meant(sample: pa.Table) -> None:
    found = hedgerow.assess(sample, columns=["age", "sex"], weight="weight", household="home").sample
    assert found is not None
    groups, people = [2, 1, 2, 1], [30.5, 5.0, 2.0, 100.0]
    risks = [naive.individual_risk(f, n) for f, n in zip(groups, people, strict=True)]
    expected = sum(f * risk for f, risk in zip(groups, risks, strict=True))
    assert (found.people, found.fewest) == (137.5, 2.0)
    assert found.expected == pytest.approx(expected)
    assert found.average == pytest.approx(expected / 6)
    assert (found.highest, found.above) == (0.5, 3)
    homes = [naive.household_risk([risks[at] for at in home]) for home in ([0, 0], [1, 2], [2, 3])]
    assert found.household is not None
    assert found.household.highest == pytest.approx(max(homes))
    assert found.household.records_expected == pytest.approx(2 * sum(homes))


def test_the_order_of_rows_and_the_engine_change_nothing(sample: pa.Table, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    pq.write_table(sample.take([5, 3, 0, 4, 1, 2]), tmp_path / "t.parquet")
    asked = {"columns": ["age", "sex"], "weight": "weight", "household": "home"}
    here = hedgerow.assess(sample, **asked).to_dict()
    assert hedgerow.assess(tmp_path / "t.parquet", engine="duckdb", **asked).to_dict() == here


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"weight": "sex"}, "6 records have no weight above 0"),
        ({"household": "home"}, "needs weights"),
        ({"weight": "weight", "person": "home"}, "a person of its own"),
        ({"weight": "age"}, "'age' cannot be two things"),
        ({"weight": "weight", "household": "weight"}, "cannot be two things"),
        ({"fraction": 2.0}, "above 0, 1 at most"),
    ],
)
def test_what_cannot_be_estimated_is_said(sample: pa.Table, asked: dict[str, object], said: str) -> None:
    columns = ["age"] if asked.get("weight") == "sex" else ["age", "sex"]
    with pytest.raises(HedgerowError, match=said):
        hedgerow.assess(sample, columns=columns, **asked)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(*[st.sampled_from("abc")] * 3), min_size=2, max_size=14), st.floats(0.01, 0.9))
def test_special_uniques_are_scored_as_by_brute_force(records: list[tuple[str, ...]], fraction: float) -> None:
    names = ["x", "y", "z"]
    table = pa.table({name: [record[at] for record in records] for at, name in enumerate(names)})
    found = hedgerow.assess(table, columns=names, size=3, fraction=fraction)
    smallest = naive_assessing.smallest(records, 3)
    sizes = [
        [len(chosen) for chosen, keys in smallest.items() if tuple(record[at] for at in chosen) in keys]
        for record in records
    ]
    scores = [naive.score(each, 3) for each in sizes]
    assert found.special is not None
    assert found.special.records == sum(score > 0 for score in scores)
    for part in found.parts:
        of_column = sum(
            naive.score([len(chosen)], 3) * len(keys)
            for chosen, keys in smallest.items()
            if names.index(part.column) in chosen
        )
        assert part.share_of_scores == (pytest.approx(of_column / sum(scores)) if sum(scores) else None)
    if found.unique:
        of = [len(numbers) for numbers in naive_assessing.groups(records, range(3)).values()]
        dis = naive.dis_scores(scores, of.count(1), 2 * of.count(2), 3, fraction)
        assert found.special.highest == pytest.approx(max(dis))
        assert found.special.average == pytest.approx(sum(dis) / found.special.records)


def test_many_columns_have_no_scores() -> None:
    table = pa.table({f"c{number}": ["a", "b", "b"] for number in range(21)})
    found = hedgerow.assess(table, columns=table.column_names, size=1)
    assert (found.special, found.parts[0].share_of_scores) == (None, None)


SUDA = {"urbrur": 17.0229793072, "roof": 25.7917000114, "walls": 25.1171830342, "water": 58.465759689}
SUDA |= {"sex": 20.8185663656, "age": 99.4055104607}


def test_figures_are_those_of_sdcmicro() -> None:
    """Of its own table ``testdata``, as version 5.8.1 gives them; it has approximate risks from three records on."""
    [path] = data("sdc/testdata.csv")
    keys = [*SUDA, "electcon", "relat"]
    found = hedgerow.assess(path, columns=keys, weight="sampling_weight", household="ori_hid", size=1).sample
    assert found is not None
    assert found.household is not None
    assert found.expected == pytest.approx(91.3423988313, rel=0.0005)
    assert found.household.records_expected == pytest.approx(434.4118714311, rel=0.0005)
    special = hedgerow.assess(path, columns=list(SUDA), size=6)
    assert {part.column: 100 * (part.share_of_scores or 0) for part in special.parts} == pytest.approx(SUDA)
    assert special.special is not None
    assert special.special.highest == pytest.approx(0.41636218184)
    assert special.special.records == special.unique == 894


@pytest.fixture(scope="module")
def vectors() -> Path:
    """The folder with what sdcMicro gives for its table, record by record."""
    [path] = data("sdc/testdata.csv")
    folder = path.parents[2] / "spec" / "vectors" / "risk"
    if not folder.exists():
        pytest.skip("there are no vectors beside the public data")
    return folder


def crowd_of(table: pa.Table, keys: list[str]) -> Crowd:
    codes = [np.unique(table[key].to_numpy(), return_inverse=True)[1].astype(np.int64) for key in keys]
    return Crowd.of(codes, np.ones(len(table), np.int64), None, np.ones(len(table), bool))


def test_risks_are_those_of_sdcmicro_record_by_record(vectors: Path) -> None:
    table = pyarrow.csv.read_csv(data("sdc/testdata.csv")[0])
    home = np.unique(table["ori_hid"].to_numpy(), return_inverse=True)[1]
    for case in json.loads((vectors / "risk.json").read_text()):
        people = crowd_of(table, case["keys"])
        group, groups = all_together(people)
        of = group[people.unit_of]
        records = np.bincount(of, minlength=groups)
        stand_for = np.bincount(of, weights=table["sampling_weight"].to_numpy(), minlength=groups)
        assert records[of].tolist() == case["fk"]
        assert stand_for[of] == pytest.approx(case["Fk"])
        risk, exact = individual_risks(records, stand_for)[of], records[of] <= 2
        assert risk[exact] == pytest.approx(np.array(case["risk"])[exact], rel=1e-9)
        assert risk == pytest.approx(case["risk"], rel=0.005)  # there f ≥ 3 is an approximation
        assert household_risks(risk, home, int(home.max()) + 1)[home] == pytest.approx(case["hier_risk"], rel=0.005)


def test_scores_are_those_of_sdcmicro_record_by_record(vectors: Path) -> None:
    table = pyarrow.csv.read_csv(data("sdc/testdata.csv")[0])
    for case in json.loads((vectors / "suda.json").read_text()):
        people, columns = crowd_of(table, case["keys"]), len(case["keys"])
        looked = every_subset(people, columns, silent)
        sizes = people.in_groups(*all_together(people))
        dis, _ = dis_scores(looked.score, people.records, sizes, columns, 0.01)
        assert looked.score[people.unit_of].tolist() == case["score"]
        assert dis[people.unit_of] == pytest.approx(case["dis"], abs=1e-8)
        shares = dict(zip(case["keys"], shares_of_score(looked), strict=True))
        said = {one["variable"]: one["contribution"] for one in case["contributions"]}
        assert {name: 100 * (share or 0) for name, share in shares.items()} == pytest.approx(said)


KEYS = ("urbrur", "roof", "walls", "water", "electcon", "relat", "sex", "age", "hhcivil", "expend", "income", "savings")


@settings(max_examples=8, deadline=None)
@given(st.lists(st.sampled_from(KEYS), min_size=1, max_size=8, unique=True), st.integers(0, 4500))
def test_risks_and_scores_of_any_columns_are_those_of_plain_loops_record_by_record(keys: list[str], first: int) -> None:
    table = pyarrow.csv.read_csv(data("sdc/testdata.csv")[0])
    rows = list(zip(*(table[key].to_pylist() for key in keys), strict=True))
    weights = table["sampling_weight"].to_pylist()
    count, stand_for = naive.frequencies(rows, weights)
    people = crowd_of(table, keys)
    group, groups = all_together(people)
    of = group[people.unit_of]
    records = np.bincount(of, minlength=groups)
    assert records[of].tolist() == count
    summed = np.bincount(of, weights=weights, minlength=groups)
    assert summed[of] == pytest.approx(stand_for)
    pairs = list(zip(count, stand_for, strict=True))
    # Of very large groups the sum underflows: there the check's own integral must do.
    known = {pair: (naive.individual_risk if pair[0] <= 100 else integral)(*pair) for pair in set(pairs)}
    risk = individual_risks(records, summed)[of]
    assert risk == pytest.approx([known[pair] for pair in pairs], rel=1e-8)
    home = np.unique(table["ori_hid"].to_numpy(), return_inverse=True)[1]
    members: dict[int, list[float]] = {}
    for number, one in zip(home.tolist(), risk.tolist(), strict=True):
        members.setdefault(number, []).append(one)
    whole = [naive.household_risk(members[number]) for number in home.tolist()]
    assert household_risks(risk, home, int(home.max()) + 1)[home] == pytest.approx(whole)

    some, few, width = table.slice(first, 25), keys[:4], min(len(keys), 4)
    taken = list(zip(*(some[key].to_pylist() for key in few), strict=True))
    smallest = naive_assessing.smallest(taken, width)
    sizes = [
        [len(chosen) for chosen, found in smallest.items() if tuple(record[at] for at in chosen) in found]
        for record in taken
    ]
    scores = [naive.score(each, width) for each in sizes]
    crowd = crowd_of(some, few)
    looked = every_subset(crowd, width, silent)
    assert looked.score[crowd.unit_of].tolist() == scores
    in_groups = crowd.in_groups(*all_together(crowd))
    dis, _ = dis_scores(looked.score, crowd.records, in_groups, width, 0.01)
    of_size = [len(numbers) for numbers in naive_assessing.groups(taken, range(width)).values()]
    if 1 in of_size:
        wanted = naive.dis_scores(scores, of_size.count(1), 2 * of_size.count(2), width, 0.01)
        assert dis[crowd.unit_of] == pytest.approx(wanted, abs=1e-12)
    for at, share in enumerate(shares_of_score(looked)):
        part = sum(naive.score([len(chosen)], width) * len(found) for chosen, found in smallest.items() if at in chosen)
        assert share == (pytest.approx(part / sum(scores)) if sum(scores) else None)


def test_drafts_say_which_columns_to_coarsen_first() -> None:
    rng = np.random.default_rng(2)
    table = pa.table(
        {
            "town": rng.choice([f"town {n}" for n in range(40)], 300),
            "sex": rng.choice(["f", "m"], 300),
            "trade": rng.choice(["baker", "smith", "clerk", "nurse"], 300),
        }
    )
    draft = hedgerow.draft_plan(table)
    first = next(line for line in draft.splitlines() if line.startswith("# Coarsen first"))
    found = hedgerow.assess(table, columns=["town", "sex", "trade"])
    shares = {part.column: part.share_of_scores or 0 for part in found.parts}
    best = max(shares, key=lambda name: shares[name])
    assert best == "town"
    assert f"town ({shares['town']:.0%})" in draft
    assert "baker" not in first
    assert "Coarsen first" not in hedgerow.draft_plan(table.select(["sex"]))
    assert "Coarsen first" not in hedgerow.draft_plan(pa.table({"sex": list("fm") * 50, "job": list("aabb") * 25}))
    assert draft == hedgerow.draft_plan(table.take(list(reversed(range(300)))))
