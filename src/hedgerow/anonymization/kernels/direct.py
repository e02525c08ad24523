"""Compiled kernels called without numba, whose import and registries cost most of what a small release takes.

What is kept of a kernel that was compiled is its machine code behind one entry: a function that is given the address of
a row of numbers, where arrays lie and how long they are, and the numbers among the arguments. ``entries.py`` makes that
file, once; here it is read and called, with LLVM alone.

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

import numpy as np

from hedgerow.outside.working_folder import import_library

FORMAT = 1
HARMLESS = frozenset({"NUMBA_NUM_THREADS", "NUMBA_CACHE_DIR"})
"""Settings of numba that change nothing in how kernels are compiled; with any other, numba is asked."""
STATUS = "qq"
"""What comes first in the row: how the call ended, and where its exception is described."""
SLOTS = {"int64": "q", "float64": "d", "bool": "?7x"}
RETURNED = bytes(8)

_at_start: Any = (ctypes.c_char * 0).from_buffer  # refuses what cannot be written to, or lies in several pieces
_address: Any = ctypes.addressof
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
        self.name = name
        leaves = list(_flat(arguments))
        row = "".join("q" * (1 + leaf[1]) if len(leaf) == 2 else SLOTS[leaf[0]] for leaf in leaves)
        ending = "".join(SLOTS[kind] for kind in results)
        self._row, self._end = struct.Struct(STATUS + row + "8x" * len(results)), struct.Struct(ending)
        self._pack = _packing(name, arguments, self._row)
        self._call = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(address)

    def __call__(self, *given: Any) -> Any:
        """Call it."""
        packed = bytearray(self._pack(*given))
        self._call(_address(_at_start(packed)))
        if packed[:8] != RETURNED:
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


def _packing(name: str, arguments: Sequence[Any], row: struct.Struct) -> Any:
    """Make the function that checks arguments and writes them into a row; it is called often, so it is spelled out."""
    lines, written, types = [], ["0, 0"], {}

    def spell(one: Any, said: str) -> None:
        if not isinstance(one[0], str):
            parts = [f"{said}_{place}" for place in range(len(one))]
            lines.append(f"    ({', '.join(parts)},) = {said}")
            for part, member in zip(parts, one, strict=True):
                spell(member, part)
            return
        if len(one) == 1:
            written.append(said)
            return
        kind, dimensions = one
        types[kind] = np.dtype(kind)
        lines.append(f"    if {said}.dtype is not {kind}_ and {said}.dtype != {kind}_ or {said}.ndim != {dimensions}:")
        lines.append(f"        raise TypeError({f'{name} takes no such array'!r})")
        written.append(f"address(at_start({said})), *{said}.shape")

    names = [f"a{place}" for place in range(len(arguments))]
    for said, one in zip(names, arguments, strict=True):
        spell(one, said)
    text = "\n".join([f"def pack({', '.join(names)}):", *lines, f"    return write({', '.join(written)})"])
    known = {f"{kind}_": dtype for kind, dtype in types.items()}
    space: dict[str, Any] = {**known, "address": _address, "at_start": _at_start, "write": row.pack}
    exec(compile(text, f"<arguments of {name}>", "exec"), space)
    return space["pack"]


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
