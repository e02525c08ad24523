"""Running times of Algorithms 1 to 3 of p-sensitive k-anonymity (PS) over p and k: what the paper left for later."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks import adult
from benchmarks.drawing import Panel, draw
from benchmarks.page import DOCS
from benchmarks.papers.adult_limits import encode
from benchmarks.papers.measuring import fastest
from benchmarks.papers.ps import ADULT_PLAN
from benchmarks.papers.writing import Write, milliseconds, picture, table
from hedgerow.anonymization.lattice import Space, make_space, samarati
from hedgerow.anonymization.lattice.checker import group_profiles
from hedgerow.anonymization.lattice.samarati import LowestNodes
from hedgerow.microdata import Microdata
from hedgerow.plan import Plan
from hedgerow.privacy import PSensitive, Requirement, max_groups, max_p
from hedgerow.reports.charts.axes import Axis
from hedgerow.types import IntArray

SENSITIVE = ("occupation", "education", "workclass")
"""With two values of income, p could not be above 2; these three allow 7."""
KS = (2, 5, 10, 20)
PS = (1, 2, 3, 4, 5, 6, 7)


@dataclass(frozen=True)
class Tested:
    """All nodes tested by Algorithms 1 and 2: seconds, nodes that hold, and nodes that the conditions decide."""

    basic: float
    improved: float
    hold: int
    decided: int


@dataclass(frozen=True)
class Searched:
    """Algorithm 3: seconds and what it found."""

    seconds: float
    found: LowestNodes


def run(write: Write) -> None:
    """Measure and write."""
    space = make_space(encode(adult.complete_rows("adult.data", "adult.test"), plan()))
    cases = {(k, p): (test_all(space, k, p), search(space, k, p)) for k in KS for p in PS if p <= k}
    write("ps-times", f"{times_table(cases)}\n\n{picture('Times of Algorithms 1 to 3 over p', 'papers-ps')}")
    draw_times(cases)


def plan() -> Plan:
    """Table 7's attributes with three sensitive columns of several values."""
    attributes = {name: {"role": "quasi-identifier", **more} for name, more in ADULT_PLAN["attributes"].items()}
    return Plan.from_dict({**ADULT_PLAN, "attributes": {**attributes, **dict.fromkeys(SENSITIVE, "sensitive")}})


def requirement(k: int, p: int) -> Requirement:
    """k, and p values of every sensitive column."""
    return Requirement(k, tuple((place, PSensitive(p)) for place in range(len(SENSITIVE))) if p > 1 else ())


def test_all(space: Space, k: int, p: int) -> Tested:
    """Test the release of every node by Algorithm 1, and by Algorithm 2; nothing is withheld."""
    microdata, asked = space.microdata, requirement(k, p)
    counts = [column.counts for column in microdata.sensitive]
    nodes = [
        (of[microdata.profile_of_unit], groups)
        for of, groups in (group_profiles(space, node) for node in lattice(space))
    ]
    most = max_groups(counts, len(microdata.record_of), p) if p <= max_p(counts) else 0

    def improved() -> tuple[int, int]:
        decided = hold = 0
        for of, groups in nodes:
            if groups > most:
                decided += 1
            else:
                hold += holds(microdata, asked, of, groups)
        return decided, hold

    basic, hold = fastest(lambda: sum(holds(microdata, asked, of, groups) for of, groups in nodes))
    better, (decided, again) = fastest(improved)
    assert hold == again, "the conditions are necessary"
    return Tested(basic, better, hold, decided)


def holds(microdata: Microdata, asked: Requirement, of: IntArray, groups: int) -> bool:
    """Algorithm 1: k first, and the values of the groups only if k holds."""
    if Requirement(asked.k).fails(microdata, of, groups).any():
        return False
    return not asked.models or not asked.fails(microdata, of, groups).any()


def lattice(space: Space) -> list[tuple[int, ...]]:
    """All nodes."""
    return list(np.ndindex(*space.shape))


def search(space: Space, k: int, p: int) -> Searched:
    """Algorithm 3, or Samarati's if p asks for nothing; nothing is withheld here either."""
    seconds, found = fastest(lambda: samarati(space, requirement(k, p)))
    return Searched(seconds, found)


def times_table(cases: dict[tuple[int, int], tuple[Tested, Searched]]) -> str:
    """One line for every k and p."""
    lines = []
    for (k, p), (tested, searched) in cases.items():
        node = searched.found.node
        lines.append(
            [
                k,
                "k alone" if p == 1 else p,
                milliseconds(tested.basic),
                milliseconds(tested.improved),
                f"{tested.decided}, {tested.hold}",
                milliseconds(searched.seconds),
                f"{searched.found.checked}, {searched.found.skipped}",
                "none" if node is None else sum(node),
            ]
        )
    head = (
        "k", "p", "Algorithm 1: ms", "Algorithm 2: ms", "nodes decided by the conditions, nodes that hold",
        "Algorithm 3: ms", "nodes checked, skipped", "height found",
    )  # fmt: skip
    return table(head, lines)


def draw_times(cases: dict[tuple[int, int], tuple[Tested, Searched]]) -> None:
    """Times over p, a curve for each k."""

    def over_p(seconds: Sequence[tuple[int, int, float]]) -> dict[str, list[tuple[float, float]]]:
        found: dict[str, list[tuple[float, float]]] = {}
        for k, p, spent in seconds:
            found.setdefault(f"k = {k}", []).append((float(p), spent * 1e3))
        return found

    across = Axis("p (1: k alone)", marks=[(float(p), str(p)) for p in PS])
    milli = Axis("processor ms", least=0)
    one = over_p([(k, p, tested.basic) for (k, p), (tested, _) in cases.items()])
    two = over_p([(k, p, tested.improved) for (k, p), (tested, _) in cases.items()])
    three = over_p([(k, p, searched.seconds) for (k, p), (_, searched) in cases.items()])
    panels = [
        Panel("Algorithm 1, all 96 nodes", across, milli, one),
        Panel("Algorithm 2, all 96 nodes", across, milli, two),
        Panel("Algorithm 3, one search", across, milli, three),
    ]
    draw(DOCS / "papers-ps.svg", "Times of Algorithms 1 to 3 over p", panels, 3)
