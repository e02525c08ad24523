"""Changes to clusters, and the search for less loss, equal the naive reference cluster by cluster."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from hedgerow.anonymization.clustering import find_cells
from hedgerow.anonymization.solving import cluster
from hedgerow.maintenance.changes.boxes import KeptBoxes
from hedgerow.maintenance.changes.change import Change, coarsen, form, maintain
from hedgerow.maintenance.changes.optimize import optimize
from hedgerow.maintenance.changes.republish import only_coarser
from hedgerow.microdata import FreeColumn, Microdata, encode_table, read_table
from hedgerow.plan import Plan
from hedgerow.privacy import Requirement
from tests.cases.records import Case, cases
from tests.cases.sensitive import TREE, Diverse, codes_of, diverse, naive_demands
from tests.naive import maintenance as naive
from tests.naive.attributes import Attribute, FreeAttribute, TreeAttribute
from tests.naive.trees import Tree

MISSING = "\0missing"
SURVIVING = ["k", "p"]
FRAGILE = ["entropy", "recursive", "alpha", "beta", "equal", "ordered", "hierarchical", "mixed"]
Placed = dict[int, int]
"""Cluster of every row that is in one."""


def examples(many: int) -> settings:
    """Settings of a test; the first examples may be slow to draw, since drawing clusters compiles kernels."""
    return settings(max_examples=many, suppress_health_check=[HealthCheck.too_slow])


# ---- generated tables, for the fast code and for the naive reference ---------------------------------------


@dataclass(frozen=True)
class Whole:
    """All rows there ever are, and what is asked; some columns may weigh nothing."""

    given: Diverse
    keep_limits: bool = True
    weightless: frozenset[str] = frozenset()

    @property
    def size(self) -> int:
        return len(next(iter(self.given.case.rows.values())))

    @property
    def plan(self) -> Plan:
        given = self.given
        attributes: dict[str, Any] = dict(given.case.attributes)
        for i in range(len(given.sensitive)):
            attributes[f"s{i}"] = {"role": "sensitive"}
            if "hierarchical" in str(given.privacy) or "ordered" in str(given.privacy):
                attributes[f"s{i}"]["hierarchy"] = {"tree": TREE}
            if given.weights is not None:
                attributes[f"s{i}"]["weight"] = given.weights[i]
        attributes["key"] = {"role": "other"}
        raw: dict[str, Any] = {
            "attributes": attributes,
            "privacy": given.privacy,
            "seed": given.case.seed,
            "method": {"name": "cluster", "join": given.join, "limits": "keep" if self.keep_limits else "ignore"},
        }
        if given.case.persons is not None:
            raw["person"] = "who"
        return Plan.from_dict(raw)

    def at(self, rows: Sequence[int]) -> Diverse:
        """What is left if there are only these rows."""
        case = self.given.case
        return replace(
            self.given,
            case=replace(
                case,
                rows={name: [column[row] for row in rows] for name, column in case.rows.items()},
                persons=None if case.persons is None else [case.persons[row] for row in rows],
            ),
            sensitive=[[column[row] for row in rows] for column in self.given.sensitive],
        )


@dataclass(frozen=True, eq=False)
class Live:
    """The rows that are there at some time: encoded, and as a task of the naive reference."""

    microdata: Microdata
    plan: Plan
    task: naive.Task
    rows: list[int]
    """Row of every unit."""

    def cluster_of(self, placed: Placed) -> np.ndarray[Any, np.dtype[np.int64]]:
        return np.array([placed.get(row, -1) for row in self.rows], np.int64)

    def clusters(self, placed: Placed) -> naive.Clusters:
        found: naive.Clusters = {}
        for unit, row in enumerate(self.rows):
            if row in placed:
                found.setdefault(placed[row], []).append(unit)
        return found

    def placed(self, change: Change) -> Placed:
        return {row: number for row, number in zip(self.rows, change.cluster_of.tolist(), strict=True) if number >= 0}


class EndsAttribute(FreeAttribute):
    """Numbers on a grid, or with missing ones: ``values`` are the published ends of every code, two by two.

    Missing values cost as much as the greatest number, and are never together with numbers.
    """

    step: int | None
    has_missing: bool

    @classmethod
    def of(cls, column: Sequence[int | None], limit: dict[str, Any], step: int | None, weight: Fraction) -> Any:
        numbers = {number for number in column if number is not None}
        starts = sorted({number - number % (step or 1) for number in numbers})
        ends = [Fraction(end) for start in starts for end in (start, start + (step or 1) - 1)]
        if None in column:
            ends += [ends[-1] if ends else Fraction(0)] * 2
        plain = FreeAttribute.over([0], limit.get("cuts", ()), limit.get("width"), weight)
        attribute = cls(tuple(ends), plain.cuts, plain.width, weight)
        object.__setattr__(attribute, "step", step)
        object.__setattr__(attribute, "has_missing", None in column)
        return attribute

    def code(self, value: Any) -> int:
        if value is None:
            return len(self.values) // 2 - 1
        return self.values.index(Fraction(value - value % (self.step or 1))) // 2

    def show(self, code: int) -> tuple[int, int]:
        return 2 * code, 2 * code + 1

    def widen(self, shown: tuple[int, int], code: int) -> tuple[int, int]:
        return min(shown[0], 2 * code), max(shown[1], 2 * code + 1)

    def cell(self, code: int) -> Any:
        is_missing = self.has_missing and code == len(self.values) // 2 - 1
        return "missing" if is_missing else super().cell(2 * code)


def naive_attribute(column: Any, asked: dict[str, Any], values: Sequence[Any], limits: bool, weight: Any) -> Attribute:
    weight = Fraction(str(weight))
    limit = (asked.get("limit") or {}) if limits else {}
    if isinstance(column, FreeColumn):
        if None in values or "snap" in asked:
            return EndsAttribute.of(values, limit, asked.get("snap"), weight)
        return FreeAttribute.over(values, limit.get("cuts", ()), limit.get("width"), weight)
    ((root, below),) = asked["hierarchy"]["tree"].items()
    tree = Tree.from_nested({root: {**below, MISSING: None} if None in values else below})
    marked = set(asked.get("limits", ())) if limits else set()
    if "level" in limit:
        marked = tree.marked_by_level(limit["level"])
    return TreeAttribute(tree, frozenset(marked), weight)


def live(whole: Whole, rows: Iterable[int]) -> Live:
    """Encode some of the rows, in the given order."""
    order = list(rows)
    here = whole.at(order)
    case = here.case
    table: dict[str, Any] = {name: pa.array(column) for name, column in case.rows.items()}
    table |= {f"s{i}": pa.array(column, pa.string()) for i, column in enumerate(here.sensitive)}
    table["key"] = order
    if case.persons is not None:
        table["who"] = case.persons
    plan = whole.plan
    microdata = encode_table(read_table(pa.table(table), plan), plan)
    weightless = (replace(c, weight=0) if c.name in whole.weightless else c for c in microdata.columns)
    microdata = microdata.with_columns(tuple(weightless))
    units = microdata.record_of.tolist()
    attributes = [
        naive_attribute(c, case.attributes[c.name], case.rows[c.name], whole.keep_limits, c.weight)
        for c in microdata.indexed_columns
    ]
    names = [column.name for column in microdata.indexed_columns]
    values = [[case.rows[name][i] for name in names] for i in units]
    records = [
        tuple(
            a.code(MISSING if v is None and isinstance(a, TreeAttribute) else v)
            for a, v in zip(attributes, row, strict=True)
        )
        for row in values
    ]
    assert microdata.profiles[microdata.profile_of_unit].tolist() == [list(record) for record in records]
    codes = codes_of(here) if here.sensitive else [()] * len(order)
    task = naive.Task(
        attributes,
        records,
        [codes[i] for i in units],
        here.privacy["k"],
        naive_demands(here, codes),
        None if case.persons is None else [case.persons[i] for i in units],
        case.seed,
        diversity_weights(here),
        here.join,  # type: ignore[arg-type]
    )
    if not is_static_defined(task):
        task = replace(task, static=lambda _, homeless: static_groups(microdata, plan, homeless))
    return Live(microdata, plan, task, [order[i] for i in units])


def diversity_weights(here: Diverse) -> list[Fraction] | None:
    if here.weights is None:
        return None
    used = [
        weight if any(value is not None for value in column) else 0
        for weight, column in zip(here.weights, here.sensitive, strict=True)
    ]
    return [Fraction(weight, sum(used) or 1) for weight in used]


def is_static_defined(task: naive.Task) -> bool:
    """Whether the naive reference knows the static method: not for widths beside models, persons or other widths."""
    widths = [a for a in task.attributes if isinstance(a, FreeAttribute) and a.width is not None]
    plain = len(widths) == 1 and not isinstance(widths[0], EndsAttribute)
    return not widths or (plain and task.persons is None and not any(task.demands.models))


def static_groups(microdata: Microdata, plan: Plan, homeless: Sequence[int]) -> list[list[int]]:
    """Cluster some units afresh by the fast code."""
    if not homeless:
        return []
    part = microdata.of_units(np.array(homeless, np.int64))
    requirement = Requirement.of_plan(plan, microdata)
    cells = find_cells(part, requirement, ignore_limits=not plan.keeps_limits)
    if cells.failing.all():
        return []
    made = cluster(part, plan, requirement, cells, 1, None)
    return [[homeless[i] for i in np.flatnonzero(made.group_of == group)] for group in range(made.groups)]


# ---- generated changes -------------------------------------------------------------------------------------


@st.composite
def wholes(
    draw: st.DrawFn, kind: str, persons: bool = False, wide: bool = False, keep_limits: bool | None = None
) -> Whole:
    """Tables with limits, missing values, widths (several, beside anything) and weights down to 0."""
    if kind == "k":
        case = draw(cases(persons=persons, wide=wide))
        given = Diverse(case, [], {"k": case.k}, None, "increase")
    else:
        given = draw(diverse(kind, persons=persons))
    dice = Random(draw(st.integers(0, 1 << 16)))
    if wide and kind != "k":
        given = enlarged(given, draw(cases(persons=persons, widths=False, wide=True)), dice)
    case = given.case
    attributes = deepcopy(case.attributes)
    rows = dict(case.rows)
    loose = draw(st.booleans())  # one large cell has more clusters
    widths = draw(st.sampled_from([False, False, True]))
    for name, asked in attributes.items():
        if loose:
            asked.pop("limits", None)
            asked.pop("limit", None)
        if "intervals" in asked:
            most = 12 if not wide else 400
            if dice.random() < 0.2:
                asked["snap"] = dice.choice([2, 3, 5])
                limit = asked.get("limit", {})
                if "cuts" in limit:
                    limit["cuts"] = sorted({cut - cut % asked["snap"] for cut in limit["cuts"]})
                if "width" in limit:
                    limit["width"] += asked["snap"]
            if widths:
                asked["limit"] = {**asked.get("limit", {}), "width": dice.randint(most // 2 - 1, most)}
        if dice.random() < 0.1:
            rows[name] = [None if dice.random() < 0.3 else value for value in rows[name]]
    weightless = {name for name in attributes if dice.random() < 0.15}
    keep = draw(st.booleans()) if keep_limits is None else keep_limits
    return Whole(
        replace(given, case=replace(case, attributes=attributes, rows=rows)),
        keep,
        frozenset(weightless) if len(weightless) < len(attributes) else frozenset(),
    )


def enlarged(given: Diverse, case: Case, dice: Random) -> Diverse:
    """The same demands on a larger table, whose sensitive values are as frequent."""
    records = len(next(iter(case.rows.values())))
    sensitive = [[dice.choice(column) for _ in range(records)] for column in given.sensitive]
    return replace(given, case=replace(case, k=given.case.k), sensitive=sensitive)


@st.composite
def clusters_of(draw: st.DrawFn, here: Live, holding: bool = False) -> tuple[Placed, int]:
    """Clusters as the static method makes them, or any within the limits; and how many numbers are used.

    Any: their numbers are in any order and have gaps; they need not hold unless asked for.
    """
    if draw(st.booleans()):
        change = maintain(here.microdata, here.plan, np.full(len(here.rows), -1, np.int64), 0)
        return here.placed(change), change.used
    task, dice = here.task, Random(draw(st.integers(0, 1 << 16)))
    parts = max(1, len(here.rows) // draw(st.integers(2, 6)))
    found: dict[Any, naive.Members] = {}
    for unit in range(len(here.rows)):
        if holding or dice.random() < 0.9:
            found.setdefault((task.cell(unit), dice.randrange(parts)), []).append(unit)
    kept = [units for units in found.values() if not holding or task.holds(units)]
    kept = [units for units in kept if task.is_allowed(units)]
    numbers = dice.sample(range(len(kept) + 3), len(kept))
    placed = {here.rows[unit]: number for number, units in zip(numbers, kept, strict=True) for unit in units}
    return placed, len(kept) + 3 + dice.randrange(2)


@st.composite
def changes(draw: st.DrawFn, whole: Whole) -> tuple[Live, Placed, int]:
    """Rows before a change, clustered; then some leave and others come."""
    fate = draw(
        st.lists(st.sampled_from(["stays", "stays", "leaves", "comes"]), min_size=whole.size, max_size=whole.size)
    )
    assume(any(one in ("stays", "comes") for one in fate))
    before = [row for row, one in enumerate(fate) if one != "comes"]
    placed, used = draw(clusters_of(live(whole, before))) if before else ({}, 0)
    here = live(whole, [row for row, one in enumerate(fate) if one != "leaves"])
    return here, {row: number for row, number in placed.items() if fate[row] == "stays"}, used


# ---- a change ----------------------------------------------------------------------------------------------


def compare(here: Live, placed: Placed, used: int) -> Change:
    """Hold a change to the naive reference; returns it."""
    change = maintain(here.microdata, here.plan, here.cluster_of(placed), used)
    expected, held_back = naive.change(here.task, here.clusters(placed), used)
    agree(here, change, expected, held_back, used)
    return change


def agree(here: Live, change: Change, expected: naive.Clusters, held_back: naive.Members, used: int) -> None:
    """Clusters formed afresh are compared as sets of records: only those of one cell are numbered in one order."""
    found = here.clusters(here.placed(change))
    afresh = change.used - change.steps["formed"]
    assert np.flatnonzero(change.cluster_of < 0).tolist() == held_back
    assert {n: units for n, units in found.items() if n < afresh} == {
        n: units for n, units in expected.items() if n < afresh
    }
    assert sorted(units for n, units in found.items() if n >= afresh) == sorted(
        units for n, units in expected.items() if n >= afresh
    )
    assert naive.next_free(expected, used) == change.used


@pytest.mark.parametrize("kind", [*SURVIVING, *FRAGILE])
@given(data=st.data())
@examples(15)
def test_a_change_is_that_of_the_naive_reference(kind: str, data: st.DataObject) -> None:
    compare(*data.draw(changes(data.draw(wholes(kind)))))


@pytest.mark.parametrize("kind", ["k", "p", "alpha", "recursive"])
@given(data=st.data())
@examples(18)
def test_a_change_where_k_counts_persons(kind: str, data: st.DataObject) -> None:
    compare(*data.draw(changes(data.draw(wholes(kind, persons=True)))))


@pytest.mark.parametrize("kind", ["k", "p", "recursive", "equal"])
@given(data=st.data())
@examples(8)
def test_a_change_with_many_clusters(kind: str, data: st.DataObject) -> None:
    compare(*data.draw(changes(data.draw(wholes(kind, wide=True)))))


@st.composite
def brittle(draw: st.DrawFn) -> tuple[Live, Placed, int]:
    """Clusters of neighbours that only just hold: what is left of them borrows, and rests find no group of their own.

    With two values and no more than half of each, single records fit nowhere, and rests only as a whole.
    """
    dice, k = Random(draw(st.integers(0, 1 << 16))), draw(st.integers(2, 4))
    records = draw(st.integers(3 * k, 10 * k))
    asked: dict[str, Any] = {"role": "quasi-identifier", "intervals": "free", "weight": 1}
    if draw(st.booleans()):
        asked["limit"] = {"width": draw(st.integers(3, 20))}
    attributes = {"c0": asked, "c1": {"role": "quasi-identifier", "intervals": "free", "weight": "0.5"}}
    values = {
        "c0": sorted(dice.randrange(40) for _ in range(records)),
        "c1": [dice.randrange(9) for _ in range(records)],
    }
    alike = ["v0", "v1", "v0", "v1", "v2"][: draw(st.sampled_from([2, 4, 5]))]
    sensitive: list[str | None] = [dice.choice(alike) for _ in range(records)]
    privacy = draw(
        st.sampled_from(
            [
                {"alpha": "0.5"},
                {"alpha": "0.6"},
                {"l": {"entropy": "2"}},
                {"l": {"recursive": [2, 2]}},
                {"t": {"at_most": "0.1", "distance": "equal"}},
            ]
        )
    )
    given = Diverse(Case(attributes, values, k, 0), [sensitive], {"k": k, **privacy}, None, "increase")
    size = draw(st.integers(k, 2 * k))
    numbers = dice.sample(range(records), records)
    moving = draw(st.sampled_from([0.02, 0.1, 0.3]))
    placed = {row: numbers[row // size] for row in range(records) if dice.random() > moving}
    whole = Whole(given)
    here = live(whole, [row for row in range(records) if row not in placed or dice.random() > moving])
    too_wide = {
        number for number, units in here.clusters(placed).items() if not here.task.is_allowed(units)
    }  # no change leads to such clusters
    return here, {row: n for row, n in placed.items() if n not in too_wide and row in here.rows}, records


@given(change=brittle())
@examples(150)
def test_a_change_where_little_fits(change: tuple[Live, Placed, int]) -> None:
    compare(*change)


@st.composite
def newcomers_apart(draw: st.DrawFn) -> tuple[Live, Placed, int]:
    """Newcomers in a cell of their own, clustered afresh: what values are worth is still told by all records."""
    dice, old, new = Random(draw(st.integers(0, 1 << 16))), draw(st.integers(0, 12)), draw(st.integers(8, 40))
    asked = {"role": "quasi-identifier", "intervals": "free", "weight": 1, "limit": {"cuts": [10]}}
    columns = {"c0": [dice.randrange(5) if row < old else dice.randrange(10, 22) for row in range(old + new)]}
    sensitive: list[list[str | None]] = [
        [f"v{dice.randrange(most + more if row < old else most)}" for row in range(old + new)]
        for most, more in zip(draw(st.sampled_from([(3, 4), (4, 6), (6, 3)])), (5, 0), strict=True)
    ]
    k = draw(st.integers(3, 5))
    asked_too = draw(st.sampled_from([{"p": 3}, {"p": 3}, {"t": {"at_most": "0.4", "distance": "equal"}}]))
    given = Diverse(
        Case({"c0": asked}, columns, k, draw(st.integers(0, 9))),
        sensitive,
        {"k": k, **asked_too},
        draw(st.sampled_from([None, [1, 5], [5, 1]])),
        draw(st.sampled_from(["increase", "loss"])),
    )
    return live(Whole(given), range(old + new)), dict.fromkeys(range(old), 2), 3


@given(change=newcomers_apart())
@examples(150)
def test_newcomers_in_a_cell_of_their_own(change: tuple[Live, Placed, int]) -> None:
    compare(*change)


@st.composite
def many_leaves(draw: st.DrawFn) -> Whole:
    """A tree too large for a table of costs by pair of leaves, beside a small one."""
    tree = {"*": {f"a{a}": {f"b{a}.{b}": [f"c{a}.{b}.{c}" for c in range(8)] for b in range(9)} for a in range(9)}}
    leaves = [f"c{a}.{b}.{c}" for a in range(9) for b in range(9) for c in range(8)]
    records, dice = draw(st.integers(10, 60)), Random(draw(st.integers(0, 1 << 16)))
    attributes: dict[str, Any] = {
        "c0": {"role": "quasi-identifier", "hierarchy": {"tree": tree}, "weight": 1},
        "c1": {"role": "quasi-identifier", "intervals": "free", "weight": draw(st.sampled_from([1, 2]))},
    }
    if draw(st.booleans()):
        attributes["c0"]["limits"] = ["a1", "a2", "b3.3"]
    rows = {
        "c0": [leaves[dice.randrange(len(leaves)) if dice.random() < 0.7 else 0] for _ in range(records)],
        "c1": [dice.randrange(9) for _ in range(records)],
    }
    k = draw(st.integers(2, 4))
    return Whole(Diverse(Case(attributes, rows, k, 0), [], {"k": k}, None, "increase"))


@given(data=st.data())
@examples(8)
def test_a_change_with_a_large_tree(data: st.DataObject) -> None:
    here, placed, used = data.draw(changes(data.draw(many_leaves())))
    change = compare(here, placed, used)
    compare_optimized(here, here.placed(change), change.used)


@pytest.mark.parametrize("kind", ["k", "p", "alpha", "mixed"])
@given(data=st.data())
@examples(8)
def test_a_history_of_changes(kind: str, data: st.DataObject) -> None:
    whole = data.draw(wholes(kind, persons=data.draw(st.booleans()) if kind != "mixed" else False))
    there, placed, used = set(range(whole.size // 2)), Placed(), 0
    for _ in range(data.draw(st.integers(2, 5))):
        moving = data.draw(st.sets(st.integers(0, whole.size - 1), max_size=max(2, whole.size // 3)))
        there = there ^ moving  # those that are there leave, the others come, perhaps not for the first time
        if not there:
            continue
        here = live(whole, sorted(there))
        placed = {row: number for row, number in placed.items() if row in there and row not in moving}
        step = data.draw(st.sampled_from(["change", "change", "change", "optimize", "coarser"]))
        old = set(placed.values())
        if step == "change":
            change = compare(here, placed, used)
        elif step == "coarser":
            change = compare_coarser(here, placed, used)
        else:
            change = optimize(here.microdata, here.plan, here.cluster_of(placed), used)
        placed = here.placed(change)
        assert change.used >= used
        assert all(number in old or used <= number < change.used for number in placed.values())
        used = change.used


@pytest.mark.parametrize("kind", ["k", "p", "entropy"])
@given(data=st.data())
@examples(12)
def test_the_order_of_rows_does_not_matter(kind: str, data: st.DataObject) -> None:
    whole = data.draw(wholes(kind, persons=data.draw(st.booleans())))
    here, placed, used = data.draw(changes(whole))
    shuffled = live(whole, data.draw(st.permutations(here.rows)))
    for change_by in (maintain, coarsen, optimize):
        one, other = (change_by(at.microdata, at.plan, at.cluster_of(placed), used) for at in (here, shuffled))
        assert here.placed(one) == shuffled.placed(other)
        assert (one.used, one.steps) == (other.used, other.steps)


@given(data=st.data())
@examples(9)
def test_threads_do_not_change_a_change(data: st.DataObject) -> None:
    here, placed, used = data.draw(changes(data.draw(wholes("k"))))
    one, many = (maintain(here.microdata, here.plan, here.cluster_of(placed), used, threads) for threads in (1, 3))
    assert one.cluster_of.tolist() == many.cluster_of.tolist()


@given(data=st.data())
@examples(9)
def test_without_a_change_clusters_that_hold_stay(data: st.DataObject) -> None:
    whole = data.draw(wholes(data.draw(st.sampled_from([*SURVIVING, *FRAGILE]))))
    here = live(whole, range(whole.size))
    placed, used = data.draw(clusters_of(here, holding=True))
    change = maintain(here.microdata, here.plan, here.cluster_of(placed), used)
    if len(placed) == len(here.rows):
        assert here.placed(change) == placed
        assert change.used == used


# ---- only coarser ------------------------------------------------------------------------------------------


def compare_coarser(here: Live, placed: Placed, used: int) -> Change:
    """Hold merging, and then clustering the newcomers among themselves, to the naive reference; returns both."""
    cluster_of = here.cluster_of(placed)
    merged = coarsen(here.microdata, here.plan, cluster_of, used)
    assert merged.used == used
    requirement = Requirement.of_plan(here.plan, here.microdata)
    change = form(here.microdata, here.plan, requirement, merged, cluster_of < 0)
    expected, held_back = naive.change_only_coarser(here.task, here.clusters(placed), used)
    agree(here, change, expected, held_back, used)
    for units in here.clusters(placed).values():  # the old clusters are whole
        assert len(set(change.cluster_of[units].tolist())) == 1
    return change


@pytest.mark.parametrize("kind", ["k", "p", "alpha", "equal"])
@given(data=st.data())
@examples(18)
def test_a_change_to_coarser_clusters_only(kind: str, data: st.DataObject) -> None:
    whole = data.draw(wholes(kind, persons=data.draw(st.booleans())))
    compare_coarser(*data.draw(changes(whole)))


@st.composite
def keeping(draw: st.DrawFn, here: Live, keep_limits: bool) -> tuple[Live, KeptBoxes]:
    """What the records must not be published narrower than: boxes that others of their cell lie in, and they."""
    task, dice = here.task, Random(draw(st.integers(0, 1 << 16)))
    cells: dict[Any, list[int]] = {}
    for unit in range(len(here.rows)):
        cells.setdefault(task.cell(unit), []).append(unit)
    share = draw(st.sampled_from([0.1, 0.5, 1]))
    kept: dict[int, tuple[Any, Any]] = {}
    for unit, own in enumerate(task.records):
        other = task.records[dice.choice(cells[task.cell(unit)])]
        corner = [b if dice.random() < 0.6 else a for a, b in zip(own, other, strict=True)]
        if dice.random() < share:
            kept[unit] = tuple(map(min, own, corner)), tuple(map(max, own, corner))
    corners = [kept.get(unit, (own, own)) for unit, own in enumerate(task.records)]
    order = np.argsort(here.microdata.index_order)
    lo, hi = (np.array([pair[end] for pair in corners], np.int64)[:, order] for end in (0, 1))
    return replace(here, task=replace(task, kept=kept)), KeptBoxes(lo, hi, np.full(lo.shape, -1))


@pytest.mark.parametrize("kind", ["k", "p", "alpha"])
@given(data=st.data())
@examples(30)
def test_a_change_to_coarser_clusters_that_keep_their_boxes(kind: str, data: st.DataObject) -> None:
    whole = data.draw(wholes(kind, persons=data.draw(st.booleans())))
    here, placed, used = data.draw(changes(whole))
    here, boxes = data.draw(keeping(here, whole.keep_limits))
    change = only_coarser(here.microdata, here.plan, here.cluster_of(placed), used, boxes)
    expected, held_back = naive.change_only_coarser(here.task, here.clusters(placed), used)
    agree(here, change, expected, held_back, used)


# ---- less loss ---------------------------------------------------------------------------------------------


def compare_optimized(here: Live, placed: Placed, used: int) -> Change:
    """Hold IL_Optimization to the naive reference; returns it."""
    change = optimize(here.microdata, here.plan, here.cluster_of(placed), used, passes=0)
    assert here.clusters(here.placed(change)) == naive.optimize(here.task, here.clusters(placed))
    assert change.used == used
    return change


@pytest.mark.parametrize("kind", ["k", "p", "alpha", "entropy"])
@given(data=st.data())
@examples(18)
def test_il_optimization_is_that_of_the_naive_reference(kind: str, data: st.DataObject) -> None:
    whole = data.draw(wholes(kind, persons=data.draw(st.booleans())))
    here = live(whole, range(whole.size))
    compare_optimized(here, *data.draw(clusters_of(here)))


@pytest.mark.parametrize("kind", ["k", "alpha"])
@given(data=st.data())
@examples(8)
def test_il_optimization_with_many_clusters(kind: str, data: st.DataObject) -> None:
    whole = data.draw(wholes(kind, wide=True))
    here = live(whole, range(whole.size))
    compare_optimized(here, *data.draw(clusters_of(here)))


def check_search(here: Live, placed: Placed, used: int) -> None:
    """The search for less loss finds it, loses nobody, and every cluster still holds and is within the limits."""
    task = here.task
    paper, search = (optimize(here.microdata, here.plan, here.cluster_of(placed), used, passes) for passes in (0, 5))
    after = here.clusters(here.placed(search))
    assert sorted(here.placed(search)) == sorted(placed)
    loss = naive.total_loss(task, after)
    assert loss <= naive.total_loss(task, here.clusters(here.placed(paper)))
    if sum(search.steps.values()) == 0:
        assert here.placed(search) == placed
    else:
        assert loss < naive.total_loss(task, here.clusters(placed))
    for number, units in after.items():
        assert task.holds(units)
        assert task.is_allowed(units)
        assert len({task.cell(unit) for unit in units}) == 1
        assert number in placed.values() or used <= number < search.used


@pytest.mark.parametrize("kind", ["k", "p", "alpha", "recursive", "ordered", "mixed"])
@given(data=st.data())
@examples(18)
def test_the_search_for_less_loss_keeps_every_promise(kind: str, data: st.DataObject) -> None:
    whole = data.draw(wholes(kind, persons=data.draw(st.booleans()), wide=data.draw(st.integers(0, 3)) == 0))
    here = live(whole, range(whole.size))
    check_search(here, *data.draw(clusters_of(here, holding=True)))


@given(data=st.data())
@examples(18)
def test_the_search_for_less_loss_keeps_widths_that_cost_little(data: st.DataObject) -> None:
    dice, k = Random(data.draw(st.integers(0, 1 << 16))), data.draw(st.integers(2, 4))
    narrow = {"intervals": "free", "weight": "0.1", "limit": {"width": data.draw(st.integers(1, 5))}}
    attributes = {"c0": {"intervals": "free", "weight": 1}, "c1": narrow}
    values = {name: [dice.randrange(13) for _ in range(10 * k)] for name in attributes}
    asked = {name: {"role": "quasi-identifier", **attribute} for name, attribute in attributes.items()}
    here = live(Whole(Diverse(Case(asked, values, k, 0), [], {"k": k}, None, "increase")), range(10 * k))
    change = maintain(here.microdata, here.plan, here.cluster_of({}), 0)
    check_search(here, here.placed(change), change.used)


def test_the_search_for_less_loss_with_single_records_that_cost() -> None:
    asked = {"role": "quasi-identifier", "intervals": "free", "weight": 1, "snap": 5}
    values = {"c0": [1, 7, 12, 13, 38, 44]}
    here = live(Whole(Diverse(Case({"c0": asked}, values, 2, 0), [], {"k": 2}, None, "increase")), range(6))
    change = optimize(here.microdata, here.plan, here.cluster_of({0: 0, 1: 1, 2: 1, 3: 1, 4: 2, 5: 3}), 4)
    assert change.cluster_of.tolist() == [0, 0, 1, 1, 2, 3]
