"""Reading a project of ARX, in a child process: a zip archive of XML, hierarchies and data, all of them bounded.

Java objects that are serialized in it (``.dat``) are not read: to read one is to run what it says. XML that declares
entities is refused. Names in the archive are only compared, never used as paths.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn
from xml.etree import ElementTree
from xml.parsers import expat

from hedgerow.errors import DataError, Problem
from hedgerow.outside.sandbox.limits import room
from hedgerow.outside.sandbox.task import TaskResult

if TYPE_CHECKING:
    import pyarrow as pa

MOST_ENTRIES = 20_000
MOST_XML = 16 << 20
MOST_LATTICE = 512 << 20
MOST_UNPACKED, UNPACKED_PER_BYTE = 256 << 20, 100
PIECE = 1 << 18
DATA = "data/input.csv"
DEFINITION, CONFIG, PROJECT, METADATA, LATTICE = (
    "input/definition.xml",
    "input/config.xml",
    "project.xml",
    "metadata.xml",
    "lattice.xml",
)
CHOSEN = "output/definition.xml"


def read(request: Mapping[str, Any], files: Sequence[str]) -> TaskResult:
    """Return what a project says, and its hierarchies and data as they lie there, in pieces of (name, bytes)."""
    import pyarrow as pa

    place = request["place"]
    try:
        archive = zipfile.ZipFile(files[0])
        names = _names(archive, place)
        facts = _facts(archive, names, place)
    except (zipfile.BadZipFile, KeyError, ElementTree.ParseError, UnicodeError, NotImplementedError, RuntimeError):
        _refuse(place)
    except (ValueError, EOFError, OSError, zipfile.LargeZipFile):
        _refuse(place)
    wanted = [column["hierarchy"] for column in facts["columns"] if column["hierarchy"] in names]
    if request["data"] and DATA in names:
        wanted.append(DATA)
    facts["entries"] = wanted
    schema = pa.schema([("name", pa.string()), ("piece", pa.binary())])
    return TaskResult(facts, schema, _pieces(archive, wanted, schema, place))


def _names(archive: zipfile.ZipFile, place: str) -> frozenset[str]:
    entries = archive.infolist()
    names = [entry.filename for entry in entries]
    packed = sum(entry.compress_size for entry in entries)
    most = int(room() * (MOST_UNPACKED + UNPACKED_PER_BYTE * packed))
    if len(entries) > MOST_ENTRIES or sum(entry.file_size for entry in entries) > most:
        message = "The project unpacks to far more than its size."
        raise DataError(Problem("too-much", message, place, "check that it is what it should be"))
    if len(set(names)) != len(names):
        _refuse(place)
    return frozenset(names)


def _facts(archive: zipfile.ZipFile, names: frozenset[str], place: str) -> dict[str, Any]:
    missing = [name for name in (DEFINITION, CONFIG, PROJECT) if name not in names]
    if missing:
        message = f"This is no project of ARX: it has no {missing[0]}."
        raise DataError(Problem("format", message, place, "give a .deid file that ARX 3 has saved"))
    config, project = _xml(archive, CONFIG), _xml(archive, PROJECT)
    return {
        "version": _xml(archive, METADATA).findtext("version", "") if METADATA in names else "",
        "separator": project.findtext("separator", ";"),
        "quote": project.findtext("quote", '"'),
        "columns": [_column(part) for part in _xml(archive, DEFINITION)],
        "most_withheld": config.findtext("relativeMaxOutliers", "0"),
        "metric": config.findtext("metric", ""),
        "practical": config.findtext("practicalMonotonicity", "false") == "true",
        "suppressed": [part.text or "" for part in config.findall("suppressedAttributeTypes/type")],
        "weights": [
            [part.findtext("attribute", ""), part.findtext("weight", "")]
            for part in config.findall("attributeWeights/attributeWeight")
        ],
        "criteria": [part.text or "" for part in config.findall("criteria/criterion")],
        "best": _best(archive) if LATTICE in names and CHOSEN in names else None,
        "serialized": sorted(name for name in names if name.endswith(".dat")),
        "has_data": DATA in names,
    }


def _column(part: ElementTree.Element) -> dict[str, Any]:
    reference = part.findtext("ref")
    return {
        "name": part.findtext("name", ""),
        "type": part.findtext("type", ""),
        "datatype": part.findtext("datatype", "String"),
        "hierarchy": None if reference is None else f"input/{reference}",
        "min": part.findtext("min", "All"),
        "max": part.findtext("max", "All"),
        "aggregated": part.findtext("microaggregationFunction"),
    }


def _xml(archive: zipfile.ZipFile, name: str) -> ElementTree.Element:
    with archive.open(name) as entry:
        text = entry.read(MOST_XML + 1)
    if len(text) > MOST_XML:
        raise ValueError("too large")
    parser = _Safe()
    parser.feed(text)
    root: ElementTree.Element = parser.close()
    return root


class _Safe:
    """An XML parser that takes no declarations, and so no entities."""

    def __init__(self) -> None:
        self._builder = ElementTree.TreeBuilder()
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartDoctypeDeclHandler = self._declared
        self._parser.StartElementHandler = lambda tag, attributes: self._builder.start(tag, attributes)
        self._parser.EndElementHandler = lambda tag: self._builder.end(tag)
        self._parser.CharacterDataHandler = lambda text: self._builder.data(text)

    def feed(self, text: bytes, last: bool = True) -> None:
        try:
            self._parser.Parse(text, last)
        except expat.ExpatError:
            raise ValueError("not XML") from None

    def close(self) -> ElementTree.Element:
        return self._builder.close()

    @staticmethod
    def _declared(*_: Any) -> NoReturn:
        raise ValueError("declarations are not read")


def _best(archive: zipfile.ZipFile) -> list[int] | None:
    """Return the levels of the node with the least loss among those that are anonymous and were looked at."""
    found: tuple[float, list[int]] | None = None
    node: dict[str, str] = {}
    path: list[str] = []
    parser = expat.ParserCreate()
    parser.buffer_text = True

    def start(tag: str, _: Any) -> None:
        path.append(tag)
        if tag == "n":
            node.clear()

    def text(said: str) -> None:
        if path[-1] in ("t", "a", "c", "f"):
            node[path[-1]] = node.get(path[-1], "") + said

    def end(tag: str) -> None:
        nonlocal found
        path.pop()
        if tag == "n" and node.get("a") == "ANONYMOUS" and node.get("c") == "true":
            loss = float(node["f"])
            if found is None or loss < found[0]:
                found = loss, [int(level) for level in node["t"].strip("[] ").split(",")]

    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, text
    parser.StartDoctypeDeclHandler = _Safe._declared
    taken = 0
    with archive.open(LATTICE) as entry:
        while part := entry.read(PIECE):
            taken += len(part)
            if taken > MOST_LATTICE:
                raise ValueError("too large")
            try:
                parser.Parse(part, False)
            except expat.ExpatError:
                raise ValueError("not XML") from None
    return None if found is None else found[1]


def _pieces(archive: zipfile.ZipFile, names: Sequence[str], schema: pa.Schema, place: str) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    for name in names:
        try:
            with archive.open(name) as entry:
                while part := entry.read(PIECE):
                    yield pa.record_batch([[name], [part]], schema=schema)
        except (zipfile.BadZipFile, OSError, EOFError, NotImplementedError, RuntimeError, ValueError):
            _refuse(place)


def _refuse(place: str) -> NoReturn:
    message = "The file is damaged, or is no project of ARX."
    raise DataError(Problem("format", message, place, "give a .deid file that ARX 3 has saved")) from None
