"""Where the time of the tests goes: ``make test TIMES=1``, or ``-p tests.timing`` with any pytest command.

Counts what each test and each fixture takes, by the clock and of processors (children that have ended included, so that
a busy machine does not matter), and prints the sums when all tests have run.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Generator
from typing import Any, cast

import pytest

SHOWN = 25  # lines of each list
KEY = "time"
_open: list[list[float]] = []  # what fixtures inside of those that are being made took


def _now() -> tuple[float, float]:
    times = os.times()
    return time.perf_counter(), sum(times[:4])


def _measured(item: pytest.Item, what: str) -> Generator[None, object, object]:
    began = _now()
    _open.append([0.0, 0.0])
    try:
        return (yield)
    finally:
        taken = [after - before for after, before in zip(_now(), began, strict=True)]
        inner = _open.pop()
        if _open:
            _open[-1] = [sum(pair) for pair in zip(_open[-1], taken, strict=True)]
        own = [round(mine - theirs, 4) for mine, theirs in zip(taken, inner, strict=True)]
        item.user_properties.append((KEY, [what, *own]))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, object, object]:
    return (yield from _measured(item, "setup"))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    return (yield from _measured(item, "call"))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    return (yield from _measured(item, "teardown"))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_fixture_setup(fixturedef: Any, request: pytest.FixtureRequest) -> Generator[None, object, object]:
    if fixturedef.scope == "function":  # counts as what its test takes
        return (yield)
    return (yield from _measured(request._pyfuncitem, f"{fixturedef.scope} fixture {fixturedef.argname}"))


class Sums:
    """What all processes reported."""

    def __init__(self) -> None:
        self.tests: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
        self.modules: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
        self.fixtures: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
        self.processes: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when != "teardown":
            return
        worker = getattr(report, "worker_id", "main")
        module = report.nodeid.partition("::")[0]
        measured = [value for key, value in report.user_properties if key == KEY]
        for what, clock, processors in cast("list[tuple[str, float, float]]", measured):
            sums = [self.modules[module], self.processes[worker]]
            sums.append(self.fixtures[what] if "fixture" in what else self.tests[report.nodeid])
            for total in sums:
                total[:] = [sum(pair) for pair in zip(total, (clock, processors), strict=True)]

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        for title in ("processes", "modules", "fixtures", "tests"):
            found: dict[str, list[float]] = getattr(self, title)
            order = sorted(found, key=lambda name: -max(found[name]))
            terminalreporter.section(f"{title}: seconds by the clock, of processors")
            for name in order[:SHOWN]:
                clock, processors = found[name]
                terminalreporter.write_line(f"{clock:8.2f} {processors:8.2f}  {name}")


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Sums())
