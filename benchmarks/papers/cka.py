"""Constrained k-anonymity (CKA): Figures 8 and 9, Tables 1 and 2.

GreedyCKA against Greedy_k-member_Clustering on 10,000 records drawn from Adult, eight quasi-identifiers, k from 2 to
10, with limits on the country, and on country and age. The paper drew one sample; we draw ten and tell how far they
differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks import adult
from benchmarks.drawing import Panel, draw
from benchmarks.page import DOCS
from benchmarks.papers.adult_limits import Rows, encode, plan_of
from benchmarks.papers.measuring import fastest
from benchmarks.papers.writing import Write, count, least_to_most, milliseconds, picture, table
from benchmarks.scan import cluster_by_scan
from hedgerow.anonymization.clustering import ConstrainedKMember, KMember, find_cells
from hedgerow.anonymization.clustering.costs import cost_tables
from hedgerow.measures import total_loss
from hedgerow.microdata import Microdata
from hedgerow.microdata.recoding import Recoding
from hedgerow.privacy import Requirement
from hedgerow.reports.charts.axes import Axis

COLUMNS = ("education-num", "workclass", "marital-status", "occupation", "race", "sex", "age", "native-country")
KS = tuple(range(2, 11))
TIMED = (2, 4, 6, 8, 10)
SAMPLE = 10_000
SAMPLES = 10
LIMITED = {"country": ("native-country",), "country and age": ("native-country", "age")}

# Table 1 by k: breaks of limits by the unconstrained algorithm, on the country, and on country and age.
TABLE_1 = {
    2: (605, 2209), 3: (991, 3824), 4: (1377, 5297), 5: (1657, 6163), 6: (1906, 6964), 7: (2198, 7743),
    8: (2354, 8417), 9: (2550, 8931), 10: (2728, 9549),
}  # fmt: skip
# Table 2 by k: records withheld with limits on country and age; on the country alone it is 0 for every k.
TABLE_2 = {2: 5, 3: 15, 4: 24, 5: 28, 6: 48, 7: 60, 8: 81, 9: 97, 10: 106}


@dataclass(frozen=True)
class Line:
    """One sample at one k; what is limited is ``country`` or ``country and age``, and ``""`` for no limits.

    Attributes
    ----------
    breaks
        Breaks of limits by the unconstrained algorithm, by what would be limited.
    withheld, loss
        Records withheld, and total loss with them, by what is limited.
    """

    k: int
    breaks: dict[str, int]
    withheld: dict[str, int]
    loss: dict[str, float]


@dataclass(frozen=True)
class Times:
    """Seconds at one k by what is limited: by our search index, and by scanning all remaining records."""

    k: int
    index: dict[str, float]
    scan: dict[str, float]


def run(write: Write) -> None:
    """Measure, draw and write."""
    rows = adult.complete_rows("adult.data", "adult.test")
    samples = [drawn(rows, SAMPLE, seed) for seed in range(SAMPLES)]
    lines = [[compare(sample, k) for k in KS] for sample in (encoded(rows) for rows in samples)]
    times = measure_times(encoded(samples[0]), TIMED)
    for name, text in blocks(lines, times).items():
        write(name, text)
    draw(DOCS / "papers-cka.svg", "GreedyCKA and Greedy_k-member_Clustering", panels(lines[0], times), columns=2)


def drawn(rows: Rows, size: int, seed: int) -> Rows:
    """A sample without replacement, in the order of the file."""
    picked = np.sort(np.random.default_rng(seed).choice(len(rows), size, replace=False))
    return [rows[place] for place in picked]


def encoded(rows: Rows) -> dict[str, Microdata]:
    """The records by what is limited; without limits, those of country and age serve, for they are ignored."""
    made = {what: encode(rows, plan_of(COLUMNS, limited)) for what, limited in LIMITED.items()}
    return {"": made["country and age"], **made}


def cluster(sample: dict[str, Microdata], what: str, k: int) -> Recoding:
    """GreedyCKA within limits, Greedy_k-member_Clustering without."""
    return ConstrainedKMember(k)(sample[what]) if what else KMember(k)(sample[what])


def compare(sample: dict[str, Microdata], k: int) -> Line:
    """Run the three releases of one sample."""
    made = {what: cluster(sample, what, k) for what in sample}
    broken = made[""].breaks_by_column(sample[""])
    return Line(
        k,
        {what: sum(broken[name] for name in limited) for what, limited in LIMITED.items()},
        {what: sample[what].records - made[what].released for what in LIMITED},
        {what: float(total_loss(sample[what], made[what])) for what in sample},
    )


def measure_times(sample: dict[str, Microdata], ks: Sequence[int]) -> list[Times]:
    """Time clustering with our index, and as the paper has it: looking at every remaining record for every choice."""
    for what in sample:
        cluster(sample, what, 2)
    scan(sample, "country and age", max(ks))  # compiles the scan
    found = []
    for k in ks:
        index = {what: fastest(lambda what=what, k=k: cluster(sample, what, k))[0] for what in sample}  # type: ignore[misc]
        plain = {what: fastest(lambda what=what, k=k: scan(sample, what, k))[0] for what in sample}  # type: ignore[misc]
        found.append(Times(k, index, plain))
    return found


def scan(sample: dict[str, Microdata], what: str, k: int) -> None:
    """Greedy clustering in every cell of at least k, without an index; records left over at the end are left out."""
    microdata = sample[what]
    costs = cost_tables(microdata)
    codes = microdata.profiles[microdata.profile_of_unit].astype(np.uint16)
    cells = find_cells(microdata, Requirement(k), ignore_limits=not what)
    for cell in range(len(cells.records)):
        members = codes[cells.cell_of == cell]
        if len(members) >= k:
            cluster_by_scan(members, costs.offset, costs.width, costs.costs, k)


def blocks(lines: Sequence[Sequence[Line]], times: Sequence[Times]) -> dict[str, str]:
    """The tables, by block; ``lines`` by sample and k."""
    at = [line.k for line in lines[0]]
    first = dict(zip(at, lines[0], strict=True))
    every = {k: [sample[place] for sample in lines] for place, k in enumerate(at)}
    losses = [[k, *(count(round(first[k].loss[what])) for what in ("", *LIMITED)), *_ratios(every[k])] for k in at]
    one, two = LIMITED
    seconds = [
        [time.k, *(milliseconds(by[what]) for by in (time.index, time.scan) for what in ("", *LIMITED))]
        for time in times
    ]
    breaks = [
        [
            k,
            *(
                cell
                for what, printed in zip((one, two), TABLE_1[k], strict=True)
                for cell in (count(printed), _spread(first[k].breaks[what], [line.breaks[what] for line in every[k]]))
            ),
        ]
        for k in at
    ]
    withheld = [
        [
            k,
            0,
            _spread(first[k].withheld[one], [line.withheld[one] for line in every[k]]),
            TABLE_2[k],
            _spread(first[k].withheld[two], [line.withheld[two] for line in every[k]]),
        ]
        for k in at
    ]
    head = ("k", f"{one}: printed", f"ours (of {len(lines)})", f"{two}: printed", f"ours (of {len(lines)})")
    return {
        "cka-loss": table(("k", "no limits", one, two, f"{one}: ratio", f"{two}: ratio"), losses)
        + "\n\n"
        + picture("Loss and time of GreedyCKA and of Greedy_k-member_Clustering over k", "papers-cka"),
        "cka-time": table(("k", "index: no limits", one, two, "scan: no limits", one, two), seconds),
        "cka-table-1": table(head, breaks),
        "cka-table-2": table(head, withheld),
    }


def panels(lines: Sequence[Line], times: Sequence[Times]) -> list[Panel]:
    """Figures 8 and 9."""
    labels = {"": "Greedy_k-member, no limits"} | {what: f"GreedyCKA, {what}" for what in LIMITED}
    return [
        Panel(
            "Figure 8: total loss", Axis("k"), Axis("loss", least=0),
            {label: [(line.k, line.loss[what]) for line in lines] for what, label in labels.items()},
        ),
        Panel(
            "Figure 9: time, scanning all records as the paper did", Axis("k"), Axis("milliseconds", least=0),
            {label: [(time.k, time.scan[what] * 1e3) for time in times] for what, label in labels.items()},
        ),
    ]  # fmt: skip


def _spread(first: int, every: Sequence[int]) -> str:
    return f"{count(first)} ({least_to_most(every)})"


def _ratios(lines: Sequence[Line]) -> list[str]:
    found = []
    for what in LIMITED:
        ratios = [line.loss[what] / line.loss[""] for line in lines]
        found.append(f"{min(ratios):.3f} to {max(ratios):.3f}")
    return found
