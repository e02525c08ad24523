"""The verdict: what is kept, and what remains although it is; the same sentence wherever it stands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from rich.console import Console

import hedgerow as hr
from hedgerow.plan.audiences import AUDIENCES, USUAL
from hedgerow.privacy.risks import accepted_risk
from hedgerow.reports.reading import Facts
from hedgerow.reports.terminal.release import verdict_banner
from hedgerow.reports.verdict import verdict_of, verdict_on
from tests.cases.commands import Command

SEXES = {"attributes": {"sex": "quasi-identifier", "illness": "sensitive"}}


def people(illnesses: str = "abcde") -> pa.Table:
    rows = len(illnesses)
    return pa.table({"sex": ["f"] * rows + ["m"] * rows, "illness": list(illnesses * 2)})


def plan(**keys: Any) -> hr.Plan:
    return hr.Plan.from_dict({**SEXES, "privacy": {"k": 5}, **keys})


def codes(found: Any) -> set[str]:
    return {remark.code for remark in found.remains}


def test_the_usual_k_and_the_usual_threshold_agree() -> None:
    for audience in AUDIENCES.values():
        assert accepted_risk(audience.threshold) * audience.k >= 1 - 1e-9, audience.name
    drafted = hr.Plan.loads(hr.draft_plan(people()))
    assert drafted.privacy.k == USUAL.k
    assert drafted.accepted == USUAL.threshold
    assert verdict_on(hr.anonymize(people(), plan())).state == "clear"


def test_it_is_not_green_when_everybody_is_above_the_threshold() -> None:
    found = verdict_on(hr.anonymize(people(), plan(threshold="0.09")))
    assert found.kept
    assert found.state == "remains"
    assert "100% of the records" in found.remains[0].text
    assert "1 in 11" in found.remains[0].text


def test_it_is_not_green_when_groups_give_a_sensitive_value_away() -> None:
    found = verdict_on(hr.anonymize(people("aaaaa"), plan()))
    assert codes(found) == {"single-value"}
    assert "2 of 2 groups have a single value of illness" in found.remains[0].text


def test_columns_that_are_published_exactly_remain_to_be_weighed() -> None:
    table = people().append_column("note", pa.array(list("vwxyzvwxyz")))
    attributes = {**SEXES["attributes"], "note": "other"}
    found = verdict_on(hr.anonymize(table, plan(attributes=attributes)))
    assert codes(found) == {"exact-columns"}
    assert "note" in found.remains[0].text


def test_a_broken_release_is_broken_whatever_its_facts_say() -> None:
    found = verdict_of({"released": 1, "group_risk_sizes": {"5": 5}}, plan(), ["k"])
    assert (found.state, found.remarks) == ("broken", ())
    assert "Do not share" in found.sentence


@pytest.mark.parametrize("facts", [{}, {"released": "many"}, {"attribute_disclosures": 3, "group_risk_sizes": []}])
def test_what_facts_do_not_say_remains(facts: dict[str, Any]) -> None:
    assert "risk" in codes(verdict_of(Facts(facts), plan()))


def test_many_columns_make_no_endless_verdict() -> None:
    names = [f"{number:03}" + "x" * 200 for number in range(100)]
    attributes = {"sex": "quasi-identifier", **dict.fromkeys(names, "sensitive")}
    facts = {"attribute_disclosures": {"by_attribute": dict.fromkeys(names, 1)}, "groups": 1}
    found = verdict_of(facts, plan(attributes=attributes))
    assert sum(len(remark.text) for remark in found.remarks) < 3_000


def test_every_face_says_the_same_sentence(command: Command, tmp_path: Path) -> None:
    import pyarrow.csv

    pyarrow.csv.write_csv(people("aaaaa"), tmp_path / "people.csv")
    (tmp_path / "plan.yaml").write_text(plan().to_yaml())
    made = command("anonymize", tmp_path / "people.csv", tmp_path / "plan.yaml", "-o", tmp_path / "release")
    sentence = verdict_on(tmp_path / "release").sentence
    assert "1 risk remains" in sentence
    assert sentence in " ".join(made.stdout.split())
    assert sentence in " ".join(command("verify", tmp_path / "release").stdout.split())
    checked = json.loads(command("verify", tmp_path / "release", "--json").stdout)
    assert (checked["verdict"]["sentence"], checked["verdict"]["state"]) == (sentence, "remains")
    told = json.loads(command("report", tmp_path / "release", "-o", tmp_path / "page.html", "--json").stdout)
    assert told["verdict"]["sentence"] == sentence
    assert sentence in (tmp_path / "page.html").read_text()


def test_a_banner_is_amber_when_something_remains() -> None:
    console = Console(record=True, force_terminal=True, width=100)
    console.print(verdict_banner(verdict_of({}, plan()).to_dict()))
    assert "\x1b[33mEvery promise is kept, but" in console.export_text(styles=True)
