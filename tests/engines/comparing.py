"""The same release by an engine and in memory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa

from hedgerow.plan import Plan
from tests.engines.conftest import HERE, Place


def same_release(
    there: Place, table: pa.Table, plan: Plan, folder: Path, forms: tuple[str, ...] = ("csv",)
) -> dict[str, Any]:
    """Check that an engine's files are those of the local engine; returns the facts."""
    data, table = there.put(table), there.kept(table)
    for form in forms:
        wanted = HERE.files(table, plan, folder, form)
        found = there.files(data, plan, folder, form)
        assert sorted(found) == sorted(wanted)
        for name, content in wanted.items():
            assert found[name] == content, name
    facts: dict[str, Any] = json.loads(wanted["facts.json"])
    return facts
