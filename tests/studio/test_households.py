"""Households in the studio: chosen on Data, counted on the result, attacked there; in a real Chromium."""

from __future__ import annotations

from pathlib import Path

from hedgerow.evaluation.synthetic.households import household_census
from tests.studio.servers import Served
from tests.studio.steps import NewPage, choose, expect_text, fill


def test_households_are_linked_on_data_and_counted_on_the_result(
    studio: Served, new_page: NewPage, tmp_path: Path
) -> None:
    made = household_census(households=200)
    kept = {name: made.columns[name] for name in ("household", "location", "sex", "age")}
    rows = [",".join(kept), *map(",".join, zip(*kept.values(), strict=True))]
    (tmp_path / "people.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    page = new_page()
    page.goto(studio.link())
    page.set_input_files("[data-testid=upload-input]", tmp_path / "people.csv")
    expect_text(page, "records", str(len(rows) - 1))
    choose(page, "unit", "household")
    page.wait_for_selector("[data-testid=unit-same]")
    choose(page, "unit-same", "location")
    page.keyboard.press("Escape")
    page.click("[data-testid=nav-promise]")
    assert "household are published linked" in page.inner_text("[data-testid=linked-units]")
    fill(page, "k", "3")
    page.wait_for_timeout(500)
    page.click("[data-testid=nav-run]")
    page.click("[data-testid=start]")
    page.click("[data-testid=result-1]", timeout=120_000)
    assert "kept" in page.inner_text("[data-testid=verdict]")
    assert int(page.inner_text("[data-testid=units-alike]").split()[0]) >= 3
    assert float(page.inner_text("[data-testid=loss-not-linked]").split()[0]) <= 1
    page.click("[data-testid=analyses]")
    page.wait_for_selector("[data-testid=analyses-sentences]", timeout=120_000)
    assert "Rows of the release" in page.inner_text("[data-testid=analyses-sentences]")
    page.click("[data-testid=attack]")
    page.wait_for_selector("[data-testid=attack-linkage]", timeout=120_000)
    assert "Nobody is found more often than 1 in 3" in page.inner_text("[data-testid=attack-headline]")
    assert "a whole unit" in page.inner_text("[data-testid=attack-linkage]")
