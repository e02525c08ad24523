"""What lies in a release folder, what facts.json states, and what both have to do with the plan."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hedgerow as hr
from hedgerow.errors import DataError
from hedgerow.plan import Plan
from hedgerow.verification import verify_release
from hedgerow.verification.reading.stated import FACTS, KINDS, read_facts
from tests.cases.counted_releases import PLANS, make, parts_of


def names(found: hr.Verification) -> list[str]:
    return [promise.name for promise in found.broken]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    case = make("cluster")
    folder = tmp_path / "release"
    hr.anonymize(case.original, case.plan, output=folder)
    return folder


# -- files -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["names.txt", ".hidden", "data.csv.bak", "data.parquet.tmp", "DATA.CSV", "link.csv", "plan.yml"]
)
def test_another_file_breaks_a_promise(folder: Path, name: str) -> None:
    (folder / name).write_text("Alice,Bob\n", encoding="utf-8")
    found = verify_release(folder)
    assert names(found) == ["files"]
    assert found["files"].found == "1 other files or folders"  # its name may be somebody's


def test_a_folder_breaks_a_promise(folder: Path) -> None:
    (folder / "more").mkdir()
    assert names(verify_release(folder)) == ["files"]


@pytest.mark.parametrize("name", ["data.csv", "plan.yaml", "facts.json", "signature.json"])
def test_a_link_breaks_a_promise_and_is_not_followed(folder: Path, tmp_path: Path, name: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    if (folder / name).exists():
        (folder / name).rename(elsewhere)
    else:
        elsewhere.touch()
    (folder / name).symlink_to(elsewhere)
    found = verify_release(folder)
    assert [promise.name for promise in found] == ["files"]
    assert found["files"].found == f"{name} is, or holds, a link or something else that is no plain file"
    assert hr.verify(folder).promises == found.promises
    with pytest.raises(DataError, match="not opened"):
        hr.report(folder)


@pytest.mark.parametrize("name", ["data.csv", "plan.yaml", "facts.json", "data.parquet"])
def test_a_pipe_breaks_a_promise_and_is_not_opened(folder: Path, name: str) -> None:
    (folder / name).unlink(missing_ok=True)
    os.mkfifo(folder / name)
    assert [promise.name for promise in verify_release(folder)] == ["files"]


def test_parts_of_the_data(tmp_path: Path) -> None:
    case = make("cluster")
    folder = parts_of(case, tmp_path / "many", 3)
    assert verify_release(folder).kept
    assert verify_release(folder)["files"].found == "5 files"
    (folder / "data.parquet" / "_SUCCESS").touch()
    assert names(verify_release(folder)) == ["files"]
    (folder / "data.parquet" / "_SUCCESS").unlink()
    (folder / "data.parquet" / "more").mkdir()
    assert [promise.name for promise in verify_release(folder)] == ["files"]
    (folder / "data.parquet" / "more").rmdir()
    part = folder / "data.parquet" / "part-00001.parquet"
    part.rename(tmp_path / "elsewhere")
    part.symlink_to(tmp_path / "elsewhere")
    assert [promise.name for promise in verify_release(folder)] == ["files"]
    assert [promise.name for promise in hr.verify(folder)] == ["files"]


# -- plan ------------------------------------------------------------------------------------------------------------


def edit(folder: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    plan = Plan.load(folder / "plan.yaml").short()
    change(plan)
    (folder / "plan.yaml").write_text(Plan.from_dict(plan).to_yaml(), encoding="utf-8")


PLAN_EDITS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "k": lambda plan: plan["privacy"].update(k=2),
    "p": lambda plan: plan["privacy"].update(p=1),
    "limits ignored": lambda plan: plan.update(method={"name": "cluster", "limits": "ignore"}),
    "method": lambda plan: plan.update(method="partition"),
    "seed": lambda plan: plan.update(seed=7),
    "withhold": lambda plan: plan.update(withhold="50%"),
    "weight": lambda plan: plan["attributes"].update(age=dict(plan["attributes"]["age"], weight=2)),
    "role": lambda plan: plan["attributes"].update(name="other"),
    "missing": lambda plan: plan["data"].update(missing=["", "?", "-"]),
    "drift": lambda plan: plan.update(drift="10%"),
}


@pytest.mark.parametrize("what", PLAN_EDITS)
def test_an_edited_plan_breaks_a_promise(folder: Path, what: str) -> None:
    edit(folder, PLAN_EDITS[what])
    assert not verify_release(folder)["plan"].kept


def test_a_plan_written_another_way_is_the_same(folder: Path) -> None:
    (folder / "plan.yaml").write_text("# hello\n" + (folder / "plan.yaml").read_text(encoding="utf-8"), "utf-8")
    assert verify_release(folder).kept


# -- facts -----------------------------------------------------------------------------------------------------------


def values_of_other_kinds(kind: str) -> list[Any]:
    """Values that are not of a kind, among them such as break arithmetic."""
    every = [None, True, "7", -1, 1.5, 10**400, [], {}, ["x"], {"x": "y"}, {"x": -1}, {"x": 10**400}, [1]]
    return [value for value in every if not KINDS[kind](value)]


@pytest.mark.parametrize("name", ["cluster", "lattice", "suppress", "persons", "rules"])
def test_every_fact_must_be_there_and_of_its_kind(name: str) -> None:
    made = make(name)
    for key in made.facts:
        kind = next(fact.kind for fact in FACTS if fact.name == key)
        for change in values_of_other_kinds(kind):
            sound, faults = read_facts(made.facts | {key: change}, made.plan)
            assert (key in sound, faults) == (False, [f"{key} is no {kind}"])
        sound, faults = read_facts({other: made.facts[other] for other in made.facts if other != key}, made.plan)
        assert (key in sound, faults) == (False, [f"lacks {key}"])


@pytest.mark.parametrize("change", ["gone", None, [], {"x": 10**400}, "7"])
def test_a_check_survives_whatever_stands_for_a_fact(change: Any) -> None:
    made = make("suppress")
    for number, key in enumerate(made.facts):
        case = make("suppress")
        case.facts[key] = change
        if change == "gone":
            del case.facts[key]
        found = case.verify(number % 2 == 0, True)
        kind = next(fact.kind for fact in FACTS if fact.name == key)
        if change == "gone" or not KINDS[kind](change):
            assert found.broken, key


def test_other_facts_are_counted_not_named() -> None:
    case = make("cluster")
    case.facts |= {"Alice Smith": 1, "levels": {}}
    assert case.verify(False, False)["facts"].found == "2 facts that a release with this plan does not have"


@pytest.mark.parametrize(
    "text", ['{"k": 2, "k": 3}', '{"k": NaN}', "[" * 100_000, "{", "[]", '{"k": ' + "9" * 5000 + "}"]
)
def test_facts_that_are_no_json(folder: Path, text: str) -> None:
    (folder / "facts.json").write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match="not readable as JSON"):
        verify_release(folder)


def forge(value: Any) -> Any:
    """Return a value of the same kind that says something else."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, str):
        return value + "x"
    if value is None:
        return 1
    if isinstance(value, dict):
        return {key: forge(part) for key, part in value.items()} or {"x": 1}
    return [*value, "x"]


@pytest.mark.parametrize("name", ["cluster", "lattice", "suppress", "persons", "rules", "limits-ignored"])
def test_a_forged_fact_is_found_or_said_to_be_the_makers_word(name: str) -> None:
    """Both ways: what is called recounted is, and what is called the maker's word is not."""
    made = make(name)
    for link, original in ((True, True), (False, False)):
        found = made.verify(link, original)
        word, recounted = found.makers_word, found.recounted
        assert not set(word) & set(recounted)
        assert set(word) | set(recounted) == set(made.facts)
        for key in recounted:
            case = make(name)
            case.facts[key] = forge(case.facts[key])
            assert case.verify(link, original).broken, (name, key, link, original)


SEEN_ALL_THE_SAME = {
    "blocks": 10**6,
    "limits_broken_by_attribute": {"age": 1},
    "loss_by_attribute": {"age": 1.0},
    "columns_not_released": ["age"],
    "limits_by_attribute": {"age": {"limit": "level 7"}},
    "exact_end_points": {"age": 1},
}


@pytest.mark.parametrize("key", SEEN_ALL_THE_SAME)
def test_what_of_the_makers_word_cannot_be_is_found(key: str) -> None:
    case = make("cluster")
    stated = case.facts[key]
    case.facts[key] = {**stated, **SEEN_ALL_THE_SAME[key]} if isinstance(stated, dict) else SEEN_ALL_THE_SAME[key]
    if key == "loss_by_attribute":
        case.facts[key] = SEEN_ALL_THE_SAME[key]
    assert case.verify(False, False).broken


def test_the_table_of_facts_knows_every_fact_of_every_method() -> None:
    for name in PLANS:
        case = make(name)
        assert read_facts(case.facts, case.plan)[1] == []
        assert list(case.facts) == [fact.name for fact in FACTS if fact.name in case.facts], name


def test_the_reference_says_the_same_of_every_fact() -> None:
    text = (Path(__file__).parents[3] / "docs" / "reference" / "facts.md").read_text(encoding="utf-8")
    table = text.split("### What is counted again", 1)[1].split("\n### ", 1)[0]
    said = {key: (proof, how) for key, proof, how in re.findall(r"^\| `(\w+)` \| ([^|]+) \| ([^|]+) \|$", table, re.M)}
    words = {
        "plan": "the plan",
        "rows": "the release",
        "original": "the original",
        "link": "original and link",
        "population": "the population",
        "word": "**maker's word**",
    }
    assert said == {fact.name: (words[fact.proof], fact.how) for fact in FACTS}
