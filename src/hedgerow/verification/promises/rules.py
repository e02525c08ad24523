"""Rules: two values that the owner wants kept apart, and the published cells that mix them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

from hedgerow.plan import Attribute, Rule
from hedgerow.verification.counting.evidence import Evidence
from hedgerow.verification.result import Promise
from hedgerow.verification.values.bands import Bands
from hedgerow.verification.values.columns import ladder_of, one_level
from hedgerow.verification.values.numbers import Exact, Span, name_number, read_number, read_span, spans_of_band
from hedgerow.verification.values.trees import Ladder, NamedTree, OneLevel

RULES = "rules"


class Distinction(ABC):
    """What tells the published cells that mix two values from those that keep them apart."""

    @abstractmethod
    def mixed_in(self, label: str) -> bool:
        """Tell whether a published cell breaks the rule; a label that nothing is known of does not."""


@dataclass(frozen=True)
class BetweenNumbers(Distinction):
    """Two numbers, the smaller first, that no range should span.

    Attributes
    ----------
    ranges
        For a tree of numbers: the least and the greatest leaf under each node. None: labels are ranges themselves.
    root
        Label of the root, if there is one. Its range depends on the original, so it always breaks.
    """

    low: Exact
    high: Exact
    ranges: Mapping[str, Span] | None
    root: str | None

    def mixed_in(self, label: str) -> bool:
        """Tell whether a published range reaches from the one number or below to the other or above.

        Examples
        --------
        >>> retirement = BetweenNumbers(64, 65, None, "*")
        >>> [retirement.mixed_in(label) for label in ("60-64", "60-65", "64-70", "65", "[60, 65)", "[60, 70)", "*")]
        [False, True, True, False, False, True, True]
        """
        if label == self.root:
            return True
        span = read_span(label) if self.ranges is None else self.ranges.get(label)
        if span is None or span.low > self.low:
            return False
        return self.high < span.high if span.style == "half-open" else self.high <= span.high


@dataclass(frozen=True)
class BetweenNodes(Distinction):
    """Two leaves or nodes of a hierarchy that no node should mix."""

    ladder: Ladder
    one: str
    other: str

    def mixed_in(self, label: str) -> bool:
        """Tell whether a published node has leaves under it of both; the root always has.

        Examples
        --------
        >>> from hedgerow.verification.values.trees import Marks
        >>> tree = {"any": {"white": {}, "other": {"Asian": {}, "Inuit": {}}}}
        >>> rule = BetweenNodes(NamedTree.of(tree, Marks()), "Asian", "Inuit")
        >>> [rule.mixed_in(label) for label in ("Asian", "other", "white", "any")]
        [False, True, False, True]
        """
        if label == self.ladder.root:
            return True
        ways = list(self.ladder.witnesses(label)) if self.ladder.knows(label) else []
        return all(
            label in around or any(not names.isdisjoint(line.labels) for line in ways) for names, around in self._sides
        )

    @cached_property
    def _sides(self) -> list[tuple[set[str], set[str | None]]]:
        """For each of the two the ways to write it, and labels that share a leaf with it: all above, and some below."""
        sides = []
        for side in (self.one, self.other):
            names = _spellings(side) if isinstance(self.ladder, Bands) else {side}
            ways = [line for name in names if self.ladder.knows(name) for line in self.ladder.witnesses(name)]
            sides.append((names, {label for line in ways for label in line.published}))
        return sides


def _spellings(name: str) -> set[str]:
    """Return the ways to write a number or a band, which depend on whether all numbers of the column are whole."""
    number, span = read_number(name), read_span(name)
    if number is not None:
        return {name_number(number)}
    return {name} if span is None else {str(way) for way in spans_of_band(span.low, span.end)}


def distinction_of(attribute: Attribute, rule: Rule, longest: int, level: OneLevel | None = None) -> Distinction:
    """Read a rule as its column wants it.

    Parameters
    ----------
    attribute
        The column of the rule.
    rule
        The rule.
    longest
        Characters of a full value, in case the plan does not say.
    level
        The level at which the whole column is published, if it is.
    """
    one, other = rule.keep_apart
    spec = attribute.hierarchy
    stops = attribute.limit if level is not None and spec is not None and spec.tree is not None else None
    ladder = ladder_of(spec, stops, (), longest, level)
    if not attribute.in_numbers:
        return BetweenNodes(ladder, one, other)
    low, high = read_number(one), read_number(other)
    assert low is not None  # the plan was checked
    assert high is not None
    if attribute.free:
        return BetweenNumbers(low, high, None, None)
    return BetweenNumbers(low, high, _ranges(ladder) if isinstance(ladder, NamedTree) else None, ladder.root)


def _ranges(tree: NamedTree) -> dict[str, Span]:
    ranges = {}
    for label, lines in tree.under.items():
        read = [read_number(str(line.labels[0])) for line in lines]
        numbers = [number for number in read if number is not None]
        if numbers:
            ranges[label] = Span(min(numbers), max(numbers), "closed")
    return ranges


def check_rules(evidence: Evidence) -> Promise:
    """Check what facts.json says of the plan's rules: which are kept, and how many groups break each."""
    asked = "as facts.json says"
    rules = evidence.plan.rules
    stated = evidence.published.facts.get(RULES)
    entries = stated if isinstance(stated, list) else []
    faults = [f"the plan has {len(rules)} rules, facts.json lists {len(entries)}"] if len(entries) != len(rules) else []
    shown = []
    for number, rule in enumerate(rules):
        if rule.attribute not in evidence.cells:
            faults.append(f"missing column: {rule.attribute}")
            continue
        breaking = groups_breaking(evidence, rule)
        wrong = _wrong(entries[number], rule, breaking) if number < len(entries) else []
        if wrong:
            faults.append(f"{rule.title}: {breaking} groups break it, facts.json is wrong on {', '.join(wrong)}")
        if breaking:
            shown.append(f"{rule.title} ({breaking} groups)")
    kept = f"{len(rules) - len(shown)} of {len(rules)} kept"
    agrees = "; ".join([kept, *([f"broken: {', '.join(shown)}"] if shown else [])])
    return Promise("rules", asked, "; ".join(faults) or agrees, kept=not faults)


def groups_breaking(evidence: Evidence, rule: Rule) -> int:
    """Count the groups whose published value breaks a rule; a missing one never does."""
    labels = evidence.groups_by_label(rule.attribute)
    known = [label for label, _ in labels]
    if evidence.original is not None:
        known = [value for value in evidence.original.distinct(rule.attribute) if value is not None]
    longest = max(map(len, known), default=1)
    level = one_level(evidence.plan, evidence.published.facts.get("levels"), rule.attribute)
    distinction = distinction_of(evidence.plan.attributes[rule.attribute], rule, longest, level)
    return sum(groups for label, groups in labels if distinction.mixed_in(label))


def _wrong(entry: Any, rule: Rule, breaking: int) -> list[str]:
    """Return on which points an entry of facts.json is wrong."""
    entry = entry if isinstance(entry, dict) else {}
    right = {
        "name": entry.get("name") == rule.title,
        "attribute": entry.get("attribute") == rule.attribute,
        "importance": _same_number(entry.get("importance"), rule.importance),
        "kept": entry.get("kept") is (breaking == 0),
        "groups_breaking": type(entry.get("groups_breaking")) is int and entry["groups_breaking"] == breaking,
    }
    return [point for point, agrees in right.items() if not agrees]


def _same_number(stated: Any, asked: int | Decimal) -> bool:
    if type(stated) not in (int, float):
        return False
    return bool(stated == asked or (isinstance(asked, Decimal) and stated == float(asked)))
