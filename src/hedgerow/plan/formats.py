"""File formats: what each says of itself, and which there are. Their readers stand in ``microdata.parsing.formats``."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hedgerow.plan.concepts import Concept


@dataclass(frozen=True, eq=False)
class FormatDescriptor:
    """A way in which files hold tables.

    Attributes
    ----------
    name, title, help
        Its word in ``data.format`` of a plan; what it is called; what there is to know of such files.
    order
        Where it stands among the others.
    endings
        Endings of file names that tell it, in small letters, with the dot.
    opened
        Opens such a file, given its path and a ``parsing.form.Form``, and returns a ``parsing.opened.Opened``. It is
        called by its name in a child process, so it must be a function of a module that can be imported there.
    options
        Keys of ``data`` in a plan that say how such a file is written.
    settings
        What is always so in such files, by key of ``data``: it stands in for what a plan leaves open.
    any_ending
        Whether files are read so whose ending nobody claims; true of one format.
    tells_extent
        Whether a file says how much it holds before its rows are read.
    writer
        Where a release is written in it: the name of an ``engines.export.Writer``, as ``module:object``; empty where
        releases are not.
    ending
        What the name of a released file ends in, without the dot, where that is not ``name``.
    needs
        The modules that read and write it and come with the extra ``formats``, not with Hedgerow.
    density
        How many bytes of plain columns a byte of such a file may stand for: its reader gets that much more time and
        memory.
    """

    name: str
    title: str
    help: str
    order: int
    endings: tuple[str, ...]
    opened: Callable[[Path, Any], Any]
    options: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    any_ending: bool = False
    tells_extent: bool = False
    writer: str = ""
    ending: str = ""
    needs: tuple[str, ...] = ()
    density: int = 1

    @property
    def reader(self) -> str:
        """The name by which a child process finds the reader."""
        return f"{self.opened.__module__}:{self.opened.__qualname__}"

    @property
    def released_file(self) -> str:
        """The name of the file that holds the rows of a release."""
        return f"data.{self.ending or self.name}"


FILE_FORMATS: Concept[FormatDescriptor] = Concept("file format", "hedgerow.microdata.parsing.formats")


def release_formats() -> tuple[FormatDescriptor, ...]:
    """Return those in which a release can be written, the usual one first."""
    return tuple(one for one in FILE_FORMATS if one.writer)


def table_endings() -> tuple[str, ...]:
    """Return the endings of files that hold tables.

    Examples
    --------
    >>> table_endings()
    ('.csv', '.tsv', '.txt', '.parquet', '.pq', '.arrow', '.feather', '.ipc', '.xlsx', '.xlsm', '.xls', '.ods', '.sav',
     '.zsav', '.por', '.dta', '.sas7bdat', '.xpt', '.gz', '.zst', '.zip')
    """
    return (*(ending for one in FILE_FORMATS for ending in one.endings), *PACKED)


def format_titles() -> str:
    """Name the formats that are read.

    Examples
    --------
    >>> format_titles()
    'CSV, Parquet, Arrow, Excel, SPSS, Stata or SAS'
    """
    *others, last = (one.title for one in FILE_FORMATS)
    return f"{', '.join(others)} or {last}"


PACKED = (".gz", ".zst", ".zip")
"""Endings of files that hold another file, compressed."""


def is_packed(name: str) -> bool:
    """Tell whether a file of this name holds another one, compressed.

    Examples
    --------
    >>> is_packed("people.csv.GZ"), is_packed("people.xlsx")
    (True, False)
    """
    return name.lower().endswith(PACKED)


def by_name(name: str) -> FormatDescriptor | None:
    """Return the format of a file by its name, that of a compressed file by the name without the last ending.

    Examples
    --------
    >>> by_name("people.csv.gz").name, by_name("people.SAV").name, by_name("people.zip")
    ('csv', 'spss', None)
    """
    inner = name.rpartition(".")[0] if is_packed(name) else name
    return by_ending(f".{inner.rpartition('.')[2]}") if "." in inner else None


def by_ending(ending: str) -> FormatDescriptor | None:
    """Return the format that files of this ending have; None if no format claims it."""
    return next((one for one in FILE_FORMATS if ending.lower() in one.endings), None)


def found_by_name(name: str) -> Any:
    """Return what stands in a module, given as ``module:object``.

    Examples
    --------
    >>> found_by_name("math:tau") > 6
    True
    """
    module, _, thing = name.partition(":")
    return getattr(importlib.import_module(module), thing)
