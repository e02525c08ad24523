r"""Text that can do nothing to the terminal or the page that shows it.

Names of files, columns, labels, rules and tables are other people's texts. One may hold what a terminal obeys (escape
sequences), what turns the direction of writing round, a line of its own making, or half of a character, which cannot be
written at all. All that Hedgerow prints goes through here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

# Control characters, lone surrogates, separators of lines and paragraphs, and what is there to format and is not
# seen. Joiners (U+200C, U+200D) stay: Persian, Hindi and families of emoji are written with them.
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f]"
)


def escape_text(text: str, keep: str = "") -> str:
    r"""Write characters that are not seen but do something as Python would; ``keep``: those that are ours.

    Examples
    --------
    >>> print(escape_text("red\x1b[31m\nline\u202e"))
    red\x1b[31m\nline\u202e
    """
    return _UNSEEN.sub(lambda found: found[0] if found[0] in keep else _as_python(found[0]), text)


def escape_data(value: Any) -> Any:
    r"""Escape every text in plain data, keys too.

    Examples
    --------
    >>> escape_data({"name\n": ["a\x07", 3]})
    {'name\\n': ['a\\x07', 3]}
    """
    if isinstance(value, str):
        return escape_text(value)
    if isinstance(value, Mapping):
        return {escape_data(key): escape_data(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [escape_data(part) for part in value]
    return value


def escape_json(text: str) -> str:
    r"""Write such characters in JSON text, where they stand in strings only, as JSON escapes them.

    Examples
    --------
    >>> print(escape_json('{"name": "a\u202eb"}'))
    {"name": "a\u202eb"}
    """
    return _UNSEEN.sub(lambda found: found[0] if found[0] == "\n" else _as_json(found[0]), text)


def _as_python(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def _as_json(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
