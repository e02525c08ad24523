"""How long the studio takes in a real Chromium, and what its server holds after many pages and runs.

Asked for: a hierarchy of 5,000 leaves opens in 2 s, and a limit that is moved on a million records says in 1 s what it
comes to; after 200 pages and 50 runs the server holds at most 1.3 times what it held after the first of each.
HEDGEROW_LEAVES and HEDGEROW_RECORDS name other numbers.
"""

from __future__ import annotations

import os
import random
import statistics
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import yaml

from benchmarks.results import Report
from hedgerow.evaluation.synthetic import census, clinic, write_demo
from tests.studio.servers import Served, serving

CHROMIUM = "/usr/bin/chromium"
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)
CENSUS = 100_000
PAGES, RUNS = 200, 50
SCREENS = ("data", "limits", "promise", "run", "result", "releases")
SWEPT_SECONDS = 70.0
"""Longer than the server waits before it gives back what is not in use."""
SETTLED = "() => document.querySelectorAll('.hr-toggle.waiting').length === 0"


def write_table(folder: Path, leaves: int, records: int) -> tuple[Path, Path]:
    """Write made-up people of many towns, and a plan with a limit at each district."""
    draw = random.Random(7)
    towns = [f"Town {number:06d}" for number in range(leaves)]
    size = max(1, leaves // 100)
    districts = {f"District {start // size:03d}": towns[start : start + size] for start in range(0, leaves, size)}
    names = list(districts)
    tree = {
        f"Region {r}": {n: districts[n] for n in names[10 * r : 10 * r + 10]} for r in range((len(names) + 9) // 10)
    }
    data, plan = folder / "people.csv", folder / "plan.yaml"
    with data.open("w") as file:
        file.write("town,age,sex,diagnosis\n")
        for _ in range(records):
            place = towns[int(draw.paretovariate(0.5)) % leaves]
            file.write(f"{place},{draw.randrange(18, 90)},{draw.choice('FM')},d{draw.randrange(30)}\n")
    town = {"role": "quasi-identifier", "hierarchy": {"tree": {"*": tree}}, "limit": {"level": 1}}
    age = {"role": "quasi-identifier", "hierarchy": {"bands": [5, 10, 20]}, "limit": {"level": 2}}
    attributes = {"town": town, "age": age, "sex": "quasi-identifier", "diagnosis": "sensitive"}
    plan.write_text(yaml.safe_dump({"attributes": attributes, "privacy": {"k": 5}}, sort_keys=False))
    return data, plan


def run(report: Report) -> None:
    if not Path(CHROMIUM).exists():
        report.note("skipped", f"needs {CHROMIUM}")
        return
    from playwright.sync_api import sync_playwright

    from hedgerow.studio.serving import Studio
    from hedgerow.studio.settings import Settings

    leaves = int(os.environ.get("HEDGEROW_LEAVES", "5000"))
    records = int(os.environ.get("HEDGEROW_RECORDS", "1000000"))
    clock = time.perf_counter
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as toolkit:
        data, plan = write_table(Path(folder), leaves, records)
        studio = Studio(Settings(port=0, data=str(data), plan=plan), tell=lambda text: None)
        ready = threading.Event()
        threading.Thread(target=studio.serve, args=(ready.set,), daemon=True).start()
        ready.wait(60)
        browser = toolkit.chromium.launch(executable_path=CHROMIUM, args=FLAGS.split())
        page = browser.new_page(viewport={"width": 1280, "height": 900})

        def until(label: str, act: object, seen: str) -> None:
            start = clock()
            act()  # type: ignore[operator]
            page.wait_for_selector(seen, timeout=300_000)
            report.time(label, clock() - start)

        report.count("leaves", leaves)
        report.count("records", records)
        until("the table is read and looked at", lambda: page.goto(studio.link()), "[data-testid=columns]")
        limits = f"{studio.url}/limits"
        until("limits, first time (encodes the table)", lambda: page.goto(limits), "[data-testid=tree-row-0]")
        until("limits, again", lambda: page.goto(limits), "[data-testid=tree-row-0]")
        until("open all", lambda: page.click("[data-testid=tree-open-all]"), "[data-testid=tree-row-3]")
        last = f"text=Town {leaves - 1:06d}"
        down = "window.scrollTo(0, 1e9)"
        until("to the end of the tree", lambda: page.evaluate(down), last)
        page.evaluate(down.replace("1e9", "0"))
        moved = []
        for node in (2, 1, 2, 3, 1):
            start = clock()
            page.click(f"[data-testid=tree-limit-{node}]")
            page.wait_for_function(SETTLED, timeout=60_000)
            moved.append(clock() - start)
            page.wait_for_timeout(300)
        report.time("a limit is moved, median of five", statistics.median(moved))
        report.time("a limit is moved, most of five", max(moved))
        report.count("rows in the page", page.locator("[role=treeitem]").count())
        page.close()
        _census(report, browser, Path(folder))
        _memory(report, browser, Path(folder))
        browser.close()


def _census(report: Report, browser: Any, place: Path) -> None:
    """Move a limit on 100,000 census records, as a person does."""
    (place / "census").mkdir()
    data, plan = write_demo(place / "census", census(records=CENSUS))
    with serving(data, plan, folder=place / "census") as served:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(served.link())
        page.wait_for_selector("[data-testid=columns]", timeout=120_000)
        page.goto(f"{served.url}/limits")
        page.wait_for_selector("[data-testid=tree-row-0]", timeout=120_000)
        page.wait_for_selector("[data-testid=withheld]", timeout=120_000)
        moved = []
        for node in (1, 1, 2, 2, 1, 1, 2, 2):
            start = time.perf_counter()
            page.click(f"[data-testid=tree-limit-{node}]")
            page.wait_for_function(SETTLED, timeout=60_000)
            moved.append(time.perf_counter() - start)
            page.wait_for_timeout(300)
        report.time(f"a limit is moved on {CENSUS:,} census records, median of eight", statistics.median(moved))
        page.close()


def _memory(report: Report, browser: Any, place: Path) -> None:
    """Say how much more the server holds after many pages and runs than after the first."""
    (place / "memory").mkdir()
    data, plan = write_demo(place / "memory", clinic(records=300))
    with serving(data, plan, folder=place / "memory") as served:
        page = browser.new_page()
        page.goto(served.link())
        page.wait_for_selector("[data-testid=columns]", timeout=120_000)
        done = 0

        def pages(many: int) -> None:
            for number in range(many):
                page.goto(f"{served.url}/{SCREENS[number % len(SCREENS)]}")
                page.wait_for_selector("h1")

        def one_run() -> None:
            nonlocal done
            page.goto(f"{served.url}/run")
            page.click("[data-testid=start]")
            done += 1
            page.wait_for_selector(f"[data-testid=result-{done}]", timeout=120_000)

        one_run()
        pages(len(SCREENS))
        first = _held(served)
        for _ in range(RUNS):
            one_run()
            pages(PAGES // RUNS)
        page.close()
        last = _held(served)
        report.memory("the server after the first pages and a run", first)
        report.memory(f"the server after {PAGES} pages and {RUNS} runs", last)
        report.ratio(f"memory after {PAGES} pages and {RUNS} runs, to that after the first", last / first)


def _held(served: Served) -> float:
    """Return the megabytes that the server holds once it has swept up."""
    time.sleep(SWEPT_SECONDS)
    return served.held
