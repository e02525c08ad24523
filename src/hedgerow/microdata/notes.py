"""What a file says of a column beside its cells: its title, and the codes behind its labels.

It travels with the schema of the table.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import pyarrow as pa

KEY = b"hedgerow.column"
WHY = " (missing)"
"""What the name of a column that says why another is missing ends in."""
MOST_LABELS = 100_000
"""Labels of a column that are kept."""
LONGEST_TITLE = 1_000
"""Characters of a title that are kept."""

ColumnKind = Literal["", "text"]


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
    published
        Whether cells are labels; else they are the codes.
    missing
        The code behind each kind of missing value.
    explains
        The column of which this one says why cells are missing; empty: it is no such column.

    Examples
    --------
    >>> note = ColumnNote("Sex", {"male": "1"})
    >>> ColumnNote.of(note.on("sex")) == note
    True
    """

    title: str = ""
    codes: Mapping[str, str] = field(default_factory=dict)
    kind: ColumnKind = ""
    published: bool = True
    missing: Mapping[str, str] = field(default_factory=dict)
    explains: str = ""

    def on(self, name: str) -> pa.Field:
        """Return a column of text that has this note."""
        import pyarrow as pa

        return pa.field(name, pa.string(), metadata={KEY: json.dumps(asdict(self))})

    @classmethod
    def of(cls, column: pa.Field) -> ColumnNote:
        """Return the note of a column; an empty one where it has none, or one that is not as we write it."""
        written = (column.metadata or {}).get(KEY)
        try:
            told = json.loads(written or b"{}")
            found = cls(**told)
        except (ValueError, TypeError, RecursionError):
            return cls()
        plain = (
            type(found.title) is type(found.explains) is str
            and found.kind in ("", "text")
            and type(found.published) is bool
        )
        return found if plain and _is_codes(found.codes) and _is_codes(found.missing) else cls()


def _is_codes(told: object) -> bool:
    """Tell whether something is a bounded number of codes by their labels."""
    if not isinstance(told, dict) or len(told) > MOST_LABELS:
        return False
    return all(isinstance(part, str) for pair in told.items() for part in pair)


def notes_of(schema: pa.Schema) -> dict[str, ColumnNote]:
    """Return the notes of all columns that have one."""
    found = {column.name: ColumnNote.of(column) for column in schema}
    return {name: note for name, note in found.items() if note != ColumnNote()}
