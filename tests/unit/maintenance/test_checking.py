"""A change of a large release: worked out from the index, checked in part; the same as from all of the store."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.errors import DataError
from hedgerow.maintenance import MaintainedRelease, checking, create_release, open_release
from hedgerow.maintenance.audit.kept import KeptAudit
from hedgerow.maintenance.record_index import GroupIndex, RecordIndex, fingerprints, fingerprints_of
from hedgerow.maintenance.store import Store
from hedgerow.maintenance.store import sqlite as sqlite_store
from hedgerow.maintenance.store.schema import STEPS
from hedgerow.plan import Plan

TREE = {"all": {"A": ["a1", "a2"], "B": ["b1", "b2"]}}
TABLES = {
    "places": "SELECT * FROM places ORDER BY 1, 2",
    "groups": "SELECT * FROM groups ORDER BY 1, 2",
    "records": "SELECT * FROM records ORDER BY 1, 2",
    "versions": "SELECT version, verb, counts, scores, facts, json_remove(audit, '$.covered') FROM versions ORDER BY 1",
}


@pytest.fixture(autouse=True)
def _large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "ALWAYS_FULL", 0)


def people(numbers: list[int], seed: int = 0) -> pa.Table:
    """People by their numbers; another seed makes them others under the same keys."""
    rng = [random.Random(f"{seed}-{number}") for number in numbers]
    return pa.table(
        {
            "id": [f"p{number:03}" for number in numbers],
            "age": [str(one.randint(20, 60)) for one in rng],
            "city": [one.choice(["a1", "a2", "b1", "b2"]) for one in rng],
            "ill": [one.choice(["flu", "cold", "gout", None]) for one in rng],
            "paid": pa.array([one.randint(0, 3) / 4 for one in rng], pa.float64()),
        }
    )


def plan_of(**changes: Any) -> Plan:
    asked: dict[str, Any] = {
        "key": "id",
        "attributes": {
            "age": {"role": "quasi-identifier", "intervals": "free", "limit": {"cuts": [40]}},
            "city": {"role": "quasi-identifier", "hierarchy": {"tree": TREE}},
            "ill": "sensitive",
            "paid": "other",
        },
        "privacy": {"k": 3, "p": 2},
    }
    return Plan.from_dict({**asked, **changes})


def tables(store: Path) -> dict[str, list[Any]]:
    with sqlite3.connect(store) as database:
        return {name: database.execute(query).fetchall() for name, query in TABLES.items()}


def covered(release: MaintainedRelease) -> dict[str, Any]:
    found: dict[str, Any] = release.history()[-1].verification["covered"]
    return found


def audited(release: MaintainedRelease) -> dict[str, Any]:
    """How the newest version was audited; its audit must be that of all versions from the beginning."""
    row = release.history()[-1]
    assert {**release.audit().to_dict(), "covered": row.audit["covered"]} == row.audit
    found: dict[str, Any] = row.audit["covered"]
    return found


def run(store: Path, query: str, *values: Any) -> None:
    with sqlite3.connect(store) as database:
        assert database.execute(query, values).rowcount


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """The store of a release of 90 people."""
    create_release(people(list(range(90))), plan_of(), tmp_path / "kept.store").close()
    return tmp_path / "kept.store"


CHANGES = st.lists(
    st.tuples(st.sampled_from(["insert", "delete", "update"]), st.integers(0, 1000), st.integers(1, 4)),
    min_size=1,
    max_size=4,
)


@settings(max_examples=8)
@given(CHANGES, st.sampled_from(["free", "gated"]), st.integers(0, 5))
def test_a_change_in_part_writes_what_a_full_one_does(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[str, int, int]], republish: str, seed: int
) -> None:
    folder = tmp_path_factory.mktemp("both")
    part, full = folder / "part.store", folder / "full.store"
    create_release(people(list(range(48)), seed), plan_of(republish=republish), part).close()
    shutil.copy(part, full)
    living, following = list(range(48)), 48
    for turn, (verb, where, many) in enumerate(changes):
        chosen = [living[(where + step * 7) % len(living)] for step in range(many)]
        if verb == "insert":
            chosen = list(range(following, following + many))
        chosen = list(dict.fromkeys(chosen))
        said = []
        for store, whole in ((part, False), (full, True)):
            with open_release(store) as release:
                given = people(chosen, seed + turn + 1)
                try:
                    getattr(release, verb)(given.select(["id"]) if verb == "delete" else given, full_check=whole)
                    said.append("")
                except Exception as error:
                    said.append(str(error))
        assert said[0] == said[1]
        if said[0]:
            continue
        if verb == "delete":
            living = [number for number in living if number not in chosen]
        elif verb == "insert":
            living, following = living + chosen, following + many
    assert tables(part) == tables(full)
    with open_release(part) as release:
        found = release.check()
        assert found["chain"]
        assert found["verification"]["kept"]


def test_a_change_says_what_its_check_covered(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "FULL_EVERY", 3)
    with open_release(kept) as release:
        assert covered(release)["how"] == "full"
        release.insert(people([100]))
        said = covered(release)
        assert (said["how"], said["last_full"]) == ("in part", 1)
        assert said["changed"] + said["read_again"] < said["groups"]
        assert said["changed"]
        assert said["read_again"]
        release.delete(keys=["p100"])
        assert covered(release)["how"] == "in part"
        release.insert(people([101]))
        assert covered(release)["how"] == "full"  # the third after the first
        release.insert(people([102]), full_check=True)
        assert covered(release)["how"] == "full"
        release.insert(people([103]))
        assert covered(release)["last_full"] == 5


def test_an_audit_is_put_on_top_of_the_last_one(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "FULL_EVERY", 5)
    with open_release(kept) as release:
        assert audited(release) == {"how": "full"}
        release.insert(people([100, 101]))
        assert audited(release) == {"how": "in part", "last_full": 1}
        release.delete(keys=["p007", "p100"])
        assert audited(release) == {"how": "in part", "last_full": 1}
    with open_release(kept) as release:
        release.update(people([3, 4, 5], seed=7))
        assert audited(release) == {"how": "in part", "last_full": 1}
        release.restart()
        assert audited(release) == {"how": "in part", "last_full": 1}
        release.insert(people([7, 200]))
        assert audited(release) == {"how": "full"}  # the fifth after the first
        release.update(people([8, 9], seed=7))
        assert audited(release) == {"how": "in part", "last_full": 6}
        release.optimize()
        assert audited(release)["last_full"] == 6
        release.delete(keys=["p011"], full_check=True)
        assert audited(release) == {"how": "full"}


def test_an_audit_in_postgres_is_put_on_top_of_the_last_one(postgres: str) -> None:
    address = f"{postgres}&schema=audited_{os.getpid()}"
    create_release(people(list(range(90))), plan_of(), address).close()
    for verb, numbers in (("insert", [100, 101]), ("delete", [7, 100]), ("update", [3, 4])):
        with open_release(address) as release:
            given = people(numbers, seed=3)
            getattr(release, verb)(given.select(["id"]) if verb == "delete" else given)
            assert audited(release) == {"how": "in part", "last_full": 1}
            assert release.check()["verification"]["kept"]
    with open_release(address) as release:
        release.erase(["p003"])
        assert release._store.audit_state() == b""


def test_a_run_that_ends_while_it_writes_leaves_version_and_audit(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = hashlib.sha256(kept.read_bytes()).hexdigest()
    whole = Store._replace_pieces

    def ends(store: Store, table: Any, content: bytes) -> None:
        whole(store, table, content)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, open_release(kept) as release:
        patched.setattr(Store, "_replace_pieces", ends)
        with pytest.raises(KeyboardInterrupt):
            release.insert(people([100]))
    assert hashlib.sha256(kept.read_bytes()).hexdigest() == before
    with open_release(kept) as release:
        release.insert(people([100]))
        assert audited(release) == {"how": "in part", "last_full": 1}


@pytest.mark.parametrize("asked", [{"republish": "only-coarser"}, {"republish": "gated"}, {"method": "lattice"}])
def test_every_rule_is_audited_on_top_of_the_last_audit(tmp_path: Path, asked: dict[str, Any]) -> None:
    if "method" in asked:
        asked = {**asked, "attributes": ON_LATTICE}
    with create_release(people(list(range(60))), plan_of(**asked), tmp_path / "kept.store") as release:
        for numbers in ([100, 101, 102, 103, 104, 105], [110, 111, 112]):
            release.insert(people(numbers))
            assert audited(release) == {"how": "in part", "last_full": 1}


def test_an_audit_that_is_not_that_of_the_version_before_is_made_again(kept: Path) -> None:
    with sqlite3.connect(kept) as database:
        (then,) = database.execute("SELECT content FROM audit_state").fetchone()
    with open_release(kept) as release:
        release.insert(people([100]))
    for content in (then, b"", b"hedgerow audit 1\n"):
        run(kept, "UPDATE audit_state SET content = ?", content)
        with open_release(kept) as release:
            release.update(people([100], seed=release.head))
            assert audited(release) == {"how": "full"}


def test_an_audit_that_says_something_else_is_found_by_the_next_full_one(kept: Path) -> None:
    with open_release(kept) as release:
        state = KeptAudit.unpack(release._store.audit_state())
    assert state is not None
    state.standing.states.people_left[0] = 1
    run(kept, "UPDATE audit_state SET content = ?", state.pack())
    with open_release(kept) as release:
        with pytest.raises(DataError, match="not what they were"):
            release.insert(people([100]), full_check=True)
        assert release.head == 1


TAMPERED = {
    "a record": "UPDATE records SET content = replace(content, '\"a', '\"b') WHERE key = ?",
    "a place": "UPDATE places SET cluster = cluster + 1 WHERE key = ?",
    "a group": "UPDATE groups SET size = size + 1 WHERE number = (SELECT group_number FROM places WHERE key = ?)",
}


@pytest.mark.parametrize("what", TAMPERED)
def test_an_untouched_group_that_was_tampered_with_is_found_when_it_is_read_again(
    kept: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = people(list(range(90)))
    cities = dict(zip(first["id"].to_pylist(), first["city"].to_pylist(), strict=True))
    run(kept, TAMPERED[what], next(key for key, city in cities.items() if city.startswith("a")))
    before = tables(kept)
    monkeypatch.setattr(checking, "FULL_EVERY", 5)
    found = []
    for number in range(200, 206):
        with open_release(kept) as release:
            try:
                release.insert(people([number]))
            except DataError as error:
                found.append((release.head + 1, error.problems[0].code))
                break
    assert [code for _, code in found] == ["store-damaged"]
    assert found[0][0] <= 6  # the fifth after version 1 is checked in full
    assert tables(kept)["versions"][:1] == before["versions"]
    with open_release(kept) as release:
        with pytest.raises(DataError, match="not what they were"):
            release.insert(people([300]), full_check=True)
        looked = release.check()
        assert not (looked["chain"] and looked["verification"]["kept"])


def test_nobody_reads_the_rows_of_an_untouched_group_otherwise(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "READ_AGAIN", 0)
    run(kept, "UPDATE records SET content = replace(content, '\"a', '\"b')")
    with open_release(kept) as release:
        release.insert(people([100]))
        assert covered(release)["read_again"] == 0
        with pytest.raises(DataError, match="not what they were"):
            release.insert(people([101]), full_check=True)


ON_LATTICE = {"city": {"role": "quasi-identifier", "hierarchy": {"tree": TREE}}, "ill": "sensitive"}


@pytest.mark.parametrize(
    "asked",
    [
        {"republish": "only-coarser"},
        {"privacy": {"k": 3, "t": 0.9}},
        {"missing": "matches-any"},
        {"method": "lattice", "attributes": ON_LATTICE},
    ],
)
def test_what_is_about_all_groups_is_checked_in_full(tmp_path: Path, asked: dict[str, Any]) -> None:
    with create_release(people(list(range(60))), plan_of(**asked), tmp_path / "kept.store") as release:
        release.insert(people([100]))
        assert covered(release)["how"] == "full"


def test_a_small_release_is_checked_in_full(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "ALWAYS_FULL", 91)
    with open_release(kept) as release:
        release.insert(people([100]))
        assert covered(release)["how"] == "full"
        release.insert(people([101, 102]))
        assert covered(release)["how"] == "full"


def test_a_store_of_an_earlier_version_gets_an_index(kept: Path) -> None:
    with sqlite3.connect(kept) as database:
        database.execute("DROP TABLE record_index")
        database.execute("DROP TABLE audit_state")
        database.execute("UPDATE meta SET value = '2' WHERE name = 'schema'")
    with open_release(kept) as release:
        release.insert(people([100]))
        assert covered(release)["how"] == "full"
        release.insert(people([101]))
        assert covered(release) | {"changed": 0, "read_again": 0, "groups": 0} == {
            "how": "in part", "last_full": 2, "changed": 0, "read_again": 0, "groups": 0,
        }  # fmt: skip
    with sqlite3.connect(kept) as database:
        assert database.execute("SELECT value FROM meta WHERE name = 'schema'").fetchall() == [(str(len(STEPS)),)]


@pytest.mark.parametrize("index", [b"", b"hedgerow index 1\n", b"?"], ids=["empty", "cut off", "something else"])
def test_an_unreadable_index_is_made_again(kept: Path, index: bytes) -> None:
    run(kept, "UPDATE record_index SET content = ?", index)
    with open_release(kept) as release:
        release.insert(people([100]))
        assert covered(release)["how"] == "full"
        release.insert(people([101]))
        assert covered(release)["how"] == "in part"


def test_an_index_that_says_something_else_is_found_by_the_next_full_check(kept: Path) -> None:
    with open_release(kept) as release:
        index = release._archive.index()
    assert index is not None
    index.place[0] += 1
    run(kept, "UPDATE record_index SET content = ?", index.pack())
    with open_release(kept) as release, pytest.raises(DataError, match="not what they were"):
        release.insert(people([100]), full_check=True)


def test_the_index_holds_nobody_who_was_erased(kept: Path) -> None:
    with open_release(kept) as release:
        release.insert(people([100]))
        release.erase(["p007"])
        assert release._store.index() == release._store.audit_state() == b""
        assert b"p007" not in kept.read_bytes()
        release.insert(people([101]))
        assert covered(release)["how"] == "full"
        assert b"p007" not in release._store.index() + release._store.audit_state()
        assert audited(release) == {"how": "full"}
        release.insert(people([102]))
        assert audited(release) == {"how": "in part", "last_full": release.head - 1}


def test_an_index_comes_back_as_it_was() -> None:
    columns = {
        "text": pa.chunked_array([["é", None, "", "x"]]),
        "number": pa.chunked_array([[1, None, -5, 1 << 40]]),
        "share": pa.chunked_array([[0.5, None], [1e-9, 0.1]]),
        "day": pa.chunked_array([[0, 1, None, 20_000]], pa.date32()),
    }
    schema = pa.schema([(name, column.type) for name, column in columns.items()])
    groups = GroupIndex(
        np.array([0, 5]), np.array([7, 1 << 63], np.uint64), np.arange(32).astype(np.uint8).reshape(2, 16)
    )
    place, group = np.array([0, -1, 300, 70_000]), np.array([5, -1, 0, 5])
    index = RecordIndex(9, pa.array(["", "a", "é", "ü" * 300]), columns, place, group, groups)
    again = RecordIndex.unpack(index.pack(), schema)
    assert again is not None
    assert (again.version, again.keys.to_pylist()) == (9, index.keys.to_pylist())
    assert {name: column.to_pylist() for name, column in again.columns.items()} == {
        name: column.to_pylist() for name, column in columns.items()
    }
    assert again.place.tolist() == place.tolist()
    assert again.group.tolist() == group.tolist()
    assert again.groups.digest.tolist() == groups.digest.tolist()
    assert again.groups.shown.tolist() == groups.shown.tolist()


@settings(max_examples=40)
@given(st.integers(0, 500), st.integers(0, 255))
def test_a_changed_byte_makes_an_index_unreadable(at: int, byte: int) -> None:
    groups = GroupIndex(np.array([0]), np.array([7], np.uint64), np.zeros((1, 16), np.uint8))
    index = RecordIndex(1, pa.array(["a"]), {"c": pa.chunked_array([["x"]])}, np.array([0]), np.array([0]), groups)
    packed = bytearray(index.pack())
    at %= len(packed)
    if packed[at] != byte:
        packed[at] = byte
        assert RecordIndex.unpack(bytes(packed), pa.schema([("c", pa.string())])) is None


def test_fingerprints_are_of_labels_whatever_they_are_read_from() -> None:
    labels = [["a", None, "é"], ["1-2", "1-2", "3"]]
    filled = [
        pa.DictionaryArray.from_arrays(pa.array([0, 1, 2], pa.int32()), pa.array(column, pa.string()))
        for column in labels
    ]
    assert fingerprints(filled).tolist() == fingerprints_of(['["a", "1-2"]', '[null, "1-2"]', '["é", "3"]']).tolist()


def test_the_newest_of_some_rows_is_found_in_any_version(kept: Path) -> None:
    with open_release(kept) as release:
        release.update(people([3, 4], seed=9))
        store = release._store
        for keys in (["p003", "p050", "nobody"], []):
            every = store.records().filter(pa.compute.is_in(store.records()["key"], pa.array(keys, pa.string())))
            assert store.records_of(keys).sort_by("key").to_pylist() == every.sort_by("key").to_pylist()
        assert isinstance(store, sqlite_store.SqliteStore)
