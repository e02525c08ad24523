"""The studio as a person uses it, in a real Chromium."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import pytest

from hedgerow import Plan, anonymize, assess, explain, leave_out, open_release, report, verify
from hedgerow.evaluation.synthetic import census, write_demo
from tests.engines.servers import execute, load
from tests.studio.servers import Served, serving
from tests.studio.steps import (
    NewPage,
    choose,
    choose_attribute,
    download,
    expect_text,
    fill,
    made_up_table,
    open_made_up,
    plan_text,
)

SCREENS = ("data", "limits", "promise", "run", "result", "releases")


def test_a_newcomer_goes_from_upload_to_a_verified_export(
    studio: Served, new_page: NewPage, made_up: tuple[Path, Path], tmp_path: Path
) -> None:
    page = new_page()
    page.goto(studio.link())
    page.set_input_files("[data-testid=upload-input]", made_up[0])
    expect_text(page, "records", "600")
    page.wait_for_selector("[data-testid=assessment-verdict]")  # as it stands, before anything is done
    found = assess(made_up[0])
    assert f"{found.unique:,} of {found.people:,} people" in page.inner_text("[data-testid=assessment-verdict]")
    choose(page, "role-diagnosis", "sensitive: published as it is")
    page.click("[data-testid=ask-values-none]")  # what is asked of it comes on the screen of promises
    expect_text(page, "sensitive-columns", "1")
    page.click("[data-testid=next]")
    page.wait_for_url("**/limits")
    page.click("[data-testid=nav-promise]")
    fill(page, "k", "4")
    fill(page, "p", "2")
    page.wait_for_selector("text=groups with 2 different values")
    page.click("[data-testid=next]")
    page.wait_for_url("**/run")
    page.click("[data-testid=start]")
    page.click("[data-testid=result-1]", timeout=120_000)
    assert "kept" in page.inner_text("[data-testid=verdict]")
    assert int(page.inner_text("[data-testid=smallest-group]").replace(",", "")) >= 4

    folder = tmp_path / "exported"
    with zipfile.ZipFile(io.BytesIO(download(page, "export-release"))) as archive:
        archive.extractall(folder)
    release = next(path.parent for path in folder.rglob("facts.json"))
    assert verify(release, made_up[0]).kept
    plan = tmp_path / "plan.yaml"
    plan.write_bytes(download(page, "export-plan"))
    asked = Plan.load(plan).privacy
    assert (asked.k, asked.asked) == (4, {"p": {"*": 2}})

    report = download(page, "export-report").decode()
    assert "under these assumptions" in report
    assert "http" not in report

    anonymize(made_up[0], plan, tmp_path / "again")
    for path in sorted((tmp_path / "again").iterdir()):
        assert path.read_bytes() == (release / path.name).read_bytes(), path.name


def test_a_link_from_elsewhere_lets_in(studio: Served, new_page: NewPage, tmp_path: Path) -> None:
    page, link = new_page(), studio.link()
    (tmp_path / "enter.html").write_text(f'<meta http-equiv="refresh" content="0; url={link}">')
    page.goto((tmp_path / "enter.html").as_uri())
    page.wait_for_selector("[data-testid=made-up]")


def test_moving_a_limit_shows_what_explain_gives(
    studio: Served, new_page: NewPage, made_up: tuple[Path, Path], tmp_path: Path
) -> None:
    page = open_made_up(studio, new_page)
    page.click("[data-testid=nav-limits]")
    page.wait_for_selector("[data-testid=withheld]")
    choose_attribute(page, "city")
    seen = set()
    for name in ("Kansas", "Midwest", "California"):
        before = page.inner_text("[data-testid=outlook]")
        row = page.locator("[role=treeitem]", has=page.locator(f'.hr-name:text-is("{name}")'))
        row.locator("[data-testid^=tree-limit-]").click()
        page.wait_for_function("old => document.querySelector('[data-testid=outlook]').innerText !== old", arg=before)
        plan = tmp_path / f"{name}.yaml"
        plan.write_text(plan_text(page))
        data = made_up_table(studio)
        withheld = int(page.inner_text("[data-testid=withheld]").replace(",", ""))
        assert withheld == explain(data, plan).withheld
        seen.add(withheld)
    assert len(seen) > 1


def test_proposed_limits_are_taken_or_left_and_keep_the_share(
    studio: Served, new_page: NewPage, tmp_path: Path
) -> None:
    page = open_made_up(studio, new_page)
    page.click("[data-testid=nav-limits]")
    page.wait_for_selector("[data-testid=withheld]")
    page.click("[data-testid=propose]")
    fill(page, "propose-share", "3%")
    choose(page, "propose-scope", "all columns, whatever limits they have")
    page.click("[data-testid=propose-work]")
    page.wait_for_selector("[data-testid=propose-use]")
    boxes = page.locator("[data-testid^=propose-take-]")
    proposed = {str(box.get_attribute("data-testid")).removeprefix("propose-take-") for box in boxes.all()}
    assert len(proposed) > 1
    page.click("[data-testid=propose-take-sex]")  # this one is left
    page.click("[data-testid=propose-use]")
    page.wait_for_selector("text=Undo takes them back")
    plan = tmp_path / "proposed.yaml"
    plan.write_text(plan_text(page))
    attributes = Plan.load(plan).attributes
    assert {name for name, attribute in attributes.items() if attribute.limit is not None} == proposed - {"sex"}
    explained = explain(made_up_table(studio), plan)
    assert explained.withheld <= explained.records * 3 // 100
    page.wait_for_function(
        "now => document.querySelector('[data-testid=withheld]').innerText === now", arg=f"{explained.withheld:,}"
    )
    page.click("[data-testid=undo]")  # all of them at once
    page.wait_for_function(
        "() => document.querySelector('[data-testid=attribute-age]').innerText.includes('bands of 10')"
    )


def test_a_run_can_be_cancelled_and_leaves_nothing(new_page: NewPage, tmp_path: Path) -> None:
    data, plan = write_demo(tmp_path, census(records=200_000))
    with serving(data, plan, folder=tmp_path) as served:
        page = new_page()
        page.goto(served.link())
        expect_text(page, "records", "200,000")
        page.click("[data-testid=nav-run]")
        page.click("[data-testid=start]")
        page.wait_for_selector("text=/(encoding|searching|clustering|reading)/")
        page.click("[data-testid=cancel-1]")
        expect_text(page, "run-1-state", "cancelled")
        assert not [path for path in (tmp_path / "scratch").rglob("*") if path.name in ("data.csv", "facts.json")]
        page.click("[data-testid=start]")
        page.wait_for_selector("[data-testid=cancel-2]")
        page.click("[data-testid=cancel-2]")
        expect_text(page, "run-2-state", "cancelled")
        assert served.process.poll() is None


def test_a_bound_is_asked_for_and_told_and_columns_that_others_tell_of_are_left_out(
    new_page: NewPage, tmp_path: Path
) -> None:
    data, plan = write_demo(tmp_path, census(records=500, attributes=4))
    asked = Plan.load(plan).replace(method={"name": "cluster", "certify": "10s"})
    stated = anonymize(data, asked).facts["optimality"]
    tried = leave_out(data, asked).to_dict()
    with serving(data, plan, folder=tmp_path) as served:
        page = new_page()
        page.goto(served.link())
        expect_text(page, "records", "500")
        page.click("[data-testid=nav-run]")
        choose(page, "certify", "10 seconds' effort")
        page.wait_for_timeout(300)
        choose(page, "method", "quick —")  # the bound stays asked for, where a method can have one
        choose(page, "method", "cluster —")
        page.wait_for_timeout(300)
        assert "certify: 10s" in plan_text(page)
        page.click("[data-testid=start]")
        page.click("[data-testid=result-1]", timeout=120_000)
        expect_text(page, "optimality", f"{stated['at_least']:.4f}")
        page.wait_for_selector("text=than the best possible grouping of these records")

        page.click("[data-testid=nav-limits]")
        page.wait_for_selector("[data-testid=withheld]")
        page.click("[data-testid=leave-out]")
        page.click("[data-testid=leave-out-try]")
        if not tried["columns"]:
            page.wait_for_selector("text=there is none to leave out", timeout=60_000)
            return
        page.wait_for_selector("[data-testid=leave-out-found]", timeout=60_000)
        first = tried["columns"][0]
        cells = page.locator("[data-testid=leave-out-found] tr").nth(0).locator("td").all_inner_texts()
        assert cells[:2] == [first["column"], first["told_by"]]
        assert cells[6] == f"{first['saves']:.2%}"
        page.click(f"[data-testid=leave-out-{first['column']}]")
        page.wait_for_selector(f"[data-testid=attribute-{first['column']}]", state="detached")


def test_a_release_is_kept_current(
    studio: Served, new_page: NewPage, made_up: tuple[Path, Path], tmp_path: Path, postgres: str
) -> None:
    import pyarrow.csv

    lines = made_up[0].read_text().splitlines(keepends=True)
    first, more = tmp_path / "first.csv", tmp_path / "more.csv"
    first.write_text("".join(lines[:401]))
    more.write_text("".join([lines[0], *lines[401:501]]))
    page = new_page()
    page.goto(studio.link())
    page.set_input_files("[data-testid=upload-input]", first)
    expect_text(page, "records", "400")
    choose(page, "key", "patient_number")
    page.click("[data-testid=nav-releases]")
    page.fill("[data-testid=store-path]", str(tmp_path / "people.store"))
    page.click("[data-testid=create-store]")
    page.wait_for_selector("[data-testid=history]", timeout=120_000)
    page.set_input_files("[data-testid=insert-input]", more)
    page.wait_for_selector('[data-testid=history]:has-text("insert")', timeout=120_000)
    assert "500" in page.inner_text("[data-testid=history]")
    execute(postgres, "CREATE DATABASE keeping")  # other tests look at what is in theirs
    leaving = load(postgres.replace("/postgres?", "/keeping?"), pyarrow.csv.read_csv(more).slice(0, 40))
    page.fill("[data-testid=change-address]", "people.csv")
    page.click("[data-testid=change-by-table]")
    page.wait_for_selector("[data-testid=problem]")
    page.fill("[data-testid=change-address]", leaving)
    choose(page, "change-verb", "People who leave")
    page.click("[data-testid=change-by-table]")
    page.wait_for_selector('[data-testid=history]:has-text("delete")', timeout=120_000)
    assert "460" in page.inner_text("[data-testid=history]")
    page.click("[data-testid=audit]")
    page.wait_for_selector("[data-testid=audit-verdict]", timeout=60_000)
    with open_release(tmp_path / "people.store") as release:
        assert [version.verb for version in release.history()] == ["create", "insert", "delete"]


def test_a_table_on_a_server_is_released_without_leaving_it(
    studio: Served, new_page: NewPage, postgres: str, made_up: tuple[Path, Path]
) -> None:
    import pyarrow.csv

    execute(postgres, "CREATE DATABASE studio")  # other tests look at what is in theirs
    address = load(postgres.replace("/postgres?", "/studio?"), pyarrow.csv.read_csv(made_up[0]))
    page = new_page()
    page.goto(studio.link())
    page.fill("[data-testid=address]", address.replace("postgresql://", "postgresql://nobody:secretword@", 1))
    page.click("[data-testid=connect]")
    page.wait_for_selector(".q-field--error")  # said at the field
    assert "secretword" not in page.inner_text("body")
    page.fill("[data-testid=address]", address)
    page.click("[data-testid=connect]")
    expect_text(page, "records", "600")
    page.click("[data-testid=nav-run]")
    page.click("[data-testid=start]")
    page.click("[data-testid=result-1]", timeout=120_000)
    assert "kept" in page.inner_text("[data-testid=verdict]")
    assert "secretword" not in studio.printed


def test_a_report_needs_nothing_else(new_page: NewPage, made_up: tuple[Path, Path], tmp_path: Path) -> None:
    anonymize(*made_up, tmp_path / "release")
    report(tmp_path / "release", tmp_path / "page.html", original=made_up[0])
    page = new_page(offline=True)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((tmp_path / "page.html").as_uri())
    page.wait_for_selector("svg")
    assert asked == [(tmp_path / "page.html").as_uri()]
    assert (tmp_path / "page.html").stat().st_size < 1_000_000
    facts = json.loads((tmp_path / "release" / "facts.json").read_text())
    told = page.evaluate("[...document.querySelectorAll('data[data-fact]')].map(e => [e.dataset.fact, e.value])")
    assert len(told) > 40
    for pointer, value in told:
        fact = facts
        for step in pointer.split("/"):
            fact = fact[step.replace("~1", "/").replace("~0", "~")]
        assert value == (fact if isinstance(fact, str) else json.dumps(fact)), pointer


def test_two_sessions_never_see_each_other(studio: Served, new_page: NewPage, tmp_path: Path) -> None:
    tables = {}
    for name in ("alpha", "omega"):
        tables[name] = tmp_path / f"{name}.csv"
        rows = "".join(f"{name}-{number % 7},{20 + number % 50}\n" for number in range(120))
        tables[name].write_text(f"{name}_column,age\n{rows}")
    pages = {name: new_page() for name in tables}
    for name, page in pages.items():
        page.goto(studio.link())
        page.set_input_files("[data-testid=upload-input]", tables[name])
        expect_text(page, "records", "120")
    for name, page in pages.items():
        other = next(one for one in tables if one != name)
        for screen in SCREENS:
            page.goto(f"{studio.url}/{screen}")
            page.wait_for_selector("h1")
            page.wait_for_timeout(200)
            assert other not in page.content(), screen
        assert f"{name}_column" in plan_text(page)
    again = pages["alpha"].context.new_page()  # another tab of the same browser is the same session
    again.goto(f"{studio.url}/data")
    again.wait_for_selector("[data-testid=column-alpha_column]")


def test_what_cannot_be_met_is_said_before_a_run(studio: Served, new_page: NewPage) -> None:
    page = open_made_up(studio, new_page)
    page.click("[data-testid=nav-promise]")
    page.wait_for_selector("[data-testid=withheld]")
    fill(page, "withhold", "1")
    page.wait_for_selector('[data-testid=obstacle]:has-text("at most 1")')
    fill(page, "withhold", "90%")
    page.wait_for_selector("[data-testid=obstacle]", state="detached")
    fill(page, "k", "1")
    page.wait_for_selector('.q-field--error:has([data-testid=k]):has-text("2 or more")')
    assert "k: 5" in plan_text(page)


def test_a_file_that_is_too_large_is_refused_with_a_word(studio: Served, new_page: NewPage, tmp_path: Path) -> None:
    large = tmp_path / "large.csv"
    large.write_text("a\n" + "1\n" * 600_000)
    page = new_page()
    page.goto(studio.link())
    page.set_input_files("[data-testid=upload-input]", large)
    page.wait_for_selector("[data-testid=upload-problem]")


def test_a_file_that_is_no_table_is_refused_with_a_word_and_no_value(
    studio: Served, new_page: NewPage, tmp_path: Path
) -> None:
    odd = tmp_path / "odd.csv"
    odd.write_text("name,age\nMarigold,3\nSecretvalue,4,5,6\n")
    page = new_page()
    page.goto(studio.link())
    page.set_input_files("[data-testid=upload-input]", odd)
    shown = page.inner_text("[data-testid=problems]")
    assert "Secretvalue" not in shown
    assert "Secretvalue" not in studio.printed


def test_names_and_values_are_never_run(studio: Served, new_page: NewPage, tmp_path: Path) -> None:
    names = ['<img src=x onerror="hacked=1">', "{{hacked=2}}", '" onclick="hacked=3" x="', "'); hacked=4; ('"]
    evil = tmp_path / "<img src=x onerror=hacked=5>.csv"
    rows = [[f"{name}{number % 3}".replace('"', '""') for name in names] for number in range(90)]
    lines = ['","'.join(name.replace('"', '""') for name in names), *('","'.join(row) for row in rows)]
    evil.write_text("".join(f'"{line}"\n' for line in lines))
    page = new_page()
    said: list[str] = []
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: said.append(dialog.message))
    page.goto(studio.link())
    page.set_input_files("[data-testid=upload-input]", evil)
    expect_text(page, "records", "90")
    page.goto(f"{studio.url}/run")
    page.fill("[data-testid=run-title]", names[0] + names[1])
    page.click("[data-testid=start]")
    page.wait_for_selector("[data-testid=result-1]", timeout=60_000)
    for screen in SCREENS:
        page.goto(f"{studio.url}/{screen}")
        page.wait_for_selector("h1")
        page.wait_for_timeout(500)
        assert page.evaluate("typeof hacked") == "undefined", screen
    assert names[0] in plan_text(page)
    assert not said


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_every_screen_fits_and_has_names_for_everything(
    studio: Served, new_page: NewPage, width: int, scheme: str
) -> None:
    page = new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    asked: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    open_made_up(studio, new_page, page)
    for screen in SCREENS:
        page.goto(f"{studio.url}/{screen}")
        page.wait_for_selector("h1")
        page.wait_for_timeout(600)
        wide, nameless = page.evaluate(LOOK)
        assert wide <= width, f"{screen} is {wide} wide"
        assert not nameless, f"{screen}: {nameless}"
        assert page.evaluate("document.body.classList.contains('body--dark')") == (scheme == "dark")
    assert {url.split("/")[2] for url in asked if url.startswith("http")} == {f"127.0.0.1:{studio.port}"}
    assert not said


def test_the_studio_can_be_used_without_a_mouse(studio: Served, new_page: NewPage) -> None:
    page = open_made_up(studio, new_page)
    page.goto(f"{studio.url}/limits")
    page.wait_for_selector("[role=treeitem]")
    page.wait_for_selector("[data-testid=withheld]")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.innerText") == "Skip to content"
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.getAttribute('role')") == "treeitem":
            break
    else:
        pytest.fail("the tree cannot be reached")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    before = plan_text(page)
    page.locator("[role=treeitem]:focus, [role=treeitem][tabindex='0']").first.press("Enter")
    page.wait_for_timeout(1500)
    assert plan_text(page) != before


LOOK = """() => {
  const fields = [...document.querySelectorAll('button, a, input:not([type=hidden]), select, textarea')];
  const named = (e) => e.getAttribute('aria-label') || e.innerText || e.title || (e.labels && e.labels.length)
      || e.getAttribute('aria-labelledby') || e.closest('label');
  const shown = (e) => e.offsetParent !== null && !e.closest('[aria-hidden=true]');
  return [document.documentElement.scrollWidth, fields.filter(e => shown(e) && !named(e)).map(e => e.outerHTML.slice(0, 200))];
}"""
