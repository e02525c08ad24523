"""A report of a release that is kept current tells about all its versions."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from hedgerow import Plan, anonymize, create_release, report
from hedgerow.errors import DataError

PLAN = Plan.from_dict(
    {
        "key": "id",
        "attributes": {"age": {"role": "quasi-identifier", "hierarchy": {"bands": [10, 20]}}, "illness": "sensitive"},
        "privacy": {"k": 3},
    }
)


def people(first: int, last: int) -> pa.Table:
    numbers = range(first, last)
    return pa.table(
        {
            "id": [str(number) for number in numbers],
            "age": [str(20 + number % 30) for number in numbers],
            "illness": ["flu" if number % 3 else "cold" for number in numbers],
        }
    )


def test_the_audit_of_all_versions_is_told(tmp_path: Path) -> None:
    with create_release(people(0, 60), PLAN, tmp_path / "store") as release:
        release.insert(people(60, 61))
        release.export(2, tmp_path / "two")
        release.export(1, tmp_path / "one")
        audit = release.audit().to_dict()
    made = report(tmp_path / "two", store=tmp_path / "store")
    assert made.audit == {**audit, "version": 2, "versions": 2, "republish": "free"}
    assert "This is version 2 of 2 versions" in made.html
    assert "people left" in made.html
    assert made.to_dict()["audit"] == made.audit
    assert "This is version 1 of 2 versions" in report(tmp_path / "one", store=tmp_path / "store").html
    assert 'id="versions"' not in report(tmp_path / "two").html


def test_a_release_of_another_store_is_refused(tmp_path: Path) -> None:
    with create_release(people(0, 60), PLAN, tmp_path / "store"):
        pass
    anonymize(people(0, 50), PLAN, tmp_path / "other")
    with pytest.raises(DataError, match="not a version"):
        report(tmp_path / "other", tmp_path / "page.html", store=tmp_path / "store")
    assert not (tmp_path / "page.html").exists()
