"""``python -m benchmarks [NAME …]``: run all benchmarks, or those named; compare with the last commit; write the page.

Figures go to ``benchmarks/results.json``, tables and pictures to ``docs/explanation/benchmarks.md``. A benchmark that
fails is told at the end, and keeps its last figures.
"""

from __future__ import annotations

import importlib
import sys
import time
import traceback
from types import ModuleType

from benchmarks import adult, machine
from benchmarks.changes import changes
from benchmarks.page import DOCS, replace_block, table
from benchmarks.results import FILE, Report, Results, Section, committed_results, read_results

NAMES = (
    "commands", "clustering", "improve", "peers", "sweep", "partition", "diverse", "microaggregation", "lattice",
    "research", "maintenance", "engines", "cores", "studio", "households",
    "risk",
)  # fmt: skip
PAGE = DOCS / "benchmarks.md"


def main() -> None:
    """Run, compare, write."""
    names = sys.argv[1:] or list(NAMES)
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        sys.exit(f"there is no benchmark called {unknown[0]}; there are {', '.join(NAMES)}")
    if not (adult.FOLDER / "adult.data").exists():
        sys.exit("the benchmarks need adult.data in the folder named by HEDGEROW_DATA")
    print(machine.describe())
    done, failed = _run(names)
    kept = read_results()
    merged = {**kept.sections, **done}
    ordered = {name: merged[name] for name in NAMES if name in merged}
    results = Results(machine.machine(), machine.versions(), ordered)
    _compare(results, list(done))
    FILE.write_text(results.to_json(), encoding="utf-8")
    write_page(results, list(done))
    for name, why in failed.items():
        print(f"\n{name} failed, and keeps its last figures: {why}")
    if failed:
        sys.exit(1)


def _run(names: list[str]) -> tuple[dict[str, Section], dict[str, str]]:
    """Sections by name, and why those that failed did."""
    done, failed = {}, {}
    begin = time.perf_counter()
    for name in names:
        print(f"\n{name}", flush=True)
        start = time.perf_counter()
        report = Report(name)
        try:
            _module(name).run(report)
        except Exception as error:  # whatever it is, the others go on
            traceback.print_exc()
            failed[name] = f"{type(error).__name__}: {error}"
        else:
            done[name] = report.section
        print(
            f"  ({time.perf_counter() - start:.0f} s, {time.perf_counter() - begin:.0f} s since the start)", flush=True
        )
    return done, failed


def _compare(results: Results, names: list[str]) -> None:
    last = committed_results()
    if last is None:
        print("\nThe last commit has no results: nothing to compare with.")
        return
    found = list(changes(last, results, names))
    print(f"\nCompared with the last commit: {len(found) or 'nothing'} changed.")
    if last.machine != results.machine:
        print("  It was another machine: times and memory are not compared.")
    for change in found:
        print(f"  {change}")


def write_page(results: Results, names: list[str]) -> None:
    """Write the blocks and pictures of these sections."""
    words = f"{machine.describe()} The last run: {max(section.measured for section in results.sections.values())}."
    replace_block(PAGE, "machine", words)
    for name in names:
        module, section = _module(name), results.sections[name]
        for block, text in _blocks(module, section).items():
            replace_block(PAGE, block, text)
        if hasattr(module, "draw"):
            module.draw(section)


def _blocks(module: ModuleType, section: Section) -> dict[str, str]:
    """The module's own blocks; else one table of all figures."""
    if hasattr(module, "blocks"):
        found: dict[str, str] = module.blocks(section)
        return found
    rows = []
    for name in section.names():
        cells = [str(figure) for figure in section.figures if figure.name == name]
        rows.append([name, ", ".join([*cells, *([section.notes[name]] if name in section.notes else [])])])
    return {section.name: table(["", "figure"], rows)}


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"benchmarks.{name}")


if __name__ == "__main__":
    main()
