"""A bar that says what the plan comes to before any run: blocks, withheld records, greatest loss."""

from __future__ import annotations

from collections.abc import Callable

from nicegui import ui

from hedgerow.anonymization.explanation import Outlook
from hedgerow.errors import HedgerowError
from hedgerow.studio import theme
from hedgerow.studio.background import aside
from hedgerow.studio.workbench import Workbench


class OutlookBar:
    """Shows the outlook of a workbench, and how it changed since the last time.

    Parameters
    ----------
    bench
        Whose plan it is of.
    judged
        Called with the reason why no release can be made; empty if one can, as far as is known.
    """

    def __init__(self, bench: Workbench, judged: Callable[[str], object] = lambda _: None) -> None:
        self._bench, self._judged = bench, judged
        self._before: Outlook | None = None
        self._asked = 0
        with theme.bar(), ui.column().classes("feedback gap-1"):
            self._obstacles = ui.column().classes("w-full gap-1").props("aria-live=polite")
            self._tiles = ui.element("div").classes("tiles").props("aria-live=polite data-testid=outlook")
        with self._tiles:
            theme.tile("what the limits come to", "…")

    async def refresh(self) -> Outlook | None:
        """Work the outlook out anew and show it; of several at a time only the last is shown."""
        self._asked += 1
        mine = self._asked
        try:
            found = await aside(self._bench.outlook)
        except HedgerowError as error:
            if mine == self._asked:
                self._tiles.clear()
                self._obstacles.clear()
                with self._obstacles:
                    theme.problem_list(error.problems)
                self._judged(error.problems[0].message if error.problems else "The table does not fit the plan.")
            return None
        if mine == self._asked:
            self._show(found)
            self._judged(" ".join(found.obstacles()))
        return found

    def _show(self, found: Outlook) -> None:
        before, self._before = self._before, found
        self._obstacles.clear()
        with self._obstacles:
            for text in found.obstacles():
                theme.note(text, "bad", testid="obstacle")
            if found.others_may_not_fit:
                text = "With l, t or alpha more records may fit no group: only a run tells how many."
                ui.label(text).classes("small muted")
        share = found.withheld / found.records if found.records else 0
        allowed = "no cap is set" if found.allowed is None else f"{found.allowed:,} allowed"
        self._tiles.clear()
        with self._tiles:
            theme.tile(
                "blocks",
                f"{found.blocks:,}",
                "blocks",
                _change(None if before is None else before.blocks, found.blocks),
            )
            theme.tile(
                "must be withheld",
                f"{found.withheld:,}",
                "withheld",
                f"{share:.2%}, {allowed}{_change(None if before is None else before.withheld, found.withheld, ' · ')}",
            )
            theme.tile(
                "loss at most",
                f"{found.most_loss:.4f}",
                "loss-bound",
                _change(None if before is None else before.most_loss, found.most_loss),
            )
            for condition in found.conditions:
                theme.tile(
                    f"groups with {condition.p} different values, at most",
                    f"{condition.max_groups:,}",
                    "",
                    f"up to {condition.max_p:,} values could be asked for",
                )


def _change(before: int | float | None, now: int | float, first: str = "") -> str:
    if before is None or before == now:
        return ""
    step = now - before
    sign = "▲" if step > 0 else "▼"
    return f"{first}{sign} {abs(step):,.4f}" if isinstance(now, float) else f"{first}{sign} {abs(step):,}"
