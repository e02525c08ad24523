"""Attacks on releases that are good, and on some that are broken on purpose."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import hedgerow as hr
from hedgerow.errors import DataError, HedgerowError
from hedgerow.evaluation.attacking.rates import Rate
from hedgerow.evaluation.synthetic.households import household_census
from tests.cases.commands import Command

AGES = {"role": "quasi-identifier", "intervals": "free"}
PLAN: dict[str, Any] = {
    "attributes": {"age": AGES, "town": "quasi-identifier", "illness": "sensitive"},
    "privacy": {"k": 5},
}


def people(count: int = 400, illness: int = 7) -> dict[str, list[str]]:
    numbers = range(count)
    return {
        "age": [str(20 + number * 37 % 60) for number in numbers],
        "town": [f"t{number * 13 % 8}" for number in numbers],
        "illness": [f"i{number * 31 % illness}" for number in numbers],
    }


@pytest.fixture
def made(tmp_path: Path) -> tuple[Path, Path, Path]:
    """A table in a file, its release, and the link."""
    rows = people()
    lines = [",".join(rows), *map(",".join, zip(*rows.values(), strict=True))]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    plan = hr.Plan.from_dict(PLAN)
    hr.anonymize(tmp_path / "people.csv", plan, tmp_path / "release", link=tmp_path / "link.csv")
    return tmp_path / "people.csv", tmp_path / "release", tmp_path / "link.csv"


def break_it(original: Path, release: Path, link: Path) -> None:
    """Publish the true age and town of everybody."""
    records = [line.split(",") for line in original.read_text().splitlines()]
    rows = [line.split(",") for line in (release / "data.csv").read_text().splitlines()]
    for line in link.read_text().splitlines()[1:]:
        record, row = map(int, line.split(","))
        rows[row][:2] = records[record][:2]
    (release / "data.csv").write_text("\n".join(map(",".join, rows)) + "\n")


def test_a_good_release_is_not_beaten_and_a_broken_one_is(made: tuple[Path, Path, Path]) -> None:
    original, release, link = made
    good = hr.attack(release, original, link=link)
    assert not good.beaten
    assert good.linkage.fewest >= 5
    assert good.linkage.rate.low <= 0.2
    break_it(original, release, link)
    for given in ({"link": link}, {}):
        found = hr.attack(release, original, **given)
        assert found.beaten
        assert found.linkage.beaten
        assert found.linkage.rate.low > 0.2
        assert found.linkage.fewest < 5
    assert hr.attack(release, original, link=link, columns=["town"]).linkage.beaten is False


def test_a_household_that_is_unique_is_found(tmp_path: Path) -> None:
    made = household_census(households=150)
    table = pa.table({name: made.columns[name] for name in ("household", "sex", "age")})
    raw = {
        "unit": "household",
        "attributes": {"sex": "quasi-identifier", "age": AGES},
        "privacy": {"k": 3},
    }
    good = hr.attack(hr.anonymize(table, hr.Plan.from_dict(raw)), table)
    assert good.units is not None
    assert not good.beaten
    assert good.units.fewest >= 3
    # As persons alone they are anonymous; with the number beside them they are not.
    persons = hr.Plan.from_dict({key: part for key, part in raw.items() if key != "unit"})
    release = hr.anonymize(table, persons, tmp_path / "release", link=tmp_path / "link.csv")
    household = table.column("household").to_pylist()
    record_of_row = release.rows.link.tolist()  # type: ignore[union-attr]
    lines = (tmp_path / "release" / "data.csv").read_text().splitlines()
    linked = [f"{household[record]},{line}" for record, line in zip(record_of_row, lines[1:], strict=True)]
    (tmp_path / "release" / "data.csv").write_text("\n".join([f"household,{lines[0]}", *linked]) + "\n")
    plan = hr.Plan.load(tmp_path / "release" / "plan.yaml").replace(unit="household")
    (tmp_path / "release" / "plan.yaml").write_text(plan.to_yaml())
    found = hr.attack(tmp_path / "release", table, link=tmp_path / "link.csv")
    assert not found.linkage.beaten
    assert found.units is not None
    assert found.units.beaten
    assert found.beaten


def test_what_everybody_shares_is_not_gained_from_a_release() -> None:
    # Illness goes with age for all people: whoever is not in the release is guessed as well as those who are.
    ages = [str(20 + number % 40) for number in range(800)]
    illness = ["old" if int(age) >= 40 else "young" for age in ages]
    table = pa.table({"age": ages[:400], "illness": illness[:400]})
    others = pa.table({"age": ages[400:], "illness": illness[400:]})
    plan = hr.Plan.from_dict({"attributes": {"age": AGES, "illness": "sensitive"}, "privacy": {"k": 5}})
    release = hr.anonymize(table, plan)
    (alone,) = hr.attack(release, table).guesses
    assert alone.baseline == "commonest"
    assert alone.surely_gained
    (held,) = hr.attack(release, table, control=others).guesses
    assert held.baseline == "control"
    assert held.with_release.rate > 0.9
    assert not held.surely_gained


def test_an_attack_is_the_same_each_time_and_another_with_another_seed(made: tuple[Path, Path, Path]) -> None:
    original, release, link = made
    first = hr.attack(release, original, link=link, people=100, noise=0.2)
    assert first == hr.attack(release, original, link=link, people=100, noise=0.2)
    assert first.linkage != hr.attack(release, original, link=link, people=100, noise=0.2, seed=1).linkage
    assert first.people == 100


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"columns": ["illness"]}, "'illness' is none"),
        ({"columns": []}, "a column at least"),
        ({"noise": 2}, "'noise' parameter must be from 0 to 1"),
        ({"people": 0}, "at least 1"),
        ({"confidence": 1}, "below 1"),
    ],
)
def test_what_an_attacker_cannot_be_given(given: dict[str, Any], words: str, made: tuple[Path, Path, Path]) -> None:
    with pytest.raises(HedgerowError, match=words):
        hr.attack(made[1], made[0], **given)


def test_a_link_of_another_release_is_refused(made: tuple[Path, Path, Path]) -> None:
    original, release, link = made
    link.chmod(0o600)
    link.write_text("record,row\n1,1\n1,2\n")
    with pytest.raises(DataError, match="link table does not fit"):
        hr.attack(release, original, link=link)


def test_intervals_are_wilson_s() -> None:
    assert Rate.of(0, 10, 0.95).low == 0
    assert Rate.of(10, 10, 0.95).high == 1
    assert (Rate.of(0, 10, 0.95).high, Rate.of(5, 10, 0.95).low) == (0.277533, 0.236593)
    assert Rate.of(0, 0, 0.95).to_dict() == {"right": 0, "tries": 0, "rate": 0.0, "low": 0.0, "high": 1.0}


def test_the_command_says_it_writes_a_page_and_ends_with_1_if_the_promise_is_beaten(
    made: tuple[Path, Path, Path], command: Command, tmp_path: Path
) -> None:
    original, release, link = made
    page = tmp_path / "attack.html"
    done = command("attack", release, "--original", original, "--link", link, "-o", page)
    assert done.returncode == 0
    assert "Nobody is found more often than 1 in 5" in done.stdout
    assert "How often the attacker finds the right row" in page.read_text()
    assert "http" not in page.read_text()
    break_it(original, release, link)
    done = command("attack", release, "--original", original, "--link", link, "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["beaten"] is True
