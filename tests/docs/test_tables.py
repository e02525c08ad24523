"""Tables of the documentation say what the descriptors say."""

from __future__ import annotations

import pytest

from tests.docs.tables import TABLES, renewed


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_as_the_descriptors_have_it(name: str) -> None:
    path, text = renewed(name)
    assert path.read_text(encoding="utf-8") == text, "write them anew: python -m tests.docs.tables"
