"""What a person does to a limit on a screen, as what then stands in the plan. No screen here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from hedgerow.microdata import FreeColumn, QuasiIdentifier
from hedgerow.microdata.columns import spellings
from hedgerow.plan import Attribute, Limit, Plan
from hedgerow.plan.hierarchy import Hierarchy, editing, limits
from hedgerow.plan.hierarchy.numbers import Number, number_label
from hedgerow.reports.level_words import level_words, limit_words

NAMES_SHOWN = 3
RAISE = "raise the level to "


def changed_parts(before: Plan | None, after: Plan | None) -> str:
    """Name the columns and the other keys in which two plans differ."""
    if before is None or after is None:
        return ""
    old, new = before.to_dict(), after.to_dict()
    columns = [name for name in new["attributes"] if new["attributes"][name] != old["attributes"].get(name)]
    others = [name for name in {**old, **new} if name != "attributes" and old.get(name) != new.get(name)]
    return ", ".join([*columns, *others])


def in_short(attribute: Attribute, examples: Sequence[str] = ()) -> str:
    """Say the limit of a column in a few words; ``examples``: what a value of it is on each level, if that is known.

    Examples
    --------
    >>> in_short(Attribute(role="quasi-identifier", hierarchy={"dates": ["month", "year"]}, limit=Limit(level=2)))
    'at most the year'
    >>> in_short(Attribute(role="quasi-identifier", limit=Limit(nodes=("a", "b", "c", "d", "e"))))
    '5 limits: a, b, c …'
    >>> in_short(Attribute(role="quasi-identifier", intervals="free", limit=Limit(cuts=(50_000,), width=40_000)))
    'cut at 50,000; width up to 40,000'
    """
    limit = attribute.limit
    if limit is None:
        return "no limit"
    if limit.values is not None:
        return f"sets of {limit.values:,} values at most"
    if limit.nodes is None:
        cuts = ["cut at " + ", ".join(f"{cut:,}" for cut in limit.cuts)] if limit.cuts else []
        width = [] if limit.width is None else [f"width up to {limit.width:,}"]
        if limit.level is None:
            return "; ".join(cuts + width)
        return limit_words(attribute, examples)
    if len(limit.nodes) == 1:
        return f"limit: {limit.nodes[0]}"
    more = " …" if len(limit.nodes) > NAMES_SHOWN else ""
    return f"{len(limit.nodes):,} limits: {', '.join(limit.nodes[:NAMES_SHOWN])}{more}"


def names_of(limit: Limit | None, hierarchy: Hierarchy) -> list[str]:
    """Name the nodes of a limit; those of a level are written out."""
    if limit is None:
        return []
    if limit.level is None:
        return list(limit.nodes or ())
    return node_names(hierarchy, limits.nodes_by_level(hierarchy, limit.level))


def node_names(hierarchy: Hierarchy, nodes: Iterable[int]) -> list[str]:
    """Name nodes, each label once, without the leaf for missing values, which no plan can name."""
    names = dict.fromkeys(hierarchy.names[node] for node in nodes)
    return [name for name in names if not name.startswith(editing.NOT_OF_THE_PLAN)]


def toggled(limit: Limit | None, hierarchy: Hierarchy, node: int) -> list[str] | None:
    """Set a limit at a node, or lift the one that is there; None is no limit at all.

    A limit by level becomes one by names first, and then loses or gains the node.

    Examples
    --------
    >>> place = Hierarchy.from_tree({"US": {"West": ["Reno", "Elko"], "Midwest": ["Wichita"]}})
    >>> toggled(Limit(level=1), place, place.node("West")), toggled(None, place, place.node("West"))
    (['Midwest'], ['West'])
    """
    name = hierarchy.names[node]
    before = names_of(limit, hierarchy)
    after = [other for other in before if name not in spellings(other)]
    if len(after) == len(before):
        after.append(name)
    return after or None


def carried(limit: Limit | None, before: Hierarchy | None, after: Hierarchy | None) -> Any:
    """Return the limit of a column whose tree has changed, as plain data; None if there is none to carry over.

    Examples
    --------
    >>> place = Hierarchy.from_tree({"US": {"West": {"Nevada": ["Reno"]}, "Midwest": ["Wichita"]}})
    >>> carried(Limit(nodes=("West",)), place, editing.dissolve(place, place.node("West")))
    ['Nevada']
    >>> carried(Limit(level=3), place, Hierarchy.flat(["Reno", "Wichita"]))
    {'level': 1}
    """
    if limit is None or before is None or after is None:
        return None
    if limit.level is not None:
        return {"level": min(limit.level, after.height)}
    names = editing.carried_limits(before, after, limit.nodes or ())
    return [name for name in names if any(spelled in after for spelled in spellings(name))] or None


def of_numbers(cuts: Iterable[Number], width: Number | None) -> dict[str, Any] | None:
    """Return a limit of free intervals as plain data.

    Examples
    --------
    >>> of_numbers([65, 18], None), of_numbers([], 10), of_numbers([], None)
    ({'cuts': [18, 65]}, {'width': 10}, None)
    """
    parts: dict[str, Any] = {"cuts": sorted(set(cuts))} if cuts else {}
    return parts | ({} if width is None else {"width": width}) or None


def change_words(attribute: Attribute, change: str, examples: Sequence[str] = ()) -> str:
    """Say a change of an explanation's lifts with levels in words.

    Examples
    --------
    >>> age = Attribute(role="quasi-identifier", hierarchy={"bands": [5, 10]})
    >>> change_words(age, "raise the level to 2"), change_words(age, "lift '30-39'")
    ('at most bands of 10', "lift '30-39'")
    """
    level = change.removeprefix(RAISE)
    return change if level == change else f"at most {level_words(attribute, int(level), examples)}"


def lifted(column: QuasiIdentifier, limit: Limit | None, change: str) -> tuple[bool, Any]:
    """Find the limit that a change would leave, in the words of an explanation's lifts.

    Returns
    -------
    Whether the change is one of this limit, and the limit then, as plain data.
    """
    ways: dict[str, Any] = {}
    if limit is None:
        return False, None
    if isinstance(column, FreeColumn):
        for cut in column.cuts:
            left = [other for other in column.cuts if other != cut]
            ways[f"remove the cut at {number_label(cut)}"] = of_numbers(left, column.width)
        if column.width is not None:
            ways[f"widen to {number_label(2 * column.width)}"] = of_numbers(column.cuts, 2 * column.width)
            ways["remove the width"] = of_numbers(column.cuts, None)
    elif limit.values is not None:
        ways[f"allow {2 * limit.values} values"] = {"values": 2 * limit.values}
        ways["remove the greatest number of values"] = None
    elif limit.level is not None:
        for level in range(limit.level + 1, column.hierarchy.height + 1):
            ways[f"{RAISE}{level}"] = {"level": level}
    else:
        for node in column.marked:
            ways[f"lift {column.hierarchy.names[node]!r}"] = toggled(limit, column.hierarchy, node)
        ways["remove all its limits"] = None
    return change in ways, ways.get(change)
