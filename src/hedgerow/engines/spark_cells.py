"""Clustering in Spark's tasks: cells are bundled, and the same kernels cluster each bundle in a task of its own.

No group crosses a cell, so the answer is the same as here, bit for bit, groups numbered alike. What depends on the
whole table goes along with every bundle: domains, limits and weights of the columns, the counts of sensitive values
that t-closeness compares with, what published values are worth. Which cells share a bundle does not matter, nor does
the order in which their records arrive, nor how often a task is tried: a task puts its records in canonical order
first, draws nothing by chance, writes nothing but compiled kernels, and Spark takes one attempt's answer.

Records go out in runs: those of a profile that agree in person and sensitive values, with their number. What comes back
is the group of every record, in runs as well, and the boxes of the groups.
"""

from __future__ import annotations

import os
import uuid
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hedgerow.anonymization.clustering import Cells, ConstrainedKMember, DiverseClustering, Improved, MergeSmall, Runs
from hedgerow.engines.spark import own_words
from hedgerow.microdata import Microdata
from hedgerow.microdata.columns import QuasiIdentifier
from hedgerow.microdata.ordering import starts_of_runs
from hedgerow.microdata.recoding import WITHHELD, Recoding
from hedgerow.microdata.sensitive import SensitiveColumn
from hedgerow.types import IntArray, Steps

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

Clustering = Any  # ConstrainedKMember, DiverseClustering or MergeSmall, improved or not; others are run here
RUNS_PER_TASK = 100_000
TASKS_PER_CORE = 4
POLL_SECONDS = 0.2
ANSWER = {
    "group_of": np.int64, "length": np.int64, "cell": np.int64, "lo": np.int64, "hi": np.int64, "hidden": bool,
    "proven": bool,
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Work:
    """What every task needs to know beside its records.

    Attributes
    ----------
    clustering
        The algorithm, with everything that it was told.
    columns, index_order, sensitive
        As in the microdata of the whole table.
    cache
        Where compiled kernels are kept, if the driver was told.
    """

    clustering: Clustering
    columns: tuple[QuasiIdentifier, ...]
    index_order: tuple[int, ...]
    sensitive: tuple[SensitiveColumn, ...]
    cache: str | None


def cluster_in_tasks(
    spark: SparkSession,
    clustering: Clustering,
    microdata: Microdata,
    cells: Cells,
    progress: Steps | None = None,
    tasks: int | None = None,
) -> Recoding:
    """Cluster as ``clustering(microdata, cells=cells)`` does, with the same result, in the tasks of a Spark session.

    Parameters
    ----------
    clustering
        What cannot be done cell by cell is done here: merging in which published values must not overlap, and
        algorithms other than clustering.
    tasks
        How many bundles to make; by default four for each core, and more if they were too large.
    """
    kept = np.flatnonzero(~cells.failing[cells.cell_of])
    if not _by_cells(clustering) or not len(kept):
        return clustering(microdata, cells=cells, progress=progress)  # type: ignore[no-any-return]
    runs = _runs(microdata, cells, kept)
    with own_words("Spark"):
        tasks = tasks or max(
            TASKS_PER_CORE * spark.sparkContext.defaultParallelism, -(-len(runs.first) // RUNS_PER_TASK)
        )
        bundle_of = _bundles(runs.cell, len(cells.failing), tasks)
        _compile(clustering, microdata, kept[:1])
        work = Work(
            alone(clustering),
            microdata.columns,
            microdata.index_order,
            microdata.sensitive,
            os.environ.get("HEDGEROW_CACHE"),
        )
        answers = _run(spark, work, runs.table(microdata, bundle_of), len(kept), progress)
    return _together(microdata, runs, bundle_of, answers)


def _by_cells(clustering: Clustering) -> bool:
    """Whether an algorithm treats every cell by itself."""
    if isinstance(clustering, Improved):
        return _by_cells(clustering.clustering)
    return isinstance(clustering, ConstrainedKMember | DiverseClustering | MergeSmall | Runs)


def alone(clustering: Clustering) -> Clustering:
    """Return a clustering that uses one thread."""
    if isinstance(clustering, Improved):
        return replace(clustering, clustering=alone(clustering.clustering), threads=1)
    return replace(clustering, threads=1) if "threads" in {field.name for field in fields(clustering)} else clustering


def _compile(clustering: Clustering, microdata: Microdata, unit: IntArray) -> None:
    """Have the kernel compiled and kept before many tasks start to: cluster one record, as if k were 1."""
    one = microdata.of_units(unit)
    alone(_with_k_1(clustering))(one, cells=Cells.none_failing(one, np.zeros(1, np.int64)))


def _with_k_1(clustering: Clustering) -> Clustering:
    if isinstance(clustering, Improved):
        clustering = replace(clustering, clustering=_with_k_1(clustering.clustering))
    asked = {"requirement": replace(clustering.requirement, k=1)} if hasattr(clustering, "requirement") else {"k": 1}
    return replace(clustering, **asked)


# ---- what goes out -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Runs:
    """Runs of units that agree in everything: the first unit, how many, and their cell."""

    first: IntArray
    length: IntArray
    cell: IntArray

    def units(self, mine: npt.NDArray[np.bool_]) -> IntArray:
        """Return all units of some of the runs."""
        first, length = self.first[mine], self.length[mine]
        return np.repeat(first - np.cumsum(length) + length, length) + np.arange(int(length.sum()))

    def table(self, microdata: Microdata, bundle_of: IntArray) -> pa.Table:
        """Lay the runs out as rows: bundle, first unit, number, cell, codes, sensitive values and person."""
        import pyarrow as pa

        codes = microdata.profiles[microdata.profile_of_unit[self.first]]
        columns: dict[str, npt.NDArray[Any]] = {
            "bundle": bundle_of.astype(np.int32),
            "first": self.first,
            "length": self.length,
            "cell": self.cell,
            **{f"c{i}": codes[:, i].astype(np.int32) for i in range(codes.shape[1])},
            **{f"s{i}": microdata.sensitive_of[self.first, i] for i in range(len(microdata.sensitive))},
        }
        if microdata.person_of is not None:
            columns["person"] = microdata.person_of[self.first]
        return pa.table({name: pa.array(values) for name, values in columns.items()})


def _runs(microdata: Microdata, cells: Cells, units: IntArray) -> _Runs:
    keys = [cells.cell_of[units], microdata.profile_of_unit[units]]
    keys += [microdata.sensitive_of[units, i] for i in range(len(microdata.sensitive))]
    if microdata.person_of is not None:
        keys.append(microdata.person_of[units])
    keys.append(units - np.arange(len(units)))  # changes where units in between are withheld
    starts = starts_of_runs([key.astype(np.uint64) for key in keys])
    return _Runs(units[starts], np.diff(np.append(starts, len(units))), cells.cell_of[units[starts]])


def _bundles(cell: IntArray, cells: int, tasks: int) -> IntArray:
    """Deal the cells out to tasks, the largest first; returns the bundle of every run."""
    sizes = np.bincount(cell, minlength=cells)
    order = np.argsort(-sizes, kind="stable")
    bundle = np.empty(cells, np.int64)
    bundle[order] = np.arange(cells) % tasks
    return bundle[cell]


def _run(spark: SparkSession, work: Work, rows: pa.Table, records: int, progress: Steps | None) -> pa.Table:
    """Run one task for every bundle and return their answers."""
    bundles = int(rows.column("bundle").to_numpy().max()) + 1
    sent = spark.sparkContext.broadcast(work)
    try:
        frame = spark.createDataFrame(rows).repartitionById(bundles, "bundle").groupBy("bundle")
        schema = "bundle int, " + ", ".join(f"{name} binary" for name in ANSWER)
        return _gather(spark, frame.applyInArrow(_task(sent), schema), bundles, records, progress)
    finally:
        sent.destroy()


def _task(sent: Any) -> Any:
    """Return what a task does; it is sent as it is, and knows what is broadcast."""

    def cluster(rows: Any) -> Any:
        from hedgerow.engines.spark_cells import cluster_bundle

        return cluster_bundle(sent.value, rows)

    return cluster


def _gather(spark: SparkSession, frame: DataFrame, bundles: int, records: int, progress: Steps | None) -> pa.Table:
    """Run a job and return its rows, telling how far it is."""
    if progress is None:
        return frame.toArrow()
    context, name = spark.sparkContext, f"hedgerow-{uuid.uuid4().hex}"

    def run() -> pa.Table:
        context.setJobGroup(name, "Hedgerow: clustering", interruptOnCancel=True)
        return frame.toArrow()

    with ThreadPoolExecutor(1) as pool:
        job = pool.submit(run)
        try:
            while wait([job], timeout=POLL_SECONDS).not_done:
                progress(records * min(_tasks_done(context, name), bundles) // bundles, records)
        except BaseException:
            context.cancelJobGroup(name)
            raise
    progress(records, records)
    return job.result()


def _tasks_done(context: Any, name: str) -> int:
    """Count the tasks of the last stage that are done."""
    tracker = context.statusTracker()
    stages = [stage for job in tracker.getJobIdsForGroup(name) for stage in tracker.getJobInfo(job).stageIds]
    last = tracker.getStageInfo(max(stages)) if len(stages) > 1 else None  # the first one only deals out
    return 0 if last is None else int(last.numCompletedTasks)


# ---- in a task -----------------------------------------------------------------------------------------------------


def cluster_bundle(work: Work, rows: pa.Table) -> pa.Table:
    """Cluster the cells of one bundle; rows may come in any order."""
    import pyarrow as pa

    if work.cache is not None:
        os.environ.setdefault("HEDGEROW_CACHE", work.cache)
    rows = rows.sort_by("first")
    microdata, cell_of = _received(work, rows)
    cells = np.unique(cell_of, return_inverse=True)[1].reshape(-1)
    recoding: Recoding = work.clustering(microdata, cells=Cells.none_failing(microdata, cells))
    starts = starts_of_runs([recoding.group_of.astype(np.uint64)])
    cell = np.zeros(recoding.groups, np.int64)
    cell[recoding.group_of[recoding.group_of >= 0]] = cell_of[recoding.group_of >= 0]
    answer: dict[str, npt.NDArray[Any] | None] = {
        "group_of": recoding.group_of[starts],
        "length": np.diff(np.append(starts, len(recoding.group_of))),
        "cell": cell,
        "lo": recoding.lo,
        "hi": recoding.hi,
        "hidden": recoding.hidden,
        "proven": recoding.proven,
    }
    packed = {name: _packed(answer[name], kind) for name, kind in ANSWER.items()}
    return pa.table({"bundle": rows.column("bundle").slice(0, 1), **packed})


def _packed(values: npt.NDArray[Any] | None, kind: Any) -> pa.Array:
    import pyarrow as pa

    return pa.array([None if values is None else values.astype(kind).tobytes()], pa.binary())


def _received(work: Work, rows: pa.Table) -> tuple[Microdata, IntArray]:
    """Put the microdata of a bundle together, and the cell of every unit."""

    def matrix(letter: str, columns: int, kind: Any) -> npt.NDArray[Any]:
        found = [rows.column(f"{letter}{i}").to_numpy() for i in range(columns)]
        return np.ascontiguousarray(np.stack(found, axis=1) if found else np.zeros((rows.num_rows, 0)), kind)

    length = rows.column("length").to_numpy()
    codes = matrix("c", len(work.columns), np.uint32)
    starts = starts_of_runs([codes[:, i].astype(np.uint64) for i in range(codes.shape[1])])
    first = np.concatenate([[0], np.cumsum(length)]).astype(np.int64)
    person = None
    if "person" in rows.column_names:  # numbered anew, in order: they are only compared
        person = np.unique(rows.column("person").to_numpy(), return_inverse=True)[1].reshape(-1).repeat(length)
    microdata = Microdata(
        work.columns,
        work.index_order,
        codes[starts],
        np.append(first[:-1][starts], first[-1]),
        np.arange(first[-1]),
        person,
        np.zeros(0, np.int64),
        work.sensitive,
        matrix("s", len(work.sensitive), np.int64).repeat(length, axis=0),
    )
    return microdata, rows.column("cell").to_numpy().repeat(length)


# ---- what comes back -----------------------------------------------------------------------------------------------


def _together(microdata: Microdata, runs: _Runs, bundle_of: IntArray, rows: pa.Table) -> Recoding:
    """Put the answers of all tasks together, groups numbered by cell and, within it, as they were made."""
    answers = [
        (row["bundle"], {name: np.frombuffer(row[name] or b"", kind) for name, kind in ANSWER.items()})
        for row in rows.to_pylist()
    ]

    def joined(name: str) -> npt.NDArray[Any]:
        return np.concatenate([answer[name] for _, answer in answers])

    by_cell = np.argsort(joined("cell"), kind="stable")
    number = np.empty(len(by_cell), np.int64)
    number[by_cell] = np.arange(len(by_cell))
    group_of = np.full(len(microdata.record_of), WITHHELD, np.int64)
    start = 0
    for bundle, answer in answers:
        groups = np.append(number[start : start + len(answer["cell"])], WITHHELD)  # −1 is the last one
        group_of[runs.units(bundle_of == bundle)] = groups[answer["group_of"]].repeat(answer["length"])
        start += len(answer["cell"])
    lo, hi = (joined(name).reshape(-1, len(microdata.columns))[by_cell] for name in ("lo", "hi"))
    recoding = Recoding.of_boxes(microdata, group_of, lo, hi)
    if not rows.column("hidden").null_count:  # else nothing may be hidden
        recoding = replace(recoding, hidden=joined("hidden").reshape(lo.shape)[by_cell])
    if not rows.column("proven").null_count:  # else nothing was improved
        recoding = replace(recoding, proven=joined("proven")[by_cell])
    return recoding
