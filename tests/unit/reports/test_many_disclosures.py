"""Of very many attribute disclosures all are counted and the first thousand listed; the verifier holds the facts to it."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

import hedgerow as hr

GROUPS = 1200


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release in which every group shares its illness, and half of them their ward."""
    place = tmp_path_factory.mktemp("many") / "release"
    table = pa.table(
        {
            "house": [f"{number // 2:05d}" for number in range(2 * GROUPS)],
            "illness": ["flu"] * 2 * GROUPS,
            "ward": ["north" if number % 4 else "south" for number in range(2 * GROUPS)],
        }
    )
    roles = {"house": "quasi-identifier", "illness": "sensitive", "ward": "sensitive"}
    hr.anonymize(table, hr.Plan.from_dict({"attributes": roles, "privacy": {"k": 2}}), place)
    return place


def test_all_are_counted_and_the_first_thousand_are_listed(folder: Path) -> None:
    found = json.loads((folder / "facts.json").read_text())["attribute_disclosures"]
    assert found["count"] == GROUPS + GROUPS // 2
    assert found["by_attribute"] == {"illness": GROUPS, "ward": GROUPS // 2}
    pairs = [[group, name] for group in range(GROUPS) for name in ("illness", "ward")[: 1 + group % 2]]
    assert found["listed"] == pairs[:1000]
    assert hr.verify(folder).kept
    assert (folder / "facts.json").stat().st_size < 50_000


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda listed: listed[:999], "does not list 1"),
        (lambda listed: [*listed, [GROUPS - 1, "illness"]], "lists 1 that are none"),
        (lambda listed: [*listed[:999], [GROUPS - 1, "illness"]], "does not list 1; .*lists 1 that are none"),
    ],
)
def test_others_than_the_first_are_found(folder: Path, tmp_path: Path, change: object, words: str) -> None:
    for file in folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    facts = json.loads((folder / "facts.json").read_text())
    facts["attribute_disclosures"]["listed"] = change(facts["attribute_disclosures"]["listed"])  # type: ignore[operator]
    (tmp_path / "facts.json").write_text(json.dumps(facts))
    promise = hr.verify(tmp_path)["disclosures"]
    assert not promise.kept
    with pytest.raises(hr.BrokenPromise, match=words):
        hr.verify(tmp_path).raise_if_broken()
