"""Under ``republish: only-coarser`` no cell of a record is ever published narrower than before, whatever happens."""

from __future__ import annotations

import itertools
import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from hedgerow.errors import NoSolution
from hedgerow.maintenance import MaintainedRelease, create_release, open_release
from hedgerow.plan import Plan
from tests.naive import coarser as naive

TREE = {"all": {"A": {"a": ["a1", "a2"], "aa": ["a3"]}, "B": ["b1", "b2", "b3"], "C": {"c": {"cc": ["c1"]}}}}
WAYS = naive.ways_up(TREE)
EXAMPLES = int(os.environ.get("HEDGEROW_EXAMPLES", "40"))
Row = tuple[str | None, ...]
COLUMNS = ("place", "age", "dose", "ill")
QUASI = COLUMNS[:3]


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Trees, intervals on a grid and not, limits of all kinds, models that survive growth and others."""
    age: dict[str, Any] = {"role": "quasi-identifier", "intervals": "free"}
    dose: dict[str, Any] = {"role": "quasi-identifier", "intervals": "free"}
    age |= draw(st.sampled_from([{}, {"snap": 5}, {"limit": {"cuts": [40]}}, {"snap": 5, "limit": {"width": 20}}]))
    dose |= draw(st.sampled_from([{}, {"snap": "0.5"}, {"limit": {"width": 6}}, {"limit": {"cuts": [3], "width": 4}}]))
    place: dict[str, Any] = {"role": "quasi-identifier", "hierarchy": {"tree": TREE}}
    limits: list[dict[str, Any]] = [
        {},
        {"limits": ["A", "B", "C"]},
        {"limits": ["a", "A", "B"]},
        {"limit": {"level": 2}},
    ]
    place |= draw(st.sampled_from(limits))
    privacy = draw(st.sampled_from([{}, {}, {"p": 2}, {"alpha": "0.7"}, {"t": "0.5"}]))
    return Plan.from_dict(
        {
            "key": "key",
            "attributes": {"place": place, "age": age, "dose": dose, "ill": "sensitive"},
            "privacy": {"k": draw(st.integers(2, 3)), **privacy},
            "republish": "only-coarser",
            "method": draw(st.sampled_from(["cluster", "utility"])),
            "missing": "own-value",
        }
    )


def row(dice: Random, fractions: bool) -> Row:
    dose = f"{dice.randrange(20) / 4:g}" if fractions else str(dice.randrange(10))
    place = dice.choice([*WAYS, None]) if dice.random() < 0.3 else dice.choice(["a1", "a2", "b1"])
    return place, None if dice.random() < 0.1 else str(dice.randrange(20, 60)), dose, dice.choice(["x", "y", "z"])


def table(rows: Mapping[str, Row]) -> pa.Table:
    columns = {"key": pa.array(list(rows), pa.string())}
    for at, name in enumerate(COLUMNS):
        columns[name] = pa.array([one[at] for one in rows.values()], pa.string())
    return pa.table(columns)


@dataclass
class Story:
    """What is known of a release outside of it: its records, and what each was last published as."""

    release: MaintainedRelease
    rows: dict[str, Row]
    shown: dict[str, Row] = field(default_factory=dict)
    kept: int = 0

    def look(self) -> None:
        """Compare what everybody is published as with what they were."""
        made = self.release.release()
        keys = sorted(self.rows)
        for number, labels in zip(made.record_of_row.tolist(), made.table.to_pylist(), strict=True):
            key = keys[number]
            now = tuple(labels[name] for name in QUASI)
            before = self.shown.get(key)
            if before is not None:
                self.compare(self.rows[key], before, now)
            self.shown[key] = now

    def compare(self, values: Row, before: Row, now: Row) -> None:
        place, *numbers = values[:3]
        marks = self.release.plan.attributes["place"].limit
        if naive.is_under(WAYS, place, before[0]) and (
            marks is None or naive.is_within_limit(WAYS, place, before[0], marks.level, marks.nodes or ())
        ):
            assert naive.node_holds(WAYS, place, before[0], now[0]), (values, before, now)
        for number, was, is_now in zip(numbers, before[1:], now[1:], strict=True):
            if naive.is_within(number, was):
                assert naive.interval_holds(was, is_now), (values, before, now)
                self.kept += 1


@given(plan=plans(), seed=st.integers(0, 1 << 20))
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
def test_no_record_is_published_narrower_than_before(plan: Plan, seed: int) -> None:
    dice = Random(seed)
    names = (f"p{number:03}" for number in itertools.count())
    rows = {next(names): row(dice, fractions=dice.random() < 0.5) for _ in range(dice.randint(15, 40))}
    with tempfile.TemporaryDirectory() as folder:
        try:
            release = create_release(table(rows), plan, Path(folder) / "people.store")
        except NoSolution:
            event("no first version")
            return
        with release:
            story = Story(release, rows)
            story.look()
            for _ in range(dice.randint(3, 6)):
                change(story, dice, names)
            checked = release.check()
            assert checked["chain"]
            assert checked["verification"]["kept"]
            with open_release(Path(folder) / "people.store") as again:
                for version in release.history():
                    if not release.erasures():
                        assert again.release(version.number).facts == release.release(version.number).facts


def change(story: Story, dice: Random, names: Any) -> None:
    """Let something happen to a release, and look at it."""
    there = sorted(story.rows)
    some = dice.sample(there, min(len(there) - 1, dice.randint(1, max(1, len(there) // 3))))
    fractions = dice.random() < 0.3
    new: dict[str, Row] = {}
    verb = dice.choice(["insert", "delete", "delete", "update", "partly", "erase"])
    work: Callable[[], Any]
    if verb == "insert":
        new = {next(names): row(dice, fractions) for _ in range(dice.randint(1, 12))}
        work = lambda: story.release.insert(table(new))  # noqa: E731
    elif verb == "delete":
        work = lambda: story.release.delete(keys=some)  # noqa: E731
    elif verb == "erase":
        work = lambda: story.release.erase(some[:2])  # noqa: E731
    else:
        for key in some:
            old, other = story.rows[key], row(dice, fractions)
            at = dice.randrange(4)
            new[key] = other if verb == "update" else (*old[:at], other[at], *old[at + 1 :])
        work = lambda: story.release.update(table(new))  # noqa: E731
    try:
        work()
    except NoSolution:
        event(f"{verb} refused")
        return
    event(verb)
    gone = {"delete": some, "erase": some[:2]}.get(verb, [])
    story.rows = {key: value for key, value in {**story.rows, **new}.items() if key not in gone}
    if verb == "erase":
        story.shown = {key: value for key, value in story.shown.items() if key not in gone}
    story.look()
