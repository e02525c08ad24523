"""The nodes of the lattice side by side, in a table and a picture, and the release of the one that is chosen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from nicegui import ui

from hedgerow.plan import Plan
from hedgerow.plan.concepts import METHODS, objectives
from hedgerow.reports.charts import scatter
from hedgerow.reports.level_words import levels_in_words
from hedgerow.studio import theme
from hedgerow.studio.background import aside
from hedgerow.studio.components.job_view import JobView
from hedgerow.studio.jobs import Job
from hedgerow.studio.sessions import Session

LISTS = {
    "notable": "Minimal nodes, and the best by each objective",
    "minimal": "Minimal nodes",
    "best": "The best node by each objective",
    "all": "All nodes that satisfy the plan",
}
MOST = 200
COLUMNS = (
    ("number", "node"),
    ("levels", "levels"),
    ("withheld", "withheld"),
    ("groups", "groups"),
    ("smallest", "smallest group"),
    ("loss", "loss (NTIL)"),
    ("ncp", "NCP"),
    ("granularity", "granularity"),
    ("value", "research value"),
    ("marks", ""),
)


class NodeChooser:
    """A card that lists nodes of the lattice and makes the release of one.

    Parameters
    ----------
    session
        Whose plan and table they are of.
    start
        Begins a run by the plan as it is then.
    """

    def __init__(self, session: Session, start: Callable[[], object]) -> None:
        self._session, self._start = session, start
        self._place = ui.column().classes("w-full")
        self.refresh()

    def refresh(self) -> None:
        """Show the card if the plan's method publishes one level of each column."""
        self._place.clear()
        plan = self._session.bench.plan
        if plan is None or "levels" not in METHODS[plan.method.name].options:
            return
        with self._place, theme.card().props("data-testid=nodes"):
            theme.heading("Choose the levels yourself")
            ui.label(
                "A node is one level for each column. All nodes listed satisfy the plan; which of them serves best is "
                "for somebody to say who knows what the data are for. These figures tell about the original records: "
                "they are for your eyes only."
            ).classes("muted small")
            with ui.row().classes("w-full items-center gap-3"):
                self._which = ui.select(LISTS, value="notable", label="Nodes").classes("grow")
                self._which.props("outlined dense data-testid=which-nodes")
                shown = {name: measure.title for name, measure in objectives().items()}
                first = plan.method.objective if plan.method.objective in shown else next(iter(shown))
                self._sort = ui.select(shown, value=first, label="First are those best by").classes("grow")
                self._sort.props("outlined dense data-testid=sort-nodes")
                self._button = ui.button(
                    "List the nodes", icon="format_list_numbered", on_click=theme.safely(self._list)
                )
                self._button.props("outline data-testid=list-nodes")
            self._found = ui.column().classes("w-full gap-3")
        job = self._session.bench.nodes_job()
        if job is not None and job.running:
            self._watch(job)
        elif job is not None and job.result:
            self._show(job)

    def _list(self) -> None:
        self._watch(self._session.bench.look_at_nodes(str(self._which.value), str(self._sort.value), MOST))

    def _watch(self, job: Job) -> None:
        self._button.set_enabled(False)
        self._found.clear()
        with self._found:
            JobView(job, self._show, "nodes", always=lambda: self._button.set_enabled(True))

    def _show(self, job: Job) -> None:
        plan = self._session.bench.plan
        assert plan is not None
        view, self._found_nodes = job.result, {node["number"]: node for node in job.result["listed"]}
        self._found.clear()
        with self._found:
            ui.label(said_of(view)).classes("muted small").props("data-testid=nodes-said")
            if not view["listed"]:
                theme.note("No node satisfies the plan: allow more records to be withheld, or ask for less.", "warn")
                return
            theme.chart(picture(view))
            self._table(view, plan)
            with ui.row().classes("w-full items-center gap-3"):
                names = {
                    number: f"{number}. {levels_in_words(plan, node['levels'])}"
                    for number, node in self._found_nodes.items()
                }
                self._chosen = ui.select(names, value=1, label="Node").classes("grow")
                self._chosen.props("outlined dense data-testid=chosen-node")
                ui.button("Make the release of this node", icon="play_arrow", on_click=theme.safely(self._make)).props(
                    "unelevated data-testid=make-node"
                )

    def _table(self, view: Mapping[str, Any], plan: Plan) -> None:
        numbers = {"levels", "marks"}
        columns = [
            {
                "name": name,
                "label": label,
                "field": name,
                "sortable": name != "marks",
                "align": "left" if name in numbers else "right",
            }
            for name, label in COLUMNS
        ]
        table = ui.table(columns=columns, rows=[row_of(node, plan) for node in view["listed"]], row_key="number")
        table.classes("w-full studio-scroll").props('flat dense wrap-cells data-testid=node-table aria-label="nodes"')
        table.on("row-click", lambda event: self._chosen.set_value(event.args[1]["number"]), [[], ["number"], None])

    async def _make(self) -> None:
        node = self._found_nodes[self._chosen.value]
        theme.refuse(await aside(self._session.bench.choose_levels, node["levels"]))
        self._start()


class ChosenLevels:
    """Says which levels the plan chooses, and lets somebody have them searched again."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._place: ui.column | None = None

    def show(self) -> None:
        """Make the place for it."""
        self._place = ui.column().classes("w-full gap-1").props("aria-live=polite data-testid=chosen-levels")
        self.refresh()

    def refresh(self) -> None:
        """Say what is so now."""
        plan = self._session.bench.plan
        if self._place is None or plan is None:
            return
        self._place.clear()
        if plan.method.levels is None:
            return
        with self._place, ui.row().classes("w-full items-center gap-3"):
            ui.label(f"The plan chooses these levels: {levels_in_words(plan, plan.method.levels)}.")
            ui.button("Search the levels again", icon="search", on_click=theme.safely(self._search)).props(
                "flat data-testid=search-levels"
            )

    async def _search(self) -> None:
        plan = self._session.bench.plan
        assert plan is not None
        method = {name: part for name, part in plan.to_dict()["method"].items() if name != "levels"}
        theme.refuse(await aside(lambda: self._session.bench.change(method=method)))
        self.refresh()


def row_of(node: Mapping[str, Any], plan: Plan) -> dict[str, Any]:
    """Return the cells of a node, by column."""
    numbers = {name: round(node[name], 4) for name in ("number", "withheld", "groups", "smallest", "value")}
    scores = {name: round(node["scores"][name], 4) for name in ("loss", "ncp", "granularity")}
    marks = [f"best by {', '.join(node['best_for'])}"] if node["best_for"] else []
    marks += ["minimal"] if node["minimal"] else []
    marks += ["chosen by the plan"] if node["chosen"] else []
    return {**numbers, **scores, "levels": levels_in_words(plan, node["levels"]), "marks": "; ".join(marks)}


def said_of(view: Mapping[str, Any]) -> str:
    """Say how many nodes there are, and how many are not listed."""
    text = (
        f"{view['satisfying']:,} of {view['nodes']:,} nodes satisfy the plan, {view['minimal_nodes']:,} of them "
        f"minimal; {view['budget']:,} of {view['records']:,} records may be withheld."
    )
    if view["left_out"]:
        text += f" {view['left_out']:,} more are not listed"
        text += "." if view["in_order"] else ", and some of them may come before these."
    return text


def picture(view: Mapping[str, Any]) -> str:
    """Draw what each node loses, or is worth, against what it withholds."""
    by_value = view["sort"] == "research-value"
    points = [
        {
            "x": node["withheld"],
            "y": node["value"] if by_value else node["scores"]["loss"],
            "label": str(node["number"]),
            "series": "best" if node["best_for"] else "minimal" if node["minimal"] else "others",
        }
        for node in view["listed"]
    ]
    what = "research value (up is better)" if by_value else "loss, NTIL (down is better)"
    return scatter(points, title="Nodes by their numbers", x="records withheld (left is better)", y=what)
