"""The floor plan: as few rooms, files and layers as were agreed on, each saying what it is for."""

from __future__ import annotations

import ast
import importlib
import re

import pytest

from hedgerow.plan.concepts import Concept
from tests.docs.rooms import PAGE, ROOT, SOURCES, files_beside, layers, rooms, written

CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_the_page_shows_the_rooms_as_they_are() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == written(page), "run python -m tests.docs.rooms"


def test_there_are_few_rooms_files_and_layers() -> None:
    assert len(rooms()) <= 14
    assert len(files_beside()) <= 7
    assert len(layers()) <= 13


def test_every_room_and_file_has_its_layer() -> None:
    placed = {name for layer in layers() for name in layer}
    assert set(rooms()) <= placed
    assert {name.removesuffix(".py") for name in files_beside()} - {"__init__", "__main__"} <= placed


@pytest.mark.parametrize("room", rooms())
def test_a_room_says_what_lives_there_what_it_may_import_and_where_to_start(room: str) -> None:
    text = ast.get_docstring(ast.parse((SOURCES / room / "__init__.py").read_text(encoding="utf-8"))) or ""
    assert "May import:" in text or "may import" in text.lower()
    start = re.search(r"[Ss]tart reading at\s+``([\w/]+(?:\.py)?)``", text)
    assert start is not None
    assert (SOURCES / room / start[1]).exists()


def test_no_two_public_classes_have_one_name() -> None:
    homes: dict[str, list[str]] = {}
    for path in sorted(SOURCES.rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(str(path.relative_to(SOURCES)))
    assert {name: where for name, where in homes.items() if len(where) > 1} == {}


def test_types_that_travel_have_one_home() -> None:
    """IntArray, BoolArray, FloatArray, Progress and Steps are defined in types.py, and nowhere else."""
    again = [
        str(path.relative_to(SOURCES))
        for path in SOURCES.rglob("*.py")
        if path.name != "types.py"
        and re.search(
            r"^(IntArray|BoolArray|FloatArray|Progress|Steps)\b[^=\n]*=", path.read_text("utf-8"), re.MULTILINE
        )
    ]
    assert again == []


CONCEPTS = ("plan.concepts", "plan.formats", "plan.hierarchy.kind", "engines.descriptor")
QUESTIONS = re.findall(r"^\| (Where[^|]+\?) \| `([\w/]+\.py)` \| `(\w+)` \|$", CONTRIBUTING, re.MULTILINE)


def test_a_dozen_questions_are_answered() -> None:
    assert len(QUESTIONS) >= 12


@pytest.mark.parametrize(("question", "file", "name"), QUESTIONS)
def test_what_answers_a_question_is_there(question: str, file: str, name: str) -> None:
    path = SOURCES / file
    assert path.is_file(), question
    defined = [
        node.name
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    ]
    assert name in defined, question


def test_homes_of_descriptors_are_there() -> None:
    modules = [importlib.import_module(f"hedgerow.{name}") for name in CONCEPTS]
    for concept in (thing for module in modules for thing in vars(module).values() if isinstance(thing, Concept)):
        assert concept.all, concept.word
        assert f"`{concept.home.replace('hedgerow.', '').replace('.', '/')}/`" in CONTRIBUTING, concept.word
