"""Where a program may map little (``ulimit -v``), a command still ends with one message and the right code."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from hedgerow.evaluation.synthetic import clinic, write_demo

ENDS = """
import os, sys
from hedgerow.cli import run, scarcity
from hedgerow.outside.outputs.moment import begin, record
def work():
    begin()
    {what}
run.run = work
scarcity.run()
"""


def limited(words: list[str], megabytes: int, place: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words],
        cwd=place,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20,) * 2),
    )


@pytest.mark.parametrize("megabytes", [200, 450, 650, 900, 1500])
def test_a_command_ends_with_a_message_whatever_it_may_map(megabytes: int, tmp_path: Path) -> None:
    data, plan = write_demo(tmp_path, clinic(records=200))
    for engine in ("local", "duckdb"):
        words = ["anonymize", data.name, plan.name, "-o", f"out-{engine}", "--engine", engine]
        done = limited(["-c", "from hedgerow.cli import main; main()", *words], megabytes, tmp_path)
        assert done.returncode in (0, 2), (done.returncode, done.stderr)
        assert (done.returncode == 0) == (tmp_path / f"out-{engine}").exists()
        if done.returncode:
            assert "hedgerow: " in done.stderr
            assert "internal error" not in done.stderr
            assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("what", "code", "said"),
    [
        ("os.abort()", 2, "Nothing was written: a library ended the program"),
        ("os._exit(1)", 2, "Nothing was written: a library ended the program"),
        (
            "record('the page is in place'); os.abort()",
            4,
            "Done: the page is in place. But a library ended the program",
        ),
        ("record('in place: a' + chr(10) + '=1'); os.abort()", 4, "Done: in place: a"),
        ("sys.exit(0)", 0, ""),
        ("sys.exit(1)", 1, ""),
        ("os._exit(130)", 130, ""),
    ],
)
def test_somebody_is_left_to_say_what_became_of_a_command(what: str, code: int, said: str, tmp_path: Path) -> None:
    done = limited(["-c", ENDS.format(what=what)], 2000, tmp_path)
    assert (done.returncode, bool(done.stderr)) == (code, bool(said)), done.stderr
    assert said in done.stderr
