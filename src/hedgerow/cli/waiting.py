"""What keeps a command waiting before it does anything: what is spared, and what is said about the rest."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence

from hedgerow.anonymization.kernels.telling import tell
from hedgerow.errors import HedgerowError
from hedgerow.outside.sandbox.running import prepare
from hedgerow.outside.sandbox.sparing import NoPandas

WORTH_A_WORD = 2  # seconds
READERS = frozenset(
    {"anonymize", "bound", "compare", "demo", "explain", "lattice", "release", "report", "verify", "weights"}
)


def tell_of_compiling() -> None:
    """Say it on standard error when a kernel is compiled and that takes a while."""

    def say(name: str, seconds: int) -> None:
        if seconds >= WORTH_A_WORD:
            print(f"Compiling parts of Hedgerow for this machine, once: about {seconds} s …", file=sys.stderr)

    tell(say)


def start_reader(words: Sequence[str]) -> None:
    """Start the process that files are parsed in children of, while everything else is loaded."""
    reads = words[:2] == ["plan", "draft"] or (bool(words) and words[0] in READERS - {"demo", "release"})
    if reads and not {"-h", "--help"} & set(words):
        with contextlib.suppress(HedgerowError, OSError):  # whoever reads a file says what is wrong
            prepare()


def spare_pandas(words: Sequence[str]) -> None:
    """Keep pyarrow from importing pandas, as it does with the first array if it finds it: a third of a second.

    No command that reads files or a database needs it; Spark does.
    """
    needs = any("spark" in word for word in words) or "pandas" in sys.modules
    if needs or not words or words[0] not in READERS or {"-h", "--help"} & set(words):
        return
    import pyarrow as pa

    hidden = NoPandas()
    sys.meta_path.insert(0, hidden)
    try:
        pa.array([0])  # looks for pandas, this once
    finally:
        sys.meta_path.remove(hidden)
