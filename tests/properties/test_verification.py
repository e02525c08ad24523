"""Any right release passes the check, with or without the original; any tampered one does not."""

from __future__ import annotations

import json
import math
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from hedgerow.plan import Plan
from hedgerow.verification import Verification, verify_release
from tests.cases.stated import exact_ends, facts_of
from tests.cases.transport import transport

few = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])

# One column of every kind, each with the ways up of its values written out by hand.
TREE = {"US": {"West": {"California": ["San Diego", "Los Angeles"]}, "Midwest": {"Kansas": ["Wichita"]}}}
WAYS: dict[str, dict[str, list[str]]] = {
    "place": {
        "San Diego": ["San Diego", "California", "West", "US"],
        "Los Angeles": ["Los Angeles", "California", "West", "US"],
        "Wichita": ["Wichita", "Kansas", "Midwest", "US"],
    },
    "age": {
        "37": ["37", "35-39", "20-39", "*"],
        "38.0": ["38", "35-39", "20-39", "*"],
        "-3": ["-3", "-5--1", "-20--1", "*"],
        "20": ["20", "20-24", "20-39", "*"],
    },
    "span": {
        "7": ["7", "0-19", "0-19", "*"],
        "25": ["25", "20-29", "20-39", "*"],
        "39": ["39", "30-39", "20-39", "*"],
    },
    "zip": {
        "43102": ["43102", "431**", "4****", "*"],
        "43109": ["43109", "431**", "4****", "*"],
        "41000": ["41000", "410**", "4****", "*"],
    },
    "day": {
        "2024-02-29": ["2024-02-29", "2024-02", "2024", "*"],
        "2024-03-01": ["2024-03-01", "2024-03", "2024", "*"],
        "1999-12-31": ["1999-12-31", "1999-12", "1999", "*"],
    },
    "sex": {"F": ["F", "*"], "=M": ["=M", "*"]},
}
HIERARCHIES: dict[str, dict[str, Any]] = {
    "place": {"hierarchy": {"tree": TREE}},
    "age": {"hierarchy": {"bands": [5, 20]}},
    "span": {"hierarchy": {"cuts": [[0, 20, 30, 40], [0, 20, 40]]}},
    "zip": {"hierarchy": {"prefix": [3, 1], "length": 5}},
    "day": {"hierarchy": {"dates": ["month", "year"]}},
    "sex": {},
}
DIAGNOSES = ["flu", "cold", "@home", None, "a,b"]


@dataclass
class Made:
    """A table, what became of it, and what is claimed of it; rows are lists of cells."""

    names: list[str]
    plan: dict[str, Any]
    original: list[list[str | None]]  # released columns of every record, in the plan's order
    data: list[list[str | None]]
    records: list[int]  # record behind every row, from 1
    facts: dict[str, Any]

    @property
    def quasi_identifiers(self) -> int:
        return len(self.names) - 1

    def verify(self, original: bool = True, link: bool = True) -> Verification:
        with tempfile.TemporaryDirectory() as home:
            folder = Path(home)
            lines = [",".join(map(_cell, row)) for row in [self.names, *self.data]]
            (folder / "data.csv").write_bytes(("\n".join(lines) + "\n").encode())
            (folder / "plan.yaml").write_text(Plan.from_dict(self.plan).to_yaml(), encoding="utf-8")
            plan = Plan.from_dict(self.plan)
            behind = [self.original[record - 1] for record in self.records if record <= len(self.original)]
            pairs = {
                name: [(before[at], after[at]) for before, after in zip(behind, self.data, strict=False)]
                for at, name in enumerate(plan.quasi_identifiers)
            }
            given = {"exact_end_points": exact_ends(plan, pairs)} | self.facts
            facts = facts_of(plan, self.names, self.data, len(self.original), given)
            (folder / "facts.json").write_text(json.dumps(facts), encoding="utf-8")
            columns = [pa.array(column, pa.string()) for column in zip(*self.original, strict=True)]
            table = pa.table(columns, names=self.names)
            links = (self.records, list(range(1, len(self.records) + 1)))
            return verify_release(folder, table if original else None, links if original and link else None)


def _cell(text: str | None) -> str:
    if text is None:
        return ""
    if text[0] in "=@" or (text[0] == "-" and not text[1:].isdigit()):
        text = "'" + text
    return f'"{text}"' if "," in text else text


@st.composite
def releases(draw: st.DrawFn, missing: bool = False, breaking: bool = False) -> Made:
    """Profiles of at least k records each, every column at one level: so k-anonymous whatever the levels.

    Optionally the first column is above its limit, which most of its values then break.
    """
    names = draw(st.lists(st.sampled_from(sorted(WAYS)), min_size=1, max_size=3, unique=True))
    k = draw(st.integers(2, 3))
    cell = {name: st.sampled_from([*sorted(WAYS[name]), *([None] if missing else [])]) for name in names}
    profiles = draw(st.lists(st.tuples(*(cell[name] for name in names)), min_size=1, max_size=4, unique=True))
    original: list[list[str | None]] = []
    for profile in profiles:
        for _ in range(draw(st.integers(k, k + 2))):
            original.append([*profile, draw(st.sampled_from(DIAGNOSES))])
    original = draw(st.permutations(original))
    tops = {name: len(next(iter(WAYS[name].values()))) - 1 for name in names}
    levels = {name: draw(st.integers(0, tops[name])) for name in names}
    limits = {name: draw(st.none() | st.integers(0, tops[name])) for name in names}
    if breaking:
        levels[names[0]] = draw(st.integers(1, tops[names[0]]))
        limits[names[0]] = draw(st.integers(0, levels[names[0]] - 1))
    keeps = all(limit is None or levels[name] <= limit for name, limit in limits.items())
    attributes: dict[str, Any] = {}
    for name in names:
        limit = limits[name]
        attributes[name] = {"role": "quasi-identifier", **HIERARCHIES[name]}
        attributes[name] |= {} if limit is None else {"limit": {"level": limit}}
    plan = {
        "attributes": {**attributes, "diagnosis": "sensitive"},
        "privacy": {"k": k},
        "method": {"limits": "keep" if keeps else "ignore"},
    }
    held_back = draw(st.sampled_from([0, 1])) if len(profiles) > 1 else 0
    records = [i for i, row in enumerate(original, start=1) if not held_back or tuple(row[:-1]) != profiles[0]]
    records = draw(st.permutations(records))
    data: list[list[str | None]] = []
    breaks = dict.fromkeys(names, 0)
    for record in records:
        row: list[str | None] = []
        for name, value in zip(names, original[record - 1], strict=False):
            way = [None, WAYS[name][min(WAYS[name])][-1]] if value is None else WAYS[name][value]
            top = len(way) - 1
            label = way[min(levels[name], top)]
            limit = limits[name]
            row.append(label)
            breaks[name] += limit is not None and way.index(label) > min(limit, top)
        data.append([*row, original[record - 1][-1]])
    made = Made([*names, "diagnosis"], plan, original, data, records, {})
    made.facts = {**_count(made), "limits_broken": sum(breaks.values()), "limits_broken_by_attribute": breaks}
    return made


def _count(made: Made) -> dict[str, int]:
    sizes = Counter(tuple(row[:-1]) for row in made.data)
    return {
        "records": len(made.original),
        "released": len(made.data),
        "withheld": len(made.original) - len(made.data),
        "groups": len(sizes),
        "smallest_group": min(sizes.values()),
        "largest_group": max(sizes.values()),
    }


@few
@given(releases(missing=True))
def test_a_right_release_passes(made: Made) -> None:
    found = made.verify()
    assert found.kept, found
    if made.plan["method"]["limits"] == "ignore":
        assert found["limits"].found == made.facts["limits_broken"]
    assert made.verify(link=False).kept


@few
@given(releases())
def test_a_right_release_passes_without_the_original(made: Made) -> None:
    found = made.verify(original=False)
    assert found.kept, found


@few
@given(releases(missing=True), st.sampled_from(["records", "released", "withheld", "groups", "limits_broken"]))
def test_a_wrong_fact_is_refused(made: Made, fact: str) -> None:
    made.facts[fact] += 1
    assert not made.verify().kept


@few
@given(releases(missing=True, breaking=True), st.data())
def test_a_limit_that_is_not_kept_is_refused(made: Made, data: st.DataObject) -> None:
    """Even if the release admits how often."""
    assume(made.facts["limits_broken"])
    made.plan["method"] = {"limits": "keep"}
    made.facts["limits_broken"] *= data.draw(st.sampled_from([0, 1]))
    assert "limits" in [promise.name for promise in made.verify().broken]


@few
@given(releases(missing=True), st.data())
def test_a_changed_quasi_identifier_is_refused(made: Made, data: st.DataObject) -> None:
    row = data.draw(st.integers(0, len(made.data) - 1))
    at = data.draw(st.integers(0, made.quasi_identifiers - 1))
    ways = WAYS[made.names[at]].values()
    label = data.draw(st.sampled_from([None, "x", "0-4", *(label for way in ways for label in way)]))
    assume(label != made.data[row][at])
    made.data[row][at] = label
    made.facts |= _count(made)  # the facts are made to fit
    alone = min(Counter(tuple(cells[:-1]) for cells in made.data).values()) < made.plan["privacy"]["k"]
    value = made.original[made.records[row] - 1][at]
    true = value is not None and label in WAYS[made.names[at]][value]
    assume(alone or not true)
    found = made.verify()
    names = [promise.name for promise in found.broken]
    assert not found.kept
    assert ("k" in names) == alone
    if not true and value is not None:
        assert "truthful" in names


@few
@given(releases(missing=True), st.data())
def test_a_changed_sensitive_value_is_refused(made: Made, data: st.DataObject) -> None:
    row = data.draw(st.integers(0, len(made.data) - 1))
    made.data[row][-1] = data.draw(st.sampled_from([d for d in [*DIAGNOSES, "new"] if d != made.data[row][-1]]))
    assert [promise.name for promise in made.verify().broken] == ["truthful"]
    if made.data[row][-1] == "new":
        assert {promise.name for promise in made.verify(link=False).broken} == {"unchanged", "possible"}


def _drop_row(made: Made, row: int) -> None:
    del made.data[row], made.records[row]


def _drop_row_but_not_its_link(made: Made, row: int) -> None:
    del made.data[row]


def _double_row(made: Made, row: int) -> None:
    made.data.append(made.data[row])
    made.records.append(made.records[row])


def _link_twice(made: Made, row: int) -> None:
    made.records[row] = made.records[row - 1]


def _link_nowhere(made: Made, row: int) -> None:
    made.records[row] = len(made.original) + 1


def _show_identifier(made: Made, row: int) -> None:
    made.plan["attributes"]["name"] = "identifier"
    made.names = [*made.names, "name"]
    made.data = [[*cells, "Ada"] for cells in made.data]
    made.original = [[*cells, "Ada"] for cells in made.original]


def _lose_cell(made: Made, row: int) -> None:
    made.data[row] = made.data[row][:-1]


TAMPERINGS: list[Callable[[Made, int], None]] = [
    _drop_row,
    _drop_row_but_not_its_link,
    _double_row,
    _link_twice,
    _link_nowhere,
    _show_identifier,
    _lose_cell,
]


@few
@given(releases(missing=True), st.sampled_from(TAMPERINGS), st.data())
def test_a_tampered_release_is_refused(made: Made, tamper: Callable[[Made, int], None], data: st.DataObject) -> None:
    tamper(made, data.draw(st.integers(0, len(made.data) - 1)))
    found = made.verify()
    assert not found.kept
    assert "Ada" not in repr(found)


@few
@given(
    st.lists(st.integers(-50, 50), min_size=2, max_size=8),
    st.sampled_from([None, 1, 5, 10]),
    st.lists(st.integers(-5, 5).map(lambda n: n * 10), max_size=2, unique=True),
    st.none() | st.integers(0, 40),
    st.integers(1, 3),
)
def test_free_intervals(numbers: list[int], snap: int | None, cuts: list[int], width: int | None, off: int) -> None:
    """One group from the least number to the greatest; its limits are counted by looking at every number inside."""
    grid = snap or 1
    assume(width is None or width >= grid - 1)  # the plan refuses a width below one step of the grid
    low, high = min(numbers) // grid * grid, max(numbers) // grid * grid + grid - 1
    label = f"{low}-{high}" if low < high else str(low)
    inside = range(low, high + 1)
    crossed = any(n < cut for n in inside for cut in cuts if any(m >= cut for m in inside))
    wide = width is not None and high - low > width
    attribute: dict[str, Any] = {"role": "quasi-identifier", "intervals": "free"}
    attribute |= {} if snap is None else {"snap": snap}
    if cuts or width is not None:
        attribute["limit"] = {"cuts": cuts} | ({} if width is None else {"width": width})
    n = len(numbers)
    plan = {
        "attributes": {"x": attribute, "diagnosis": "sensitive"},
        "privacy": {"k": 2},
        "method": {"limits": "ignore" if crossed or wide else "keep"},
    }
    original: list[list[str | None]] = [[str(number), "flu"] for number in numbers]
    made = Made(["x", "diagnosis"], plan, original, [[label, "flu"] for _ in numbers], list(range(1, n + 1)), {})
    made.facts = {**_count(made), "limits_broken": n if crossed or wide else 0}
    for known in (True, False):
        found = made.verify(original=known)
        assert found.kept, found
    shifted = f"{low + off * grid}-{high + off * grid}" if low < high else str(low + off * grid)
    made.data = [[shifted, "flu"] for _ in numbers]
    assert "truthful" in [promise.name for promise in made.verify().broken]


# -- models: what the check says is what a plain evaluation of the definitions says ------------------------------------

DISEASES = {"any": {"cancer": ["lung", "throat"], "infection": {"virus": ["flu", "cold"], "strep": None}, "gout": None}}
WAYS_UP: dict[str, tuple[str, ...]] = {
    "lung": ("lung", "cancer", "any"),
    "throat": ("throat", "cancer", "any"),
    "flu": ("flu", "virus", "infection", "any"),
    "cold": ("cold", "virus", "infection", "any"),
    "strep": ("strep", "infection", "any"),
    "gout": ("gout", "any"),
}
SPELLINGS = {"Flu ": "flu", " LUNG": "lung", "\uff43old": "cold"}
DEMANDS: dict[str, list[Any]] = {
    "p": [2, 3],
    "l": [2, {"entropy": "1.5"}, {"entropy": 2}, {"recursive": ["0.5", 1]}, {"recursive": ["1.5", 2]}],
    "t": [{"at_most": t} for t in ("0", "0.1", "0.25", "0.4")],
    "alpha": ["0.3", "0.5", "0.75"],
    "beta": ["0.5", "1", {"at_most": "1.5", "enhanced": True}],
    "delta": ["0.5", "1"],
}


@dataclass
class Asked:
    """A table of one published column and one sensitive one, and a model that is asked of it."""

    rows: list[tuple[str, str | None]]
    withheld: list[str | None]
    attribute: dict[str, Any]
    model: str
    demand: Any

    @property
    def made(self) -> Made:
        plan = {
            "attributes": {"ward": "quasi-identifier", "value": self.attribute},
            "privacy": {"k": 4, self.model: self.demand},
        }
        data: list[list[str | None]] = [[ward, value] for ward, value in self.rows]
        original = data + [["hidden", value] for value in self.withheld]
        made = Made(["ward", "value"], plan, original, data, list(range(1, len(data) + 1)), {})
        made.facts = {**_count(made), "limits_broken": 0}
        return made

    def way(self, value: str) -> tuple[str, ...]:
        """What a value counts as: a name, or the way up from a node."""
        value = SPELLINGS.get(value, value)
        if "hierarchy" not in self.attribute:
            return (value,)
        way = WAYS_UP[value]
        return way[min(self.attribute.get("level", 0), len(way) - 1) :]

    def holds(self) -> bool:
        groups: dict[str, list[tuple[str, ...]]] = {ward: [] for ward, _ in self.rows}
        for ward, value in self.rows:
            groups[ward] += [] if value is None else [self.way(value)]
        return all(self.group_holds(Counter(values)) for values in groups.values())

    def group_holds(self, counts: Counter[tuple[str, ...]]) -> bool:
        n, ranked = sum(counts.values()), sorted(counts.values(), reverse=True)
        if self.model == "p" or self.demand == 2:
            return len(counts) >= self.demand
        if self.model == "alpha":
            return not counts or ranked[0] <= Fraction(self.demand) * n
        if self.model in ("beta", "delta"):
            return self.is_like(counts)
        if self.model == "t":
            return not counts or self.distance(counts) <= Fraction(self.demand["at_most"])
        if "entropy" in self.demand:
            entropy = sum(count / n * math.log(n / count) for count in ranked)
            return entropy >= math.log(float(self.demand["entropy"])) - 1e-12
        c, l = self.demand["recursive"]  # noqa: E741 - the papers' name
        return len(counts) >= l and ranked[0] < Fraction(c) * sum(ranked[l - 1 :])

    def is_like(self, counts: Counter[tuple[str, ...]]) -> bool:
        """Whether no value is much more frequent than among all released records; delta: nor rarer."""
        whole = Counter(self.way(value) for _, value in self.rows if value is not None)
        ratios = {v: Fraction(counts[v], max(counts.total(), 1)) / Fraction(whole[v], whole.total()) for v in whole}
        if self.model == "delta":
            return all(ratio and abs(math.log(ratio)) < float(self.demand) for ratio in ratios.values())
        enhanced = isinstance(self.demand, dict)
        most = Fraction(self.demand["at_most"] if enhanced else self.demand)
        return all(
            ratio - 1 <= most and (not enhanced or ratio - 1 <= math.log(whole.total() / whole[v]) + 1e-12)
            for v, ratio in ratios.items()
        )

    def distance(self, counts: Counter[tuple[str, ...]]) -> Fraction:
        """Least cost of moving earth from the group to all released records; those withheld play no part."""
        cells = [value for _, value in self.rows]
        whole = Counter(self.way(value) for value in cells if value is not None)
        have = {way: Fraction(counts[way], counts.total()) for way in whole}
        want = {way: Fraction(count, whole.total()) for way, count in whole.items()}
        tree = "hierarchy" in self.attribute
        metric = self.demand.get("distance", "hierarchical" if tree else "equal")
        cut = [self.way(value) for value in WAYS_UP] if tree else []
        order = [way for way in dict.fromkeys(cut) if way in whole]
        if metric == "ordered" and not tree:
            order = sorted(whole, key=lambda way: float(way[0]))

        def ground(one: tuple[str, ...], other: tuple[str, ...]) -> Fraction:
            if metric == "equal" or one == other:
                return Fraction(one != other)
            if metric == "ordered":
                return Fraction(abs(order.index(one) - order.index(other)), len(order) - 1)
            shared = next(one[i:] for i in range(len(one)) if one[i:] == other[-len(one[i:]) :])
            return Fraction(height(shared), height(("any",)))

        def height(node: tuple[str, ...]) -> int:
            return max(len(way) - len(node) for way in cut if way[-len(node) :] == node)

        return transport(have, want, ground)


@st.composite
def questions(draw: st.DrawFn, model: str, withheld: bool = False) -> Asked:
    attribute: dict[str, Any] = {"role": "sensitive"}
    kind = draw(st.sampled_from(["labels", "numbers", "tree"]))
    values = ["1", "2", "3.5", "10", "-4"] if kind == "numbers" else [*WAYS_UP, *SPELLINGS]
    if kind == "tree":
        attribute |= {"hierarchy": {"tree": DISEASES}, "level": draw(st.integers(0, 3))}
    demand = draw(st.sampled_from(DEMANDS[model]))
    if model == "t":
        known = {"labels": ["equal"], "numbers": ["equal", "ordered"], "tree": ["equal", "ordered", "hierarchical"]}
        metric = draw(st.sampled_from([None, *known[kind]]))
        demand = demand | ({} if metric is None else {"distance": metric})
    few_values = draw(st.lists(st.sampled_from(values), min_size=1, max_size=4)) + [None] * draw(st.integers(0, 1))
    wards = draw(st.sampled_from(["A", "AB", "ABC"]))
    row = st.tuples(st.sampled_from(wards), st.sampled_from(few_values))
    rows = draw(st.lists(row, min_size=1, max_size=12))
    hidden = draw(st.lists(st.sampled_from([*values, None]), max_size=4)) if withheld else []
    return Asked(rows, hidden, attribute, model, demand)


@few
@given(st.sampled_from(sorted(DEMANDS)).flatmap(questions))
def test_models_are_judged_as_defined(asked: Asked) -> None:
    made, holds = asked.made, asked.holds()
    for found in (made.verify(), made.verify(link=False), made.verify(original=False)):
        assert found[asked.model].kept == holds, found


@few
@given(questions("t", withheld=True))
def test_closeness_with_withheld_records(asked: Asked) -> None:
    """Exactly as defined, with the original and without it."""
    made, holds = asked.made, asked.holds()
    assert made.verify()["t"].kept == holds
    assert made.verify(original=False)["t"].kept == holds


@few
@given(st.lists(st.tuples(st.sampled_from("ABC"), st.sampled_from(["flu", "Flu ", "cold", None])), min_size=1))
def test_disclosures_are_groups_of_one_value(rows: list[tuple[str, str | None]]) -> None:
    made = Asked(rows, [], {"role": "sensitive"}, "p", 2).made
    wards = list(dict.fromkeys(ward for ward, _ in rows))
    single = [
        [number, "value"]
        for number, ward in enumerate(wards)
        if len({value.strip().lower() for place, value in rows if place == ward and value is not None}) == 1
    ]
    facts: dict[str, Any] = {"count": len(single), "by_attribute": {"value": len(single)}, "listed": single}
    made.facts |= {"attribute_disclosures": facts}
    assert made.verify(original=False)["disclosures"].kept
    facts["listed"] = [[number, "value"] for number in range(len(wards)) if [number, "value"] not in single]
    assert made.verify(original=False)["disclosures"].kept == (facts["listed"] == single)
