"""A job at work: how far it is, a button to cancel it, and in the end what went wrong, in place."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable

from nicegui import ui

from hedgerow.studio import theme
from hedgerow.studio.jobs import Job

REFRESH_SECONDS = 0.2


class ProgressLine:
    """What a job is doing, how far it is, and for how long."""

    def __init__(self, label: str) -> None:
        self._doing = ui.label("starting").classes("muted").props("role=status")
        self._bar = ui.linear_progress(value=0, show_value=False).props(f'indeterminate aria-label="{label}"')

    def move(self, job: Job) -> None:
        """Show where it is now; how much there is may not be known."""
        share = job.done / job.total if job.total else 0
        self._doing.text = f"{job.doing}{f', {share:.0%}' if job.total else ''} · {job.seconds:.0f} s"
        self._bar.props(remove="indeterminate") if job.total else self._bar.props("indeterminate")
        self._bar.value = share


class JobView:
    """Shows a job in the place where it is made.

    Parameters
    ----------
    job
        What is at work.
    done
        Called once if it was done.
    testid
        Tells it from others.
    always
        Called once when it ended, however that was, before ``done``.
    """

    def __init__(
        self,
        job: Job,
        done: Callable[[Job], Awaitable[None] | None],
        testid: str,
        always: Callable[[], object] = lambda: None,
    ) -> None:
        self._job, self._done, self._always = job, done, always
        with ui.column().classes("w-full gap-2").props(f"data-testid=job-{testid}") as self._place:
            self._line = ProgressLine("progress")
            ui.button("Cancel", icon="stop", on_click=job.cancel).props(f"outline data-testid=cancel-{testid}")
        self._timer = ui.timer(REFRESH_SECONDS, theme.safely(self._refresh))

    async def _refresh(self) -> None:
        job = self._job
        if job.running:
            self._line.move(job)
            return
        self._timer.deactivate()
        self._place.clear()
        with self._place:
            theme.problem_list(job.problems)
            if job.state == "cancelled":
                theme.note("Cancelled. Nothing was changed.", "warn", testid="cancelled")
        self._always()
        if job.state == "done":
            found = self._done(job)
            if inspect.isawaitable(found):
                await found
