"""Maintaining a release against making it afresh: the paper's Figures 4 to 6 (INC), and one per cent of a million.

Times are those of the algorithms: what was read and encoded is there for both. All figures of a line come from one run
after compilation; incremental starts from the clusters of the records that were there before.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks import adult
from hedgerow.clustering import KMember
from hedgerow.maintenance.change import maintain
from hedgerow.maintenance.clusters import recoding_of
from hedgerow.maintenance.optimize import optimize
from hedgerow.measures import total_loss
from hedgerow.microdata import encode_table, read_table
from hedgerow.plan import Plan

IntArray = npt.NDArray[np.int64]
SHARES = (0.005, 0.01, 0.02, 0.03, 0.05, 0.10, 0.15, 0.25, 0.50)
BASE = 10_000
MILLION = 1_000_000


@dataclass(frozen=True)
class Line:
    """One comparison; losses are after IL_Optimization, as the paper reports them."""

    verb: str
    k: int
    share: float
    incremental: float
    static: float
    optimization: float
    incremental_loss: float
    static_loss: float
    incremental_before: float
    static_before: float


def plan(k: int) -> Plan:
    """The eight attributes of the paper: age and education in numbers, the others by their trees."""
    made = adult.plan(k).to_dict()
    for name in ("age", "education-num"):
        made["attributes"][name] = {"role": "quasi-identifier", "intervals": "free"}
    return Plan.from_dict(made)


def run(report: Callable[[str, Any], None]) -> None:
    """Measure, print the table, and draw it where HEDGEROW_PLOTS names a folder."""
    lines = [
        _compare(verb, k, share) for verb in ("insert", "delete") for k in (3, 5, 10) for share in (SHARES[0], *SHARES)
    ]
    lines = [line for i, line in enumerate(lines) if i % (len(SHARES) + 1)]  # the first of each k warms up
    for line in lines:
        report(
            f"{line.verb} {line.share:.1%}, k = {line.k}: ms, static ms, times faster",
            f"{line.incremental * 1e3:.1f}, {line.static * 1e3:.1f}, {line.static / line.incremental:.1f}",
        )
        report(
            "  loss, static loss, ratio (before optimization: ratio)",
            f"{line.incremental_loss:.1f}, {line.static_loss:.1f}, {line.incremental_loss / line.static_loss:.4f} "
            f"({line.incremental_before / line.static_before:.4f})",
        )
    folder = os.environ.get("HEDGEROW_PLOTS")
    if folder:
        _draw(lines, Path(folder))
    _million(report)


def _million(report: Callable[[str, Any], None]) -> None:
    for k in (5, 10):
        asked = adult.plan(k)
        microdata = encode_table(read_table(adult.resampled(adult.records(), MILLION), asked), asked)
        new = _chosen(len(microdata.record_of), MILLION // 100)
        old = np.flatnonzero(~new)
        static, made = _best(lambda m=microdata, k=k: KMember(k)(m), times=2)
        before = KMember(k)(microdata.of_units(old))
        cluster_of = np.full(len(new), -1, np.int64)
        cluster_of[old] = before.group_of
        seconds, change = _best(
            lambda m=microdata, a=asked, c=cluster_of, b=before: maintain(m, a, c, b.groups), times=7
        )
        report(f"a million, k = {k}: insert 1 % s, static s", f"{seconds:.3f}, {static:.2f}")
        report("  share of the static time", f"{seconds / static:.2%}")
        ratio = total_loss(microdata, recoding_of(microdata, change.cluster_of)) / total_loss(microdata, made)
        report("  loss, as a ratio to static", f"{float(ratio):.4f}")


def _compare(verb: str, k: int, share: float) -> Line:
    """Make a release of 10,000 records incrementally and afresh; an insert ends, a delete starts, with more of them."""
    asked = plan(k)
    table = adult.records()
    total = BASE + round(BASE * share)
    everything = encode_table(read_table(table.slice(0, total), asked), asked)
    late = _chosen(total, total - BASE)[everything.record_of]
    first = everything.of_units(np.flatnonzero(~late)) if verb == "insert" else everything
    after = everything if verb == "insert" else everything.of_units(np.flatnonzero(~late))
    before = KMember(k)(first)
    cluster_of = np.full(len(after.record_of), -1, np.int64)
    if verb == "insert":
        cluster_of[~late] = before.group_of
    else:
        cluster_of = before.group_of[~late]
    incremental, change = _best(lambda: maintain(after, asked, cluster_of, before.groups))
    static, fresh = _best(lambda: KMember(k)(after))
    lower, optimized = _best(lambda: optimize(after, asked, change.cluster_of, change.used, passes=0))
    fresh_optimized = optimize(after, asked, fresh.group_of, fresh.groups, passes=0)

    def loss(cluster_of: IntArray) -> float:
        return float(total_loss(after, recoding_of(after, cluster_of)))

    return Line(
        verb, k, share, incremental, static, lower, loss(optimized.cluster_of),
        loss(fresh_optimized.cluster_of), loss(change.cluster_of), loss(fresh.group_of),
    )  # fmt: skip


def _chosen(total: int, many: int) -> npt.NDArray[np.bool_]:
    chosen = np.zeros(total, bool)
    chosen[np.random.default_rng(total).choice(total, many, replace=False)] = True
    return chosen


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    made = work()
    return time.perf_counter() - start, made


def _best(work: Callable[[], Any], times: int = 3) -> tuple[float, Any]:
    return min((_timed(work) for _ in range(times)), key=lambda pair: pair[0])


def _draw(lines: list[Line], folder: Path) -> None:
    """Figures 4 and 5 (loss and time) for each k, and 6 (optimization), as one picture each."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "hedgerow"
    import matplotlib.pyplot as plt

    for verb in ("insert", "delete"):
        figure, axes = plt.subplots(2, 3, figsize=(11, 6), sharex=True)
        for column, k in enumerate((3, 5, 10)):
            mine = [line for line in lines if (line.verb, line.k) == (verb, k)]
            at = [line.share * 100 for line in mine]
            above, below = axes[0, column], axes[1, column]
            above.plot(at, [line.static_loss for line in mine], "o-", label="afresh")
            above.plot(at, [line.incremental_loss for line in mine], "s--", label="maintained")
            below.plot(at, [line.static * 1e3 for line in mine], "o-", label="afresh")
            below.plot(at, [line.incremental * 1e3 for line in mine], "s--", label="maintained")
            below.plot(at, [line.optimization * 1e3 for line in mine], ":", label="IL_Optimization")
            above.set_title(f"k = {k}")
            below.set_xlabel("% inserted" if verb == "insert" else "% deleted")
            below.set_yscale("log")
            above.grid(alpha=0.3)
            below.grid(alpha=0.3)
        axes[0, 0].set_ylabel("loss after optimization")
        axes[1, 0].set_ylabel("milliseconds")
        axes[0, 0].legend()
        axes[1, 0].legend()
        figure.tight_layout()
        figure.savefig(folder / f"maintenance-{verb}.svg", metadata={"Date": None})
        plt.close(figure)
