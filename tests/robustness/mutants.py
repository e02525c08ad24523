"""``python -m tests.robustness.mutants``: change the verifier in one place, and see whether a test notices.

A *mutant* is a module of ``verification/`` with one operator, comparison, constant or condition changed. All tests are
collected and run once, which says how long each takes and which lines it reaches. Then, for every mutant, a forked
process gets its code put in place of the right one, and runs the tests that reach the statement, those first that noticed
others of the function, until one fails. Nothing is imported twice, so thousands are possible; they come in an order that
is drawn, so that a run that ends early is a fair sample.

Files are read in this process, not in children of their own, which would be forked from one without the mutant. Tests
that fail in that manner are left out.

Mutants that no test notices are *survivors*. ``survivors.txt`` explains those that change nothing that can be seen; the
score is of all others. With ``--trust`` those are not tried again; with ``--explained`` only those are.
"""

from __future__ import annotations

import argparse
import ast
import dataclasses
import importlib
import inspect
import json
import os
import pkgutil
import random
import signal
import sys
import time
import types
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import hedgerow.verification
from hedgerow.outside.sandbox.running import stay_here
from tests.cases.counted_releases import PLANS, make

EXPLAINED = Path(__file__).parent / "survivors.txt"
TESTS = [
    "tests/unit/verification/test_verification.py",
    "tests/unit/verification/test_verification_models.py",
    "tests/unit/verification/test_verification_value.py",
    "tests/unit/verification/test_verification_counted.py",
    "tests/unit/verification/test_verification_files.py",
    "tests/unit/verification/test_verification_possible.py",
    "tests/unit/verification/test_verification_pieces.py",
    "tests/unit/verification/test_verification_parsing.py",
    "tests/properties/test_verification_delimited.py",
    "tests/unit/verification/test_verification_ladders.py",
    "tests/unit/verification/test_verification_cells.py",
    "tests/unit/verification/test_verification_judging.py",
    "tests/unit/verification/test_verification_promises.py",
    "tests/robustness/test_campaigns.py",
]
SLOWER = 5
"""How many times the time of a test a mutant may take for it; one that takes more has lost its way, and is noticed."""
OWN_TESTS = {
    "test_verification_files": ("stated", "agreement", "listing", "published", "check", "counts", "result", "formats"),
    "test_verification_possible": ("possible", "bipartite", "tabulation", "numbering", "arrays"),
    "test_verification_models": ("models", "distances", "sensitive", "histograms", "evidence"),
    "test_verification_value": ("rules", "matching", "suppression", "overlap", "combinations", "risks"),
    "test_verification_counted": ("sources", "distinct_rows", "counted_evidence", "counted_link", "in_place", "statements",
                                  "fingerprints", "tallies", "places", "tables", "formats"),
    "test_verification_parsing": ("delimited", "columnar", "refusals"),
    "test_verification_cells": ("tables", "cells", "distinct_rows", "numbering", "tallies", "fingerprints", "original",
                                "link", "published", "tabulation", "statements", "sources", "counted_evidence", "in_place"),
    "test_verification_promises": ("check", "groups", "limits", "truth", "counts", "risks", "suppression", "overlap",
                                   "rules", "models", "agreement", "evidence", "row_evidence", "possible", "result",
                                   "spots"),
    "test_verification_judging": ("histograms", "distances", "models", "matching", "possible", "bipartite",
                                  "counted_link", "overlap", "evidence", "risks", "combinations"),
    "test_verification_ladders": ("bands", "trees", "dates", "numbers", "columns", "sensitive", "rules"),
}  # fmt: skip
"""Which tests are about which modules: they come first, with those of small pieces."""
COMPARE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
OPERATE: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.Pow: ast.Mult,
}


@dataclass(frozen=True)
class Mutant:
    """One change: where, what, and the function it is in ('' for the module itself).

    ``lines`` are those of the statement: a test that reaches one of them may notice.
    """

    module: str
    function: str
    line: int
    lines: range
    text: str
    change: str
    at: int
    number: int

    @property
    def name(self) -> str:
        return f"{self.module}.{self.function or '(module)'} | {self.change} | {self.text}"


def changes_of(node: ast.AST) -> Iterator[tuple[str, Any]]:
    """Every change of one node: what it is called, and what makes it."""
    if isinstance(node, ast.Compare):
        for at, op in enumerate(node.ops):
            other = COMPARE[type(op)]
            yield (
                f"{type(op).__name__} → {other.__name__}",
                lambda n, at=at, other=other: n.ops.__setitem__(at, other()),
            )
    elif isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in OPERATE:
        new = OPERATE[type(node.op)]
        yield f"{type(node.op).__name__} → {new.__name__}", lambda n, new=new: setattr(n, "op", new())
    elif isinstance(node, ast.BoolOp):
        swap = ast.Or if isinstance(node.op, ast.And) else ast.And
        yield f"{type(node.op).__name__} → {swap.__name__}", lambda n, swap=swap: setattr(n, "op", swap())
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub | ast.Invert):
        yield f"{type(node.op).__name__} → nothing", lambda n: setattr(n, "op", ast.UAdd())
    elif isinstance(node, ast.Constant) and type(node.value) is bool:
        yield f"{node.value} → {not node.value}", lambda n: setattr(n, "value", not n.value)
    elif isinstance(node, ast.Constant) and type(node.value) is int:
        yield f"{node.value} → {node.value + 1}", lambda n: setattr(n, "value", n.value + 1)
    elif isinstance(node, ast.If | ast.IfExp | ast.While):
        yield "condition → its opposite", lambda n: setattr(n, "test", ast.UnaryOp(ast.Not(), n.test))
    elif isinstance(node, ast.comprehension) and node.ifs:
        yield "filter → none", lambda n: n.ifs.clear()


def is_annotation(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    """Tell whether a node is part of a type, or of text, which a test cannot notice."""
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return True
    while node in parents:
        above = parents[node]
        if isinstance(above, ast.JoinedStr | ast.FormattedValue | ast.Raise | ast.Assert):
            return True
        if isinstance(above, ast.AnnAssign) and node is above.annotation:
            return True
        if isinstance(above, ast.keyword) and above.arg in ("strict", "kind", "frozen", "eq", "slots", "kw_only"):
            return True
        if isinstance(above, ast.arg) or (isinstance(above, ast.FunctionDef) and node is above.returns):
            return True
        if isinstance(above, ast.If) and ast.unparse(above.test) == "TYPE_CHECKING":
            return True
        if isinstance(above, ast.Assign) and isinstance(above.value, ast.BinOp) and _names_types(above.value):
            return True
        node = above
    return False


def _names_types(node: ast.AST) -> bool:
    """Tell whether an assignment such as ``Cell = str | None`` names a type."""
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr) and not any(
        isinstance(part, ast.Call | ast.Compare) for part in ast.walk(node)
    )  # fmt: skip


def modules() -> Iterator[types.ModuleType]:
    """Return every module of the verifier."""
    for part in pkgutil.walk_packages(hedgerow.verification.__path__, f"{hedgerow.verification.__name__}."):
        yield importlib.import_module(part.name)


def find_mutants(module: types.ModuleType) -> Iterator[Mutant]:
    """Return every mutant of a module."""
    source = inspect.getsource(module)
    lines = source.splitlines()
    nodes = list(ast.walk(ast.parse(source)))
    parents = {child: above for above in nodes for child in ast.iter_child_nodes(above)}
    for at, node in enumerate(nodes):
        changes = list(changes_of(node))
        if not changes or is_annotation(node, parents):
            continue
        function = _function_of(node, parents)
        line = _line_of(node, parents)
        for number, (change, _) in enumerate(changes):
            short = module.__name__.removeprefix(f"{hedgerow.verification.__name__}.")
            reached = _statement_of(node, parents)
            yield Mutant(short, function, line, reached, lines[line - 1].strip(), change, at, number)


def make_mutant(module: types.ModuleType, mutant: Mutant) -> ast.Module:
    """Return the tree of a module with one change."""
    tree = ast.parse(inspect.getsource(module))
    node = list(ast.walk(tree))[mutant.at]
    list(changes_of(node))[mutant.number][1](node)
    return ast.fix_missing_locations(tree)


def _function_of(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> str:
    """Return the outermost function, with its class, that a node is part of; '' if it is none's."""
    names: list[str] = []
    inside = ""
    above: ast.AST | None = node
    while above is not None:
        if isinstance(above, ast.FunctionDef):
            names, inside = [above.name], above.name
        elif isinstance(above, ast.ClassDef) and inside:
            names = [above.name, *names]
        above = parents.get(above)
    return ".".join(names)


def _line_of(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> int:
    if isinstance(node, ast.comprehension):
        node = node.ifs[0]
    while not hasattr(node, "lineno"):
        node = parents[node]
    return int(node.lineno)


def _statement_of(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> range:
    """Return the lines of the statement that a node is part of: only its head if it has a body."""
    while not isinstance(node, ast.stmt):
        node = parents[node]
    if isinstance(node, ast.FunctionDef):  # the value of a parameter that is not given
        return range(node.lineno, (node.end_lineno or node.lineno) + 1)
    body = getattr(node, "body", None)
    return range(node.lineno, max(node.lineno, body[0].lineno - 1 if body else node.end_lineno or 0) + 1)


def read_explained() -> set[str]:
    """Return the names of mutants that change nothing that can be seen; one may stand for all changes of a line."""
    lines = EXPLAINED.read_text(encoding="utf-8").splitlines() if EXPLAINED.exists() else []
    return {line.split(" ## ")[0].strip() for line in lines if " ## " in line}


def explained_by(mutant: Mutant, explained: set[str]) -> bool:
    """Tell whether a mutant is explained, by its name or by that of its line with a star for the change."""
    return mutant.name in explained or mutant.name.replace(f" | {mutant.change} | ", " | * | ", 1) in explained


# -- putting a mutant in place -----------------------------------------------------------------------------------------


def put_in_place(module: types.ModuleType, mutant: Mutant) -> None:
    """Let the module run the code of a mutant, for whoever has imported from it too."""
    code = compile(make_mutant(module, mutant), module.__file__ or "", "exec")
    if mutant.function:
        found = _plain_function(vars(module), mutant.function)
        found.__code__ = _code_of(code, mutant.function.split("."))
        if mutant.line < found.__code__.co_firstlineno + 12:  # it may be the value of a parameter that is not given
            anew = _plain_function(_run(module, code), mutant.function)
            found.__defaults__, found.__kwdefaults__ = anew.__defaults__, anew.__kwdefaults__
        if _called_at_import(module, mutant.function):
            _replace_values(module, _run(module, code))
        return
    fresh = _run(module, code)
    for name, value in fresh.items():
        if dataclasses.is_dataclass(value) and isinstance(value, type) and value.__module__ == module.__name__:
            _renew(getattr(module, name), value)
    _replace_values(module, fresh)


def _called_at_import(module: types.ModuleType, function: str) -> bool:
    """Tell whether a module has values that a function of it has made, such as functions by their names."""
    made = (part for part in ast.parse(inspect.getsource(module)).body if isinstance(part, ast.Assign | ast.AnnAssign))
    return any(isinstance(name, ast.Name) and name.id == function for part in made for name in ast.walk(part))


def _replace_values(module: types.ModuleType, fresh: Mapping[str, Any]) -> None:
    """Put the values of a module that was run anew in place of the old ones, wherever they were imported."""
    old = {name: getattr(module, name) for name in fresh if hasattr(module, name)}
    for other in list(sys.modules.values()):
        if getattr(other, "__name__", "").startswith(("hedgerow", "tests")):
            for name, value in old.items():
                plain = not isinstance(value, type | types.FunctionType | types.ModuleType)
                if plain and getattr(other, name, None) is value:
                    setattr(other, name, fresh[name])


def _run(module: types.ModuleType, code: types.CodeType) -> dict[str, Any]:
    """Return what is in a module once its code was run anew."""
    fresh: dict[str, Any] = {"__name__": module.__name__, "__file__": module.__file__}
    exec(code, fresh)
    return fresh


def _renew(old: type, fresh: type) -> None:
    """Let a class begin its instances as another one does: with what fields are if nothing is said."""
    if "__init__" in vars(fresh):
        old.__init__ = fresh.__init__  # type: ignore[misc]
    for one in dataclasses.fields(fresh):
        if one.name in vars(fresh) and not isinstance(vars(fresh)[one.name], types.MemberDescriptorType):
            setattr(old, one.name, vars(fresh)[one.name])


def _code_of(code: types.CodeType, names: list[str]) -> types.CodeType:
    for name in names:
        code = next(part for part in code.co_consts if isinstance(part, types.CodeType) and part.co_name == name)
    return code


def _plain_function(there: Mapping[str, Any], name: str) -> types.FunctionType:
    first, *rest = name.split(".")
    found: Any = there[first]
    for part in rest:
        found = vars(found)[part]
    while not isinstance(found, types.FunctionType):
        inner = getattr(found, "__func__", None) or getattr(found, "fget", None) or getattr(found, "func", None)
        found = inner if inner is not None else found.__wrapped__
    plain: types.FunctionType = inspect.unwrap(found)
    return plain


# -- running tests -----------------------------------------------------------------------------------------------------


@dataclass
class Runner:
    """Takes the place of pytest's loop: first all tests, then mutant after mutant."""

    asked: argparse.Namespace
    seconds: dict[str, float] = field(default_factory=dict)
    reached: dict[str, set[str]] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    noticed: dict[str, list[str]] = field(default_factory=dict)
    outcome: list[tuple[Mutant, str]] = field(default_factory=list)
    explained: set[str] = field(default_factory=set)

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if session.testsfailed:
            raise SystemExit("tests cannot be collected")
        began = time.monotonic()
        known = Path(self.asked.baseline) if self.asked.baseline else None
        if known is not None and known.exists():
            stored = json.loads(known.read_text(encoding="utf-8"))
            self.seconds = stored["seconds"]
            named = list(self.seconds)
            self.reached = {line: {named[test] for test in tests} for line, tests in stored["reached"].items()}
            self.left_out = stored["left_out"]
        stay_here()
        for number, item in enumerate(session.items):
            if item.nodeid not in self.seconds:
                self._run_and_watch(item, session)
                if number % 50 == 0:
                    self._keep(known)
        self._keep(known)
        session.items[:] = [item for item in session.items if item.nodeid not in self.left_out]
        print(
            f"\n{len(session.items)} tests, {len(self.left_out)} left out, in {time.monotonic() - began:.0f} s",
            flush=True,
        )
        for name in PLANS:
            make(name)  # releases that many tests begin with: not in every child
        mutants = self._mutants()
        print(f"{len(mutants)} mutants to try, seed {self.asked.seed}", flush=True)
        for number, (module, mutant) in enumerate(mutants, start=1):
            if time.monotonic() - began > self.asked.minutes * 60:
                print(f"time is over: {number - 1} tried", flush=True)
                break
            said = self._try(module, mutant, session)
            self.outcome.append((mutant, said))
            self._remember(mutant, said)
            if number % 25 == 0:
                print(f"\n{number} tried, {time.monotonic() - began:.0f} s", flush=True)
            if self.asked.explained and not said.startswith("survived"):
                print(f"{number:5} NOTICED {mutant.module}:{mutant.line} {mutant.name} ({said})", flush=True)
            if said.startswith("survived"):
                print(f"{number:5} SURVIVED {mutant.module}:{mutant.line} {mutant.name}", flush=True)
        return True

    def _keep(self, known: Path | None) -> None:
        if known is not None:
            number = {test: at for at, test in enumerate(self.seconds)}
            reached = {line: sorted(number[test] for test in tests) for line, tests in self.reached.items()}
            kept = {"seconds": self.seconds, "reached": reached, "left_out": self.left_out}
            known.write_text(json.dumps(kept), encoding="utf-8")

    def _run_and_watch(self, item: pytest.Item, session: pytest.Session) -> None:
        folder = str(Path(hedgerow.verification.__file__).parent)
        lines: set[tuple[str, int]] = set()

        def step(frame: types.FrameType, event: str, _: Any) -> Any:
            lines.add((frame.f_code.co_filename, frame.f_lineno))
            return step

        def call(frame: types.FrameType, event: str, _: Any) -> Any:
            return step if frame.f_code.co_filename.startswith(folder) else None

        began = time.process_time()
        sys.settrace(call)
        try:
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        finally:
            sys.settrace(None)
        self.seconds[item.nodeid] = time.process_time() - began
        if session.testsfailed:
            session.testsfailed = 0
            self.left_out.append(item.nodeid)
            print(f"\n{item.nodeid} fails without any mutant: left out", flush=True)
            return
        for file, line in lines:
            module = ".".join(Path(file).relative_to(folder).with_suffix("").parts)
            self.reached.setdefault(f"{module}:{line}", set()).add(item.nodeid)

    def _mutants(self) -> list[tuple[types.ModuleType, Mutant]]:
        found = []
        for module in modules():
            if not self.asked.only or module.__name__.rsplit(".", 1)[-1] in self.asked.only.split(","):
                found += [(module, mutant) for mutant in find_mutants(module)]
        if self.asked.trust or self.asked.explained:
            wanted = bool(self.asked.explained)
            found = [pair for pair in found if explained_by(pair[1], self.explained) == wanted]
        random.Random(self.asked.seed).shuffle(found)
        return found[: self.asked.sample or None]

    def _try(self, module: types.ModuleType, mutant: Mutant, session: pytest.Session) -> str:
        wanted = {test for line in mutant.lines for test in self.reached.get(f"{mutant.module}:{line}", ())}
        items = [item for item in session.items if not mutant.function or item.nodeid in wanted]
        items = self._worth_trying(items, mutant)
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            self._in_child(module, mutant, items, session, writer)
        os.close(writer)
        with os.fdopen(reader, encoding="utf-8") as told:
            said = told.read()
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            return f"killed by {signal.Signals(os.WTERMSIG(status)).name}"
        return said or "killed at once"

    def _remember(self, mutant: Mutant, said: str) -> None:
        """Let a test that noticed a mutant be the first to try the next one of the function."""
        noticed = self.noticed.setdefault(f"{mutant.module}.{mutant.function}", [])
        test = said.removeprefix("killed by ")
        if test in self.seconds:
            noticed[:] = [test, *(one for one in noticed if one != test)][:3]

    def _worth_trying(self, items: list[pytest.Item], mutant: Mutant) -> list[pytest.Item]:
        """Order tests: what noticed others, quick ones about the module, random tables, the rest while it is worth it.

        The slowest are left out, so a mutant that survives may be one too many.
        """
        own = tuple(name for name, about in OWN_TESTS.items() if mutant.module.rsplit(".", 1)[-1] in about)
        about = (*own, "test_verification_pieces")

        def rank(item: pytest.Item) -> tuple[bool, float]:
            slow = self.seconds[item.nodeid] > 1
            return slow or not any(f"{name}.py" in item.nodeid for name in about), self.seconds[item.nodeid]

        quick = sorted(items, key=rank)
        tables = [item for item in quick if "[verifier-" in item.nodeid]
        chosen, spent = [*quick[:8], *tables], 0.0
        for item in quick[8:]:
            spent += self.seconds[item.nodeid]
            if spent <= self.asked.effort and item not in tables:
                chosen.append(item)
        noticed = self.noticed.get(f"{mutant.module}.{mutant.function}", [])
        return sorted(chosen, key=lambda item: noticed.index(item.nodeid) if item.nodeid in noticed else len(noticed))

    def _in_child(
        self,
        module: types.ModuleType,
        mutant: Mutant,
        items: list[pytest.Item],
        session: pytest.Session,
        writer: int,
    ) -> None:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        said = f"survived {len(items)} tests"
        try:
            put_in_place(module, mutant)
            for item in items:
                signal.setitimer(signal.ITIMER_PROF, 3 + SLOWER * self.seconds[item.nodeid])  # ends a mutant that hangs
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
                if session.testsfailed:
                    said = f"killed by {item.nodeid}"
                    break
        except BaseException as error:
            said = f"killed by {type(error).__name__}"
        os.write(writer, said.encode())
        os._exit(0)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.robustness.mutants", description=__doc__)
    parser.add_argument("--sample", type=int, default=0, help="try so many, drawn; all by default")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--only", default="", help="modules of verification/, separated by commas")
    parser.add_argument("--effort", type=float, default=40, help="seconds of tests to try on a mutant")
    parser.add_argument("--baseline", default="", help="file to keep what each test takes and calls in")
    parser.add_argument("--minutes", type=float, default=600)
    parser.add_argument("--least", type=float, default=0.9, help="score below which it fails")
    parser.add_argument("--trust", action="store_true", help="leave out mutants that survivors.txt explains")
    parser.add_argument("--explained", action="store_true", help="try only those, and say which are noticed after all")
    asked = parser.parse_args()
    runner = Runner(asked, explained=read_explained())
    there = [test for test in TESTS if Path(test).exists()]
    pick = ["-k", "not campaigns or verifier or tampering", "-m", ""]
    code = pytest.main(["-q", "-p", "no:cacheprovider", *pick, *there], plugins=[runner])
    if not runner.outcome:
        sys.exit(int(code) or 2)
    survivors = [mutant for mutant, said in runner.outcome if said.startswith("survived")]
    open_ones = [mutant for mutant in survivors if not explained_by(mutant, runner.explained)]
    counted = len(runner.outcome) - (len(survivors) - len(open_ones))
    score = 1 - len(open_ones) / max(counted, 1)
    by_module = Counter(mutant.module for mutant in open_ones)
    print(f"\n{len(runner.outcome)} mutants, {len(survivors)} survivors, {len(survivors) - len(open_ones)} explained")
    print("open:", dict(by_module))
    print(f"score {score:.1%} of those that change something")
    sys.exit(0 if score >= asked.least else 1)


if __name__ == "__main__":
    main()
