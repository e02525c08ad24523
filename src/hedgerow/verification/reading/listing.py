"""The files that a release folder may hold: its own, and nothing else."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path

from hedgerow.errors import DataError, Problem
from hedgerow.verification.result import Promise

SIGNATURE = "signature.json"
"""The detached signature that may lie beside the release."""
NAMED = ("plan.yaml", "facts.json")
DATA = ("data.csv", "data.parquet", "data.xlsx", "data.sav", "data.dta")
JOB = r"-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-c[0-9]{3,6}(\.[a-z0-9]{2,8})?"
PART = re.compile(rf"part-[0-9]{{5,9}}({JOB})?\.parquet")
"""A file of rows, as we name it, or as Spark does: with the number of a job, of a piece, and the compression."""


@dataclass(frozen=True)
class Listing:
    """What lies in a release folder.

    Attributes
    ----------
    files
        The files of the release by their names, parts of the data as ``data.parquet/part-00000.parquet``.
    strange
        How many entries do not belong there; they are counted, not named: a name can be a record's.
    unsafe
        Names of the release that are links, devices, pipes or folders where a file should be; none of them is opened.
    """

    files: tuple[str, ...]
    strange: int = 0
    unsafe: tuple[str, ...] = ()

    @classmethod
    def of(cls, folder: Path) -> Listing:
        """List a folder; nothing in it is opened, and no link is followed."""
        files: list[str] = []
        unsafe: list[str] = []
        strange = 0
        try:
            for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
                kind = entry.stat(follow_symlinks=False).st_mode
                if entry.name not in (*NAMED, *DATA, SIGNATURE):
                    strange += 1
                elif stat.S_ISREG(kind):
                    files.append(entry.name)
                elif entry.name == "data.parquet" and stat.S_ISDIR(kind):
                    parts, others, all_plain = _parts(Path(entry.path))
                    files += parts
                    strange += others
                    unsafe += [] if all_plain else [entry.name]
                else:
                    unsafe.append(entry.name)
        except OSError as error:
            message = f"The release cannot be looked at: {error.strerror or 'unreadable'}."
            raise DataError(Problem("no-file", message, str(folder), "check its permissions")) from None
        return cls(tuple(files), strange, tuple(unsafe))

    @property
    def promise(self) -> Promise:
        """Say whether the folder holds a release and nothing else."""
        faults = [f"{name} is, or holds, a link or something else that is no plain file" for name in self.unsafe]
        if self.strange:
            faults.append(f"{self.strange} other files or folders")
        found = "; ".join(faults) or f"{len(self.files)} files"
        return Promise("files", "a release and nothing else", found, kept=not faults)


def _parts(folder: Path) -> tuple[list[str], int, bool]:
    """Return the parts of the data, how many other files lie among them, and whether all of these are plain files."""
    parts, strange, all_plain = [], 0, True
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if not stat.S_ISREG(entry.stat(follow_symlinks=False).st_mode):
            all_plain = False
        elif PART.fullmatch(entry.name):
            parts.append(f"{folder.name}/{entry.name}")
        else:
            strange += 1
    return parts, strange, all_plain
