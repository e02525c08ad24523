"""Constrained p-sensitive k-anonymity (CPKA): Figures 5 and 6, Tables 5 and 6.

GreedyCPKA, GreedyPKClustering (no limits) and GreedyCKA (no p) on the 45,222 complete records of Adult, six
quasi-identifiers, three sensitive columns. Records left over join the cluster whose loss is least with them, as
printed; our default, the cluster whose loss grows least, stands beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks import adult
from benchmarks.drawing import Panel, draw
from benchmarks.page import DOCS
from benchmarks.papers.adult_limits import encode, plan_of
from benchmarks.papers.measuring import TIMES, fastest
from benchmarks.papers.writing import Write, count, milliseconds, picture, table
from hedgerow.anonymization.clustering import ConstrainedKMember, DiverseClustering
from hedgerow.measures import ntil
from hedgerow.microdata import Microdata
from hedgerow.microdata.recoding import Recoding
from hedgerow.privacy import PSensitive, Requirement
from hedgerow.reports.charts.axes import Axis

COLUMNS = ("age", "workclass", "marital-status", "race", "sex", "native-country")
LIMITED = ("age", "native-country")
SENSITIVE = {"education-num": "0.3", "education": "0.3", "occupation": "0.4"}
WORTH_A_LOOK = 0.01
NAMES = ("GreedyCPKA", "GreedyPKClustering", "GreedyCKA")

# Tables 5 and 6 by k and p: breaks of limits by GreedyPKClustering, records withheld by GreedyCPKA.
PRINTED = {
    4: {2: (3958, 11), 3: (6286, 17), 4: (12743, 38)},
    8: {2: (7260, 42), 3: (7766, 42), 4: (10836, 52), 6: (21213, 127), 8: (27017, 358)},
    10: {2: (8686, 51), 3: (9164, 51), 4: (11345, 61), 6: (22853, 136), 8: (27882, 358), 10: (36073, 463)},
    20: {
        2: (13990, 162), 3: (14171, 162), 4: (14896, 162), 6: (26893, 192), 8: (36437, 370), 10: (43058, 463),
        13: (61391, 1593),
    },
}  # fmt: skip
# Table 6, the column of GreedyCKA, by k.
PRINTED_CKA = {4: 11, 8: 42, 10: 51, 20: 162}


@dataclass(frozen=True)
class Outcome:
    """What one algorithm came to.

    Attributes
    ----------
    loss
        NTIL, withheld records included.
    breaks
        Breaks of limits.
    """

    loss: float
    seconds: float
    breaks: int
    withheld: int
    groups: int
    released: int


@dataclass(frozen=True)
class Line:
    """The three algorithms at one k and p.

    Attributes
    ----------
    by_increase
        The unconstrained one with our default way to join; None where next to nothing is left over to join.
    """

    k: int
    p: int
    constrained: Outcome
    unconstrained: Outcome
    by_increase: Outcome | None
    k_only: Outcome

    @property
    def left_over(self) -> float:
        """Share of the records, at most, that the unconstrained algorithm had left when no group could be completed."""
        return left_over(self.unconstrained, self.k)


def run(write: Write) -> None:
    """Measure, draw and write."""
    rows = adult.complete_rows("adult.data", "adult.test")
    lines = compare(encode(rows, plan_of(COLUMNS, LIMITED, SENSITIVE)), {k: tuple(by) for k, by in PRINTED.items()})
    for name, text in blocks(lines).items():
        write(name, text)
    draw(DOCS / "papers-cpka.svg", "Loss and time of three algorithms", panels(lines), columns=2)


def requirement(microdata: Microdata, k: int, p: int) -> Requirement:
    """K records, and p values of every sensitive column."""
    return Requirement(k, tuple((place, PSensitive(p)) for place in range(len(microdata.sensitive))))


def compare(microdata: Microdata, asked: Mapping[int, Sequence[int]], times: int = TIMES) -> list[Line]:
    """Run the algorithms for every k and p asked for."""
    few = microdata.of_units(np.arange(min(200, len(microdata.record_of))))
    ConstrainedKMember(2)(few), DiverseClustering(requirement(few, 2, 2), ignore_limits=True)(few)  # compiles
    lines = []
    for k, ps in asked.items():
        plain = outcome(microdata, ConstrainedKMember(k), times)
        for p in ps:
            wanted = requirement(microdata, k, p)
            within = outcome(microdata, DiverseClustering(wanted, join="loss"), times)
            without = outcome(microdata, DiverseClustering(wanted, join="loss", ignore_limits=True), times)
            ours = None
            if left_over(without, k) >= WORTH_A_LOOK:
                ours = outcome(microdata, DiverseClustering(wanted, ignore_limits=True), times=1)
            lines.append(Line(k, p, within, without, ours, plain))
    return lines


def left_over(found: Outcome, k: int) -> float:
    """Share of the records that are more than k in their group, so that they may have joined at the end."""
    return 1 - found.groups * k / found.released


def outcome(microdata: Microdata, algorithm: Callable[[Microdata], Recoding], times: int) -> Outcome:
    """Run an algorithm and measure its release."""
    seconds, made = fastest(lambda: algorithm(microdata), times)
    return Outcome(
        float(ntil(microdata, made)),
        seconds,
        sum(made.breaks_by_column(microdata).values()),
        microdata.records - made.released,
        made.groups,
        made.released,
    )


def blocks(lines: Sequence[Line]) -> dict[str, str]:
    """The tables, by block."""
    figures = [
        [line.k, line.p, *(f"{found.loss:.4f}, {milliseconds(found.seconds)} ms" for found in _three(line))]
        for line in lines
    ]
    breaks = [
        [
            line.k,
            line.p,
            count(PRINTED[line.k][line.p][0]),
            f"{count(line.unconstrained.breaks)} (× {line.unconstrained.breaks / PRINTED[line.k][line.p][0]:.2f})",
            f"{line.left_over:.0%}",
            "" if line.by_increase is None else f"{count(line.by_increase.breaks)}, {line.by_increase.loss:.4f}",
        ]
        for line in lines
    ]
    withheld = [
        [
            line.k,
            line.p,
            count(PRINTED[line.k][line.p][1]),
            count(line.constrained.withheld),
            count(PRINTED_CKA[line.k]),
            count(line.k_only.withheld),
        ]
        for line in lines
    ]
    return {
        "cpka-figures": table(("k", "p", *NAMES), figures)
        + "\n\n"
        + picture("Loss and time of three algorithms over k and p", "papers-cpka"),
        "cpka-table-5": table(("k", "p", "printed", "ours", "left over, at most", "by increase: breaks, NTIL"), breaks),
        "cpka-table-6": table(("k", "p", "GreedyCPKA: printed", "ours", "GreedyCKA: printed", "ours"), withheld),
    }


def panels(lines: Sequence[Line]) -> list[Panel]:
    """Figures 5 and 6, a column for every k."""
    ks = list(dict.fromkeys(line.k for line in lines))
    found = []
    for title, up, value in (
        ("Figure 5", "NTIL", lambda outcome: outcome.loss),
        ("Figure 6", "milliseconds", lambda outcome: outcome.seconds * 1e3),
    ):
        top = max(value(outcome) for line in lines for outcome in _three(line))
        for k in ks:
            mine = [line for line in lines if line.k == k]
            curves = {
                name: [(place, value(_three(line)[which])) for place, line in enumerate(mine)]
                for which, name in enumerate(NAMES)
            }
            marks = [(place, str(line.p)) for place, line in enumerate(mine)]
            y = Axis(up, least=0, most=top)
            found.append(Panel(f"{title}: k = {k}", Axis("p", marks=marks), y, curves))
    return found


def _three(line: Line) -> tuple[Outcome, Outcome, Outcome]:
    return line.constrained, line.unconstrained, line.k_only
