"""The PDF of a report: its foot, its pages, its bytes; what is said where WeasyPrint is missing."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
from pypdf import PdfReader

import hedgerow as hr
from hedgerow.errors import HedgerowError
from hedgerow.plan.concepts import MEASURES, PRIVACY_MODELS
from tests.cases.reported import PLANS, Page, people

SIGN_OFF = hr.SignOff(title="Patäients “2024”</style>", approver="A. Officer", legal_basis="consent")


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "release"
    hr.anonymize(people(), PLANS["diverse"], folder)
    return folder


def test_every_page_has_the_name_of_the_release_and_its_fingerprint_at_its_foot(release: Path, tmp_path: Path) -> None:
    made = hr.report(release, tmp_path / "one.pdf", form="pdf", sign_off=SIGN_OFF)
    content = (tmp_path / "one.pdf").read_bytes()
    reader = PdfReader(io.BytesIO(content))
    data = next(one for one in made.digests if one.name == "data.csv")
    for number, page in enumerate(reader.pages, 1):
        text = page.extract_text()
        assert "Patäients “2024”</style> · sha256:" + data.sha256[:16] in text
        assert f"{number} / {len(reader.pages)}" in text
    assert reader.trailer["/Root"]["/MarkInfo"]["/Marked"]  # screen readers know what is a heading and what a table
    last = reader.pages[-1].extract_text()
    assert "Approval" in last
    assert "A. Officer" in last
    assert "consent" in last
    hr.report(release, tmp_path / "two.pdf", form="pdf", sign_off=SIGN_OFF)
    assert (tmp_path / "two.pdf").read_bytes() == content


def test_rows_and_short_tables_stay_on_one_page() -> None:
    css = hr.report(hr.anonymize(people(), PLANS["cluster"])).html
    printed = css[css.index("@media print") :]
    assert ".wide, .fields, #summary .tiles { break-inside: avoid; }" in printed
    assert "thead { display: table-header-group; }" in printed


def test_a_short_table_is_not_split_over_pages(release: Path, tmp_path: Path) -> None:
    hr.report(release, tmp_path / "one.pdf", form="pdf")
    texts = [" ".join(page.extract_text().split()) for page in PdfReader(tmp_path / "one.pdf").pages]
    for first, last in (("Who gets it, and how well", "What is done if somebody is re-identified"),):
        assert sum(first in text for text in texts) == 1
        assert [first in text for text in texts] == [last in text for text in texts]


def test_where_weasyprint_is_missing_the_extra_is_named(
    release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "weasyprint", None)
    with pytest.raises(HedgerowError, match=r"\[pdf\]"):
        hr.report(release, tmp_path / "one.pdf", form="pdf")
    assert not (tmp_path / "one.pdf").exists()


def test_the_glossary_has_every_measure_of_the_facts_and_every_model_of_the_plan() -> None:
    release = hr.anonymize(people(), PLANS["diverse"])
    page = hr.report(release).html
    glossary = page[page.index('<section id="glossary">') :].split("</section>")[0]
    for measure in MEASURES:
        assert measure.meaning.endswith("."), measure.name
        assert (measure.title.replace("'", "&#39;") in glossary) == (measure.name in release.facts), measure.name
    for model in PRIVACY_MODELS:
        assert model.meaning.endswith("."), model.name
        assert (f">{model.name}: " in glossary) == (model.name in ("p", "alpha")), model.name


def test_the_checklist_is_answered_from_facts_or_left_open() -> None:
    made = hr.anonymize(people(), PLANS["diverse"])
    page = hr.report(made, sign_off=hr.SignOff(recipients="students of the course")).html
    words = Page(page).words
    part = words[words.index("Singling out, linkability") : words.index("not a certificate of conformity")]
    assert "every group has 4 records or more" in part
    assert "whoever knows note of a person" in part  # a column called harmless is released exactly
    assert "as is promised (p = 2, alpha = 0.9 for illness)" in part
    assert "students of the course" in part
    assert "When is the next review?" in part
    assert part.count("☐ yours") >= 5
