"""What was seen of a table: its columns with their counts, and what a draft proposes for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hedgerow.evaluation.drafting.column import SeenColumn
from hedgerow.evaluation.drafting.propose import Proposal, labelled, propose, with_a_quasi_identifier
from hedgerow.evaluation.drafting.writing import write_draft
from hedgerow.microdata.notes import ColumnNote
from hedgerow.plan import DataFormat

if TYPE_CHECKING:
    from hedgerow.evaluation.tightening import ProposedLimits

MISSING_MARKERS = ("?", "*", "-", "--", ".", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null", "(null)")
"""Cells that usually mean a missing value."""
PREVIEW = 50
"""Rows that a person is shown of a table."""

Preview = tuple[tuple[str | None, ...], ...]


@dataclass(frozen=True)
class Examination:
    """What was seen of a table. It holds values of records: it is for the owner's eyes, and for no log.

    Attributes
    ----------
    records
        Number of records.
    columns
        The columns in their order, with the missing markers that were found taken as missing.
    proposals
        What is proposed for each.
    format
        How the table is written, with everything found out filled in but the markers.
    missing
        Cells that are taken as missing: those of the format, and those that were found.
    preview
        Some of its first rows as text, in the order of the columns. Markers stand as they are; None is a missing cell,
        or one that is not plain.
    guessed
        Whether the encoding is a guess.
    notes
        What its file says of the columns beside their cells.

    Examples
    --------
    >>> columns = [SeenColumn("sex", 60, {"f": 20, "m": 30, "?": 10}), SeenColumn("ward", 60, {"a": 60})]
    >>> seen = Examination.of(columns, DataFormat())
    >>> seen.missing, seen.columns[0].filled, seen.proposals[0].seen
    (('', '?'), 50, 'text, 2 different, about 17 % missing')
    """

    records: int
    columns: tuple[SeenColumn, ...]
    proposals: tuple[Proposal, ...]
    format: DataFormat
    missing: tuple[str, ...]
    preview: Preview = field(default=(), repr=False)
    guessed: bool = False
    notes: Mapping[str, ColumnNote] = field(default_factory=dict, repr=False)

    @classmethod
    def of(
        cls,
        columns: Sequence[SeenColumn],
        found: DataFormat,
        given: DataFormat | None = None,
        preview: Preview = (),
        notes: Mapping[str, ColumnNote] | None = None,
    ) -> Examination:
        """Find the missing markers, and propose something for every column.

        Parameters
        ----------
        columns
            The columns as they are.
        found, given
            How the table is written, and what of it was said beforehand.
        preview
            Some of its first rows.
        notes
            What its file says of the columns beside their cells.

        Raises
        ------
        DataError
            If no column holds plain values.
        """
        stated = set() if given is None else given.model_fields_set
        occurring = (marker for marker in MISSING_MARKERS if any(marker in column.counts for column in columns))
        markers = () if "missing" in stated else tuple(occurring)
        left = [column.without(markers) for column in columns]
        proposals = with_a_quasi_identifier(left, [propose(column) for column in left])
        guessed = "encoding" not in stated and found.encoding != DataFormat().encoding
        missing = (*found.missing, *markers)
        said = notes or {}
        proposed = tuple(labelled(one, said.get(column.name)) for one, column in zip(proposals, left, strict=True))
        return cls(columns[0].records, tuple(left), proposed, found, missing, preview, guessed, said)

    @property
    def markers(self) -> tuple[str, ...]:
        """The missing markers that were found, beside those of the format."""
        return self.missing[len(self.format.missing) :]

    def to_yaml(self, limits: ProposedLimits | None = None) -> str:
        """Write a plan for the table with a comment on everything a person must decide; it shows no value."""
        return write_draft(self, limits)
