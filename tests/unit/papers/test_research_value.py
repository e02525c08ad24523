"""Numbers of Morton 2013, a thesis, through our code: research value, rules and reach."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import hedgerow as hr
from hedgerow.anonymization.lattice import make_space
from hedgerow.anonymization.lattice.research import level_values
from hedgerow.evaluation.comparison import Comparison
from hedgerow.measures.research_value import ColumnValue, column_values
from hedgerow.microdata import encode_table, read_table
from tests.cases.papers import TABLE_12

# ---- the worked example: 25 records of span 10, 45 of span 15, 55 of span 25; rules 50 of 100 kept; weight 0.2 ---------

AMOUNTS = [x for x in range(10) for _ in range(2)] + [0, 1, 2, 3, 4]
AMOUNTS += [x for x in range(10, 25) for _ in range(3)]
AMOUNTS += [x for x in range(25, 50) for _ in range(2)] + [25, 26, 27, 28, 29]
RULES = [
    {"name": "at a cut", "attribute": "amount", "keep_apart": [9, 10], "importance": 20},
    {"name": "beyond", "attribute": "amount", "keep_apart": [24, 60], "importance": 10},
    {"name": "from end to end", "attribute": "amount", "keep_apart": [10, 24], "importance": 50},
]
"""With a base of 20 they make 100: the ranges 0-9, 10-24 and 25-49 keep the first two, 50; the root breaks them all, also
the one that no record reaches."""
WORKED_EXAMPLE = Fraction(1, 5) * Fraction(125, 2300) * Fraction(1, 2)


def amounts_plan(**more: Any) -> hr.Plan:
    return hr.Plan.from_dict(
        {
            "attributes": {
                "amount": {"role": "quasi-identifier", "hierarchy": {"cuts": [[0, 10, 25, 50]]}, "weight": 1},
                "ward": {"role": "quasi-identifier", "weight": 4},
            },
            "privacy": {"k": 25},
            "method": {"name": "lattice", "objective": "research-value"},
            "rules": RULES,
            "research_value": {"base": 20},
            **more,
        }
    )


def amounts() -> pa.Table:
    return pa.table({"amount": AMOUNTS, "ward": ["A"] * len(AMOUNTS)})


def values_by_level(table: pa.Table, plan: hr.Plan) -> tuple[list[list[Fraction]], tuple[ColumnValue, ...]]:
    microdata = encode_table(read_table(table, plan), plan)
    values = column_values(microdata, plan)
    return level_values(make_space(microdata), values), values


def test_the_records_are_those_of_the_example() -> None:
    sizes = Counter("abc"[(x >= 10) + (x >= 25)] for x in AMOUNTS)
    assert (len(AMOUNTS), sizes) == (125, {"a": 25, "b": 45, "c": 55})
    assert max(Counter(AMOUNTS).values()) < 25  # so that only the groups of the example reach k = 25
    assert float(WORKED_EXAMPLE) == pytest.approx(0.005434782608695652, abs=1e-18)


def test_rv_worked_example_of_a_level() -> None:
    by_level, values = values_by_level(amounts(), amounts_plan())
    assert values[0].weight == Fraction(1, 5)
    assert by_level[0][0] == Fraction(1, 5)  # at level 0 a column is worth its weight
    assert by_level[0][1] == WORKED_EXAMPLE
    # the root spans 0 to 49, and only the base is left of the rules
    assert by_level[0][2] == Fraction(1, 5) * Fraction(1, 50) * Fraction(20, 100)


def test_rv_worked_example_with_an_importance_factor() -> None:
    by_level, _ = values_by_level(amounts(), amounts_plan(research_value={"base": 20, "lambda": 0.25}))
    assert by_level[0][1] == Fraction(1, 5) * (Fraction(1, 4) * Fraction(125, 2300) + Fraction(3, 4) * Fraction(1, 2))


def test_rv_worked_example_of_a_release() -> None:
    release = hr.anonymize(amounts(), amounts_plan())
    facts = release.facts
    assert facts["levels"] == {"amount": 1, "ward": 0}
    assert facts["research_value_by_attribute"] == {
        "amount": pytest.approx(0.005434782609, abs=1e-12),
        "ward": pytest.approx(0.8),
    }
    assert facts["score"] == facts["research_value"] == pytest.approx(0.8 + 0.005434782609, abs=1e-12)
    assert (facts["search"]["proven"], facts["search"]["bound"]) == (True, facts["score"])
    assert [(rule["name"], rule["kept"], rule["groups_breaking"]) for rule in facts["rules"]] == [
        ("at a cut", True, 0),
        ("beyond", True, 0),
        ("from end to end", False, 1),
    ]
    assert hr.verify(release, amounts()).to_dict()["kept"]


def test_without_a_base_breaking_every_rule_leaves_nothing() -> None:
    only = [{"attribute": "amount", "keep_apart": [12, 13], "importance": 100}]
    by_level, _ = values_by_level(amounts(), amounts_plan(rules=only, research_value={"base": 0}))
    assert by_level[0] == [Fraction(1, 5), 0, 0]


# ---- the race rules: 5, 20, 10, 5; a level mixing only Hispanic and Black keeps 30 of 40 ----------------------------

RACE = {"any": {"Hispanic or Black": ["Hispanic", "Black"], "as White": ["White"], "as Asian": ["Asian"]}}
RACE_RULES = [
    {"attribute": "race", "keep_apart": ["White", "Hispanic"], "importance": 5},
    {"attribute": "race", "keep_apart": ["White", "Black"], "importance": 20},
    {"attribute": "race", "keep_apart": ["Hispanic", "Black"], "importance": 10},
    {"attribute": "race", "keep_apart": ["Hispanic", "Asian"], "importance": 5},
]


def race_plan(**more: Any) -> hr.Plan:
    return hr.Plan.from_dict(
        {
            "attributes": {"race": {"role": "quasi-identifier", "hierarchy": {"tree": RACE}}},
            "privacy": {"k": 3},
            "method": {"name": "lattice", "objective": "research-value"},
            "rules": RACE_RULES,
            **more,
        }
    )


def test_race_rules() -> None:
    people = pa.table({"race": ["Hispanic"] * 2 + ["Black"] * 2 + ["White"] * 5 + ["Asian"] * 3})
    by_level, values = values_by_level(people, race_plan())
    level_1 = [rule["keep_apart"] == ["Hispanic", "Black"] for rule in RACE_RULES]
    assert values[0].share_kept(level_1) == Fraction(3, 4)  # type: ignore[arg-type]
    # 3 of 4 values can still be told apart; the root tells none and breaks every rule
    assert by_level[0] == [1, Fraction(3, 4) * Fraction(3, 4), 0]
    facts = hr.anonymize(people, race_plan()).facts
    assert (facts["levels"], facts["research_value"]) == ({"race": 1}, 0.5625)
    assert [(rule["name"], rule["importance"], rule["kept"]) for rule in facts["rules"]] == [
        ("race: White | Hispanic", 5, True),
        ("race: White | Black", 20, True),
        ("race: Hispanic | Black", 10, False),
        ("race: Hispanic | Asian", 5, True),
    ]


@pytest.mark.parametrize(("rules", "published"), [([], {"64-65": 4, "67": 3}), ([64, 65], {"64": 3, "65-67": 4})])
def test_a_rule_decides_whom_a_cluster_joins(rules: list[int], published: dict[str, int]) -> None:
    """One person of 65 is too few: 64 is nearer, but not if 64 and 65 must be told apart."""
    people = pa.table({"age": [64] * 3 + [65] + [67] * 3})
    plan = hr.Plan.from_dict(
        {
            "attributes": {"age": {"role": "quasi-identifier", "intervals": "free"}},
            "privacy": {"k": 3},
            "method": "utility",
            "rules": [{"attribute": "age", "keep_apart": rules}] if rules else [],
        }
    )
    assert Counter(hr.anonymize(people, plan).table.column("age").to_pylist()) == published


# ---- Table 12 --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("attributes", "k", "records", "repetitions", "successes", "chance"), TABLE_12)
def test_table_12_by_simulate(
    attributes: int, k: int, records: int, repetitions: int, successes: int, chance: float
) -> None:
    found = hr.simulate(attributes, k=k, records=records)
    (attempt,) = found.attempts
    assert found.cells == 2**attributes
    assert attempt.chance is not None
    probability = attempt.chance.probability
    assert round(probability, 3) == chance
    within = 3.3 * math.sqrt(probability * (1 - probability) * repetitions) + 1
    assert abs(successes - repetitions * probability) <= within
    assert found.records_needed is not None
    assert (found.records_needed <= records) == (probability >= 0.95)


@pytest.mark.parametrize(
    ("attributes", "k", "records", "repetitions", "successes", "chance"), [row for row in TABLE_12 if row[0] <= 7]
)
def test_table_12_by_drawing(
    attributes: int, k: int, records: int, repetitions: int, successes: int, chance: float
) -> None:
    (attempt,) = hr.simulate(attributes, k=k, records=records, repetitions=2000, seed=12).attempts
    assert attempt.simulated is not None
    assert attempt.simulated.repetitions == 2000
    assert abs(attempt.simulated.rate - chance) <= 4 * math.sqrt(max(chance * (1 - chance), 0.001) / 2000)


# ---- Adult, as in the thesis's Tables 13 to 17 ----------------------------------------------------------------------

CUTS = {
    "age": [[0, 20, 28, 35, 45, 55, 65, 100], [0, 28, 45, 65, 100], [0, 28, 65, 100]],
    "education-num": [[0, 9, 10, 13, 14, 17], [0, 9, 13, 17], [0, 13, 17]],
    "capital-gain": [[0, 1, 3000, 6001, 7298, 10001, 15000, 100001], [0, 1, 6001, 10001, 100001], [0, 6001, 100001]],
}
CUT_RULES = {"age": (64, 65, 25), "education-num": (12, 13, 20), "capital-gain": (10000, 10001, 45)}
BASE = 10
Passing = dict[tuple[int, ...], Fraction]
PLACES = {"age": 0, "education-num": 4, "capital-gain": 10, "salary": 14}


def adult_plan(**more: Any) -> hr.Plan:
    return hr.Plan.from_dict(
        {
            "attributes": {
                **{name: {"role": "quasi-identifier", "hierarchy": {"cuts": cuts}} for name, cuts in CUTS.items()},
                "salary": "quasi-identifier",
            },
            "privacy": {"k": 5},
            "rules": [
                {"attribute": name, "keep_apart": [low, high], "importance": importance}
                for name, (low, high, importance) in CUT_RULES.items()
            ],
            "research_value": {"base": BASE},
            **more,
        }
    )


@pytest.fixture(scope="module")
def adult(adult_rows: list[list[str]]) -> pa.Table:
    rows = adult_rows[:30_162]
    return pa.table({name: [row[place] for row in rows] for name, place in PLACES.items()})


@pytest.fixture(scope="module")
def compared(adult: pa.Table) -> Comparison:
    return hr.compare(
        adult, adult_plan(), methods=["exact", "global", "hybrid", "divided", "local"], k=[5], target="salary"
    )


@pytest.fixture(scope="module")
def passing(adult: pa.Table) -> Passing:
    """Every string of levels that is 5-anonymous and its research value, worked out from the formulas."""
    columns = [list(map(int, adult.column(name).to_pylist())) for name in CUTS]
    profiles, counts = zip(
        *Counter(zip(*columns, adult.column("salary").to_pylist(), strict=True)).items(), strict=True
    )
    levels: list[list[list[Any]]] = []  # by column and level: what every profile shows
    worth: list[list[Fraction]] = []
    for (name, cuts), numbers in zip(CUTS.items(), list(zip(*profiles, strict=True)), strict=False):
        low, high, importance = CUT_RULES[name]
        shown: list[list[Any]] = [[(number, number) for number in numbers]]
        for points in cuts:
            ranges = list(pairwise(points))
            shown.append([next((a, b - 1) for a, b in ranges if a <= number < b) for number in numbers])
        shown.append([(min(numbers), max(numbers))] * len(numbers))
        levels.append(shown)
        worth.append([])
        for level in shown:
            spanned = sum((b - a + 1) * count for (a, b), count in zip(level, counts, strict=True))
            kept = not any(a <= low and high <= b for a, b in set(level))
            rules = Fraction(BASE + (importance if kept else 0), BASE + importance)
            worth[-1].append(Fraction(1, 4) * Fraction(sum(counts), spanned) * rules)
    salaries = [profile[-1] for profile in profiles]
    levels.append([salaries, ["*"] * len(salaries)])
    worth.append([Fraction(1, 4), Fraction(1, 8)])
    found = {}
    for node in product(*(range(len(shown)) for shown in levels)):
        groups: Counter[tuple[Any, ...]] = Counter()
        rows = zip(*(shown[level] for shown, level in zip(levels, node, strict=True)), strict=True)
        for row, count in zip(rows, counts, strict=True):
            groups[row] += count
        if min(groups.values()) >= 5:
            found[node] = sum((by_level[level] for by_level, level in zip(worth, node, strict=True)), Fraction(0))
    return found


def test_adult_complete_searches_find_what_exhaustive_search_finds(passing: Passing, compared: Comparison) -> None:
    best = max(passing.values())
    runs = {run.method: run.to_dict() for run in compared.runs}
    for method in ("exact", "global", "hybrid", "divided"):
        run = runs[method]
        assert run["measures"]["research_value"] == pytest.approx(float(best), abs=1e-11), method
        assert passing[tuple(run["levels"].values())] == best
        assert run["withheld"] == 0
        assert run["smallest_group"] >= 5
        assert run["risks"]["prosecutor"]["highest"] == pytest.approx(1 / run["smallest_group"])
    assert len({tuple(runs[method]["levels"].values()) for method in ("exact", "global", "hybrid", "divided")}) == 1


@pytest.mark.parametrize("block", [1, 3])
def test_adult_divided_into_blocks_nothing_is_lost(adult: pa.Table, passing: Passing, block: int) -> None:
    method = {"name": "lattice", "objective": "research-value", "search": "divided", "block": block}
    facts = hr.anonymize(adult, adult_plan(method=method)).facts
    assert facts["score"] == pytest.approx(float(max(passing.values())), abs=1e-11)
    assert facts["search"]["proven"]
    assert facts["search"]["strings"] == 5 * 5 * 5 * 2


def test_adult_the_local_search_finds_a_release_or_says_that_it_did_not(passing: Passing, compared: Comparison) -> None:
    local = next(run for run in compared.runs if run.method == "local").to_dict()
    if "problem" in local:
        assert "none of them passes" in local["problem"]
        return
    value = local["measures"]["research_value"]
    assert value == pytest.approx(float(passing[tuple(local["levels"].values())]), abs=1e-11)
    assert value <= float(max(passing.values())) + 1e-11


def test_adult_a_comparison_shows_the_tree_of_the_thesis_beside_every_release(compared: Comparison) -> None:
    """The raw facts: cuts at 7298, 28 and 13; 1,330 people of whom 1,312 earn more (tests/unit/evaluation/test_patterns.py)."""
    assert (compared.records, compared.target) == (30_162, "salary")
    assert compared.original is not None
    root = compared.original["root"]
    cuts = [root["split"], root["no"]["split"], root["no"]["yes"]["split"]]
    assert [(cut["column"], cut["shown"]) for cut in cuts] == [
        ("capital-gain", "7298"),
        ("age", "28"),
        ("education-num", "13"),
    ]
    assert root["yes"]["size"] == 1330
    for run in compared.runs:
        if run.tree is None:
            continue
        assert run.tree["records"] + sum(run.tree["left_out"].values()) == 30_162
        assert sum(leaf["size"] for leaf in run.tree["leaves"]) == run.tree["records"]


# ---- Table 4: what an expert says that levels are worth; race as printed repeats a label on its levels ----------------

RACE_LINES = [("W", "W", "W", "W", "any"), ("B", "B", "B", "O", "any"), ("L", "L", "O", "O", "any"),
        ("A", "O", "O", "O", "any"), ("O", "O", "O", "O", "any")]  # fmt: skip
RACE_LEVELS = {0.95: "W, B, L, A, O", 0.72: "W, B, L, O", 0.58: "W, B, O", 0.10: "W, O"}
"""Race of Table 4; the root is not listed, and worth nothing ("the most general level with a zero research value")."""
GENDER_LEVELS = {0.85: "M, F, O", 0.65: "M, U"}
GENDER = {"any": {"M": {"M": {}}, "U": {"F": {}, "O": {}}}}
"""The first of the two that Table 4 prints for 0.65: M and U, or F and U."""
PEOPLE = {("W", "M"): 30, ("W", "F"): 30, ("B", "M"): 12, ("B", "F"): 12, ("L", "M"): 6, ("L", "F"): 6,
          ("A", "M"): 3, ("A", "F"): 3, ("O", "M"): 2, ("O", "F"): 2, ("W", "O"): 5}  # fmt: skip


def table_4(k: int, folder: Path, **method: Any) -> tuple[pa.Table, hr.Plan]:
    (folder / "race.csv").write_text("".join(";".join(line) + "\n" for line in RACE_LINES))
    raw = {
        "attributes": {
            "race": {"role": "quasi-identifier", "hierarchy": {"file": "race.csv"}},
            "gender": {"role": "quasi-identifier", "hierarchy": {"tree": GENDER}},
        },
        "privacy": {"k": k},
        "method": {"name": "lattice", "objective": "research-value", **method},
        "research_value": {"levels": {"race": [*RACE_LEVELS, 0], "gender": [*GENDER_LEVELS, 0]}},
    }
    people = [who for who, times in PEOPLE.items() for _ in range(times)]
    table = pa.table({"race": [race for race, _ in people], "gender": [gender for _, gender in people]})
    return table, hr.Plan.from_dict(raw, base=folder)


def test_rv_table_4_levels_and_their_values(tmp_path: Path) -> None:
    table, plan = table_4(2, tmp_path)
    microdata = encode_table(read_table(table, plan), plan)
    space, values = make_space(microdata), column_values(microdata, plan)
    for column, printed, maps in zip(microdata.columns, (RACE_LEVELS, GENDER_LEVELS), space.maps, strict=True):
        shown = [{column.hierarchy.names[node] for node in nodes.tolist()} for nodes in maps]  # type: ignore[union-attr]
        assert shown == [*(set(labels.split(", ")) for labels in printed.values()), {"any"}]
    by_level = level_values(space, values)
    assert [[float(value) for value in part] for part in by_level] == [[*RACE_LEVELS, 0.0], [*GENDER_LEVELS, 0.0]]


@pytest.mark.parametrize("search", ["exact", "global", "hybrid", "divided", "local"])
@pytest.mark.parametrize("k", [2, 3, 5, 9, 20])
def test_rv_table_4_the_best_string_is_the_sum_of_the_printed_values(k: int, search: str, tmp_path: Path) -> None:
    table, plan = table_4(k, tmp_path, search=search)
    passing = {}
    for race, gender in product(range(5), range(3)):
        groups: Counter[tuple[str, str]] = Counter()
        for (r, g), times in PEOPLE.items():
            line = next(line for line in RACE_LINES if line[0] == r)
            groups[line[race], (g, "U" if g in "FO" else g, "any")[gender]] += times
        if min(groups.values()) >= k:
            passing[race, gender] = [*RACE_LEVELS, 0][race] + [*GENDER_LEVELS, 0][gender]
    release = hr.anonymize(table, plan, tmp_path / "release")
    node = (release.facts["levels"]["race"], release.facts["levels"]["gender"])
    assert node in passing
    assert release.facts["score"] == pytest.approx(passing[node])
    assert release.facts["research_value"] == pytest.approx(passing[node])  # nobody is withheld
    if search != "local":
        assert release.facts["score"] == pytest.approx(max(passing.values()))
    assert hr.verify(tmp_path / "release", table).kept
    best = hr.lattice(table, plan, which="best").best["research-value"]
    assert best.value == pytest.approx(max(passing.values()))


def test_rv_race_as_printed_is_not_for_methods_that_publish_several_levels(tmp_path: Path) -> None:
    _, plan = table_4(2, tmp_path)
    with pytest.raises(hr.PlanError, match="'O'"):
        plan.replace(method="cluster")
