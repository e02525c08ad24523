"""The private link table comes and goes with its release, and a file of somebody else's is never touched."""

from __future__ import annotations

import errno
from pathlib import Path

import pyarrow as pa
import pytest

import hedgerow as hr
from hedgerow import api
from hedgerow.outside.outputs import folder

PEOPLE = pa.table({"sex": ["F", "F", "M", "M"]})
PLAN = hr.Plan.from_dict({"attributes": {"sex": "quasi-identifier"}, "privacy": {"k": 2}})


def test_a_link_that_appears_meanwhile_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "link.csv").write_text("somebody else's")
    monkeypatch.setattr(api, "check_targets", lambda output, link, replace: None)  # it was not there yet
    with pytest.raises(hr.DataError, match="made at the output's place meanwhile"):
        hr.anonymize(PEOPLE, PLAN, tmp_path / "release", link=tmp_path / "link.csv")
    assert (tmp_path / "link.csv").read_text() == "somebody else's"
    assert not (tmp_path / "release").exists()


def test_a_release_that_cannot_be_put_in_place_takes_its_link_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(folder, "_put", fail)
    with pytest.raises(hr.DataError, match="No space left"):
        hr.anonymize(PEOPLE, PLAN, tmp_path / "release", link=tmp_path / "link.csv")
    assert list(tmp_path.iterdir()) == []


def test_release_and_link_belong_together(tmp_path: Path) -> None:
    hr.anonymize(PEOPLE, PLAN, tmp_path / "release", link=tmp_path / "link.csv")
    assert hr.verify(tmp_path / "release", PEOPLE, tmp_path / "link.csv").kept
