"""The partitioner: time and loss beside clustering, and what splitting cells before clustering saves and costs."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from typing import Any

import pyarrow as pa

from hedgerow.clustering import ConstrainedKMember, Partition, find_cells, split_cells
from hedgerow.measures import ntil
from hedgerow.microdata import Microdata, encode_table, read_table
from hedgerow.plan import Plan
from hedgerow.privacy import Requirement
from hedgerow.recoding import Recoding
from hedgerow.solving import solve
from hedgerow.synthetic import census
from hedgerow.synthetic.table import write_demo

K = 10
COLUMNS = 9  # eight quasi-identifiers and the benefits
SIZES = (30_000, 1_000_000)
SPLIT_SIZE = 300_000
SPLITS = (100_000, 30_000, 10_000, 3_000, 1_000)


def run(report: Callable[[str, Any], None]) -> None:
    """Measure on the made-up census with k = 10, on one core after warm-up."""
    plan = census_plan()
    requirement = Requirement(K)
    ConstrainedKMember(2)(microdata_of(1_000, plan))  # compile
    for size in SIZES:
        microdata = microdata_of(size, plan)
        cells = find_cells(microdata, requirement)
        report("records, profiles, cells", f"{size:,}, {len(microdata.profiles):,}, {len(cells.people):,}")
        partitioned, seconds = _timed(lambda: Partition(requirement)(microdata, cells=cells), 3)  # noqa: B023
        report("partition: s, NTIL", f"{seconds:.2f}, {_ntil(microdata, partitioned):.4f}")
        clustered, slower = _timed(lambda: ConstrainedKMember(K)(microdata, cells=cells), 1)  # noqa: B023
        report("cluster: s, NTIL", f"{slower:.2f}, {_ntil(microdata, clustered):.4f}")
        more = _ntil(microdata, partitioned) / _ntil(microdata, clustered)
        report("partition: times faster, times the loss", f"{slower / seconds:.1f}, {more:.3f}")
    _split(report, plan)


def _split(report: Callable[[str, Any], None], plan: Plan) -> None:
    """Cluster one huge cell, whole and split."""
    microdata = microdata_of(SPLIT_SIZE, plan)
    requirement = Requirement(K)
    cells = find_cells(microdata, requirement, ignore_limits=True)
    report("one cell: records, profiles", f"{SPLIT_SIZE:,}, {len(microdata.profiles):,}")
    whole, slow = _timed(lambda: ConstrainedKMember(K)(microdata, cells=cells), 1)
    loss = _ntil(microdata, whole)
    report("not split: s, NTIL", f"{slow:.2f}, {loss:.4f}")
    for most in SPLITS:
        split, cutting = _timed(lambda: split_cells(microdata, cells, requirement, most), 1)  # noqa: B023
        made, clustering = _timed(lambda: ConstrainedKMember(K)(microdata, cells=split.cells), 1)  # noqa: B023
        method = {"name": "cluster", "split": most, "limits": "ignore"}
        told = solve(microdata, plan.replace(method=method), threads=1).details["split"]
        report(
            f"split: {most:,}: parts; s to split, to cluster; loss, as sampled",
            f"{told['parts']:,}; {cutting:.2f}, {clustering:.2f}; "
            f"× {_ntil(microdata, made) / loss:.4f}, × {told['sampled_loss_ratio']:.4f}",
        )


def census_plan() -> Plan:
    """The plan of the census with eight quasi-identifiers, hierarchies in it."""
    with tempfile.TemporaryDirectory() as folder:
        _, path = write_demo(f"{folder}/census", census(1_000, attributes=COLUMNS))
        return Plan.load(path).replace(privacy={"k": K}).settled()


def microdata_of(records: int, plan: Plan) -> Microdata:
    """A census of so many records."""
    return encode_table(read_table(pa.table(census(records, attributes=COLUMNS).columns), plan), plan)


def _ntil(microdata: Microdata, recoding: Recoding) -> float:
    return float(ntil(microdata, recoding))


def _timed(work: Callable[[], Any], times: int) -> tuple[Any, float]:
    """What the work gives, and the seconds of the fastest of several times."""
    least = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        found = work()
        least = min(least, time.perf_counter() - start)
    return found, least
