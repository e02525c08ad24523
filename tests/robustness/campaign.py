"""What one attack is: a function that draws cases from a seed, tries them, and fails with an AssertionError."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Campaign:
    """One kind of attack.

    Attributes
    ----------
    name
        What it is called on the command line and in the tables.
    cases
        What is counted, in a few words: "injected faults".
    batch
        Draws some cases from a source of randomness, tries them in an empty folder of its own, and returns how many
        of which kind it tried. It takes a second or some; the same seed tries the same cases. A case that fails
        raises an AssertionError, which says how to try that case again; what lies in the folder then is kept.
    share
        How often it is run, compared with the others.
    """

    name: str
    cases: str
    batch: Callable[[random.Random, Path], Counter[str]]
    share: float = 1.0
