"""Whether k is within reach, drawn for a terminal."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from hedgerow.reports.terminal.parts import and_more, bar, titled
from hedgerow.reports.wording import exact_percent

LEVELS = " ▁▂▃▄▅▆▇█"
MOST_SHOWN = 12


# -- made-up attributes ----------------------------------------------------------------------------------------------


def reach_summary(found: Mapping[str, Any]) -> RenderableType:
    """Show the chances of numbers of records over made-up attributes."""
    lines = Table.grid(padding=(0, 2))
    if found["frequencies"] is None:
        lines.add_row("attributes", _attributes(found["values"]))
    else:
        lines.add_row("attributes", f"{len(found['values']):,}, with values of given frequencies")
        rarest = math.prod(min(shares) for shares in found["frequencies"])
        lines.add_row("the rarest", f"combination has {rarest:.2g} of the records")
    lines.add_row("combinations", _count(found["cells"]))
    or_none = ", or none" if found["empty_allowed"] else ""
    lines.add_row("asked", f"every combination has {found['k']} records or more{or_none}")
    methods = {attempt["chance"]["method"] for attempt in found["attempts"] if attempt["chance"] is not None}
    if methods:
        lines.add_row("computed", ", ".join(sorted(methods)))
    parts: list[RenderableType] = [_reach_sentence(found), Text(), lines]
    if found["attempts"]:
        parts += [Text(), _attempts(found["attempts"])]
    table = titled("records needed", numbers=("for a chance of", "records", "per combination"))
    for needed in found["needed"]:
        asked = "bold" if needed["chance"] == found["chance"] else ""
        enough = needed["records"]
        each = "" if enough is None else f"{enough / found['cells']:,.1f}"
        table.add_row(exact_percent(needed["chance"]), _needed(enough), each, style=asked)
    parts += [Text(), table]
    if found["curve"]:
        parts += [Text(), *_curve(found["curve"])]
    return Group(*parts)


def _reach_sentence(found: Mapping[str, Any]) -> Text:
    cells = "the one combination" if found["cells"] == 1 else f"every one of {_count(found['cells'])} combinations"
    unless = ", unless it is empty," if found["empty_allowed"] else ""
    reached = f"k = {found['k']} in {cells}{unless} with a chance of {exact_percent(found['chance'])}"
    return Text(f"It takes {_needed(found['records_needed'])} records to have {reached}.", style="bold")


def _attributes(values: Sequence[int]) -> str:
    same = set(values)
    if len(same) > 1:
        return f"{len(values)}, with {', '.join(map(str, values))} equally likely values"
    value = f"{values[0]:,} equally likely value" + ("" if values[0] == 1 else "s")
    return f"{len(values):,}, with {value}" + (" each" if len(values) > 1 else "")


def _attempts(attempts: Iterable[Mapping[str, Any]]) -> Table:
    table = Table(box=None, padding=(0, 2))
    table.add_column("records", justify="right", no_wrap=True)
    table.add_column("chance", justify="right", no_wrap=True)
    table.add_column("", min_width=10)
    if any(attempt["simulated"] is not None for attempt in attempts):
        table.add_column("drawn", justify="right", no_wrap=True)
        table.add_column("95% interval", no_wrap=True)
    for attempt in attempts:
        chance, tried = attempt["chance"], attempt["simulated"]
        cells: list[RenderableType] = [f"{attempt['records']:,}"]
        if chance is None:
            cells += ["not computed", bar(tried["rate"], 10)]
        else:
            cells += [_chance(chance), bar(chance["probability"], 10)]
        if tried is not None:
            cells.append(f"{tried['successes']:,} of {tried['repetitions']:,}")
            cells.append(f"{exact_percent(tried['low'])} – {exact_percent(tried['high'])}")
        table.add_row(*cells)
    return table


def _curve(curve: Sequence[tuple[int, float]]) -> tuple[Text, Text]:
    """Draw the chance against the number of records as one line of blocks."""
    blocks = "".join(LEVELS[min(len(LEVELS) - 1, round(chance * (len(LEVELS) - 1)))] for _, chance in curve)
    first, last = f"{curve[0][0]:,}", f"{curve[-1][0]:,}"
    return Text("chance by number of records"), Text(f"  {first} ") + Text(blocks, style="green") + Text(f" {last}")


def _chance(chance: Mapping[str, Any]) -> str:
    """Write a chance so that neither a tiny one nor a near-certain one looks like nothing or everything."""
    if chance["log10_probability"] is None:
        return "nil"
    if chance["probability"] < 1e-4:
        power = chance["log10_probability"]
        return f"10^{power:,.1f}"
    return exact_percent(chance["probability"])


# -- a table at hand -------------------------------------------------------------------------------------------------


def table_reach_summary(found: Mapping[str, Any]) -> RenderableType:
    """Show how far a table is from k, and what would help."""
    sentences = [Text(_table_sentence(found, reach), style="bold") for reach in found["reaches"]]
    lines = Table.grid(padding=(0, 2))
    counted = f"{found['records']:,}"
    if found["counted"] == "persons":
        counted += f" of {found['people']:,} persons; groups are counted in persons"
    lines.add_row("records", counted)
    if found["without_leaf"]:
        lines.add_row("not counted", f"{found['without_leaf']:,} records with a value that has no leaf")
    now = found["reaches"][0]["now"]
    lines.add_row("columns", ", ".join(found["columns"]))
    lines.add_row("combinations", f"{now['groups']:,} that occur")
    lines.add_row("tolerated", f"{exact_percent(found['share'])} of records in smaller groups")
    lines.add_row(
        "not seen yet",
        Text(f"{exact_percent(now['unseen_share'])} of further records would have a combination that nobody has here"),
    )
    parts: list[RenderableType] = [*sentences, Text(), lines, Text(), _changes(found)]
    for reach in found["reaches"]:
        if len(reach["drops"]) > 1:
            parts += [Text(), _drops(found, reach)]
    note = (
        "Values are taken as they stand: a release coarsens them group by group and may keep every column. "
        "Records needed are estimates; far beyond what is at hand they are too low."
    )
    return Group(*parts, Text(), Text(note, style="dim"))


def _table_sentence(found: Mapping[str, Any], reach: Mapping[str, Any]) -> str:
    now, k, records = reach["now"], reach["k"], found["records"]
    columns = "this column" if len(found["columns"]) == 1 else f"these {len(found['columns'])} columns"
    smaller = f"{exact_percent(now['share_below'])} of them are in groups of fewer than {k}"
    if now["enough"]:
        return f"With {columns}, k = {k} is within reach (you have {records:,} records: {smaller})."
    needed = now["records_needed"]
    if needed is None:
        needs = f"more than {1000 * records:,} records"
    elif needed <= 5 * records:
        needs = f"about {_roughly(needed)} records"
    else:
        needs = f"{_roughly(needed)} records or more"  # so far away the estimate is known to be low
    return f"With {columns}, k = {k} needs {needs} (you have {records:,}: {smaller}). {_advice(reach)}"


def _advice(reach: Mapping[str, Any]) -> str:
    """Name the mildest change that is enough: one column coarser, one column less, or several less."""
    enough = [change for change in reach["changes"] if change["outlook"]["enough"]]
    coarser = [change for change in enough if change["level"] is not None]
    dropped = [change for change in enough if change["level"] is None]
    ways = []
    if coarser:
        best = min(coarser, key=lambda change: (change["level"], change["outlook"]["share_below"]))
        ways.append(f"coarsening '{best['column']}' to level {best['level']}")
    if dropped:
        best = min(dropped, key=lambda change: float(change["outlook"]["share_below"]))
        ways.append(f"dropping '{best['column']}'")
    if not ways and reach["drops"] and reach["drops"][-1]["outlook"]["enough"]:
        names = [f"'{drop['column']}'" for drop in reach["drops"]]
        shown = ", ".join(names) if len(names) <= 6 else ", ".join(names[:5]) + f" and {len(names) - 5} more"
        ways.append(f"dropping {shown}")
    if not ways:
        return "There are fewer than k in the whole table."
    text = " or ".join(ways) + " gets you there."
    return text[0].upper() + text[1:]


def _changes(found: Mapping[str, Any]) -> RenderableType:
    """List single changes, those that leave least below the first k first."""
    reaches = found["reaches"]
    single = len(reaches) == 1
    table = titled("single changes that help most: records in groups of fewer than k", "column")
    table.add_column("change", no_wrap=True)
    table.add_column("groups", justify="right")
    for reach in reaches:
        table.add_column(f"k = {reach['k']}", justify="right", no_wrap=True)
    if single:
        table.add_column("records needed", justify="right")

    def row(column: str, change: str, outlooks: list[Mapping[str, Any]], style: str = "") -> None:
        cells: list[RenderableType] = [column, change, f"{outlooks[0]['groups']:,}"]
        cells += [_below(outlook) for outlook in outlooks]
        if single:
            cells.append(_times(outlooks[0]["records_needed"], found["records"]))
        table.add_row(*cells, style=style)

    row("", "as it stands", [reach["now"] for reach in reaches], "dim")
    groups = reaches[0]["now"]["groups"]
    helpful = [
        changes
        for changes in zip(*(reach["changes"] for reach in reaches), strict=True)
        if changes[0]["outlook"]["groups"] < groups
    ]
    helpful.sort(
        key=lambda changes: [*(one["outlook"]["share_below"] for one in changes), changes[0]["outlook"]["groups"]]
    )
    for changes in helpful[:MOST_SHOWN]:
        what = "drop" if changes[0]["level"] is None else f"level {changes[0]['level']}"
        row(changes[0]["column"], what, [change["outlook"] for change in changes])
    if not helpful:
        return Text("No single change brings any two groups together.")
    return Group(table, *and_more(len(helpful) - MOST_SHOWN))


def _below(outlook: Mapping[str, Any]) -> Text:
    share = exact_percent(outlook["share_below"])
    return Text(f"{share} ✓", style="green") if outlook["enough"] else Text(f"{share}  ")


def _drops(found: Mapping[str, Any], reach: Mapping[str, Any]) -> Table:
    table = titled("dropping one after the other: records in groups of fewer than k", "drop", numbers=("groups",))
    table.add_column(f"k = {reach['k']}", justify="right", no_wrap=True)
    table.add_column("", min_width=10)
    table.add_column("records needed", justify="right")
    for drop in reach["drops"]:
        after = drop["outlook"]
        needed = _times(after["records_needed"], found["records"])
        table.add_row(drop["column"], f"{after['groups']:,}", _below(after), bar(after["share_below"], 10), needed)
    return table


# -- numbers ---------------------------------------------------------------------------------------------------------


def _count(number: int) -> str:
    return f"{number:,}" if number < 10**18 else f"about {number:.1e}"


def _needed(records: int | None) -> str:
    return "more than 10^15" if records is None else f"{records:,}"


def _times(needed: int | None, records: int) -> str:
    return f"> {1000 * records:,}" if needed is None else _roughly(needed)


def _roughly(number: int) -> str:
    """Write an estimate with the digits it deserves.

    Examples
    --------
    >>> _roughly(493622), _roughly(86)
    ('490,000', '86')
    """
    return f"{round(number, 2 - len(str(number))):,}"
