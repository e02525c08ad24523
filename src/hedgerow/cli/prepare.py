"""``hedgerow prepare``: compile everything now, so that no later command waits for it."""

from __future__ import annotations

import os
from typing import Annotated

import typer
from rich.console import Console

from hedgerow.cli.options import JsonOption
from hedgerow.cli.printing import print_json, say
from hedgerow.cli.progress import ProgressBar


def prepare(
    threads: Annotated[
        int | None, typer.Option(min=1, help="How many processes compile. Default: one per processor.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Compile native code for this machine ahead of time, so that no later command has to wait for it.

    Useful when you build a container image. What is compiled already is left alone.
    """
    from hedgerow.anonymization.preparing import COMPILING, prepare

    console = Console(stderr=True, emoji=False)
    with ProgressBar() as bar:

        def progress(doing: str, done: int, total: int) -> None:
            if doing == COMPILING and done == 0 and not as_json and not console.is_terminal:
                processes = threads or os.cpu_count() or 1
                said = f"Compiling {total} parts of Hedgerow for this machine, {processes} at a time …"
                say(said, error=True)
            bar(doing, done, total)

        made = prepare(threads, progress)
    if as_json:
        print_json(made.to_dict())
        return
    said = f"all {made.kernels} parts were compiled already"
    if made.compiled:
        said = f"{made.compiled} of {made.kernels} parts compiled in {made.seconds:.0f} s"
    say(f"{said}; they are kept in {made.folder}")
