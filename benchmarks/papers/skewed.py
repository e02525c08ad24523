"""A skewed target (RV, Figures 21 and 22): a tree that tells one cause of death, before and after clustering.

The certificates of the thesis are those of a county and not public; these are made up. Of its five attributes all are
there, and the target is as skewed: 11% of the deaths are by one of three cancers.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from rich.console import Console

import hedgerow as hr
from benchmarks.papers.writing import Write, count, percent, table
from hedgerow.evaluation.comparison import ComparedRun, Comparison
from hedgerow.evaluation.synthetic import deaths
from hedgerow.reports.terminal.tree import tree_view

RECORDS = 122_000
KS = (3, 5, 10)
CANCERS = ("lung cancer", "breast cancer", "colon cancer")
YEARS = {
    "8th grade or less": 8,
    "9th-12th grade": 11,
    "high school": 12,
    "college, no degree": 13,
    "associate degree": 14,
    "bachelor": 16,
    "master": 18,
    "doctorate": 20,
}
"""Years of school, for the thesis clusters numbers."""
METHODS = {"utility": "utility", "utility-suppress": "utility, suppression", "bottom-up": "bottom-up",
           "euclidean": "Euclidean"}  # fmt: skip
FREE = {"role": "quasi-identifier", "intervals": "free"}
PLAN: dict[str, Any] = {
    "attributes": {
        "age": FREE,
        "sex": "quasi-identifier",
        "education": FREE,
        "race": "quasi-identifier",
        "cancer": "quasi-identifier",
    },
    "privacy": {"k": 5},
    "rules": [{"attribute": "age", "keep_apart": [64, 65], "importance": 25}],
    "research_value": {"base": 10},
}


def run(write: Write) -> None:
    """Compute and write."""
    found = compare(certificates(RECORDS))
    assert found.original is not None
    write("rv-skewed-tree", f"```text\n{shown(found.original)}\n```")
    utility = next(one for one in found.runs if one.method == "utility" and one.k == 5)
    write("rv-skewed-released", f"```text\n{shown(utility.tree or {})}\n```")
    write("rv-skewed-leaves", leaves_table(found))


def certificates(records: int) -> pa.Table:
    """The five attributes: all of them count towards k, as in the thesis."""
    made = deaths(records, attributes=6).columns
    return pa.table(
        {
            "age": list(map(str, made["age"])),
            "sex": list(made["sex"]),
            "education": [str(YEARS[name]) for name in made["education"]],
            "race": list(made["race"]),
            "cancer": ["yes" if cause in CANCERS else "no" for cause in made["cause_of_death"]],
        }
    )


def compare(people: pa.Table, ks: Sequence[int] = KS) -> Comparison:
    """The four clusterings of the thesis at every k, and the tree of each."""
    return hr.compare(people, hr.Plan.from_dict(PLAN), k=ks, methods=list(METHODS), target="cancer")


def shown(tree: Any) -> str:
    """A tree, as ``hedgerow compare`` prints it."""
    console = Console(file=io.StringIO(), width=100)
    with console.capture() as printed:
        console.print(tree_view(tree))
    return "\n".join(line.rstrip() for line in printed.get().splitlines() if line.strip())


def purest(tree: Any, least: int) -> str:
    """The purest leaf of records without cancer, of so many records or more, in words."""
    leaves = [leaf for leaf in tree["leaves"] if leaf["majority"] == "no" and leaf["size"] >= least]
    leaf = max(leaves, key=lambda one: one["purity"], default=None)
    if leaf is None or not leaf["conditions"]:
        return "– (no split)"
    return f"{count(leaf['size'])} · {', '.join(leaf['conditions'])} · {percent(leaf['purity'])}"


def leaves_table(found: Comparison) -> str:
    """What is left of the purest leaf by method and k."""
    assert found.original is not None
    lines = [["", "raw data", purest(found.original, 100), "", ""]]
    for k in dict.fromkeys(one.k for one in found.runs):
        for method, words in METHODS.items():
            one = next(run for run in found.runs if run.k == k and run.method == method)
            lines.append([k, words, *_cells(one)])
    return table(("k", "method", "purest leaf without cancer", "groups", "cancer published as the root"), lines)


def _cells(one: ComparedRun) -> list[str]:
    if one.tree is None or one.facts is None:
        return ["no release", "", ""]
    return [purest(one.tree, 100), count(one.facts["groups"]), count(int(one.tree["left_out"]["coarsened"]))]
