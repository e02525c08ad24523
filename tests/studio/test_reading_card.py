"""How the file is read, in the browser: what was found out is shown with its reason, and can be said otherwise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hedgerow import Plan
from tests.cases.messy_export import HEADER, write_messy_export
from tests.studio.servers import Served
from tests.studio.steps import NewPage, expect_text, fill, plan_text


def test_what_was_found_out_is_said_and_can_be_corrected(studio: Served, new_page: NewPage, tmp_path: Path) -> None:
    export = write_messy_export(tmp_path / "export.csv")
    page = new_page()
    page.goto(studio.link())
    page.set_input_files("[data-testid=upload-input]", export)
    expect_text(page, "records", "900")
    expect_text(page, "columns", f"{len(HEADER)}")
    assert "Semicolon" not in page.inner_text("[data-testid=how-it-is-read]")  # there is no doubt about it
    page.click("[data-testid=read-rest]")
    page.wait_for_selector("text=It cuts each of the first")
    card = page.inner_text("[data-testid=how-it-is-read]")
    assert "3 things to check" in card
    for said in ("Semicolon", "cp1252", "Comma: 72,5", "Point: 1.234", "far from all other numbers"):
        assert said in card, said
    assert page.input_value("[data-testid=read-missing]") == "- | n/a | k.A."
    assert page.input_value("[data-testid=read-missing_in]") == "Größe (cm): 999"

    _otherwise(page, "decimal", "Point: 72.5")  # said wrong: the weights are no numbers then
    page.wait_for_selector("[data-testid=how-it-is-read] :text('as you said')")
    assert 'decimal: "' not in plan_text(page)
    _otherwise(page, "decimal", "Comma: 72,5")
    fill(page, "read-missing", "k.A. | n/a")  # "-" is an answer here
    page.wait_for_selector("[data-testid=how-it-is-read] :text('2 things to check')")
    assert "missing: ['', k.A., n/a]" in plan_text(page)
    fill(page, "read-missing", "k.A. | n/a | -")
    page.wait_for_selector("[data-testid=how-it-is-read] :text('“-”')")
    data = Plan.loads(plan_text(page)).data  # what was said while the table was read counts too
    assert (data.decimal, data.thousands, data.missing) == (",", ".", ("", "k.A.", "n/a", "-"))


def test_a_file_without_names_and_a_wrong_delimiter(studio: Served, new_page: NewPage, tmp_path: Path) -> None:
    rows = "\n".join(f"Smith{number % 7};{20 + number % 50};a" for number in range(90))
    (tmp_path / "plain.csv").write_text(rows)
    page = new_page()
    page.goto(studio.link())
    page.set_input_files("[data-testid=upload-input]", tmp_path / "plain.csv")
    expect_text(page, "records", "90")
    assert "column 2" in plan_text(page)
    page.click("[data-testid=how-it-is-read] >> text=How the file is read")
    _otherwise(page, "delimiter", "Comma")
    expect_text(page, "columns", "1")
    _otherwise(page, "delimiter", "Semicolon")
    expect_text(page, "columns", "3")


def _otherwise(page: Any, key: str, option: str) -> None:
    """Say that something is otherwise than was found out."""
    page.locator(f'[data-testid="read-{key}"]').click()
    page.get_by_role("option", name=option, exact=True).click()
