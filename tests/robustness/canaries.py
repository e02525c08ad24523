"""Canaries: values that stand nowhere else, in every cell; and where they are found again, in whatever form.

Every text, number and date of a table begins with a stem by which it is known. Three kinds:

- ``secret``: keys, persons, names, columns that no plan names, and those columns' names. They may stand nowhere.
- ``lone``: the values of records that must be withheld. They may stand nowhere either.
- ``told``: the values of records that can be released. They may stand in a release, and in no message.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from urllib.parse import quote

KINDS = ("secret", "lone", "told")
TEXTS = {"secret": "qzSecéß", "lone": "qzLonéß", "told": "qzTolöß"}
NUMBERS = {"secret": "73197", "lone": "84291", "told": "95183"}
YEARS = {"secret": "1693", "lone": "1697", "told": "1741"}
DIGITS = 4


@dataclass(frozen=True)
class Flock:
    """A source of canaries that are all different."""

    rng: Random

    def text(self, kind: str) -> str:
        return f"{TEXTS[kind]}{self.rng.randrange(36**6):06d}"

    def number(self, kind: str) -> str:
        return f"{NUMBERS[kind]}{self.rng.randrange(10**DIGITS):0{DIGITS}d}"

    def day(self, kind: str) -> str:
        return f"{YEARS[kind]}-{self.rng.randrange(1, 13):02d}-{self.rng.randrange(1, 29):02d}"


def forms(kind: str) -> Iterator[tuple[str, bytes]]:
    """Patterns of a canary as it is, and as something may have written it."""
    text = TEXTS[kind]
    yield "text", re.escape(text.encode())
    for codec in ("utf-16-le", "utf-16-be", "latin-1"):
        yield codec, re.escape(text.encode(codec))
    yield "mojibake", re.escape(text.encode().decode("latin-1").encode())
    yield "percent", re.escape(quote(text).encode())
    yield "python", re.escape(text.encode("unicode_escape"))
    yield "repr of bytes", re.escape(repr(text.encode())[2:-1].encode())
    yield "json", re.escape(text.encode("ascii", "backslashreplace").replace(b"\\xe9", b"\\u00e9"))
    yield "json, whole", re.escape("".join(c if c.isascii() else f"\\u{ord(c):04x}" for c in text).encode())
    yield "html", re.escape("".join(c if c.isascii() else f"&#{ord(c)};" for c in text).encode())
    yield "replaced", text.replace("é", "?").replace("ö", "?").replace("ß", "?").replace("?", r"\?").encode()
    yield "hex", re.escape(text.encode().hex().encode())
    yield "hex, utf-16", re.escape(text.encode("utf-16-le").hex().encode())
    for shift in range(3):
        coded = base64.b64encode(b"\0" * shift + text.encode())
        yield f"base64 {shift}", re.escape(coded[(0, 2, 3)[shift] : len(coded) - 4])
    number = NUMBERS[kind]
    yield "number", rb"(?<![\d.])" + number.encode() + rb"\d{%d}(?!\d)" % DIGITS
    yield "number, grouped", rb"(?<!\d)" + f"{number[:3]},{number[3:]}".encode() + rb"\d,\d{3}(?!\d)"
    yield "number, utf-16", rb"\x00".join(bytes([c]) for c in number.encode()) + rb"\x00(?:\d\x00){%d}" % DIGITS
    yield "day", YEARS[kind].encode() + rb"-\d\d-\d\d"
    yield "day, utf-16", b"".join(bytes([c]) + rb"\x00" for c in YEARS[kind].encode()) + rb"-\x00\d\x00\d\x00-"


PATTERNS = {kind: [(name, re.compile(pattern)) for name, pattern in forms(kind)] for kind in KINDS}


def found_in(content: bytes, kinds: tuple[str, ...] = KINDS) -> list[str]:
    """Say which canaries stand in some bytes, and in what form."""
    return [
        f"{kind} as {name} at byte {hit.start()}: {content[max(hit.start() - 60, 0) : hit.end() + 20]!r}"
        for kind in kinds
        for name, pattern in PATTERNS[kind]
        if (hit := pattern.search(content)) is not None
    ]


def found_under(folder: Path, kinds: tuple[str, ...] = KINDS) -> list[str]:
    """Say which canaries stand in the files below a folder, or in their names."""
    found = []
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        found += [f"name of {name}: {what}" for what in found_in(name.encode(errors="surrogateescape"), kinds)]
        if path.is_file() and not path.is_symlink():
            found += [f"{name}: {what}" for what in found_in(path.read_bytes(), kinds)]
    return found
