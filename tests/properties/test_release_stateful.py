"""Whatever happens to a maintained release, in whatever order, every version of it holds and nobody is lost.

A plain dictionary from keys to cells is kept beside the store. Changes may fail, or be cut off just before or just
after a commit. HEDGEROW_EXAMPLES and HEDGEROW_STEPS ask for longer runs.
"""

from __future__ import annotations

import csv
import itertools
import json
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, Phase, event, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

import hedgerow as hr
from hedgerow.errors import DataError, HedgerowError, NoSolution, PlanError
from hedgerow.maintenance import MaintainedRelease, create_release, open_release
from hedgerow.maintenance.store import open_store
from hedgerow.plan import Plan

Row = tuple[str | None, ...]
Model = dict[str, Row]
"""The cells of every record by its key."""

COLUMNS = ("age", "city", "ill", "note", "who")
GROUPED = (0, 1, 2, 4)  # positions of what groups depend on
NUMBERS = itertools.count(1)
EXAMPLES = int(os.environ.get("HEDGEROW_EXAMPLES", "0"))
SHRINK = bool(os.environ.get("HEDGEROW_SHRINK"))  # a step takes long, so to find the least example takes minutes
STEPS = int(os.environ.get("HEDGEROW_STEPS", "10"))
PHASES = [phase for phase in Phase if phase is not Phase.explain and (phase is not Phase.shrink or SHRINK)]
HELD_BACK, NO_LEAF, DELETED, WITHDRAWN = -1, -2, -3, -4

KEYS = [*map(str, range(1, 30)), "07", "é", 'q"q', "a,b;c", "two\nlines", "o'neil", "%s", "a\u2028b", "null", "日本"]
AGES = [str(age) for age in (20, 21, 24, 29, 30, 33, 38, 40, 41, 47, 52, 59)]
CITIES = ["a1", "a2", "b1", "b2", "b3"]
ILLS = ["flu", "cold", "gout", "gut"]
NOTES = ["", "x", 'say "hi"', "a;b,c", "line\nbreak", "=1+1", "ünï", None]
TREE = {"all": {"A": ["a1", "a2"], "B": ["b1", "b2", "b3"]}}
ILL_TREE = {"ill": {"cold-like": ["flu", "cold"], "gut-like": ["gout", "gut"]}}


def mostly(values: Sequence[str], rarely: Sequence[str | None]) -> st.SearchStrategy[str | None]:
    """One of the first; about every tenth time one of the others."""
    return st.integers(0, 9).flatmap(lambda die: st.sampled_from(rarely) if die == 9 else st.sampled_from(values))


def some_rows() -> st.SearchStrategy[Row]:
    people = st.sampled_from([f"person {number}" for number in range(12)])
    notes = st.sampled_from(NOTES).map(lambda note: note or None)  # an empty cell is a missing one
    return st.tuples(mostly(AGES, [None]), mostly(CITIES, ["nowhere", None]), mostly(ILLS, [None]), notes, people)


def tables(least: int, most: int) -> st.SearchStrategy[Model]:
    return st.dictionaries(st.sampled_from(KEYS), some_rows(), min_size=least, max_size=most)


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    age = draw(
        st.sampled_from(
            [
                {"intervals": "free"},
                {"intervals": "free", "limit": {"width": 12}},
                {"intervals": "free", "limit": {"cuts": [40]}, "snap": 5},
                {"hierarchy": {"bands": [10, 20]}},
            ]
        )
    )
    city: dict[str, Any] = {"hierarchy": {"tree": TREE}, "unknown": "withhold"}
    if draw(st.booleans()):
        city["limits"] = ["A", "B"]
    ill: dict[str, Any] = {"role": "sensitive"}
    if draw(st.integers(0, 3)) == 3:
        ill |= {"hierarchy": {"tree": ILL_TREE}, "level": 1}
    demand = st.sampled_from(
        [
            {},
            {"p": 2},
            {"p": 2},
            {"l": {"entropy": "1.5"}},
            {"l": {"recursive": [3, 2]}},
            {"alpha": "0.7"},
            {"t": "0.5"},
            {"p": 2, "alpha": "0.8"},
        ]
    )
    methods: list[Any] = ["cluster", "cluster", {"name": "cluster", "limits": "ignore"}, "bottom-up", "utility"]
    given: dict[str, Any] = {
        "key": "id",
        "attributes": {
            "age": {"role": "quasi-identifier", **age},
            "city": {"role": "quasi-identifier", **city},
            "ill": ill,
            "note": "other",
        },
        "privacy": {"k": draw(st.integers(2, 3)), **draw(demand)},
        "method": draw(st.sampled_from(methods)),
        "republish": draw(st.sampled_from(["free", "free", "only-coarser", "gated", "cohorts"])),
    }
    if draw(st.integers(0, 2)) == 2:
        given["person"] = "who"
    if draw(st.integers(0, 4)) == 4:
        given["weights"] = "association"
    return Plan.from_dict(given)


def arrow(model: Mapping[str, Row]) -> pa.Table:
    """The records as a table of texts."""
    columns = {"id": list(model)} | {name: [row[at] for row in model.values()] for at, name in enumerate(COLUMNS)}
    return pa.table({name: pa.array(cells, pa.string()) for name, cells in columns.items()})


def in_order(model: Mapping[str, Row]) -> pa.Table:
    """The records as a store numbers them: in the order of their keys."""
    return arrow(dict(sorted(model.items())))


class CutOff(BaseException):
    """Stands for the end of a process."""


@dataclass
class Fate:
    """What happens at a commit: nothing; or the end comes before or after it."""

    at: int = 0  # which commit; 0 for none
    before: bool = True
    reopen: bool = True
    done: int = 0  # commits that were made


def fates() -> st.SearchStrategy[Fate]:
    """Three of four times, nothing happens."""
    at = st.integers(0, 7).map(lambda die: max(0, die - 5))
    return st.builds(Fate, at, st.booleans(), st.booleans())


class ReleaseMachine(RuleBasedStateMachine):
    """A release, and what must be in it."""

    def __init__(self, place: Callable[[Path], str]) -> None:
        super().__init__()
        self.scratch = tempfile.TemporaryDirectory(prefix="hedgerow-machine-")
        self.folder = Path(self.scratch.name)
        self.address = place(self.folder)
        self.release: MaintainedRelease | None = None
        self.models: list[Model] = []
        self.published: dict[int, dict[str, bytes]] = {}
        self.forgotten: set[int] = set()
        self.ever: set[str] = set()
        self.sound = True  # else a step has failed already

    # ---- what can happen --------------------------------------------------------------------------------------

    @initialize(plan=plans(), people=tables(6, 16), fate=fates(), kind=st.sampled_from(["arrow", "csv", "parquet"]))
    def create(self, plan: Plan, people: Model, fate: Fate, kind: str) -> None:
        self.begin(plan, people, fate, kind)

    @precondition(lambda self: not self.release)
    @rule(plan=plans(), people=tables(6, 16))
    def create_after_all(self, plan: Plan, people: Model) -> None:
        self.begin(plan, people, Fate(), "arrow")

    def begin(self, plan: Plan, people: Model, fate: Fate, kind: str) -> None:
        self.plan = plan
        if fate.at:
            with pytest.MonkeyPatch.context() as patch:
                self.cut_off(patch, fate)
                try:
                    create_release(self.source(people, kind), plan, self.address)
                except NoSolution:
                    return
                except CutOff:
                    pass
            if not fate.done:
                with pytest.raises(DataError) as caught:
                    open_store(self.address)
                assert [problem.code for problem in caught.value.problems] == ["no-store"]
        if not fate.done:
            try:
                self.release = create_release(self.source(people, kind), plan, self.address)
            except NoSolution:
                return
        else:
            self.release = open_release(self.address)
        self.append(people)
        self.look("create", {"inserted": len(people)})

    @precondition(lambda self: self.release)
    @rule(more=tables(1, 6), fate=fates(), kind=st.sampled_from(["arrow", "csv", "parquet"]))
    def insert(self, more: Model, fate: Fate, kind: str) -> None:
        new = {key: row for key, row in more.items() if key not in self.now}
        if not new:
            return
        source = self.source(new, kind)
        self.change("insert", lambda release: release.insert(source), {**self.now, **new}, {"inserted": len(new)}, fate)

    @precondition(lambda self: self.release)
    @rule(data=st.data(), fate=fates(), by_table=st.booleans())
    def delete(self, data: st.DataObject, fate: Fate, by_table: bool) -> None:
        gone = data.draw(st.lists(st.sampled_from(sorted(self.now)), min_size=1, max_size=4, unique=True))
        if len(gone) == len(self.now):
            return
        after = {key: row for key, row in self.now.items() if key not in gone}
        table = pa.table({"id": gone})
        self.change(
            "delete",
            lambda release: release.delete(table) if by_table else release.delete(keys=gone),
            after,
            {"deleted": len(gone)},
            fate,
        )

    @precondition(lambda self: self.release)
    @rule(data=st.data(), rows=st.lists(some_rows(), min_size=1, max_size=4), only_note=st.booleans(), fate=fates())
    def update(self, data: st.DataObject, rows: list[Row], only_note: bool, fate: Fate) -> None:
        keys = data.draw(st.lists(st.sampled_from(sorted(self.now)), min_size=1, max_size=len(rows), unique=True))
        new = dict(zip(keys, rows, strict=False))
        if only_note:
            new = {key: (*self.now[key][:3], row[3], self.now[key][4]) for key, row in new.items()}
        stored = [position for position in range(5) if position < 4 or self.plan.person]
        changed = [key for key, row in new.items() if any(row[at] != self.now[key][at] for at in stored)]
        after = {**self.now, **{key: new[key] for key in changed}}
        source = self.source(new, "arrow")
        if not changed:
            before = self.seen()
            assert self.release is not None
            assert self.release.update(source).number == len(self.models)
            assert self.seen() == before
            return
        self.change("update", lambda release: release.update(source), after, {"updated": len(changed)}, fate)

    @precondition(lambda self: self.release)
    @rule(passes=st.sampled_from([0, 1, 5]), fate=fates())
    def optimize(self, passes: int, fate: Fate) -> None:
        assert self.release is not None
        losses = [row.scores["loss"] for row in self.release.history()[-1:]]
        self.change("optimize", lambda release: release.optimize(passes), self.now, {}, fate)
        losses += [row.scores["loss"] for row in self.release.history() if row.verb == "optimize"][-1:]
        if self.release.history()[-1].verb == "optimize":
            assert losses[-1] <= losses[0] + 1e-9

    @precondition(lambda self: self.release)
    @rule(fate=fates())
    def restart(self, fate: Fate) -> None:
        self.change("restart", lambda release: release.restart(), self.now, {}, fate)

    @precondition(lambda self: self.release)
    @rule(data=st.data(), fate=fates())
    def erase(self, data: st.DataObject, fate: Fate) -> None:
        gone = data.draw(st.lists(st.sampled_from(sorted(self.ever)), min_size=1, max_size=3, unique=True))
        living = [key for key in gone if key in self.now]
        if len(living) == len(self.now):
            return
        after = {key: row for key, row in self.now.items() if key not in gone}

        def forget() -> None:  # all of it in one transaction
            if living:
                self.append(after)
            self.forgotten |= {at for at, model in enumerate(self.models, start=1) if set(gone) & set(model)}
            self.ever -= set(gone)
            with open_store(self.address) as store:
                for table in (store.all_records(), store.all_places()):
                    assert not set(gone) & set(table["key"].to_pylist())

        head = len(self.models)
        self.run(lambda release: release.erase(gone), [forget], fate)
        if len(self.models) > head:
            self.look("delete", {"deleted": len(living)})

    @precondition(lambda self: self.release)
    @rule()
    def reopen(self) -> None:
        assert self.release is not None
        self.release.close()
        self.release = open_release(self.address)
        checked = self.release.check()
        assert checked["chain"]
        assert checked["verification"]["kept"]

    @precondition(lambda self: self.release)
    @rule(what=st.sampled_from(["duplicate", "unknown update", "unknown delete", "all", "column", "twice", "plan"]))
    def mistake(self, what: str) -> None:
        assert self.release is not None
        before = self.seen()
        row: Row = ("30", "a1", "flu", None, "person 1")
        new = next(key for key in (*KEYS, "new") if key not in self.now)
        known = next(iter(self.now))
        release, newcomer, both = self.release, arrow({new: row}), arrow({new: row, known: row})
        mistakes: dict[str, tuple[str, Callable[[], Any]]] = {
            "duplicate": ("duplicate-key", lambda: release.insert(both)),
            "twice": ("duplicate-key", lambda: release.insert(pa.concat_tables([newcomer, newcomer]))),
            "unknown update": ("no-such-key", lambda: release.update(both)),
            "unknown delete": ("no-such-key", lambda: release.delete(keys=[known, new])),
            "all": ("all-withheld", lambda: release.delete(keys=list(self.now))),
            "column": ("missing-column", lambda: release.insert(newcomer.drop_columns(["age"]))),
            "plan": ("other-plan", lambda: release.insert(newcomer, self.plan.replace(privacy={"k": 4}))),
        }
        code, make = mistakes[what]
        with pytest.raises(HedgerowError) as caught:
            make()
        assert [problem.code for problem in caught.value.problems] == [code]
        assert self.seen() == before

    # ---- how it happens ---------------------------------------------------------------------------------------

    @property
    def now(self) -> Model:
        return self.models[-1]

    def source(self, model: Model, kind: str) -> Any:
        """The records as a table, or as a file."""
        table = arrow(model)
        if kind == "csv":
            path = self.folder / f"in-{next(NUMBERS)}.csv"
            arrow_csv.write_csv(table, path)
            return path
        if kind == "parquet":
            path = self.folder / f"in-{next(NUMBERS)}.parquet"
            pq.write_table(table, path)
            return path
        return table

    def cut_off(self, patch: pytest.MonkeyPatch, fate: Fate) -> None:
        """See to it that the fate comes true at one of the commits."""
        from hedgerow.maintenance.store.postgres import PostgresStore
        from hedgerow.maintenance.store.sqlite import SqliteStore

        for kind in (SqliteStore, PostgresStore):
            commit = kind._commit

            def cut(store: Any, commit: Callable[[Any], None] = commit) -> None:
                if fate.at == fate.done + 1 and fate.before:
                    raise CutOff
                commit(store)
                fate.done += 1
                if fate.at == fate.done:
                    raise CutOff

            patch.setattr(kind, "_commit", cut)

    def change(
        self,
        verb: str,
        work: Callable[[MaintainedRelease], Any],
        after: Model,
        counts: dict[str, int],
        fate: Fate,
    ) -> None:
        head = len(self.models)
        self.run(work, [lambda: self.append(after)], fate, maybe=verb in ("optimize", "restart"))
        if len(self.models) > head:
            self.look(verb, counts)

    def run(
        self,
        work: Callable[[MaintainedRelease], Any],
        effects: list[Callable[[], None]],
        fate: Fate,
        maybe: bool = False,
    ) -> None:
        """Make a change that commits once for each effect; refused or cut off, exactly what was committed is there.

        A change that only may be made need not commit, and the plan may be against it.
        """
        assert self.release is not None
        before = self.seen()
        self.sound = refused = cut = False
        with pytest.MonkeyPatch.context() as patch:
            self.cut_off(patch, fate)
            try:
                work(self.release)
            except CutOff:
                cut = True
            except NoSolution:
                refused = True
            except PlanError:
                assert maybe
                assert self.plan.republish in ("only-coarser", "cohorts")
                refused = True
        event(f"{self.plan.republish}: {'refused' if refused else 'cut off' if cut else 'made'}")
        assert not (refused and fate.done)
        assert refused or cut or fate.done == len(effects) or (maybe and not fate.done)
        if cut and fate.reopen:
            self.release.close()
            self.release = open_release(self.address)
        if not fate.done:
            assert self.seen() == before
        for effect in effects[: fate.done]:
            effect()
        self.sound = True

    def append(self, after: Model) -> None:
        self.models.append(after)
        self.ever |= set(after)

    # ---- what must hold ---------------------------------------------------------------------------------------

    def seen(self) -> Any:
        """Everything that is in the store, seen by somebody else."""
        with open_store(self.address) as store:
            tables = [store.all_records(), store.all_places(), store.all_groups()]
            return store.meta(), store.versions(), [table.to_pydict() for table in tables], store.erasures()

    def look(self, verb: str, counts: dict[str, int]) -> None:
        """Look at the newest version, and once more at an earlier one."""
        assert self.release is not None
        self.sound = False
        history = self.release.history()
        newest = history[-1]
        assert [row.number for row in history] == list(range(1, len(self.models) + 1))
        assert (newest.verb, newest.parent) == (verb, newest.number - 1 or None)
        assert {
            name: newest.counts[name] for name in ("inserted", "deleted", "updated") if newest.counts[name]
        } == counts
        self.add_up(newest)
        places = self.stored(newest.number)
        assert Counter(places.values())[HELD_BACK] == newest.counts["held_back"]
        if len(history) > 1:
            assert newest.counts["records"] == (
                history[-2].counts["records"] + newest.counts["inserted"] - newest.counts["deleted"]
            )
            if verb not in ("optimize", "restart") and newest.number - 1 not in self.forgotten:
                self.respects_the_rule(self.stored(newest.number - 1), places)
        self.export(newest.number)
        self.export((newest.number + 1) // 2)
        found = self.release.audit()
        if not self.forgotten:
            assert newest.audit == {**json.loads(json.dumps(found.to_dict())), "covered": newest.audit["covered"]}
        if self.plan.republish in ("gated", "cohorts"):
            assert found.leaks == 0, found.to_dict()
        with open_store(self.address) as store:
            assert store.check_chain() == []
        self.sound = True

    def add_up(self, row: Any) -> None:
        counts, model = row.counts, self.models[row.number - 1]
        assert counts["records"] == len(model) == row.facts["records"]
        parts = [counts[name] for name in ("released", "held_back", "withdrawn", "withheld")]
        assert counts["records"] == sum(parts)
        nowhere = [key for key, cells in model.items() if cells[1] == "nowhere"]
        if row.number in self.forgotten:
            assert counts["withheld"] <= len(nowhere)
        else:  # who was withdrawn stays so, wherever they move
            places = self.stored(row.number)
            assert {places[key] for key in nowhere} <= {NO_LEAF, WITHDRAWN}
            assert counts["withheld"] == sum(places[key] == NO_LEAF for key in nowhere)
        assert row.verification["kept"]

    def stored(self, version: int) -> dict[str, int]:
        """Where every record lies; the cells of each are those it should have."""
        with open_store(self.address) as store:
            places, records = store.places(version), store.records(version)
        clusters = dict(zip(places["key"].to_pylist(), places["cluster"].to_pylist(), strict=True))
        living = {key: cluster for key, cluster in clusters.items() if cluster != DELETED}
        groups = dict(zip(places["key"].to_pylist(), places["group_number"].to_pylist(), strict=True))
        assert all((groups[key] >= 0) == (cluster >= 0) for key, cluster in clusters.items())
        contents = dict(zip(records["key"].to_pylist(), records["content"].to_pylist(), strict=True))
        width = 5 if self.plan.person else 4
        cells = {key: tuple(json.loads(contents[key])) for key in living}
        assert cells == {key: row[:width] for key, row in self.models[version - 1].items()}
        return living

    def respects_the_rule(self, before: dict[str, int], after: dict[str, int]) -> None:
        """Unless everything may change: people of a group stay together, and newcomers stay among themselves."""
        if self.plan.republish == "free":
            return
        old, new = self.models[-2:]
        alike = {key for key in old.keys() & new.keys() if all(old[key][at] == new[key][at] for at in GROUPED)}
        clusters: dict[int, set[int]] = {}
        for key in alike:
            if before[key] >= 0:
                clusters.setdefault(before[key], set()).add(after[key] if after[key] >= 0 else HELD_BACK)
        assert all(len(places) == 1 for places in clusters.values())
        settled = {after[key] for key in alike if before[key] >= 0 and after[key] >= 0}
        arrived = {after[key] for key in new if key not in before or before[key] < 0}
        assert not settled & arrived
        if self.plan.republish != "only-coarser":
            assert all(next(iter(places)) in (number, HELD_BACK) for number, places in clusters.items())
            assert all(after[key] == WITHDRAWN for key in alike if before[key] == WITHDRAWN)

    def export(self, version: int) -> None:
        """Write a version, and check it with its table and link as its owner would."""
        assert self.release is not None
        number = next(NUMBERS)
        folder, link = self.folder / f"out-{number}", self.folder / f"link-{number}.csv"
        if version in self.forgotten:
            with pytest.raises(DataError) as caught:
                self.release.export(version, folder, link=link)
            assert [problem.code for problem in caught.value.problems] == ["erased"]
            assert not folder.exists()
            assert not link.exists()
            return
        self.release.export(version, folder, link=link)
        files = {path.name: path.read_bytes() for path in [*folder.iterdir(), link] if path != link}
        files["link"] = link.read_bytes()
        if version in self.published:
            assert files == self.published[version]
            return
        self.published[version] = files
        model = self.models[version - 1]
        found = hr.verify(folder, in_order(model), link=link)
        found.raise_if_broken()
        self.compare(folder, link, model, self.stored(version))

    def compare(self, folder: Path, link: Path, model: Model, places: dict[str, int]) -> None:
        """Every released row is one record's, with its cells; every record that has a cluster has a row."""
        with (folder / "data.csv").open(newline="", encoding="utf-8") as file:
            shown = list(csv.DictReader(file))
        with link.open(newline="") as file:
            pairs = [(int(pair["record"]), int(pair["row"])) for pair in csv.DictReader(file)]
        keys = sorted(model)
        assert sorted(row for _, row in pairs) == list(range(1, len(shown) + 1))
        assert sorted(keys[record - 1] for record, _ in pairs) == sorted(key for key in keys if places[key] >= 0)
        for record, row in pairs:
            _, _, ill, note, _ = model[keys[record - 1]]
            assert (shown[row - 1]["ill"] or None, shown[row - 1]["note"] or None) in ((ill, note), (ill, f"'{note}"))

    def teardown(self) -> None:
        try:
            if self.release is not None and self.sound:
                self.release.close()
                with open_release(self.address) as self.release:
                    for row in self.release.history():
                        self.add_up(row)
                        self.export(row.number)
        finally:
            if self.release is not None:
                self.release.close()
            self.scratch.cleanup()


def run(place: Callable[[Path], str], examples: int) -> None:
    run_state_machine_as_test(
        lambda: ReleaseMachine(place),
        settings=settings(
            max_examples=EXAMPLES or examples,
            stateful_step_count=STEPS,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            phases=PHASES,
            print_blob=True,
        ),
    )


def test_whatever_happens_every_version_holds_in_a_file() -> None:
    run(lambda folder: str(folder / "people.store"), 6)


def test_whatever_happens_every_version_holds_on_a_server(postgres: str) -> None:
    run(lambda _: f"{postgres}&schema=machine_{os.getpid()}_{next(NUMBERS)}", 3)
