"""No record, and no control character, gets out of any command: a few cases of each kind, the same every time."""

from __future__ import annotations

import ast
import json
import os
import random
import re
import shutil
import subprocess
import sys
import traceback
import unicodedata
from pathlib import Path
from typing import Any

import pytest

import hedgerow
from hedgerow.errors import DataError, HedgerowError, Problem, escape_data, escape_json, escape_text
from tests.robustness.attack_canaries import HOSTILE, UNSEEN, Farm, Order, begin, check, commands, outcome, prepare
from tests.robustness.canaries import TEXTS, found_in

SOURCES = sorted(Path(hedgerow.__file__).parent.rglob("*.py"))
COLOURS = re.compile(r"\x1b\[[0-9;]*m|\x1b\[\?25[lh]|\x1b\[\d*[AK]|\x1b\]8;[^\x1b]*\x1b\\")


@pytest.fixture(scope="module")
def farm(tmp_path_factory: pytest.TempPathFactory) -> Farm:
    made = Farm(tmp_path_factory.mktemp("farm") / "in", random.Random("messages"))
    prepare(made)
    return made


def run(farm: Farm, words: tuple[str, ...], case: Path, terminal: bool = False) -> tuple[int, str, str]:
    """Run a command in a folder of its own, look for canaries, and return what it said."""
    begin(farm, case)
    kind = words[0] if words[0] in ("library", "worker") else "command"
    order = Order(words, kind, str(case), terminal=terminal)
    code = outcome(order)["code"]
    check(order, code, case)
    said = [(case / "said" / name).read_text(encoding="utf-8") for name in ("stdout", "stderr")]
    shutil.rmtree(case)
    return code, said[0], said[1]


def takes(words: tuple[str, ...], table: str) -> bool:
    return any(table in word for word in words) and words[0] not in ("verify", "report", "sign")


TURNS = ["bad-text-header.csv", "bad-twice.csv", "bad-none.csv"]
"""Tables that commands take in turns; the campaign of canaries gives any to any."""


@pytest.mark.parametrize("table", ["bad-no-header.csv", *TURNS])
def test_a_table_without_names_is_told_and_its_first_record_is_not(farm: Farm, table: str, tmp_path: Path) -> None:
    for number, words in enumerate(commands(farm, "../in/data.csv", "../in/kept.yaml")):
        bad = tuple(re.sub(r"\.\./in/(data|more|leaving|changed|named)\.csv", f"../in/{table}", word) for word in words)
        if not takes(bad, table) or (table in TURNS and number % len(TURNS) != TURNS.index(table)):
            continue
        code, out, error = run(farm, bad, tmp_path / str(number))
        said = out + error
        if table == "bad-no-header.csv" and bad[0] != "inspect":  # which finds that out, and reads on
            assert "no-header" in said, bad
            assert code in (0, 2), bad  # the library and the studio's process tell it, and end well
        assert "known here" not in said
        assert "did you mean" not in said


def test_no_control_character_gets_out_of_any_command(farm: Farm, tmp_path: Path) -> None:
    hostile = Farm(tmp_path / "in", random.Random("hostile"))
    name, label = f"a{HOSTILE}".replace("\r\n", ""), f"b{HOSTILE}"  # a header is one line
    table = f"da{HOSTILE}{os.fsdecode(bytes([255]))}ta.csv".replace("/", "")
    hostile.header[9] = name
    for file in ("data.csv", "named.csv", "more.csv", "changed.csv"):
        path = hostile.folder / file
        text = path.read_text(encoding="utf-8")
        quoted = '"' + name.replace('"', '""') + '"'
        path.write_text(text.replace(",note,", f",{quoted},", 1), encoding="utf-8", newline="")
    for file in ("plan.yaml", "kept.yaml"):
        path = hostile.folder / file
        text = path.read_text(encoding="utf-8").replace("  note:", f"  {json.dumps(name)}:")
        rule = {"name": label, "attribute": "day", "keep_apart": ["1741-01", "1741-02"]}
        path.write_text(f"{text}\nrules: [{json.dumps(rule)}]\n", encoding="utf-8")
        broken = text.replace("limit: {level: 0}", f"limits: [{json.dumps(label)}]").replace(
            "zip:", json.dumps(label) + ":"
        )
        (hostile.folder / f"broken-{file}").write_text(broken, encoding="utf-8")
    shutil.copy(hostile.folder / "named.csv", hostile.folder / table)
    prepare(hostile)
    cases = commands(hostile, "../in/data.csv", "../in/kept.yaml")
    cases += [words for words in commands(hostile, f"../in/{table}", "../in/broken-kept.yaml") if words[0] != "release"]
    cases += [
        ("anonymize", f"../in/{table}", "../in/kept.yaml", "-o", f"o{HOSTILE}", "--link", f"l{HOSTILE}"),
        ("explain", f"no{HOSTILE}", "../in/kept.yaml"),
        ("plan", "check", f"no{HOSTILE}"),
        ("plan", "draft", f"../in/{table}", "-o", f"p{HOSTILE}"),
        ("verify", f"no{HOSTILE}"),
        ("anonymize", "x", "y", "-o", "z", HOSTILE),
        ("release", "history", "--store", f"no{HOSTILE}"),
        (HOSTILE,),
        ("release", HOSTILE),
        ("explain", f"--{HOSTILE}"),
        ("anonymize", "x", "y", "-o", "z", "--seed", HOSTILE),
        ("anonymize", "x", "y", "-o", "z", "--format", HOSTILE),
    ]
    for number, words in enumerate(cases):
        if words[0] == "library":
            continue  # what it hands over is data, or HTML
        for terminal in (False, True) if number % 6 == 0 or number >= len(cases) - 12 else (False,):
            _, out, error = run(hostile, words, tmp_path / f"case-{number}-{terminal}", terminal)
            said = COLOURS.sub("", out + error) if terminal else out + error
            found = UNSEEN.search(said)
            assert found is None, f"{words}: {said[max(found.start() - 80, 0) : found.end() + 40]!r}"
            assert not re.search("^ok: all promises kept", said, re.MULTILINE), words


def test_every_character_that_is_not_seen_is_escaped() -> None:
    spared = {0x200C, 0x200D, *range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}
    spared |= set(range(0x13430, 0x13460))  # marks that are seen, and joiners
    for code in range(sys.maxunicode + 1):
        character = chr(code)
        escaped = escape_text(character) != character
        if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp"):
            assert escaped or code in spared, hex(code)
        if escaped:
            assert escape_text(character).isascii()
            assert json.loads(escape_json(json.dumps(character, ensure_ascii=False))) == character


def test_ordinary_text_is_left_as_it_is() -> None:
    for text in ("Zoë O'Neil", "می‌خواهم", "👩‍👩‍👧", "C:\\temp\\new", "30–39 %", "\N{NO-BREAK SPACE}"):
        assert escape_text(text) == text
    assert escape_data({"a": [1, None, "b"]}) == {"a": [1, None, "b"]}


def test_a_problem_is_one_line_and_a_hint_whatever_stands_in_it() -> None:
    problem = Problem("format", f"Column {HOSTILE}", f"/tmp/{HOSTILE}", f"hint {HOSTILE}")
    assert str(problem).count("\n") == 1
    assert not UNSEEN.search(str(problem).replace("\n", ""))
    assert not UNSEEN.search(json.dumps(problem.to_dict(), ensure_ascii=False))


def test_what_was_being_handled_is_never_shown_with_an_error_of_ours() -> None:
    cell = TEXTS["secret"]

    def refuse() -> None:
        raise DataError(Problem("format", "A cell is wrong."))

    def read() -> None:
        try:
            int(cell)
        except ValueError:
            refuse()

    with pytest.raises(HedgerowError) as caught:
        read()
    shown = "".join(traceback.format_exception(caught.value))
    assert not found_in(shown.encode())
    assert "ValueError" not in shown


def test_no_error_of_ours_is_raised_from_another() -> None:
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Raise) and node.cause is not None:
                assert isinstance(node.cause, ast.Constant), f"{path}:{node.lineno}"


def test_commands_print_in_one_place() -> None:
    allowed = {
        "printing.py": {"print", "Console"},
        "run.py": {"print"},  # fixed words, kinds and places of errors
        "app.py": {"print"},  # the version
        "progress.py": {"Console"},  # stages, which are ours
        "prepare.py": {"Console"},
        "release.py": {"Console"},  # a question with a number
        "patience.py": {"print"},
        "waiting.py": {"print"},
    }
    for path in (path for path in SOURCES if path.parent.name == "cli"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("print", "Console"):
                assert node.func.id in allowed.get(path.name, set()), f"{path}:{node.lineno}"


def test_names_of_the_data_are_never_proposed() -> None:
    """Whoever reads data does not know how to propose a word: what it knows are values."""
    for path in SOURCES:
        if {"microdata", "engines", "maintained", "maintenance", "drafting", "store", "verification"} & set(path.parts):
            assert "did_you_mean" not in path.read_text(encoding="utf-8"), path


def test_nothing_is_told_in_passing() -> None:
    """Errors of threads and finalizers, warnings, and core dumps could hold cells."""
    cell = TEXTS["secret"]
    program = f"""
import resource, threading, warnings
from hedgerow.cli.run import keep_quiet
keep_quiet()
class Last:
    def __del__(self):
        raise ValueError({cell!r})
def fail():
    raise KeyError({cell!r})
thread = threading.Thread(target=fail); thread.start(); thread.join()
last = Last(); del last
warnings.warn({cell!r})
print(resource.getrlimit(resource.RLIMIT_CORE)[0])
raise RuntimeError({cell!r})
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert done.returncode == 1
    assert done.stdout == b"0\n"
    assert not found_in(done.stderr)
    assert [line.split("(")[1].split(" ")[0] for line in done.stderr.decode().splitlines()] == [
        "KeyError", "ValueError", "RuntimeError",
    ]  # fmt: skip


def test_an_error_while_an_error_is_told_shows_no_text() -> None:
    """Typer puts a hook of its own in place, which prints the text of whatever gets out."""
    program = f"""
import typer.main
import hedgerow.cli.run as running
def fail(*arguments, **more):
    raise ValueError({TEXTS["secret"]!r})
running._code_of = fail
running.run(["plan", "check", "nowhere.yaml"])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert done.returncode == 1
    assert done.stderr.decode().startswith("hedgerow: internal error (ValueError at ")
    assert not found_in(done.stdout + done.stderr)


def test_every_command_is_attacked(farm: Farm) -> None:
    import typer

    from hedgerow.cli.app import app

    def names(command: Any, above: tuple[str, ...] = ()) -> set[tuple[str, ...]]:
        below = getattr(command, "commands", None)
        return {above} if below is None else set().union(*(names(one, (*above, name)) for name, one in below.items()))

    no_records = {
        ("demo",),
        ("prepare",),
        ("studio",),
        ("plan", "schema"),
    }  # the studio is attacked in tests of its own
    attacked = {words[: 2 if words[0] in ("plan", "release") else 1] for words in commands(farm, "data", "plan")}
    assert names(typer.main.get_command(app)) - no_records <= attacked
