"""The first question of a promise: who gets the release? Each answer fills in numbers, which can be changed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from nicegui import ui

from hedgerow.plan.audiences import AUDIENCES, Audience
from hedgerow.studio import theme
from hedgerow.studio.workbench import Workbench


class AudienceCards:
    """A card for each audience.

    Parameters
    ----------
    bench
        Whose plan is filled in.
    taking
        Makes a handler of a change of the plan; told whether the form is to be built anew.
    """

    def __init__(self, bench: Workbench, taking: Callable[..., Callable[..., Any]]) -> None:
        self._bench, self._taking = bench, taking
        plan = bench.plan
        assert plan is not None
        theme.heading("Who gets the release?")
        with ui.element("div").classes("studio-grid").props('role=group aria-label="Audiences"'):
            for audience in AUDIENCES.values():
                self._card(audience, audience.is_for(plan))
        if not any(audience.is_for(plan) for audience in AUDIENCES.values()):
            ui.label("The numbers below are your own; they match none of the three.").classes("muted small").props(
                "data-testid=own-numbers"
            )

    def _card(self, audience: Audience, chosen: bool) -> None:
        with theme.card().classes("audience chosen" if chosen else "audience"):
            ui.label(audience.title).classes("font-bold")
            ui.label(audience.who).classes("small")
            alike = f"At least {audience.k} alike: a risk of 1 in {audience.k} ({audience.threshold:g})"
            values = f"{audience.values} different sensitive values in every group"
            ui.label(f"{alike}; {values}; up to {audience.withhold} withheld.").classes("small")
            ui.label(audience.source).classes("muted small")
            label = "These numbers hold" if chosen else "Use these numbers"
            button = ui.button(label, on_click=self._taking(partial(self._use, audience), anew=True))
            button.props(f"{'flat' if chosen else 'outline'} no-caps data-testid=audience-{audience.name}")
            button.props["aria-pressed"] = "true" if chosen else "false"
            button.props["aria-label"] = f"{label}: {audience.title}"

    def _use(self, audience: Audience, _: Any) -> tuple[Any, ...]:
        assert self._bench.plan is not None
        return self._bench.change(**audience.keys(self._bench.plan))
