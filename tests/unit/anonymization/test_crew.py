"""Helpers of a search: real processes that share memory, do as they are told, and leave nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import hedgerow as hr
from hedgerow.anonymization.lattice import make_space, search_research
from hedgerow.anonymization.lattice.bench import Bench, Order
from hedgerow.anonymization.lattice.crew import Alone, Processes, hire
from hedgerow.measures.research_value import column_values
from hedgerow.microdata import encode_table, read_table
from hedgerow.outside.shared_memory import lay_out, received, shared_memory
from hedgerow.plan import Plan
from hedgerow.privacy import Requirement
from tests.cases.lattices import people, plan
from tests.processes.helpers import forked_helpers

ROOT = Path(__file__).parents[3]
COLUMNS = 5
pytestmark = pytest.mark.skipif(os.name != "posix", reason="there are no helpers here")


def case() -> tuple[Any, ...]:
    draw = np.random.default_rng(3)
    table = pa.table({f"c{j}": [str(value) for value in draw.integers(10, 99, 400)] for j in range(COLUMNS)})
    attribute = {"role": "quasi-identifier", "hierarchy": {"prefix": [2, 1, 0]}}
    plan = Plan.from_dict(
        {"attributes": dict.fromkeys(table.column_names, attribute), "privacy": {"k": 3}, "method": "lattice"}
    )
    microdata = encode_table(read_table(table, plan), plan)
    return make_space(microdata), Requirement.of_plan(plan, microdata), 40, column_values(microdata, plan)


def bench() -> Bench:
    space, requirement, budget, _ = case()
    return Bench(space, requirement, budget)


def orders() -> list[Order]:
    bottom, top = (0,) * COLUMNS, (2,) * COLUMNS
    nodes = [tuple(min(2, (number >> j) & 1) for j in range(COLUMNS)) for number in range(32)]
    given = [Order("lost", bottom, [node, top]) for node in nodes]
    return [*given, Order("raised", bottom, [[2, 0, 1, 4, 3], [[0, 5]], None, 5])]


def alive(number: int) -> bool:
    """Whether a process is there and does something: one that nobody has asked how it ended does nothing."""
    try:
        state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def gone(numbers: list[int]) -> bool:
    for _ in range(300):
        if not any(map(alive, numbers)):
            return True
        time.sleep(0.1)
    return False


def listed(found: Any) -> Any:
    """As JSON has it: no tuples."""
    return [listed(one) for one in found] if isinstance(found, list | tuple) else found


def test_helpers_answer_as_we_do_and_end_with_the_search() -> None:
    crew = Processes(bench(), 3, enough=0)
    tickets = [crew.submit(order) for order in orders()]
    numbers = crew.helpers
    assert len(numbers) == 2
    alone = Alone(bench())
    found = [listed(crew.answer(ticket)) for ticket in tickets]
    assert found == [listed(alone.answer(alone.submit(order))) for order in orders()]
    crew.close()
    assert gone(numbers)


def test_what_a_lost_helper_had_to_do_is_done_here() -> None:
    crew = Processes(bench(), 3, enough=0)
    crew.submit(orders()[0])
    for number in crew.helpers:
        os.kill(number, signal.SIGSTOP)  # they take orders and do none
    tickets = [crew.submit(order) for order in orders()]
    for number in crew.helpers:
        os.kill(number, signal.SIGKILL)
    alone = Alone(bench())
    found = [listed(crew.answer(ticket)) for ticket in tickets]
    assert found == [listed(alone.answer(alone.submit(order))) for order in orders()]
    assert not crew.helpers
    crew.close()


def test_a_helper_is_not_ended_by_what_is_typed() -> None:
    crew = Processes(bench(), 2, enough=0)
    crew.submit(orders()[0])
    for number in crew.helpers:
        os.kill(number, signal.SIGINT)
    tickets = [crew.submit(order) for order in orders()]
    for ticket in tickets:
        crew.answer(ticket)
    assert len(crew.helpers) == 1
    crew.close()


def test_a_search_that_is_interrupted_leaves_nobody_behind() -> None:
    *given, values = case()
    crews: list[Processes] = []

    def hired(bench: Bench) -> Processes:
        crews.append(Processes(bench, 2, enough=0))
        return crews[-1]

    numbers: list[int] = []
    search: Any = search_research

    def tell(tested: int) -> None:
        if tested > 3:
            numbers.extend(crews[-1].helpers)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        search(*given, values, "global", tell=tell, hire=hired)
    assert numbers
    assert gone(numbers)


def test_helpers_end_when_whoever_searches_is_killed() -> None:
    program = (
        "from tests.unit.anonymization.test_crew import *\n"
        "crew = Processes(bench(), 3, enough=0)\n"
        "crew.submit(orders()[0])\n"
        "print(*crew.helpers, flush=True)\n"
        "time.sleep(600)"
    )
    words = [sys.executable, "-c", program]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=ROOT) as parent:
        assert parent.stdout is not None
        numbers = [int(word) for word in parent.stdout.readline().split()]
        assert len(numbers) == 2
        assert all(map(alive, numbers))
        parent.kill()
    assert gone(numbers)


def test_small_searches_start_nobody_and_one_process_is_enough_for_some() -> None:
    crew = Processes(bench(), 4)
    for ticket in [crew.submit(order) for order in orders()]:
        crew.answer(ticket)
    assert not crew.helpers
    assert hire(1) is Alone


def test_no_memory_for_helpers_is_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(handle: int, thing: Any) -> list[int]:
        raise OSError

    monkeypatch.setattr("hedgerow.anonymization.lattice.crew.lay_out", none)
    crew = Processes(bench(), 3, enough=0)
    tickets = [crew.submit(order) for order in orders()]
    assert [crew.answer(ticket) for ticket in tickets]
    assert not crew.helpers


def test_what_is_laid_out_is_shared_until_somebody_writes() -> None:
    given = {"codes": np.arange(1_000_000), "names": ["a"], "tall": np.asfortranarray(np.arange(6.0).reshape(2, 3))}
    with shared_memory() as handle:
        sizes = lay_out(handle, given)
        one, other = received(handle, sizes), received(handle, sizes)
    assert sizes[0] < 1_000  # arrays are not copied into what is unpacked
    for found in (one, other):
        assert found["names"] == ["a"]
        np.testing.assert_array_equal(found["codes"], given["codes"])
        np.testing.assert_array_equal(found["tall"], given["tall"])
        assert found["codes"].flags.writeable  # kernels are compiled for such arrays
        assert found["codes"].ctypes.data % 64 == 0
    one["codes"][0] = -1
    assert other["codes"][0] == given["codes"][0] == 0


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells how memory is shared")
def test_the_lattice_lies_in_memory_once() -> None:
    crew = Processes(bench(), 3, enough=0)
    crew.submit(Order("lost", (0,) * COLUMNS, [(0,) * COLUMNS]))
    handles = {}
    for number in crew.helpers:
        for line in Path(f"/proc/{number}/maps").read_text().splitlines():
            if "memfd:hedgerow" in line:
                handles.setdefault(number, line.split()[4])
    assert len(handles) == 2
    assert len(set(handles.values())) == 1  # one and the same
    crew.close()


def test_a_release_is_the_same_by_any_number_of_threads(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("hedgerow.anonymization.lattice.crew.ENOUGH", 0)
    started: list[int] = []
    start = Processes._start

    def starting(crew: Processes) -> None:
        start(crew)
        started.extend(crew.helpers)

    monkeypatch.setattr(Processes, "_start", starting)
    made = {}
    with forked_helpers():
        for threads in (1, 3):
            hr.anonymize(people(11), plan(withhold="4%"), tmp_path / str(threads), threads=threads)
            made[threads] = {path.name: path.read_bytes() for path in (tmp_path / str(threads)).iterdir()}
    assert len(started) >= 2
    assert gone(started)
    assert made[1] == made[3]
