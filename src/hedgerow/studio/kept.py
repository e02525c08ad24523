"""What somebody has opened, chosen and typed on the screens: it outlives changes of screens and reloads of a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(eq=False)
class Kept:
    """What is kept of the screens of a session.

    Attributes
    ----------
    typed
        What stands in forms that are not sent yet, by field.
    unfolded
        Parts of screens that somebody has opened or closed, by name.
    data_view
        How columns are shown, as cards or in a table; empty: nobody has said.
    column
        The column whose limits are looked at; empty: none so far.
    run
        The number of the run that is looked at; None: the newest.
    """

    typed: dict[str, str] = field(default_factory=dict)
    unfolded: dict[str, bool] = field(default_factory=dict)
    data_view: str = ""
    column: str = ""
    run: int | None = None
    _nodes: dict[str, tuple[int, list[int]]] = field(default_factory=dict)

    def note_open_nodes(self, column: str, size: int, nodes: Sequence[int]) -> None:
        """Keep which nodes of a column's tree are open; ``size``: how many nodes it has."""
        self._nodes[column] = size, [node for node in nodes if 0 <= node < size]

    def open_nodes(self, column: str, size: int) -> list[int] | None:
        """Return the nodes of a column's tree that somebody left open; None: nobody has, or it is another tree.

        Examples
        --------
        >>> kept = Kept()
        >>> kept.note_open_nodes("city", 9, [0, 4])
        >>> kept.open_nodes("city", 9), kept.open_nodes("city", 8)
        ([0, 4], None)
        """
        known, nodes = self._nodes.get(column, (size, None))
        return nodes if known == size else None
