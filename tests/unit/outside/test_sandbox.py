"""A child process for strangers' bytes: what comes back, and what is said when it fails."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from hedgerow.errors import DataError, HedgerowError
from hedgerow.outside import sandbox
from hedgerow.outside.intake import open_regular, read_bytes, read_json
from hedgerow.outside.sandbox import Limits, running

TRYING = "hedgerow.outside.sandbox.trying:"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "data.bin"
    path.write_bytes(b"x" * 1000)
    return path


def failing(file: Path, limits: Limits | None = None, **request: object) -> DataError:
    with pytest.raises(DataError) as caught, sandbox.run(TRYING + "fail", request, [file], limits=limits) as answer:
        for _ in answer.batches():
            pass
    return caught.value


def test_facts_and_rows_come_back(file: Path) -> None:
    with sandbox.run(TRYING + "count_bytes", {"name": "Zoë"}, [file, file]) as answer:
        assert answer.facts == {"bytes": 2000, "request": {"name": "Zoë"}}
    with sandbox.run(TRYING + "fail", {"way": "none"}, [file]) as answer:
        assert answer.table().num_rows == 300_000


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGFPE, signal.SIGILL])
def test_a_crash_is_one_problem(file: Path, number: int) -> None:
    error = failing(file, way="signal", number=int(number))
    assert [problem.code for problem in error.problems] == ["unreadable-file"]
    assert error.problems[0].place == str(file)
    assert error.problems[0].hint


def test_memory_time_and_output_are_bounded(file: Path) -> None:
    assert failing(file, way="memory", bytes=3 << 30).problems[0].code == "too-much"
    short = Limits(memory=1 << 28, seconds=1, output=1 << 22, patience=60)
    began = time.monotonic()
    assert "seconds" in failing(file, short, way="work").problems[0].message
    assert failing(file, short, way="endless").problems[0].code == "too-much"
    assert time.monotonic() - began < 40


def test_nobody_waits_for_ever(file: Path) -> None:
    impatient = Limits(memory=1 << 28, seconds=5, output=1 << 22, patience=1)
    assert failing(file, impatient, way="sleep", seconds=100).problems[0].code == "too-much"


def test_an_unforeseen_error_shows_no_text(file: Path) -> None:
    error = failing(file, way="error")
    assert "secret" not in str(error)
    assert "ValueError" in str(error)


def test_a_problem_keeps_its_words(file: Path) -> None:
    problem = failing(file, way="problem", place="patients.csv").problems[0]
    assert (problem.code, problem.message, problem.place) == ("ragged", "Row 7 has 2 cells.", "patients.csv")


def test_what_leaves_the_child_is_validated(file: Path) -> None:
    assert failing(file, way="invalid").problems[0].code == "unreadable-file"


def test_children_see_nothing_of_where_we_are(file: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "fractions.py").write_text("raise SystemExit('planted')")
    (tmp_path / "pyarrow.py").write_text("raise SystemExit('planted')")
    script = (
        "from hedgerow.outside import sandbox\n"
        f"with sandbox.run('{TRYING}fail', {{'way': 'none'}}, ['{file}']) as answer:\n"
        "    print(sorted(answer.facts['environment']), answer.facts['files'] == sorted(__import__('os').listdir('/')))"
    )
    environment = {**os.environ, "SECRET": "x", "PYTHONPATH": str(tmp_path), "PYTHONSTARTUP": "x"}
    told = subprocess.run(
        [sys.executable, "-P", "-c", script.replace("from hedgerow", "import sys; sys.path = [one for one in sys.path if one != "
         + repr(str(tmp_path)) + "]\nfrom hedgerow")],
        cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert told.returncode == 0, told.stderr
    assert "SECRET" not in told.stdout
    assert "PYTHON" not in told.stdout
    assert "True" in told.stdout


def test_any_number_of_threads_ask_at_once(file: Path) -> None:
    found: list[int] = []

    def ask(number: int) -> None:
        if number % 4 == 0:
            failing(file, way="signal", number=int(signal.SIGSEGV))
        else:
            with sandbox.run(TRYING + "count_bytes", {"number": number}, [file]) as answer:
                found.append(answer.facts["request"]["number"])

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [number for number in range(40) if number % 4]


def test_a_template_that_was_killed_is_started_again(file: Path) -> None:
    running.prepare()
    process = running._template._process
    assert process is not None
    process.kill()
    process.wait()
    with sandbox.run(TRYING + "count_bytes", {}, [file]) as answer:
        assert answer.facts["bytes"] == 1000


def test_an_answer_that_nobody_wants_ends_its_child(file: Path) -> None:
    with sandbox.run(TRYING + "fail", {"way": "endless"}, [file]) as answer:
        next(answer.batches())
    process = running._template._process
    assert process is not None
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    until = time.monotonic() + 20
    while children.exists() and children.read_text().split() and time.monotonic() < until:
        time.sleep(0.05)
    assert not children.exists() or not children.read_text().split()


def test_a_forked_process_has_a_template_of_its_own(file: Path) -> None:
    running.prepare()
    child = os.fork()
    if child == 0:
        with sandbox.run(TRYING + "count_bytes", {}, [file]) as answer:
            os._exit(0 if answer.facts["bytes"] == 1000 else 1)
    assert os.waitpid(child, 0)[1] == 0
    with sandbox.run(TRYING + "count_bytes", {}, [file]) as answer:
        assert answer.facts["bytes"] == 1000


def test_without_forking_files_are_parsed_here(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "FORKS", False)
    with sandbox.run(TRYING + "fail", {"way": "none"}, [file]) as answer:
        assert answer.table().num_rows == 300_000
    with sandbox.run(TRYING + "fail", {"way": "invalid"}, [file]) as answer, pytest.raises(DataError):
        answer.table()


def test_no_process_is_left_behind(file: Path) -> None:
    script = "from hedgerow.outside.sandbox import prepare, running; prepare(); print(running._template._process.pid)"
    pid = int(subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout)
    until = time.monotonic() + 20
    while time.monotonic() < until:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    pytest.fail("the template outlived the process that it served")


def test_only_regular_files_are_opened(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, tmp_path, Path("/dev/zero"), tmp_path / "none", tmp_path / "a\0b", tmp_path / ("x" * 5000)):
        with pytest.raises(DataError) as caught:
            open_regular(path)
        assert caught.value.problems[0].code == "no-file"
    large = tmp_path / "large"
    large.write_bytes(b"x" * 11)
    assert read_bytes(large, 11, "It") == b"x" * 11
    with pytest.raises(HedgerowError) as too_large:
        read_bytes(large, 10, "It")
    assert too_large.value.problems[0].code == "too-much"


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"a":' * 5000,
        "[" * 50 + "]" * 50,
        "[" + "1" * 5000 + "]",
        b"\xff",
        "",
        "\ud800",
        "[1,",
        "nul\0l",
    ],
)
def test_json_that_is_not_read(text: str | bytes) -> None:
    with pytest.raises(ValueError, match=r"not JSON|too"):
        read_json(text)


def test_json_that_is_read() -> None:
    assert read_json("[" * 40 + "]" * 40)
    assert read_json('{"a": [{}, [], "[[[[' + "[" * 60 + '"]}')["a"][:2] == [{}, []]
