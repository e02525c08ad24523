"""The tree on which limits are set: a component of our own that keeps only the rows in view in the page.

The nodes are sent once; after that only what has changed is: marks, and withheld records by node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from nicegui.element import Element
from nicegui.events import GenericEventArguments

Handler = Callable[..., Any]


class LimitTree(Element, component="limit_tree.js"):
    """A tree of values with the line of limits drawn across it.

    Parameters
    ----------
    names, parents
        The nodes in depth-first order, root first, as in :class:`hedgerow.plan.hierarchy.Hierarchy`.
    counts, withheld
        Records at or below every node, and how many of them are withheld.
    marked
        Nodes that are limits.
    label
        What the tree is called to people who do not see it.
    editable, limitable
        Whether rows can be regrouped, and whether limits can be set.
    height
        Height of the rows' box as CSS.
    opened
        Nodes that are open at first; None: as many as fit.
    on_open
        Called with all nodes that are open, when somebody has opened or closed some.
    on_limit
        Called with the node whose limit is to be set or lifted.
    on_move, on_group, on_rename, on_dissolve
        Called with (nodes, parent), (nodes, whether they are the rest), (node) and (node).
    """

    def __init__(
        self,
        names: Sequence[str],
        parents: Sequence[int],
        counts: Iterable[int],
        withheld: Iterable[int],
        marked: Iterable[int] = (),
        *,
        label: str = "Tree of values",
        editable: bool = True,
        limitable: bool = True,
        height: str | None = None,
        opened: Sequence[int] | None = None,
        on_open: Handler | None = None,
        on_limit: Handler | None = None,
        on_move: Handler | None = None,
        on_group: Handler | None = None,
        on_rename: Handler | None = None,
        on_dissolve: Handler | None = None,
    ) -> None:
        super().__init__()
        self._props["nodes"] = _nodes(names, parents, counts, withheld, marked)
        if opened is not None:
            self._props["nodes"]["open"] = list(opened)
        self._props["label"] = label
        self._props["editable"] = editable
        self._props["limitable"] = limitable
        if height is not None:
            self._props["height"] = height
        self._listen("opened", on_open, lambda asked: (_numbers(asked["nodes"]),))
        self._listen("limit", on_limit, lambda asked: (int(asked["node"]),))
        self._listen("move", on_move, lambda asked: (_numbers(asked["nodes"]), int(asked["parent"])))
        self._listen("group", on_group, lambda asked: (_numbers(asked["nodes"]), bool(asked.get("rest"))))
        self._listen("rename", on_rename, lambda asked: (int(asked["node"]),))
        self._listen("dissolve", on_dissolve, lambda asked: (int(asked["node"]),))

    def _listen(self, name: str, handler: Handler | None, read: Callable[[dict[str, Any]], tuple[Any, ...]]) -> None:
        if handler is None:
            return

        def heard(event: GenericEventArguments) -> Any:
            return handler(*read(event.args))

        self.on(name, heard)

    def refresh(self, marked: Iterable[int], withheld: Iterable[int]) -> None:
        """Show other limits and withheld records on the same tree; only what has changed is sent."""
        nodes = self._props["nodes"]
        before, now = set(nodes["marked"]), {int(node) for node in marked}
        counts = [int(count) for count in withheld]
        changed = [node for node, (old, new) in enumerate(zip(nodes["withheld"], counts, strict=True)) if old != new]
        nodes["marked"], nodes["withheld"] = sorted(now), counts  # in place: whoever gets the tree anew gets the news
        news = {
            "mark": sorted(now - before),
            "unmark": sorted(before - now),
            "nodes": changed,
            "withheld": [counts[node] for node in changed],
        }
        self.run_method("refresh", news)

    def show(
        self,
        names: Sequence[str],
        parents: Sequence[int],
        counts: Iterable[int],
        withheld: Iterable[int],
        marked: Iterable[int] = (),
    ) -> None:
        """Show another tree; nodes whose names were open stay open."""
        self._props["nodes"] = _nodes(names, parents, counts, withheld, marked)
        self.update()


def _numbers(nodes: Iterable[Any]) -> list[int]:
    return [int(node) for node in nodes]


def _nodes(
    names: Sequence[str],
    parents: Sequence[int],
    counts: Iterable[int],
    withheld: Iterable[int],
    marked: Iterable[int],
) -> dict[str, Any]:
    return {
        "names": list(names),
        "parents": _numbers(parents),
        "counts": _numbers(counts),
        "withheld": _numbers(withheld),
        "marked": sorted(_numbers(marked)),
    }
