"""Nothing in a release depends on a value of a record that is withheld: a release is what its released records make."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import hedgerow as hr

FREE = {"role": "quasi-identifier", "intervals": "free", "limit": {"width": 40000}}


def files(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Everything that a folder holds: bytes and mode of every file, whose times are all one whole second."""
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    times = {path.stat().st_mtime_ns for path in (*paths, folder)}
    assert len(times) == 1
    assert times.pop() % 10**9 == 0
    return {str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mode) for path in paths}


def incomes(withheld: int) -> dict[str, list[str]]:
    draw = random.Random(7)
    return {"income": [str(draw.randrange(20_000, 90_000)) for _ in range(400)] + [str(withheld)]}


def test_a_withheld_income_leaves_no_trace_in_the_folder(tmp_path: Path) -> None:
    plan = hr.Plan.from_dict({"attributes": {"income": FREE}, "privacy": {"k": 5}})
    folders = []
    for number, withheld in enumerate((7_654_321, 190_001, 10**12, -5_000_000)):
        made = hr.anonymize(pa.table(incomes(withheld)), plan, tmp_path / str(number), format="csv")
        assert made.withheld == 1
        folders.append(files(tmp_path / str(number)))
    assert all(folder == folders[0] for folder in folders[1:])


def test_the_formula_that_gave_an_income_away_gives_nothing(tmp_path: Path) -> None:
    plan = hr.Plan.from_dict({"attributes": {"income": FREE}, "privacy": {"k": 5}})
    hr.anonymize(pa.table(incomes(7_654_321)), plan, tmp_path / "r", format="csv")
    facts = json.loads((tmp_path / "r" / "facts.json").read_text())
    labels = (tmp_path / "r" / "data.csv").read_text().split()[1:]
    ends = [tuple(map(int, (label if "-" in label else f"{label}-{label}").split("-"))) for label in labels]
    width = sum(high - low for low, high in ends)
    told = width / (facts["loss_by_attribute"]["income"] - facts["withheld"]) + min(low for low, _ in ends)
    assert told == pytest.approx(max(high for _, high in ends), abs=1)


def changed(tmp_path: Path, plan: dict[str, Any], people: dict[str, list[Any]], others: list[dict[str, Any]]) -> None:
    """Check that a release stays the same, byte for byte, whatever its last record holds, which is withheld."""
    asked = hr.Plan.from_dict(plan)
    tmp_path.mkdir(exist_ok=True)
    folders = []
    for number, last in enumerate([{}, *others]):
        table = {name: [*column[:-1], last.get(name, column[-1])] for name, column in people.items()}
        made = hr.anonymize(pa.table(table), asked, tmp_path / str(number), format="csv", link=tmp_path / f"l{number}")
        assert made.withheld >= 1
        assert str(len(next(iter(table.values())))) not in {
            line.split(",")[0] for line in (tmp_path / f"l{number}").read_text().split()
        }
        folders.append(files(tmp_path / str(number)))
    assert all(folder == folders[0] for folder in folders[1:])


def test_the_length_of_a_prefix_is_that_of_the_longest_value_released(tmp_path: Path) -> None:
    people = {"zip": ["43102"] * 4 + ["43103"] * 4 + ["9910"], "sex": list("FFMMFFMMF")}
    plan = {
        "attributes": {
            "zip": {"role": "quasi-identifier", "hierarchy": {"prefix": [3, 0]}, "limit": {"level": 1}},
            "sex": "quasi-identifier",
        },
        "privacy": {"k": 2},
    }
    changed(tmp_path, plan, people, [{"zip": "9910321"}, {"zip": "1"}, {"zip": "77777777777", "sex": "unknown"}])


def test_a_fraction_that_is_withheld_does_not_change_how_bands_are_written(tmp_path: Path) -> None:
    people = {"age": ["31", "33", "38", "39", "52", "55", "57", "58", "91"]}
    plan = {
        "attributes": {
            "age": {"role": "quasi-identifier", "hierarchy": {"bands": [5, 10]}, "limit": {"level": 2}},
        },
        "privacy": {"k": 3},
    }
    changed(tmp_path, plan, people, [{"age": "91.5"}, {"age": "-3"}, {"age": "1000.0625"}])


@pytest.mark.parametrize("distance", ["equal", "ordered"])
def test_t_closeness_is_measured_against_the_released_records(tmp_path: Path, distance: str) -> None:
    people = {
        "ward": ["a"] * 8 + ["b"] * 8 + ["c"] * 3,
        "pain": ["0", "1"] * 8 + ["0", "1", "1"],
    }
    plan = {
        "attributes": {"ward": {"role": "quasi-identifier", "limit": {"level": 0}}, "pain": "sensitive"},
        "privacy": {"k": 4, "t": {"at_most": 0.01, "distance": distance}},
    }
    # as far from the whole table as can be: 1/19 of it has a pain of 1,000
    changed(tmp_path, plan, people, [{"pain": "1"}, {"pain": "1000"}, {"pain": "-7", "ward": "d"}])


def test_weights_by_association_come_from_the_released_records(tmp_path: Path) -> None:
    draw = random.Random(3)
    rows = [(draw.choice("FM"), str(draw.randrange(20, 60)), draw.choice("xyz")) for _ in range(60)]
    sex, age, ward = (list(column) for column in zip(*rows, strict=True))
    people = {"sex": [*sex, "F"], "age": [*age, "99"], "ward": [*ward, "far"]}
    plan = {
        "attributes": {
            "sex": "quasi-identifier",
            "age": {"role": "quasi-identifier", "intervals": "free"},
            "ward": {"role": "quasi-identifier", "limit": {"level": 0}},
        },
        "weights": "association",
        "privacy": {"k": 3},
    }
    changed(tmp_path, plan, people, [{"age": "4000000"}, {"sex": "other", "ward": "farther"}])


def test_a_limit_or_a_rule_may_name_a_value_that_only_withheld_records_have(tmp_path: Path) -> None:
    people = {"ward": ["a"] * 4 + ["b"] * 4 + ["c"]}
    rule = {"attribute": "ward", "keep_apart": ["a", "c"]}
    plan = {
        "attributes": {"ward": {"role": "quasi-identifier", "limits": ["a", "b", "c"]}},
        "rules": [rule],
        "privacy": {"k": 2},
    }
    made = hr.anonymize(pa.table(people), hr.Plan.from_dict(plan))
    assert made.withheld == 1
    hr.verify(made, original=pa.table(people)).raise_if_broken()


@pytest.mark.parametrize("objective", ["loss", "ncp", "granularity", "discernibility", "group-size", "research-value"])
def test_the_lattice_is_searched_again_for_those_who_stay(tmp_path: Path, objective: str) -> None:
    draw = random.Random(5)
    people = {
        "age": [str(draw.randrange(20, 60)) for _ in range(60)] + ["93"],
        "sex": [draw.choice("FM") for _ in range(60)] + ["M"],
    }
    plan = {
        "attributes": {
            "age": {"role": "quasi-identifier", "hierarchy": {"bands": [5, 10, 20]}},
            "sex": "quasi-identifier",
        },
        "privacy": {"k": 3},
        "withhold": {"at_most": 1},
        "method": {"name": "lattice", "objective": objective},
    }
    changed(tmp_path, plan, people, [{"age": "149"}, {"age": "-20", "sex": "other"}])


def test_it_does_not_show_why_a_record_is_withheld(tmp_path: Path) -> None:
    draw = random.Random(5)
    people = {
        "age": [str(draw.randrange(20, 60)) for _ in range(60)] + ["93"],
        "sex": [draw.choice("FM") for _ in range(60)] + ["M"],
    }
    age = {"role": "quasi-identifier", "hierarchy": {"bands": [5, 10, 20]}, "unknown": "withhold"}
    plan = {
        "attributes": {"age": age, "sex": "quasi-identifier"},
        "privacy": {"k": 3},
        "withhold": {"at_most": 1},
        "method": "lattice",
    }
    changed(tmp_path / "lattice", plan, people, [{"age": "not known"}])
    age["limit"] = {"level": 2}
    changed(tmp_path / "cluster", {**plan, "method": "cluster"}, people, [{"age": "not known"}])


def test_a_draft_proposes_free_intervals_on_a_grid_only(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("income\n" + "\n".join(incomes(50_000)["income"]) + "\n")
    draft = " ".join(hr.draft_plan(path).replace("#", " ").split())
    assert "intervals: free, snap: 5000" in draft
    assert "exact values of people" in draft


def test_checking_a_plan_says_what_ends_without_a_grid_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from hedgerow.cli import main

    path = tmp_path / "plan.yaml"
    for snap, said in (("", 1), (", snap: 500", 0)):
        path.write_text(f"attributes: {{x: {{role: quasi-identifier, intervals: free{snap}}}}}\nprivacy: {{k: 2}}\n")
        monkeypatch.setattr("sys.argv", ["hedgerow", "plan", "check", str(path)])
        with pytest.raises(SystemExit):
            main()
        assert capsys.readouterr().out.count("exact values of people") == said


def test_groups_by_k_alone_tell_nothing_more_than_their_shares() -> None:
    from tests.robustness.minimality import look_through, plan_of

    table = {
        "age": ["21", "24", "33", "38", "47", "52"],
        "sex": list("FMFMFM"),
        "ill": ["flu", "cold", "flu", "flu", "gout", "flu"],
    }
    learned = look_through(table, plan_of({"name": "cluster"}, {}, 3))
    assert learned is not None
    assert learned.sure == pytest.approx(learned.shares)
