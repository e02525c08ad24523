"""Stores that Hedgerow 0.1.0 made are opened, checked, exported, brought up to date, changed and checked again.

``first-0.1.0.store`` is by the first Hedgerow that had stores (layout 2), ``last-0.1.0.store`` by the last one of 0.1.0
(layout 3). Both hold the same four versions of made-up people: 30 came, 6 came, p04 and p31 left, p07 and p08 changed;
then p04 was erased.
"""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import pyarrow as pa
import pytest

from hedgerow.api import verify
from hedgerow.errors import DataError
from hedgerow.maintenance import checking, open_release
from hedgerow.maintenance.store.schema import STEPS

STORES = Path(__file__).parents[2] / "cases" / "stores"
LAYOUTS = {"first-0.1.0.store": "2", "last-0.1.0.store": "3"}


@pytest.fixture(params=LAYOUTS)
def older(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A copy of a store."""
    return Path(shutil.copy(STORES / request.param, tmp_path / request.param))


def new_people(*keys: str) -> pa.Table:
    count = len(keys)
    return pa.table({"id": list(keys), "age": ["33"] * count, "city": ["Ash"] * count, "ill": ["flu"] * count})


def test_looking_at_an_older_store_leaves_it_as_it_is(older: Path, tmp_path: Path) -> None:
    before = hashlib.sha256(older.read_bytes()).hexdigest()
    with open_release(older) as release:
        assert [(row.verb, row.tool) for row in release.history()] == [
            (verb, "hedgerow 0.1.0") for verb in ("create", "insert", "delete", "update")
        ]
        assert len(release.erasures()) == 1
        found = release.check()
        assert found["chain"]
        assert found["verification"]["kept"]
        release.export(4, tmp_path / "release")
        assert release.audit().to_dict() == {**release.audit().to_dict(), "versions": 4}
        with pytest.raises(DataError, match="People were erased who were in version 2"):
            release.export(2, tmp_path / "gone")
        assert release._store.meta()["schema"] == LAYOUTS[older.name]
    assert verify(tmp_path / "release").kept
    assert hashlib.sha256(older.read_bytes()).hexdigest() == before


def test_an_older_store_is_brought_up_to_date_with_the_next_change(
    older: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checking, "ALWAYS_FULL", 0)
    for change, how in (("insert", "full"), ("update", "in part"), ("delete", "in part")):
        with open_release(older) as release:
            given = new_people("p50", "p51", "p52")
            if change == "update":
                given = given.set_column(2, "city", [["Oak"] * 3])
            getattr(release, change)(given.select(["id"]) if change == "delete" else given)
            row = release.history()[-1]
            assert row.verification["covered"]["how"] == row.audit["covered"]["how"] == how
            assert {**release.audit().to_dict(), "covered": row.audit["covered"]} == row.audit
            assert release._store.meta()["schema"] == str(len(STEPS))
            found = release.check()
            assert found["chain"]
            assert found["verification"]["kept"]
    with open_release(older) as release:
        assert [row.number for row in release.history()] == [1, 2, 3, 4, 5, 6, 7]
        release.export(4, tmp_path / "release")
    assert verify(tmp_path / "release").kept
