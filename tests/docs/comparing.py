"""Whether what was printed is what a page shows: word by word, figures exactly; ``…`` stands for what is left out."""

from __future__ import annotations

import re
from collections.abc import Sequence

LEFT_OUT = "…"
MASKS = (  # what is another with every run, or on every machine
    (re.compile(r"\b\d{4}-\d\d-\d\d \d\d:\d\d\b"), "⟨moment⟩"),
    (re.compile(r"\b\d+(?:\.\d+)? (?:s|ms|MB|GB|MiB|GiB)\b"), "⟨amount⟩"),
    (re.compile(r"\bSHA256:[\w+/=]+…?"), "⟨fingerprint⟩"),
    (re.compile(r"127\.0\.0\.1:\d+"), "⟨port⟩"),
    (re.compile(r"[─━═┄╌]{3,}"), " "),
)


def difference(shown: str, printed: str) -> str | None:
    """Say where what was printed parts from what is shown; None if it does not.

    White space and line breaks do not count. A word with ``…`` in it stands for every word that has its other parts.

    Examples
    --------
    >>> difference("groups  361, …\\nkept", "groups   361, the smallest of 5\\nevery promise is\\nkept")
    >>> difference("groups 36", "groups 361")
    "shown 'groups 36', not printed so"
    """
    wanted, words = _words(shown), _words(printed)
    parts = _parts(wanted)
    at = 0
    for number, part in enumerate(parts):
        last = number == len(parts) - 1
        if number == 0:
            starts: Sequence[int] = [0]
        elif last:
            starts = [max(at, len(words) - len(part))] if part else [len(words)]
        else:
            starts = range(at, len(words) - len(part) + 1)
        found = next((start for start in starts if _agree(part, words[start : start + len(part)])), None)
        if found is None:
            return f"shown {' '.join(part)!r}, not printed so"
        at = found + len(part)
    if at < len(words):
        return f"printed {' '.join(words[at : at + 12])!r}, which is not shown"
    return None


def _words(text: str) -> list[str]:
    for pattern, mask in MASKS:
        text = pattern.sub(mask, text)
    return text.split()


def _parts(words: list[str]) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for word in words:
        if word == LEFT_OUT:
            parts.append([])
        else:
            parts[-1].append(word)
    return parts


def _agree(part: list[str], words: list[str]) -> bool:
    return len(part) == len(words) and all(
        re.fullmatch(".*".join(map(re.escape, shown.split(LEFT_OUT))), word)
        for shown, word in zip(part, words, strict=True)
    )
