"""Settings of a role on a server: its patience, and its own operators."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

import hedgerow as hr
from tests.cases.people import people, plan
from tests.engines.servers import ask, at, execute, fresh, load


@pytest.fixture
def source(postgres: str) -> str:
    return load(postgres, people())


# -- the settings of a role ------------------------------------------------------------------------------------------


@pytest.fixture
def role(postgres: str) -> Iterator[str]:
    """A role of its own, whose settings nobody else sees."""
    name = fresh("role")
    execute(postgres, f"CREATE ROLE {name} LOGIN SUPERUSER")
    yield name
    execute(postgres, f"DROP OWNED BY {name}", f"DROP ROLE {name}")


def test_a_server_that_is_impatient(postgres: str, role: str, source: str) -> None:
    execute(postgres, f"ALTER ROLE {role} SET idle_in_transaction_session_timeout = '300ms'")

    def think(stage: str, done: int, total: int) -> None:
        if stage == "measuring":
            time.sleep(0.8)

    target = at(postgres, fresh("masked"))
    mine = [address.replace("//hedgerow@", f"//{role}@") for address in (source, target)]
    assert hr.anonymize(mine[0], plan(), mine[1], progress=think).withheld == 0


def test_operators_of_the_owner_are_not_used(postgres: str, role: str, source: str) -> None:
    schema = fresh("own")
    execute(
        postgres,
        f"CREATE SCHEMA {schema} AUTHORIZATION {role}",
        f"CREATE FUNCTION {schema}.same(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT true'",
        f"CREATE OPERATOR {schema}.= (LEFTARG = text, RIGHTARG = text, FUNCTION = {schema}.same)",
        f"ALTER ROLE {role} SET search_path = {schema}, pg_catalog, public",
    )
    name = fresh("masked")
    mine = [address.replace("//hedgerow@", f"//{role}@") for address in (source, at(postgres, name))]
    release = hr.anonymize(mine[0], plan(), mine[1])
    assert release.table.num_rows == 40
    assert ask(postgres, f"SELECT COUNT(*) FROM {schema}.{name}") == [(40,)]  # where the role's new tables go
    execute(postgres, f"DROP SCHEMA {schema} CASCADE")
