"""p-sensitive k-anonymity (PS): Tables 4 to 6 exactly; Tables 7 and 8 on Adult, as far as they can be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks import adult
from benchmarks.papers.adult_limits import MARRIED, SINGLE, Rows, encode
from benchmarks.papers.writing import Write, count, least_to_most, table
from hedgerow.anonymization.lattice import Node, find_minimal, make_space, recode, samarati
from hedgerow.anonymization.lattice.checker import make_checker
from hedgerow.microdata import Microdata, encode_table, read_table
from hedgerow.plan import Plan
from hedgerow.privacy import PSensitive, Requirement, attribute_disclosures, cumulative_frequencies, max_groups, max_p

FIGURE_3 = {
    "Sex": list("MFMMFMMFMM"),
    "ZipCode": ["41076", "41099", "41099", "41076", "43102", "43102", "43102", "43103", "48202", "48201"],
}
# Table 4: thresholds, and the 3-minimal nodes.
TABLE_4 = (
    (range(2), {(0, 2)}),
    (range(2, 7), {(0, 2), (1, 1)}),
    (range(7, 10), {(1, 0), (0, 1)}),
    (range(10, 11), {(0, 0)}),
)
# Tables 5 and 6: frequencies of three sensitive columns of 1,000 records; greatest sums of them; groups at most by p.
FREQUENCIES = {
    "S1": [300, 300, 200, 100, 100],
    "S2": [500, 300, 100, 40, 35, 25],
    "S3": [700, 200, 50, 10, 10, 10, 10, 5, 3, 2],
}
CUMULATIVE = [700, 900, 950, 960, 1000]
GROUPS = {2: 300, 3: 100, 4: 50, 5: 25}
RECORDS = 1000

# Table 7: different values, and levels above them.
TABLE_7 = {"age": (74, 3), "marital-status": (7, 2), "race": (5, 3), "sex": (2, 1)}
# Table 8: size and k, the node <A, M, R, S> printed, and the attribute disclosures printed.
TABLE_8: dict[tuple[int, int], tuple[Node, int]] = {
    (400, 2): ((1, 1, 1, 1), 6),
    (400, 3): ((1, 1, 2, 1), 2),
    (4000, 2): ((2, 1, 1, 1), 4),
    (4000, 3): ((2, 1, 2, 1), 0),
}
THRESHOLDS = (0, 1, 2)  # per cent of the records; the paper does not say
SAMPLES = 25
ADULT_PLAN: dict[str, Any] = {
    "attributes": {
        "age": {"hierarchy": {"cuts": [list(range(10, 101, 10)), [10, 50, 100]]}},
        "marital-status": {"hierarchy": {"tree": {"*": {"married": MARRIED, "single": SINGLE}}}},
        "race": {
            "hierarchy": {
                "tree": {
                    "*": {
                        "white": {"only white": ["White"]},
                        "not white": {
                            "black": ["Black"],
                            "neither": ["Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other"],
                        },
                    }
                }
            }
        },
        "sex": {},
    },
    "privacy": {"k": 2},
    "method": "lattice",
}
SENSITIVE = ("income", "capital-gain", "capital-loss")


@dataclass(frozen=True)
class Case:
    """One sample, k and threshold.

    Attributes
    ----------
    minimal
        Whether the printed node is a k-minimal generalization.
    disclosures, at_printed
        Groups of Samarati's node, and of the printed one, that share one value of a sensitive column; groups that are
        too small are withheld, however many.
    sensitive_node
        What the search finds for 2-sensitive k-anonymity.
    """

    node: Node
    minimal: bool
    disclosures: int
    at_printed: int
    sensitive_node: Node | None


def run(write: Write) -> None:
    """Compute and write."""
    rows = adult.complete_rows("adult.data", "adult.test")
    write("ps-table-4", table_4())
    write("ps-tables-5-6", tables_5_and_6())
    write("ps-table-7", table_7(rows))
    write("ps-table-8", table_8(rows, SAMPLES))


def figure_3() -> Microdata:
    """The ten records of Figure 3."""
    attributes = {
        "Sex": "quasi-identifier",
        "ZipCode": {"role": "quasi-identifier", "hierarchy": {"prefix": [5, 3, 0]}},
    }
    plan = Plan.from_dict({"attributes": attributes, "privacy": {"k": 3}, "method": "lattice"})
    return encode_table(read_table(pa.table(FIGURE_3), plan), plan)


def table_4() -> str:
    """The 3-minimal nodes by threshold, and how many records fail at every node (Figure 3)."""
    space = make_space(figure_3())
    checker = make_checker(space, Requirement(3), "loss")
    failing = {node: checker.check(checker.base(), node).withheld for node in np.ndindex(*space.shape)}
    lines = []
    for thresholds, printed in TABLE_4:
        ours = {frozenset(find_minimal(space, Requirement(3), budget).minimal) for budget in thresholds}
        shown = " or ".join(sorted(_nodes(nodes, "SZ") for nodes in ours))
        lines.append([", ".join(map(str, thresholds)), _nodes(printed, "SZ"), shown])
    words = "; ".join(f"{_node(node, 'SZ')} {many}" for node, many in failing.items())
    return table(("threshold", "printed", "ours"), lines) + f"\n\nRecords that fail at each node: {words}."


def tables_5_and_6() -> str:
    """Sums of the greatest frequencies, and the groups that they allow."""
    counts = [np.array(frequencies) for frequencies in FREQUENCIES.values()]
    ours = cumulative_frequencies(counts)
    lines = [
        ["cf, from 1 to 5 values", ", ".join(map(count, CUMULATIVE)), ", ".join(map(count, ours))],
        ["greatest p", max(GROUPS), max_p(counts)],
        *([f"groups at most, p = {p}", printed, max_groups(counts, RECORDS, p)] for p, printed in GROUPS.items()),
    ]
    return table(("", "printed", "ours"), lines)


def adult_plan() -> Plan:
    """Table 7's attributes and levels; which marital states are single is not printed."""
    attributes = {name: {"role": "quasi-identifier", **more} for name, more in ADULT_PLAN["attributes"].items()}
    return Plan.from_dict({**ADULT_PLAN, "attributes": {**attributes, **dict.fromkeys(SENSITIVE, "sensitive")}})


def table_7(rows: Rows) -> str:
    """Different values and levels of the four attributes."""
    space = make_space(encode(rows, adult_plan()))
    lines = []
    for place, (name, (values, levels)) in enumerate(TABLE_7.items()):
        ours = len({row[adult.COLUMNS.index(name)] for row in rows})
        lines.append([name, values, ours, levels, space.shape[place] - 1])
    lines.append(["nodes of the lattice", "", "", 96, space.nodes])
    lines.append(["its height", "", "", 9, sum(space.shape) - len(space.shape)])
    return table(("", "different values: printed", "ours", "levels above: printed", "ours"), lines)


def table_8(rows: Rows, samples: int, thresholds: Sequence[int] = THRESHOLDS) -> str:
    """How often samples lead to the printed node, and how many disclosures there are, by threshold."""
    found: dict[tuple[int, int, int], list[Case]] = {}
    for size in sorted({size for size, _ in TABLE_8}):
        for seed in range(samples):
            picked = np.random.default_rng(seed).choice(len(rows), min(size, len(rows)), replace=False)
            microdata = encode([rows[place] for place in np.sort(picked)], adult_plan())
            for k in (2, 3):
                for share in thresholds:
                    case = look(microdata, k, size * share // 100, TABLE_8[size, k][0])
                    found.setdefault((size, k, share), []).append(case)
    lines = []
    for (size, k, share), cases in sorted(found.items()):
        printed, disclosures = TABLE_8[size, k]
        node, often = Counter(case.node for case in cases).most_common(1)[0]
        lines.append(
            [
                f"{count(size)}, k = {k}" if share == thresholds[0] else "",
                f"{_node(printed, 'AMRS')}, {disclosures}" if share == thresholds[0] else "",
                least_to_most([case.at_printed for case in cases]) if share == thresholds[0] else "",
                f"{share}%",
                f"{sum(case.minimal for case in cases)} of {len(cases)}",
                f"{_node(node, 'AMRS')} ({often})",
                least_to_most([case.disclosures for case in cases]),
                f"{least_to_most([sum(case.node) for case in cases])} → {_heights_with_p(cases)}",
            ]
        )
    head = (
        "records, k", "printed: node, disclosures", "disclosures there, ours", "threshold", "printed node is minimal",
        "node found most often", "disclosures at nodes found", "height, without → with p = 2",
    )  # fmt: skip
    return table(head, lines)


def look(microdata: Microdata, k: int, budget: int, printed: Node) -> Case:
    """Search one sample for k, and for k with two values of every sensitive column."""
    space = make_space(microdata)
    only, both = Requirement(k), Requirement(k, tuple((place, PSensitive(2)) for place in range(len(SENSITIVE))))
    node = samarati(space, only, budget).node
    assert node is not None, "the top of the lattice is one group"
    sensitive = samarati(space, both, budget).node
    minimal = printed in find_minimal(space, only, budget).minimal
    there = _disclosures(microdata, space, only, printed)
    return Case(node, minimal, _disclosures(microdata, space, only, node), there, sensitive)


def _disclosures(microdata: Microdata, space: Any, requirement: Requirement, node: Node) -> int:
    made = recode(space, requirement, node)
    return int(attribute_disclosures(microdata, made.group_of, made.groups)["count"])


def _heights_with_p(cases: Sequence[Case]) -> str:
    heights = [sum(case.sensitive_node) for case in cases if case.sensitive_node is not None]
    return least_to_most(heights) if heights else "none"


def _node(node: Sequence[int], letters: str) -> str:
    return "⟨" + ", ".join(f"{letter}{level}" for letter, level in zip(letters, node, strict=True)) + "⟩"


def _nodes(nodes: Any, letters: str) -> str:
    return " and ".join(_node(node, letters) for node in sorted(nodes))
