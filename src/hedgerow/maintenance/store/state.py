"""From events to what was true after them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa


def latest(events: pa.Table, by: str) -> pa.Table:
    """Keep the last event of each name.

    Parameters
    ----------
    events
        Events in the order of their versions.
    by
        The column that says whom or what an event is about.

    Returns
    -------
    pyarrow.Table
        The last event of each, in the order of ``events``.

    Examples
    --------
    >>> import pyarrow as pa
    >>> events = pa.table({"version": [1, 1, 2], "key": ["a", "b", "a"], "cluster": [0, 0, 7]})
    >>> latest(events, "key").to_pydict()
    {'version': [1, 2], 'key': ['b', 'a'], 'cluster': [0, 7]}
    """
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    versions = events["version"].to_numpy()
    cut = int(np.searchsorted(versions, versions[0], side="right")) if len(versions) else 0
    if cut == len(versions):
        return events  # one version says nothing twice
    # The first version is mostly far longer than all others together: it is only looked through, not sorted out.
    first, rest = events.slice(0, cut), events.slice(cut)
    column = rest[by]
    if pa.types.is_string(column.type):
        column = column.cast(pa.large_string())  # in one piece it may be longer than 32 bits can count
    names = column.combine_chunks().dictionary_encode().indices.to_numpy()
    last = np.zeros(names.max() + 1, dtype=np.int64)
    last[names] = np.arange(len(names))  # of equal names the last one stays
    kept = np.zeros(len(names), dtype=bool)
    kept[last] = True
    rest = rest.filter(pa.array(kept))
    said_again = pc.is_in(first[by], value_set=pc.unique(rest[by]))
    return pa.concat_tables([first.filter(pc.invert(said_again)), rest])
