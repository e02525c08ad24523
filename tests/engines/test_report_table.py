"""The report of a release that is a table on a server: made from the plan and the facts in its comment."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa

import hedgerow as hr
from tests.engines.servers import at, execute, fresh, load, quoted

AGE = {"role": "quasi-identifier", "hierarchy": {"bands": [5, 10, 20]}, "limit": {"level": 2}}
PLAN = hr.Plan.from_dict(
    {"attributes": {"secret_name": "identifier", "age": AGE, "illness": "sensitive"}, "privacy": {"k": 3}}
)


def people() -> pa.Table:
    rows = range(60)
    return pa.table(
        {
            "secret_name": [f"Quasimodo {i}" for i in rows],
            "age": pa.array([20 + i * 7 % 30 for i in rows], pa.int32()),
            "illness": [["flu", "cold", "gout"][i % 3] for i in rows],
        }
    )


def test_a_table_has_the_report_of_its_folder(postgres: str, tmp_path: Path) -> None:
    original, released = load(postgres, people()), fresh("released")
    release = hr.anonymize(original, PLAN, at(postgres, released))
    made = hr.report(at(postgres, released), tmp_path / "report.html", original=original)
    assert made.kept
    assert made.facts == json.loads(json.dumps(dict(release.facts), default=float))
    assert [effect.attribute for effect in made.limit_effects] == ["age"]
    page = (tmp_path / "report.html").read_text()
    assert f"<h1>{released}</h1>" in page
    assert "The rows are not in a file." in page
    assert "Quasimodo" not in page
    assert "postgres" not in page


def test_a_table_that_was_changed_is_reported_broken(postgres: str) -> None:
    original, released = load(postgres, people()), fresh("released")
    hr.anonymize(original, PLAN, at(postgres, released))
    execute(postgres, f"DELETE FROM {quoted(released)} WHERE ctid = (SELECT min(ctid) FROM {quoted(released)})")
    made = hr.report(at(postgres, released))
    assert not made.kept
    assert "BROKEN" in made.html
