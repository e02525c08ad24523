"""Everything that writes, with what must be there before and after: the commands that the attacks of this folder fail."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import hedgerow as hr
from hedgerow.cli.run import run as run_command
from hedgerow.errors import HedgerowError
from hedgerow.maintenance import open_release
from hedgerow.outside.outputs.private import remove_all

HEADER = "id,age,sex,illness"
PLAN = """\
key: id
attributes:
  age: {role: quasi-identifier, hierarchy: {bands: [5, 10, 20]}}
  sex: quasi-identifier
  illness: sensitive
privacy: {k: 3}
"""
STORE = ("--store", "people.store", "--threads", "1")


def people(numbers: range, shift: int = 0) -> str:
    ills = ("flu", "cold", "gout", "mumps")
    rows = (f"p{n},{20 + (n * 7 + shift) % 40},{'FM'[n % 2]},{ills[(n + shift) % 4]}" for n in numbers)
    return "\n".join([HEADER, *rows]) + "\n"


@dataclass(frozen=True)
class Deed:
    """A command that changes something.

    Attributes
    ----------
    name
        What it is called.
    words
        The command.
    output
        What it makes or changes, in the folder where it runs.
    needs
        What must be there first, of what :func:`lay_out` can make.
    loose
        What comes with it right after: it may be missing if the command ends with 4.
    again
        What the same command ends with, once more.
    """

    name: str
    words: tuple[str, ...]
    output: str
    needs: tuple[str, ...] = ()
    loose: str = ""
    again: int = 0


ANONYMIZE = ("anonymize", "data.csv", "plan.yaml", "--threads", "1")
DEEDS = (
    Deed("csv", (*ANONYMIZE, "-o", "out"), "out", again=2),
    Deed("parquet", (*ANONYMIZE, "-o", "out", "--format", "parquet"), "out", again=2),
    Deed("replace", (*ANONYMIZE, "-o", "out", "--replace", "--seed", "1"), "out", ("out",)),
    Deed("link", (*ANONYMIZE, "-o", "deep/out", "--link", "link.csv"), "deep", loose="link.csv", again=2),
    Deed("duckdb", (*ANONYMIZE, "-o", "out", "--engine", "duckdb"), "out", again=2),
    Deed(
        "duckdb-replace", (*ANONYMIZE, "-o", "out", "--engine", "duckdb", "--replace", "--seed", "1"), "out", ("out",)
    ),
    Deed("report", ("report", "out", "-o", "page.html"), "page.html", ("out",), again=2),
    Deed("report-replace", ("report", "out", "-o", "page.html", "--replace"), "page.html", ("out", "page.html")),
    Deed("draft", ("plan", "draft", "data.csv", "-o", "draft.yaml"), "draft.yaml", again=2),
    Deed("limits", ("plan", "limits", "data.csv", "plan.yaml", "-o", "limited.yaml"), "limited.yaml", again=2),
    Deed("create", ("release", "create", "data.csv", "plan.yaml", *STORE), "people.store"),
    Deed("insert", ("release", "insert", "more.csv", *STORE), "people.store", ("people.store",)),
    Deed("delete", ("release", "delete", "--keys", "p3,p4", *STORE), "people.store", ("people.store",)),
    Deed("update", ("release", "update", "changed.csv", *STORE), "people.store", ("people.store",)),
    Deed("optimize", ("release", "optimize", "--improve", "quick", *STORE), "people.store", ("people.store",)),
    Deed("erase", ("release", "erase", "--yes", "--keys", "p3,p4", *STORE), "people.store", ("people.store",)),
    Deed("export", ("release", "export", "1", *STORE[:2], "-o", "out"), "out", ("people.store",), again=2),
    Deed(
        "export-replace",
        ("release", "export", "2", *STORE[:2], "-o", "out", "--replace"),
        "out",
        ("people.store", "out"),
    ),
    Deed("demo", ("demo", "-o", "demo", "--records", "150"), "demo", again=2),
    Deed("save", ("@save",), "out", ("out",)),
)


def lay_out(work: Path, needs: tuple[str, ...]) -> None:
    """Put what a command needs into its folder."""
    (work / "data.csv").write_text(people(range(40)))
    (work / "more.csv").write_text(people(range(40, 46)))
    (work / "changed.csv").write_text(people(range(6), shift=5))
    (work / "plan.yaml").write_text(PLAN)
    if "out" in needs:
        hr.anonymize(work / "data.csv", work / "plan.yaml", work / "out", threads=1)
    if "page.html" in needs:
        (work / "page.html").write_text("an earlier page")
    if "people.store" in needs:
        with hr.create_release(work / "data.csv", work / "plan.yaml", work / "people.store", threads=1) as release:
            release.delete(keys=["p20"])


# ---- in processes that were forked ------------------------------------------------------------------------------------


def run(words: tuple[str, ...]) -> int:
    """Run a command, and all that happens at the end of a process; returns its exit code."""
    try:
        if words[0].startswith("@"):
            return FUNCTIONS[words[0]](words[1:])
        run_command(list(words))
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    finally:
        remove_all()
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
    return 98  # run() always exits


def save(_: tuple[str, ...]) -> int:
    """Save a release that was made in memory, as a program does that hears no signals."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        release = hr.anonymize("data.csv", "plan.yaml", threads=1, seed=1)
        hr.save(release, "out", replace=True)
    except HedgerowError as error:
        print(f"hedgerow: {error}", file=sys.stderr)
        return error.exit_code
    return 0


def observe(words: tuple[str, ...]) -> int:
    """Print what there is of an output, so that two can be compared."""
    print(json.dumps(state_of(Path(words[0]))))
    return 0


def state_of(output: Path) -> object:
    """Return what there is: every byte of files; of a store, whose times differ, all that it says."""
    if output.suffix == ".store":
        try:
            with open_release(output, threads=1) as release:
                checked = release.check()
                assert checked["chain"], "the chain of the store is broken"
                assert checked["verification"]["kept"], "the newest version breaks a promise"
                store = release._store
                tables = [store.all_records(), store.all_places(), store.all_groups()]
                said = [[row.number, row.verb, row.chain, row.counts] for row in release.history()]
                return [
                    said,
                    [table.to_pydict() for table in tables],
                    [[one.head, one.rows] for one in release.erasures()],
                ]
        except HedgerowError as error:
            if error.problems[0].code != "no-store":
                raise AssertionError(f"the store does not open: {error}") from None
            return None
    if output.is_dir():
        return {name: (output / name).read_bytes().hex() for name in files_below(output)} or None
    return output.read_bytes().hex() if output.exists() else None


def files_below(folder: Path, hidden: bool = False) -> list[str]:
    """Return the files below a folder; hidden ones are what a run left, and nobody's output."""
    found = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return sorted(name for name in found if hidden or not any(part.startswith(".") for part in name.split("/")))


FUNCTIONS: dict[str, Callable[[tuple[str, ...]], int]] = {"@save": save, "@observe": observe}


def warm_up(folder: Path) -> None:
    """Run every command once, so that what is forked has everything at hand; nothing is printed."""
    kept = Path.cwd(), sys.stdout, tempfile.tempdir
    with Path(os.devnull).open("w") as nowhere:
        sys.stdout = nowhere
        try:
            for deed in DEEDS:
                place = folder / deed.name
                place.mkdir()
                lay_out(place, deed.needs)
                os.chdir(place)
                assert run(deed.words) == 0, deed.name
                state_of(Path(deed.output))
        finally:
            os.chdir(kept[0])
            sys.stdout, tempfile.tempdir = kept[1:]
    for sign in (signal.SIGINT, signal.SIGTERM):
        signal.signal(sign, signal.SIG_DFL)
