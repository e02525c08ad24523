"""A maintained release: the same as ``anonymize`` makes, whatever it is fed from; two writers; erasing; leaks."""

from __future__ import annotations

import contextlib
import csv
import datetime as dt
import io
import json
import os
import random
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
import pytest

import hedgerow as hr
from hedgerow.errors import DataError, HedgerowError, NoSolution, PlanError
from hedgerow.maintenance import MaintainedRelease, create_release, open_release
from hedgerow.maintenance.store import open_store
from hedgerow.plan import Plan

ROOT = Path(__file__).parents[3]
TREE = {"all": {"A": ["a1", "a2"], "B": ["b1", "b2"]}}


def clinic(size: int = 60, start: int = 0, seed: int = 1, **other: list[Any]) -> pa.Table:
    """People with an age, a city, an illness and a note."""
    rng = random.Random(f"{seed}-{start}")
    keys = [f"p{number:04}" for number in range(start, start + size)]
    columns: dict[str, list[Any]] = {
        "id": keys,
        "age": [str(rng.randint(20, 70)) for _ in keys],
        "city": [rng.choice(["a1", "a2", "b1", "b2"]) for _ in keys],
        "ill": [rng.choice(["flu", "cold", "gout", "mumps"]) for _ in keys],
        "note": [f"n{rng.randint(0, 9)}" for _ in keys],
    }
    return pa.table({**columns, **other})


def plan_of(**changes: Any) -> Plan:
    given: dict[str, Any] = {
        "key": "id",
        "attributes": {
            "age": {"role": "quasi-identifier", "intervals": "free", "limit": {"cuts": [45]}},
            "city": {"role": "quasi-identifier", "hierarchy": {"tree": TREE}, "limits": ["A", "B"]},
            "ill": "sensitive",
            "note": "other",
        },
        "privacy": {"k": 3, "p": 2},
    }
    return Plan.from_dict({**given, **changes})


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def exported(release: MaintainedRelease, version: int | None, folder: Path, format: Any = "csv") -> dict[str, bytes]:
    target = folder / f"export-{len(list(folder.iterdir()))}"
    release.export(version, target, format=format)
    return files(target)


def rows_of(release: MaintainedRelease, version: int | None = None) -> list[dict[str, Any]]:
    return release.release(version).table.to_pylist()


def code(caught: pytest.ExceptionInfo[HedgerowError]) -> str:
    (problem,) = caught.value.problems
    return problem.code


def codes(caught: pytest.ExceptionInfo[HedgerowError]) -> list[str]:
    return [problem.code for problem in caught.value.problems]


@pytest.fixture
def release(tmp_path: Path) -> Iterator[MaintainedRelease]:
    with create_release(clinic(), plan_of(), tmp_path / "clinic.store") as made:
        yield made


# ---- the same as anonymize makes ------------------------------------------------------------------------------

LIKE_ANONYMIZE: dict[str, dict[str, Any]] = {
    "k and p": {},
    "k alone": {"privacy": {"k": 4}},
    "limits ignored": {"method": {"name": "cluster", "limits": "ignore"}},
    "alpha": {"privacy": {"k": 3, "alpha": "0.6"}},
    "entropy": {"privacy": {"k": 3, "l": {"entropy": 2}}},
    "closeness": {"privacy": {"k": 4, "t": "0.4"}},
    "association": {"weights": "association"},
    "utility": {"method": "utility"},
    "bottom-up": {"method": "bottom-up"},
    "euclidean": {"method": "euclidean"},
    "matches-any": {"missing": "matches-any"},
    "seed": {"seed": 7},
    "rules": {"rules": [{"attribute": "age", "keep_apart": ["30", "60"]}]},
}


@pytest.mark.parametrize("what", LIKE_ANONYMIZE)
@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_the_first_version_is_what_anonymize_makes(tmp_path: Path, what: str, format: Any) -> None:
    plan, people = plan_of(**LIKE_ANONYMIZE[what]), clinic(80)
    hr.anonymize(people, plan, tmp_path / "static", format=format)
    with create_release(people, plan, tmp_path / "x.store") as made:
        assert exported(made, 1, tmp_path, format) == files(tmp_path / "static")


def test_the_first_version_of_a_file_is_what_anonymize_makes(tmp_path: Path) -> None:
    arrow_csv.write_csv(clinic(), tmp_path / "clinic.csv")
    hr.anonymize(tmp_path / "clinic.csv", plan_of(), tmp_path / "static")
    with create_release(tmp_path / "clinic.csv", plan_of(), tmp_path / "x.store") as made:
        assert exported(made, 1, tmp_path) == files(tmp_path / "static")


def test_the_first_version_with_a_person_key_is_what_anonymize_makes(tmp_path: Path) -> None:
    people = clinic(who=[f"w{number // 2}" for number in range(60)])
    plan = plan_of(person="who")
    hr.anonymize(people, plan, tmp_path / "static")
    with create_release(people, plan, tmp_path / "x.store") as made:
        assert exported(made, 1, tmp_path) == files(tmp_path / "static")
        assert made.history()[0].facts["persons"] == 30


def test_a_version_made_anew_is_as_it_was_written(release: MaintainedRelease, tmp_path: Path) -> None:
    release.insert(clinic(9, 60))
    release.delete(keys=["p0001", "p0002"])
    release.optimize()
    for row in release.history():
        files = exported(release, row.number, tmp_path)
        assert json.loads(files["facts.json"]) == row.facts
        assert row.plan_digest == release.plan.digest()
    assert repr(release).startswith("MaintainedRelease(version 4: ")


# ---- what must not matter -------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [10**6, 2**62])
def test_a_number_that_no_cluster_has_is_damage_and_takes_no_memory(tmp_path: Path, number: int) -> None:
    with create_release(clinic(), plan_of(), tmp_path / "kept.store"):
        pass
    with contextlib.closing(sqlite3.connect(tmp_path / "kept.store")) as store, store:
        (table,) = (name for (name,) in store.execute("SELECT name FROM sqlite_master") if name.endswith("places"))
        store.execute(f'UPDATE "{table}" SET "cluster" = ? WHERE "cluster" = 0', (number,))
    with open_release(tmp_path / "kept.store") as release, pytest.raises(DataError) as caught:
        release.export(1, tmp_path / "out")
    assert code(caught) == "store-damaged"


def story(store: Path | str, order: int, threads: int, folder: Path) -> tuple[list[dict[str, bytes]], list[str]]:
    """The same changes from rows in some order; what comes out, and the chain."""
    rng = random.Random(order)

    def shuffled(table: pa.Table) -> pa.Table:
        at = list(range(table.num_rows))
        rng.shuffle(at)
        names = [*table.column_names]
        rng.shuffle(names)
        return table.take(at).select(names)

    with create_release(shuffled(clinic(80)), plan_of(), store, threads=threads) as made:
        made.insert(shuffled(clinic(12, 80)))
        gone = ["p0003", "p0017", "p0045", "p0081"]
        rng.shuffle(gone)
        made.delete(keys=gone)
        made.update(shuffled(clinic(10, 20, seed=5)))
        made.optimize()
        made.restart()
        made.insert(shuffled(clinic(3, 200)))
        out = [exported(made, row.number, folder) for row in made.history()]
        return out, [row.chain for row in made.history()]


def test_neither_the_order_of_rows_and_columns_nor_threads_matter(tmp_path: Path) -> None:
    stories = [story(tmp_path / f"{order}.store", order, 1 + order % 2, tmp_path) for order in range(3)]
    assert all(one == stories[0] for one in stories)


def test_neither_the_hash_seed_nor_the_database_matters(tmp_path: Path, postgres: str) -> None:
    told = []
    for seed in ("0", "1"):
        folder = tmp_path / seed
        folder.mkdir()
        script = (
            "import sys; from pathlib import Path; from tests.unit.maintenance.test_maintained import story; "
            "folder = Path(sys.argv[1]); out, chain = story(folder.parent / f'{folder.name}.store', 0, 1, folder); "
            "print(chain)"
        )
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        run = subprocess.run(
            [sys.executable, "-c", script, folder],
            capture_output=True,
            text=True,
            cwd=ROOT,
            env=environment,
            check=True,
        )
        told.append((run.stdout.strip(), [files(path) for path in sorted(folder.iterdir())]))
    assert told[0] == told[1]
    out, chain = story(f"{postgres}&schema=same_{os.getpid()}", 1, 2, tmp_path)
    assert str(chain) == told[0][0]
    assert out == told[0][1]


def test_one_batch_and_the_same_in_another_file_format(tmp_path: Path) -> None:
    chains = []
    new = clinic(12, 60)
    arrow_csv.write_csv(new, tmp_path / "new.csv")
    pq.write_table(new, tmp_path / "new.parquet")
    with pa.ipc.new_file(tmp_path / "new.arrow", new.schema) as writer:
        writer.write_table(new)
    text = (tmp_path / "new.csv").read_text().replace(",", ";")
    (tmp_path / "semicolons.csv").write_text(text)
    sources = [new, new.to_pandas(), tmp_path / "new.csv", str(tmp_path / "new.parquet"), tmp_path / "new.arrow"]
    for number, source in enumerate([*sources, tmp_path / "semicolons.csv"]):
        with create_release(clinic(), plan_of(), tmp_path / f"{number}.store") as made:
            made.insert(source)
            chains.append(made.history()[-1].chain)
    assert len(set(chains)) == 1


# ---- kinds of columns -----------------------------------------------------------------------------------------


def typed(size: int, start: int = 0) -> pa.Table:
    """The clinic with numbers, dates and truth values."""
    people = clinic(size, start)
    day = [dt.date(2024, 1, 1) + dt.timedelta(days=number % 50) for number in range(size)]
    return pa.table(
        {
            "id": pa.array(range(start, start + size), pa.int64()),
            "age": people["age"].cast(pa.int16()),
            "city": people["city"].dictionary_encode(),
            "ill": people["ill"],
            "note": pa.array([Decimal("1.50") + number for number in range(size)], pa.decimal128(8, 2)),
            "seen": pa.array(day, pa.date32()),
            "insured": pa.array([number % 3 == 0 for number in range(size)]),
            "score": pa.array([number / 7 for number in range(size)], pa.float64()),
        }
    )


def typed_plan() -> Plan:
    attributes = plan_of().short()["attributes"]
    return plan_of(attributes={**attributes, "seen": "other", "insured": "other", "score": "other"})


def test_typed_tables_keep_their_kinds(tmp_path: Path) -> None:
    hr.anonymize(typed(60), typed_plan(), tmp_path / "static", format="parquet")
    with create_release(typed(60), typed_plan(), tmp_path / "x.store") as made:
        assert exported(made, 1, tmp_path, "parquet") == files(tmp_path / "static")
        made.insert(typed(12, 60))
        shown = made.release().table
        assert shown.schema.field("seen").type == pa.date32()
        assert shown.schema.field("insured").type == pa.bool_()
        assert shown.schema.field("score").type == pa.float64()
        assert shown.schema.field("note").type == pa.decimal128(8, 2)
        assert sorted(shown["score"].to_pylist()) == sorted(
            typed(60)["score"].to_pylist() + typed(12, 60)["score"].to_pylist()
        )
    with open_release(tmp_path / "x.store") as made:
        made.delete(pa.table({"id": pa.array([3, 4], pa.int64())}))
        made.delete(keys=["5", "6"])
        assert made.history()[-1].counts["records"] == 68
        assert made.check()["verification"]["kept"]


def test_text_goes_into_a_typed_store(tmp_path: Path) -> None:
    new = typed(12, 60)
    arrow_csv.write_csv(new, tmp_path / "new.csv")
    chains = []
    for number, source in enumerate([new, tmp_path / "new.csv", new.to_pandas()]):
        with create_release(typed(60), typed_plan(), tmp_path / f"{number}.store") as made:
            made.insert(source)
            chains.append(made.history()[-1].chain)
    assert len(set(chains)) == 1


def test_typed_tables_go_into_a_store_of_text(tmp_path: Path) -> None:
    polars = pytest.importorskip("polars")
    people = clinic(12, 60)
    typed_people = people.set_column(1, "age", people["age"].cast(pa.int64()))
    chains = []
    sources = [people, typed_people, typed_people.to_pandas(), polars.from_arrow(typed_people)]
    for number, source in enumerate(sources):
        arrow_csv.write_csv(clinic(), tmp_path / "clinic.csv")
        with create_release(tmp_path / "clinic.csv", plan_of(), tmp_path / f"{number}.store") as made:
            made.insert(source)
            chains.append(made.history()[-1].chain)
            assert made.check()["verification"]["kept"]
    assert len(set(chains)) == 1


def test_cells_of_another_kind_are_refused_without_being_named(tmp_path: Path) -> None:
    with create_release(typed(60), typed_plan(), tmp_path / "x.store") as made:
        wrong = typed(3, 60).set_column(6, "insured", pa.array(["yes", "secret", "no"]))
        with pytest.raises(DataError) as caught:
            made.insert(wrong)
        assert code(caught) == "format"
        assert "secret" not in str(caught.value)
        assert "'insured'" in str(caught.value)
        assert made.head == 1


# ---- odd values -----------------------------------------------------------------------------------------------

ODD = [
    "o'neil",
    'say "hi"',
    "a,b;c",
    "two\nlines",
    "tab\there",
    "é",
    "e\u0301",
    "日本",
    "😀",
    "=1+1",
    "%s",
    "\\n",
    "null",
]


def test_odd_keys_and_values(tmp_path: Path) -> None:
    size = len(ODD)
    rng = random.Random(3)
    cities = [rng.choice(["it's", 'the "B"', "new\nline", "ß"]) for _ in ODD]
    attributes = {
        "age": {"role": "quasi-identifier", "intervals": "free"},
        "city": {"role": "quasi-identifier", "hierarchy": {"tree": {"*": ["it's", 'the "B"', "new\nline", "ß"]}}},
        "ill": "sensitive",
        "note": "other",
    }
    people = pa.table(
        {
            "id": ODD,
            "age": [str(20 + number) for number in range(size)],
            "city": cities,
            "ill": list(reversed(ODD)),
            "note": ODD,
        }
    )
    plan = plan_of(attributes=attributes, privacy={"k": 2, "p": 2})
    hr.anonymize(people, plan, tmp_path / "static")
    with create_release(people, plan, tmp_path / "x.store") as made:
        assert exported(made, 1, tmp_path) == files(tmp_path / "static")
        made.insert(people.set_column(0, "id", pa.array([f"{key} 2" for key in ODD])))
        made.update(people.slice(2, 4).set_column(3, "ill", pa.array(["x", "y", "x", "y"])))
        made.delete(keys=['say "hi"', "two\nlines", "é"])
        assert sorted(row["note"] for row in rows_of(made)) == sorted(
            [*ODD, *(note for note in ODD if note not in ('say "hi"', "two\nlines", "é"))]
        )
        assert made.erase(["e\u0301", "null", "é"]) > 0
        assert made.check()["verification"]["kept"]
        path = tmp_path / "gone.csv"
        with path.open("w", newline="") as file:
            csv.writer(file).writerows([["id"], ["o'neil"], ["a,b;c"], ["日本 2"]])
        made.delete(path)
        assert made.history()[-1].counts["deleted"] == 3
        assert made.audit().to_dict()["versions"] == made.head


def test_keys_are_trimmed_texts(release: MaintainedRelease) -> None:
    new = clinic(1, 60).set_column(0, "id", pa.array([" p0001 "]))
    with pytest.raises(DataError) as caught:
        release.insert(new)
    assert code(caught) == "duplicate-key"
    release.delete(keys=[" p0001 "])
    assert release.history()[-1].counts["deleted"] == 1
    release.insert(new)
    assert release.history()[-1].counts["inserted"] == 1


@pytest.mark.parametrize("key", ["", " ", None])
def test_records_without_a_key_are_refused(release: MaintainedRelease, key: str | None) -> None:
    with pytest.raises(DataError) as caught:
        release.insert(clinic(2, 60).set_column(0, "id", pa.array(["new", key], pa.string())))
    assert code(caught) == "no-key"
    assert "record 2" in str(caught.value)
    with pytest.raises(DataError) as caught:
        release.delete(pa.table({"id": pa.array(["p0001", key], pa.string())}))
    assert code(caught) == "no-key"
    assert release.head == 1


def test_missing_values_and_their_markers(tmp_path: Path) -> None:
    people = clinic(60)
    age = [None if number % 6 == 0 else cell for number, cell in enumerate(people["age"].to_pylist())]
    ill = [None if number % 10 == 5 else cell for number, cell in enumerate(people["ill"].to_pylist())]
    note = [None if number % 4 == 0 else cell for number, cell in enumerate(people["note"].to_pylist())]
    people = people.set_column(1, "age", pa.array(age, pa.string()))
    people = people.set_column(3, "ill", pa.array(ill)).set_column(4, "note", pa.array(note))
    chains = []
    for number, markers in enumerate(([""], ["", "NA"], ["?", "", "NA"])):
        plan = plan_of(data={"missing": markers})
        marked = pa.table(
            {
                name: column.fill_null(markers[-1])
                for name, column in zip(people.column_names, people.columns, strict=True)
            }
        )
        with create_release(marked.slice(0, 48), plan, tmp_path / f"{number}.store") as made:
            made.insert(marked.slice(48))
            made.update(marked.slice(0, 3).set_column(4, "note", pa.array(["", "", ""])))
            shown = rows_of(made)
            assert sum(row["note"] is None for row in shown) == note.count(None) + 2
            assert made.check()["verification"]["kept"]
            chains.append(exported(made, None, tmp_path)["data.csv"])
    assert len(set(chains)) == 1


def test_empty_texts_that_are_not_missing(tmp_path: Path) -> None:
    plan = plan_of(data={"missing": ["NA"]})
    people = clinic(20).set_column(4, "note", pa.array(["", "NA"] * 10))
    hr.anonymize(people, plan, tmp_path / "static", format="parquet")
    with create_release(people, plan, tmp_path / "x.store") as made:
        assert exported(made, 1, tmp_path, "parquet") == files(tmp_path / "static")
        made.insert(clinic(4, 30).set_column(4, "note", pa.array(["", "", "NA", "x"])))
        notes = [row["note"] for row in rows_of(made)]
        assert (notes.count(""), notes.count(None), notes.count("x")) == (12, 11, 1)


def test_values_without_a_leaf_are_withheld_or_refused(tmp_path: Path) -> None:
    attributes = plan_of().short()["attributes"]
    lenient = plan_of(attributes={**attributes, "city": {**attributes["city"], "unknown": "withhold"}})
    new = clinic(3, 60).set_column(2, "city", pa.array(["a1", "nowhere", "a1"]))
    with create_release(clinic(), lenient, tmp_path / "lenient.store") as made:
        version = made.insert(new)
        assert version.counts["withheld"] == 1
        assert version.counts["records"] == 63
        assert made.update(clinic(1, 61)).counts["withheld"] == 0
    with create_release(clinic(), plan_of(), tmp_path / "strict.store") as made:
        with pytest.raises(DataError) as caught:
            made.insert(new)
        assert "nowhere" not in str(caught.value)
        assert made.head == 1
        assert made.check()["chain"]


# ---- bad input ------------------------------------------------------------------------------------------------


def test_mistakes_change_nothing(release: MaintainedRelease, tmp_path: Path) -> None:
    before = release.history()
    (tmp_path / "empty.csv").write_text("id,age,city,ill,note\n")
    other = plan_of(privacy={"k": 5})
    mistakes: list[tuple[str, Any]] = [
        ("duplicate-key", lambda: release.insert(clinic(3, 58))),
        ("duplicate-key", lambda: release.insert(pa.concat_tables([clinic(3, 70), clinic(3, 70)]))),
        ("duplicate-key", lambda: release.delete(keys=["p0001", "p0001"])),
        ("no-such-key", lambda: release.update(clinic(3, 58))),
        ("no-such-key", lambda: release.delete(keys=["p0001", "p9999"])),
        ("no-such-key", lambda: release.erase(["p9999"])),
        ("missing-column", lambda: release.insert(clinic(3, 70).drop_columns(["ill"]))),
        ("missing-column", lambda: release.insert(clinic(3, 70).drop_columns(["id"]))),
        ("missing-column", lambda: release.delete(pa.table({"key": ["p0001"]}))),
        ("empty", lambda: release.insert(tmp_path / "empty.csv")),
        ("no-file", lambda: release.insert(tmp_path / "nothing.csv")),
        ("all-withheld", lambda: release.delete(clinic())),
        ("other-plan", lambda: release.insert(clinic(3, 70), other)),
        ("other-plan", lambda: release.update(clinic(3), other)),
        ("usage", lambda: release.delete()),
        ("usage", lambda: release.delete(clinic(2), keys=["p0001"])),
        ("no-version", lambda: release.export(2, tmp_path / "out")),
        ("no-version", lambda: release.export(0, tmp_path / "out")),
        ("no-version", lambda: release.diff(1, 2)),
        ("empty", lambda: release.delete(keys=[])),
    ]
    for expected, mistake in mistakes:
        with pytest.raises(HedgerowError) as caught:
            mistake()
        assert codes(caught) == [expected], str(caught.value)
        assert not any(f"p{number:04}" in str(caught.value) for number in (1, 58, 70, 9999))
    assert release.history() == before
    assert not (tmp_path / "out").exists()
    release.insert(clinic(3, 70), plan_of())
    assert release.head == 2


TREES = {"city": {"role": "quasi-identifier", "hierarchy": {"tree": TREE}}, "ill": "sensitive"}


def test_plans_that_cannot_be_maintained_are_refused(tmp_path: Path) -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"key": None}, "missing-key"),
        ({"method": "lattice", "attributes": TREES, "republish": "gated"}, "conflict"),
        ({"method": "lattice", "attributes": TREES, "republish": "cohorts"}, "conflict"),
        ({"method": {"name": "utility", "suppress": True}, "missing": "matches-any"}, "conflict"),
        ({"method": {"name": "bottom-up", "overlap": "forbidden"}}, "conflict"),
    ]
    for changes, expected in wrong:
        with pytest.raises(PlanError) as caught:
            create_release(clinic(), plan_of(**changes), tmp_path / "x.store")
        assert codes(caught) == [expected]
        assert caught.value.problems[0].hint
    assert list(tmp_path.iterdir()) == []


def test_a_creation_that_fails_leaves_no_store(tmp_path: Path) -> None:
    with pytest.raises(NoSolution):
        create_release(clinic(2), plan_of(), tmp_path / "x.store")
    assert list(tmp_path.iterdir()) == []
    with create_release(clinic(), plan_of(), tmp_path / "x.store"), pytest.raises(DataError) as caught:
        create_release(clinic().slice(1), plan_of(), tmp_path / "x.store")
    assert code(caught) == "store-exists"
    with pytest.raises(DataError) as caught:
        open_release(tmp_path / "y.store")
    assert code(caught) == "no-store"


def test_an_update_that_says_nothing_new_makes_no_version(release: MaintainedRelease) -> None:
    some = clinic().slice(3, 5)
    assert release.update(some).number == 1
    assert release.head == 1
    other_note = some.set_column(4, "note", pa.array(["new"] * 5))
    before = {row["age"] for row in rows_of(release)}
    assert release.update(other_note).counts["updated"] == 5
    assert {row["age"] for row in rows_of(release)} == before
    assert sum(row["note"] == "new" for row in rows_of(release)) == 5


# ---- two writers ----------------------------------------------------------------------------------------------


def writers(address: str) -> None:
    with create_release(clinic(), plan_of(), address) as one, open_release(address) as two:
        state = one._store.append

        def late(version: Any) -> None:
            """Somebody else is faster: their change comes between reading and writing."""
            two.insert(clinic(3, 100))
            state(version)

        one._store.append = late  # type: ignore[method-assign]
        with pytest.raises(DataError) as caught:
            one.insert(clinic(4, 200))
        assert code(caught) == "store-changed"
        assert one.head == two.head == 2
        one._store.append = state  # type: ignore[method-assign]
        assert one.insert(clinic(4, 200)).number == 3
        assert two.delete(keys=["p0100", "p0200"]).number == 4
        assert two.history() == one.history()
    with open_release(address) as again:
        again.insert(clinic(2, 300))
        checked = again.check()
        assert (checked["chain"], checked["head"]) == (True, 5)
        assert again.history()[-1].counts["records"] == 60 + 3 + 4 - 2 + 2


def test_of_two_writers_one_wins_and_the_other_goes_on(tmp_path: Path) -> None:
    writers(str(tmp_path / "x.store"))


def test_of_two_writers_on_a_server_one_wins_and_the_other_goes_on(postgres: str) -> None:
    writers(f"{postgres}&schema=writers_{os.getpid()}")


# ---- erasing --------------------------------------------------------------------------------------------------


def test_who_is_erased_is_in_no_version(release: MaintainedRelease, tmp_path: Path) -> None:
    release.insert(clinic(10, 60))
    release.delete(keys=["p0060", "p0061"])
    chain = [row.chain for row in release.history()]
    assert release.erase(["p0060"]) == 3  # its record, where it came to lie, and that it was deleted
    assert release.head == 3  # it was not in the release any more
    assert release.erase(["p0001", "p0061"]) >= 5
    assert release.history()[-1].verb == "delete"
    assert [row.chain for row in release.history()][:3] == chain
    assert release.erase(["p0001"]) == 0  # once more does no harm
    with pytest.raises(DataError) as caught:
        release.erase(["p0001", "p0002"])
    assert code(caught) == "no-such-key"
    for version in (1, 2, 3):
        with pytest.raises(DataError) as caught:
            release.export(version, tmp_path / "out")
        assert code(caught) == "erased"
        with pytest.raises(DataError) as caught:
            release.release(version)
        assert code(caught) == "erased"
    release.export(4, tmp_path / "out")
    checked = release.check()
    assert checked["chain"]
    assert checked["verification"]["kept"]
    raw = (tmp_path / "clinic.store").read_bytes()
    assert b"p0060" not in raw
    assert b"p0061" not in raw
    assert b"p0001" not in raw
    assert release.audit().to_dict()["versions"] == 4
    release.insert(clinic(10, 60).slice(0, 1))
    assert release.history()[-1].counts["inserted"] == 1
    release.diff(1, 5)


# ---- figures --------------------------------------------------------------------------------------------------


def test_drift_is_exact_for_small_tables(release: MaintainedRelease, tmp_path: Path) -> None:
    people = clinic()
    assert release.history()[0].scores["drift"] == 0
    for start in (100, 200, 300):
        new = clinic(8, start)
        people = pa.concat_tables([people, new])
        scores = release.insert(new).scores
        fresh = hr.anonymize(people, plan_of()).facts["ntil"]
        assert scores["exact"]
        assert scores["fresh_ntil"] == pytest.approx(fresh, abs=1e-9)
        assert scores["drift"] == pytest.approx(scores["ntil"] / fresh - 1, abs=1e-6)
    made = release.restart()
    assert made.scores["drift"] == 0
    assert made.scores["ntil"] == pytest.approx(fresh, abs=1e-9)
    assert rows_of(release) == hr.anonymize(people, plan_of()).table.to_pylist()


def test_optimizing_never_loses_more(release: MaintainedRelease) -> None:
    for start in (100, 200, 300):
        release.insert(clinic(10, start))
        release.delete(keys=[f"p{start + number:04}" for number in range(0, 10, 3)])
    before = release.history()[-1].scores["loss"]
    by_paper = release.optimize(0).scores["loss"]
    beyond = release.optimize().scores["loss"]
    assert beyond <= by_paper <= before


def test_a_search_lowers_the_loss_further_and_keeps_the_numbers_of_groups_that_stay(tmp_path: Path) -> None:
    with create_release(clinic(400), plan_of(), tmp_path / "store.db") as release:
        by_steps = release.optimize()
        searched = release.optimize(improve="quick")
        assert searched.scores["loss"] < by_steps.scores["loss"]
        told = release.diff(by_steps.number, searched.number)["groups"]
        assert searched.counts["steps"]["regrouped"] >= told["came"] > 0
        used = searched.counts["cluster_numbers"] - by_steps.counts["cluster_numbers"]
        assert used == searched.counts["steps"]["regrouped"] < searched.counts["groups"]
        exported(release, None, tmp_path)  # verified on the way


def test_the_search_is_the_plans_unless_one_is_named(tmp_path: Path) -> None:
    asked = plan_of(method={"name": "cluster", "improve": "thorough"})
    with create_release(clinic(200), plan_of(), tmp_path / "off.db") as release:
        assert "regrouped" not in release.optimize().counts["steps"]
    with create_release(clinic(200), asked, tmp_path / "on.db") as release:
        release.insert(clinic(60, start=200))
        assert release.optimize().counts["steps"]["regrouped"] > 0
        with pytest.raises(DataError, match="'improve' parameter"):
            release.optimize(improve="hard")  # type: ignore[arg-type]


def test_every_version_says_what_is_grouped_in_the_best_way(tmp_path: Path) -> None:
    limited = {
        "age": {"role": "quasi-identifier", "hierarchy": {"bands": [5, 10]}, "limit": {"level": 1}},
        "ill": "sensitive",
    }
    asked = plan_of(attributes=limited, method={"name": "cluster", "improve": "quick"})
    with create_release(clinic(90).select(["id", "age", "ill"]), asked, tmp_path / "store.db") as release:
        created = release.release().facts
        assert created["solved_exactly"]["records"] > 0
        release.insert(clinic(40, start=90).select(["id", "age", "ill"]))
        inserted = release.release().facts
        release.optimize()
        optimized = release.release().facts
        assert inserted["solved_exactly"]["records"] <= optimized["solved_exactly"]["records"]
        assert optimized["solved_exactly"]["blocks"] > 0


def test_a_search_does_not_go_with_widths(tmp_path: Path) -> None:
    wide = plan_of(
        attributes={
            "age": {"role": "quasi-identifier", "intervals": "free", "limit": {"width": 30}},
            "ill": "sensitive",
        },
        method={"name": "cluster", "improve": "quick"},
    )
    table = clinic(200).select(["id", "age", "ill"])
    with create_release(table, wide, tmp_path / "store.db") as release:
        release.optimize()  # by exact steps
        with pytest.raises(PlanError, match="limited in width"):
            release.optimize(improve="quick")


def test_differences_add_up(release: MaintainedRelease) -> None:
    release.insert(clinic(10, 60))
    release.delete(keys=["p0001", "p0002", "p0003"])
    one, two, three = release.history()
    for old, new in ((one, two), (two, three), (one, three)):
        told = release.diff(old.number, new.number)
        people, groups = told["people"], told["groups"]
        stayed = people["stayed_in_their_group"] + people["changed_groups"]
        assert stayed + people["came"] == new.counts["released"]
        assert stayed + people["left"] == old.counts["released"]
        same = groups["changed"] + groups["unchanged"]
        assert same + groups["came"] == new.counts["groups"]
        assert same + groups["vanished"] == old.counts["groups"]
    assert release.diff(2, 2)["people"]["changed_groups"] == 0


def test_a_person_key_counts_persons(tmp_path: Path) -> None:
    people = clinic(who=[f"w{number // 2}" for number in range(60)])
    with create_release(people, plan_of(person="who"), tmp_path / "x.store") as made:
        assert made.insert(clinic(6, 60, who=["w1"] * 6)).counts["inserted"] == 6
        made.delete(keys=["p0000", "p0001"])
        assert made.history()[-1].facts["persons"] == 29
        assert made.history()[-1].facts["smallest_group_persons"] >= 3
        table, link = people.slice(2), tmp_path / "link.csv"
        made.export(None, tmp_path / "out", link=link)
        table = pa.concat_tables([table, clinic(6, 60, who=["w1"] * 6)])
        hr.verify(tmp_path / "out", table, link=link).raise_if_broken()


def test_the_key_may_be_the_person(tmp_path: Path) -> None:
    with create_release(clinic(), plan_of(person="id"), tmp_path / "x.store") as made:
        made.insert(clinic(6, 60))
        assert made.history()[-1].facts["persons"] == 66
        assert made.check()["verification"]["kept"]


@pytest.mark.parametrize("changes", [{"weights": "association"}, {"method": "utility"}, {"method": "euclidean"}])
def test_other_plans_are_maintained(tmp_path: Path, changes: dict[str, Any]) -> None:
    with create_release(clinic(), plan_of(**changes), tmp_path / "x.store") as made:
        made.insert(clinic(15, 60))
        made.delete(keys=["p0003", "p0061"])
        made.update(clinic(4, 10, seed=9))
        made.optimize()
        made.restart()
        for row in made.history():
            assert row.verification["kept"]
            exported(made, row.number, tmp_path)


# ---- planted leaks ---------------------------------------------------------------------------------


def people(*cells: str) -> pa.Table:
    """Records written as key, age, illness."""
    rows = [cell.split() for cell in cells]
    return pa.table({name: [row[at] for row in rows] for at, name in enumerate(("id", "age", "ill"))})


def leak_plan(rule: str, k: int = 2, p: int = 2) -> Plan:
    age = {"role": "quasi-identifier", "intervals": "free"}
    return Plan.from_dict(
        {
            "key": "id",
            "attributes": {"age": age, "ill": "sensitive"},
            "privacy": {"k": k, "p": p},
            "republish": rule,
        }
    )


FIRST = people("a 20 flu", "b 21 cold", "c 60 gout", "d 61 mumps")
THREES = people("a 20 flu", "b 21 cold", "l 22 flu", "c 60 gout", "d 61 mumps", "e 62 gout")


def regrouped(release: MaintainedRelease) -> None:
    """Leak 1: everybody moves, and is grouped anew."""
    release.update(people("a 20 flu", "b 60 cold", "c 21 gout", "d 61 mumps"))


def one_comes(release: MaintainedRelease) -> None:
    """Leak 2: the group grows by exactly the newcomer's value."""
    release.insert(people("n 20 flu"))


def one_leaves(release: MaintainedRelease) -> None:
    """Leak 3: the same by difference."""
    release.delete(keys=["l"])


def swapped(release: MaintainedRelease) -> None:
    """Leak 4: two change places, and what each has in common with the group before is one person."""
    release.update(people("b 60 cold", "c 21 gout"))


LEAKS = {
    "regrouped": (FIRST, regrouped),
    "came": (FIRST, one_comes),
    "left": (THREES, one_leaves),
    "swap": (FIRST, swapped),
}


@pytest.mark.parametrize("rule", ["free", "gated", "cohorts"])
@pytest.mark.parametrize("leak", LEAKS)
def test_planted_leaks_are_found_and_with_a_gate_there_are_none(tmp_path: Path, leak: str, rule: str) -> None:
    first, change = LEAKS[leak]
    with create_release(first, leak_plan(rule), tmp_path / "x.store") as made:
        assert made.audit().leaks == 0
        if rule == "free":
            change(made)
            found = made.audit()
            assert found.leaks > 0
            assert made.history()[-1].audit["leaks"] == found.leaks
            facts = found.to_dict()
            if leak == "came":
                assert facts["newcomers"]["failing"] == facts["difference"]["failing"] == 1
            elif leak == "left":
                assert facts["leavers"]["failing"] == facts["difference"]["failing"] == 1
            else:
                assert facts["people_left"]["least"] == 1
                assert facts["people_left"]["below_k"] > 0
            return
        with contextlib.suppress(NoSolution):  # it may be refused
            change(made)
        assert made.audit().leaks == 0
        assert made.check()["verification"]["kept"]


def test_independent_clusterings_leak_and_the_gate_refuses_them(tmp_path: Path) -> None:
    """Leak 1 as it happens: fresh releases after changes."""
    for rule in ("free", "gated"):
        with create_release(clinic(60), plan_of(republish=rule), tmp_path / f"{rule}.store") as made:
            made.insert(clinic(40, 60))
            if rule == "free":
                made.restart()
                assert made.audit().leaks > 0
                continue
            before = made.history()
            with pytest.raises(NoSolution) as caught:
                made.restart()
            assert code(caught) == "audit"
            assert made.history() == before


@pytest.mark.parametrize("rule", ["only-coarser", "gated", "cohorts"])
def test_newcomers_wait_until_they_are_enough(tmp_path: Path, rule: str) -> None:
    with create_release(FIRST, leak_plan(rule), tmp_path / "x.store") as made:
        assert made.insert(people("n 20 flu")).counts["held_back"] == 1
        assert made.insert(people("m 25 cold")).counts["held_back"] == 0
        assert made.audit().leaks == 0


def test_a_cohort_that_loses_somebody_is_withdrawn_for_good(tmp_path: Path) -> None:
    with create_release(THREES, leak_plan("cohorts", k=3), tmp_path / "x.store") as made:
        assert made.delete(keys=["l"]).counts["withdrawn"] == 2
        assert made.insert(people("n 20 flu", "m 21 cold")).counts["held_back"] == 2
        assert made.insert(people("o 22 flu")).counts["withdrawn"] == 2
        assert made.history()[-1].counts["released"] == 6
        assert made.audit().leaks == 0
        for verb in (made.optimize, made.restart):
            with pytest.raises(PlanError) as caught:
                verb()
            assert code(caught) == "republish"


@pytest.mark.parametrize("rule", ["free", "only-coarser", "gated", "cohorts"])
def test_a_group_may_fail_because_others_came(tmp_path: Path, rule: str) -> None:
    """Closeness is to the whole table: newcomers change what is asked of groups that they are not in."""
    plan = leak_plan(rule).replace(privacy={"k": 2, "t": "0.5"})
    first = people("a 20 flu", "b 21 cold", "c 60 flu", "d 61 cold")
    with create_release(first, plan, tmp_path / "x.store") as made:
        version = made.insert(people(*(f"n{number} {30 + number} gout" for number in range(8))))
        assert version.verification["kept"]
        assert version.counts["released"] >= 8
        assert made.check()["verification"]["kept"]


def test_an_audit_names_nobody(release: MaintainedRelease) -> None:
    release.insert(clinic(1, 60))
    found = json.dumps(release.audit().to_dict()) + repr(release.audit())
    assert not any(f"p{number:04}" in found for number in range(61))
    assert not any(value in found for value in ("flu", "gout", "mumps"))


def test_progress_is_told(tmp_path: Path) -> None:
    told = io.StringIO()
    with create_release(
        clinic(), plan_of(), tmp_path / "x.store", progress=lambda stage, done, total: print(stage, file=told)
    ) as made:
        made.insert(clinic(3, 60))
    stages = set(told.getvalue().split())
    assert {"reading", "clustering", "maintaining", "verifying", "writing"} <= stages


def test_the_store_tells_the_plan_that_was_asked_for(release: MaintainedRelease, tmp_path: Path) -> None:
    with open_store(tmp_path / "clinic.store") as store:
        assert Plan.loads(store.meta()["asked"]).digest() == plan_of().settled().digest()
    assert release.plan.key == "id"


@pytest.mark.parametrize(
    ("link", "what"), [("release/link.csv", "must not lie in the release folder"), ("old.csv", "exists already")]
)
def test_an_export_refuses_a_link_where_it_may_not_lie(
    release: MaintainedRelease, tmp_path: Path, link: str, what: str
) -> None:
    (tmp_path / "old.csv").write_text("somebody else's")
    with pytest.raises(DataError, match=what):
        release.export(None, tmp_path / "release", link=tmp_path / link)
    assert (tmp_path / "old.csv").read_text() == "somebody else's"
    assert not (tmp_path / "release").exists()
