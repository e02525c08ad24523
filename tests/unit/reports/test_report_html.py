"""The report as a page: its numbers are those of facts.json, it needs nothing else, and nobody's words become markup."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from jinja2 import UndefinedError

import hedgerow as hr
from hedgerow.errors import DataError, HedgerowError
from hedgerow.privacy import risks_of_sizes
from hedgerow.reports.html.markup import UNKNOWN, fact
from hedgerow.reports.html.page import SECTIONS, report_html
from hedgerow.reports.html.rendering import environment
from hedgerow.reports.material import Digest, Extras
from hedgerow.reports.reading import Facts
from hedgerow.verification import Verification
from hedgerow.verification.result import Promise
from tests.cases.reported import EVIL, PLANS, QI, Page, people, plan

TRICKS = (
    "{{ 7 * 7 }}{% include 'page.html.j2' %}",
    "\u202egnp.exe\u2069",
    "' onmouseover='x",
    "]]></svg><script>",
    "&lt;b&gt;",
)
KEPT = Verification((Promise("k", 4, 4, kept=True),)).to_dict()


def check_offline(page: str) -> Page:
    """Nothing on the page runs, and nothing on it is fetched."""
    found = Page(page)
    assert not {"script", "link", "img", "iframe", "object", "embed", "form", "base", "use", "image"} & found.tags
    for _, name, value in found.attributes:
        assert not name.startswith("on")
        assert name not in ("src", "srcset", "action", "style")
        assert name != "href" or value.startswith("#")
    style = page[page.index("<style>") : page.index("</style>")]
    assert "url(" not in style
    assert "@import" not in style
    assert not re.search(r"https?:|//[a-z]", page)
    assert len(page.encode()) <= 1_000_000
    return found


def said_at(facts: Any, pointer: str) -> str:
    for step in pointer.split("/"):
        facts = facts[step.replace("~1", "/").replace("~0", "~")]
    return facts if isinstance(facts, str) else json.dumps(facts)


@pytest.mark.parametrize("name", PLANS)
def test_every_number_is_that_of_facts_json(name: str, tmp_path: Path) -> None:
    hr.anonymize(people(), PLANS[name], tmp_path / "release")
    made = hr.report(tmp_path / "release")
    facts = json.loads((tmp_path / "release" / "facts.json").read_text())
    found = check_offline(made.html)
    assert {"records", "released", "withheld", "groups", "smallest_group", "ntil", "plan", "method", "seed"} <= set(
        found.facts
    )
    for pointer, values in found.facts.items():
        assert values == {said_at(facts, pointer)}, pointer
    assert {f"share_lost_by_attribute/{column}" for column in facts["share_lost_by_attribute"]} <= set(found.facts)
    for source, values in found.risks.items():
        threshold, attacker, what = source.split("/")
        risks = risks_of_sizes(facts["group_risk_sizes"], float(threshold))[attacker]
        least = facts.get("least_rows_for_a_known_person")
        expected = max(risks[what], round(1 / least, 12)) if what == "highest" and least else risks[what]
        assert {float(value) for value in values} == {expected}, source
    assert made.kept


@pytest.mark.parametrize("name", PLANS)
def test_the_page_says_what_holds_and_never_that_it_is_safe(name: str) -> None:
    found = Page(hr.report(hr.anonymize(people(), PLANS[name])).html)
    assert f"meets k = {PLANS[name].privacy.k}" in found.words
    assert "under these assumptions" in found.words
    assert "anonymous" not in found.words.lower()
    assert "Quasimodo" not in found.words
    assert "BROKEN" not in found.words


def test_the_sections_are_there_and_the_contents_lead_to_them() -> None:
    page = hr.report(hr.anonymize(people(), PLANS["rules"])).html
    for key in SECTIONS.keys() - {"versions", "analyses"}:  # which need a store, and the original
        assert f'<section id="{key}">' in page
        assert f'href="#{key}"' in page
    page = hr.report(hr.anonymize(people(), PLANS["cluster"])).html
    assert 'id="rules"' not in page
    assert "#rules" not in page


def test_what_was_asked_beside_what_was_achieved() -> None:
    words = Page(hr.report(hr.anonymize(people(), PLANS["diverse"])).html).words
    assert "meets k = 4, p = 2, alpha = 0.9 for illness under these assumptions" in words
    assert "at most 50%" in words


def test_the_same_release_gives_the_same_page() -> None:
    one, two = (hr.report(hr.anonymize(people(), PLANS["cluster"])).html for _ in range(2))
    assert one == two


def test_the_sign_off_fills_in_what_is_given_and_leaves_blank_what_is_not() -> None:
    release = hr.anonymize(people(), PLANS["cluster"])
    blank = hr.report(release).html
    approval = blank[blank.index('id="approval"') :]
    assert approval.count('<span class="line"></span>') == 8
    sign_off = hr.SignOff(
        "teaching", "students", "Ann Officer", "officer", "2026-11-15", "2027-11-15", ("They signed.",)
    )
    page = hr.report(release, sign_off=sign_off).html
    approval = page[page.index('id="approval"') :]
    for text in ("teaching", "students", "Ann Officer", "officer", "2026-11-15", "2027-11-15"):
        assert f'<span class="line">{text}</span>' in approval
    assert "They signed." in page
    assert approval.count('<span class="line"></span>') == 2  # the legal basis, and the signature


@pytest.mark.parametrize("day", ["soon", "2026-13-01", "15.11.2026"])
def test_a_day_must_be_a_day(day: str) -> None:
    with pytest.raises(HedgerowError, match="must be a day"):
        hr.SignOff(review_by=day)


def test_a_sign_off_is_never_cut_but_may_be_refused() -> None:
    for endless in (
        hr.SignOff,
        lambda text: hr.SignOff(assumptions=[text]),
        lambda _: hr.SignOff(assumptions=["a"] * 31),
    ):
        with pytest.raises(HedgerowError, match="at most 30 assumptions"):
            endless("x" * 1001)


def test_a_broken_release_gets_a_report_that_says_so_first(tmp_path: Path) -> None:
    hr.anonymize(people(), PLANS["cluster"], tmp_path / "release")
    data = tmp_path / "release" / "data.csv"
    data.write_text("\n".join(data.read_text().splitlines()[:-1]) + "\n")
    made = hr.report(tmp_path / "release", tmp_path / "report.html")
    words = Page(made.html).words
    assert not made.kept
    assert words.index("BROKEN") < words.index("Summary")
    assert "Do not share this release" in words
    assert "must not be approved" in words
    assert "meets k" not in words
    assert (tmp_path / "report.html").read_text() == made.html


@pytest.mark.parametrize(
    "facts",
    [
        {},
        {"records": "many", "group_sizes": [1], "group_risk_sizes": {"x": 1, "-3": 4, "5": "a", "0": 2}},
        {"ntil": float("nan"), "share_lost_by_attribute": {"age": None, "city": float("inf")}, "rules": "none"},
        {"limits_by_attribute": {"age": 3, "city": {"limit": 5}}, "withheld": 5, "withheld_because": {"odd": 5}},
        {"attribute_disclosures": {"listed": [[1], ["a", 2], 7, [3, "illness"]], "count": "x"}},
        {"columns_not_released": [1, "a"], "suppressed_cells": 4, "exact_end_points": {"income": "b"}, "records": True},
        {"plan": 7, "method": ["x"], "version": {}, "group_risk_sizes": {"9" * 40: 1}},
    ],
)
def test_whatever_the_facts_say_there_is_a_page(facts: dict[str, Any]) -> None:
    broken = Verification((Promise("counts", "as facts.json says", "nothing", kept=False),)).to_dict()
    for name in ("rules", "diverse", "suppress"):
        check_offline(report_html(facts, PLANS[name], broken))


def test_facts_of_an_older_version_leave_the_new_numbers_unknown() -> None:
    release = hr.anonymize(people(), PLANS["cluster"])
    new = ("group_risk_sizes", "limits_by_attribute", "largest_share_of_one_value", "most_loss")
    facts = {name: value for name, value in release.facts.items() if name not in new}
    words = check_offline(report_html(facts, release.plan, KEPT)).words
    assert "the risks are unknown" in words
    assert "older version" in words


@pytest.mark.parametrize(
    "change", [{"released": 9}, {"smallest_group": 9}, {"groups": 9}, {"group_risk_sizes": {"20": 196}}]
)
def test_risks_that_contradict_what_is_counted_are_unknown(change: dict[str, Any]) -> None:
    release = hr.anonymize(people(), PLANS["diverse"])
    assert "the risks are unknown" not in report_html(release.facts, release.plan, KEPT)
    words = Page(report_html({**release.facts, **change}, release.plan, KEPT)).words
    assert "the risks are unknown" in words


def pages_with(evil: str) -> Iterator[tuple[str, Any]]:
    """Pages that show a text wherever somebody else's can stand, and the facts they tell."""
    attributes = {
        evil: {
            "role": QI,
            "hierarchy": {"tree": {"*": {evil + "!": ["a", "b"], "rest": ["c", "d"]}}},
            "limits": [evil + "!"],
        },
        "ill" + evil: "sensitive",
        "other" + evil: "other",
    }
    draw = random.Random(1)
    table = pa.table({name: [draw.choice("abcd") for _ in range(60)] for name in attributes})
    asked = plan(attributes, 3, rules=[{"name": evil, "attribute": evil, "keep_apart": ["a", "c"]}], method="utility")
    release = hr.anonymize(table, asked)
    sign_off = hr.SignOff(evil, evil, evil, evil, assumptions=(evil,))
    extras = Extras(evil, 0.2, (Digest(evil, 1, "0" * 64),), _effects(evil), True)
    promises = Verification(
        (Promise("k", evil, evil, kept=True), Promise("limits", evil, evil, kept=False)), "", (), (evil,), (evil,)
    )
    facts = json.loads(json.dumps(dict(release.facts), default=float))
    for found in (promises.to_dict(), KEPT):
        yield report_html(release.facts, release.plan, found, sign_off, extras), facts


@pytest.mark.parametrize("evil", [EVIL, *TRICKS])
def test_hostile_words_stay_words(evil: str) -> None:
    for (page, facts), (harmless, _) in zip(pages_with(evil), pages_with("harmless"), strict=True):
        parsed = check_offline(page)
        assert evil in parsed.words  # letter by letter
        assert parsed.tags == Page(harmless).tags
        for pointer, values in parsed.facts.items():
            assert values == {said_at(facts, pointer)}


def test_templates_take_no_text_for_markup_and_come_from_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for template in ("page", *SECTIONS):  # planted where the person stands
        (tmp_path / "templates").mkdir(exist_ok=True)
        (tmp_path / "templates" / f"{template}.html.j2").write_text("planted")
        (tmp_path / f"{template}.html.j2").write_text("planted")
    monkeypatch.chdir(tmp_path)
    environment.cache_clear()
    assert "planted" not in report_html({}, PLANS["cluster"], KEPT)
    assert environment().autoescape is True
    for name in environment().list_templates():
        source = environment().loader.get_source(environment(), name)[0]  # type: ignore[union-attr]
        assert not re.search(r"\|\s*safe|autoescape|Markup", source), name
    with pytest.raises(UndefinedError):
        environment().from_string("{{ nothing }}").render()


def _effects(name: str, count: int = 1) -> list[dict[str, Any]]:
    both = {"with": 1, "without": 0}
    return [
        {"attribute": name, "limit": name, "withheld": both, "loss": both, "share_lost": both},
        {"attribute": name, "limit": name, "problem": name},
    ] * count


def test_a_page_stays_below_a_megabyte(tmp_path: Path) -> None:
    long = "&<\"'>" * 30
    names = [f"{number:04}{long}" for number in range(3000)]
    limited = {"role": QI, "hierarchy": {"tree": {"*": {f"n{long * 20}": ["a", "b"]}}}, "limits": [f"n{long * 20}"]}
    asked = plan({**dict.fromkeys(names[:400], limited), **dict.fromkeys(names[400:800], "sensitive"), "q": "other"}, 2)
    numbers = dict.fromkeys(names, 0.123456789012)
    facts = {
        "records": 10**15,
        "released": 8998 * (10**9 + 1),
        "smallest_group": 2,
        "withheld": 10**14,
        "withheld_because": dict.fromkeys(names, 10**9),
        "withheld_is_least": True,
        "group_sizes": {str(size): 10**9 for size in range(2, 9000)},
        "group_risk_sizes": {str(size): 10**9 + 1 for size in range(2, 9000)},
        "share_lost_by_attribute": numbers,
        "loss_by_attribute": numbers,
        "research_value_by_attribute": numbers,
        "limits_by_attribute": {
            name: {"limit": long * 50, "withholds": 1, "alone": 2, "may_lose": 0.5} for name in names
        },
        "attribute_disclosures": {
            "count": 10**6,
            "by_attribute": numbers,
            "listed": [[g, names[0]] for g in range(50_000)],
        },
        "largest_share_of_one_value": numbers,
        "exact_end_points": dict.fromkeys(names, 5),
        "suppressed_cells": dict.fromkeys(names, 5),
        "columns_not_released": [f"out{name}" for name in names],
        "rules": [
            {"name": long * 9, "attribute": name, "importance": 1, "kept": False, "groups_breaking": 3}
            for name in names
        ],
        "version": long * 99,
        "plan": long * 99,
        "method": "cluster",
    }
    asked = asked.model_copy(
        update={"rules": tuple(plan(rules=[{"attribute": "age", "keep_apart": [1, 2]}]).rules) * 3000}
    )
    promises = Verification(tuple(Promise("p", long * 99, long * 99, kept=True) for _ in range(3000)))
    sign_off = hr.SignOff(*[long * 6] * 4, assumptions=[long * 6] * 30)  # type: ignore[misc]
    extras = Extras(
        long * 99, 0.1234567, [Digest(name * 9, 1, "0" * 64) for name in names], _effects(long * 99, 2000), True
    )
    page = report_html(facts, asked, promises.to_dict(), sign_off, extras)
    check_offline(page)
    assert "2,940 more" in page


def test_small_numbers_are_never_shown_as_nothing() -> None:
    assert ">&lt;0.0001<" in fact(Facts({"a": 0.00001}), "a", form=".4f")
    assert ">&lt;0.01<" in fact(Facts({"a": 0.001}), "a", form=".2f")
    assert ">0.0000<" in fact(Facts({"a": 0.0}), "a", form=".4f")


# -- the verb --------------------------------------------------------------------------------------------------------


def test_fingerprints_are_those_of_the_files(tmp_path: Path) -> None:
    import hashlib

    hr.anonymize(people(), PLANS["cluster"], tmp_path / "release")
    made = hr.report(tmp_path / "release")
    assert [digest.name for digest in made.digests] == ["data.csv", "plan.yaml", "facts.json"]
    for digest in made.digests:
        content = (tmp_path / "release" / digest.name).read_bytes()
        assert (digest.size, digest.sha256) == (len(content), hashlib.sha256(content).hexdigest())
        assert digest.sha256 in made.html
    assert made.facts["plan"] in made.html


def test_where_a_report_may_not_go(tmp_path: Path) -> None:
    hr.anonymize(people(), PLANS["cluster"], tmp_path / "release")
    (tmp_path / "there.html").write_text("mine")
    for output, message in (
        (tmp_path / "release" / "report.html", "holds the release and nothing else"),
        (tmp_path / "there.html", "exists already"),
        (tmp_path / "nowhere" / "report.html", "does not exist"),
        (tmp_path, "is a folder"),
    ):
        with pytest.raises(DataError, match=message):
            hr.report(tmp_path / "release", output)
    assert (tmp_path / "there.html").read_text() == "mine"
    hr.report(tmp_path / "release", tmp_path / "there.html", replace=True)
    assert "<!DOCTYPE html>" in (tmp_path / "there.html").read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["release", "there.html"]


def test_a_threshold_must_be_a_share() -> None:
    with pytest.raises(HedgerowError, match="from 0 to 1"):
        hr.report(hr.anonymize(people(), PLANS["cluster"]), threshold=2)


def test_with_the_original_limits_are_measured(tmp_path: Path) -> None:
    hr.anonymize(people(), PLANS["cluster"], tmp_path / "release")
    made = hr.report(tmp_path / "release", original=people())
    assert [effect.attribute for effect in made.limit_effects] == ["age", "city"]
    assert "Measured: the same release without each limit" in made.html
    assert "unchanged" in [promise.name for promise in made.verification.promises]
    assert "Measured" not in hr.report(tmp_path / "release").html
    assert repr(made).startswith("Report(every promise kept; ")


@pytest.mark.parametrize("number", [10**400, -(10**400), 1 << 63, float("inf"), float("nan"), True, "7"])
def test_a_number_that_no_count_can_be_is_unknown(number: object) -> None:
    facts = Facts({"records": number, "loss": {"age": number, "sex": 0.5}})
    assert facts.number("records") is None
    assert facts.count("records") == 0
    assert facts.numbers("loss") == {"sex": 0.5}
    assert fact(facts, "records") == UNKNOWN
