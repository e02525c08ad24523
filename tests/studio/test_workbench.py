"""What a session works on: the plan stays valid, and what is shown before a run is what a run comes to."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from hedgerow import Plan, explain, leave_out
from hedgerow.engines.opening import is_large_file
from hedgerow.errors import HedgerowError, PlanError
from hedgerow.microdata import encode_table
from hedgerow.studio.audit_log import AuditLog
from hedgerow.studio.files import Files, Room
from hedgerow.studio.sessions import Sessions
from hedgerow.studio.settings import Settings
from hedgerow.studio.workbench import Workbench


@pytest.fixture
def bench(made_up: tuple[Path, Path], tmp_path: Path) -> Iterator[Workbench]:
    opened = Workbench(tmp_path)
    opened.open(made_up[0], plan=made_up[1])
    yield opened
    opened.close()


def test_a_table_without_a_plan_gets_the_draft(made_up: tuple[Path, Path], tmp_path: Path) -> None:
    bench = Workbench(tmp_path)
    bench.open(made_up[0])
    assert bench.source is not None
    assert bench.source.records == 600
    assert bench.plan is not None
    assert bench.plan.privacy.k == 5
    assert bench.outlook().records == 600
    bench.close()


def test_the_outlook_is_what_explain_says(bench: Workbench, made_up: tuple[Path, Path], tmp_path: Path) -> None:
    random.seed(1)
    changes = [
        {"column": "city", "limit": {"nodes": ["Kansas"]}},
        {"column": "city", "limit": None},
        {"column": "age", "limit": {"level": 1}},
        {"column": "income", "limit": {"cuts": ["30000", "60000"]}},
        {"column": "income", "limit": {"width": "10000"}},
        {"column": "admitted", "limit": {"level": 2}},
    ]
    for number, change in enumerate(changes):
        column = change.pop("column")  # type: ignore[attr-defined]
        assert bench.change_attribute(str(column), **change) == ()
        assert bench.change(privacy={"k": random.choice([2, 5, 9])}) == ()
        path = tmp_path / f"plan-{number}.yaml"
        path.write_text(bench.plan_yaml())
        said, seen = explain(made_up[0], path), bench.outlook()
        assert (seen.blocks, seen.blocks_withheld, seen.withheld) == (said.blocks, said.blocks_withheld, said.withheld)
        assert seen.most_loss == said.most_loss
        assert bench.explanation() == said


def test_limits_are_moved_without_reading_the_table_again(made_up: tuple[Path, Path], tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_bytes(made_up[0].read_bytes())
    bench = Workbench(tmp_path)
    bench.open(table, plan=made_up[1])
    bench.outlook()
    table.write_text("the table was read again")
    assert bench.change_attribute("age", limit={"level": 1}) == ()
    assert bench.change(privacy={"k": 3}) == ()
    assert bench.outlook().blocks > 1
    bench.close()


def test_a_hierarchy_that_changes_is_encoded_anew(bench: Workbench) -> None:
    before = bench.tree("age")
    assert bench.change_attribute("age", hierarchy={"bands": ["7", "14"]}) == ()
    after = bench.tree("age")
    assert before is not None
    assert after is not None
    assert "0-6" in after.hierarchy
    assert "0-6" not in before.hierarchy


def test_counts_of_a_tree_add_up(bench: Workbench) -> None:
    view, outlook = bench.tree("city"), bench.outlook()
    assert view is not None
    assert view.counts[0] == 600
    assert view.withheld[0] == outlook.withheld
    for node, parent in enumerate(view.hierarchy.parents):
        if parent >= 0:
            assert view.counts[node] <= view.counts[parent]
    assert bench.tree("income") is None
    numbers = bench.numbers("income")
    assert numbers is not None
    assert sum(count for _, _, count in numbers.bins) + numbers.missing == 600


def test_a_change_that_breaks_the_plan_is_refused_and_nothing_changes(bench: Workbench) -> None:
    before, version = bench.plan_yaml(), bench.version
    assert bench.change(privacy={"k": 1})
    assert bench.change(privacy={"k": 3, "p": 4})
    assert bench.change_attribute("city", limit={"nodes": ["Atlantis"]})
    assert bench.change_attribute("age", hierarchy={"bands": [5, 7]})
    assert (bench.plan_yaml(), bench.version) == (before, version)


def test_changes_can_be_undone_and_taken_again(bench: Workbench) -> None:
    first = bench.plan
    bench.change(privacy={"k": 7})
    bench.change(privacy={"k": 9})
    assert bench.undo()
    assert bench.undo()
    assert not bench.undo()
    assert bench.plan == first
    assert bench.redo()
    assert bench.plan is not None
    assert bench.plan.privacy.k == 7
    bench.change(privacy={"k": 3})
    assert not bench.redo()


def test_the_plan_as_text_is_the_plan(bench: Workbench) -> None:
    assert bench.plan is not None
    assert Plan.loads(bench.plan_yaml()).digest() == bench.plan.digest()


def test_another_role_drops_what_does_not_fit_it(bench: Workbench) -> None:
    assert bench.change_attribute("city", role="other") == ()
    assert bench.plan is not None
    assert bench.plan.attributes["city"].hierarchy is None


def test_limits_put_on_afterwards_are_those_that_were_encoded(made_up: tuple[Path, Path]) -> None:
    from hedgerow.engines.local import read

    plan = Plan.load(made_up[1]).settled()
    table = read(made_up[0], plan)
    with_limits = encode_table(table, plan)
    bare = plan.model_copy(
        update={"attributes": {name: part.model_copy(update={"limit": None}) for name, part in plan.attributes.items()}}
    )
    put_on = encode_table(table, bare).under(plan)
    for one, other in zip(with_limits.columns, put_on.columns, strict=True):
        assert (one.limit_keys == other.limit_keys).all()


def test_without_a_table_there_is_nothing_to_do(tmp_path: Path) -> None:
    bench = Workbench(tmp_path)
    assert bench.change(privacy={"k": 3})
    assert bench.plan_yaml() == ""
    for work in (bench.outlook, bench.start):
        with pytest.raises(HedgerowError, match="no table"):
            work()


def test_names_of_files_are_for_people_only(tmp_path: Path) -> None:
    files = Files(tmp_path, Room(1000))
    for name in ("../../x.csv", "/etc/passwd", "a\0b.csv", "x" * 5000 + ".csv", "..", ".csv"):
        stored = files.write(name, b"1")
        assert stored.path.parent == tmp_path
        assert stored.path.stat().st_mode & 0o777 == 0o600
    assert files.find("nothing") is None


def test_a_plan_from_elsewhere_names_no_file_of_this_machine(bench: Workbench, tmp_path: Path) -> None:
    (tmp_path / "secret.csv").write_text("Alice;HIV;*\nBob;HIV;*\n")
    problems = bench.change_attribute("sex", hierarchy={"file": str(tmp_path / "secret.csv")})
    assert [problem.code for problem in problems] == ["hierarchy-file"]
    assert "Alice" not in str(problems)
    with pytest.raises(PlanError, match="may not name files"):
        Plan.loads(
            f"attributes: {{sex: {{role: quasi-identifier, hierarchy: {{file: {tmp_path}/secret.csv}}}}}}\nprivacy: {{k: 2}}",
            base=None,
        )


def test_no_more_runs_at_once_than_may(bench: Workbench) -> None:
    runs = [bench.start() for _ in range(3)]
    with pytest.raises(HedgerowError, match="as many as may"):
        bench.start()
    bench.close()
    assert not any(run.running for run in runs)


def test_sessions_end_when_nobody_uses_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sessions = Sessions(Settings(), AuditLog())
    try:
        secret, session = sessions.begin("ann")
        session.files.write("a.csv", b"1")
        assert sessions.find(secret) is session
        session.seen -= 13 * 3600
        assert sessions.find(secret) is None
        assert session.ended
        assert not session.folder.exists()
        secrets = [sessions.begin("bob")[0] for _ in range(8)]
        assert [sessions.find(one) is not None for one in secrets] == [False] * 2 + [True] * 6
    finally:
        sessions.close()


def test_a_file_that_unpacks_to_far_more_is_not_read_into_memory(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    column = pa.DictionaryArray.from_arrays(pa.array([0] * 6_000_000, pa.int32()), pa.array(["x" * 200]))
    pq.write_table(pa.table({"a": column, "b": column}), tmp_path / "bomb.parquet")
    assert (tmp_path / "bomb.parquet").stat().st_size < 1_000_000
    assert is_large_file(tmp_path / "bomb.parquet")


def test_a_column_that_another_tells_of_is_tried_and_left_out(bench: Workbench, made_up: tuple[Path, Path]) -> None:
    assert bench.plan is not None
    assert bench.change(rules=[{"attribute": "city", "keep_apart": ["Kansas", "Nebraska"]}]) == ()
    job = bench.try_leaving_out()
    job.wait(120)
    assert job.state == "done"
    assert job.result == leave_out(made_up[0], bench.plan).to_dict()
    name = "city" if "city" in bench.plan.quasi_identifiers else job.result["columns"][0]["column"]
    assert bench.leave_out(name) == ()
    assert name not in bench.plan.released_columns
    assert not bench.plan.rules  # it was about that column
    bench.outlook()
    assert bench.undo()
    assert name in bench.plan.quasi_identifiers
    assert bench.plan.rules


def test_levels_of_a_sensitive_column_are_known_by_example(bench: Workbench) -> None:
    assert bench.levels("diagnosis") == ()
    tree = {"any": {"heart": ["stroke", "hypertension"], "other": ["flu"]}}
    assert bench.change_attribute("diagnosis", hierarchy={"tree": tree}) == ()
    assert bench.levels("diagnosis")[1:] in {("heart", "any"), ("other", "any")}
    assert bench.change_attribute("diagnosis", level=1) == ()
