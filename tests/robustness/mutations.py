"""Changing bytes, text and plain data in ways that know how they are put together."""

from __future__ import annotations

import json
import random
import struct
from collections.abc import Callable, Sequence
from typing import Any

NASTY_BYTES = (0, 1, 0x7F, 0x80, 0xFE, 0xFF)
NASTY_NUMBERS = (0, 1, -1, 2, 7, 8, 255, 256, 65_535, 2**31 - 1, -(2**31), 2**31, 2**32 - 1, 2**62, 2**63 - 1, -(2**63))
NASTY_TEXTS = (
    "", " ", "\0", "a\0b", "\ufeff", "\u202e", "\U0001f600", "e\u0301", "\ud7ff", "NaN", "inf", "-0", "1e999", "9" * 400,
    "9" * 5000, "0." + "1" * 5000, "2024-02-30", "0000-00-00", "=1+1", "'", '"', '""', "'=x", "true", "null", "~", "*", "#",
    "x" * 3000, "\t", "\r", "\n", "\x85", "\u2028", "../x", "/etc/passwd", "%s", "{}", "<b>", "[0, 10)", "0-9", "0-", "-1--1",
)  # fmt: skip


def change_bytes(draw: random.Random, whole: bytes, others: Sequence[bytes], places: Sequence[int] = ()) -> bytes:
    """Change some bytes, mostly near places that matter."""
    found = bytearray(whole)
    for _ in range(draw.choice((1, 1, 1, 2, 3, 8))):
        draw.choice(BYTE_CHANGES)(draw, found, others, places)
    return bytes(found)


def _at(draw: random.Random, found: bytearray, places: Sequence[int]) -> int:
    if places and draw.random() < 0.7:
        return min(max(draw.choice(places) + draw.randrange(-4, 12), 0), max(len(found) - 1, 0))
    return draw.randrange(max(len(found), 1))


def _flip(draw: random.Random, found: bytearray, others: Sequence[bytes], places: Sequence[int]) -> None:
    if found:
        found[_at(draw, found, places)] ^= 1 << draw.randrange(8)


def _set(draw: random.Random, found: bytearray, others: Sequence[bytes], places: Sequence[int]) -> None:
    if found:
        found[_at(draw, found, places)] = draw.choice((*NASTY_BYTES, draw.randrange(256)))


def _number(draw: random.Random, found: bytearray, others: Sequence[bytes], places: Sequence[int]) -> None:
    form = draw.choice(("<i", "<q", "<h", ">i"))
    size = struct.calcsize(form)
    at = _at(draw, found, places)
    if draw.random() < 0.5:
        at -= at % size
    if at + size <= len(found):
        before = struct.unpack_from(form, found, at)[0]
        new = draw.choice((*NASTY_NUMBERS, before + 1, before - 1, before * 2, before + 8, len(found)))
        bits = 8 * size
        struct.pack_into(form, found, at, (new + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1)))


def _cut(draw: random.Random, found: bytearray, others: Sequence[bytes], places: Sequence[int]) -> None:
    del found[_at(draw, found, places) :]


def _remove(draw: random.Random, found: bytearray, others: Sequence[bytes], places: Sequence[int]) -> None:
    at = _at(draw, found, places)
    del found[at : at + draw.choice((1, 2, 8, 64, 1000))]


def _repeat(draw: random.Random, found: bytearray, others: Sequence[bytes], places: Sequence[int]) -> None:
    at = _at(draw, found, places)
    part = found[at : at + draw.choice((1, 8, 64, 500))]
    found[at:at] = part * draw.choice((1, 1, 2, 20))


def _zero(draw: random.Random, found: bytearray, others: Sequence[bytes], places: Sequence[int]) -> None:
    at = _at(draw, found, places)
    size = min(draw.choice((4, 8, 64)), len(found) - at)
    found[at : at + size] = bytes([draw.choice(NASTY_BYTES)]) * size


def _splice(draw: random.Random, found: bytearray, others: Sequence[bytes], places: Sequence[int]) -> None:
    other = draw.choice(others) if others else bytes(found)
    start = draw.randrange(max(len(other), 1))
    part = other[start : start + draw.choice((4, 16, 200, 2000))]
    at = _at(draw, found, places)
    found[at : at + (len(part) if draw.random() < 0.7 else 0)] = part


BYTE_CHANGES: tuple[Callable[[random.Random, bytearray, Sequence[bytes], Sequence[int]], None], ...] = (
    _flip, _flip, _set, _set, _number, _number, _number, _cut, _remove, _repeat, _zero, _splice,
)  # fmt: skip


def change_text(draw: random.Random, whole: str, words: Sequence[str]) -> str:
    """Change some lines and words, with words that mean something in the language of the text."""
    lines = whole.split("\n")
    for _ in range(draw.choice((1, 1, 2, 4))):
        at = draw.randrange(len(lines))
        line = lines[at]
        spot = draw.randrange(len(line) + 1)
        way = draw.randrange(9)
        if way == 0:
            lines[at] = line[:spot] + draw.choice(words) + line[spot:]
        elif way == 1:
            lines[at] = line[:spot] + draw.choice(words) + line[spot + draw.randrange(8) :]
        elif way == 2:
            del lines[at : at + draw.choice((1, 1, 5))]
            lines = lines or [""]
        elif way == 3:
            lines[at:at] = [line] * draw.choice((1, 2, 50))
        elif way == 4:
            other = draw.randrange(len(lines))
            lines[at], lines[other] = lines[other], lines[at]
        elif way == 5:
            lines[at] = " " * draw.randrange(12) + line
        elif way == 6:
            lines[at] = draw.choice(words) * draw.choice((2, 50, 2000))
        elif way == 7:
            lines[at] = line[:spot]
        else:
            lines[at] = line[:spot] + draw.choice(NASTY_TEXTS) + line[spot:]
    return "\n".join(lines)


def change_data(draw: random.Random, whole: Any) -> Any:
    """Replace, remove or add a part of plain data."""
    found = json.loads(json.dumps(whole))
    for _ in range(draw.choice((1, 1, 2, 3))):
        spots: list[tuple[Any, Any]] = []
        _collect(found, spots)
        if not spots:
            return _nasty(draw)
        parent, key = draw.choice(spots)
        way = draw.randrange(5)
        if way == 0:
            del parent[key]
        elif way == 1 and isinstance(parent, dict):
            parent[draw.choice(NASTY_TEXTS)] = parent[key]
        elif way == 2 and isinstance(parent, list):
            parent.extend([parent[key]] * draw.choice((1, 100)))
        else:
            parent[key] = _nasty(draw)
    return found


def _collect(part: Any, spots: list[tuple[Any, Any]]) -> None:
    keys = list(part) if isinstance(part, dict) else range(len(part)) if isinstance(part, list) else []
    for key in keys:
        spots.append((part, key))
        _collect(part[key], spots)


def _nasty(draw: random.Random) -> Any:
    deep: Any = 1
    for _ in range(draw.choice((0, 30, 60, 300))):
        deep = draw.choice(([deep], {"a": deep}))
    choices = (
        None, True, False, [], {}, "", 0.5, -0.0, float("nan"), float("inf"), [None], {"": None}, [[]], deep, 10**30, 10**400,
        draw.choice(NASTY_NUMBERS), draw.choice(NASTY_TEXTS), [draw.choice(NASTY_NUMBERS)] * 3, {"a": draw.choice(NASTY_TEXTS)},
    )  # fmt: skip
    return draw.choice(choices)
