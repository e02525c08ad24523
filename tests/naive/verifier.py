"""A verifier in plain Python: every promise as it is defined, cell by cell, for tables small enough.

It sees a release as lists of texts (None is missing), and facts as a dict; it knows five kinds of column.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from typing import Any

Cell = str | None
ROOT = "*"
WIDTHS = (5, 20)
KEPT, LENGTH = (3, 1), 5


@dataclass(frozen=True)
class Quasi:
    """A quasi-identifier: what it is made of, and its limit."""

    name: str
    kind: str  # tree, bands, prefix, flat, free
    ways: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # of a tree: the way up from every leaf
    level: int | None = None
    cuts: tuple[int, ...] = ()
    width: int | None = None
    snap: int | None = None
    suppressible: bool = False

    @property
    def limited(self) -> bool:
        return self.level is not None or bool(self.cuts) or self.width is not None

    @property
    def root(self) -> str:
        return next(iter(self.ways.values()))[-1] if self.kind == "tree" else ROOT

    def way(self, value: Cell) -> tuple[Cell, ...]:
        """The labels from a value up to the root; empty if it has no leaf."""
        if value is None:
            return (None, self.root)
        if self.kind == "tree":
            return self.ways.get(value, ())
        if self.kind == "flat":
            return (value, ROOT)
        if self.kind == "bands":
            if not value.isdigit():
                return ()
            bands = (int(value) // width * width for width in WIDTHS)
            return (
                str(int(value)),
                *(f"{low}-{low + width - 1}" for low, width in zip(bands, WIDTHS, strict=True)),
                ROOT,
            )
        if not 0 < len(value) <= LENGTH:
            return ()
        return (value, *dict.fromkeys(value[:kept].ljust(LENGTH, "*") for kept in KEPT), ROOT)

    def limit(self, value: Cell) -> int:
        """How far up the way of a value its limit stands."""
        way = self.way(value)
        top = len(way) - 1
        if self.level is None:
            return top
        if value is None or self.kind != "tree":
            return min(self.level, top)
        marked = {other[min(self.level, len(other) - 1)] for other in self.ways.values()}
        return next(at for at, label in enumerate(way) if label in marked)

    def covers(self, value: Cell, label: Cell) -> bool:
        if self.suppressible and label is None:
            return True
        if self.kind != "free":
            return label in self.way(value)
        if value is None or label is None:
            return value is label
        return value.isdigit() and self.on_grid(label) and int(value) in self.span(label)

    def breaks(self, value: Cell, label: Cell) -> bool:
        """Whether a label that covers a value is beyond its limit."""
        if self.suppressible and label is None:
            return False
        if self.kind != "free":
            way = self.way(value)
            return label in way and way.index(label) > self.limit(value)
        if label is None or not self.is_range(label):
            return False
        inside = self.span(label)
        crosses = any(inside[0] < cut <= inside[-1] for cut in self.cuts)
        return crosses or (self.width is not None and inside[-1] - inside[0] > self.width)

    @staticmethod
    def is_range(label: str) -> bool:
        ends = label.split("-")
        if not all(end.isdigit() and str(int(end)) == end for end in ends):
            return False
        return len(ends) == 1 or (len(ends) == 2 and int(ends[0]) < int(ends[1]))

    @staticmethod
    def span(label: str) -> range:
        low, _, high = label.partition("-")
        return range(int(low), int(high or low) + 1)

    def on_grid(self, label: str) -> bool:
        if not self.is_range(label):
            return False
        inside = self.span(label)
        if self.snap is None:
            return True
        if "-" not in label and self.snap != 1:
            return False
        return inside[0] % self.snap == 0 and (inside[-1] + 1) % self.snap == 0

    def knows(self, label: Cell, values: Iterable[Cell] | None) -> bool:
        """Whether a label may be published: by what is known of the plan, or of the original too."""
        if self.suppressible and label is None:
            return True
        if values is not None:
            if self.kind != "free":
                return any(label in self.way(value) for value in values)
            if label is None:
                return None in values
            return self.on_grid(label) and any(self.covers(value, label) for value in values if value is not None)
        if label is None or self.kind == "flat":
            return True
        if self.kind == "tree":
            return any(label in way for way in self.ways.values())
        if self.kind == "free":
            return self.on_grid(label)
        if self.kind == "bands":
            return label == ROOT or (self.is_range(label) and label in self.way(str(self.span(label)[0])))
        return label == ROOT or (len(label) <= LENGTH and label.strip("*") != "")

    def possible_values(self, label: str) -> list[str]:
        """Values that stand for all that may lie under a label."""
        if self.kind == "tree":
            return [leaf for leaf, way in self.ways.items() if label in way]
        if self.kind == "flat":
            return ["q"] if label == ROOT else [label]
        if self.kind == "bands":
            return ["7"] if label == ROOT else [str(number) for number in self.span(label)]
        stem = label.rstrip("*") if label != ROOT else ""
        texts = [stem.ljust(size, "q") for size in range(max(len(stem), 1), LENGTH + 1)]
        return [text for text in ([label] if stem == label else texts) if label in self.way(text)]

    def above(self, label: Cell) -> set[Cell]:
        """All that stands above a label on the way up from a value under it."""
        known = label is not None and self.knows(label, None)
        ways = [self.way(value) for value in (self.possible_values(str(label)) if known else [label])]
        return {above for way in ways if label in way for above in way[way.index(label) :]} - {label}

    def risk(self, label: Cell, values: Iterable[Cell] | None, root_of_missing: bool) -> str:
        """Whether a label breaks the limit of all, some or none of what may lie behind it."""
        if self.suppressible and label is None:
            return "none"
        if self.kind == "free":
            return "sure" if label is not None and self.breaks(None, label) else "none"
        if values is None:
            if label is None or not self.knows(label, None):
                return "none"
            behind: list[Cell] = [*self.possible_values(label)]
            if label == self.root and root_of_missing:
                behind.append(None)
        else:
            behind = [value for value in values if label in self.way(value)]
        broken = sum(self.breaks(value, label) for value in behind)
        return "none" if not broken else "sure" if broken == len(behind) else "some"

    def at_level(self, value: Cell, level: int, within: bool) -> Cell:
        way = self.way(value)
        return way[min(level, len(way) - 1, self.limit(value) if within else level)]


@dataclass(frozen=True)
class Rule:
    title: str
    attribute: str
    low: str
    high: str
    importance: int

    def broken_by(self, column: Quasi, label: Cell) -> bool:
        if label is None:
            return False
        if column.kind in ("bands", "free"):
            if column.kind == "bands" and label == ROOT:
                return True
            return column.is_range(label) and {int(self.low), int(self.high)} <= set(column.span(label))
        if label == column.root:
            return True
        return all(label in column.way(side) for side in (self.low, self.high))


@dataclass(frozen=True)
class Release:
    """A release, and what is at hand to judge it."""

    quasi: tuple[Quasi, ...]
    sensitive: tuple[str, ...]
    others: tuple[str, ...]
    k: int
    models: Mapping[str, Any]  # p, l (distinct), entropy, recursive, alpha, t
    method: str  # cluster, lattice, utility
    limits: str  # keep, ignore, whole-levels
    matches_any: bool
    forbid_overlap: bool
    at_most: int | None
    rules: tuple[Rule, ...]
    said_by_plan: Mapping[str, Any]
    due: tuple[str, ...]  # names of the facts that must be stated
    facts: Mapping[str, Any]
    rows: Sequence[Sequence[Cell]]  # quasi-identifiers, sensitive, others
    original: Sequence[Sequence[Cell]] | None
    link: Sequence[int] | None  # index of the record behind every row

    # -- pieces ------------------------------------------------------------------------------------------------------

    @property
    def cells(self) -> list[tuple[Cell, ...]]:
        return [tuple(row[: len(self.quasi)]) for row in self.rows]

    def column(self, at: int) -> list[Cell]:
        return [row[at] for row in self.rows]

    def known(self, at: int) -> list[Cell] | None:
        return None if self.original is None else [record[at] for record in self.original]

    @property
    def keeps(self) -> bool:
        return self.limits != "ignore"

    @property
    def root_of_missing(self) -> bool:
        return not (self.keeps and self.method != "lattice")

    def alike(self, one: tuple[Cell, ...]) -> list[int]:
        """Rows that a row with these cells cannot be told from."""
        if not self.matches_any:
            return [i for i, other in enumerate(self.cells) if other == one]
        return [
            i
            for i, other in enumerate(self.cells)
            if all(a is None or b is None or a == b for a, b in zip(one, other, strict=True))
        ]

    def values(self, at: int, rows: Iterable[int]) -> Counter[str]:
        found = (self.rows[i][at] for i in rows)
        return Counter(value.strip().casefold() for value in found if value is not None)

    @property
    def groups(self) -> dict[tuple[Cell, ...], list[int]]:
        found: dict[tuple[Cell, ...], list[int]] = {}
        for number, cells in enumerate(self.cells):
            found.setdefault(cells, []).append(number)
        return found

    @property
    def sensitive_at(self) -> dict[str, int]:
        return {name: len(self.quasi) + i for i, name in enumerate(self.sensitive)}

    def number(self, name: str) -> int | None:
        found = self.facts.get(name)
        return found if type(found) is int else None

    # -- promises ----------------------------------------------------------------------------------------------------

    def judge(self) -> dict[str, bool]:
        """Whether each promise is kept."""
        found = {
            "plan": self.facts.get("plan") == self.said_by_plan["plan"]
            and all(self.facts[name] == said for name, said in self.said_by_plan.items() if name in self.facts),
            "facts": set(self.facts) == set(self.due),
            "roles": True,
            "hierarchy": all(
                column.knows(label, self.known(at))
                for at, column in enumerate(self.quasi)
                for label in set(self.column(at))
            ),
            "k": not self.rows or min(len(self.alike(cells)) for cells in self.cells) >= self.k,
            **self.judge_models(),
            "limits": self.judge_limits(),
            "counts": self.judge_counts(),
            "disclosures": self.judge_disclosures(),
            "risks": self.judge_risks(),
        }
        if any(column.suppressible for column in self.quasi) or self.method == "utility":
            found["suppressed"] = self.judge_suppressed()
        if self.forbid_overlap:
            found["overlap"] = self.judge_overlap()
        if self.rules:
            found["rules"] = self.judge_rules()
        if self.original is None:
            return found
        if self.link is None:
            found["unchanged"] = all(
                Counter(self.column(at)) <= Counter(record[at] for record in self.original)
                for at in range(len(self.quasi), len(self.quasi) + len(self.sensitive) + len(self.others))
            )
            found["possible"] = self.judge_possible()
            return found
        behind = [self.original[record] for record in self.link]
        if self.method == "lattice":
            found["levels"] = self.judge_levels(behind)
        found["truthful"] = all(
            all(column.covers(record[at], row[at]) for at, column in enumerate(self.quasi))
            and list(row[len(self.quasi) :]) == list(record[len(self.quasi) :])
            for row, record in zip(self.rows, behind, strict=True)
        )
        return found

    def judge_models(self) -> dict[str, bool]:
        found = {}
        groups = self.groups
        for model, asked in self.models.items():
            kept = []
            for at in self.sensitive_at.values():
                for cells, rows in groups.items():
                    counts = self.values(at, self.alike(cells) if model == "p" else rows)
                    kept.append(self.holds(model, asked, counts, at))
            found["l" if model in ("distinct", "entropy", "recursive") else model] = all(kept)
        return found

    def holds(self, model: str, asked: Any, counts: Counter[str], at: int) -> bool:
        n, ranked = counts.total(), sorted(counts.values(), reverse=True)
        if model in ("p", "distinct"):
            return len(counts) >= asked
        if model == "alpha":
            return not counts or ranked[0] <= Fraction(asked) * n
        if model == "entropy":
            return sum(count / n * math.log(n / count) for count in ranked) >= math.log(asked) - 1e-12
        if model == "recursive":
            times, start = asked
            return len(counts) >= start and ranked[0] < Fraction(times) * sum(ranked[start - 1 :])
        return self.is_close(Fraction(asked), counts, at)

    def is_close(self, most: Fraction, counts: Counter[str], at: int) -> bool:
        if not counts:
            return True
        whole = self.values(at, range(len(self.rows)))
        far = sum(abs(Fraction(counts[v], counts.total()) - Fraction(whole[v], whole.total())) for v in whole) / 2
        return far <= most + Fraction(1, 10**12)

    def judge_limits(self) -> bool:
        broken, possible = [], []
        for at, column in enumerate(self.quasi):
            labels = self.column(at)
            if self.original is not None and self.link is not None:
                behind = [self.original[record][at] for record in self.link]
                broken.append(sum(column.breaks(value, label) for value, label in zip(behind, labels, strict=True)))
                possible.append(0)
            else:
                risks = [column.risk(label, self.known(at), self.root_of_missing) for label in labels]
                broken.append(risks.count("sure"))
                possible.append(risks.count("some"))
        stated, by = self.number("limits_broken"), self.facts.get("limits_broken_by_attribute", {})
        if stated is None or not sum(broken) <= stated <= sum(broken) + sum(possible):
            return False
        for column, sure, more in zip(self.quasi, broken, possible, strict=True):
            if column.name in by and not sure <= by[column.name] <= sure + more:
                return False
        if by and sum(by.values()) != stated:
            return False
        return not self.keeps or (sum(broken) == 0 and stated == 0)

    def true_counts(self) -> dict[str, Any]:
        """What can be counted of the release."""
        sizes = [len(rows) for rows in self.groups.values()]
        matched = {cells: len(self.alike(cells)) for cells in self.groups}
        risk: Counter[int] = Counter()
        for cells, rows in self.groups.items():
            risk[matched[cells]] += len(rows)
        shares = {}
        for name, at in self.sensitive_at.items():
            counts = [self.values(at, rows) for rows in self.groups.values()]
            shares[name] = max((max(one.values()) / one.total() for one in counts if one), default=0.0)
        listed = [
            [number, name]
            for name, at in self.sensitive_at.items()
            for number, rows in enumerate(self.groups.values())
            if len(self.values(at, rows)) == 1
        ]
        return {
            "released": len(self.rows),
            "groups": len(sizes),
            "smallest_group": min(matched.values(), default=0),
            "largest_group": max(sizes, default=0),
            "group_sizes": {str(size): sizes.count(size) for size in sorted(set(sizes))},
            "group_risk_sizes": {str(size): risk[size] for size in sorted(risk)},
            "largest_share_of_one_value": shares,
            "attribute_disclosures": {
                "count": len(listed),
                "by_attribute": dict(Counter(name for _, name in listed)),
                "listed": listed,
            },
        }

    def judge_counts(self) -> bool:
        true, number = self.true_counts(), self.number
        for name in ("released", "groups", "smallest_group", "largest_group"):
            if number(name) != true[name]:
                return False
        records, withheld = number("records"), number("withheld")
        if records is None or withheld is None or number("released") is None:
            return False
        if self.original is not None and records != len(self.original):
            return False
        if "group_sizes" in self.facts and self.facts["group_sizes"] != true["group_sizes"]:
            return False
        squares = sum(len(rows) ** 2 for rows in self.groups.values())
        if "discernibility" in self.facts and self.facts["discernibility"] != squares + records * withheld:
            return False
        if "normalized_average_group_size" in self.facts:
            stated = self.facts["normalized_average_group_size"]
            average = records / (len(self.groups) * self.k) if self.groups else None
            if (stated is None) != (average is None):
                return False
            if average is not None and abs(stated - average) > 1e-9 * average:
                return False
        if true["released"] + withheld != records:
            return False
        if self.at_most is not None and withheld > self.at_most:
            return False
        least = number("least_rows_for_a_known_person")
        if least is not None and least > len(self.rows):
            return False
        cells = number("blocks")
        return cells is None or cells <= len(self.rows)

    def judge_disclosures(self) -> bool:
        stated, true = self.facts.get("attribute_disclosures"), self.true_counts()["attribute_disclosures"]
        if stated is None:
            return False
        by = stated["by_attribute"]
        if stated["count"] != true["count"] or any(name not in self.sensitive for name in by):
            return False
        if any(by.get(name, 0) != true["by_attribute"].get(name, 0) for name in self.sensitive):
            return False
        return sorted(map(str, stated["listed"])) == sorted(map(str, true["listed"]))

    def judge_risks(self) -> bool:
        true = self.true_counts()
        if self.facts.get("group_risk_sizes") != true["group_risk_sizes"]:
            return False
        shares = self.facts.get("largest_share_of_one_value", {})
        for name, share in true["largest_share_of_one_value"].items():
            if name not in shares or abs(shares[name] - share) >= 1e-9:
                return False
        ends = self.facts.get("exact_end_points", {})
        for at, column in enumerate(self.quasi):
            if column.name in ends:
                least, most = self.exact_ends(at)
                if not least <= ends[column.name] <= most:
                    return False
        return True

    def exact_ends(self, at: int) -> tuple[int, int]:
        column, labels = self.quasi[at], self.column(at)
        if column.snap is not None:
            return 0, 0
        ranges = [label is not None and column.is_range(label) for label in labels]
        if self.original is not None and self.link is not None:
            behind = [self.original[record][at] for record in self.link]
            count = sum(
                is_range and value is not None and value.isdigit() and int(value) in (column.span(label)[0], column.span(label)[-1])
                for label, value, is_range in zip(labels, behind, ranges, strict=True)
            )  # fmt: skip
            return count, count
        alone = sum(is_range and "-" not in label for label, is_range in zip(labels, ranges, strict=True))  # type: ignore[operator]
        return alone, sum(ranges)

    def judge_suppressed(self) -> bool:
        stated = self.facts.get("suppressed_cells")
        if stated is None:
            return False
        for at, column in enumerate(self.quasi):
            now, claim = self.column(at).count(None), stated.get(column.name, 0)
            least, most = 0, now
            if self.original is not None:
                before = [record[at] for record in self.original]
                if self.link is not None:
                    least = most = sum(
                        row[at] is None and before[record] is not None
                        for row, record in zip(self.rows, self.link, strict=True)
                    )
                else:
                    least = max(0, now - before.count(None))
                    most = min(now, len(before) - before.count(None))
            if not least <= claim <= most or (not column.suppressible and (least or claim)):
                return False
        return all(name in [column.name for column in self.quasi] for name in stated)

    def judge_overlap(self) -> bool:
        """Different labels of a column have no value in common."""
        for at, column in enumerate(self.quasi):
            labels = {label for label in self.column(at) if label is not None or not column.suppressible}
            if column.kind == "free":
                spans = [set(column.span(label)) for label in labels if label is not None and column.is_range(label)]
                if any(one & other for one, other in combinations(spans, 2)):
                    return False
            elif any(labels & column.above(label) for label in labels):
                return False
        return True

    def judge_rules(self) -> bool:
        stated = self.facts.get("rules", [])
        if len(stated) != len(self.rules):
            return False
        by_name = {column.name: (at, column) for at, column in enumerate(self.quasi)}
        for rule, entry in zip(self.rules, stated, strict=True):
            at, column = by_name[rule.attribute]
            breaking = sum(rule.broken_by(column, cells[at]) for cells in self.groups)
            true = {
                "name": rule.title,
                "attribute": rule.attribute,
                "importance": rule.importance,
                "kept": breaking == 0,
                "groups_breaking": breaking,
            }
            if entry != true:
                return False
        return True

    def judge_levels(self, behind: Sequence[Sequence[Cell]]) -> bool:
        levels = self.facts.get("levels", {})
        if set(levels) != {column.name for column in self.quasi}:
            return False
        return all(
            column.way(record[at]) != ()
            and row[at] == column.at_level(record[at], levels[column.name], self.limits == "keep")
            for row, record in zip(self.rows, behind, strict=True)
            for at, column in enumerate(self.quasi)
        )

    def could_be(self, row: Sequence[Cell], record: Sequence[Cell]) -> bool:
        if list(row[len(self.quasi) :]) != list(record[len(self.quasi) :]):
            return False
        levels = self.facts.get("levels", {})
        for at, column in enumerate(self.quasi):
            if not column.covers(record[at], row[at]) or (self.keeps and column.breaks(record[at], row[at])):
                return False
            level = levels.get(column.name) if self.method == "lattice" else None
            if level is not None and row[at] != column.at_level(record[at], level, self.limits == "keep"):
                return False
        return True

    def judge_possible(self) -> bool:
        """One record for every row, by looking for one row after the other, and moving others if need be."""
        assert self.original is not None
        fitting = [[i for i, record in enumerate(self.original) if self.could_be(row, record)] for row in self.rows]
        taken: dict[int, int] = {}

        def place(row: int, seen: set[int]) -> bool:
            for record in fitting[row]:
                if record not in seen:
                    seen.add(record)
                    if record not in taken or place(taken[record], seen):
                        taken[record] = row
                        return True
            return False

        return all(place(row, set()) for row in range(len(self.rows)))
