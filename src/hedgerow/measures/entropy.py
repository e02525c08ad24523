"""Non-uniform entropy: how many bits of what was known of the records a release gives up.

De Waal and Willenborg 1999; Gionis and Tassa 2009. A record of value v that is published as B loses −log₂ P(v | B) =
log₂(n_B / n_v) bits: n_v records have its value, n_B a value that B may stand for. So a value that nearly all under B
have is hardly lost, and a rare one is lost nearly altogether.

Counts are those of the released records that show something in the column. A record that is withheld, and a cell that
is suppressed, lose as much as such a record has on average: the entropy of the column. Nothing of their values counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from hedgerow.microdata import FreeColumn, Microdata, QuasiIdentifier
from hedgerow.microdata.columns import Shown
from hedgerow.microdata.recoding import Recoding
from hedgerow.plan.concepts import MeasureDescriptor
from hedgerow.types import IntArray

if TYPE_CHECKING:
    from hedgerow.measures.measured import Measured

BIT = 1 << 20
"""Parts of a bit in which costs are counted."""
DECIMALS = 6


@dataclass(frozen=True)
class Bits:
    """Bits per record in one column: what the values tell, and how much of it is lost."""

    known: float
    lost: float


def bits_by_attribute(microdata: Microdata, recoding: Recoding) -> dict[str, Bits]:
    """Mean bits per record, withheld ones included, that each quasi-identifier had, and lost."""
    found = {}
    for position, column in enumerate(microdata.columns):
        shows = np.append(recoding.shows(position), False)[recoding.group_of]  # −1: withheld
        group = recoding.group_of[shows]
        codes = microdata.codes(position)[microdata.profile_of_unit[shows]]
        records = np.bincount(codes, minlength=column.domain_size).astype(np.int64)
        behind = records_behind(column, recoding.shown(position), records)
        showing = max(len(group), 1)
        there = records[records > 0]
        known = float(there @ np.log2(len(group) / there)) / showing
        lost = float(np.log2(behind[group] / records[codes]).sum()) / showing
        share = len(group) / microdata.records
        found[column.name] = Bits(known, share * lost + (1 - share) * known)
    return found


def records_behind(column: QuasiIdentifier, shown: Shown, records: IntArray) -> IntArray:
    """How many records have a value that each published value may stand for, given the records of every code."""
    before = np.concatenate([[0], np.cumsum(records)]).astype(np.int64)
    if isinstance(column, FreeColumn):
        return before[shown.hi + 1] - before[shown.lo]
    if shown.told is not None:
        return column.members(shown) @ records
    tree = column.hierarchy
    return before[tree.last_leaf[shown.node] + 1] - before[tree.first_leaf[shown.node]]


def entropy(measured: Measured) -> float:
    """Share of all bits that is lost, columns counting by their weights; without any, the share withheld."""
    bits = measured.bits
    weights = [float(Fraction(column.weight)) for column in measured.microdata.columns]
    known = sum(weight * part.known for weight, part in zip(weights, bits.values(), strict=True))
    lost = sum(weight * part.lost for weight, part in zip(weights, bits.values(), strict=True))
    return round(lost / known if known > 0 else measured.withheld / measured.microdata.records, DECIMALS)


def cost_by_records(behind: IntArray, records: int) -> tuple[IntArray, int]:
    """What a record costs whose published value may stand for so many records: log₂ of their number.

    A record loses log₂ n_B − log₂ n_v. The last term is the same however records are grouped, so the first decides.
    """
    return np.rint(BIT * np.log2(np.maximum(behind, 1))).astype(np.int64), int(np.rint(BIT * np.log2(max(records, 1))))


def _beside(measured: Measured) -> Mapping[str, dict[str, float]]:
    bits = measured.bits
    return {
        "bits_by_attribute": {name: round(part.known, DECIMALS) for name, part in bits.items()},
        "bits_lost_by_attribute": {name: round(part.lost, DECIMALS) for name, part in bits.items()},
    }


DESCRIPTOR = MeasureDescriptor(
    name="entropy",
    title="non-uniform entropy",
    meaning="The share of information, in bits, that published values no longer tell, where losing a rare "
    "value counts more than losing a frequent one.",
    help="bits lost / bits known: log₂ of records under the published value / records of the value, over all columns",
    order=45,
    of_release=entropy,
    beside=_beside,
    compared=7,
    objective="entropy",
    cost_by_records=cost_by_records,
)
