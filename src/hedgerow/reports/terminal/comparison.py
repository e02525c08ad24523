"""A comparison of methods, drawn for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from hedgerow.reports.terminal.tree import tree_view, trees_side_by_side
from hedgerow.reports.wording import worths_mark, worths_note

PURE = 0.9


def comparison_summary(found: Mapping[str, Any], trees: bool = False) -> RenderableType:
    """Show methods side by side, k by k; with a target, what its tree finds and whether it is the original's."""
    parts: list[RenderableType] = []
    if found["original"] is not None:
        parts += [tree_view(found["original"], "decision tree of the original records"), Text()]
    for k in dict.fromkeys(run["k"] for run in found["runs"]):
        runs = [run for run in found["runs"] if run["k"] == k]
        parts += [*_measures(runs, k), Text()]
        if any(run.get("analyses") for run in runs):
            parts += [_analyses(runs, k), Text()]
        if found["original"] is not None:
            parts += [_buckets(found["original"], runs, k), Text()]
    for run in found["runs"]:
        if trees and run.get("tree") is not None:
            title = Text(f"{run['method']}, k = {run['k']}", style="bold")
            parts += [title, trees_side_by_side(found["original"], run["tree"])]
    note = worths_note([run for run in found["runs"] if "problem" not in run])
    parts += [Text(note, style="yellow")] if note else []
    problems = [run for run in found["runs"] if "problem" in run]
    parts += [Text(f"{run['method']}, k = {run['k']}: {run['problem']}", style="yellow") for run in problems]
    parts.append(Text("This tells about the original records: keep it to yourself.", style="dim"))
    return Group(*parts)


def _measures(runs: Sequence[Mapping[str, Any]], k: int) -> Iterator[RenderableType]:
    """Two tables that fit a narrow terminal: what every release loses, and what it keeps and risks."""
    hides = any(run.get("suppressed_cells") for run in runs)
    yield _table(
        f"k = {k}: what is lost",
        ("groups", "withheld", *(("cells hidden",) if hides else ()), "research value", "mean of groups", "NTIL"),
        ((_name(run), _losses(run, hides)) for run in runs),
    )
    yield Text()
    yield _table(
        f"k = {k}: what is kept, and what is risked",
        ("query error", "distribution", "rules kept", "average risk", "highest risk"),
        ((_name(run), _kept(run)) for run in runs),
    )


def _analyses(runs: Sequence[Mapping[str, Any]], k: int) -> Table:
    """How much of the intervals of every regression overlaps, and how well rows are told from those of the original."""
    formulas = [one["formula"] for run in runs if run.get("analyses") for one in run["analyses"]["regressions"]]
    names = tuple(dict.fromkeys(formulas))

    def cells(run: Mapping[str, Any]) -> list[str] | None:
        found = run.get("analyses")
        if found is None:
            return None
        overlaps = [f"{one['overlap']:.0%}" for one in found["regressions"]]
        return [*overlaps, f"{found['propensity']['ratio']:.1f}"]

    title = f"k = {k}: how much of the intervals overlaps; pMSE over chance"
    table = _table(title, (), iter(()))
    for name in (*names, "pMSE"):
        table.add_column(name, justify="right", overflow="fold")
    for run in runs:
        found = cells(run)
        table.add_row(_name(run), *([Text("none", style="yellow")] if found is None else found))
    return table


def _name(run: Mapping[str, Any]) -> str:
    search = run.get("search")
    return (
        run["method"]
        if search is None or search["proven"] or search["name"] == "local"
        else f"{run['method']} (unproven)"
    )


def _table(title: str, names: Sequence[str], rows: Iterator[tuple[str, Sequence[str] | None]]) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=None, padding=(0, 1))
    table.add_column("method", no_wrap=True)
    for name in names:
        table.add_column(name.replace(" ", "\n"), justify="right", no_wrap=True)
    for method, cells in rows:
        table.add_row(method, *([Text("none", style="yellow")] if cells is None else cells))
    return table


def _losses(run: Mapping[str, Any], hides: bool) -> list[str] | None:
    if "problem" in run:
        return None
    measures, given = run["measures"], worths_mark(run)
    return [
        f"{run['groups']:,}",
        f"{run['withheld']:,}",
        *([f"{run['suppressed_cells']:,}"] if hides else []),
        f"{measures['research_value']:.4f}{given}",
        f"{measures['mean_group_value']:.4f}{given}",
        f"{measures['ntil']:.4f}",
    ]


def _kept(run: Mapping[str, Any]) -> list[str] | None:
    if "problem" in run:
        return None
    apart = [distance["total_variation"] for distance in run["distances"].values()]
    risks, rules = run["risks"]["prosecutor"], run["rules"]
    return [
        f"{run['queries']['median']:.1%}",
        f"{sum(apart) / len(apart):.4f}",
        f"{sum(rule['kept'] for rule in rules)} of {len(rules)}" if rules else "",
        f"{risks['average']:.4f}",
        f"{risks['highest']:.3f}",
    ]


def _buckets(original: Mapping[str, Any], runs: Sequence[Mapping[str, Any]], k: int) -> Table:
    """Show, class by class, the largest pure leaf of every tree: how many people, which conditions, how pure."""
    title = Text(f"where {original['target']} can be told, k = {k}", style="bold")
    table = Table(title=title, title_justify="left", box=None)
    table.add_column("method", no_wrap=True)
    table.add_column("records told", justify="right")
    table.add_column("first splits", overflow="fold")
    for name in original["classes"]:
        table.add_column(f"most {name}", overflow="fold")
    for name, tree in (("original", original), *((run["method"], run.get("tree")) for run in runs)):
        if tree is None:
            table.add_row(name, Text("none", style="yellow"))
            continue
        purest = (_purest(tree, wanted) for wanted in original["classes"])
        table.add_row(name, _told(tree), ", ".join(_splits(tree)), *purest)
    return table


def _told(tree: Mapping[str, Any]) -> str:
    """How many records the tree looks at; those whose target is coarsened or missing cannot be told."""
    lost = sum(tree["left_out"].get(reason, 0) for reason in ("coarsened", "missing"))
    return f"{tree['records']:,}" + (f" (not told: {lost:,})" if lost else "")


def _splits(tree: Mapping[str, Any]) -> Iterator[str]:
    """The cuts from the root down along the larger side."""
    node = tree["root"]
    while "split" in node:
        split = node["split"]
        shown = split["shown"] if split["kind"] == "ordered" else "/".join(split["labels"][:2])
        yield f"{split['column']} {shown}"
        node = max(node["yes"], node["no"], key=lambda side: side["size"])


def _purest(tree: Mapping[str, Any], wanted: str) -> str:
    leaves = [leaf for leaf in tree["leaves"] if leaf["majority"] == wanted and leaf["conditions"]]
    if not leaves:
        return "–"
    pure = [leaf for leaf in leaves if leaf["purity"] >= PURE]
    best = max(pure, key=lambda leaf: leaf["size"]) if pure else max(leaves, key=lambda leaf: leaf["purity"])
    return f"{best['size']:,} · {', '.join(best['conditions'])} · {best['purity']:.1%}"
