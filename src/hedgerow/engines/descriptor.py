"""Engines: what each says of itself, and which there are. Finding them loads no database and no Spark."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from hedgerow.plan.concepts import Concept
from hedgerow.plan.formats import release_formats

AUTO = "auto"
"""The word that leaves the choice of an engine to us."""


@dataclass(frozen=True)
class EngineWish:
    """What an engine is opened for.

    Attributes
    ----------
    data
        The data.
    plan
        Says which columns matter, to an engine that takes them elsewhere before it works on them.
    options
        What was given of the options that only some engines have, by name.
    tell
        Called with the number of rows read so far.
    """

    data: Any
    plan: Any = None
    options: Mapping[str, Any] = field(default_factory=dict)
    tell: Callable[[int], None] | None = None


@dataclass(frozen=True, eq=False)
class EngineDescriptor:
    """Where the work on a table is done.

    Attributes
    ----------
    name, title, help
        Its word after ``--engine``; what it is called; where the work is done, as it follows "the work is done".
    order
        Where it stands among the others. If nobody chooses, the last one that suits the data is taken.
    reads
        What it reads, in words.
    takes
        Tells whether it can read some data if somebody asks for it.
    suits
        Tells whether it is the one for some data if nobody asks for another; the second argument says whether the
        numbers of records are needed.
    opened
        Opens it. What it needs is imported there.
    by_name
        Whether it can be asked for by its name; else only the data leads to it.
    options
        Options that it has beside those of all, with words for them.
    anywhere
        Whether it reads from other places than paths of this machine.
    numbers_records
        Whether it knows the numbers of records, as a link table needs them.
    forms
        Ways to write a release that it has beside the formats of files, with words for them.
    """

    name: str
    title: str
    help: str
    order: int
    reads: str
    takes: Callable[[Any], bool]
    suits: Callable[[Any, bool], bool]
    opened: Callable[[EngineWish], Any]
    by_name: bool = True
    options: Mapping[str, str] = field(default_factory=dict)
    anywhere: bool = False
    numbers_records: bool = False
    forms: Mapping[str, str] = field(default_factory=dict)


ENGINES: Concept[EngineDescriptor] = Concept("engine", "hedgerow.engines.offered")


def engine_words() -> tuple[str, ...]:
    """Return the words that ask for an engine.

    Examples
    --------
    >>> engine_words()
    ('auto', 'local', 'duckdb', 'spark')
    """
    return (AUTO, *(one.name for one in ENGINES if one.by_name))


def release_forms() -> tuple[str, ...]:
    """Return the words for how the rows of a release are written.

    Examples
    --------
    >>> release_forms()
    ('csv', 'parquet', 'excel', 'spss', 'stata', 'parts')
    """
    return (*(one.name for one in release_formats()), *(form for one in ENGINES for form in one.forms))
