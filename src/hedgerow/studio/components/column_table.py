"""All columns in one table: what they hold, what they are, and why; the roles of many can be changed at once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from nicegui import ui

from hedgerow.plan import Plan
from hedgerow.studio import theme
from hedgerow.studio.advice import Advice, advice_on, remarks_on
from hedgerow.studio.components.roles import ROLES
from hedgerow.studio.limit_changes import in_short
from hedgerow.studio.views import ColumnView

GiveRole = Callable[[Sequence[ColumnView], str], Awaitable[None]]
Follow = Callable[[ColumnView, Advice], Awaitable[None]]
EXAMPLES = 3
HEAD = {
    "name": "column",
    "seen": "what it holds",
    "spread": "distribution",
    "missing": "missing",
    "role": "role",
    "why": "why, and what to decide",
    "limit": "limit",
}
OPTIONS = "".join(f'<option value="{role}">{role}</option>' for role in ROLES)
ROLE_CELL = f"""<q-td :props="props"><select class="role-select" :value="props.row.role"
 :data-testid="'table-role-' + props.row.name" :aria-label="'Role of ' + props.row.name"
 @change="$parent.$emit('role', [props.row.name, $event.target.value])">
<option value="" disabled>not in the plan</option>{OPTIONS}</select></q-td>"""
SPREAD_CELL = """<q-td :props="props"><span class="spark" aria-hidden="true"><i v-for="share in props.row.spread"
 :style="{ height: share + '%' }"></i></span></q-td>"""
TICK = """<q-checkbox dense v-model="props.selected" :aria-label="'Tick ' + props.row.name" />"""
TICK_ALL = """<q-checkbox dense v-model="props.selected" aria-label="Tick all columns" />"""
WHY_CELL = """<q-td :props="props" class="wraps">{{ props.value }}
<div v-if="props.row.advice.length" class="row-advice">
<button v-for="(text, number) in props.row.advice" type="button" class="hr-advice"
 :data-testid="'table-advice-' + props.row.name + '-' + number" :aria-label="props.row.name + ': ' + text"
 @click="$parent.$emit('advice', [props.row.name, number])">{{ text }}</button></div></q-td>"""
TEXT_CELL = """<q-td :props="props" class="wraps">{{ props.value }}</q-td>"""
NAME_CELL = """<q-td :props="props" class="wraps column-name"><b>{{ props.value }}</b></q-td>"""


class ColumnTable:
    """The table.

    Parameters
    ----------
    columns, plan
        What is shown.
    give
        Gives columns a role.
    follow
        Does what is advised about a column.
    """

    def __init__(self, columns: Sequence[ColumnView], plan: Plan, give: GiveRole, follow: Follow) -> None:
        self._columns, self._plan = {column.name: column for column in columns}, plan
        self._give, self._follow = give, follow
        with ui.row().classes("w-full items-end gap-3"):
            search = ui.input("Find a column").props("outlined dense clearable data-testid=find-column")
            self._role = ui.select(ROLES, value="identifier", label="Role of those ticked").classes("w-64")
            self._role.props("outlined dense data-testid=bulk-role")
            button = ui.button("Give it to those ticked", on_click=theme.safely(self._bulk))
            button.props("outline data-testid=bulk-apply")
        heads = [
            {
                "name": name,
                "label": label,
                "field": name,
                "align": "left",
                "sortable": name in ("name", "role", "limit"),
            }
            for name, label in HEAD.items()
        ]
        rows = [row_of(column, plan) for column in columns]
        self._table = ui.table(columns=heads, rows=rows, row_key="name", selection="multiple", pagination=0)
        self._table.classes("w-full column-table").props(
            'flat dense wrap-cells hide-bottom data-testid=column-table aria-label="columns of the table"'
        )
        self._table.bind_filter_from(search, "value")
        self._table.add_slot("header-selection", TICK_ALL)
        self._table.add_slot("body-selection", TICK)
        self._table.add_slot("body-cell-role", ROLE_CELL)
        self._table.add_slot("body-cell-spread", SPREAD_CELL)
        self._table.add_slot("body-cell-name", NAME_CELL)
        self._table.add_slot("body-cell-why", WHY_CELL)
        for name in ("seen", "limit"):
            self._table.add_slot(f"body-cell-{name}", TEXT_CELL)
        self._table.on("role", theme.safely(self._one))
        self._table.on("advice", theme.safely(self._advised))

    async def _one(self, event: Any) -> None:
        name, role = event.args
        if name in self._columns and role in ROLES:
            await self._give([self._columns[name]], role)

    async def _advised(self, event: Any) -> None:
        name, number = event.args
        column = self._columns.get(name)
        advice = list(advice_on(column, self._plan)) if column is not None else []
        if column is not None and 0 <= int(number) < len(advice):
            await self._follow(column, advice[int(number)])

    async def _bulk(self) -> None:
        ticked = [self._columns[row["name"]] for row in self._table.selected if row["name"] in self._columns]
        if not ticked:
            ui.notify("No column is ticked.")
            return
        await self._give(ticked, str(self._role.value))


def row_of(column: ColumnView, plan: Plan) -> dict[str, Any]:
    """Return the cells of a column."""
    attribute = plan.attributes.get(column.name)
    most = max((count for _, count in column.bars), default=0)
    examples = [label for label, _ in column.bars][:EXAMPLES] if column.kind == "categories" else []
    advised = list(advice_on(column, plan))
    decide = [*(advice.text for advice in advised), *remarks_on(column)]
    return {
        "name": column.name,
        "seen": f"{column.seen}: {', '.join(examples)} …" if examples else column.seen,
        "spread": [max(4, round(100 * count / most)) for _, count in column.bars] if most else [],
        "missing": "" if not column.missing else f"{column.missing:.0%}" if column.missing >= 0.005 else "<1%",
        "role": "" if attribute is None else attribute.role,
        "why": " ".join(decide[:2]),
        "advice": [advice.button for advice in advised[:2]],
        "limit": in_short(attribute) if attribute is not None and attribute.role == "quasi-identifier" else "",
    }
