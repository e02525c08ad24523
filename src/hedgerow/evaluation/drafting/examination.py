"""What was seen of a table: its columns with their counts, and what a draft proposes for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from hedgerow.evaluation.drafting.column import SeenColumn
from hedgerow.evaluation.drafting.markers import markers_in, numbers_that_stand_out
from hedgerow.evaluation.drafting.notations import SeenNotation, notation_of
from hedgerow.evaluation.drafting.propose import Proposal, labelled, propose, with_a_quasi_identifier
from hedgerow.evaluation.drafting.wishes import Wishes
from hedgerow.evaluation.drafting.writing import write_draft
from hedgerow.microdata.notes import ColumnNote
from hedgerow.microdata.read import Reason
from hedgerow.plan import DataFormat
from hedgerow.plan.notation import Notation

if TYPE_CHECKING:
    from hedgerow.evaluation.tightening import ProposedLimits

PREVIEW = 50
"""Rows that a person is shown of a table."""

RowsOf = Callable[[str, frozenset[str]], tuple[int, ...]]
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
        How the table is written, with everything found out of its file filled in, but nothing that its cells tell.
    missing
        Cells that are taken as missing: those of the format, and those that were found.
    preview
        Some of its first rows as text, in the order of the columns. Markers stand as they are; None is a missing cell,
        or one that is not plain.
    notes
        What its file says of the columns beside their cells.
    reasons
        Why its file is taken to be written as ``format`` says, by key, for what was found out.
    stated
        Keys of the format that somebody stated.
    notation
        How its numbers are written, and which columns say so.
    missing_in
        Numbers that are taken as missing in one column, by column, and how many records have them.
    wishes
        What somebody has decided beforehand.
    telling
        Columns that make people special uniques, each with its share of all scores, the greatest first.

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
    notes: Mapping[str, ColumnNote] = field(default_factory=dict, repr=False)
    reasons: Mapping[str, Reason] = field(default_factory=dict, repr=False)
    stated: frozenset[str] = frozenset()
    notation: SeenNotation = field(default_factory=lambda: SeenNotation(Notation()))
    missing_in: Mapping[str, Mapping[str, int]] = field(default_factory=dict, repr=False)
    wishes: Wishes = field(default_factory=lambda: Wishes())
    telling: tuple[tuple[str, float], ...] = ()

    @classmethod
    def of(
        cls,
        columns: Sequence[SeenColumn],
        found: DataFormat,
        given: DataFormat | None = None,
        preview: Preview = (),
        notes: Mapping[str, ColumnNote] | None = None,
        reasons: Mapping[str, Reason] | None = None,
        rows: RowsOf | None = None,
    ) -> Examination:
        """Find out what the cells tell of how the table is written, and propose something for every column.

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
        reasons
            Why its file is taken to be written so.
        rows
            Finds the first records, from 1, that have one of some values in a column.

        Raises
        ------
        DataError
            If no column holds plain values.
        """
        stated = frozenset() if given is None else frozenset(given.model_fields_set)
        markers = () if "missing" in stated else markers_in(columns)
        left = [column.without(markers) for column in columns]
        asked = stated & {"decimal", "thousands"}
        notation = notation_of(left, found.notation, asked)
        if notation.others and found.delimiter is None and not asked:  # the table has numbers that are no text
            notation = SeenNotation(Notation())
        own = {} if "missing_in" in stated else {column.name: _standing_out(column, notation) for column in left}
        missing_in = {name: counts for name, counts in own.items() if counts}
        month_first, forms = notation.notation.decimal == ".", forms_in(found.dates)
        settled = []
        for column in left:
            meant = column.without(missing_in.get(column.name, ())).meant(notation.notation)
            meant = replace(meant, month_first=month_first, forms=forms)
            if rows is not None and meant.days is not None and meant.days.misfits:
                meant = replace(meant, misfit_rows=rows(column.name, frozenset(meant.days.misfits)))
            settled.append(meant)
        proposals = with_a_quasi_identifier(settled, [propose(column) for column in settled])
        said = notes or {}
        return cls(
            columns[0].records,
            tuple(settled),
            tuple(labelled(one, said.get(column.name)) for one, column in zip(proposals, settled, strict=True)),
            found,
            (*found.missing, *markers),
            preview,
            said,
            reasons or {},
            stated,
            notation,
            missing_in,
        )

    @property
    def form(self) -> DataFormat:
        """How the table is written, with everything found out filled in."""
        own = {**self.format.missing_in, **{name: tuple(counts) for name, counts in self.missing_in.items()}}
        signs = {"decimal": self.notation.notation.decimal, "thousands": self.notation.notation.thousands}
        left = {} if "output" in self.stated else {"output": None}  # a run fills it in, not a draft
        return self.format.model_copy(update={"missing": self.missing, "missing_in": own, **signs, **left})

    @property
    def markers(self) -> tuple[str, ...]:
        """The missing markers that were found, beside those of the format."""
        return self.missing[len(self.format.missing) :]

    def decided(self, wishes: Wishes) -> Examination:
        """Return it with what somebody has decided of its columns.

        Raises
        ------
        DataError
            If a column is not there.
        """
        names = [column.name for column in self.columns]
        wishes.check(names)
        roles = wishes.by_column()
        proposals = [
            replace(one, role=roles[name], notes=("As you said.",), rule="", unknown="", level=None, leaves="")
            if name in roles
            else one
            for name, one in zip(names, self.proposals, strict=True)
        ]
        return replace(self, proposals=tuple(proposals), wishes=wishes)

    def to_yaml(self, limits: ProposedLimits | None = None) -> str:
        """Write a plan for the table with a comment on everything a person must decide; it shows no value."""
        return write_draft(self, limits)


def forms_in(dates: str | tuple[str, ...] | None) -> tuple[str, ...]:
    """Return the forms of days that a format states."""
    return () if dates is None else (dates,) if isinstance(dates, str) else dates


def _standing_out(column: SeenColumn, notation: SeenNotation) -> dict[str, int]:
    return {label: column.counts[label] for label in numbers_that_stand_out(column, notation.notation)}
