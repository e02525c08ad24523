"""The audit equals plain sets and brute force on small histories, however the events are ordered."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.maintenance.audit.audit import AskedOfPeople, Audit, audit
from hedgerow.maintenance.audit.flow import RowsInCells, components_of
from hedgerow.maintenance.audit.history import History, build_history
from hedgerow.maintenance.audit.kept import KeptAudit
from tests.naive import audit as naive

TREE = {
    "a1": ("a1", "a", "all"),
    "a2": ("a2", "a", "all"),
    "b1": ("b1", "b", "all"),
    "b2": ("b2", "b", "all"),
    "c": ("c", "all"),
    "?": ("?",),
}
CELLS = ["flu", "cold", None]


# ---- histories -------------------------------------------------------------------------------------------


@dataclass
class Published:
    """A history as the naive audit knows it, and the people who were erased from it."""

    versions: list[naive.Version]
    sensitive: int

    def events(self, seed: int) -> tuple[pa.Table, pa.Table, pa.Table, list[str]]:
        """What a store would hold: only what changed, here in any order."""
        groups: list[tuple[Any, ...]] = []
        places: list[tuple[Any, ...]] = []
        values: list[tuple[Any, ...]] = []
        shown: dict[int, Any] = {}
        at: dict[Any, int] = {}
        has: dict[Any, Any] = {}
        for number, version in enumerate(self.versions, start=3):
            for group in sorted(shown.keys() | version.regions.keys()):
                rows = version.rows.get(group, [])
                counts = [[list(vector), n] for vector, n in Counter(rows).items()]
                state = (len(rows), sorted(map(repr, counts)))
                if shown.get(group, (0, [])) != state:
                    region = json.dumps([as_json(entry) for entry in version.regions.get(group, ())])
                    if not rows:
                        region = json.dumps([None] * len(next(iter(self.versions[0].regions.values()))))
                    groups.append((number, group, "", region, len(rows), json.dumps(counts)))
                    shown[group] = state
            for key in sorted(at.keys() | version.places.keys()):  # type: ignore[type-var]
                group, vector = version.places.get(key, (-1, None))
                if at.get(key, -1) != group:
                    places.append((number, key, group, group))
                    at[key] = group
                if vector is not None and has.get(key) != vector:
                    values.append((number, key, json.dumps(list(vector))))
                    has[key] = vector
        for events in (groups, places, values):
            random.Random(seed).shuffle(events)
        return (
            table(groups, ["version", "number", "shown", "region", "size", "counts"]),
            table(places, ["version", "key", "cluster", "group_number"]),
            table(values, ["version", "key", "values"]),
            [f"sensitive {j}" for j in range(self.sensitive)],
        )

    def history(self, seed: int = 0) -> History:
        return build_history(*self.events(seed))


def table(rows: list[tuple[Any, ...]], names: list[str]) -> pa.Table:
    columns = zip(*rows, strict=True) if rows else [[] for _ in names]
    kinds = [pa.string() if name in {"key", "shown", "region", "counts", "values"} else pa.int64() for name in names]
    return pa.table([pa.array(list(column), kind) for column, kind in zip(columns, kinds, strict=True)], names)


def as_json(entry: Any) -> Any:
    if entry is None:
        return None
    if entry[0] == "interval":
        return [str(entry[1]), f"{entry[2]}.0"]
    return {"path": list(entry[1:])}


def hull(kind: str, cells: list[Any], wider: int) -> Any:
    """A published value that covers these; a little wider than need be, where told."""
    if kind == "free":
        return None if cells[0] is None else ("interval", min(cells) - wider % 2, max(cells) + wider // 2)
    paths = [TREE[cell][::-1] for cell in cells]
    depth = 0
    while all(len(path) > depth and path[depth] == paths[0][depth] for path in paths):
        depth += 1
    return ("node", *reversed(paths[0][: max(1, depth - wider % 2)]))


@st.composite
def published(draw: st.DrawFn, most: int = 7, versions: int = 4, steady: bool = False) -> Published:
    """Small histories; ``steady`` ones have no change but one kind of coming or going."""
    kinds = draw(st.lists(st.sampled_from(["free", "tree"]), min_size=1, max_size=2))
    sensitive = draw(st.integers(0, 2))
    cell = st.sampled_from(CELLS[: draw(st.integers(2, 3))])
    vectors = st.tuples(*[cell] * sensitive)
    profiles = st.tuples(
        *[st.sampled_from([0, 1, 2, 3, 5, None] if kind == "free" else sorted(TREE)) for kind in kinds]
    )
    keys = [f"p{i}" for i in range(draw(st.integers(1, most)))]
    erased = set() if draw(st.booleans()) else {key for key in keys if draw(st.integers(0, 5)) == 0}
    profile, vector = {key: draw(profiles) for key in keys}, {key: draw(vectors) for key in keys}
    present = {key for key in keys if draw(st.booleans())}
    numbers: dict[Any, int] = {}
    label = dict.fromkeys(keys, 0)
    made = []
    for _ in range(draw(st.integers(1, versions))):
        verb = draw(st.sampled_from(["insert", "delete"] if steady else ["insert", "delete", "any", "none"]))
        for key in keys:
            if draw(st.integers(0, 3)) == 0:
                if verb in {"insert", "any"}:
                    present.add(key)
                if verb == "delete" or (verb == "any" and draw(st.booleans())):
                    present.discard(key)
            if verb == "any" and draw(st.integers(0, 5)) == 0:
                vector[key] = draw(vectors)
            if verb == "any" and draw(st.integers(0, 7)) == 0:
                profile[key] = draw(profiles)
        if draw(st.booleans()):
            label = {key: draw(st.integers(0, 2)) for key in keys}
        wider = draw(st.integers(0, 3))
        together: dict[Any, list[str]] = {}
        for key in sorted(present):
            # a missing free value is published as missing, so it is in a group with none but such
            gaps = tuple(cell is None for cell in profile[key])
            together.setdefault((label[key], gaps), []).append(key)
        regions, rows, places = {}, {}, {}
        for members in together.values():
            region = tuple(hull(kind, [profile[key][j] for key in members], wider) for j, kind in enumerate(kinds))
            number = numbers.setdefault(region, len(numbers))
            regions[number] = region
            rows.setdefault(number, []).extend(vector[key] for key in members)
            places |= {key: (number, vector[key]) for key in members if key not in erased}
        made.append(naive.Version(regions, rows, places))
    if not any(version.regions for version in made):
        key, members = keys[0], [profile[keys[0]][j] for j in range(len(kinds))]
        region = tuple(hull(kind, [members[j]], 0) for j, kind in enumerate(kinds))
        made.append(naive.Version({0: region}, {0: [vector[key]]}, {key: (0, vector[key])}))
    # the first version has groups, so that the number of quasi-identifiers is known
    while not made[0].regions:
        made.pop(0)
    return Published(made, sensitive)


# ---- comparison ------------------------------------------------------------------------------------------


def compare(given_: Published, k: int, p: list[int], alpha: list[float | None], seed: int) -> Audit:
    versions, columns = given_.versions, given_.sensitive
    history = given_.history(seed)
    found = audit(history, k, p, alpha)
    known = sorted(naive.people(versions))  # type: ignore[type-var]
    position = {key: at for at, key in enumerate(history.keys)}
    assert known == [key for key in history.keys if found.published[position[key]]]
    failing = set()
    for key in known:
        at = position[key]
        values = [naive.values_left(versions, key, j) for j in range(columns)]
        left = naive.people_left(versions, key)
        share = [naive.confidence(versions, key, j) for j in range(columns)]
        assert found.values_left[at].tolist() == values
        assert found.people_left[at] == left
        assert np.allclose(found.confidence[at], [float(one) for one in share], rtol=0, atol=1e-12)
        assert found.class_people[at] == len(naive.history_class(versions, key))
        assert found.class_values[at].tolist() == [naive.class_values(versions, key, j) for j in range(columns)]
        certain = any(limit is not None and one > limit + 1e-12 for one, limit in zip(share, alpha, strict=True))
        if left < k or certain or any(one < least for one, least in zip(values, p, strict=True)):
            failing.add(key)
    assert {history.keys[at] for at in np.flatnonzero(found.intersected)} == failing

    came, left_, differ, unknown = set(), set(), set(), 0
    least: dict[str, list[int]] = {"newcomers": [], "leavers": []}
    groups: set[int] = {place[0] for key, place in versions[-1].places.items() if key in failing}
    for old, new in pairwise(versions):
        one, one_least = naive.newcomers(old, new, k, p)
        other, other_least = naive.leavers(old, new, k, p)
        third, nobody, shown = naive.difference(old, new, k, p)
        came, left_, differ, unknown = came | one, left_ | other, differ | third, unknown + nobody
        least["newcomers"] += [] if one_least is None else [one_least]
        least["leavers"] += [] if other_least is None else [other_least]
        if new is versions[-1]:
            groups |= shown | {new.places[key][0] for key in one}
            for key in other:
                region = old.regions[old.places[key][0]]
                groups |= {
                    number
                    for number in new.regions
                    if naive.changed_group(old, new, number) and naive.overlap(region, new.regions[number])
                }
    for kind, expected in (("newcomers", came), ("leavers", left_), ("difference", differ)):
        assert {history.keys[at] for at in np.flatnonzero(found.failing_by(kind))} == expected, kind
    facts = found.to_dict()
    assert facts["newcomers"]["least"] == min(least["newcomers"], default=None)
    assert facts["leavers"]["least"] == min(least["leavers"], default=None)
    assert {history.keys[at] for at in np.flatnonzero(found.failing)} == failing | came | left_ | differ
    assert found.leaks == facts["leaks"] == len(failing | came | left_ | differ) + unknown
    last = len(versions) + 2
    if any(version.number == last for version in history.versions):
        assert set(found.failing_groups(last).tolist()) == groups
    json.dumps(facts)
    return found


asked = st.tuples(
    st.integers(1, 3),
    st.lists(st.integers(0, 2), min_size=2, max_size=2),
    st.lists(st.sampled_from([None, 0.5, 0.7]), min_size=2, max_size=2),
)


@settings(max_examples=140)
@given(given_=published(), wanted=asked, seed=st.integers(0, 3))
def test_the_audit_equals_plain_sets_and_brute_force(given_: Published, wanted: Any, seed: int) -> None:
    k, p, alpha = wanted
    compare(given_, k, p[: given_.sensitive], alpha[: given_.sensitive], seed)


@settings(max_examples=140)
@given(given_=published(most=8, versions=3, steady=True), wanted=asked, seed=st.integers(0, 3))
def test_newcomers_and_leavers_equal_trying_every_assignment(given_: Published, wanted: Any, seed: int) -> None:
    k, p, alpha = wanted
    compare(given_, k, p[: given_.sensitive], alpha[: given_.sensitive], seed)


@st.composite
def regrouped(draw: st.DrawFn) -> Published:
    """People in a row, cut into groups of neighbours twice, a few of them in one version only."""
    chance = random.Random(draw(st.integers(0, 2**32)))
    people = [(chance.randrange(draw(st.sampled_from([6, 12, 20]))), (chance.choice("abc"),)) for _ in range(10)]
    stayed, all_ = draw(st.integers(3, 7)), draw(st.integers(8, 10))
    erased = {chance.randrange(10)} if draw(st.integers(0, 3)) == 0 else set()
    numbers: dict[Any, int] = {}

    def cut(members: list[int]) -> naive.Version:
        members = sorted(members, key=lambda i: people[i][0] + chance.random() * chance.choice([0, 2, 4]))
        version = naive.Version({}, {}, {})
        while members:
            size = chance.choice([1, 2, 2, 3])
            together, members = members[:size], members[size:]
            region = (hull("free", [people[i][0] for i in together], 0),)
            number = numbers.setdefault(region, len(numbers))
            version.regions[number] = region
            version.rows.setdefault(number, []).extend(people[i][1] for i in together)
            version.places.update({f"p{i}": (number, people[i][1]) for i in together if i not in erased})
        return version

    gone = erased if draw(st.booleans()) else set()  # nobody knows that they left, but the rows may show it
    versions = [cut(list(range(stayed))), cut([i for i in range(all_) if i not in gone])]
    return Published(versions[:: draw(st.sampled_from([1, -1]))], 1)


@settings(max_examples=220)
@given(given_=regrouped(), k=st.integers(2, 4), p=st.integers(0, 3))
def test_rows_that_make_room_for_one_another_are_found(given_: Published, k: int, p: int) -> None:
    compare(given_, k, [p], [None], 0)


@settings(max_examples=220)
@given(seed=st.integers(0, 2**32), known=st.booleans())
def test_rows_are_placed_elsewhere_as_brute_force_does(seed: int, known: bool) -> None:
    """One vector: whether all old rows have a place, and how many can leave each new group."""
    chance = random.Random(seed)
    regions = {
        number: (("interval", low, low + chance.randrange(4)),)
        for number, low in enumerate(chance.choices(range(10), k=10))
    }
    old = naive.Version({n: regions[n] for n in range(5)}, {n: [()] * chance.randrange(1, 3) for n in range(5)}, {})
    new = naive.Version(
        {n: regions[n] for n in range(5, 10)}, {n: [()] * chance.randrange(1, 4) for n in range(5, 10)}, {}
    )
    ways = list(naive.assignments(old, new, ()))
    links = Counter(chance.choice(ways)) if ways and known else Counter()
    for pair in list(links):
        if chance.randrange(3) == 0:
            del links[pair]  # where these rows went is not known
    ends = [np.array([[regions[n][0][end] for n in range(10)]]).T for end in (1, 2)]
    rows, room = (np.array([len(version.rows[n]) for n in version.rows]) for version in (old, new))
    link_old, link_new = (np.array([pair[side] - 5 * side for pair in links], np.int64) for side in (0, 1))
    one, other = np.zeros(5, np.int64), np.arange(5)
    placed = RowsInCells(
        ends[0][:5],
        ends[1][:5],
        other,
        one,
        rows,
        ends[0][5:],
        ends[1][5:],
        other,
        one,
        room,
        link_old,
        link_new,
        np.array([*links.values()], np.int64),
    )
    no_codes = np.zeros((1, 0), np.int64)
    assert (placed.hidden(other, no_codes, 1, ()) is not None) == bool(ways)
    if ways:
        fewest = [min(sum(at == group + 5 for _, at in way) for way in ways) for group in range(5)]
        exact = [len(new.rows[group + 5]) - fewest[group] for group in range(5)]
        for enough in (100, 1, 2):
            left = placed.hidden(np.append(other, other), no_codes, enough, ())  # asking leaves no trace
            assert left is not None
            assert left[0].tolist() == [min(one, enough) for one in (*exact, *exact)]


@settings(max_examples=80)
@given(given_=published(versions=6), wanted=asked, seed=st.integers(0, 3))
def test_an_audit_put_on_top_of_the_last_one_finds_what_one_from_the_beginning_does(
    given_: Published, wanted: Any, seed: int
) -> None:
    """After every version, written down and read again in between."""
    k, p, alpha = wanted
    groups, places, values, names = given_.events(seed)
    asked_ = AskedOfPeople.of(k, p[: len(names)], alpha[: len(names)], len(names))
    kept = KeptAudit.empty(names)
    first, last = 3, len(given_.versions) + 2
    for number in range(first, last + 1):
        upto, now = (
            [events.filter(compare(events["version"], number)) for events in (groups, places, values)]
            for compare in (pc.less_equal, pc.equal)
        )
        packed = kept.pack()
        kept = KeptAudit.unpack(packed)  # type: ignore[assignment]
        assert kept.pack() == packed
        kept, found = kept.after(number, (now[0], now[1], now[2]), asked_)
        whole = audit(build_history(upto[0], upto[1], upto[2], names), k, asked_.p, asked_.alpha)
        facts, expected = found.to_dict(), whole.to_dict()
        assert {**facts, "versions": 0} == {**expected, "versions": 0}
        if whole.shown[-1].number == number:  # something happened in it
            assert found.failing_groups(number).tolist() == whole.failing_groups(number).tolist()
        ids = {key: at for at, key in enumerate(found.past.keys.to_pylist())}
        at = [ids[key] for key in whole.past.keys.to_pylist()]
        for name in (
            "published",
            "values_left",
            "people_left",
            "confidence",
            "class_people",
            "class_values",
            "failing",
        ):
            assert getattr(found, name)[at].tolist() == getattr(whole, name).tolist(), name


# ---- what is left bounds what is possible ----------------------------------------------------------------


@settings(max_examples=140)
@given(given_=published(most=7, versions=2, steady=True))
def test_no_reader_is_left_with_more_than_the_audit_says(given_: Published) -> None:
    """What the audit says is left holds at least all that is possible; a reader who links rows may have less."""
    for old, new in pairwise(given_.versions):
        for one, other in ((old, new), (new, old)):
            if naive.only_came(one, other):
                for key in one.places:
                    possible = naive.together(one, other, key)
                    assert possible <= naive.surviving([one, other], key)
                    assert possible[one.places[key][1]] >= 1


# ---- boxes -----------------------------------------------------------------------------------------------


@settings(max_examples=30)
@given(seed=st.integers(0, 10_000), number=st.integers(0, 700), columns=st.integers(0, 3), width=st.integers(0, 40))
def test_boxes_meet_as_all_pairs_say(seed: int, number: int, columns: int, width: int) -> None:
    random_ = np.random.default_rng(seed)
    lo, others = random_.integers(0, 200, (number, columns)), random_.integers(0, 200, (40, columns))
    hi = lo + random_.integers(0, width + 1, (number, columns))
    others_hi = others + random_.integers(0, width + 1, (40, columns))
    meets = ((lo[:, None] <= others_hi) & (hi[:, None] >= others)).all(axis=2)
    seeds = np.arange(0, number, 7)
    in_lo, in_others = components_of(lo, hi, others, others_hi, seeds, np.arange(3))
    assert (in_lo[seeds] >= 0).all()
    one, other = np.nonzero(meets)
    assert (in_lo[one] == in_others[other]).all()
    for part in range(int(max(in_lo.max(initial=-1), in_others.max(initial=-1))) + 1):
        mine, theirs = np.flatnonzero(in_lo == part), np.flatnonzero(in_others == part)
        reached = {("old", int(mine[0]))} if len(mine) else {("new", int(theirs[0]))}
        waiting = list(reached)
        while waiting:
            side, at = waiting.pop()
            found = (
                {("new", int(i)) for i in np.flatnonzero(meets[at])}
                if side == "old"
                else {("old", int(i)) for i in np.flatnonzero(meets[:, at])}
            )
            waiting += sorted(found - reached)
            reached |= found
        assert len(reached) == len(mine) + len(theirs)
