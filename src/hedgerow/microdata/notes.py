"""What a file says of a column beside its cells: its title, and the codes behind its labels.

It travels with the schema of the table.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import pyarrow as pa

KEY = b"hedgerow.column"
MOST_LABELS = 100_000
"""Labels of a column that are kept."""
LONGEST_TITLE = 1_000
"""Characters of a title that are kept."""

ColumnKind = Literal["text", "number", "date", "moment", "time", ""]


@dataclass(frozen=True)
class ColumnNote:
    """What a file says of a column.

    Attributes
    ----------
    title
        What people call it: the variable label. Empty: the file does not say.
    codes
        The code behind each label, as text.
    kind
        What the file says its cells are; empty: it does not say.

    Examples
    --------
    >>> note = ColumnNote("Sex", {"male": "1"}, "number")
    >>> ColumnNote.of(note.on("sex")) == note
    True
    """

    title: str = ""
    codes: Mapping[str, str] = field(default_factory=dict)
    kind: ColumnKind = ""

    def on(self, name: str) -> pa.Field:
        """Return a column of text that has this note."""
        import pyarrow as pa

        told = {"title": self.title, "codes": dict(self.codes), "kind": self.kind}
        return pa.field(name, pa.string(), metadata={KEY: json.dumps(told)})

    @classmethod
    def of(cls, column: pa.Field) -> ColumnNote:
        """Return the note of a column; an empty one where it has none, or one that is not as we write it."""
        written = (column.metadata or {}).get(KEY)
        try:
            told = json.loads(written or b"{}")
            title, codes, kind = told.get("title", ""), told.get("codes", {}), told.get("kind", "")
        except (ValueError, AttributeError, RecursionError):
            return cls()
        plain = isinstance(title, str) and isinstance(codes, dict) and len(codes) <= MOST_LABELS
        if not plain or not all(isinstance(code, str) for code in codes.values()):
            return cls()
        return cls(title[:LONGEST_TITLE], codes, kind if kind in ("text", "number", "date", "moment", "time") else "")
