"""Keeping Arrow from loading pandas, as it does with the first array if it finds it.

Python's own way, ``sys.modules["pandas"] = None``, does not do: Arrow is compiled by Cython, which takes that for a
module.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from types import ModuleType


class NoPandas(MetaPathFinder):
    """Says that there is no pandas."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        """Say so."""
        if name == "pandas":
            raise ModuleNotFoundError("No module named 'pandas'", name=name)
