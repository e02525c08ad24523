"""Plans of an earlier version mean the same after an upgrade; their comments stay."""

from __future__ import annotations

from pathlib import Path

import pytest

import hedgerow as hr
from hedgerow.plan.upgrading import EARLIER_THRESHOLD, Upgrade, upgrade
from tests.cases.commands import Command

OLD = """\
# agreed with the board
attributes:
  age: {role: quasi-identifier, hierarchy: {bands: [5, 10]}}   # as in 2024
  sex: quasi-identifier
  diagnosis: sensitive
privacy: {k: 5, p: 2}
method: {name: utility, objective: loss-of-mine}
data: {delimiter: ';'}   # from the clinic
"""


def test_what_was_ignored_goes_and_earlier_defaults_are_written() -> None:
    upgraded = upgrade(OLD)
    plan = hr.Plan.loads(upgraded.text)
    assert plan.method.name == "utility"
    assert "loss-of-mine" not in upgraded.text
    assert plan.accepted == EARLIER_THRESHOLD
    assert plan.data.output == "standard"
    assert plan.data.delimiter == ";"
    assert len(upgraded.changes) == 3


def test_comments_and_what_did_not_change_stay() -> None:
    lines = upgrade(OLD).text.splitlines()
    assert lines[:6] == OLD.splitlines()[:6]
    assert any("# from the clinic" in line for line in lines)


def test_a_plan_of_this_version_stays_as_it_is() -> None:
    once = upgrade(OLD).text
    assert upgrade(once) == Upgrade(once, (), ())


@pytest.mark.parametrize(
    ("method", "word"),
    [
        ("{name: cluster, improve: quick}", "improve"),
        ("{name: utility, overlap: forbidden}", "overlap"),
        ("{name: utility, suppress: true}", "suppress"),
    ],
)
def test_what_is_done_otherwise_now_is_told(method: str, word: str) -> None:
    missing = "\nmissing: matches-any\n" if "suppress" in method else "\n"
    notes = upgrade(f"attributes: {{sex: quasi-identifier}}\nprivacy: {{k: 5}}\nmethod: {method}{missing}").notes
    assert any(note.startswith(word) for note in notes)


def test_other_problems_are_told_as_ever(tmp_path: Path, command: Command) -> None:
    path = tmp_path / "old.yaml"
    path.write_text("attributes: {sex: quasi-identifer}\nprivacy: {k: 5}\n", encoding="utf-8")
    done = command("plan", "upgrade", path)
    assert done.returncode == 2
    assert "quasi-identifier" in done.stderr


def test_neither_the_old_plan_nor_another_file_is_overwritten(tmp_path: Path, command: Command) -> None:
    old, new = tmp_path / "old.yaml", tmp_path / "new.yaml"
    old.write_text(OLD, encoding="utf-8")
    done = command("plan", "upgrade", old, "-o", new)
    assert done.returncode == 0
    assert done.stderr.count("changed: ") == 3
    assert old.read_text(encoding="utf-8") == OLD
    assert hr.upgrade_plan(new).changes == ()
    assert command("plan", "upgrade", old, "-o", new).returncode == 2


@pytest.mark.parametrize("text", ["", "[]", "a: &x 1\nb: *x\n", "attributes: {", "- 1\n"])
def test_what_is_no_plan_is_one_message(text: str, tmp_path: Path, command: Command) -> None:
    path = tmp_path / "no.yaml"
    path.write_text(text, encoding="utf-8")
    done = command("plan", "upgrade", path)
    assert done.returncode == 2
    assert "internal" not in done.stderr
