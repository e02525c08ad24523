"""Making, once, the machine code by which a kernel is called without numba: see ``direct.py``.

What numba has compiled gets one function more, its entry, which takes arguments from a row of numbers. There is no way
in from Python, nor anything of numba that such a way needs. Memory that a kernel asks for comes from the system.
"""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import Any

from llvmlite import binding as llvm
from llvmlite import ir
from numba.core import types as numba_types
from numba.np.arrayobj import populate_array

from hedgerow.anonymization.kernels.compiling import inner
from hedgerow.anonymization.kernels.direct import SLOTS, entry_of, file_name

types: Any = numba_types
NUMBERS = {types.int64: "int64", types.float64: "float64", types.boolean: "bool"}
AVAILABLE = frozenset({"malloc", "free", "memset", "memcpy", "memmove", "log", "exp", "sqrt"})
"""Functions of the system that a kernel may call."""
SLOT = 8
MEMORY = """
%info = type { i64, i8*, i8*, i8*, i64, i8* }

declare i8* @malloc(i64)
declare void @free(i8*)

define i8* @NRT_MemInfo_alloc_aligned(i64 %size, i32 %align) {
  %wide = zext i32 %align to i64
  %head = add i64 %wide, 48
  %all = add i64 %head, %size
  %place = call i8* @malloc(i64 %all)
  %none = icmp eq i8* %place, null
  br i1 %none, label %fail, label %make
fail:
  ret i8* null
make:
  %info = bitcast i8* %place to %info*
  %start = ptrtoint i8* %place to i64
  %behind = add i64 %start, %head
  %rest = urem i64 %behind, %wide
  %aligned = sub i64 %behind, %rest
  %data = inttoptr i64 %aligned to i8*
  %count = getelementptr %info, %info* %info, i32 0, i32 0
  store i64 1, i64* %count
  %dtor = getelementptr %info, %info* %info, i32 0, i32 1
  store i8* null, i8** %dtor
  %dtor_info = getelementptr %info, %info* %info, i32 0, i32 2
  store i8* null, i8** %dtor_info
  %held = getelementptr %info, %info* %info, i32 0, i32 3
  store i8* %data, i8** %held
  %length = getelementptr %info, %info* %info, i32 0, i32 4
  store i64 %size, i64* %length
  %allocator = getelementptr %info, %info* %info, i32 0, i32 5
  store i8* null, i8** %allocator
  ret i8* %place
}

define void @NRT_MemInfo_call_dtor(i8* %info) {
  call void @free(i8* %info)
  ret void
}

define void @NRT_Free(i8* %place) {
  call void @free(i8* %place)
  ret void
}
"""


class NotPossible(Exception):
    """A kernel takes, gives or calls what its entry cannot."""


def keep(name: str, kernel: Any, signature: tuple[Any, ...], folder: Path) -> bool:
    """Compile a kernel and write the machine code of its entry, unless it needs numba; says whether it is there."""
    from hedgerow.anonymization.kernels.telling import announce

    announce(name)
    bare = inner(kernel.py_func)
    bare.compile(signature)
    try:
        head, code = _made(name, bare.overloads[tuple(signature)])
    except (NotPossible, AttributeError):  # or LLVM is too old for this
        return False
    target = folder / file_name(name)
    draft = target.with_suffix(f".{os.getpid()}")
    with contextlib.suppress(OSError):  # then it is made another time
        folder.mkdir(parents=True, exist_ok=True)
        draft.write_bytes(json.dumps({**head, "bytes": len(code)}).encode() + b"\n" + code)
        draft.replace(target)
        return True
    return False


def _made(name: str, compiled: Any) -> tuple[dict[str, Any], bytes]:
    context, signature = compiled.target_context, compiled.signature
    arguments = [_described(one) for one in signature.args]
    results = _results(signature.return_type)
    entry = _entry(name, context, compiled.fndesc, signature, results)
    module = llvm.parse_bitcode(compiled.library._get_module_for_linking().as_bitcode())
    added = llvm.parse_assembly(str(entry))
    added.data_layout, added.triple = module.data_layout, module.triple
    module.link_in(added)
    memory = llvm.parse_assembly(MEMORY)
    memory.data_layout, memory.triple = module.data_layout, module.triple
    module.link_in(memory)
    for function in module.functions:
        if not function.is_declaration and function.name != entry_of(name):
            function.linkage = "internal"
    codegen = context.codegen()
    builder = llvm.create_pass_builder(codegen._tm, llvm.create_pipeline_tuning_options(speed_level=0))
    passes = llvm.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(module, builder)
    called = {function.name for function in module.functions if function.is_declaration}
    absent = {one for one in called if not one.startswith("llvm.")} - AVAILABLE
    if absent:
        raise NotPossible(f"it calls {', '.join(sorted(absent))}")
    return {"arguments": arguments, "results": results}, codegen._tm.emit_object(module)


def _described(kind: Any) -> list[Any]:
    """Say what an argument is, as :class:`direct.Kernel` takes it."""
    if kind in NUMBERS:
        return [NUMBERS[kind]]
    if isinstance(kind, types.Array) and kind.layout == "C" and kind.mutable:
        return [str(kind.dtype), kind.ndim]
    if isinstance(kind, types.BaseTuple):
        return [_described(one) for one in kind.types]
    raise NotPossible(f"it takes {kind}")


def _results(kind: Any) -> list[str]:
    if kind == types.none:
        return []
    members = list(kind.types) if isinstance(kind, types.BaseTuple) else [kind]
    if any(one not in NUMBERS for one in members):
        raise NotPossible(f"it gives {kind}")
    return [NUMBERS[one] for one in members]


def _entry(name: str, context: Any, described: Any, signature: Any, results: list[str]) -> ir.Module:
    """Write the function that takes arguments from a row, calls the kernel, and leaves what it gives in the row."""
    module = ir.Module(entry_of(name))
    function_type = context.call_conv.get_function_type(signature.return_type, signature.args)
    kernel = ir.Function(module, function_type, described.llvm_func_name)
    entry = ir.Function(module, ir.FunctionType(ir.VoidType(), [ir.IntType(64).as_pointer()]), entry_of(name))
    builder = ir.IRBuilder(entry.append_basic_block())
    row = _Row(builder, entry.args[0])
    status_at, raised_at = row.next(), row.next()
    values = [_value(context, builder, row, one) for one in signature.args]
    status, given = context.call_conv.call_function(builder, kernel, signature.return_type, signature.args, values)
    word = ir.IntType(64)
    builder.store(builder.sext(status.code, word), status_at)
    builder.store(builder.ptrtoint(status.excinfoptr, word), raised_at)
    many = isinstance(signature.return_type, types.BaseTuple)
    for place, kind in enumerate(results):
        one = builder.extract_value(given, place) if many else given
        if kind == "bool":
            one = builder.zext(one, word)
        at = row.next()
        builder.store(one, builder.bitcast(at, one.type.as_pointer()))
    builder.ret_void()
    return module


class _Row:
    """The row of numbers, from its beginning on."""

    def __init__(self, builder: Any, start: Any) -> None:
        self._builder, self._start, self._place = builder, start, 0

    def next(self) -> Any:
        """Return where the next number lies."""
        at = self._builder.gep(self._start, [ir.IntType(64)(self._place)])
        self._place += 1
        return at


def _value(context: Any, builder: Any, row: _Row, kind: Any) -> Any:
    """Take an argument from the row."""
    word = ir.IntType(64)
    if isinstance(kind, types.BaseTuple):
        members = [_value(context, builder, row, one) for one in kind.types]
        return context.make_tuple(builder, kind, members)
    if kind == types.float64:
        return builder.load(builder.bitcast(row.next(), ir.DoubleType().as_pointer()))
    if kind == types.boolean:
        return builder.icmp_signed("!=", builder.load(row.next()), word(0))
    if kind == types.int64:
        return builder.load(row.next())
    array = context.make_array(kind)(context, builder)
    data = builder.inttoptr(builder.load(row.next()), context.get_data_type(kind.dtype).as_pointer())
    shape = [builder.load(row.next()) for _ in range(kind.ndim)]
    size = context.get_abi_sizeof(context.get_data_type(kind.dtype))
    stride: Any = word(size)
    strides: list[Any] = []
    for length in reversed(shape):
        strides.insert(0, stride)
        stride = builder.mul(stride, length)
    populate_array(array, data, shape, strides, word(size), None)
    return array._getvalue()


assert set(NUMBERS.values()) == set(SLOTS)
