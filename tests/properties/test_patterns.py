"""Trees, query errors and distances equal the naive reference on generated tables."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.evaluation.patterns import (
    DecisionTree,
    LabelFeature,
    Node,
    OrderedFeature,
    Target,
    distances,
    draw_queries,
    grow,
    query_error,
    raw_features,
    released_features,
)
from hedgerow.microdata import FreeColumn, Microdata, Table, TreeColumn, encode_table, read_table
from hedgerow.microdata.recoding import Recoding
from hedgerow.plan import Plan
from tests.naive import patterns as naive

# -- trees on features that are given ----------------------------------------------------------------------------------


def plain(tree: DecisionTree, node: Node) -> dict[str, Any]:
    """A tree in the form of the reference."""
    found: dict[str, Any] = {"counts": node.counts}
    if node.split is not None:
        split = node.split
        what = {"labels": split.labels} if split.threshold is None else {"threshold": Fraction(split.threshold)}
        found["split"] = {"column": split.column, "end": split.end, **what, "overlap": split.overlap}
        assert node.yes is not None
        assert node.no is not None
        found["yes"], found["no"] = plain(tree, node.yes), plain(tree, node.no)
    return found


@st.composite
def observed(draw: st.DrawFn) -> tuple[list[Any], Target]:
    rows = draw(st.integers(1, 14))
    numbers = st.integers(0, 5)
    features: list[Any] = []
    for i in range(draw(st.integers(1, 3))):
        if draw(st.booleans()):
            lower = np.array(draw(st.lists(numbers, min_size=rows, max_size=rows)))
            wider = np.array(draw(st.lists(st.integers(0, 3), min_size=rows, max_size=rows)))
            upper = lower if draw(st.booleans()) else lower + wider
            features.append(OrderedFeature(f"c{i}", lower, upper, draw(st.sampled_from([0, 1]))))
        else:
            codes = np.array(draw(st.lists(st.integers(0, 4), min_size=rows, max_size=rows)))
            features.append(LabelFeature(f"c{i}", tuple("abcde"), codes))
    classes = tuple("xyz"[: draw(st.integers(1, 3))])
    target = np.array(draw(st.lists(st.integers(0, len(classes) - 1), min_size=rows, max_size=rows)))
    counts = np.array(draw(st.lists(st.integers(1, 4), min_size=rows, max_size=rows)))
    return features, Target("t", classes, target, counts)


def expanded(features: Any, target: Target) -> tuple[list[naive.Feature], list[str]]:
    """The same as single records in plain lists."""
    rows = np.repeat(np.arange(len(target.codes)), target.counts).tolist()
    lists: list[naive.Feature] = []
    for feature in features:
        if isinstance(feature, OrderedFeature):
            unit = 10**feature.decimals
            low, high = feature.lower.tolist(), feature.upper.tolist()
            lists.append(
                (feature.name, "ordered", [(Fraction(low[row], unit), Fraction(high[row], unit)) for row in rows])
            )
        else:
            lists.append((feature.name, "label", [feature.labels[feature.codes[row]] for row in rows]))
    return lists, [target.classes[target.codes[row]] for row in rows]


@given(given=observed(), depth=st.integers(0, 4), smallest=st.integers(1, 6))
@settings(max_examples=220)
def test_same_tree_split_by_split(given: tuple[list[Any], Target], depth: int, smallest: int) -> None:
    features, target = given
    tree = grow(features, target, depth, smallest)
    lists, labels = expanded(features, target)
    assert plain(tree, tree.root) == naive.tree(lists, labels, target.classes, depth, smallest)
    assert sum(leaf.size for leaf in tree.leaves()) == target.records


@given(given=observed(), data=st.data())
def test_order_and_weight_of_rows_do_not_matter(given: tuple[list[Any], Target], data: st.DataObject) -> None:
    """Rows in another order, or each as often as it counts, give the same tree."""
    features, target = given
    tree = grow(features, target, 3, 1)
    rows = np.array(data.draw(st.permutations(np.repeat(np.arange(len(target.codes)), target.counts).tolist())))
    shuffled: list[Any] = [
        OrderedFeature(f.name, f.lower[rows], f.upper[rows], f.decimals)
        if isinstance(f, OrderedFeature)
        else LabelFeature(f.name, f.labels, f.codes[rows])
        for f in features
    ]
    single = Target("t", target.classes, target.codes[rows], np.ones(len(rows), np.int64))
    assert grow(shuffled, single, 3, 1).to_dict() == tree.to_dict()


# -- tables and releases of them -------------------------------------------------------------------------------------------

LABELS = {"*": {"north": ["n1", "n2", "n3"], "south": {"coast": ["s1", "s2"], "hills": ["s3"]}, "sea": None}}
DIGITS = {"all": {"odd": ["1", "3", "5"], "even": {"2": None, "6-9": ["8", "6"]}, "4": None}}
KINDS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "free": ({"intervals": "free"}, [str(n) for n in range(0, 24, 3)]),
    "fractions": ({"intervals": "free"}, ["0.5", "1", "1.25", "2", "3.5"]),
    "snapped": ({"intervals": "free", "snap": 5}, [str(n) for n in range(0, 24, 3)]),
    "half-open": ({"intervals": "free", "snap": "0.5"}, ["0.5", "0.7", "1", "1.2", "2", "3.5"]),
    "bands": ({"hierarchy": {"bands": [5, 10]}}, [str(n) for n in range(0, 24, 3)]),
    "tree": ({"hierarchy": {"tree": LABELS}}, ["n1", "n2", "n3", "s1", "s2", "s3", "sea"]),
    "numeric tree": ({"hierarchy": {"tree": DIGITS}}, ["1", "2", "3", "4", "5", "6", "8"]),
    "flat": ({}, ["a", "b", "c", "d"]),
    "flat numbers": ({}, ["1", "2", "10"]),
}
UNDER = {
    "tree": {
        "*": {"n1", "n2", "n3", "s1", "s2", "s3", "sea", None},
        "north": {"n1", "n2", "n3"},
        "south": {"s1", "s2", "s3"},
        "coast": {"s1", "s2"},
        "hills": {"s3"},
    },
    "numeric tree": {
        "all": {"1", "2", "3", "4", "5", "6", "8", None},
        "odd": {"1", "3", "5"},
        "even": {"2", "6", "8"},
        "6-9": {"6", "8"},
    },
}


@dataclass(frozen=True)
class Given:
    """A table, a release of it, and what the columns are."""

    kinds: list[str]
    rows: dict[str, list[str | None]]
    plan: Plan
    table: Table
    microdata: Microdata
    recoding: Recoding

    def record(self, unit: int) -> int:
        return int(self.microdata.record_of[unit])

    def present(self, place: int) -> set[str]:
        return {value for value in self.rows[f"c{place}"] if value is not None}

    def published(self, unit: int) -> list[str | None]:
        """What is published of a unit, as text."""
        group = self.recoding.group_of[unit]
        return [column[group] for column in self.recoding.labels(self.microdata)]

    def is_suppressed(self, unit: int, place: int) -> bool:
        return not self.recoding.shows(place)[self.recoding.group_of[unit]]


@st.composite
def releases(draw: st.DrawFn, missing: bool = True, suppress: bool = True) -> Given:
    records = draw(st.integers(2, 14))
    kinds = draw(st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=3))
    rows: dict[str, list[str | None]] = {}
    attributes: dict[str, Any] = {}
    for place, kind in enumerate(kinds):
        asked, values = KINDS[kind]
        attributes[f"c{place}"] = {"role": "quasi-identifier", **asked}
        some: Any = st.sampled_from([*values, None] if missing else values)
        column = draw(st.lists(some, min_size=records, max_size=records))
        rows[f"c{place}"] = [draw(st.sampled_from(values)), *column[1:]]  # a column needs a value
    attributes["t"] = "other"
    rows["t"] = draw(st.lists(st.sampled_from(["no", "yes", None]), min_size=records, max_size=records))
    plan = Plan.from_dict({"attributes": attributes, "privacy": {"k": 2}})
    table = read_table(pa.table({name: pa.array(column, pa.string()) for name, column in rows.items()}), plan)
    microdata = encode_table(table, plan)
    return Given(kinds, rows, plan, table, microdata, draw(recodings(microdata, suppress)))


@st.composite
def recodings(draw: st.DrawFn, microdata: Microdata, suppress: bool) -> Recoding:
    """Any groups at all, some records withheld, some cells suppressed; missing free numbers stay among their own."""
    units = len(microdata.record_of)
    asked = draw(st.lists(st.integers(-1, 3), min_size=units, max_size=units))
    keys = []
    for unit in range(units):
        profile = microdata.profile_of_unit[unit]
        apart = tuple(
            isinstance(column, FreeColumn) and int(microdata.codes(place)[profile]) == column.missing_code
            for place, column in enumerate(microdata.columns)
        )
        keys.append(None if asked[unit] < 0 else (asked[unit], apart))
    numbers = {key: number for number, key in enumerate(sorted({key for key in keys if key is not None}))}
    group_of = np.array([-1 if key is None else numbers[key] for key in keys], np.int64)
    width = len(microdata.columns)
    lo, hi = np.zeros((len(numbers), width), np.int64), np.zeros((len(numbers), width), np.int64)
    for place in range(width):
        codes = microdata.codes(place)[microdata.profile_of_unit].astype(np.int64)
        for number in range(len(numbers)):
            lo[number, place] = codes[group_of == number].min()
            hi[number, place] = codes[group_of == number].max()
    recoding = Recoding.of_boxes(microdata, group_of, lo, hi)
    if suppress and draw(st.booleans()):
        cells = draw(st.lists(st.booleans(), min_size=units * width, max_size=units * width))
        recoding = recoding.hiding(np.array(cells).reshape(units, width))
    return recoding


def grid_range(value: Fraction, step: Fraction, unit: Fraction) -> tuple[Fraction, Fraction]:
    start = value // step * step
    return start, start + step - unit


def numbers_of(given: Given, place: int) -> tuple[Fraction, Fraction, Fraction]:
    """Least and greatest number that the column could publish, and the step between numbers."""
    kind, values = given.kinds[place], [Fraction(value) for value in given.present(place)]
    if kind == "snapped":
        return (
            grid_range(min(values), Fraction(5), Fraction(1))[0],
            grid_range(max(values), Fraction(5), Fraction(1))[1],
            Fraction(1),
        )
    if kind == "half-open":
        unit, step = Fraction(1, 10), Fraction(1, 2)
        return grid_range(min(values), step, unit)[0], grid_range(max(values), step, unit)[1], unit
    if kind == "fractions":
        places = max((len(value.partition(".")[2]) for value in given.present(place)), default=0)
        return min(values), max(values), Fraction(1, 10**places)
    return min(values), max(values), Fraction(1)


def number_range(given: Given, place: int, label: str | None) -> tuple[Fraction, Fraction]:
    """Least and greatest number of a published text, read as a person would; None or a root is any number."""
    least, greatest, unit = numbers_of(given, place)
    if given.kinds[place] == "numeric tree":
        if label in (None, "all"):
            return Fraction(1), Fraction(8)
        named = {"odd": (1, 5), "even": (2, 9), "6-9": (6, 9)}.get(str(label))
        return (Fraction(named[0]), Fraction(named[1])) if named else (Fraction(str(label)),) * 2
    if label is None or label == "*":
        return least, greatest
    if label.startswith("["):
        low, high = (Fraction(part) for part in label[1:-1].split(","))
        return low, high - unit if label.endswith(")") else high
    parts = label.split("-")
    return Fraction(parts[0]), Fraction(parts[-1])


def covered(given: Given, place: int, label: str | None, suppressed: bool, numbers: bool) -> set[Any]:
    """What a published text may stand for: numbers (if asked) of free intervals, else values of the domain."""
    kind = given.kinds[place]
    if kind in ("free", "fractions", "snapped", "half-open"):
        if label is None and not suppressed:
            return set() if numbers else {None}
        low, high = number_range(given, place, label)
        if numbers:
            unit = numbers_of(given, place)[2]
            return {low + unit * i for i in range(int((high - low) / unit) + 1)}
        return {
            step
            for step in (domain_value(given, place, value) for value in given.present(place))
            if low <= step <= high
        }
    everything: set[Any] = (
        set(UNDER[kind].get("*", UNDER[kind].get("all", set()))) if kind in UNDER else set(given.present(place))
    )
    everything |= {None}
    if None not in given.rows[f"c{place}"]:
        everything -= {None}
    if suppressed or label in ("*", "all"):
        return everything
    if label is None:
        return {None}
    if kind in UNDER:
        return UNDER[kind].get(label, {label})  # type: ignore[return-value]
    if kind == "bands":
        low, high = number_range(given, place, label)
        return {value for value in everything if value is not None and low <= Fraction(value) <= high}
    return {label}


def domain_value(given: Given, place: int, value: str | None) -> Any:
    """The value of the domain that a record has: a number of free intervals, the start of its step on a grid."""
    kind = given.kinds[place]
    if value is None or kind not in ("free", "fractions", "snapped", "half-open"):
        return value
    if kind == "snapped":
        return Fraction(value) // 5 * 5
    if kind == "half-open":
        return Fraction(value) // Fraction(1, 2) * Fraction(1, 2)
    return Fraction(value)


ORDERED = {"free", "fractions", "snapped", "half-open", "bands", "numeric tree", "flat numbers"}


def text_features(given: Given, units: list[int], released: bool) -> list[naive.Feature]:
    """The features of units from text: what the table has, or what is published."""
    found: list[naive.Feature] = []
    for place, kind in enumerate(given.kinds):
        texts = [given.published(u)[place] if released else given.rows[f"c{place}"][given.record(u)] for u in units]
        if kind in ORDERED:
            values: list[Any] = []
            for text in texts:
                if text is None and not released:  # any number of the table
                    numbers = [Fraction(value) for value in given.present(place)]
                    whole = (Fraction(1), Fraction(8)) if kind == "numeric tree" else (min(numbers), max(numbers))
                    values.append(whole)
                elif not released:
                    values.append((Fraction(str(text)),) * 2)
                else:
                    values.append(number_range(given, place, text))
            found.append((f"c{place}", "ordered", values))
        else:
            found.append((f"c{place}", "label", ["missing" if text is None else text for text in texts]))
    return found


@given(given=releases(), smallest=st.integers(1, 3))
@settings(max_examples=165)
def test_same_tree_from_the_table_and_from_what_is_published(given: Given, smallest: int) -> None:
    targets = given.rows["t"]
    known = [u for u in range(len(given.microdata.record_of)) if targets[given.record(u)] is not None]
    classes = tuple(sorted({value for value in targets if value is not None}))
    for released in (False, True):
        units = [u for u in known if not released or given.recoding.group_of[u] >= 0]
        if released:
            features, target = released_features(given.table, given.plan, given.microdata, given.recoding, "t")
            withheld = int((given.recoding.group_of < 0).sum())
            assert target.left_out["withheld"] == withheld
        else:
            features, target = raw_features(given.table, given.plan, given.microdata, "t")
        assert target.records == len(units)
        assert target.classes == classes
        labels = [str(targets[given.record(u)]) for u in units]
        tree = grow(features, target, 3, smallest)
        assert plain(tree, tree.root) == naive.tree(text_features(given, units, released), labels, classes, 3, smallest)


@given(given=releases(), data=st.data())
@settings(max_examples=110)
def test_a_quasi_identifier_as_target(given: Given, data: st.DataObject) -> None:
    """Records whose target is published as more than one value are left out and counted."""
    place = data.draw(st.integers(0, len(given.kinds) - 1))
    name, kind = f"c{place}", given.kinds[place]
    if kind in ("snapped", "half-open"):  # a step of the grid is a value there
        return
    _, raw = raw_features(given.table, given.plan, given.microdata, name)
    features, target = released_features(given.table, given.plan, given.microdata, given.recoding, name)
    assert name not in [feature.name for feature in features]
    shown = [given.published(u)[place] for u in np.flatnonzero(given.recoding.group_of >= 0).tolist()]
    values = given.present(place)
    assert sorted(raw.classes) == sorted(target.classes) == sorted(values)
    assert target.left_out["missing"] == shown.count(None)
    assert target.left_out["coarsened"] == sum(label is not None and label not in values for label in shown)
    kept = [label for label in shown if label in values]
    counts = np.bincount(target.codes, target.counts, len(target.classes)).astype(int).tolist()
    assert counts == [kept.count(label) for label in target.classes]


@given(given=releases(), seed=st.integers(0, 1000))
@settings(max_examples=110)
def test_same_query_errors(given: Given, seed: int) -> None:
    queries = []
    for query in draw_queries(given.microdata, 10, (1, 3), seed):
        asked: dict[int, set[Any]] = {}
        for part in query:
            column = given.microdata.columns[part.position]
            if isinstance(column, TreeColumn):
                asked[part.position] = {
                    leaf for leaf, wanted in zip(column.hierarchy.leaves, part.wanted, strict=True) if wanted
                }
            else:
                unit = Fraction(1, 10**column.intervals.decimals)
                asked[part.position] = {unit * n for n in range(part.low, part.high + 1)}
        queries.append(asked)
    width = range(len(given.kinds))
    records = []
    for record in range(given.microdata.records):
        values = [given.rows[f"c{place}"][record] for place in width]
        free = [isinstance(column, FreeColumn) for column in given.microdata.columns]
        records.append(
            [Fraction(v) if is_free and v is not None else v for v, is_free in zip(values, free, strict=True)]
        )
    published = [
        [
            covered(given, place, given.published(u)[place], given.is_suppressed(u, place), numbers=True)
            for place in width
        ]
        for u in np.flatnonzero(given.recoding.group_of >= 0).tolist()
    ]
    found = query_error(given.microdata, given.recoding, 10, (1, 3), seed)
    mean, median, high = naive.query_error(records, published, queries)
    assert (found.mean, found.median, found.percentile_90) == pytest.approx(
        (float(mean), float(median), float(high)), rel=1e-9, abs=1e-9
    )


@given(given=releases())
@settings(max_examples=110)
def test_same_distances(given: Given) -> None:
    units = np.flatnonzero(given.recoding.group_of >= 0).tolist()
    if not units:
        assert all(found.total_variation == 1 for found in distances(given.microdata, given.recoding).values())
        return
    for place, kind in enumerate(given.kinds):
        raw = [domain_value(given, place, value) for value in given.rows[f"c{place}"]]
        published = [
            covered(given, place, given.published(u)[place], given.is_suppressed(u, place), numbers=False)
            for u in units
        ]
        found = distances(given.microdata, given.recoding)[f"c{place}"]
        assert found.total_variation == pytest.approx(float(naive.total_variation(raw, published)), abs=1e-9)
        if kind not in ORDERED:
            assert found.earth_movers is None
            continue
        domain = sorted(UNDER[kind]["all"] - {None}) if kind in UNDER else None  # type: ignore[operator]
        values = domain or sorted({value for value in raw if value is not None}, key=Fraction)
        moved = naive.earth_movers(raw, published, values)
        if moved is None:
            assert found.earth_movers is None
        else:
            assert found.earth_movers == pytest.approx(float(moved), abs=1e-9)


@given(given=releases(missing=False, suppress=False))
@settings(max_examples=30)
def test_a_release_of_the_records_themselves_is_at_no_distance(given: Given) -> None:
    microdata = given.microdata
    at = [microdata.index_order.index(place) for place in range(len(given.kinds))]
    codes = microdata.profiles[:, at].astype(np.int64)
    same = Recoding.of_boxes(microdata, microdata.profile_of_unit, codes, codes)
    for found in distances(microdata, same).values():
        assert found.total_variation == 0
        assert not found.earth_movers
    assert query_error(microdata, same, 20).percentile_90 == 0
    if not {"snapped", "half-open"} & set(given.kinds):
        raw = grow(*raw_features(given.table, given.plan, microdata, "t"), smallest_leaf=1)
        shown = grow(*released_features(given.table, given.plan, microdata, same, "t"), smallest_leaf=1)
        assert shown.root == raw.root
