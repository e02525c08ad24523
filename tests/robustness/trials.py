"""One command, one fault or kill; and whether all that is promised holds afterwards.

Whatever happens, an output is the old one or the new one, byte for byte; the answer says which; and the same command once
more leaves the new one and nothing else.
"""

from __future__ import annotations

import errno
import functools
import json
import os
import random
import re
import shutil
import signal
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from tests.robustness.deeds import DEEDS, Deed, files_below, lay_out, state_of
from tests.robustness.nursery import (
    AFTER,
    BEFORE,
    FAIL,
    NO_EXCHANGE,
    NOTHING,
    OWN_READER,
    READS,
    SHORT,
    Order,
    Outcome,
    has_compiler,
    nursery,
)

DONE, DONE_BUT, INTERRUPTED = 0, 4, 130
ERRORS = (errno.ENOSPC, errno.EIO, errno.EACCES, errno.EINTR)
TYPED = re.compile(r"hedgerow: .*\[[a-z-]+\](\n|$)", re.DOTALL)
SAID_NOTHING = "hedgerow: interrupted; nothing was written\n"


@dataclass(frozen=True)
class Known:
    """What is known of a command: how it looks before, after, and how many calls it makes."""

    before: Path
    old: str
    new: str
    new_loose: str
    files: tuple[str, ...]
    calls: int


@dataclass(frozen=True)
class Case:
    """A fault or a kill; its text can be typed in again."""

    deed: str
    number: int
    how: int
    what: int
    flags: int

    def __str__(self) -> str:
        return f"python -m tests.robustness.trials {self.deed} {self.number} {self.how} {self.what} {self.flags}"


def need_compiler() -> None:
    """Skip a test, saying so, or fail, where nothing can be injected."""
    if has_compiler():
        return
    if "PYTEST_CURRENT_TEST" in os.environ:
        import pytest

        pytest.skip("needs a C compiler (cc) to inject faults")
    raise RuntimeError("needs a C compiler (cc) to inject faults")


def fault(draw: random.Random, deed: Deed | None = None) -> Case:
    """Draw a call that fails."""
    deed = deed or draw.choice(DEEDS)
    flags = draw.choice([0, 0, 0, READS, NO_EXCHANGE, OWN_READER])
    how = draw.choice([FAIL] * 7 + [SHORT])
    return Case(deed.name, draw.randint(1, known(deed.name, flags).calls), how, draw.choice(ERRORS), flags)


def death(draw: random.Random, deed: Deed | None = None) -> Case:
    """Draw a call before or after which a signal comes."""
    deed = deed or draw.choice(DEEDS)
    flags = draw.choice([0, 0, READS, NO_EXCHANGE, OWN_READER])
    sign = draw.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGTERM, signal.SIGINT])
    return Case(deed.name, draw.randint(1, known(deed.name, flags).calls), draw.choice([BEFORE, AFTER]), sign, flags)


@functools.cache
def known(name: str, flags: int) -> Known:
    """Run a command undisturbed."""
    deed = _deed(name)
    before = _prepared(deed.needs)
    with tempfile.TemporaryDirectory(prefix="known-") as folder:
        case = _copied(before, Path(folder) / "case")
        old = _state(case, deed.output)
        done = nursery()(Order(deed.words, str(case), number=-1, flags=flags))
        assert done.code == DONE, f"{name} does not even work undisturbed: {done.code} {done.errors}"
        new, loose = _state(case, deed.output), _state(case, deed.loose) if deed.loose else ""
        assert new != old, f"{name} changes nothing"
        assert not _hidden(case), f"{name} leaves {_hidden(case)}"
        return Known(before, old, new, loose, tuple(files_below(case, hidden=True)), done.calls)


def attempt(case: Case, folder: Path) -> str:
    """Try a case; raises an AssertionError if a promise is broken, and returns what was met."""
    deed, about = _deed(case.deed), known(case.deed, case.flags)
    shutil.rmtree(folder / "case", ignore_errors=True)
    place = _copied(about.before, folder / "case")
    order = Order(deed.words, str(place), case.number, case.how, case.what, case.flags)
    met = nursery()(order)
    try:
        _judge(case, deed, about, met, place)
        if not (met.code == 1 and deed.output == "page.html"):
            again = nursery()(replace(order, number=-1, how=NOTHING, flags=case.flags & NO_EXCHANGE))
            _judge_next(deed, about, again, place)
    except AssertionError as error:
        raise AssertionError(f"{error}\n  {case}\n  {met}\n{met.errors}") from None
    return met.hit


def _judge(case: Case, deed: Deed, about: Known, met: Outcome, place: Path) -> None:
    """Whatever happened: the output is the old or the new one, and the answer says which."""
    killed = case.how in (BEFORE, AFTER) and met.code == -case.what  # a program, unlike a command, hears no SIGTERM
    assert not met.stuck, "it hangs"
    assert killed or met.code in (DONE, 1, 2, DONE_BUT, INTERRUPTED), f"exit code {met.code}"
    if met.code == 1 and deed.output == "page.html":
        return  # a release that could not be read: the page says so
    assert met.code != 1 or "'readable'" in met.errors, (
        "a promise is broken by a fault"
    )  # what was written, reads as rubbish
    assert "Traceback" not in met.errors, "a traceback"
    assert "internal error" not in met.errors, "an untyped error"
    found = _state(place, deed.output)
    if killed and case.flags & NO_EXCHANGE and found == "null" != about.old:
        (aside,) = (place / "work").glob(f".{deed.output}.hedgerow-*/old")  # from where the next run brings it back
        found = json.dumps(state_of(aside))
    assert found in (about.old, about.new), "the output is neither the old nor the new one"
    if killed:
        assert case.what == signal.SIGKILL or case.deed == "save", f"a command does not hear signal {case.what}"
        return
    changed = found == about.new
    assert changed == (met.code in (DONE, DONE_BUT)), f"exit code {met.code}, but changed: {changed}"
    if met.code == INTERRUPTED:
        assert met.errors == SAID_NOTHING, "an interrupt that says something else"
    elif met.code != DONE:
        assert TYPED.search(met.errors), "a message without a code"
    if changed:
        assert not re.search("nothing was (written|changed)", met.errors, re.IGNORECASE), "what is done is denied"
    if deed.loose:
        loose = _state(place, deed.loose)
        assert loose in ("null", about.new_loose), "what goes with the output is half there"
        assert met.code != DONE or loose == about.new_loose, "what goes with the output is missing"
        assert changed or loose == "null", "what goes with the output is there without it"
    if case.how in (BEFORE, AFTER):
        assert not _hidden(place), f"an orderly end leaves {_hidden(place)}"


def _judge_next(deed: Deed, about: Known, again: Outcome, place: Path) -> None:
    """The same command once more: it works, or the output is there already; and nothing else is."""
    there = _state(place, deed.output) == about.new
    assert there, f"the next run does not make the output: {again.code} {again.errors}"
    assert again.code in (DONE, deed.again), f"the next run fails: {again.code} {again.errors}"
    left = sorted(set(files_below(place, hidden=True)) - set(about.files))
    assert not left, f"the next run leaves {left}"
    assert not _hidden(place), f"the next run leaves {_hidden(place)}"


def _deed(name: str) -> Deed:
    return next(deed for deed in DEEDS if deed.name == name)


def _hidden(place: Path) -> list[str]:
    """What a run left: hidden names beside outputs, and everything among temporary files."""
    beside = (path for path in (place / "work").rglob("*") if path.name.startswith("."))
    return sorted(str(path.relative_to(place)) for path in (*beside, *(place / "tmp").rglob("*")))


def _state(place: Path, output: str) -> str:
    """What there is of an output; a store is looked at in a process of its own."""
    if not output.endswith(".store"):
        return json.dumps(state_of(place / "work" / output))
    seen = nursery()(Order(("@observe", output), str(place), number=-1))
    assert seen.code == 0, f"the output cannot be looked at: {seen.errors}"
    return json.dumps(json.loads(seen.out))


@functools.cache
def _prepared(needs: tuple[str, ...]) -> Path:
    """Make a folder with what a command needs; it goes when this process ends."""
    folder = Path(_home().name) / ("-".join(needs) or "nothing")
    (folder / "work").mkdir(parents=True)
    (folder / "tmp").mkdir()
    lay_out(folder / "work", needs)
    return folder


@functools.cache
def _home() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="deeds-")


def _copied(before: Path, place: Path) -> Path:
    shutil.copytree(before, place)
    return place


def main() -> None:
    """Try one case again: ``python -m tests.robustness.trials DEED NUMBER HOW WHAT FLAGS``."""
    import sys

    name, *numbers = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        print(attempt(Case(name, *map(int, numbers)), Path(folder)) or "nothing was met")


if __name__ == "__main__":
    main()
