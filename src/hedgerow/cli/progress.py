"""A progress bar on standard error for work over a second; silent when nobody looks at a terminal."""

from __future__ import annotations

import threading
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn

PATIENCE_SECONDS = 1.0


class ProgressBar:
    """Context manager; call it with what is done, how much, and of how much."""

    def __init__(self) -> None:
        self._console = Console(stderr=True, emoji=False)
        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TimeElapsedColumn(),
            console=self._console,
            transient=True,
            disable=not self._console.is_terminal,
        )
        self._task = self._bar.add_task("starting", total=None)
        self._timer = threading.Timer(PATIENCE_SECONDS, self._bar.start)
        self._timer.daemon = True

    def __enter__(self) -> ProgressBar:
        if self._console.is_terminal:
            self._timer.start()
        return self

    def __call__(self, doing: str, done: int, total: int) -> None:
        """Tell how far the work is."""
        self._bar.update(self._task, description=doing, completed=done, total=total or None)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        if self._timer.is_alive():
            self._timer.join()
        if self._bar.live.is_started:
            self._bar.stop()
