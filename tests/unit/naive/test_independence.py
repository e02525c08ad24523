"""The references import themselves and the standard library, and nothing of what they judge."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from tests.naive import adult

# ---- independence ----------------------------------------------------------------------------------------

MODULES = sorted(Path(adult.__file__).parent.glob("*.py"))


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.stem)
def test_naive_imports_only_itself_and_the_standard_library(module: Path) -> None:
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [node.module or ""]
        assert {name.partition(".")[0] for name in names} <= sys.stdlib_module_names
