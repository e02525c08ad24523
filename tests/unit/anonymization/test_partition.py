"""The partitioner by hand-made examples: where it cuts, what it withholds, and splitting before clustering."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import hedgerow as hr
from hedgerow.anonymization.clustering import Partition, cuts, find_cells, split_cells
from hedgerow.anonymization.executing import HERE
from hedgerow.anonymization.solving import clustering_of, solve
from hedgerow.errors import NoSolution, PlanError
from hedgerow.measures import total_loss
from hedgerow.microdata import Microdata, encode_table, read_table
from hedgerow.plan import Plan
from hedgerow.plan.schema import plan_schema
from hedgerow.privacy import Requirement
from tests.naive.attributes import TreeAttribute
from tests.naive.partition import Partitioner, partition
from tests.naive.trees import Tree

QI = {"role": "quasi-identifier"}
FREE = {**QI, "intervals": "free"}
COUNTRY = {"*": {"north": ["a", "b"], "south": {"east": ["c", "d"], "west": ["e", "f"]}}}


def plan_of(attributes: dict[str, Any], k: int = 2, **more: Any) -> Plan:
    privacy = {"k": k, **more.pop("privacy", {})}
    return Plan.from_dict({"attributes": attributes, "privacy": privacy, "method": "partition", **more})


def groups(rows: dict[str, list[Any]], plan: Plan) -> list[str]:
    """The published values of every group with its size, in order."""
    microdata, recoding = solved(rows, plan)
    labels = zip(*recoding.labels(microdata), strict=True)
    return [
        " ".join("?" if label is None else label for label in label_row) + f" × {size}"
        for label_row, size in zip(labels, recoding.sizes.tolist(), strict=True)
    ]


def solved(rows: dict[str, list[Any]], plan: Plan) -> tuple[Microdata, Any]:
    microdata = encode_table(read_table(pa.table(rows), plan), plan)
    return microdata, solve(microdata, plan).recoding


# ---- where it cuts --------------------------------------------------------------------------------------------------


def test_numbers_are_cut_nearest_to_the_median_and_equals_go_low() -> None:
    plan = plan_of({"n": FREE})
    assert groups({"n": [1, 2, 3, 4]}, plan) == ["1-2 × 2", "3-4 × 2"]
    # after 1 or after 2 there are 2 and 3 of 5 records on the left: equally near, so after 1
    assert groups({"n": [1, 1, 2, 3, 3]}, plan) == ["1 × 2", "2-3 × 3"]


def test_all_records_of_a_value_stay_together() -> None:
    assert groups({"n": [1, 2, 2, 2, 2, 2, 3]}, plan_of({"n": FREE})) == ["1-3 × 7"]


def test_the_dearest_column_is_cut_first_and_equals_go_by_the_plan() -> None:
    rows = {"x": [0, 0, 9, 9], "y": [0, 9, 0, 9]}
    assert groups(rows, plan_of({"x": FREE, "y": FREE})) == ["0 0-9 × 2", "9 0-9 × 2"]
    assert groups(rows, plan_of({"y": FREE, "x": FREE})) == ["0 0-9 × 2", "9 0-9 × 2"]
    assert groups(rows, plan_of({"x": FREE, "y": {**FREE, "weight": 2}})) == ["0-9 0 × 2", "0-9 9 × 2"]


def test_a_tree_is_cut_between_children_of_its_node() -> None:
    plan = plan_of({"c": {**QI, "hierarchy": {"tree": COUNTRY}}})
    # the median lies between c and d, but north | south comes first; then east | west
    rows = {"c": list("ab") + list("ccdd") + list("ee")}
    assert groups(rows, plan) == ["north × 2", "c × 2", "d × 2", "e × 2"]


def test_where_the_hierarchy_cannot_be_followed_another_boundary_is_taken() -> None:
    plan = plan_of({"c": {**QI, "hierarchy": {"tree": COUNTRY}}})
    # north alone is too small; cutting after c leaves a part under the root, but d, e and f become south
    assert groups({"c": list("accdef")}, plan) == ["* × 3", "south × 3"]


def test_cuts_stay_within_limits() -> None:
    plan = plan_of({"c": {**QI, "hierarchy": {"tree": COUNTRY}, "limits": ["north", "east", "west"]}})
    microdata, recoding = solved({"c": list("aacde")}, plan)
    assert groups({"c": list("aacde")}, plan) == ["a × 2", "east × 2"]
    assert recoding.released == 4  # a single record under west
    assert not sum(recoding.breaks_by_column(microdata).values())


def test_widths_are_kept_and_no_more_is_withheld_than_must_be() -> None:
    plan = plan_of({"n": {**FREE, "limit": {"width": 3}}})
    rows = {"n": [0, 1, 3, 4, 20, 30, 31, 32, 33]}
    assert groups(rows, plan) == ["0-1 × 2", "3-4 × 2", "30-31 × 2", "32-33 × 2"]


def test_a_missing_value_stays_among_its_own_in_free_columns() -> None:
    plan = plan_of({"n": FREE})
    assert groups({"n": [1, 2, None, None, 3]}, plan) == ["? × 2", "1-3 × 3"]


def test_k_may_count_persons() -> None:
    rows = {"n": [1, 1, 2, 2], "who": ["x", "x", "y", "z"]}
    attributes = {"n": FREE, "who": "identifier"}
    assert groups(rows, plan_of(attributes)) == ["1 × 2", "2 × 2"]
    assert groups(rows, plan_of(attributes, person="who")) == ["1-2 × 4"]


def test_both_sides_must_have_different_values() -> None:
    rows = {"n": [1, 1, 2, 2], "s": ["flu", "flu", "flu", "cold"]}
    attributes = {"n": FREE, "s": "sensitive"}
    assert groups(rows, plan_of(attributes)) == ["1 × 2", "2 × 2"]
    assert groups(rows, plan_of(attributes, privacy={"p": 2})) == ["1-2 × 4"]


def test_of_a_cell_that_fails_as_a_whole_what_holds_is_released() -> None:
    # three of five are flu: no release of all of them has a share of at most a half
    rows = {"n": [1, 2, 3, 4, 4], "s": ["flu", "cold", "flu", "gout", "flu"]}
    plan = plan_of({"n": FREE, "s": "sensitive"}, privacy={"alpha": "0.5"})
    microdata = encode_table(read_table(pa.table(rows), plan), plan)
    solution = solve(microdata, plan)
    assert groups(rows, plan) == ["1-2 × 2", "4 × 2"]
    assert solution.withheld_because == {"failing_block": 0, "fits_no_group": 1, "no_leaf": 0}
    assert not solution.withheld_is_least


def test_nothing_to_release_is_refused() -> None:
    plan = plan_of({"n": FREE, "s": "sensitive"}, privacy={"alpha": "0.4"})
    with pytest.raises(NoSolution) as caught:
        solved({"n": [1, 2, 3, 4], "s": ["flu", "flu", "flu", "cold"]}, plan)
    assert [problem.code for problem in caught.value.problems] == ["all-withheld"]


# ---- the same by every way of counting -------------------------------------------------------------------------------


def many(records: int, seed: int = 0) -> dict[str, list[Any]]:
    draw = random.Random(seed)
    return {
        "age": [draw.randint(0, 99) for _ in range(records)],
        "pay": [round(draw.lognormvariate(8, 1)) for _ in range(records)],
        "sex": [draw.choice("FM") for _ in range(records)],
        "place": [f"{draw.randint(0, 9)}{draw.randint(0, 9)}{draw.randint(0, 9)}" for _ in range(records)],
        "illness": [draw.choice(["flu", "cold", "gout", "mumps"]) for _ in range(records)],
    }


MANY = {
    "age": {**QI, "hierarchy": {"bands": [5, 20]}, "limit": {"level": 2}},
    "pay": FREE,
    "sex": QI,
    "place": {**QI, "hierarchy": {"prefix": [3, 2, 1]}},
    "illness": "sensitive",
}


def test_counting_codes_in_one_array_or_by_sorting_makes_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_of(MANY, k=4, privacy={"p": 2})
    usual = solved(many(800), plan)[1]
    monkeypatch.setattr(cuts, "ROOM", 0)
    by_sorting = solved(many(800), plan)[1]
    monkeypatch.setattr(cuts, "ROOM", 1 << 40)
    in_one_array = solved(many(800), plan)[1]
    assert usual.group_of.tolist() == by_sorting.group_of.tolist() == in_one_array.group_of.tolist()


def test_a_tree_of_many_leaves_is_cut_as_the_naive_reference_cuts_it() -> None:
    draw = random.Random(1)
    leaves = iter(f"v{number:03d}" for number in range(700))
    tree = {"*": {f"n{i}": {f"m{i}-{j}": [next(leaves) for _ in range(14)] for j in range(5)} for i in range(10)}}
    values = [f"v{min(draw.randint(0, 699), draw.randint(0, 699)):03d}" for _ in range(60)]
    plan = plan_of({"v": {**QI, "hierarchy": {"tree": tree}}}, k=3)
    microdata = encode_table(read_table(pa.table({"v": values}), plan), plan)
    fast = Partition(Requirement(3))(microdata)
    attribute = TreeAttribute(Tree.from_nested(tree))
    records = [(attribute.code(values[i]),) for i in microdata.record_of.tolist()]
    expected = partition(Partitioner([attribute], records, 3))
    found = [np.flatnonzero(fast.group_of == group).tolist() for group in range(fast.groups)]
    assert sorted(found) == sorted(map(sorted, expected.groups))


def test_progress_ends_with_all_records() -> None:
    plan = plan_of(MANY, k=4)
    microdata = encode_table(read_table(pa.table(many(300)), plan), plan)
    told: list[tuple[int, int]] = []
    Partition(Requirement(4))(microdata, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (300, 300)
    assert told == sorted(told)


# ---- releases --------------------------------------------------------------------------------------------------------

RELEASES: dict[str, dict[str, Any]] = {
    "k alone": {},
    "limits ignored": {"method": {"name": "partition", "limits": "ignore"}},
    "p": {"privacy": {"k": 4, "p": 3}},
    "entropy": {"privacy": {"k": 4, "l": {"entropy": 3}}},
    "recursive": {"privacy": {"k": 4, "l": {"recursive": [2, 2]}}},
    "closeness": {"privacy": {"k": 4, "t": "0.2"}},
    "alpha": {"privacy": {"k": 4, "alpha": "0.4"}},
    "association": {"weights": "association"},
    "matches-any": {"missing": "matches-any"},
}


@pytest.mark.parametrize("what", RELEASES)
def test_releases_verify(tmp_path: Path, what: str) -> None:
    plan = plan_of(MANY, k=4).replace(**RELEASES[what])
    release = hr.anonymize(pa.table(many(900)), plan, tmp_path / "out", link=tmp_path / "link.csv")
    assert hr.verify(tmp_path / "out", pa.table(many(900)), link=tmp_path / "link.csv").kept
    assert release.facts["method"] == "partition"
    assert release.facts["withheld"] <= 30
    assert "split" not in release.facts


def test_it_is_compared_with_the_others() -> None:
    found = hr.compare(pa.table(many(400)), plan_of(MANY, k=4), methods=["cluster", "partition"])
    assert [run.problem for run in found.runs] == ["", ""]
    clustered, partitioned = [run.facts for run in found.runs]
    assert partitioned["method"] == "partition"
    assert partitioned["withheld"] == clustered["withheld"]


def test_a_release_made_by_it_can_be_maintained(tmp_path: Path) -> None:
    names = [f"r{number:04d}" for number in range(300)]
    plan = plan_of({"id": "identifier", **MANY}, k=4, key="id")
    table = pa.table({"id": names, **many(300)})
    static = hr.anonymize(table, plan)
    with hr.create_release(table, plan, tmp_path / "x.store") as made:
        assert made.release().table.equals(static.table)
        made.insert(pa.table({"id": [f"s{number}" for number in range(40)], **many(40, 1)}))
        assert made.release().facts["smallest_group"] >= 4


# ---- splitting -------------------------------------------------------------------------------------------------------


ONE_CELL = {**MANY, "age": {**QI, "hierarchy": {"bands": [5, 20]}}}


def split_plan(attributes: dict[str, Any] = ONE_CELL, **more: Any) -> Plan:
    return plan_of(attributes, k=4, **{"method": {"name": "cluster", "split": 1000}, **more})


@pytest.mark.parametrize("privacy", [{}, {"p": 2}, {"t": "0.3"}])
def test_splitting_is_reported_and_withholds_no_more(privacy: dict[str, Any]) -> None:
    plan = split_plan(privacy=privacy)
    table = pa.table(many(9000))
    release = hr.anonymize(table, plan)
    assert hr.verify(release, table).kept
    whole = hr.anonymize(table, plan.replace(method="cluster"))
    split = release.facts["split"]
    assert split["most_profiles"] == 1000
    assert split["blocks"] == 1
    assert split["parts"] > 8
    assert 0.5 < split["sampled_loss_ratio"] < 2
    for fact in ("withheld", "withheld_is_least", "blocks", "blocks_withheld"):
        assert release.told[fact] == whole.told[fact]
    assert "split" not in whole.facts
    ratio = release.facts["loss"] / whole.facts["loss"]
    assert 0.7 < ratio < 1.2


def test_the_sampled_ratio_is_that_of_the_smallest_siblings() -> None:
    plan = split_plan()
    microdata = encode_table(read_table(pa.table(many(5000)), plan), plan)
    requirement = Requirement.of_plan(plan, microdata)
    cells = find_cells(microdata, requirement)
    split = split_cells(microdata, cells, requirement, 1000)
    assert split.siblings is not None
    losses = []
    for sides in ((0,), (1,), (0, 1)):
        part = microdata.of_units(np.flatnonzero(np.isin(split.siblings, sides)))
        within = find_cells(part, requirement)
        losses.append(total_loss(part, HERE.run(clustering_of(part, plan, requirement, 1), part, within, None)))
    expected = round(float(Fraction(losses[0] + losses[1], losses[2])), 12)
    assert solve(microdata, plan).details["split"]["sampled_loss_ratio"] == expected


def test_nothing_to_split_is_said() -> None:
    release = hr.anonymize(pa.table(many(500)), split_plan())
    assert release.facts["split"] == {"most_profiles": 1000, "blocks": 0, "parts": 0, "sampled_loss_ratio": None}


def test_threads_do_not_change_what_is_split() -> None:
    table = pa.table(many(3000))
    one, two = (hr.anonymize(table, split_plan(), threads=threads) for threads in (1, 2))
    assert one.table.equals(two.table)
    assert dict(one.facts) == dict(two.facts)


# ---- plans -----------------------------------------------------------------------------------------------------------


def test_the_plan_says_what_it_says() -> None:
    plan = plan_of({"n": FREE})
    assert plan.short()["method"] == "partition"
    assert Plan.loads(plan.to_yaml()).digest() == plan.digest()
    split = plan.replace(method={"name": "cluster", "split": 5000})
    assert split.short()["method"] == {"split": 5000}
    assert Plan.loads(split.to_yaml()).method.split == 5000
    assert "partition" in str(plan_schema()["$defs"]["Method"])


@pytest.mark.parametrize(
    ("method", "code", "words"),
    [
        ({"name": "partition", "split": 5000}, "conflict", "method cluster only"),
        ({"name": "utility", "split": 5000}, "conflict", "method cluster only"),
        ({"name": "lattice", "split": 5000}, "conflict", "method cluster only"),
        ({"name": "cluster", "split": 999}, "wrong-value", "1000"),
        ({"name": "cluster", "split": "many"}, "wrong-value", "whole number"),
        ({"name": "partition", "suppress": True}, "conflict", "method utility only"),
        ({"name": "partition", "overlap": "forbidden"}, "conflict", "utility, bottom-up"),
        ({"name": "partition", "limits": "whole-levels"}, "conflict", "lattice only"),
    ],
)
def test_what_does_not_go_together_is_refused(method: dict[str, Any], code: str, words: str) -> None:
    with pytest.raises(PlanError) as caught:
        plan_of({"sex": QI}).replace(method=method)
    assert any(problem.code == code and words in problem.message for problem in caught.value.problems)
