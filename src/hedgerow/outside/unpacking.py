"""Unpacking compressed files: one file inside, of bounded size, in a child process.

What comes out lies in a file without a name, which is gone when nobody holds it open any more, even after a crash. A
``.zip`` that says it unpacks to too much is refused before a byte of it is; any file that unpacks to more than it says,
or says nothing, is given up at the bound.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Any

from hedgerow.errors import DataError, Problem
from hedgerow.outside import sandbox
from hedgerow.outside.intake import open_regular
from hedgerow.outside.sandbox.limits import ROOM, Limits, most_unpacked, room

if TYPE_CHECKING:
    import pyarrow as pa

PIECE = 1 << 20
ZIP_ENTRIES = 10_000
"""Names in the table of contents of a ``.zip``."""
CODECS = {".gz": "gzip", ".zst": "zstd"}
JUNK = ("__MACOSX/", ".DS_Store", "Thumbs.db")


@contextlib.contextmanager
def unpacked(path: Path, what: str = "The data") -> Iterator[tuple[Path, str]]:
    """Give the file that is in a compressed one, and its name, as long as the context is open.

    Raises
    ------
    DataError
        ``no-file``; ``too-much`` if it unpacks to far more than its size; ``format`` if it cannot be unpacked, or does
        not hold exactly one file.
    """
    size = _size(path, what)
    most = most_unpacked(size, room())
    limits = Limits.of_size(size)
    limits = Limits(limits.memory, limits.seconds + most // (64 << 20), most + (64 << 20), limits.patience)
    request = {"place": str(path), "ending": path.suffix.lower(), "most": most}
    with tempfile.TemporaryFile() as file:
        with sandbox.run("hedgerow.outside.unpacking:inflate", request, [path], limits=limits, what=what) as answer:
            name = str(answer.facts["name"] or path.stem)
            for batch in answer.batches():
                for piece in batch.column(0):
                    file.write(piece.as_buffer())
        file.flush()
        file.seek(0)
        yield Path(f"/dev/fd/{file.fileno()}"), name


def _size(path: Path, what: str) -> int:
    import os

    handle = open_regular(path, what)
    try:
        return os.fstat(handle).st_size
    finally:
        os.close(handle)


# -- in the child ----------------------------------------------------------------------------------------------------


def inflate(request: Mapping[str, Any], files: Sequence[str]) -> sandbox.TaskResult:
    """Unpack the one file inside, piece by piece."""
    import pyarrow as pa

    place, ending, most = request["place"], request["ending"], request["most"]
    with _refusing(place):
        name, source = _opened(Path(files[0]), ending, place, most)
    return sandbox.TaskResult({"name": name}, pa.schema([("piece", pa.binary())]), _pieces(source, place, most))


def _opened(path: Path, ending: str, place: str, most: int) -> tuple[str | None, IO[bytes]]:
    """Open what is inside; its name as far as it is known, without its folder."""
    import pyarrow as pa

    if ending != ".zip":
        return None, pa.CompressedInputStream(pa.OSFile(str(path)), CODECS[ending])
    import zipfile

    archive = zipfile.ZipFile(path)
    entries = archive.infolist()
    found = [one for one in entries if not one.is_dir() and not one.filename.startswith(JUNK[0])]
    found = [one for one in found if PurePosixPath(one.filename).name not in JUNK[1:]]
    if len(entries) > ZIP_ENTRIES or len(found) != 1:
        message = f"The archive holds {len(found):,} files, not one." if len(found) != 1 else "The archive is too full."
        raise DataError(Problem("format", message, place, "give an archive with one file in it, or the file itself"))
    (entry,) = found
    if entry.flag_bits & 1:
        raise DataError(Problem("format", "The archive is encrypted.", place, "unpack it yourself, and give the file"))
    if entry.file_size > most:
        raise _too_much(place, most)
    return PurePosixPath(entry.filename).name[-200:], archive.open(entry)


def _pieces(source: IO[bytes], place: str, most: int) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    taken = 0
    with _refusing(place):
        while piece := source.read(PIECE):
            taken += len(piece)
            if taken > most:
                raise _too_much(place, most)
            yield pa.record_batch([pa.array([bytes(piece)], pa.binary())], names=["piece"])


def _too_much(place: str, most: int) -> DataError:
    message = f"The file unpacks to more than {most >> 20:,} MiB, too much for its size."
    return DataError(Problem("too-much", message, place, f"if you trust it, set {ROOM}=10 in the environment"))


@contextlib.contextmanager
def _refusing(place: str) -> Iterator[None]:
    """Say in our own words that a file cannot be unpacked."""
    try:
        yield
    except (DataError, MemoryError):
        raise
    except Exception:  # zlib, zipfile, Arrow, struct, …: whatever they say may hold names
        message = "The file cannot be unpacked: it is damaged, or not what its ending says."
        raise DataError(Problem("format", message, place, "check that the file is whole")) from None
