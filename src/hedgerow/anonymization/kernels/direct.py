"""Compiled kernels called without numba, whose import and registries cost most of what a small release takes.

Beside numba's own files lies, for every kernel that was compiled, its machine code behind one entry: a function that is
given the address of a row of numbers, where arrays lie and how long they are, and the numbers among the arguments.
``entries.py`` makes that file, once; here it is read and called, with LLVM alone.

Python's lock is not held meanwhile. Arguments are checked, since nothing else would: an array of another type, or one
that does not lie in one piece, is refused.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import struct
import threading
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from hedgerow.outside.working_folder import import_library

FORMAT = 1
HARMLESS = frozenset({"NUMBA_NUM_THREADS", "NUMBA_CACHE_DIR"})
"""Settings of numba that change nothing in how kernels are compiled; with any other, numba is asked."""
STATUS = "qq"
"""What comes first in the row: how the call ended, and where its exception is described."""
SLOTS = {"int64": "q", "float64": "d", "bool": "?7x"}
NONE_RAISED = 0

_address_of = ctypes.c_char * 0
_lock = threading.Lock()


class Kernel:
    """A kernel that is called by its address.

    Parameters
    ----------
    name
        ``module.function``.
    address
        Of its entry.
    arguments, results
        What it takes and gives: ``[type]`` of a number, ``[type, dimensions]`` of an array, a list of such for a tuple.
    """

    def __init__(self, name: str, address: int, arguments: Sequence[Any], results: Sequence[str]) -> None:
        self.name, self._arguments, self._results = name, arguments, results
        self._leaves = [_leaf(one) for one in _flat(arguments)]
        row = "".join("q" * (1 + shape[1]) if shape else kind for kind, shape in self._leaves)
        self._row = struct.Struct(STATUS + row + "".join(SLOTS[kind] for kind in results))
        self._end = struct.Struct("".join(SLOTS[kind] for kind in results))
        self._call = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(address)

    def __call__(self, *given: Any) -> Any:
        """Call it."""
        if len(given) != len(self._arguments):
            raise TypeError(f"{self.name} takes {len(self._arguments)} arguments, not {len(given)}")
        values: list[Any] = []
        _gather(given, self._arguments, values)
        row: list[Any] = [0, 0]
        for value, (_, array) in zip(values, self._leaves, strict=True):
            if array is None:
                row.append(value)
                continue
            if value.dtype != array[0] or value.ndim != array[1]:
                raise TypeError(f"{self.name} takes no array of {value.dtype} in {value.ndim} dimensions there")
            row.append(ctypes.addressof(_address_of.from_buffer(value)))
            row += value.shape
        packed = bytearray(self._row.size)
        self._row.pack_into(packed, 0, *row, *([0] * len(self._results)))
        self._call(ctypes.addressof(_address_of.from_buffer(packed)))
        if int.from_bytes(packed[:8], "little", signed=True) != NONE_RAISED:
            _raise(packed)
        found = self._end.unpack_from(packed, self._row.size - self._end.size)
        return None if not found else found[0] if len(found) == 1 else found


def found(name: str, folder: Path) -> Kernel | None:
    """Return a kernel if its machine code for this machine lies in a folder."""
    if not allowed():
        return None
    try:
        head, _, code = (folder / file_name(name)).read_bytes().partition(b"\n")
        said = json.loads(head)
        if len(code) != said["bytes"]:
            return None
    except (OSError, ValueError, KeyError):
        return None
    symbol = entry_of(name)
    with _lock:
        engine = _engine()
        engine.add_object_file(_llvm().ObjectFileRef.from_data(code))
        engine.finalize_object()
        address = engine.get_function_address(symbol)
    return Kernel(name, address, said["arguments"], said["results"]) if address else None


def is_there(name: str, folder: Path) -> bool:
    """Tell whether a kernel's machine code lies in a folder."""
    return allowed() and (folder / file_name(name)).is_file()


def allowed() -> bool:
    """Tell whether kernels may be called without numba: not if there are settings for it, nor on odd machines."""
    asked = {name for name in os.environ if name.startswith("NUMBA_")}
    return asked <= HARMLESS and struct.pack("=q", 1)[0] == 1 and ctypes.sizeof(ctypes.c_void_p) == struct.calcsize("q")


def entry_of(name: str) -> str:
    """Name of a kernel's entry in its machine code.

    >>> entry_of("lattice.check")
    'hedgerow_lattice_check'
    """
    return f"hedgerow_{name.replace('.', '_')}"


def file_name(name: str) -> str:
    """Name of the file of a kernel's machine code for this processor, and for these versions of what compiled it."""
    return f"{name.rpartition('.')[2]}-{_machine()}.kernel"


@cache
def _machine() -> str:
    llvm = _llvm()
    kind = (FORMAT, version("numba"), version("llvmlite"), llvm.get_process_triple(), llvm.get_host_cpu_name())
    features = llvm.get_host_cpu_features().flatten()
    return hashlib.sha256(json.dumps([*kind, features]).encode()).hexdigest()[:16]


@cache
def _llvm() -> Any:
    return import_library("llvmlite.binding")


@cache
def _engine() -> Any:
    llvm = _llvm()
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(jit=True)
    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)


def _flat(arguments: Iterable[Any]) -> Iterable[Any]:
    for one in arguments:
        if isinstance(one[0], str):
            yield one
        else:
            yield from _flat(one)


def _leaf(one: Sequence[Any]) -> tuple[str, tuple[Any, int] | None]:
    if len(one) == 1:
        return SLOTS[one[0]], None
    import numpy as np

    return "", (np.dtype(one[0]), one[1])


def _gather(values: Sequence[Any], arguments: Sequence[Any], flat: list[Any]) -> None:
    """Take tuples apart."""
    for value, one in zip(values, arguments, strict=True):
        if isinstance(one[0], str):
            flat.append(value)
        else:
            _gather(value, one, flat)


def _raise(packed: bytearray) -> None:
    """Raise what the kernel raised: numba describes it by a pickle of ours, which is a constant of the machine code."""
    import pickle

    class Raised(ctypes.Structure):
        _fields_ = (("pickled", ctypes.c_void_p), ("length", ctypes.c_int32))

    address = int.from_bytes(packed[8:16], "little")
    if not address:
        raise MemoryError
    raised = Raised.from_address(address)
    kind, arguments, _ = pickle.loads(ctypes.string_at(raised.pickled, raised.length))
    raise kind(*(arguments or ()))
