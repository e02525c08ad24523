"""A population in the studio: brought, looked up by columns, asked about, counted on the result; a register attacks."""

from __future__ import annotations

from pathlib import Path

from hedgerow import Plan
from hedgerow.studio.workbench import Workbench
from tests.studio.servers import Served
from tests.studio.steps import NewPage, choose, expect_text, fill

PEOPLE = [(number, "FM"[number % 2], f"t{number * 7 % 5}", 20 + number % 40) for number in range(600)]


def written(folder: Path) -> tuple[Path, Path]:
    """A sample, and the register that it was drawn from, which calls the town otherwise."""
    table, register = folder / "people.csv", folder / "register.csv"
    lines = [f"{number},{sex},{town},{age},i{number % 4}" for number, sex, town, age in PEOPLE[::3]]
    table.write_text("\n".join(["number,sex,town,age,illness", *lines]) + "\n")
    lines = [f"{number};{sex};{town};{age}" for number, sex, town, age in PEOPLE]
    register.write_text("\n".join(["number;sex;TOWN;age", *lines]) + "\n")
    return table, register


def test_a_population_is_brought_counted_in_and_attacks(studio: Served, new_page: NewPage, tmp_path: Path) -> None:
    table, register = written(tmp_path)
    page = new_page()
    page.goto(studio.link())
    page.set_input_files("[data-testid=upload-input]", table)
    expect_text(page, "records", "200")
    page.click("[data-testid=nav-promise]")
    page.set_input_files("[data-testid=upload-population-input]", register)
    page.wait_for_selector("[data-testid=population-name]")
    page.wait_for_function(
        "document.querySelector('[data-testid=population-fits]').innerText.includes('looked up by sex and age')"
    )
    choose(page, "population-by-town", "TOWN")
    page.wait_for_function(
        "document.querySelector('[data-testid=population-fits]').innerText.includes('sex, town and age')"
    )
    assert "600 people" in page.inner_text("[data-testid=population-fits]")
    fill(page, "k-map", "40")
    fill(page, "presence-most", "0.5")
    page.wait_for_timeout(500)
    page.click("[data-testid=nav-run]")
    page.click("[data-testid=start]")
    page.click("[data-testid=result-1]", timeout=120_000)
    assert "kept" in page.inner_text("[data-testid=verdict]")
    assert int(page.inner_text("[data-testid=fewest-people]")) >= 40
    assert "asked: 40" in page.inner_text("main")
    page.click("[data-testid=attack-register]")
    page.set_input_files("[data-testid=upload-register-input]", register)
    page.wait_for_selector("[data-testid=register-key]")
    page.click("[data-testid=attack]")
    page.wait_for_selector("[data-testid=attack-linkage]", timeout=120_000)
    assert "600 people of a register of 600" in page.inner_text("main")


def test_a_plan_of_the_owner_may_name_the_population(tmp_path: Path) -> None:
    table, _ = written(tmp_path)
    text = (
        "population: {file: register.csv, columns: {sex: sex, town: TOWN}}  # of last year\n"
        "attributes: {sex: quasi-identifier, town: quasi-identifier, illness: sensitive}\n"
        "privacy: {k: 3, k_map: 20}\n"
    )
    (tmp_path / "plan.yaml").write_text(text)
    folder = tmp_path / "session"
    folder.mkdir()
    bench = Workbench(folder)
    try:
        bench.open(table, plan=tmp_path / "plan.yaml")
        assert bench.plan is not None
        assert bench.plan.population is not None
        assert bench.plan.population.file is None  # what is taken elsewhere names no file
        assert bench.fitting()["people"] == 600
        run = bench.start()
        run.job.wait(120)
        assert run.facts["fewest_people"] >= 20
        assert not bench.change(privacy={"k": 4, "k_map": 20})
        bench.save_plan(tmp_path / "plan.yaml")
        assert "# of last year" in (tmp_path / "plan.yaml").read_text()
        assert Plan.load(tmp_path / "plan.yaml").population == Plan.loads(text, base=tmp_path).population
        assert not bench.count_nowhere()
        assert bench.plan.privacy.k_map is None
        assert bench.people is None
    finally:
        bench.close()
