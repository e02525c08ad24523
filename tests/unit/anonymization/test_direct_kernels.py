"""Kernels called by their address do what numba's do, and refuse what they were not compiled for."""

from __future__ import annotations

import random
import runpy
import struct
import sys
from pathlib import Path
from typing import Any

import numba as nb
import numpy as np
import pytest
from numba.core import types
from numba.core.registry import cpu_target

from hedgerow.anonymization import preparing
from hedgerow.anonymization.kernels import Compiling, direct, entries, keeping, load_compiling, load_signatures
from hedgerow.anonymization.kernels.making import OnDemand, compiling
from hedgerow.anonymization.kernels.signatures import GIVES_ARRAYS
from tests.processes.interpreters import COMMAND, run


def numba_one(name: str) -> Any:
    module, _, function = name.partition(".")
    return getattr(load_compiling(module), function)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A kernel as numba calls it, and as its address is called."""
    folder = tmp_path_factory.mktemp("kernels")

    def made(name: str) -> tuple[Any, direct.Kernel]:
        compiled = numba_one(name)
        before = set(compiled.overloads)
        with compiling():
            assert entries.keep(name, compiled, load_signatures()[name], folder)
        assert set(compiled.overloads) == before  # its entry alone was compiled
        compiled.compile(load_signatures()[name])
        found = direct.found(name, folder)
        assert found is not None
        return compiled, found

    return made


def heap(order: random.Random) -> tuple[Any, ...]:
    from hedgerow.anonymization.kernels.tuples.lattice import Boxes

    levels = lambda: np.array([[order.randrange(5) for _ in range(3)] for _ in range(20)], np.uint16)  # noqa: E731
    costs = np.array([order.randrange(100) for _ in range(20)], np.int64)
    return (
        Boxes(levels(), levels(), np.arange(20), costs, np.arange(20), np.array([7, 20, 0, 0], np.int64)),
        3,
        order.randrange(100),
    )


@pytest.mark.parametrize("seed", range(5))
def test_an_address_gives_what_numba_gives(pair: Any, seed: int) -> None:
    by_numba, by_address = pair("lattice.mark_below")
    results = []
    for call in (by_numba, by_address):
        order = np.random.default_rng(seed)
        state = order.integers(0, 2, 60).astype(np.uint8)
        bound = order.random(60)
        call(state, bound, np.array([2, 1, 0], np.int64), np.array([5, 4, 3], np.int64), np.bool_(seed % 2), 0.25)
        results.append((state.tolist(), bound.tolist()))
    assert results[0] == results[1]


def test_numbers_and_tuples_go_in_and_come_out(pair: Any) -> None:
    by_numba, by_address = pair("width_runs.cut_cells")
    order = np.random.default_rng(3)
    low = np.sort(order.integers(0, 50, 40))
    tags = np.stack([np.arange(40), order.integers(-1, 4, 40)], axis=1)
    rest = (np.array([0, 25, 40]), np.ascontiguousarray(tags), np.array([40, 4]), np.array([3, 2]), 9)
    one, other = np.empty(40, np.int64), np.empty(40, np.int64)
    assert by_numba(low, low + 1, *rest, one) == by_address(low, low + 1, *rest, other) > 0
    np.testing.assert_array_equal(one, other)
    by_numba, by_address = pair("boxes.push")
    given = [heap(random.Random(1)) for _ in range(2)]
    by_numba(*given[0])
    by_address(*given[1])
    for one, other in zip(given[0][0], given[1][0], strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("place", "wrong"),
    [
        (0, np.zeros(4, np.int32)),
        (0, np.zeros((2, 2), np.int64)),
        (0, np.zeros(8, np.int64)[::2]),
        (6, "nine"),
        (6, 0.5),
    ],
)
def test_what_it_was_not_compiled_for_is_refused(pair: Any, place: int, wrong: Any) -> None:
    numbers = np.zeros(4, np.int64)
    given = [numbers, numbers, numbers, np.zeros((4, 1), np.int64), numbers, numbers, 9, numbers]
    given[place] = wrong
    _, by_address = pair("width_runs.cut_cells")
    with pytest.raises((TypeError, ValueError, struct.error)):
        by_address(*given)
    with pytest.raises(TypeError):
        by_address(*given[:-1])
    read_only = np.zeros(4, np.int64)
    read_only.setflags(write=False)
    with pytest.raises((TypeError, BufferError, ValueError)):
        by_address(read_only, *given[1:])


def test_every_kernel_takes_what_an_entry_can_give_it() -> None:
    for name, signature in load_signatures().items():
        assert len([entries._described(one) for one in signature]) == len(signature), name


def test_a_kernel_that_gives_arrays_is_left_to_numba(tmp_path: Path) -> None:
    assert {"clusters.plant"} == GIVES_ARRAYS
    assert not direct.is_there("clusters.plant", keeping.folder_of("clusters"))
    with pytest.raises(entries.NotPossible):
        entries._results(types.Tuple((types.int64[::1], types.int64)))


def test_what_is_compiled_for_a_kernel_serves_others_and_becomes_machine_code_when_asked_for() -> None:
    def half(x: float) -> float:
        if x < 0:
            raise ValueError("less than nothing")
        return x / 2

    njit: Any = nb.njit
    inside, outside = njit(half), cpu_target.target_context.codegen()
    with compiling():
        inside.compile((types.float64,))  # which asks where the way in from Python lies
        assert isinstance(inside.overloads[types.float64,].library, OnDemand)
        within = njit(no_cpython_wrapper=True)(half)
        within.compile((types.float64,))
        library = within.overloads[types.float64,].library
        assert not any(outside._engine.is_symbol_defined(one.name) for one in library.get_defined_functions())
    assert outside._library_class is not OnDemand

    twice = njit(lambda x: within(x) + within(x))
    assert inside(3.0) == 1.5
    assert twice(3.0) == 3.0
    with pytest.raises(ValueError, match="less than nothing"):
        twice(-1.0)


def test_what_numba_has_kept_is_loaded_while_a_kernel_is_compiled(tmp_path: Path) -> None:
    file = tmp_path / "kept.py"
    file.write_text("import numba as nb\n@nb.njit(cache=True)\ndef third(x):\n    return x / 3\n")
    before = runpy.run_path(str(file))["third"]
    before.compile((types.float64,))
    after = runpy.run_path(str(file))["third"]
    with compiling():
        after.compile((types.float64,))
    assert sum(after.stats.cache_hits.values()) == 1
    assert before(6.0) == after(6.0) == 2.0


def test_a_file_that_is_cut_off_or_foreign_is_not_called(pair: Any, tmp_path: Path) -> None:
    name = "lattice.mark_below"
    compiled, _ = pair(name)
    with compiling():
        assert entries.keep(name, compiled, load_signatures()[name], tmp_path)
    file = tmp_path / direct.file_name(name)
    whole = file.read_bytes()
    for damaged in (whole[:-1], whole[: len(whole) // 2], b"", b"\n", b"{}\n" + whole.partition(b"\n")[2]):
        file.write_bytes(damaged)
        assert direct.found(name, tmp_path) is None
    assert direct.found("lattice.check", tmp_path) is None


def test_settings_of_numba_go_to_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    assert direct.allowed()
    monkeypatch.setenv("NUMBA_NUM_THREADS", "2")
    assert direct.allowed()
    monkeypatch.setenv("NUMBA_BOUNDSCHECK", "1")
    assert not direct.allowed()


WATCHED = "import sys, hedgerow.cli\ntry: hedgerow.cli.main()\nfinally: print('numba' in sys.modules, file=sys.stderr)"


def test_a_command_whose_kernels_are_there_loads_no_numba(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("age\n" + "\n".join(str(20 + i % 9) for i in range(40)))
    (tmp_path / "plan.yaml").write_text(
        '{"attributes": {"age": {"role": "quasi-identifier", "intervals": "free", "limit": {"width": 5}}},'
        ' "privacy": {"k": 2}}'
    )
    words = ("explain", "data.csv", "plan.yaml")
    run(COMMAND, *words, cwd=tmp_path, cache=tmp_path / "cache")
    done = run(WATCHED, *words, cwd=tmp_path, cache=tmp_path / "cache")
    assert done.stderr == "False\n"
    assert "numba" in sys.modules  # here, it is


def test_a_kernel_is_kept_once_it_is_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = "boxes.push"
    monkeypatch.setattr(keeping, "folder_of", lambda module: tmp_path)
    kernel = Compiling(name, numba_one(name))
    given = heap(random.Random(2))
    assert not direct.is_there(name, tmp_path)
    kernel(*given)
    assert direct.is_there(name, tmp_path)
    assert isinstance(kernel._kernel, direct.Kernel)
    assert preparing.kernel_names()
