"""An attacker who has a register: more people than were asked, other columns, errors; and registers that do not fit."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hedgerow as hr
from hedgerow.errors import HedgerowError
from tests.cases.commands import Command
from tests.naive.attacking import candidates, chance

TREE = {"*": {"north": ["n1", "n2"], "south": ["s1", "s2"]}}
WAYS = {leaf: {leaf, node, "*"} for node, leaves in TREE["*"].items() for leaf in leaves}


def plan(**changes: Any) -> hr.Plan:
    return hr.Plan.from_dict(
        {
            "key": "id",
            "attributes": {
                "age": {"role": "quasi-identifier", "intervals": "free"},
                "town": {"role": "quasi-identifier", "hierarchy": {"tree": TREE}},
                "illness": "sensitive",
            },
            "privacy": {"k": 3},
            **changes,
        }
    )


def people(count: int) -> dict[str, list[str]]:
    draw = np.random.default_rng(3)
    return {
        "id": [f"p{number}" for number in range(count)],
        "age": [str(age) for age in draw.integers(20, 80, count)],
        "town": [sorted(WAYS)[at] for at in draw.integers(0, 4, count)],
        "illness": [f"i{at}" for at in draw.integers(0, 5, count)],
    }


SAMPLE = pa.table({name: column[::3] for name, column in people(600).items()})
REGISTER = pa.table(
    {"id": people(600)["id"], "AGE": people(600)["age"], "town": people(600)["town"], "phone": ["1"] * 600}
)


def test_more_people_than_were_asked_make_it_harder_to_say_who_a_row_is() -> None:
    release = hr.anonymize(SAMPLE, plan())
    alone = hr.attack(release, SAMPLE)
    assert alone.register is None
    assert alone.traced is None
    found = hr.attack(release, SAMPLE, knowledge=REGISTER, columns={"age": "AGE", "town": "town"})
    assert not found.beaten
    assert found.register is not None
    assert (found.register.people, found.register.known, found.register.wrong) == (600, 200, 0.0)
    assert found.withheld == 600 - release.facts["released"]  # whoever was not asked is not in the release
    assert found.linkage.fewest >= 3
    assert found.traced is not None
    assert found.traced.fewest >= 3
    assert found.traced.expected < alone.linkage.expected / 2  # three people of the register for every one asked
    own = hr.attack(release, SAMPLE, knowledge=SAMPLE)
    assert own.traced is not None
    assert own.traced.expected == pytest.approx(alone.linkage.expected, rel=0.2)


@given(data=st.data())
@settings(max_examples=15, deadline=None)
def test_a_register_agrees_with_plain_loops_and_does_not_beat_the_promise(data: st.DataObject) -> None:
    count = data.draw(st.integers(8, 30))
    person = st.tuples(st.integers(20, 40), st.sampled_from(sorted(WAYS)))
    everybody = data.draw(st.lists(person, min_size=count, max_size=count))
    asked = sorted(data.draw(st.sets(st.integers(0, count - 1), min_size=6)))
    rows = {
        "id": [str(number) for number in asked],
        "age": [str(everybody[number][0]) for number in asked],
        "town": [everybody[number][1] for number in asked],
        "illness": [f"i{number % 3}" for number in asked],
    }
    wrong = data.draw(st.sets(st.integers(0, count - 1), max_size=count // 2))
    listed = data.draw(st.permutations(range(count)))[: data.draw(st.integers(4, count))]
    thought = {number: (everybody[number][0] + (number in wrong), everybody[number][1]) for number in listed}
    if not set(listed) & set(asked):
        return
    register = pa.table(
        {
            "id": [str(number) for number in listed],
            "town": [thought[number][1] for number in listed],
            "age": [str(thought[number][0]) for number in listed],
        }
    )
    try:
        release = hr.anonymize(pa.table(rows), plan())
    except hr.NoSolution:
        return
    found = hr.attack(release, pa.table(rows), knowledge=register, confidence=0.999)
    assert not found.beaten
    assert found.linkage.fewest >= 3 or not found.linkage.rate.tries

    shown = list(zip(release.table["age"].to_pylist(), release.table["town"].to_pylist(), strict=True))
    record_of_row = release.record_of_row.tolist()
    person_of_row = [asked[record] for record in record_of_row]

    def covers(column: int, value: Any, label: Any) -> bool:
        if column == 1:
            return label in WAYS[value]
        low, _, high = str(label).partition("-")
        return int(low) <= value <= int(high or low)

    chances = []
    for number in listed:
        if number in person_of_row:
            fitting = candidates(list(enumerate(thought[number])), shown, covers)
            chances.append(chance(person_of_row.index(number), fitting))
    assert found.linkage.rate.tries == len(chances)
    if chances:
        assert found.linkage.expected == pytest.approx(float(sum(chances) / len(chances)))
    traced = []
    for row, person_behind in zip(shown, person_of_row, strict=True):
        against = [sum(not covers(at, thought[number][at], row[at]) for at in range(2)) for number in listed]
        fitting = [place for place, amiss in enumerate(against) if amiss == min(against)]
        traced.append(chance(listed.index(person_behind) if person_behind in listed else -1, fitting))
    assert found.traced is not None
    assert found.traced.expected == pytest.approx(float(sum(traced) / len(traced)))


def test_a_register_beats_a_release_that_shows_true_values(tmp_path: Path) -> None:
    release = hr.anonymize(SAMPLE, plan(), tmp_path / "release", link=tmp_path / "link.csv")
    lines = (tmp_path / "release" / "data.csv").read_text().splitlines()
    cells = list(zip(SAMPLE["age"].to_pylist(), SAMPLE["town"].to_pylist(), strict=True))
    records = release.rows.link
    assert isinstance(records, np.ndarray)
    shown = [
        ",".join([*cells[record], line.split(",")[2]]) for record, line in zip(records.tolist(), lines[1:], strict=True)
    ]
    (tmp_path / "release" / "data.csv").write_text("\n".join([lines[0], *shown]) + "\n")
    asked = {"knowledge": REGISTER, "columns": {"age": "AGE", "town": "town"}}
    found = hr.attack(tmp_path / "release", SAMPLE, link=tmp_path / "link.csv", **asked)
    assert found.linkage.beaten
    without = hr.attack(tmp_path / "release", SAMPLE, **asked)
    assert without.linkage.beaten
    assert without.traced is None


CHANGES: list[tuple[Callable[[pa.Table], pa.Table], dict[str, Any], str]] = [
    (lambda table: table.select(["id", "phone"]), {}, "none of the quasi-identifiers"),
    (lambda table: table.drop_columns(["id"]), {"columns": ["town"]}, "no column 'id'"),
    (lambda table: table, {"columns": ["age"]}, "no column 'age'"),
    (lambda table: table, {"columns": {"age": "YEARS"}}, "no column 'YEARS'"),
    (lambda table: table, {"columns": ["phone"]}, "'phone' is none"),
    (lambda table: table, {"key": "phone"}, "no column 'phone'"),
    (lambda table: pa.concat_tables([table, table]), {}, "600 of its values occur more than once in the register"),
    (lambda table: table.set_column(0, "id", pa.array([f"x{at}" for at in range(600)])), {}, "no 'id' is in both"),
    (lambda table: table.set_column(2, "town", pa.array(["N", "S"] * 300)), {}, "that the register has in 'town'"),
]


@pytest.mark.parametrize(("change", "given", "words"), CHANGES)
def test_registers_that_do_not_fit_are_refused(
    change: Callable[[pa.Table], pa.Table], given: dict[str, Any], words: str
) -> None:
    release = hr.anonymize(SAMPLE, plan())
    with pytest.raises(HedgerowError, match=words) as error:
        hr.attack(release, SAMPLE, knowledge=change(REGISTER), **given)
    assert "p0" not in str(error.value)


def test_without_a_key_nothing_says_who_is_who() -> None:
    release = hr.anonymize(SAMPLE, plan(key=None))
    with pytest.raises(HedgerowError, match="Nothing says who of the register is which record") as error:
        hr.attack(release, SAMPLE, knowledge=REGISTER)
    assert "--key" in str(error.value)
    assert hr.attack(release, SAMPLE, knowledge=REGISTER, key="id").register is not None
    with pytest.raises(HedgerowError, match="none is given"):
        hr.attack(release, SAMPLE, key="id")


def test_the_command_tells_of_the_register(command: Command, tmp_path: Path) -> None:
    pyarrow.csv.write_csv(SAMPLE, tmp_path / "people.csv")
    (tmp_path / "register.csv").write_text(
        "id;AGE;town\n" + "\n".join(";".join(row) for row in zip(*(REGISTER[name].to_pylist() for name in ("id", "AGE", "town")), strict=True))
    )  # fmt: skip
    hr.anonymize(tmp_path / "people.csv", plan(), tmp_path / "release", link=tmp_path / "link.csv")
    words = ["attack", tmp_path / "release", "--original", tmp_path / "people.csv", "--knowledge",
             tmp_path / "register.csv", "--columns", "age=AGE,town", "--link", tmp_path / "link.csv"]  # fmt: skip
    done = command(*words, "-o", tmp_path / "page.html")
    assert done.returncode == 0
    assert "600 people of a register of 600" in done.stdout
    assert "200 people of the register are in the original" in done.stdout
    assert "somebody for a row" in done.stdout
    assert "somebody for a row" in (tmp_path / "page.html").read_text()
    told = json.loads(command(*words, "--json").stdout)
    assert told["register"] == {"people": 600, "known": 200, "wrong": 0.0}
    assert told["traced"]["bound"] == pytest.approx(1 / 3)
