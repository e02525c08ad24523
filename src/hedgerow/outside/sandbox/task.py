"""What a function that is run in a child takes and returns."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

ORDER = struct.Struct("<200sQQQ")
"""What is run ("module:function"), and how much of memory, processor time and output it may take."""
MOST_FILES = 200
"""Files that one task may be given."""


@dataclass(frozen=True)
class TaskResult:
    """What a task found.

    Attributes
    ----------
    facts
        Plain data that JSON can hold.
    schema, batches
        The columns and the rows of a table, if there is one. Every batch is validated in full before it leaves the
        child.
    """

    facts: Mapping[str, Any] = field(default_factory=dict)
    schema: pa.Schema | None = None
    batches: Iterable[pa.RecordBatch] = ()


Task = Callable[[Mapping[str, Any], Sequence[str]], TaskResult]
"""Takes the request, as JSON gives it back, and the paths of the files. Raises no error but a HedgerowError."""
