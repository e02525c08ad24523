"""Releases are the same, byte for byte, as at the last commit: a digest that changes needs a line in CHANGELOG.

``python -m tests.golden.releases`` writes the digests anew.
"""

from __future__ import annotations

import json

import pytest

from tests.golden.releases import KEPT, ON_OTHER_ENGINES, PLANS, release_digest, report_digest, version_digests

EXPECTED: dict[str, str] = json.loads(KEPT.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", PLANS)
def test_a_release_has_the_bytes_it_had(name: str) -> None:
    assert release_digest(name) == EXPECTED[name]


@pytest.mark.parametrize("name", ON_OTHER_ENGINES)
def test_a_release_of_duckdb_has_the_same_bytes(name: str) -> None:
    assert release_digest(name, "duckdb") == EXPECTED[name]


@pytest.mark.usefixtures("spark")
def test_a_release_of_spark_has_the_same_bytes() -> None:
    assert release_digest("cluster", "spark") == EXPECTED["cluster"]


def test_a_report_has_the_bytes_it_had() -> None:
    assert report_digest() == EXPECTED["report"]


def test_versions_of_a_release_have_the_bytes_they_had() -> None:
    found = dict(version_digests())
    assert found == {name: EXPECTED[name] for name in EXPECTED if name.startswith("version ")}


def test_every_digest_belongs_to_a_release() -> None:
    assert {name for name in EXPECTED if not name.startswith("version ")} == {*PLANS, "report"}
