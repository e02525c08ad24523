"""What keeps a command waiting before it does anything: what is spared, and what is said about the rest."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from types import ModuleType

from hedgerow.kernels.telling import tell

WORTH_A_WORD = 2  # seconds
READERS = frozenset({"anonymize", "compare", "demo", "explain", "lattice", "release", "report", "verify", "weights"})


def tell_of_compiling() -> None:
    """Say it on standard error when a kernel is compiled and that takes a while."""

    def say(name: str, seconds: int) -> None:
        if seconds >= WORTH_A_WORD:
            print(f"Compiling parts of Hedgerow for this machine, once: about {seconds} s …", file=sys.stderr)

    tell(say)


def spare_pandas(words: Sequence[str]) -> None:
    """Keep pyarrow from importing pandas, as it does with the first array if it finds it: a third of a second.

    No command that reads files or a database needs it; Spark does.
    """
    needs = any("spark" in word for word in words) or "pandas" in sys.modules
    if needs or not words or words[0] not in READERS or {"-h", "--help"} & set(words):
        return
    import pyarrow as pa

    hidden = _Hidden()
    sys.meta_path.insert(0, hidden)
    try:
        pa.array([0])  # looks for pandas, this once
    finally:
        sys.meta_path.remove(hidden)


class _Hidden(MetaPathFinder):
    """Says that there is no pandas."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        """Say so."""
        if name == "pandas":
            raise ModuleNotFoundError("No module named 'pandas'", name=name)
