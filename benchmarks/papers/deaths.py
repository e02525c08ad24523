"""Research value with many attributes (RV, Tables 5 and 6): made-up death certificates, since a county's are secret.

Ten minutes, so only by name: ``python -m benchmarks.papers deaths``.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hedgerow as hr
from benchmarks.papers.writing import Write, count, table
from hedgerow.evaluation.synthetic import deaths, write_demo

PATIENCE = 120
SEARCHES = ("exact", "global", "hybrid", "divided", "local")
MANY = ((24, "0"), (24, "1%"), (36, "0"), (36, "1%"))
OTHERS = ("global", "hybrid", "divided", "local")
FEW = (8, 10, 12)


@dataclass(frozen=True)
class Search:
    """What one search came to; ``problem`` says why there is nothing else."""

    attributes: int
    name: str
    withhold: str
    seconds: float
    problem: str = ""
    value: float = 0.0
    strings: int = 0
    tested: int = 0
    proven: bool = False
    bound: float = 0.0


def run(write: Write) -> None:
    """Run and write."""
    with tempfile.TemporaryDirectory() as folder:
        many = [search(Path(folder), attributes, "exact", withhold) for attributes, withhold in MANY]
        others = [search(Path(folder), MANY[0][0], name) for name in OTHERS]
        write("deaths-many", f"{many_table(many)}\n\n{others_list(others)}")
        few = [search(Path(folder), attributes, name) for attributes in FEW for name in SEARCHES]
        write("deaths-few", few_table(few))


def search(folder: Path, attributes: int, name: str, withhold: str = "0") -> Search:
    """Make one release, verified and all, of certificates written into the folder."""
    data, plan_file = write_demo(folder / str(attributes), deaths(attributes=attributes))
    method: dict[str, Any] = {"name": "lattice", "objective": "research-value", "search": name}
    changes = {"method": method} | ({} if withhold == "0" else {"withhold": withhold})
    plan = hr.Plan.load(plan_file).replace(**changes).settled()
    start = time.perf_counter()
    try:
        facts = hr.anonymize(data, plan, patience=hr.Patience(seconds=PATIENCE)).facts
    except hr.HedgerowError as problem:
        return Search(attributes, name, withhold, time.perf_counter() - start, problem=problem.problems[0].message)
    seconds, found = time.perf_counter() - start, facts["search"]
    return Search(
        attributes, name, withhold, seconds, "", facts["score"], found["strings"], found["tested"], found["proven"],
        found["bound"],
    )  # fmt: skip


def many_table(searches: Sequence[Search]) -> str:
    """Exact searches of spaces that nobody could list."""
    lines = [
        [
            found.attributes,
            found.withhold,
            power_of_ten(found.strings),
            count(found.tested),
            f"{found.value:.4f}",
            "proven" if found.proven else f"after {PATIENCE} s: none is above {found.bound:.4f}",
            f"{found.seconds:.0f}",
        ]
        for found in searches
    ]
    return table(("attributes", "may be withheld", "strings", "checks", "value found", "", "s"), lines)


def others_list(searches: Sequence[Search]) -> str:
    """What the searches of the thesis make of so many attributes."""
    lines = [f"The other searches with {searches[0].attributes} attributes:\n"]
    for found in searches:
        tested = f"tests {count(found.tested)} strings and finds {found.value:.4f}"
        lines.append(f"- `{found.name}`: {found.problem or tested}")
    return "\n".join(lines)


def few_table(searches: Sequence[Search]) -> str:
    """All searches side by side, where they can be run: checks and seconds."""
    lines = []
    for attributes in dict.fromkeys(found.attributes for found in searches):
        mine = {found.name: found for found in searches if found.attributes == attributes}
        exact = mine["exact"]
        cells = [_few_cell(mine.get(name), exact.value) for name in SEARCHES]
        lines.append([attributes, count(exact.strings), f"{exact.value:.4f}", *cells])
    return table(("attributes", "strings", "value", *(f"`{name}`" for name in SEARCHES)), lines)


def power_of_ten(number: int) -> str:
    """A large number in a few characters.

    Examples
    --------
    >>> power_of_ten(11596411699200)
    '1.2 · 10^13'
    """
    digits, _, power = f"{number:.1e}".partition("e")
    return f"{digits} · 10^{int(power)}"


def _few_cell(found: Search | None, best: float) -> str:
    if found is None:
        return "not run"
    if found.problem:
        return "refused"
    worse = "" if abs(found.value - best) < 1e-9 else f", finds {found.value:.4f}"
    return f"{count(found.tested)}, {found.seconds:.0f} s{worse}"
