"""Compiling without what nobody calls.

Numba makes machine code of every function that it compiles, of those that only kernels call too, though what it links
into a kernel are their instructions. A kernel that is called by its entry needs no machine code but that of the entry,
which ``entries.py`` makes: see :class:`OnDemand`.

Most objects that numba makes live until it is done, so looking among them for some that could go again and again finds
nothing, and took a fifth of the time.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import binding as llvm
from llvmlite import ir
from numba.core import codegen
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target


class OnDemand(codegen.JITCodeLibrary):
    """Compiled functions that become machine code when somebody asks where one of them lies."""

    _compiled_object: bytes | None = None

    def _finalize_final_module(self) -> None:
        self._waits = self._compiled_object is None
        if not self._waits:  # numba kept it, and has loaded it
            super()._finalize_final_module()
            return
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Tell where a function lies; 0 if there is none of the name."""
        self._ensure_finalized()
        if self._waits and any(one.name == name for one in self.get_defined_functions()):
            self._waits = False
            super()._finalize_final_module()
        return int(super().get_pointer_to_function(name))


@contextmanager
def compiling() -> Iterator[None]:
    """Within, numba makes machine code on demand, and nobody looks for objects that could go."""
    making = cpu_target.target_context.codegen()
    set_env = making.set_env

    def set_env_on_demand(name: str, env: Any) -> None:
        if not making._engine.is_symbol_defined(name):
            _place(making, name)
        set_env(name, env)

    with global_compiler_lock:
        library, collects = making._library_class, gc.isenabled()
        making._library_class, making.set_env = OnDemand, set_env_on_demand
        gc.disable()
        try:
            yield
        finally:
            making._library_class, making.set_env = library, set_env
            if collects:
                gc.enable()


def _place(making: Any, name: str) -> None:
    """Make the place where numba notes the environment of a function; whatever is linked with it shares it."""
    module = making._create_empty_module(name)
    place = ir.GlobalVariable(module, ir.IntType(8).as_pointer(), name=name)
    place.linkage, place.initializer = "common", ir.Constant(place.value_type, None)
    making._add_module(llvm.parse_assembly(str(module)))
    making._engine.finalize_object()
