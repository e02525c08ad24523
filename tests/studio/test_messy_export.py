"""A hospital's messy export, from the upload to a report that is signed, by somebody who has the studio and nothing else."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest

from hedgerow import Plan, verify
from tests.cases.messy_export import write_messy_export
from tests.studio.servers import Served
from tests.studio.steps import NewPage, download, expect_text

MOST_DEEDS = 25


class Steward:
    """Somebody at a page; counts what they press, choose and fill in."""

    def __init__(self, page: Any) -> None:
        self.page, self.deeds = page, 0

    def press(self, testid: str) -> None:
        self.deeds += 1
        self.page.click(f'[data-testid="{testid}"]')

    def fill(self, testid: str, text: str) -> None:
        self.deeds += 1
        self.page.fill(f'[data-testid="{testid}"]', text)

    def bring(self, path: Path) -> None:
        self.deeds += 1
        self.page.set_input_files("[data-testid=upload-input]", path)

    def take(self, testid: str) -> bytes:
        self.deeds += 1
        return download(self.page, testid)


def test_from_upload_to_a_signed_report_without_yaml(studio: Served, new_page: NewPage, tmp_path: Path) -> None:
    pypdf = pytest.importorskip("pypdf")
    export = write_messy_export(tmp_path / "export.csv")
    page = new_page()
    page.goto(studio.link())
    steward = Steward(page)

    steward.bring(export)
    expect_text(page, "records", "900")
    steward.press("person-Patientennummer")
    page.wait_for_selector("[data-testid=people-question]", state="detached")
    page.wait_for_selector('[data-testid="table-advice-Diagnose-0"]')
    steward.press("table-advice-Diagnose-0")  # make it sensitive
    steward.press("ask-values-ok")
    expect_text(page, "sensitive-columns", "1")
    steward.press("next")
    page.wait_for_url("**/limits")
    page.wait_for_selector("[data-testid=withheld]")
    steward.press("propose-work")
    steward.press("propose-first-Geburtsdatum")  # else it would be lost to those that are kept exactly
    page.wait_for_selector("[data-testid=propose-first-Geburtsdatum]", state="detached")
    page.wait_for_selector("[data-testid=propose-use]")
    steward.press("propose-use")
    page.wait_for_selector("text=Undo takes them back")
    steward.press("next")
    page.wait_for_url("**/promise")
    page.wait_for_selector("[data-testid=withheld]")
    steward.press("audience-partners")
    page.wait_for_selector("[data-testid=audience-partners][aria-pressed=true]")
    steward.press("next")
    page.wait_for_url("**/run")
    steward.press("start")
    page.wait_for_selector("[data-testid=result-1]", timeout=120_000)
    steward.press("result-1")
    assert "kept" in page.inner_text("[data-testid=verdict]")
    lost = page.inner_text("[data-testid=hardly-left]")
    assert "Kosten" in lost
    assert "Geburtsdatum" not in lost
    archive = steward.take("export-release")
    said = {"title": "Stays of 2024", "organisation": "City hospital", "purpose": "Care research",
            "approver": "Dr. Weiß", "date": "2026-11-19"}  # fmt: skip
    for name, text in said.items():
        steward.fill(f"report-{name}", text)
    pages = [one.extract_text() for one in pypdf.PdfReader(io.BytesIO(steward.take("export-pdf"))).pages]

    assert steward.deeds <= MOST_DEEDS
    whole = " ".join(" ".join(pages).split())
    for text in said.values():
        assert text in whole, text
    assert "Approval" in pages[-1]
    assert "Dr. Weiß" in pages[-1]
    folder = tmp_path / "release"
    with zipfile.ZipFile(io.BytesIO(archive)) as packed:
        packed.extractall(folder)
    release = next(path.parent for path in folder.rglob("facts.json"))
    assert verify(release, export).kept
    plan = Plan.load(release / "plan.yaml")
    assert (plan.person, plan.privacy.k, plan.columns("sensitive")) == ("Patientennummer", 5, ("Diagnose",))
    assert {"Patientennummer", "Nachname", "Bemerkung"}.isdisjoint(plan.released_columns)
    rows = (release / "data.csv").read_text(encoding="cp1252").splitlines()
    assert rows[0].startswith("Geburtsdatum;")
    assert not any(row.startswith("*;") for row in rows[1:])  # at most 40 years, since that was kept first
