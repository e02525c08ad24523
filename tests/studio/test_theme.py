"""Text can be read on its ground, in light and in dark."""

from __future__ import annotations

import re

import pytest

from hedgerow.studio.theme import CSS

PAIRS = [
    ("ink", "paper"),
    ("ink", "card"),
    ("muted", "paper"),
    ("muted", "card"),
    ("accent", "card"),
    ("accent", "paper"),
    ("accent", "accent-soft"),
    ("accent-ink", "accent"),
    ("warn", "warn-soft"),
    ("bad", "bad-soft"),
    ("bad", "card"),
    ("good", "good-soft"),
    ("ink", "warn-soft"),
    ("ink", "bad-soft"),
    ("chart-1", "card"),
]


def colours(selector: str) -> dict[str, str]:
    block = CSS[CSS.index(f"{selector} {{") :].partition("}")[0]
    return dict(re.findall(r"--([\w-]+):\s*(#[0-9a-f]{6})", block))


def brightness(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("selector", [":root", ".body--dark"])
@pytest.mark.parametrize(("text", "ground"), PAIRS)
def test_contrast(selector: str, text: str, ground: str) -> None:
    found = colours(selector)
    light, dark = sorted((brightness(found[text]), brightness(found[ground])), reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= 4.5
