"""The page on verification leads through the verifier as it is; its tables have an entry for all that a plan can ask."""

from __future__ import annotations

import pytest

from hedgerow.plan.concepts import PRIVACY_MODELS
from hedgerow.plan.formats import FILE_FORMATS, release_formats
from hedgerow.verification import MEANINGS
from hedgerow.verification.promises.models import DEMANDS
from hedgerow.verification.reading.formats import FORMATS
from hedgerow.verification.reading.listing import DATA
from hedgerow.verification.result import Meanings
from tests.docs.verifier import PAGE, PARTS, VERIFIER, files, lines, said, written


def test_the_page_shows_the_files_as_they_are() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == written(page), "run python -m tests.docs.verifier"


def test_every_file_is_in_the_table_says_what_it_does_and_is_short() -> None:
    found = list(files())
    assert set(found) == {path for path in VERIFIER.rglob("*.py") if path.name != "__init__.py"}
    assert {path.name for path in found if not said(path)} == set()
    assert {path.name for path in found if lines(path) > 370} == set()
    assert {path.parent.name for path in VERIFIER.rglob("__init__.py")} == {"verification", *filter(None, PARTS)}


def test_every_model_has_its_check_and_every_format_its_reader() -> None:
    assert set(DEMANDS) == set(PRIVACY_MODELS.names)
    assert set(FORMATS) == set(FILE_FORMATS.names)
    assert [name for name, one in FORMATS.items() if one.released] == [one.name for one in release_formats()]
    assert list(DATA) == [one.released_file for one in release_formats()]


def test_a_promise_of_a_model_means_what_its_descriptor_says_where_nothing_else_is_said() -> None:
    assert all(MEANINGS[name] for name in DEMANDS)
    assert Meanings()["p"] == PRIVACY_MODELS["p"].help
    with pytest.raises(KeyError):
        MEANINGS["nothing"]
