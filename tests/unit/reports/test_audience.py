"""A report for the public holds nothing that is not in the release: not a trace of what was withheld or left out."""

from __future__ import annotations

import io
import random
from pathlib import Path
from typing import Any

import pytest

import hedgerow as hr
from hedgerow.errors import HedgerowError

CANARY = "Quasimodo"
PLAN = hr.Plan.from_dict(
    {
        "attributes": {
            "name": "identifier",
            "age": {"role": "quasi-identifier", "hierarchy": {"bands": [5, 10]}, "limit": {"level": 2}},
            "town": "quasi-identifier",
            "illness": "sensitive",
        },
        "privacy": {"k": 3},
    }
)
FORMS = ("page", "pdf", "ddi", "dcat")


def table(canary: str, age: int) -> str:
    """A table with two records that no limit lets anybody hide, and columns that are not released."""
    draw = random.Random(3)
    rows = [
        f"{canary}-{i},{draw.randint(20, 59)},{draw.choice('ab')},{draw.choice(['flu', 'cold'])},x" for i in range(80)
    ]
    rows += [f"{canary}-w,{age},{canary}-town,{canary}-illness,{canary}-note", f"{canary}-v,{age + 9},a,{canary}-ill,y"]
    return f"name,age,town,illness,{canary}_column\n" + "\n".join(rows) + "\n"


def written(folder: Path, canary: str, age: int) -> dict[str, bytes]:
    """Release the table, and write the report of the release in every form."""
    folder.mkdir()
    (folder / "data.csv").write_text(table(canary, age))
    made = hr.anonymize(folder / "data.csv", PLAN, folder / "release")
    assert made.facts["withheld"] == 2
    return {form: _written(folder, form) for form in FORMS}


def _written(folder: Path, form: Any) -> bytes:
    hr.report(folder / "release", folder / form, audience="public", form=form)
    return (folder / form).read_bytes()


def test_what_is_not_in_the_release_is_in_no_form_of_its_report(tmp_path: Path) -> None:
    from pypdf import PdfReader

    planted, harmless = written(tmp_path / "one", CANARY, 3), written(tmp_path / "two", "Somebody", 85)
    for form in FORMS:
        assert CANARY.encode() not in planted[form]
        assert planted[form] == harmless[form], form  # byte for byte: nothing depends on what was withheld or left out
    text = "".join(page.extract_text() for page in PdfReader(io.BytesIO(planted["pdf"])).pages)
    assert "Every promise is kept" in text
    assert CANARY not in text


def test_a_public_report_takes_neither_original_nor_store(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text(table(CANARY, 3))
    hr.anonymize(tmp_path / "data.csv", PLAN, tmp_path / "release")
    for more in ({"original": tmp_path / "data.csv"}, {"store": tmp_path / "s"}):
        with pytest.raises(HedgerowError, match="nothing that is not in the release"):
            hr.report(tmp_path / "release", tmp_path / "page.html", audience="public", **more)
    assert not (tmp_path / "page.html").exists()


def test_an_internal_report_says_so_and_is_for_its_owner_alone(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text(table(CANARY, 3))
    hr.anonymize(tmp_path / "data.csv", PLAN, tmp_path / "release")
    made = hr.report(tmp_path / "release", tmp_path / "page.html", original=tmp_path / "data.csv")
    assert (made.audience, made.to_dict()["audience"]) == ("internal", "internal")
    assert "For the owner only" in made.html
    assert (tmp_path / "page.html").stat().st_mode & 0o777 == 0o600
    assert "For the owner only" not in hr.report(tmp_path / "release").html
    assert "For the owner only" in hr.report(tmp_path / "release", audience="internal").html
