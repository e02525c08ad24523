"""``python -m tests.robustness``: every campaign, for as long as asked; seeds are printed, failing cases are kept."""

from __future__ import annotations

import argparse
import importlib
import json
import multiprocessing
import os
import pkgutil
import random
import secrets
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tests.robustness
from tests.robustness.campaign import Campaign

KEPT = Path("torture-failures")
EVERY_SECONDS = 60


@dataclass
class Tally:
    """What was tried so far."""

    batches: int = 0
    seconds: float = 0.0
    failures: int = 0
    cases: Counter[str] = field(default_factory=Counter)


def campaigns() -> dict[str, Campaign]:
    """Find the campaign of every module here that has one."""
    found = {}
    for module in sorted(pkgutil.iter_modules(tests.robustness.__path__), key=lambda one: one.name):
        if module.name.startswith("attack_"):
            campaign = importlib.import_module(f"tests.robustness.{module.name}").CAMPAIGN
            found[campaign.name] = campaign
    return found


def attempt(name: str, seed: str) -> tuple[str, str, Counter[str], float, str]:
    """Run one batch; the last part of the answer is the trace of a failure, empty if there was none."""
    began = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix=f"torture-{name}-"))
    trace, cases = "", Counter[str]()
    try:
        cases = campaigns()[name].batch(random.Random(seed), folder)
    except BaseException:  # whatever it is, it is a finding
        trace = traceback.format_exc()
        kept = KEPT / f"{name}-{seed}"
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(folder, kept, symlinks=True, ignore_dangling_symlinks=True)
        (kept / "FAILURE.txt").write_text(f"python -m tests.robustness --only {name} --again {seed}\n\n{trace}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return name, seed, cases, time.monotonic() - began, trace


def torture(chosen: dict[str, Campaign], minutes: float, seed: str, processes: int, results: Path | None) -> int:
    """Run campaigns until the time is over; the one that had the least of its share comes next."""
    from tests.robustness import __main__ as harness  # a spawned process cannot find what is in "__main__" itself

    tallies: dict[str, Tally] = defaultdict(Tally)
    started: Counter[str] = Counter()
    began = told = time.monotonic()
    with multiprocessing.get_context("spawn").Pool(processes, maxtasksperchild=100) as pool:
        running: list[tuple[str, Any]] = []
        while running or time.monotonic() - began < minutes * 60:
            while len(running) < processes and time.monotonic() - began < minutes * 60:
                at_work = Counter(name for name, _ in running)
                name = min(chosen, key=lambda one: ((tallies[one].seconds + at_work[one]) / chosen[one].share, one))
                case = (name, f"{seed}-{started[name]}")
                running.append((name, pool.apply_async(harness.attempt, case)))
                started[name] += 1
            time.sleep(0.05)
            for name, one in [pair for pair in running if pair[1].ready()]:
                running.remove((name, one))
                _, case, cases, seconds, trace = one.get()
                tally = tallies[name]
                tally.batches, tally.seconds = tally.batches + 1, tally.seconds + seconds
                tally.cases += cases
                if trace:
                    tally.failures += 1
                    print(f"FAILED {name} with seed {case}; kept in {KEPT / f'{name}-{case}'}", flush=True)
            if time.monotonic() - told > EVERY_SECONDS:
                told = time.monotonic()
                show(tallies, chosen, told - began)
                write(results, seed, tallies, told - began)
    show(tallies, chosen, time.monotonic() - began)
    write(results, seed, tallies, time.monotonic() - began)
    return sum(tally.failures for tally in tallies.values())


def show(tallies: dict[str, Tally], chosen: dict[str, Campaign], seconds: float) -> None:
    print(f"\nafter {seconds / 60:.1f} minutes")
    for name, campaign in chosen.items():
        tally = tallies[name]
        kinds = ", ".join(f"{kind} {count:,}" for kind, count in sorted(tally.cases.items())[:12])
        print(f"  {name:16} {tally.cases.total():>10,} {campaign.cases}; {tally.failures} batches failed  ({kinds})")
    sys.stdout.flush()


def write(results: Path | None, seed: str, tallies: dict[str, Tally], seconds: float) -> None:
    if results is not None:
        found = {name: {**vars(tally), "cases": dict(tally.cases)} for name, tally in sorted(tallies.items())}
        results.write_text(json.dumps({"seed": seed, "seconds": seconds, "campaigns": found}, indent=2) + "\n")


def main() -> None:
    known = campaigns()
    parser = argparse.ArgumentParser(prog="python -m tests.robustness", description=__doc__)
    parser.add_argument("--minutes", type=float, default=120)
    parser.add_argument("--seed", default=secrets.token_hex(4), help="of all cases; a new one by default")
    parser.add_argument("--only", default=",".join(known), help=f"campaigns, of {', '.join(known)}")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--again", metavar="SEED", help="run one batch again, and say how it fails")
    parser.add_argument("--results", type=Path, help="file to write the counts to")
    asked = parser.parse_args()
    chosen = {name: known[name] for name in asked.only.split(",")}
    if asked.again:
        for name in chosen:
            _, _, cases, seconds, trace = attempt(name, asked.again)
            print(f"{name} {asked.again}: {dict(cases)} in {seconds:.1f} s\n{trace}")
        return
    print(f"seed {asked.seed}; {asked.minutes:g} minutes on {asked.processes} processes", flush=True)
    sys.exit(1 if torture(chosen, asked.minutes, asked.seed, asked.processes, asked.results) else 0)


if __name__ == "__main__":
    main()
