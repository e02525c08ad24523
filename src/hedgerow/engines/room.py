"""Whether there is room for what comes to this process where work is not done block by block: told before the work."""

from __future__ import annotations

from collections.abc import Sequence

from hedgerow.engines.spread.session import TaskSession
from hedgerow.engines.sql import SqlSource
from hedgerow.errors import DataError, Problem
from hedgerow.outside.memory import available_memory
from hedgerow.plan import Plan

COMBINATION = 350
"""Bytes of memory for each different combination of quasi-identifiers and sensitive values, where work is done here."""
HINT = "coarsen columns of many values, or plan a method that works block by block: cluster, partition"


def check_room(session: TaskSession, plan: Plan, also: Sequence[str] = ()) -> None:
    """Count about how many combinations there are, and refuse what cannot fit into memory.

    Raises
    ------
    DataError
        ``no-memory``.
    """
    available = available_memory()
    if available is None:
        return
    counted = session.ask(SqlSource(session, plan).about_distinct(session.fingerprints, also))
    need = COMBINATION * int(counted.column("n")[0].as_py())
    if need > available:
        message = f"This plan needs some {need / 1e9:.1f} GB of memory, and {available / 1e9:.1f} GB are free."
        raise DataError(Problem("no-memory", message, session.place, HINT))
