"""What a killed run left in private folders is removed by the next; an interrupt is told as one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hedgerow.outside.outputs.private import PREFIX, PrivateFolder

# -- killed and interrupted ------------------------------------------------------------------------------------------

HOLD = "import sys; from hedgerow.outside.outputs import PrivateFolder; f = PrivateFolder(); print(f.path, flush=True);"


def test_what_a_killed_run_left_is_removed_by_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    words = [sys.executable, "-c", HOLD + "sys.stdin.read()"]
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": str(tmp_path)}
    ) as held:
        assert held.stdout is not None
        folder = Path(held.stdout.readline().strip())
        (folder / "records.db").write_text("private")
        PrivateFolder().remove()
        assert folder.exists()  # in use
        held.kill()
        held.wait()
    assert folder.exists()
    mine = PrivateFolder()
    assert not folder.exists()
    assert mine.path.exists()
    assert mine.path.name.startswith(PREFIX)
    assert mine.path.stat().st_mode & 0o077 == 0
    mine.remove()
    assert not list(tmp_path.iterdir())


INTERRUPTED = """
import os, signal, time
from hedgerow.cli import app, run

@app.app.command()
def dawdle():
    try:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(30)
    except BaseException:
        raise RuntimeError("Query interrupted") from None  # as DuckDB does

run.run(["dawdle"])
"""


def test_an_interrupt_that_duckdb_puts_into_its_own_words() -> None:
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (130, "hedgerow: interrupted; nothing was written\n")
