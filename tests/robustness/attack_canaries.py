"""Every command, done well, misused, crashing, short of memory or room, interrupted and killed: no value of a record may
stand afterwards in what it said, in its temporary folder, its home, or where it worked.

A case is one command in one of these ways. A process that has everything at hand (the nursery) forks one for each.
"""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import functools
import io
import json
import os
import random
import re
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from tests.processes.forks import SharedReaders, nursery_of
from tests.robustness.campaign import Campaign
from tests.robustness.canaries import KINDS, Flock, found_in, found_under

CASES = 24
PATIENCE = 240.0
K = 3
UNSEEN = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]"
)
HOSTILE = "\x1b[2J\x1b]0;owned\x07\u202egnp\u2028\r\nok: all promises kept\x9b1m[bold]{}%s\ufeff"

# ---- the table -------------------------------------------------------------------------------------------------------

NAMES = ("id", "who", "name", "number", "region", "income", "day", "zip", "ill", "note")
PLAN = """\
data: {{delimiter: ","}}
key: id
person: who
attributes:
  name: identifier
  number: identifier
  region: {{role: quasi-identifier, limit: {{level: 0}}}}
  income: {{role: quasi-identifier, {income}}}
  day: {{role: quasi-identifier, hierarchy: {{dates: [month, year, decade]}}}}
  zip: {{role: quasi-identifier, hierarchy: {{prefix: [6, 4], length: 9}}}}
  ill: sensitive
  note: other
privacy: {privacy}
method: {method}
{more}
"""
INCOMES = ("hierarchy: {bands: [1000, 10000, 100000]}", "intervals: free, snap: 1000")
METHODS = ("cluster", "{name: cluster, improve: quick}", "lattice", "utility", "bottom-up")
PRIVACIES = (f"{{k: {K}}}", f"{{k: {K}, p: 2}}", f"{{k: {K}, t: 0.9}}")


def records(flock: Flock, kind: str, region: str, number: int) -> list[list[str]]:
    """Make up records of one region; those of the kind ``lone`` are too few to be released."""
    return [
        [
            flock.text("secret"),
            flock.text("secret"),
            flock.text("secret"),
            flock.number("secret"),
            region,
            flock.number(kind),
            flock.day(kind),
            flock.number(kind),
            flock.text(kind),
            flock.text(kind),
            flock.day("secret"),
        ]
        for _ in range(number)
    ]


@dataclass
class Farm:
    """A table full of canaries, plans for it, more records of its people, and files that are wrong in some way."""

    folder: Path
    rng: random.Random
    flock: Flock = field(init=False)
    header: list[str] = field(init=False)
    rows: list[list[str]] = field(init=False)

    def __post_init__(self) -> None:
        self.flock = Flock(self.rng)
        self.folder.mkdir()
        self.header = [*NAMES, self.flock.text("secret")]
        regions = [self.flock.text("told") for _ in range(3)]
        self.rows = [row for region in regions for row in records(self.flock, "told", region, 9)]
        for _ in range(4):
            self.rows += records(self.flock, "lone", self.flock.text("lone"), 1)
        self.rng.shuffle(self.rows)
        self.write("data.csv", self.header, self.rows)
        self.write("named.csv", [*NAMES, "extra"], self.rows)
        self.write("more.csv", self.header, records(self.flock, "told", regions[0], 4))
        changed = [[*row[:9], self.flock.text("told"), row[10]] for row in self.rows if row[4] in regions][:3]
        self.write("changed.csv", self.header, changed)
        self.write("leaving.csv", ["id"], [[row[0]] for row in self.rows[:3]])
        (self.folder / "keys.txt").write_text("\n".join(row[0] for row in self.rows[4:7]))
        self.plan("plan.yaml")
        self.plan("kept.yaml", method="cluster", privacy=PRIVACIES[0])
        self.plan("other.yaml", change=lambda text: text.replace("  region:", "  ward:").replace("zip:", "postcode:"))
        self.plan("node.yaml", change=lambda text: text.replace("limit: {level: 0}", "limits: [Utopia]"))
        tree = "{role: quasi-identifier, hierarchy: {tree: {all: [a, b]}}}"
        self.plan("tree.yaml", change=lambda text: re.sub(r"(?<=  region: ).*", tree, text))
        self.plan(
            "number.yaml",
            change=lambda text: re.sub(r"(?<=  ill: ).*", "{role: quasi-identifier, intervals: free}", text),
        )
        self.plan("twice.yaml", change=lambda text: text + "\nkey: id\nrules: [3")
        self.misuse()

    def write(self, name: str, header: list[str], rows: list[list[str]]) -> None:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
        (self.folder / name).write_text(text.getvalue(), encoding="utf-8")

    def plan(
        self,
        name: str,
        method: str | None = None,
        privacy: str | None = None,
        change: Callable[[str], str] = str,
    ) -> None:
        method = method or self.rng.choice(METHODS)
        text = PLAN.format(
            income=INCOMES[0] if method == "lattice" else self.rng.choice(INCOMES),
            privacy=privacy or (self.rng.choice(PRIVACIES) if "cluster" in method else PRIVACIES[0]),
            method=method,
            more="withhold: 30%" if method == "lattice" else "",
        )
        (self.folder / name).write_text(change(text), encoding="utf-8")

    def misuse(self) -> None:
        """Write tables that cannot be right."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        header, rows = self.header, self.rows
        text = (self.folder / "data.csv").read_text(encoding="utf-8")
        self.write("bad-no-header.csv", rows[0], rows[1:])
        self.write(
            "bad-text-header.csv", [cell if not cell.isdigit() and "-" not in cell else "x" for cell in rows[0]], rows
        )
        self.write("bad-ragged.csv", header, [row if at % 7 else row[:5] for at, row in enumerate(rows)])
        self.write("bad-long.csv", header, [row if at % 9 else [*row, row[2]] for at, row in enumerate(rows)])
        self.write("bad-twice.csv", [*header[:-1], header[-1], header[-1]], [[*row, row[-1]] for row in rows])
        self.write("bad-type.csv", header, [[*row[:5], row[8], *row[6:]] for row in rows])
        self.write("bad-day.csv", header, [[*row[:6], row[2], *row[7:]] for row in rows])
        self.write("bad-no-key.csv", header, [["" if at == 5 else row[0], *row[1:]] for at, row in enumerate(rows)])
        self.write("bad-same-key.csv", header, [[rows[0][0], *row[1:]] for row in rows])
        self.write("bad-no-person.csv", header, [[row[0], "", *row[2:]] for row in rows])
        self.write("bad-column.csv", ["id", "who", *header[3:]], [[*row[:2], *row[3:]] for row in rows])
        self.write("bad-none.csv", [f"c{at}" for at in range(len(header))], rows)
        self.write("bad-empty.csv", header, [])
        self.write("bad-precise.csv", header, [[*row[:5], row[5] + "." + "1" * 60, *row[6:]] for row in rows])
        (self.folder / "bad-latin.csv").write_bytes(text.encode("latin-1"))
        (self.folder / "bad-utf16.csv").write_bytes(text.encode("utf-16"))
        (self.folder / "bad-nul.csv").write_text(text.replace("-", "\0", 5))
        (self.folder / "bad-quote.csv").write_text(text.replace(",", ',"', 30))
        (self.folder / "bad-delimiter.csv").write_text(text.replace(",", ";"))
        table = pa.table({name: [row[at] for row in rows] for at, name in enumerate(header)})
        pq.write_table(table, self.folder / "data.parquet")
        whole = (self.folder / "data.parquet").read_bytes()
        (self.folder / "bad-cut.parquet").write_bytes(whole[: len(whole) // 2])
        middle = len(whole) // 3
        (self.folder / "bad-bits.parquet").write_bytes(whole[:middle] + bytes(40) + whole[middle + 40 :])
        nested = table.set_column(5, "income", pa.array([[row[5]] for row in rows]))
        pq.write_table(nested, self.folder / "bad-nested.parquet")
        raw = table.set_column(4, "region", pa.array([row[4].encode("latin-1") for row in rows]))
        pq.write_table(raw, self.folder / "bad-bytes.parquet")

    def bad(self) -> list[str]:
        return sorted(path.name for path in self.folder.glob("bad-*"))


# ---- what is done ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Order:
    """What a process is to do, and what becomes of it.

    Attributes
    ----------
    words
        Words of the command line; or of what else is called: ``library``, ``worker``.
    kind
        ``command``, ``library`` or ``worker``.
    folder
        With ``in`` (what it is given), ``work``, ``tmp``, ``home`` and ``said`` below it.
    way
        ``good``, ``crash``, a signal, ``memory`` or ``room``.
    at
        The call of a function of ours at which it crashes or is interrupted; or how much memory or room it has.
    cell
        What an error quotes, that is raised deep down.
    terminal
        Whether it prints as on a terminal that shows colours.
    header
        The name of the column that no plan names.
    """

    words: tuple[str, ...]
    kind: str
    folder: str
    way: str = "good"
    at: int = 0
    cell: str = ""
    terminal: bool = False
    header: str = ""


SIGNALS = {name: getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGKILL", "SIGABRT", "SIGSEGV")}


def commands(farm: Farm, data: str, plan: str) -> list[tuple[str, ...]]:
    """All commands that take a table, a plan, a release or a store."""
    keys = ",".join(row[0] for row in farm.rows[:3])
    store = ("--store", "../in/store.db")
    return [
        ("anonymize", data, plan, "-o", "out", "--link", "link.csv"),
        ("anonymize", data, plan, "-o", "out", "--json"),
        ("anonymize", data, plan, "-o", "out", "--format", "parquet"),
        ("anonymize", data, plan, "-o", "out", "--engine", "duckdb"),
        ("anonymize", data, plan, "-o", "../made", "--replace"),
        ("explain", data, plan),
        ("explain", data, plan, "--json"),
        ("assess", data, plan, "-o", "assessed.html"),
        ("assess", data, plan, "--json"),
        ("bound", data, plan, "--effort", "1s"),
        ("lattice", data, plan),
        ("weights", data, plan),
        ("compare", data, plan, "--method", "cluster"),
        ("simulate", data, plan),
        ("apply", "../made", data, "-o", "out"),
        ("verify", "../made", "--original", data),
        ("verify", "../made", "--json"),
        ("attack", "../made", "--original", data, "--people", "20", "-o", "attacked.html"),
        ("attack", "../made", "--original", data, "--columns", "region", "--json"),
        ("utility", "../made", "--original", data),
        ("utility", "../made", "--original", data, "--json"),
        ("report", "../made", "-o", "page.html", "--original", data),
        ("report", "../made", "--terminal"),
        ("report", "../made", "-o", "record.xml", "--ddi"),
        ("report", "../made", "-o", "record.jsonld", "--dcat"),
        ("sign", "../made", "--key", data),
        ("inspect", data.replace("data.csv", "named.csv")),
        ("plan", "draft", data.replace("data.csv", "named.csv")),
        ("plan", "draft", data.replace("data.csv", "named.csv"), "-o", "draft.yaml"),
        ("plan", "limits", data, plan),
        ("plan", "check", plan, "--data", data),
        ("plan", "upgrade", plan, "-o", "upgraded.yaml"),
        ("plan", "to-arx", plan, "-o", "arx"),
        ("plan", "from-arx", data, "-o", "arx"),
        ("plan", "check", plan, "--data", data, "--json"),
        ("release", "create", data, plan, "--store", "../in/new.db"),
        ("release", "insert", data.replace("data.csv", "more.csv"), *store),
        ("release", "delete", data.replace("data.csv", "leaving.csv"), *store),
        ("release", "delete", "--keys", keys, *store),
        ("release", "delete", "--keys-from", "../in/keys.txt", *store),
        ("release", "delete", keys, keys, *store),
        ("release", "update", data.replace("data.csv", "changed.csv"), *store),
        ("release", "optimize", *store),
        ("release", "restart", *store),
        ("release", "erase", "--keys-from", "../in/keys.txt", "--yes", *store),
        ("release", "export", "latest", "-o", "out", *store),
        ("release", "history", *store),
        ("release", "diff", "1", "latest", *store),
        ("release", "audit", *store),
        ("release", "check", *store),
        ("library", "anonymize", data, plan),
        ("library", "explain", data, plan),
        ("library", "draft_plan", data.replace("data.csv", "named.csv")),
        ("library", "frame", data, plan),
        ("library", "create", data, plan),
        ("worker", "release", data, plan),
        ("worker", "insert", data.replace("data.csv", "more.csv"), plan),
    ]


SHOWS_RELEASED = ("worker",)
"""What hands over a release, or rows for the owner's screen, on its standard output."""


def draw(rng: random.Random, farm: Farm) -> tuple[tuple[str, ...], str, int, str]:
    """Choose a command, a way, when, and a cell."""
    data, plan = "../in/data.csv", "../in/" + rng.choice(("plan.yaml", "kept.yaml"))
    way = rng.choice(
        ("good", "misuse", "misuse", "misuse", "crash", "crash", "crash", "SIGINT", "SIGTERM", "SIGKILL", "SIGABRT",
         "SIGSEGV", "memory", "room")
    )  # fmt: skip
    if way == "misuse":
        data = "../in/" + rng.choice(farm.bad())
        if rng.random() < 0.2:
            data, plan = "../in/data.csv", "../in/" + rng.choice(("other", "node", "tree", "number", "twice")) + ".yaml"
        elif rng.random() < 0.15:
            data = "../in/data.parquet"
    words = rng.choice(commands(farm, data, plan))
    if way == "misuse":  # whatever else it takes is wrong as well
        words = tuple(re.sub(r"\.\./in/(more|leaving|changed|named)\.csv", data, word) for word in words)
    at = int(10 ** rng.uniform(0, 4.5))
    if way == "memory":
        at = rng.randrange(4, 200) << 20
    if way == "room":
        at = int(2 ** rng.uniform(8, 17))
    if words[0] == "library" and way == "crash":
        way = "good"  # an error that is not ours is the caller's to see, with all that it says
    return words, way, at, rng.choice(rng.choice(farm.rows))


# ---- the nursery: runs in a process of its own -----------------------------------------------------------------------


def nursery() -> None:
    """Load everything, then fork processes as standard input orders, and say what became of them."""
    from hedgerow.cli.app import app  # noqa: F401 - for those that are forked
    from hedgerow.maintenance import create_release

    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        farm = Farm(Path(folder) / "in", random.Random(0))
        for method in METHODS:
            farm.plan("plan.yaml", method=method)
            library("anonymize", f"{folder}/in/data.csv", f"{folder}/in/plan.yaml")
        with create_release(f"{folder}/in/data.csv", f"{folder}/in/kept.yaml", f"{folder}/s.db", threads=1) as release:
            release.insert(f"{folder}/in/more.csv")
            release.optimize()
    readers = SharedReaders()
    print("ready", flush=True)
    for line in sys.stdin:
        print(json.dumps(live(Order(**json.loads(line)), readers)), flush=True)


def live(order: Order, readers: SharedReaders) -> dict[str, Any]:
    child = os.fork()
    if child == 0:
        try:
            if order.way not in ("memory", "room", "SIGABRT"):  # of which its readers have no more than it
                readers.use()
            act(order)
        finally:
            os._exit(99)
    end, status = time.monotonic() + PATIENCE, 0
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return {"code": os.waitstatus_to_exitcode(status), "stuck": False}
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return {"code": 0, "stuck": True}


def act(order: Order) -> None:
    """Be the command."""
    folder = Path(order.folder)
    for number, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(os.open(folder / "said" / name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), number)
    sys.stdout = io.TextIOWrapper(os.fdopen(1, "wb", closefd=False), encoding="utf-8")
    sys.stderr = io.TextIOWrapper(
        os.fdopen(2, "wb", 0, closefd=False), encoding="utf-8", errors="backslashreplace", write_through=True
    )
    sys.stdin = open(os.devnull)  # noqa: PTH123, SIM115
    os.chdir(folder / "work")
    os.environ |= {"HOME": str(folder / "home"), "TMPDIR": str(folder / "tmp"), "XDG_CACHE_HOME": str(folder / "home")}
    if order.terminal:
        os.environ |= {"FORCE_COLOR": "1", "COLUMNS": "400"}
    tempfile.tempdir = None
    warnings.resetwarnings()
    if order.way == "memory":
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + order.at, used + order.at))
    elif order.way == "room":
        resource.setrlimit(resource.RLIMIT_FSIZE, (order.at, order.at))
    elif order.way == "SIGSEGV":
        import faulthandler

        faulthandler.enable()
    if order.kind == "worker":
        import hedgerow.studio.worker  # noqa: F401 - nothing was read yet while it is loaded
    if order.way == "crash" or order.way in SIGNALS:
        sys.setprofile(at_call(order))
    code: Any = 0
    try:
        if order.kind == "library":
            library(*order.words[1:])
        elif order.kind == "worker":
            work(*order.words[1:])
        else:
            from hedgerow.cli.run import run

            run(order.words)
    except SystemExit as ending:
        code = ending.code
    except BaseException as error:
        code = 98
        sys.excepthook(type(error), error, error.__traceback__)
    sys.setprofile(None)
    with contextlib.suppress(Exception):
        sys.stdout.flush()
    os._exit(code if isinstance(code, int) else 0 if code is None else 1)


def at_call(order: Order) -> Callable[[FrameType, str, Any], None]:
    """Count calls of functions of ours; at the one asked for, something happens that quotes a cell."""
    import hedgerow

    ours = str(Path(hedgerow.__file__).parent)
    ends = tuple(f"{ours}/{name}.py" for name in ("cli/run", "cli/printing", "errors", "escaping"))
    count = 0

    def watch(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        place = frame.f_code.co_filename
        if event != "call" or not place.startswith(ours) or place in ends:
            return
        count += 1
        if count == order.at:
            if order.way == "crash":
                raise quoting(order.cell, order.at)
            os.kill(os.getpid(), SIGNALS[order.way])

    return watch


def quoting(cell: str, number: int) -> BaseException:
    """An error as libraries raise them: it quotes the cell that it is about."""
    import duckdb
    import pyarrow as pa

    raw = cell.encode()
    errors: list[BaseException] = [
        ValueError(f"could not convert string to float: {cell!r}"),
        KeyError(cell),
        pa.ArrowInvalid(f"CSV conversion error to int64: invalid value '{cell}'"),
        duckdb.ConversionException(f"Could not convert string '{cell}' to INT32"),
        UnicodeDecodeError("utf-8", raw, 0, 1, f"invalid start byte in {cell}"),
        OSError(28, f"No space left on device: {cell}"),  # a file name, which may be shown, is never a cell
        MemoryError(cell),
        RecursionError(cell),
        AssertionError(cell),
        RuntimeError(cell),
        TypeError(cell),
        EOFError(cell),
        StopIteration(cell),
        Warning(cell),
    ]
    return errors[number % len(errors)]


def library(what: str, *words: str) -> None:
    """Call the library, and show all that a caller can see of an error."""
    import pyarrow.csv

    import hedgerow as hr

    try:
        if what == "frame":
            hr.anonymize(pyarrow.csv.read_csv(words[0]), hr.Plan.load(words[1]), threads=1)
        elif what == "create":
            hr.create_release(words[0], words[1], f"{words[0]}.db", threads=1).close()
        elif what == "draft_plan":
            print(hr.draft_plan(words[0]))
        elif what == "explain":
            print(repr(hr.explain(words[0], words[1])), hr.explain(words[0], words[1])._repr_html_())
        else:
            release = hr.anonymize(words[0], words[1], threads=1)
            print(repr(release), repr(release.plan), release.plan._repr_html_())
    except hr.HedgerowError as error:
        print(str(error), repr(error), error.args, error.problems)
        print("".join(traceback.format_exception(error)))
        print(repr(error.__cause__), error.__suppress_context__ or repr(error.__context__))
    except (pyarrow.ArrowInvalid, pyarrow.ArrowKeyError):
        pass  # the caller's own reading of the file


def work(verb: str, data: str, plan: str) -> None:
    """Do a task of the studio, as its process does."""
    from hedgerow.plan import Plan
    from hedgerow.studio import worker

    task: dict[str, Any] = {"task": "release", "data": data, "output": "out"}
    if verb == "release":
        try:
            task["plan"] = Plan.load(plan).to_yaml()
        except Exception:
            return  # the screens do not start a run without a plan
        (Path("given.yaml")).write_text(task["plan"])
        task["plan"] = "given.yaml"
    else:
        task = {"task": "maintain", "verb": "insert", "data": data, "store": "../in/store.db"}
    ours, theirs = os.pipe()
    os.write(theirs, json.dumps(task).encode() + b"\n")
    sys.stdin = os.fdopen(ours)
    worker.main()


# ---- the campaign's side ---------------------------------------------------------------------------------------------


KEPT_OPEN = contextlib.ExitStack()


@functools.cache
def forks() -> subprocess.Popen[str]:
    """The process that forks; it ends with this one, whose pipe it reads."""
    return KEPT_OPEN.enter_context(nursery_of("tests.robustness.attack_canaries", PATIENCE))


def outcome(order: Order) -> dict[str, Any]:
    process = forks()
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(asdict(order)) + "\n")
    process.stdin.flush()
    line = process.stdout.readline()
    assert line, "the nursery has ended"
    found: dict[str, Any] = json.loads(line)
    assert not found["stuck"], f"still not done after {PATIENCE:.0f} s: {order}"
    return found


def begin(farm: Farm, case: Path) -> None:
    """Lay out the folder of a case: what it is given, and nothing else."""
    for name in ("work", "tmp", "home", "said"):
        (case / name).mkdir(parents=True)
    shutil.copytree(farm.folder, case / "in")
    made = farm.folder.parent / "made"
    if made.exists():
        shutil.copytree(made, case / "made")


def prepare(farm: Farm) -> None:
    """Make a release and a store, for commands that want one."""
    folder = farm.folder.parent
    case = folder / "first"
    begin(farm, case)
    for words in (
        ("anonymize", "../in/data.csv", "../in/kept.yaml", "-o", "../made"),
        ("release", "create", "../in/data.csv", "../in/kept.yaml", "--store", "../in/store.db"),
    ):
        order = Order(words, "command", str(case))
        assert outcome(order)["code"] == 0, (case / "said" / "stderr").read_text()
    check(order, 0, case)
    shutil.move(case / "made", folder / "made")
    shutil.copy(case / "in" / "store.db", farm.folder / "store.db")
    shutil.rmtree(case)


def check(order: Order, code: int, case: Path) -> None:
    """Look for canaries wherever the command may have left some."""
    told = order.kind in SHOWS_RELEASED or order.words[0] == "compare" or released_on_output(order)
    stdout = (case / "said/stdout").read_bytes()
    if {"inspect", "draft", "draft_plan"} & set(order.words):  # they are there to name the columns of a table
        stdout, drafted = stdout.replace(order.header.encode(), b""), case / "work" / "draft.yaml"
        if drafted.exists():
            drafted.write_bytes(drafted.read_bytes().replace(order.header.encode(), b""))
    found = [f"stdout: {what}" for what in found_in(stdout, KINDS[:2] if told else KINDS)]
    if order.kind == "worker":
        found = found_in(problems_of(case / "said/stdout"))
    found += [f"stderr: {what}" for what in found_in((case / "said/stderr").read_bytes())]
    stderr = (case / "said/stderr").read_text(errors="replace")
    if order.kind == "command" and "Traceback" in stderr:
        found.append("stderr: a traceback")
    found += [f"home: {what}" for what in found_under(case / "home")]
    if died(code):  # nobody could tidy up: what is left must be closed to others
        found += [f"open to others: {path}" for path in open_to_others(case / "tmp", case / "work", case)]
    else:
        found += [f"tmp: {what}" for what in found_under(case / "tmp")]
        found += [f"work: {what}" for what in found_under(case / "work", KINDS[:2])]
        found += [f"made: {what}" for what in found_under(case / "made", KINDS[:2])]
        found += [f"work: {what}" for what in outside_release(case / "work")]
        found += [f"left over: {path.name}" for path in case.iterdir() if path.name.startswith(".hedgerow")]
    assert not found, f"{order}\nexit code {code}\n" + "\n".join(found) + f"\n--- stderr\n{stderr[-2000:]}"


def died(code: int) -> bool:
    """Whether a process was ended by a signal, and could not tidy up."""
    return code < 0 or code in (134, 137, 139)


def released_on_output(order: Order) -> bool:
    """Whether the command prints the facts of a release, in which released values stand."""
    return "--json" in order.words and order.words[0] in ("anonymize", "report", "verify")


def problems_of(path: Path) -> bytes:
    """What a process of the studio told, but for its result."""
    return b"\n".join(line for line in path.read_bytes().split(b"\n") if not line.startswith(b'{"result"'))


def outside_release(work: Path) -> list[str]:
    """Values that stand outside of what is a release or a report."""
    found = []
    for path in sorted(work.rglob("*")):
        inside = (path.parent / "facts.json").exists() or path.name == "page.html"
        if path.is_file() and not inside:
            found += [f"{path.name}: {what}" for what in found_in(path.read_bytes())]
    return found


def open_to_others(tmp: Path, work: Path, case: Path) -> list[str]:
    """Unfinished things that others could look into: a folder of ours that is not 0700."""
    left = [*tmp.iterdir(), *(path for folder in (work, case) for path in folder.iterdir() if path.name[0] == ".")]
    return [str(path) for path in left if path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO)]


def attack(rng: random.Random, folder: Path) -> Counter[str]:
    """Make up a table, and do some things with it in some ways."""
    farm = Farm(folder / "in", rng)
    prepare(farm)
    tried: Counter[str] = Counter()
    for number in range(CASES):
        words, way, at, cell = draw(rng, farm)
        case = folder / f"case-{number}"
        begin(farm, case)
        kind = words[0] if words[0] in ("library", "worker") else "command"
        order = Order(words, kind, str(case), way, at, cell, header=farm.header[-1])
        code = outcome(order)["code"]
        check(order, code, case)
        if died(code):  # the next run sweeps up what is left
            again = dataclasses.replace(order, way="good")
            code = outcome(again)["code"]
            outcome(Order(("explain", "../in/data.csv", "../in/kept.yaml"), "command", str(case)))
            check(again, code, case)
            tried["runs after a death"] += 1
        shutil.rmtree(case)
        tried[way if way not in SIGNALS else "signals"] += 1
    return tried


CAMPAIGN = Campaign("canaries", "commands that were searched for canaries", attack)
