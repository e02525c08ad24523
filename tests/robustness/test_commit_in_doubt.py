"""The connection breaks in the moment in which a change ends: the answer is what the server did, or that nobody knows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import hedgerow as hr
from hedgerow.engines import postgres as engine
from hedgerow.engines.postgres import PostgresSession
from hedgerow.maintenance import create_release, open_release
from hedgerow.maintenance.store import postgres as kept
from hedgerow.maintenance.store.postgres import PostgresStore
from hedgerow.outside.outputs import moment
from hedgerow.plan import Plan
from tests.engines.servers import at, execute, fresh, relations

PLAN = Plan.from_dict(
    {
        "key": "id",
        "attributes": {"age": {"role": "quasi-identifier", "hierarchy": {"bands": [10, 20]}}},
        "privacy": {"k": 3},
    }
)


def people(first: int, count: int) -> pa.Table:
    numbers = range(first, first + count)
    return pa.table({"id": [f"p{n}" for n in numbers], "age": [20 + n * 7 % 40 for n in numbers]})


def end_connection(postgres: str, name: str) -> None:
    query = f"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = '{name}'"
    execute(postgres, query)


def breaking(commit: Any, postgres: str, name: str, when: str) -> Any:
    """A COMMIT whose connection breaks before the server gets it, or before its answer comes."""

    def commit_and_break(session: Any, *words: Any) -> None:
        if words not in ((), ("COMMIT",)):
            commit(session, *words)
            return
        if when == "after":
            commit(session, *words)
        end_connection(postgres, name)
        if when == "after":
            raise session._what_it_means(None) if isinstance(session, PostgresStore) else session._problem("08006")
        commit(session, *words)

    return commit_and_break


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_store_whose_connection_breaks(postgres: str, monkeypatch: pytest.MonkeyPatch, when: str) -> None:
    name, schema = fresh("client"), fresh("store")
    address = f"{postgres}&schema={schema}"
    create_release(people(0, 12), PLAN, address, threads=1).close()
    moment.begin()
    with open_release(f"{address}&application_name={name}", threads=1) as release:
        monkeypatch.setattr(PostgresStore, "_commit", breaking(PostgresStore._commit, postgres, name, when))
        if when == "after":
            assert release.insert(people(12, 3)).number == 2  # it was committed, so all is well
            assert release.erase(["p3"]) > 0
        else:
            with pytest.raises(hr.DataError, match="connection to the database was lost") as caught:
                release.insert(people(12, 3))
            assert caught.value.problems[0].code == "no-connection"
            assert moment.done() == ()
    with open_release(address) as release:
        assert release.head == (3 if when == "after" else 1)
        assert release.check()["verification"]["kept"]


def test_a_store_on_a_server_that_does_not_come_back(postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, schema = fresh("client"), fresh("store")
    address = f"{postgres}&schema={schema}"
    create_release(people(0, 12), PLAN, address, threads=1).close()

    def gone(*_: Any) -> None:
        raise hr.DataError(hr.Problem("no-connection", "The database cannot be reached."))

    with open_release(f"{address}&application_name={name}", threads=1) as release:
        monkeypatch.setattr(PostgresStore, "_commit", breaking(PostgresStore._commit, postgres, name, "before"))
        monkeypatch.setattr(kept, "connect", gone)
        with pytest.raises(hr.DoneBut, match="not known whether version 2 is in the store") as caught:
            release.insert(people(12, 3))
    assert (caught.value.exit_code, caught.value.problems[0].code) == (4, "in-doubt")


@pytest.mark.parametrize("when", ["before", "after", "nobody knows"])
def test_a_table_whose_connection_breaks(
    postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    name, target = fresh("client"), fresh("masked")
    place = at(f"{postgres}&application_name={name}", target)
    monkeypatch.setattr(PostgresSession, "run", breaking(PostgresSession.run, postgres, name, when))
    moment.begin()
    if when == "after":
        assert hr.anonymize(people(0, 12), PLAN, place).table.num_rows == 12
        assert len(moment.done()) == 1
        assert hr.verify(at(postgres, target)).kept
        return
    if when == "nobody knows":
        monkeypatch.setattr(engine, "how_it_ended", lambda number, ask: None)
    with pytest.raises(hr.DataError if when == "before" else hr.DoneBut) as caught:
        hr.anonymize(people(0, 12), PLAN, place)
    assert caught.value.problems[0].code == ("no-connection" if when == "before" else "in-doubt")
    assert bool(moment.doubt()) == (when == "nobody knows")
    assert ("public", target) not in relations(postgres)
