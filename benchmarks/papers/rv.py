"""Research value and rules (RV): Tables 12 to 17, on Adult with the two plans of ``examples/adult``."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa
from rich.console import Console

import hedgerow as hr
from benchmarks import adult
from benchmarks.page import DOCS
from benchmarks.papers import rv_records
from benchmarks.papers.writing import Write, count, percent, table
from hedgerow.evaluation.comparison import ComparedRun, Comparison
from hedgerow.reports.terminal.tree import tree_view

EXAMPLES = DOCS.parent.parent / "examples" / "adult"
PLANS = ("plan", "weighted")
PLACES = {"age": 0, "education-num": 4, "capital-gain": 10, "salary": 14}
KS = (3, 5, 10)
SEARCHES = ("exact", "global", "hybrid", "divided", "local")
CLUSTERINGS = {
    "utility": "utility",
    "utility-suppress": "utility, suppression",
    "bottom-up": "bottom-up",
    "euclidean": "Euclidean",
}
METHODS = (*SEARCHES, "lattice", *CLUSTERINGS)
PURE = 0.9

# Table 12: attributes of two values, k, records, repetitions, success printed.
TABLE_12 = (
    (3, 3, 50, 50, "68%"),
    (3, 3, 75, 50, "100%"),
    (3, 5, 75, 50, "74%"),
    (3, 5, 100, 50, "100%"),
    (7, 5, 1_200, 500, "0%"),
    (7, 5, 7_500, 500, "100%"),
    (12, 5, 30_000, 500, "0%"),
    (12, 5, 100_000, 500, "100%"),
    (15, 5, 750_000, 200, "96%"),
    (18, 5, 2_000_000, 200, "0%"),
)

# Tables 13 to 17 by k and method: what is printed for bucket 1 (more than 50K) and bucket 2; NA is "none found".
PRINTED: dict[int, dict[str, tuple[str, str]]] = {
    3: {
        "global": ("kept (text)", ""),
        "utility": ("144 · > 35K · 100%", "NA"),
        "utility-suppress": ("1,381 · > 5178, education > 9 · 100%", "3,706 · education < 7 · 97%"),
        "bottom-up": ("148 · > 35K · 100%", "NA"),
        "euclidean": ("NA", "NA"),
    },
    5: {
        "global": ("1,387 · ≥ 6000 · 95%", "NA"),
        "local": ("NA", "NA"),
        "utility": ("1,019 · > 7400 · 100%", "NA"),
        "utility-suppress": ("NA", "NA"),
        "bottom-up": ("NA", "18,686 · education pre-college · 86%"),
        "euclidean": ("NA", "NA"),
    },
    10: {
        "global": ("NA (salary lost)", "NA"),
        "local": ("NA", "NA"),
        "utility": ("1,174 · > 7444 · 100%", "NA"),
        "utility-suppress": ("NA", "NA"),
        "bottom-up": ("NA", "20,000 · gain < 7000 · 86%"),
        "euclidean": ("NA", "NA"),
    },
}
BUCKETS = (">50K", "<=50K")
Found = dict[str, Comparison]


def run(write: Write) -> None:
    """Run everything and write."""
    people = adult_table(adult.complete_rows("adult.data"))
    write("rv-table-12", table_12(TABLE_12))
    found = {name: compare(people, name) for name in PLANS}
    for block, text in blocks(found, rv_records.numbers(people)).items():
        write(block, text)
    releases = {k: rv_records.suppressed_release(people, EXAMPLES / "plan.yaml", k) for k in KS}
    write("rv-suppression", rv_records.suppression_table(people, releases))
    write("rv-printed-conditions", rv_records.printed_conditions_table(people))


def adult_table(rows: Sequence[Sequence[str]]) -> pa.Table:
    """The four columns of the thesis."""
    return pa.table({name: [row[place] for row in rows] for name, place in PLACES.items()})


def compare(people: pa.Table, plan: str, methods: Sequence[str] = METHODS, ks: Sequence[int] = KS) -> Comparison:
    """All methods at every k, by one of the two plans."""
    return hr.compare(people, EXAMPLES / f"{plan}.yaml", k=ks, methods=methods, target="salary")


def table_12(rows: Iterable[tuple[int, int, int, int, str]]) -> str:
    """Chances as computed, and drawn as often as the thesis drew."""
    lines = []
    for attributes, k, records, repetitions, printed in rows:
        (attempt,) = hr.simulate(attributes, k=k, records=records, repetitions=repetitions).attempts
        assert attempt.chance is not None
        assert attempt.simulated is not None
        drawn = f"{attempt.simulated.successes} of {repetitions}"
        lines.append([attributes, k, count(records), repetitions, printed, chance_shown(attempt.chance), drawn])
    return table(("attributes", "k", "records", "repetitions", "printed", "computed", "drawn here"), lines)


def chance_shown(chance: Any) -> str:
    """A chance as a share, or as a power of ten where a share would read 0."""
    if chance.probability < 1e-6 and chance.log10_probability is not None:
        return f"10^{chance.log10_probability:,.1f}"
    return f"{100 * chance.probability:.3g}%"


def blocks(found: Found, raw: rv_records.Numbers) -> dict[str, str]:
    """What the comparisons came to, by block."""
    return {
        "rv-tree": f"```text\n{tree_shown(found['plan'])}\n```",
        "rv-bucket-1": bucket_table(found, 0),
        "rv-bucket-2": bucket_table(found, 1),
        "rv-levels": levels_table(found),
        "rv-releases": releases_table(found),
        "rv-maybe": maybe_table(found, raw),
    }


def runs_at(comparison: Comparison, k: int) -> dict[str, ComparedRun]:
    """The runs at one k, by method."""
    return {run.method: run for run in comparison.runs if run.k == k}


def ks_of(found: Found) -> tuple[int, ...]:
    """The k that were compared."""
    return tuple(dict.fromkeys(run.k for comparison in found.values() for run in comparison.runs))


def largest_leaf(run: ComparedRun, bucket: str) -> dict[str, Any] | None:
    """The largest leaf of a release's tree with nine tenths of the class."""
    leaves = [leaf for leaf in (run.tree or {}).get("leaves", []) if leaf["majority"] == bucket]
    return max((leaf for leaf in leaves if leaf["purity"] >= PURE), key=lambda leaf: leaf["size"], default=None)


def entry(run: ComparedRun | None, bucket: str) -> str:
    """People, conditions and share of the largest leaf, in words."""
    if run is None or run.facts is None or run.tree is None:
        return "no release"
    if salaries_lost(run) == run.facts["records"]:
        return "salary lost"
    leaf = largest_leaf(run, bucket)
    if leaf is None:
        return "–"
    return f"{count(leaf['size'])} · {conditions_shown(leaf)} · {percent(leaf['purity'])}"


def conditions_shown(leaf: dict[str, Any]) -> str:
    """Conditions with short names of columns."""
    return ", ".join(leaf["conditions"]).replace("capital-gain", "gain").replace("education-num", "education")


def salaries_lost(run: ComparedRun) -> int:
    """Records whose salary is published as the root."""
    return int((run.tree or {})["left_out"]["coarsened"])


def bucket_table(found: Found, bucket: int) -> str:
    """One bucket of Tables 13 to 17."""
    lines = []
    for k in ks_of(found):
        printed = PRINTED[k]
        runs = {name: runs_at(comparison, k) for name, comparison in found.items()}
        for method, words in printed.items():
            ours = [entry(by_method.get(method), BUCKETS[bucket]) for by_method in runs.values()]
            lines.append([k, CLUSTERINGS.get(method, method), words[bucket], *ours])
    return table(("k", "method", "printed", *(f"`{name}.yaml`" for name in found)), lines)


def levels_table(found: Found) -> str:
    """The levels that searches choose; methods that choose the same stand together."""
    lines = []
    for name, comparison in found.items():
        for k in ks_of(found):
            together: dict[tuple[int, ...], list[ComparedRun]] = {}
            for method, run in runs_at(comparison, k).items():
                if run.facts is not None and "levels" in run.facts and method not in CLUSTERINGS:
                    together.setdefault(tuple(run.facts["levels"].values()), []).append(run)
            for levels, runs in together.items():
                methods = ", ".join(f"`{run.method}`" for run in runs)
                tested = ", ".join(str(run.facts["search"]["tested"]) for run in runs if "search" in (run.facts or {}))
                value = (runs[0].facts or {})["research_value"]
                lines.append([f"`{name}.yaml`", k, methods, *levels, f"{value:.4f}", tested])
    return table(("plan", "k", "method", "age", "education", "gain", "salary", "value", "strings tested"), lines)


def releases_table(found: Found) -> str:
    """Groups of the clusterings, and people whose salary is lost."""
    lines = []
    for k in ks_of(found):
        for method, words in CLUSTERINGS.items():
            runs = [runs_at(comparison, k).get(method) for comparison in found.values()]
            made = [run for run in runs if run is not None and run.facts is not None]
            cells = [cell for run in made for cell in (count((run.facts or {})["groups"]), count(salaries_lost(run)))]
            if cells:
                lines.append([k, words, *cells])
    head = [cell for name in found for cell in (f"`{name}.yaml`: groups", "salaries published as the root")]
    return table(("k", "method", *head), lines)


def maybe_table(found: Found, raw: rv_records.Numbers) -> str:
    """Leaves that hold more people than the raw data have under the same condition, read as if it were sure."""
    lines = []
    for name, comparison in found.items():
        for run in comparison.runs:
            for bucket in BUCKETS if run.method in CLUSTERINGS else ():
                leaf = largest_leaf(run, bucket)
                if leaf is None or not any("maybe" in condition for condition in leaf["conditions"]):
                    continue
                there = int(rv_records.meets(raw, leaf["conditions"]).sum())
                if leaf["size"] > there:
                    lines.append(
                        [
                            f"`{name}.yaml`",
                            run.k,
                            CLUSTERINGS[run.method],
                            conditions_shown(leaf),
                            count(leaf["size"]),
                            count(there),
                        ]
                    )
    return table(("plan", "k", "method", "leaf", "people in it", "raw data, without *maybe*"), lines)


def tree_shown(comparison: Comparison) -> str:
    """The tree of the original records, as ``hedgerow compare`` prints it."""
    assert comparison.original is not None
    console = Console(file=io.StringIO(), width=100)
    with console.capture() as printed:
        console.print(tree_view(comparison.original))
    return "\n".join(line.rstrip() for line in printed.get().splitlines() if line.strip())
