"""How a file of text is written, found out from its bytes: encoding, delimiter, quotation mark. Run in a child process.

What is found is told with the evidence in words; no cell leaves the child.
"""

from __future__ import annotations

import codecs
import csv
import io
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from hedgerow.microdata.parsing.form import Form

PIECE = 1 << 20
WHOLE = 1 << 28
"""Bytes that are looked at to tell UTF-8 from others."""
SAMPLE = 1 << 16
"""Bytes of lines with other characters than ASCII, to tell encodings apart."""
HEAD = 1 << 19
"""Characters at the beginning, to tell delimiters and quotation marks apart."""
RECORDS = 400
DELIMITERS = (",", ";", "\t", "|")
QUOTES = ('"', "'")
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
LIKELY = (
    *("cp1250", "cp1251", "cp1253", "cp1254", "cp1257", "iso8859_2", "mac_roman", "cp850", "cp437", "koi8_r"),
    *("shift_jis", "euc_jp", "gb18030", "big5", "euc_kr"),
)
"""Encodings that tables are found in, besides Unicode and cp1252."""


@dataclass(frozen=True)
class Guess:
    """What was found, how surely, and why."""

    value: str
    why: str
    sure: bool = True


def sniff(path: Path, form: Form, asked: Sequence[str]) -> dict[str, Guess]:
    """Find out what of ``delimiter``, ``quote`` and ``encoding`` is asked for; what is given is taken as it is."""
    found: dict[str, Guess] = {}
    if "encoding" in asked:
        found["encoding"] = encoding_of(path)
        form = replace(form, encoding=found["encoding"].value)
    form.check_encoding()
    text = _head(path, form.encoding)
    quotes = QUOTES if "quote" in asked else (form.quote,)
    delimiters = DELIMITERS if "delimiter" in asked else (form.delimiter or ",",)
    delimiter, quote = layout_of(text, delimiters, quotes)
    if "delimiter" in asked:
        found["delimiter"] = delimiter
    if "quote" in asked:
        found["quote"] = quote
    return found


# -- encodings ---------------------------------------------------------------------------------------------------------


def encoding_of(path: Path) -> Guess:
    """Find out the encoding of a file."""
    with path.open("rb") as file:
        first = file.read(PIECE)
    for mark, name in MARKS:
        if first.startswith(mark):
            what = "UTF-8" if name == "utf-8-sig" else name.upper()
            return Guess(name, f"the file begins with the byte order mark of {what}")
    if wide := _without_mark(first):
        return wide
    whole, sample = _read_as_utf8(path)
    if whole is not None:
        return whole
    return _narrow(sample)


def _without_mark(first: bytes) -> Guess | None:
    """Tell UTF-16 without a mark: every other byte is one of few, and often zero."""
    sides = first[: 1 << 12 : 2], first[1 : 1 << 12 : 2]
    if len(sides[1]) < 8:
        return None
    for name, high, low in (("utf-16-le", sides[1], sides[0]), ("utf-16-be", sides[0], sides[1])):
        most = sum(many for _, many in Counter(high).most_common(3))
        if most > 0.97 * len(high) and high.count(0) > 0.04 * len(high) and low.count(0) < 0.04 * len(low):
            why = "the bytes at its beginning alternate as those of UTF-16 do; it has no byte order mark"
            return Guess(name, why, sure=False)
    return None


def _read_as_utf8(path: Path) -> tuple[Guess | None, bytes]:
    """Read a file as UTF-8; if it is none, return some of its lines that have other characters than ASCII."""
    decoder, taken, plain, broken = codecs.getincrementaldecoder("utf-8")(), 0, True, False
    with path.open("rb") as file:
        while taken < WHOLE and not broken and (piece := file.read(PIECE)):
            taken += len(piece)
            plain = plain and piece.isascii()
            try:
                decoder.decode(piece)
            except UnicodeDecodeError:
                broken = True
        if not broken and taken < WHOLE:
            try:
                decoder.decode(b"", final=True)
            except UnicodeDecodeError:
                broken = True
    if not broken:
        return Guess("utf-8", "it has ASCII characters only" if plain else "all of it is valid UTF-8"), b""
    lines, size = [], 0
    with path.open("rb") as file:
        while size < SAMPLE and (line := file.readline(PIECE)):
            if not line.isascii():
                lines.append(line)
                size += len(line)
    return None, b"".join(lines)[:SAMPLE]


def _narrow(sample: bytes) -> Guess:
    """Tell encodings apart in which a character is not several bytes of UTF-8: the first one that reads well."""
    for name, languages in FIRST:
        try:
            text = sample.decode(name)
        except UnicodeDecodeError:
            continue
        if _reads_well(text, languages):
            return Guess(name, f"it is not UTF-8, and reads well as {plain_name(name)}", sure=False)
    import charset_normalizer

    best = charset_normalizer.from_bytes(sample, cp_isolation=list(LIKELY), threshold=0.4, enable_fallback=False).best()
    if best is not None:
        name = codecs.lookup(best.encoding).name
        why = f"it is not UTF-8, and charset-normalizer finds that it reads best as {plain_name(name)}"
        return Guess(name, why, sure=False)
    try:
        sample.decode("cp1252")
    except UnicodeDecodeError:
        return Guess("latin-1", "it is not UTF-8, and no other encoding reads well", sure=False)
    return Guess("cp1252", "it is not UTF-8, and no other encoding reads well", sure=False)


def _reads_well(text: str, languages: Sequence[str]) -> bool:
    """Tell whether characters beyond ASCII stand as they do in languages that are written in Latin letters.

    That is, nearly all are letters of one language, single ones among others, or signs that stand beside words. Bytes
    of another encoding give capitals within words, signs between letters, and letters of several languages.
    """
    letters: Counter[str] = Counter()
    good = bad = 0
    for before, sign, after in zip(f" {text}", text, f"{text[1:]} ", strict=False):
        if sign.isascii():
            continue
        if not sign.isalpha() or sign in "ªº":
            wrong = sign not in SIGNS or (before.isalpha() and after.isalpha() and sign != "’")
        else:
            letters[sign.lower()] += 1
            wrong = (sign.isupper() and before.islower()) or (not before.isascii() and before.isalpha())
        good, bad = (good, bad + 1) if wrong else (good + 1, bad)
    known = max(sum(letters[letter] for letter in language) for language in languages)
    return good > 0 and bad <= good / 8 and known >= 0.95 * letters.total()


WESTERN = ("äöüßéèáà", "àâæçéèêëîïôœùûüÿ", "áéíóúüñç", "áàâãçéêíóôõúü", "àèéìíîòóùú", "åäöæøéüáð", "äöüéèàâêôîçëïáóúñ")
CENTRAL = ("ąćęłńóśźż", "áčďéěíňóřšťúůýž", "áéíóöőúüű", "áäčďéíĺľňóôŕšťúýž", "čćđšž", "ăâîşţșț")
FIRST = (
    ("cp1252", WESTERN),
    ("cp1250", CENTRAL),
    ("iso8859-2", CENTRAL),
    ("cp1254", ("çğıöşüâîû",)),
    ("cp850", WESTERN),
    ("mac-roman", WESTERN),
)
"""Encodings of languages in Latin letters, most common first, and the letters of each that ASCII lacks."""
SIGNS = frozenset("€°§–—\u2018’“”„…«»¿¡µ²³½¼¾±×·•\u00a0\u202f©®™ªº¹")


# -- delimiters and quotation marks ------------------------------------------------------------------------------------


def _head(path: Path, encoding: str) -> str:
    with path.open(encoding=encoding, errors="replace", newline="") as file:
        text = file.read(HEAD)
    if len(text) == HEAD:
        text = text[: text.rfind("\n") + 1] or text
    return text.removeprefix("\ufeff")


@dataclass(frozen=True)
class CellLayout:
    """What a delimiter and a quotation mark make of the first rows: how many have the usual number of cells."""

    delimiter: str
    quote: str
    width: int
    rows: int
    total: int
    fits_header: bool

    @property
    def score(self) -> tuple[float, bool, int]:
        """What of several layouts is the greatest for the best."""
        whole = self.rows == self.total
        return self.rows / self.total, self.fits_header, self.width if whole else 2


def layout_of(text: str, delimiters: Sequence[str], quotes: Sequence[str]) -> tuple[Guess, Guess]:
    r"""Find the delimiter and the quotation mark that cut the first rows into equally many cells.

    Examples
    --------
    >>> [guess.value for guess in layout_of("a;b\n1,5;2\n2,5;'x;y'\n3,5;'y;z'\n", DELIMITERS, QUOTES)]
    [';', "'"]
    """
    possible = [quote for quote in quotes if quote == quotes[0] or _is_quote(text, quote, delimiters)]
    layouts = [found for quote in possible for one in delimiters if (found := _layout(text, one, quote)) is not None]
    if not layouts:
        return Guess(delimiters[0], "no sign cuts its rows into cells: it has one column", sure=False), Guess(
            quotes[0], "no cell is quoted"
        )
    best = max(layouts, key=lambda layout: layout.score)  # of equal ones the first
    if best.rows == best.total:
        why = f"it cuts each of the first {best.total:,} rows into {best.width:,} cells"
    else:
        why = f"it cuts {best.rows:,} of the first {best.total:,} rows into {best.width:,} cells, the others not"
    about = "cells are quoted with it" if best.quote in text else "no cell is quoted"
    return Guess(best.delimiter, why, best.rows == best.total), Guess(best.quote, about)


def _layout(text: str, delimiter: str, quote: str) -> CellLayout | None:
    widths = list(_widths(text, delimiter, quote))
    counted = Counter(width for width in widths if width > 1)
    if not counted:
        return None
    width = max(counted, key=lambda width: (counted[width], width))
    return CellLayout(delimiter, quote, width, counted[width], len(widths), widths[0] == width)


def _widths(text: str, delimiter: str, quote: str) -> Iterator[int]:
    """Give the number of cells of the first rows."""
    try:
        for number, row in enumerate(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, quotechar=quote)):
            if number == RECORDS:
                return
            if row:
                yield len(row)
    except csv.Error:
        return


def _is_quote(text: str, quote: str, delimiters: Sequence[str]) -> bool:
    """Tell whether cells begin and end with a sign that also stands within words, as apostrophes do."""
    if '"' in text:
        return False
    starts = sum(text.count(f"{sign}{quote}") for sign in (*delimiters, "\n"))
    ends = sum(text.count(f"{quote}{sign}") for sign in (*delimiters, "\n", "\r"))
    return starts > 1 and ends > 1 and 2 * min(starts, ends) >= max(starts, ends)


def plain_name(encoding: str) -> str:
    """Return the name by which an encoding is known.

    Examples
    --------
    >>> plain_name("utf-8-sig"), plain_name("cp1252")
    ('UTF-8 with a byte order mark', 'cp1252 (Windows, Western Europe)')
    """
    known = {
        "utf-8": "UTF-8",
        "utf-8-sig": "UTF-8 with a byte order mark",
        "cp1252": "cp1252 (Windows, Western Europe)",
        "cp1250": "cp1250 (Windows, Central Europe)",
        "cp1251": "cp1251 (Windows, Cyrillic)",
        "cp1253": "cp1253 (Windows, Greek)",
        "cp1254": "cp1254 (Windows, Turkish)",
    }
    return known.get(encoding, unicodedata.normalize("NFC", encoding))
