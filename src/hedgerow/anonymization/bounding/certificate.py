"""How far from the best possible a release is at most.

For any prices of its records, no grouping of them loses less than

    Σ prices + Σ over all boxes of min(0, least of Σ (cost of the box − price) over k or more records in the box)

since each group has a box, and two groups with one box are one group to whoever reads them. The search for prices at
which this is great is in ``ascending.py`` and, compiled, in ``kernels/closed_boxes.py`` and ``kernels/ascent.py``;
``docs/explanation/clustering.md`` says it all.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from hedgerow.anonymization.bounding.ascending import Ascent
from hedgerow.anonymization.bounding.pieces import cut_to_pieces
from hedgerow.anonymization.bounding.ranges import after_blocks, lay_out_ranges
from hedgerow.anonymization.bounding.solved import UNKNOWN, least_losses
from hedgerow.anonymization.clustering.cells import has_width, number_cells
from hedgerow.anonymization.clustering.costs import UNIT, Costs, Objective, cost_tables
from hedgerow.anonymization.clustering.threads import run_in_threads
from hedgerow.anonymization.lattice import Patience
from hedgerow.measures.measured import Measured
from hedgerow.microdata import Microdata
from hedgerow.microdata.recoding import Recoding
from hedgerow.outside.notebook import html_table
from hedgerow.plan import Plan
from hedgerow.plan.concepts import PRIVACY_MODELS, objectives
from hedgerow.types import IntArray, Steps

A_SECOND = 100_000_000
"""Steps that count as a second of effort: about what one core of a usual machine makes in one."""


@dataclass(frozen=True)
class Certificate:
    """How much a release loses, and what any other of the same records loses at least.

    Attributes
    ----------
    objective
        What is lost, as plans call it.
    records, released
        Records of the input, and those released.
    loss, at_least
        Per record and column, from 0 to 1, weighted; records withheld lose everything.
    rounding
        By how much costs may be rounded, all together.
    overlooked
        Demands that the bound does not look at: it holds with them, but they may make it unreachable.
    blocks, blocks_solved
        Blocks of the released records, and those of them of which the least loss is known exactly.
    boxes, rounds
        Boxes that were looked at in the end, and rounds of all pieces together.
    seconds
        Effort asked for.
    ended_early
        Whether somebody ended the search before that.
    """

    objective: str
    records: int
    released: int
    loss: Fraction
    at_least: Fraction
    rounding: Fraction
    overlooked: tuple[str, ...]
    blocks: int
    blocks_solved: int
    boxes: int
    rounds: int
    seconds: int
    ended_early: bool = False

    @property
    def proven(self) -> bool:
        """Whether nothing loses less, but for the rounding of costs."""
        return self.loss <= self.at_least + self.rounding

    @property
    def gap(self) -> float | None:
        """By what share of the bound the release is above it at most, rounded up; None if the bound is 0."""
        if self.proven:
            return 0.0
        return math.ceil((self.loss / self.at_least - 1) * 1_000_000) / 1_000_000 if self.at_least else None

    def of_loss(self, loss: Fraction) -> Certificate:
        """Return the same for another release of the same records, which loses so much."""
        return replace(self, loss=loss)

    def facts(self) -> dict[str, Any]:
        """Return plain data for the facts of the release; the bound is rounded down."""
        return {
            "objective": self.objective,
            "loss": round(float(self.loss), 12),
            "at_least": math.floor(self.at_least * 10**12) / 10**12,
            "gap": self.gap,
            "proven": self.proven,
            "overlooked": list(self.overlooked),
            "blocks": self.blocks,
            "blocks_solved": self.blocks_solved,
            "boxes": self.boxes,
            "rounds": self.rounds,
            "effort": f"{self.seconds}s",
        }

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, with what the facts of a release say elsewhere."""
        more = {"records": self.records, "released": self.released, "ended_early": self.ended_early}
        return {**self.facts(), **more}

    def __repr__(self) -> str:
        gap = "unknown" if self.gap is None else f"{self.gap:.4f}"
        return f"Certificate({self.objective} {float(self.loss):.6f}, at least {float(self.at_least):.6f}, gap {gap})"

    def _repr_html_(self) -> str:
        rows = (
            (name.replace("_", " "), ", ".join(cell) if isinstance(cell, list) else cell)
            for name, cell in self.to_dict().items()
        )
        return html_table(repr(self), ("", ""), rows)


def certify(
    microdata: Microdata,
    plan: Plan,
    recoding: Recoding,
    seconds: int,
    threads: int | None = None,
    progress: Steps | None = None,
    patience: Patience | None = None,
) -> Certificate:
    """Bound what a release of these records loses at least, and compare it with one.

    Parameters
    ----------
    microdata
        The released records; the others are only counted.
    recoding
        Groups of all of them. They tell how much there is to gain; the bound holds whatever they are.
    seconds
        Effort, counted in steps: the answer depends neither on the machine nor on the number of threads.
    patience
        With it the search can be ended; the bound then depends on when.
    """
    objective = Objective.of_plan(microdata, plan)
    costs, k = cost_tables(microdata, objective), plan.privacy.k
    block_of = blocks_of_profiles(microdata, plan)
    paid = _paid(microdata, recoding, costs)
    threads = threads or os.cpu_count() or 1
    narrow = plan.keeps_limits and any(has_width(column) for column in microdata.columns)
    least = least_losses(microdata, block_of, costs, objective, k, 0 if narrow else seconds, threads)
    ascents = ascents_of(microdata, plan, costs, np.where(least[block_of] == UNKNOWN, block_of, -1), paid, seconds)
    _run(ascents, threads, progress, patience)
    at_least = int(least[least != UNKNOWN].sum()) + sum(ascent.bound for ascent in ascents)
    heaviest = max(Fraction(column.weight) for column in microdata.columns)
    full = sum((Fraction(column.weight) for column in microdata.columns), Fraction(0))
    most = microdata.records * full

    def share(units: int, gone: int = microdata.records - recoding.released) -> Fraction:
        return (heaviest * Fraction(units, UNIT) + gone * full) / most

    rounding = recoding.released * len(microdata.columns)  # a column's cost is that of its range, give or take one
    lost = _in_measure(microdata, plan, recoding, objective, share(int(paid.sum())))
    return Certificate(
        objective.name,
        microdata.records,
        recoding.released,
        lost,
        min(share(max(at_least - rounding, 0)), lost),
        share(2 * rounding, gone=0),
        overlooked(plan),
        len(least),
        int((least != UNKNOWN).sum()),
        sum(ascent.boxes for ascent in ascents),
        sum(ascent.rounds for ascent in ascents),
        seconds,
        patience is not None and patience.stopped,
    )


def overlooked(plan: Plan) -> tuple[str, ...]:
    """Name the demands of a plan that a bound does not look at.

    Examples
    --------
    >>> attributes = {"sex": "quasi-identifier", "illness": "sensitive"}
    >>> overlooked(Plan.from_dict({"attributes": attributes, "privacy": {"k": 2, "p": 2}}))
    ('p',)
    """
    asked = {name for column in plan.columns("sensitive") for name in plan.privacy.demands(column)}
    names = [model.name for model in PRIVACY_MODELS if model.name in asked]
    names += ["person"] if plan.person is not None else []
    names += ["unit"] if plan.unit is not None else []
    names += ["overlap"] if plan.method.overlap == "forbidden" else []
    return tuple(names)


def blocks_of_profiles(microdata: Microdata, plan: Plan) -> IntArray:
    """Number the blocks, without regard to greatest widths, and return that of every profile."""
    by_unit = number_cells(microdata, ignore_limits=not plan.keeps_limits)
    return np.unique(by_unit[microdata.unit_start[:-1]], return_inverse=True)[1].reshape(-1)


def _paid(microdata: Microdata, recoding: Recoding, costs: Costs) -> IntArray:
    """What the records of every profile pay together, in whole multiples of 1/UNIT; single cells are not hidden."""
    order = list(microdata.index_order)
    per_record = costs.of_boxes(*costs.ends(recoding.lo[:, order], recoding.hi[:, order]))
    paid = np.zeros(len(microdata.profiles), np.int64)
    np.add.at(paid, microdata.profile_of_unit, per_record[recoding.group_of])
    return paid


def _in_measure(microdata: Microdata, plan: Plan, recoding: Recoding, objective: Objective, paid: Fraction) -> Fraction:
    """What the release loses: as it is measured, where the objective is such a measure."""
    if objective.name == "research-value":
        return paid
    return Fraction(objectives()[objective.name].of_release(Measured(microdata, recoding, plan, None)))


def ascents_of(
    microdata: Microdata, plan: Plan, costs: Costs, block_of: IntArray, paid: IntArray, seconds: int
) -> list[Ascent]:
    """Lay out the ascents of all pieces, each with its share of the effort; ``block_of`` is −1 where none is needed."""
    pieces = cut_to_pieces(microdata, block_of, paid)
    heaviest = max(Fraction(column.weight) for column in microdata.columns)
    most = sum(int(UNIT * Fraction(column.weight) / heaviest) for column in microdata.columns)
    records = sum(piece.records for piece in pieces)
    prices = after_blocks(costs.prices)
    ascents = []
    for piece in pieces:
        ranges = lay_out_ranges(microdata, costs, plan.keeps_limits, int(piece.block.max()) + 1)
        codes = np.column_stack([piece.block, microdata.profiles[piece.profiles]]).astype(np.uint32)
        effort = seconds * A_SECOND * piece.records // records
        ascents.append(Ascent(piece, codes, ranges, prices, plan.privacy.k, most, effort))
    return ascents


def _run(ascents: list[Ascent], threads: int, progress: Steps | None, patience: Patience | None) -> None:
    """Raise the bounds of all pieces."""

    def work(first: int, last: int, done: IntArray, stop: IntArray) -> None:
        for ascent in ascents[first:last]:
            began = int(done[0])

            def go_on(steps: int) -> bool:
                done[0] += steps
                return not stop[0] and not (patience is not None and patience.stopped)

            ascent.go_on = go_on
            if go_on(0):
                ascent.run()
            done[0] = began + ascent.effort

    if patience is not None:
        patience.may_stop = True
    efforts = np.array([ascent.effort for ascent in ascents], np.int64)
    run_in_threads(work, efforts, threads, progress)
