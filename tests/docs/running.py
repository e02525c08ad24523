"""One shell for one page: commands run as a reader types them, Python blocks beside them in one namespace."""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import select
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.docs import warm
from tests.docs.comparing import difference

PATIENCE = 240.0
WIDTH = "100"  # columns of the terminal that pages show
STUDIO = re.compile(r"(hedgerow studio\b[^#]*)(#.*)?")
COMPILING = re.compile(r"^Compiling parts of Hedgerow .*\n", re.MULTILINE)  # whoever compiled them before is not told
WAIT_FOR_STUDIO = """
{command} > {log} 2>&1 & studio=$!
for _ in $(seq 300); do grep -q 'works once' {log} && break; kill -0 $studio || break; sleep 0.2; done
kill $studio; wait $studio; cat {log}; grep -q 'works once' {log}
"""


@dataclass(frozen=True)
class Printed:
    """What a command printed on both outputs, and its exit code."""

    text: str
    code: int


class Shell:
    """A shell that stays open for one page."""

    def __init__(self, folder: Path, installed: bool, environment: Mapping[str, str], socket: Path) -> None:
        self.folder = folder
        self._scratch = folder.parent
        places = [*([f"{sys.prefix}/bin"] if installed else []), "/usr/local/bin", "/usr/bin", "/bin"]
        given = {"COLUMNS": WIDTH, **environment, "PATH": ":".join(places), "LC_ALL": "C.UTF-8"}
        self._code = 0
        self._process = subprocess.Popen(
            ["bash", "--noprofile", "--norc"],
            cwd=folder,
            env=given,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        client = self._scratch / "client.py"
        client.write_text(warm.CLIENT, encoding="utf-8")
        words = " ".join(map(shlex.quote, [sys.executable, "-IS", str(client), str(socket)]))
        self.run(f'hedgerow() {{ type -P hedgerow >/dev/null || return 127; {words} "$@"; }}')

    def run(self, command: str, apart: bool = False) -> Printed:
        """Run a command and remember its exit code and folder; ``apart``: in a shell of its own."""
        if studio := STUDIO.fullmatch(command):
            log = shlex.quote(str(self._scratch / "log"))
            command = WAIT_FOR_STUDIO.format(command=f"command {studio[1]}", log=log)
        begin, end = "()" if apart else ("{", "}")
        script = f"(exit {self._code})\n{begin}\n{command}\n{end} < /dev/null 2>&1\n"
        text = self._ask(script + "printf '\\n@@%s@@%s@@\\n' $? \"$PWD\"\n")
        text, code, folder = re.fullmatch(r"(.*)\n@@(\d+)@@([^\n]*)@@\n", text, re.DOTALL).groups()  # type: ignore[union-attr]
        self._code, self.folder = int(code), Path(folder)
        return Printed(COMPILING.sub("", text), self._code)

    def _ask(self, script: str) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(script.encode())
        self._process.stdin.flush()
        got, end = b"", time.monotonic() + PATIENCE
        while not re.search(rb"\n@@\d+@@[^\n]*@@\n$", got):
            if not select.select([self._process.stdout], [], [], max(0.0, end - time.monotonic()))[0]:
                raise TimeoutError(f"no end after {PATIENCE:.0f} seconds; so far: {got[-2000:].decode()}")
            more = os.read(self._process.stdout.fileno(), 1 << 16)
            if not more:
                raise EOFError(f"the shell ended: {got[-2000:].decode()}")
            got += more
        return got.decode()

    def close(self) -> None:
        """End the shell."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(30)
        assert self._process.stdout is not None
        self._process.stdout.close()


class Notebook:
    """Python blocks of one page, in one namespace."""

    def __init__(self, names: Mapping[str, Any]) -> None:
        self._names = dict(names, __name__="__main__")

    def run(self, text: str, where: str, folder: Path, shown: str | None) -> str | None:
        """Run a block in a folder, and say what is wrong; ``shown``: what a plain block prints, if the page says."""
        with contextlib.chdir(folder), _quiet_path():
            if text.lstrip().startswith(">>>"):
                return self._examples(text, where)
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(text, where, "exec"), self._names)
        return None if shown is None else difference(shown, printed.getvalue())

    def _examples(self, text: str, where: str) -> str | None:
        examples = doctest.DocTestParser().get_doctest(text, {}, where, where, 0)
        examples.globs = self._names
        told = io.StringIO()
        runner = doctest.DocTestRunner(checker=_Checker(), optionflags=doctest.REPORT_ONLY_FIRST_FAILURE)
        runner.run(examples, out=told.write, clear_globs=False)
        return told.getvalue() or None


class _Checker(doctest.OutputChecker):
    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        return difference(want, got) is None


@contextlib.contextmanager
def _quiet_path() -> Iterator[None]:
    """Let nothing that a page defines outlive it in the list of places to import from."""
    path = list(sys.path)
    try:
        yield
    finally:
        sys.path[:] = path


@contextlib.contextmanager
def warmed(folder: Path) -> Iterator[Path]:
    """Load the command line once, and yield the socket that takes its commands."""
    socket = folder / "warm"
    command = [sys.executable, "-m", "tests.docs.warm", str(socket)]
    root = Path(__file__).parents[2]
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        if process.stdout.readline() != b"ready\n":
            raise RuntimeError("the command line could not be loaded")
        yield socket
        process.stdin.close()
