"""Habits that a reader of the tree relies on: what files say, and which of them import which."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

import hedgerow

ROOT = Path(__file__).parents[2]
FOLDERS = ("src", "tests", "benchmarks", "docs", "examples", ".github", ".ci")
TEXTS = {".py", ".md", ".toml", ".yaml", ".yml", ".json", ".txt", ".c", ".cff", ".js", ".css"}
TESTS = sorted((ROOT / "tests").rglob("*.py"))

# Words about how this came to be, which say nothing of what it is. In pieces, so that this file has none of them.
OF_PROCESS = re.compile(
    "|".join(
        (
            r"\bstage" r"[ _-]?\d",
            r"\bSP" r"EC\b(?!TRE)",
            r"\b(AUDIT|LATTICE|IMPROVE|ROOMS|STYLE)" r"\.md\b",
            r"\bfirst" r" design\b",
            r"(?i:\bproto" r"type)",
            r"\ba review" r" (of [\w ]+ )?found\b",
            r"\.\./" r"shared\b",
        )
    )
)


def texts() -> Iterator[Path]:
    """Files that people read, without what tools leave behind."""
    yield from (path for path in sorted(ROOT.iterdir()) if path.suffix in TEXTS or path.name == "Makefile")
    for folder in FOLDERS:
        yield from (path for path in sorted((ROOT / folder).rglob("*")) if path.is_file() and path.suffix in TEXTS)


def test_no_file_tells_how_it_came_to_be() -> None:
    found = []
    for path in texts():
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            if OF_PROCESS.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}")
    assert not found


def test_the_words_are_found() -> None:
    for word in (
        "stage" + " 3",
        "SP" + "EC §2",
        "AUDIT" + ".md",
        "a review" + " of the engines found",
        "Proto" + "type",
    ):
        assert OF_PROCESS.search(f"as the {word} has it")
    assert not OF_PROCESS.search("the stage of life; a progress callback is told the stage; special; to audit")


def test_what_stands_in_two_places_is_the_same() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert (cited["version"], cited["license"]) == (hedgerow.__version__, project["license"])
    tried = yaml.safe_load((ROOT / ".github/workflows/tests.yml").read_text(encoding="utf-8"))["jobs"]["test"]
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    assert tried["strategy"]["matrix"]["python"] == named


@pytest.mark.parametrize("path", TESTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_test_module_is_imported_by_another(path: Path) -> None:
    """What several modules need lies in tests/cases, or beside them under a name of its own."""
    own = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    source = path.read_text(encoding="utf-8")
    imported = set(re.findall(r"\btests(?:\.\w+)*\.test_\w+", source))  # in texts too, which processes run
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tests"):
            imported |= {f"{node.module}.{one.name}" for one in node.names if one.name.startswith("test_")}
    assert imported <= {own}
