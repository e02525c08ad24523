"""Incremental maintenance (INC): Figures 4 to 6.

The comparison is that of ``benchmarks/maintenance.py``: 10,000 records of Adult, age and education-num as free
intervals, from half a per cent to half as many again inserted or deleted, k = 3, 5 and 10.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks import maintenance
from benchmarks.drawing import Panel, draw
from benchmarks.maintenance import SHARES, Line
from benchmarks.page import DOCS
from benchmarks.papers.writing import Write, count, picture, table
from hedgerow.reports.charts.axes import Axis

KS = (3, 5, 10)
VERBS = {"insert": "inserted", "delete": "deleted"}
SHOWN = (0.005, 0.01, 0.05, 0.10, 0.25, 0.50)


def run(write: Write) -> None:
    """Measure, draw and write."""
    lines = []
    for verb in VERBS:
        for k in KS:
            maintenance.compare(verb, k, SHARES[0])  # compiles
            lines += [maintenance.compare(verb, k, share) for share in SHARES]
    for name, text in blocks(lines).items():
        write(name, text)
    draw(DOCS / "papers-inc.svg", "Maintaining a release, and making it afresh", panels(lines), columns=2)


def blocks(lines: Sequence[Line]) -> dict[str, str]:
    """Figures 4 and 5 as one table, Figure 6 as another."""
    at = {(line.verb, line.share, line.k): line for line in lines}
    changes = [
        [f"{100 * share:g}% {done}", *(_change(at[verb, share, k]) for k in KS)]
        for verb, done in VERBS.items()
        for share in SHOWN
        if (verb, share, KS[0]) in at
    ]
    optimized = []
    for verb, done in VERBS.items():
        for k in KS:
            mine = [line for line in lines if (line.verb, line.k) == (verb, k)]
            if mine:
                optimized.append(
                    [
                        done,
                        k,
                        _range([1 - line.static_loss / line.static_before for line in mine], ".1%"),
                        _range([1 - line.incremental_loss / line.incremental_before for line in mine], ".1%"),
                        _range([line.optimization * 1e3 for line in mine], ".0f"),
                        _range([line.static * 1e3 for line in mine], ".0f"),
                    ]
                )
    return {
        "inc-figures": table(("change", *(f"k = {k}: loss afresh → maintained; times faster" for k in KS)), changes)
        + "\n\n"
        + picture("Loss and time of maintaining and of starting afresh", "papers-inc"),
        "inc-figure-6": table(
            ("records", "k", "less loss, afresh", "less loss, maintained", "ms of optimization", "ms afresh"), optimized
        ),
    }


def panels(lines: Sequence[Line]) -> list[Panel]:
    """Figure 4 (inserts, k = 3), Figure 5 (deletes, k = 5) and Figure 6 (optimization of what Figure 4 shows)."""
    found = []
    for title, verb, k in (("Figure 4", "insert", 3), ("Figure 5", "delete", 5)):
        mine = [line for line in lines if (line.verb, line.k) == (verb, k)]
        found += [
            _panel(f"{title}a: loss, k = {k}", verb, "loss after optimization", mine, {
                "afresh": [line.static_loss for line in mine],
                "maintained": [line.incremental_loss for line in mine],
            }),
            _panel(f"{title}b: time, k = {k}", verb, "milliseconds", mine, {
                "afresh": [line.static * 1e3 for line in mine],
                "maintained": [line.incremental * 1e3 for line in mine],
            }),
        ]  # fmt: skip
    mine = [line for line in lines if (line.verb, line.k) == ("insert", 3)]
    found += [
        _panel("Figure 6a: what optimization gains, k = 3", "insert", "% less loss", mine, {
            "afresh": [100 * (1 - line.static_loss / line.static_before) for line in mine],
            "maintained": [100 * (1 - line.incremental_loss / line.incremental_before) for line in mine],
        }),
        _panel("Figure 6b: what it takes, k = 3", "insert", "milliseconds", mine, {
            "afresh": [line.static * 1e3 for line in mine],
            "maintained": [line.incremental * 1e3 for line in mine],
            "optimization of maintained": [line.optimization * 1e3 for line in mine],
        }),
    ]  # fmt: skip
    return found


def _change(line: Line) -> str:
    ratio = f"× {line.incremental_loss / line.static_loss:.3f}"
    loss = f"{count(round(line.static_loss))} → {count(round(line.incremental_loss))}, {ratio}"
    return f"{loss}; {line.static / line.incremental:.1f}"


def _panel(title: str, verb: str, up: str, lines: Sequence[Line], curves: dict[str, list[float]]) -> Panel:
    """The paper spaces its shares evenly, and so do we."""
    marks = [(place, f"{100 * line.share:g}") for place, line in enumerate(lines)]
    drawn = {label: list(enumerate(values)) for label, values in curves.items()}
    return Panel(title, Axis(f"% {VERBS[verb]}", marks=marks), Axis(up, least=0), drawn)


def _range(numbers: Sequence[float], form: str) -> str:
    low, high = format(min(numbers), form), format(max(numbers), form)
    return low if low == high else f"{low} to {high}"
