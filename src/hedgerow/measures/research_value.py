"""Research value: what a release is still worth to a researcher, by granularity and rules kept (Morton 2013).

The value of a column is weight × granularity × share of its rules that are kept, or, with λ, weight × (λ · granularity
+ (1 − λ) · share of rules). Granularity is 1 where nothing is coarsened: one over the span of the published ranges for
numbers, the share of values that can still be told apart for labels. Everything is computed exactly.

What the thesis leaves open, and what holds here: a record that is withheld, and a cell that is suppressed, span the
whole column and break no rule; the root of a hierarchy breaks every rule of its column. Of records that nothing is
known of, only their number counts: the whole column is that of the others.

The owner may say what each level of a column is worth; that takes the place of all of the above.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.errors import PlanError, Problem
from hedgerow.microdata import FreeColumn, Microdata, QuasiIdentifier, TreeColumn
from hedgerow.microdata.columns import Shown, spellings
from hedgerow.microdata.recoding import Recoding
from hedgerow.plan import Plan, Rule
from hedgerow.plan.concepts import MeasureDescriptor
from hedgerow.plan.hierarchy.numbers import Number, counted_as, parse_half_open, parse_number
from hedgerow.plan.hierarchy.tree import Hierarchy
from hedgerow.types import BoolArray, IntArray

WIDEST = 1 << 56


@dataclass(frozen=True, eq=False)
class ColumnValue:
    """What published values of one column are worth.

    Attributes
    ----------
    column
        The quasi-identifier.
    weight
        Its share of the whole value; the weights of all columns sum to 1.
    rules
        Its rules, in the plan's order.
    base
        What stays when every rule is broken.
    blend
        λ, or None for the product form.
    in_numbers
        Whether spans of numbers count, or else numbers of labels.
    records
        Number of records by code.
    given
        What the owner says that each level is worth, from level 0 to the root; empty if it is computed. Then weight,
        granularity and rules play no part.
    """

    column: QuasiIdentifier
    weight: Fraction
    rules: tuple[Rule, ...]
    base: Fraction
    blend: Fraction | None
    in_numbers: bool
    records: IntArray
    given: tuple[Fraction, ...] = ()

    # -- what single published values span and break -----------------------------------------------------------------

    def spans(self, shown: Shown) -> IntArray:
        """How many values each published value spans."""
        if isinstance(self.column, FreeColumn):
            return self._free_spans(shown.lo, shown.hi)
        return self.spans_by_node[shown.node]

    def breaks(self, shown: Shown) -> BoolArray:
        """Tell, rule by rule (rows), which published values (columns) break it."""
        if isinstance(self.column, FreeColumn):
            return self._free_breaks(shown.lo, shown.hi)
        return self.breaks_by_node[:, shown.node]

    @cached_property
    def spans_by_node(self) -> IntArray:
        """How many values each node of the hierarchy spans."""
        assert isinstance(self.column, TreeColumn)
        tree = self.column.hierarchy
        if not self.in_numbers:
            present = np.concatenate([[0], np.cumsum(self.records > 0)])
            leaves: IntArray = np.maximum(present[tree.last_leaf + 1] - present[tree.first_leaf], 1)
            return leaves
        spans = np.array([self._node_span(node) for node in range(len(tree.names))], np.int64)
        for node in range(len(spans) - 1, 0, -1):  # a root of few numbers is not worth more than a band under it
            spans[tree.parents[node]] = max(spans[tree.parents[node]], spans[node])
        return spans

    @cached_property
    def breaks_by_node(self) -> BoolArray:
        """Tell, rule by rule (rows), which nodes of the hierarchy (columns) break it."""
        assert isinstance(self.column, TreeColumn)
        tree = self.column.hierarchy
        broken = np.zeros((len(self.rules), len(tree.names)), bool)
        for row, rule in enumerate(self.rules):
            broken[row] = self._in_range(rule) if self.in_numbers else _mixes(tree, rule)
        if tree.height:
            broken[:, 0] = True
        return broken

    @cached_property
    def whole_span(self) -> int:
        """Span of the whole column: that of a record of which nothing is shown."""
        present = np.flatnonzero(self.records > 0)
        if isinstance(self.column, FreeColumn):
            numbers = present[present < self.column.missing_code]
            if not len(numbers):
                return 1
            return int(self._free_spans(numbers[:1], numbers[-1:])[0])
        return int(self.spans_by_node[0])

    @cached_property
    def _numbers(self) -> list[Number | None]:
        """Number of every leaf; None for labels that are none, such as a missing value."""
        assert isinstance(self.column, TreeColumn)
        return [counted_as(leaf) for leaf in self.column.hierarchy.leaves]

    @cached_property
    def _step(self) -> Fraction:
        """Distance of neighbouring numbers: 1, or the last decimal place that occurs."""
        decimals = 0
        for code in np.flatnonzero(self.records > 0).tolist():
            number = self._numbers[code]
            if isinstance(number, Decimal):
                decimals = max(decimals, -int(number.normalize().as_tuple().exponent))
        return Fraction(1, 10**decimals)

    def _span_of_leaves(self, first: int, last: int, present_only: bool = False) -> int:
        numbers = [
            number
            for code in range(first, last + 1)
            if (number := self._numbers[code]) is not None and (not present_only or self.records[code])
        ]
        return min(_steps(min(numbers), max(numbers), self._step) + 1, WIDEST) if numbers else 1

    @cached_property
    def _ends_by_node(self) -> list[tuple[Number, Number] | None]:
        """Where the interval that a node is named after starts and where the next one would; None for other nodes."""
        assert isinstance(self.column, TreeColumn)
        tree = self.column.hierarchy
        by_name = self.column.spec is not None and self.column.spec.kind in ("bands", "cuts")
        inner = tree.heights > 0
        return [
            parse_half_open(name) if by_name and inner[node] and node > 0 else None
            for node, name in enumerate(tree.names)
        ]

    def _node_span(self, node: int) -> int:
        assert isinstance(self.column, TreeColumn)
        tree, ends = self.column.hierarchy, self._ends_by_node[node]
        if ends is not None:
            return min(max(_steps(*ends, self._step), 1), WIDEST)
        by_rule = node == 0 and any(self._ends_by_node)
        return self._span_of_leaves(int(tree.first_leaf[node]), int(tree.last_leaf[node]), present_only=by_rule)

    def _in_range(self, rule: Rule) -> BoolArray:
        """Tell which nodes cover both numbers of a rule."""
        assert isinstance(self.column, TreeColumn)
        tree = self.column.hierarchy
        low, high = _numbers_of(rule)
        broken = np.zeros(len(tree.names), bool)
        for node, ends in enumerate(self._ends_by_node):
            if ends is not None:  # a name such as 60-64 shows both of its ends, [60, 65) does not
                last = high < ends[1] if tree.names[node].startswith("[") else high <= ends[1] - 1
                broken[node] = ends[0] <= low and last
            elif tree.heights[node]:
                leaves = self._numbers[tree.first_leaf[node] : tree.last_leaf[node] + 1]
                numbers = [number for number in leaves if number is not None]
                broken[node] = bool(numbers) and min(numbers) <= low and high <= max(numbers)
        return broken

    def _free_spans(self, lo: IntArray, hi: IntArray) -> IntArray:
        assert isinstance(self.column, FreeColumn)
        width = self.column.high_ends()[hi] - self.column.low_ends()[lo]
        spans: IntArray = np.maximum(width + (0 if half_open(self.column) else 1), 1)
        return spans

    def _free_breaks(self, lo: IntArray, hi: IntArray) -> BoolArray:
        first, last = self.rule_codes
        broken: BoolArray = (np.asarray(lo) <= first[:, None]) & (np.asarray(hi) >= last[:, None])
        return broken

    @cached_property
    def rule_codes(self) -> tuple[IntArray, IntArray]:
        """Free intervals: a range of codes breaks a rule if it starts at or below the first and ends at or above."""
        assert isinstance(self.column, FreeColumn)
        intervals = self.column.intervals
        first, last = [], []
        for rule in self.rules:
            low, high = _numbers_of(rule)
            scale = Fraction(10) ** intervals.decimals
            first.append(np.searchsorted(intervals.low_ends, _floor(Fraction(low) * scale), side="right") - 1)
            if half_open(self.column):
                code = int(np.searchsorted(intervals.high_ends, _floor(Fraction(high) * scale), side="right"))
            else:
                code = int(np.searchsorted(intervals.high_ends, _ceiling(Fraction(high) * scale), side="left"))
            # no number lies so high: then no range reaches the rule, nor does a missing value
            last.append(code if code < len(intervals.scaled) else np.iinfo(np.int64).max)
        return np.array(first, np.int64).reshape(-1), np.array(last, np.int64).reshape(-1)

    # -- what they are worth -----------------------------------------------------------------------------------------

    @cached_property
    def importances(self) -> list[Fraction]:
        """Importance of every rule."""
        return [Fraction(rule.importance) for rule in self.rules]

    def share_kept(self, broken: BoolArray) -> Fraction:
        """Share of the rules, base included, that is kept when some are broken."""
        whole = self.base + sum(self.importances, Fraction(0))
        lost = sum((worth for worth, gone in zip(self.importances, broken, strict=True) if gone), Fraction(0))
        return (whole - lost) / whole if whole else Fraction(1)

    def worth(self, granularity: Fraction, broken: BoolArray) -> Fraction:
        """Research value of the column at a granularity, with some rules broken."""
        kept = self.share_kept(broken)
        if self.blend is None:
            return self.weight * granularity * kept
        return self.weight * (self.blend * granularity + (1 - self.blend) * kept)

    @cached_property
    def _given_by_height(self) -> tuple[Fraction, ...]:
        """What the owner says that nodes of each height are worth; of fewer records a hierarchy may have fewer."""
        assert isinstance(self.column, TreeColumn)
        height = self.column.hierarchy.height
        return (*self.given[:-1][:height], *self.given[-1:] * (height + 1 - min(len(self.given) - 1, height)))

    def given_of(self, nodes: IntArray) -> list[Fraction]:
        """What the owner says that published nodes are worth, by their height; the root, as its level."""
        assert isinstance(self.column, TreeColumn)
        worths = self._given_by_height
        return [worths[height] for height in self.column.hierarchy.heights[nodes].tolist()]

    def of_level(self, nodes: IntArray, level: int) -> Fraction:
        """Research value of a level, given the node that every code becomes."""
        if self.given:
            return self.given[min(level, len(self.given) - 1)]
        present = np.flatnonzero(self.records > 0)
        used = np.unique(nodes[present])
        if self.in_numbers:
            spanned = int(np.dot(self.spans_by_node[nodes[present]].astype(object), self.records[present]))
            granularity = Fraction(int(self.records.sum()), spanned) if spanned else Fraction(1)
        else:
            assert isinstance(self.column, TreeColumn)
            apart = len(np.unique(self.column.hierarchy.node_of_label[used]))
            granularity = Fraction(apart, len(present)) if len(present) else Fraction(1)
        return self.worth(granularity, np.asarray(self.breaks_by_node[:, used].any(axis=1)))

    def of_release(
        self,
        codes: npt.NDArray[Any],
        shown: Shown,
        group_of: IntArray,
        hidden: BoolArray,
        unknown: int,
        records: IntArray | None = None,
    ) -> Fraction:
        """Research value of the column in a release, given code and group of every unit and which are hidden.

        ``unknown`` more records are withheld, whose values play no part; ``records`` says how many records each unit
        stands for.
        """
        known = len(codes) if records is None else int(records.sum())
        if self.given:
            worths = [*self.given_of(shown.node), self.given[-1]]
            times = _counted(np.where(hidden, len(worths) - 1, group_of), records, len(worths)).tolist()
            times[-1] += unknown
            return sum((worth * count for worth, count in zip(worths, times, strict=True)), Fraction(0)) / max(
                known + unknown, 1
            )
        each, of_group = np.unique(np.append(self.spans(shown), self.whole_span), return_inverse=True)
        span_of = of_group[np.where(hidden, -1, group_of)]
        if self.in_numbers:
            times = _counted(span_of, records, len(each))
            spanned = sum(span * count for span, count in zip(each.tolist(), times.tolist(), strict=True))
            spanned += unknown * self.whole_span
            granularity = Fraction(known + unknown, spanned) if spanned else Fraction(1)
        else:
            apart = self._apart(codes, each, span_of, records)
            granularity = (known * apart + Fraction(unknown, self.whole_span)) / max(known + unknown, 1)
        groups = np.flatnonzero(np.bincount(group_of[~hidden], minlength=1))
        return self.worth(granularity, np.asarray(self.breaks(shown[groups]).any(axis=1)))

    def _apart(self, codes: npt.NDArray[Any], spans: IntArray, span_of: IntArray, records: IntArray | None) -> Fraction:
        """Mean over values of the mean over their records of one over the span."""
        total = Fraction(0)
        pairs, place = np.unique(codes * np.int64(len(spans)) + span_of, return_inverse=True)
        times = _counted(place.reshape(-1), records, len(pairs))
        columns = (pairs // len(spans)).tolist(), spans[pairs % len(spans)].tolist(), times.tolist()
        for code, span, count in zip(*columns, strict=True):
            total += Fraction(count, int(self.records[code]) * span)
        values = int((self.records > 0).sum())
        return total / values if values else Fraction(1)


def _counted(places: IntArray, records: IntArray | None, size: int) -> IntArray:
    """Count records by place; ``records``: how many each stands for."""
    if records is None:
        return np.bincount(places, minlength=size)
    found = np.zeros(size, np.int64)
    np.add.at(found, places, records)
    return found


def column_values(microdata: Microdata, plan: Plan) -> tuple[ColumnValue, ...]:
    """Lay out what published values are worth, column by column.

    Raises
    ------
    PlanError
        If a rule names a value that a column does not have.
    """
    total = sum((Fraction(column.weight) for column in microdata.columns), Fraction(0))
    asked = plan.research_value
    values = []
    for position, column in enumerate(microdata.columns):
        rules = tuple(rule for rule in plan.rules if rule.attribute == column.name)
        values.append(
            ColumnValue(
                column,
                Fraction(column.weight) / total,
                rules,
                Fraction(asked.base),
                None if asked.lambda_ is None else Fraction(asked.lambda_),
                plan.attributes[column.name].in_numbers,
                microdata.records_by_code(position),
                tuple(Fraction(worth) for worth in (asked.levels or {}).get(column.name, ())),
            )
        )
    return tuple(values)


def rules_fit(values: tuple[ColumnValue, ...]) -> None:
    """Refuse rules that name values which their columns do not have.

    Raises
    ------
    PlanError
        Naming the rule and the value. To be asked of a whole table: a part of it need not hold every value.
    """
    for value in values:
        if not isinstance(value.column, TreeColumn) or value.in_numbers:
            continue
        tree = value.column.hierarchy
        for rule in value.rules:
            absent = [name for name in rule.keep_apart if _node_of(tree, name) is None]
            if absent:
                column = value.column.name
                message = f"Rule {rule.title!r}: no record of column {column!r} lies at or under {absent[0]!r}."
                hint = "check the spelling: names are as the data and the hierarchy write them"
                raise PlanError(Problem("unknown-node", message, hint=hint))
        value.breaks_by_node  # noqa: B018 - looks whether they lie side by side


def value_by_attribute(
    microdata: Microdata, recoding: Recoding, values: tuple[ColumnValue, ...]
) -> dict[str, Fraction]:
    """Research value of a release, by quasi-identifier."""
    found = {}
    for position, value in enumerate(values):
        codes = microdata.codes(position)[microdata.profile_of_unit]
        hidden = ~np.append(recoding.shows(position), False)[recoding.group_of]  # −1: withheld
        found[value.column.name] = value.of_release(
            codes, recoding.shown(position), recoding.group_of, hidden, len(microdata.unknown)
        )
    return found


def mean_group_value(microdata: Microdata, recoding: Recoding, values: tuple[ColumnValue, ...]) -> float:
    """Mean over records of the research value of their group, which is what merging looks at; 0 if withheld."""
    total = 0.0
    for position, value in enumerate(values):
        shown = recoding.shown(position)
        if value.given:
            worths = np.array([float(worth) for worth in value.given_of(shown.node)])
            total += float(np.dot(worths, recoding.showing(position)))
            continue
        importances = np.array([float(worth) for worth in value.importances])
        whole = float(value.base) + importances.sum()
        kept = (whole - importances @ value.breaks(shown)) / whole if whole else np.ones(len(shown.lo))
        granularity = 1.0 / value.spans(shown)
        if value.blend is None:
            worth = granularity * kept
        else:
            worth = float(value.blend) * granularity + (1 - float(value.blend)) * kept
        total += float(value.weight) * float(np.dot(worth, recoding.showing(position)))
    return total / microdata.records


def rules_kept(recoding: Recoding, values: tuple[ColumnValue, ...], rules: tuple[Rule, ...]) -> list[dict[str, Any]]:
    """Say which rules a release keeps and how many of its groups break each, in the plan's order."""
    found = {}
    for position, value in enumerate(values):
        if not value.rules:
            continue
        broken = (value.breaks(recoding.shown(position)) & recoding.shows(position)) @ recoding.times(position)
        for rule, groups in zip(value.rules, broken.tolist(), strict=True):
            found[rule.title] = int(groups)
    return [
        {
            "name": rule.title,
            "attribute": rule.attribute,
            "importance": rule.importance,
            "kept": found[rule.title] == 0,
            "groups_breaking": found[rule.title],
        }
        for rule in rules
    ]


def half_open(column: FreeColumn) -> bool:
    """Tell whether published intervals leave out their upper end."""
    return column.intervals.snap is not None and not column.intervals.whole


def _mixes(tree: Hierarchy, rule: Rule) -> BoolArray:
    """Tell which nodes hold a value of both sides of a rule; none does if a side has no value here."""
    nodes = [_node_of(tree, name) for name in rule.keep_apart]
    runs = [range(int(tree.first_leaf[node]), int(tree.last_leaf[node]) + 1) for node in nodes if node is not None]
    if len(runs) < len(nodes):
        return np.zeros(len(tree.names), bool)
    if set(runs[0]) & set(runs[1]):
        message = f"Rule {rule.title!r}: one of the two holds the other, so no release can keep them apart."
        raise PlanError(Problem("conflict", message, hint="name two nodes side by side"))
    holds = [(tree.first_leaf < run.stop) & (tree.last_leaf >= run.start) for run in runs]
    mixed: BoolArray = holds[0] & holds[1] & (tree.heights > 0)
    return mixed


def _node_of(tree: Hierarchy, name: str) -> int | None:
    """Find a node by a name, however it writes a number or an interval; None if nothing lies there."""
    names = [name] if name in tree else sorted(spelled for spelled in spellings(name) if spelled in tree)
    return tree.node(names[0]) if names else None


def _numbers_of(rule: Rule) -> tuple[Number, Number]:
    low, high = (parse_number(text) for text in rule.keep_apart)
    assert low is not None
    assert high is not None
    return low, high


def _steps(low: Number, high: Number, step: Fraction) -> int:
    return int((Fraction(high) - Fraction(low)) / step)


def _floor(number: Fraction) -> int:
    return number.numerator // number.denominator


def _ceiling(number: Fraction) -> int:
    return -(-number.numerator // number.denominator)


DESCRIPTORS = (
    MeasureDescriptor(
        name="research_value",
        title="research value",
        meaning="How much of what researchers want to tell apart is still there, as the plan weighs columns, "
        "levels and rules: 1 is all of it, unless the plan sets its own values.",
        help="how fine published values are and how many rules they keep, weighted: most is best",
        order=70,
        of_release=lambda measured: sum(measured.values.values(), Fraction(0)),
        beside=lambda measured: {"research_value_by_attribute": measured.values},
        compared=1,
        objective="research-value",
        more_is_better=True,
    ),
    MeasureDescriptor(
        name="mean_group_value",
        title="mean research value of groups",
        meaning="The research value of the group of each record, on average.",
        help="mean over records of the research value of their group, which merging goes by",
        order=80,
        of_release=lambda measured: mean_group_value(measured.microdata, measured.recoding, measured.worths),
        compared=2,
        more_is_better=True,
    ),
)
