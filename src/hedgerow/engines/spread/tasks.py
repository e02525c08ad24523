"""What tasks do with whole blocks: cluster their records, and say what became of each.

The answer of a task depends on its records alone, not on their order, nor on how often it is tried: it puts them in
canonical order first and draws nothing by chance.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.anonymization.clustering import Split, find_cells, split_cells
from hedgerow.anonymization.clustering.cells import find_blocks
from hedgerow.anonymization.clustering.exact import count_solved
from hedgerow.anonymization.solving import loss_of_splitting
from hedgerow.anonymization.withholding import whole_cells
from hedgerow.engines.spread.coded import Sent, microdata_of, summed, whole
from hedgerow.microdata import Microdata
from hedgerow.microdata.columns import QuasiIdentifier
from hedgerow.microdata.ordering import starts_of_runs
from hedgerow.microdata.recoding import Recoding
from hedgerow.plan import Plan
from hedgerow.privacy import Requirement
from hedgerow.types import BoolArray, IntArray

if TYPE_CHECKING:
    import pyarrow as pa

CLASS_BITS = 32
"""Bits of the number of a class that tell it from others of its task."""
SAMPLES = 100
"""How many records of a task stand for all in dealing out what they are published as."""
ROW, CLASS, PART, SAID = range(4)
"""What a row of an answer says: what some records are published as; the class of records; which records of a class are
in which group; what is said of the task as a whole."""


@dataclass(frozen=True, eq=False)
class BlockJob:
    """What is to be done with the blocks of a task.

    Attributes
    ----------
    plan, requirement, clustering
        The plan, what is asked of every group, and what forms groups.
    classes
        Whether the rows of a class must be told apart, because further columns are released.
    patient
        Whether records may be left over; else a block in which some are becomes one group.
    """

    plan: Plan
    requirement: Requirement
    clustering: Any
    classes: bool
    patient: bool


@dataclass(frozen=True)
class Told:
    """What a task says of its blocks.

    Attributes
    ----------
    blocks
        Blocks of which something is released.
    over
        Records that fit no group.
    solved
        Blocks, and their records, whose groups are proven to be the best; None if nobody asked.
    split, parts
        Blocks that were split, and the parts that came of them.
    siblings
        Of the two smallest parts that were one before: what they are ordered by among those of other tasks, and what
        they lose apart, compared with together; None if nothing was split.
    samples
        Some of what records are published as, evenly drawn, and how many records each stands for.
    """

    blocks: int = 0
    over: int = 0
    solved: tuple[int, int] | None = None
    split: int = 0
    parts: int = 0
    siblings: tuple[tuple[int, ...], Fraction | None] | None = None
    samples: tuple[tuple[tuple[int, ...], int], ...] = ()

    def and_(self, other: Told) -> Told:
        """Put together what two tasks say."""
        solved = None
        if self.solved is not None or other.solved is not None:
            one, two = self.solved or (0, 0), other.solved or (0, 0)
            solved = (one[0] + two[0], one[1] + two[1])
        found = [pair for pair in (self.siblings, other.siblings) if pair is not None]
        return Told(
            self.blocks + other.blocks,
            self.over + other.over,
            solved,
            self.split + other.split,
            self.parts + other.parts,
            min(found, key=lambda pair: pair[0], default=None),
            self.samples + other.samples,
        )


def find_failing(
    sent: Sent, plan: Plan, columns: tuple[QuasiIdentifier, ...], batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Give the records of cells that must be withheld, with the cell of each in its task: where widths are limited."""
    import pyarrow as pa

    table = whole(batches)
    if table is None:
        return
    task = table.column("task")[0].as_py()
    table = summed(table, sent.names)
    sent.settle()
    microdata = microdata_of(sent, table, columns)
    cells = find_cells(microdata, Requirement.of_plan(plan, microdata), ignore_limits=not plan.keeps_limits)
    row, first = np.unique(microdata.record_of, return_index=True)
    cell = cells.cell_of[first]
    gone = cells.failing[cell]
    found = table.take(pa.array(row[gone])).append_column("cell", pa.array(cell[gone]))
    yield from found.append_column("task", pa.array(np.full(found.num_rows, task, np.int32))).to_batches()


def cluster(sent: Sent, job: BlockJob, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Cluster the records of a task; none of its blocks need be withheld."""
    table = whole(batches)
    if table is None:
        return
    task = int(table.column("task")[0].as_py())
    table = summed(table, sent.names)
    sent.settle()
    microdata = microdata_of(sent, table)
    plan, requirement = job.plan, job.requirement
    cells = find_cells(microdata, requirement, ignore_limits=not plan.keeps_limits)
    split = None if plan.method.split is None else split_cells(microdata, cells, requirement, plan.method.split)
    within = cells if split is None else split.cells
    clusters: Recoding = job.clustering(microdata, cells=within)
    told = Told(blocks=len(cells.people) - int(cells.failing.sum()))
    if clusters.proven is not None:
        solved = count_solved(find_blocks(microdata, cells, not plan.keeps_limits), within, clusters)
        told = replace(told, solved=(solved["blocks"], solved["records"]))
    if split is not None:
        told = replace(told, split=split.cells_split, parts=split.parts, siblings=_siblings(job, microdata, split))
    over = clusters.group_of < 0
    if over.any() and not job.patient:
        of_block = np.isin(cells.cell_of, cells.cell_of[over])
        clusters = whole_cells(microdata, requirement, cells, clusters.group_of, of_block)
        over = clusters.group_of < 0
    told = replace(told, over=int(over.sum()))
    words = sent.book.published_keys(clusters)
    told = replace(told, samples=_samples(words, clusters.group_of))
    yield from _rows(sent, job, table, microdata, clusters, words, task)
    yield _said(sent, table.schema, told)


def _siblings(job: BlockJob, microdata: Microdata, split: Split) -> tuple[tuple[int, ...], Fraction | None] | None:
    """Say what the smallest two parts that were one lose apart, and what orders them among others."""
    if split.siblings is None:
        return None
    units = np.flatnonzero(split.siblings >= 0)
    first = microdata.profile_of_unit[units[split.siblings[units] == 0][0]]
    limits = [int(column.limit_keys[microdata.codes(at)[first]]) for at, column in enumerate(microdata.columns)]
    place = (len(units), *limits, *microdata.profiles[first].tolist())
    return place, loss_of_splitting(microdata, job.plan, job.requirement, split, 1)


def _samples(words: list[IntArray], group_of: IntArray) -> tuple[tuple[tuple[int, ...], int], ...]:
    """Draw some of what records are published as."""
    sizes = np.bincount(group_of[group_of >= 0], minlength=len(words[0]))
    order = np.lexsort(words[::-1])
    ends = np.cumsum(sizes[order])
    if not len(ends) or not ends[-1]:
        return ()
    each = max(int(ends[-1]) // SAMPLES, 1)
    drawn = order[np.searchsorted(ends, np.arange(each // 2, int(ends[-1]), each), side="right")]
    return tuple((tuple(int(word[at]) for word in words), each) for at in drawn.tolist())


def _rows(
    sent: Sent,
    job: BlockJob,
    table: pa.Table,
    microdata: Microdata,
    clusters: Recoding,
    words: list[IntArray],
    task: int,
) -> Iterator[pa.RecordBatch]:
    """Say how many records of every row are published as what; of what is withheld, as nothing: −1."""
    import pyarrow as pa

    group, row = clusters.group_of, microdata.record_of
    starts = starts_of_runs([row.astype(np.uint64), (group + 1).astype(np.uint64)])
    length = np.diff(np.append(starts, len(row)))
    columns = {name: table.column(name).take(pa.array(row[starts])) for name in sent.names}
    keys = _keys_of(words, group[starts])
    found = {**columns, "n": pa.array(length)}
    found |= {name: pa.array(key) for name, key in zip(sent.book.keys, keys, strict=True)}
    yield from _answer(found, ROW, sent, table.schema)
    if job.classes:
        yield from _classes(sent, table, microdata, group, words, task)


def _keys_of(words: list[IntArray], group: IntArray) -> list[IntArray]:
    """Return what groups are published as; −1 for none."""
    return [np.append(word, -1)[group] for word in words]


def _classes(
    sent: Sent, table: pa.Table, microdata: Microdata, group: IntArray, words: list[IntArray], task: int
) -> Iterator[pa.RecordBatch]:
    """Number classes, records that nothing tells apart; say which rows are of which, and which records are where."""
    import pyarrow as pa

    row = microdata.record_of
    change = _changes(sent, table, microdata)
    class_of = np.cumsum(change) - 1 + (task << CLASS_BITS)
    first_of_row = np.unique(row, return_index=True)[1]
    known = {name: table.column(name).take(pa.array(row[first_of_row])) for name in sent.names}
    yield from _answer({**known, "class": pa.array(class_of[first_of_row])}, CLASS, sent, table.schema)
    starts = np.flatnonzero(change | np.append(True, group[1:] != group[:-1]))
    ends = np.append(starts[1:], len(group))
    before = np.flatnonzero(change)[np.cumsum(change)[starts] - 1]
    kept = group[starts] >= 0
    starts, ends, before = starts[kept], ends[kept], before[kept]
    parts = {
        "class": pa.array(class_of[starts]),
        "first": pa.array(starts - before + 1),
        "last": pa.array(ends - before),
    } | {name: pa.array(key) for name, key in zip(sent.book.keys, _keys_of(words, group[starts]), strict=True)}
    yield from _answer(parts, PART, sent, table.schema)


def _changes(sent: Sent, table: pa.Table, microdata: Microdata) -> BoolArray:
    """Tell where classes begin: codes, person or sensitive values are others than before."""
    from hedgerow.engines.spread.coded import values_of

    row, book = microdata.record_of, sent.book
    keys = [microdata.profile_of_unit]
    if microdata.person_of is not None:
        keys.append(microdata.person_of)
    values = values_of(book, table)[len(book.columns) :]
    keys += [rank[of_row][row] for (rank, _), of_row in zip(book.ranks, values, strict=True)]
    change = np.zeros(len(row), bool)
    change[:1] = True
    for key in keys:
        change[1:] |= key[1:] != key[:-1]
    return change


# ---- how an answer is laid out ---------------------------------------------------------------------------------------


def layout(sent: Sent, types: dict[str, Any], whole_number: Any, small: Any, said: Any) -> list[tuple[str, Any]]:
    """Return names and types of the columns of an answer, given types of a database."""
    return [
        ("what", small),
        *((name, types[name]) for name in sent.names),
        ("n", whole_number),
        *((name, whole_number) for name in (*sent.book.keys, "class", "first", "last")),
        ("said", said),
    ]


def _answer(columns: dict[str, Any], what: int, sent: Sent, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    size = len(next(iter(columns.values())))
    types = {name: schema.field(name).type for name in sent.names}
    found: dict[str, Any] = {"what": pa.array(np.full(size, what, np.int32))}
    for name, kind in layout(sent, types, pa.int64(), pa.int32(), pa.binary())[1:]:
        found[name] = columns[name] if name in columns else pa.nulls(size, kind)
    yield from pa.table(found).to_batches(max_chunksize=1 << 16)


def _said(sent: Sent, schema: pa.Schema, told: Told) -> pa.RecordBatch:
    import pyarrow as pa

    packed = pa.array([pickle.dumps(told)], pa.binary())
    return next(_answer({"said": packed}, SAID, sent, schema))
