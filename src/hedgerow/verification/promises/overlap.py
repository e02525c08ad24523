"""Published values of one column that have a value in common: ranges that intersect, nodes one above the other."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from hedgerow.verification.counting.evidence import Evidence
from hedgerow.verification.counting.spots import first_in_row
from hedgerow.verification.result import Promise
from hedgerow.verification.values.columns import Cell, TreeJudge, may_suppress
from hedgerow.verification.values.columns import SuppressibleJudge as Suppressible
from hedgerow.verification.values.numbers import Span, read_span


def check_overlap(evidence: Evidence) -> Promise:
    """Check that different published values of a quasi-identifier have no value in common."""
    asked = "published values of a column apart"
    faults = []
    for name in evidence.cells:
        row_of = {label: row for label, _, row in evidence.labels[name]}
        if may_suppress(evidence.plan, name):
            row_of.pop(None, None)  # a missing cell says nothing of its value
        judge = evidence.judges[name]
        column = judge.column if isinstance(judge, Suppressible) else judge
        shared = under_others(column, row_of) if isinstance(column, TreeJudge) else in_others(row_of)
        if shared:
            row = first_in_row(min(row_of[label] for label in shared))
            faults.append(f"{name}: {len(shared)} published values overlap others{row}")
    return Promise("overlap", asked, "; ".join(faults) or f"so in {len(evidence.cells)} columns", kept=not faults)


def in_others(labels: Mapping[Cell, int] | Iterable[Cell]) -> list[Cell]:
    """Return the ranges that have a number in common with one that begins no later.

    Examples
    --------
    >>> in_others(["10-19", "15", "20-25", "25-30", None])
    ['15', '25-30']
    """
    spans: list[tuple[Span, Cell]] = []
    for label in labels:
        span = None if label is None else read_span(label)
        if span is not None:
            spans.append((span, label))
    found: list[Cell] = []
    reach = None  # the furthest end so far, and whether it belongs to its range
    for span, label in sorted(spans, key=lambda pair: (pair[0].low, *_backwards(pair[0]))):
        end = span.high, span.style != "half-open"
        if reach is not None and (span.low, True) <= reach:
            found.append(label)
        reach = end if reach is None else max(reach, end)
    return found


def _backwards(span: Span) -> tuple[object, bool]:
    """Order ranges that begin together: the longest first."""
    return -span.high, span.style == "half-open"


def under_others(judge: TreeJudge, labels: Collection[Cell]) -> list[Cell]:
    """Return the published values that lie under others, on some way up to the root.

    Examples
    --------
    >>> from hedgerow.verification.values.trees import Marks, NamedTree
    >>> tree = NamedTree.of({"US": {"Kansas": {"Wichita": {}}, "Ohio": {"Akron": {}}}}, Marks())
    >>> under_others(TreeJudge(tree, False, True), ["Wichita", "Kansas", "Akron"])
    ['Wichita']
    """
    there = set(labels)
    found = []
    for label in labels:
        for labels_up in _ways_up(judge, label):
            if label in labels_up and not there.isdisjoint(set(labels_up[labels_up.index(label) :]) - {label}):
                found.append(label)
                break
    return found


def _ways_up(judge: TreeJudge, label: Cell) -> Iterable[tuple[Cell, ...]]:
    """Return the ways to the root on which a published value lies."""
    if label is None or not judge.ladder.knows(label):
        return [line.labels for line in judge.lines(label)]
    return (line.labels for line in judge.ladder.witnesses(label))
