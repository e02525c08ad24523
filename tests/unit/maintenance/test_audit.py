"""The audit finds each planted leak by the check that is meant for it, and nothing in a clean history."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from hedgerow.errors import HedgerowError
from hedgerow.maintenance.audit.audit import Audit, audit
from hedgerow.maintenance.audit.history import History, build_history
from tests.naive import audit as naive

Group = tuple[int, int, str]
"""Ends of the published interval, and one letter per member: key and value, as in ``"af bc"`` (a has f, b has c)."""

VALUES = {"f": "flu", "c": "cold", "g": "gout", "m": "mumps", "-": None}


def story(*versions: list[Group]) -> History:
    """A history of one free interval and one sensitive column."""
    numbers: dict[tuple[int, int], int] = {}
    groups: list[tuple[Any, ...]] = []
    places: list[tuple[Any, ...]] = []
    values: list[tuple[Any, ...]] = []
    shown: set[int] = set()
    here: set[str] = set()
    for version, published in enumerate(versions, start=1):
        now, people = set(), set()
        for low, high, members in published:
            number = numbers.setdefault((low, high), len(numbers))
            vectors = [VALUES[word[1]] for word in members.split()]
            counts = [[[value], n] for value, n in Counter(vectors).items()]
            groups.append((version, number, json.dumps([[str(low), str(high)]]), len(vectors), json.dumps(counts)))
            now.add(number)
            for word, value in zip(members.split(), vectors, strict=True):
                places.append((version, word[0], number))
                values.append((version, word[0], json.dumps([value])))
                people.add(word[0])
        groups += [(version, number, "", 0, "") for number in sorted(shown - now)]
        places += [(version, key, -1) for key in sorted(here - people)]
        shown, here = now, people
    return build_history(
        events(groups, ["version", "number", "region", "size", "counts"]),
        events(places, ["version", "key", "group_number"]),
        events(values, ["version", "key", "values"]),
        ["diagnosis"],
    )


def events(rows: list[tuple[Any, ...]], names: list[str]) -> pa.Table:
    return pa.table([pa.array(column) for column in zip(*rows, strict=True)], names)


def who(history: History, mask: Any) -> str:
    return "".join(history.keys[at] for at in np.flatnonzero(mask))


def findings(found: Audit) -> dict[str, str]:
    """Who fails by each check."""
    checks = {
        "values": found.too_few_values.any(axis=1),
        "people": found.too_few_people,
        "confidence": found.too_certain.any(axis=1),
        "newcomers": found.failing_by("newcomers"),
        "leavers": found.failing_by("leavers"),
        "difference": found.failing_by("difference"),
    }
    return {
        name: "".join(found.past.keys.to_pylist()[at] for at in np.flatnonzero(mask))
        for name, mask in checks.items()
        if mask.any()
    }


# ---- planted leaks ---------------------------------------------------------------------------------------


def test_two_independent_clusterings_share_one_value() -> None:
    """Planted leak 1: each group alone has two values, any two of one person have one in common."""
    history = story(
        [(0, 9, "af bc"), (10, 19, "dg em")],
        [(0, 14, "af dg"), (5, 19, "bc em")],
    )
    found = audit(history, 2, [2])
    assert findings(found) == {"values": "abde", "people": "abde"}
    assert found.values_left[:, 0].tolist() == [1, 1, 1, 1]
    assert found.people_left.tolist() == [1, 1, 1, 1]
    assert found.leaks == 4
    assert audit(story([(0, 9, "af bc"), (10, 19, "dg em")]), 2, [2]).leaks == 0


def test_an_insert_of_one_person() -> None:
    """Planted leak 2: the group grows by exactly the newcomer's value."""
    history = story([(0, 9, "af bc"), (20, 29, "dg em")], [(0, 9, "af bc nf"), (20, 29, "dg em")])
    found = audit(history, 2, [2])
    assert findings(found) == {"newcomers": "n", "difference": "n"}
    assert found.to_dict()["newcomers"] == {
        "pairs": 1,
        "people": 1,
        "least": 1,
        "failing": 1,
        "unknown": 0,
        "versions": [2],
    }
    assert found.failing_groups(2).tolist() == [0]
    assert found.failing_groups(1).tolist() == []


def test_a_delete_of_one_person() -> None:
    """Planted leak 3: the same by difference."""
    history = story([(0, 9, "af bc lf"), (20, 29, "dg em")], [(0, 9, "af bc"), (20, 29, "dg em")])
    found = audit(history, 2, [2])
    assert findings(found) == {"leavers": "l", "difference": "l"}
    assert found.failing_groups(2).tolist() == [0]


def test_a_swap_that_leaves_one_person_in_common() -> None:
    """Planted leak 4: nobody comes or leaves and no count tells, but one person's groups have only them in common."""
    history = story(
        [(0, 9, "af bc dc"), (0, 19, "eg hm ig")],
        [(0, 9, "af eg hm"), (0, 19, "bc dc ig")],
    )
    found = audit(history, 2, [1])
    assert findings(found) == {"people": "ai"}
    assert who(history, found.too_few_people) == "ai"
    assert found.people_left[history.keys.index("b")] == 2
    assert found.failing_groups(2).tolist() == [0, 1]
    assert "b" in findings(audit(history, 2, [2]))["values"]


def test_a_clean_history_of_cohorts() -> None:
    """Groups stay as they are; newcomers are groups of their own; a group that lost somebody goes as a whole."""
    history = story(
        [(0, 9, "af bc dg"), (20, 29, "eg hm if")],
        [(0, 9, "af bc dg"), (20, 29, "eg hm if"), (5, 8, "jc kf lm")],
        [(0, 9, "af bc dg"), (5, 8, "jc kf lm")],
    )
    found = audit(history, 3, [3], [0.4])
    assert findings(found) == {}
    assert found.leaks == 0
    facts = found.to_dict()
    assert facts["newcomers"]["people"] == facts["leavers"]["people"] == 3
    assert facts["newcomers"]["least"] == facts["leavers"]["least"] == 3
    assert facts["history_class"] == {
        "least": 3,
        "below_k": 0,
        "values": {"diagnosis": {"least": 3, "below_p": 0}},
    }
    assert repr(found) == "Audit(versions=3, people=9, k=3, p=(3,), leaks=0)"


# ---- what counts -----------------------------------------------------------------------------------------


def test_rows_that_move_on_hide_a_newcomer() -> None:
    """n came to [0, 9] with flu; but a may have moved to [5, 14] and pushed b, who may have moved to [10, 19]."""
    before = [(0, 9, "af"), (10, 14, "bf")]
    after = [(0, 9, "af nf"), (5, 14, "bf"), (10, 19, "of")]
    found = audit(story(before, after), 2, [1])
    assert "n" not in findings(found).get("newcomers", "")
    found = audit(story(before, [*after[:2], (15, 19, "of")]), 2, [1])
    assert "n" in findings(found)["newcomers"]


def test_confidence_is_checked_where_asked() -> None:
    history = story([(0, 9, "af bf cf dc")])
    assert findings(audit(history, 2, [2], [0.75])) == {}
    assert findings(audit(history, 2, [2], [0.7])) == {"confidence": "abcd"}
    assert audit(history, 2, [2]).confidence[:, 0].tolist() == [0.75] * 4


def test_a_changed_value_begins_an_episode() -> None:
    """a is known to have changed; each value is hidden among those of the group of its time."""
    history = story([(0, 9, "af bc dc")], [(0, 9, "ac bc dc")])
    found = audit(history, 2, [1])
    assert found.values_left[:, 0].tolist() == [1, 1, 1]
    assert found.people_left.tolist() == [3, 2, 2]


def test_missing_values_match_but_do_not_count() -> None:
    found = audit(story([(0, 9, "a- b-"), (20, 29, "cf d-")]), 2, [1])
    assert found.values_left[:, 0].tolist() == [0, 0, 1, 1]
    assert found.people_left.tolist() == [2, 2, 2, 2]
    assert findings(found) == {"values": "ab"}
    assert audit(story([(0, 9, "a- b-")]), 2, [0]).leaks == 0


def test_absence_does_not_end_an_episode() -> None:
    history = story([(0, 9, "af bc")], [(0, 9, "bc dg")], [(0, 9, "af eg bc")])
    found = audit(history, 2, [2])
    assert found.values_left[history.keys.index("a"), 0] == 2
    assert found.values_left[history.keys.index("b"), 0] == 1


def test_a_person_who_moves_between_regions_counts_by_difference() -> None:
    """Nobody came or left the release, but a left one region and came to another, alone."""
    found = audit(story([(0, 9, "af bc dg"), (20, 29, "eg hm")], [(0, 9, "bc dg"), (20, 29, "af eg hm")]), 2, [1])
    assert findings(found)["difference"] == "a"


def test_people_who_were_erased_leave_their_rows() -> None:
    """The published counts are what they were; the region fails though nobody is known to have left it."""
    groups = [(1, 0, '[["0", "9"]]', 3, '[[["flu"], 2], [["cold"], 1]]')]
    groups += [(2, 0, '[["0", "9"]]', 2, '[[["flu"], 1], [["cold"], 1]]')]
    history = build_history(
        events(groups, ["version", "number", "region", "size", "counts"]),
        events([(1, "a", 0), (1, "b", 0)], ["version", "key", "group_number"]),
        events([(1, "a", '["flu"]'), (1, "b", '["cold"]')], ["version", "key", "values"]),
        ["diagnosis"],
    )
    found = audit(history, 2, [2])
    assert not found.failing.any()
    assert found.leaks == 1
    assert found.to_dict()["difference"]["unknown"] == 1


def test_a_reader_who_links_rows_may_rule_out_more() -> None:
    """Known limit: x could have flu by intersecting, but the flu rows can only be j's and i's."""

    def version(**groups: tuple[int, int, dict[str, str]]) -> naive.Version:
        regions = {ord(name): (("interval", low, high),) for name, (low, high, _) in groups.items()}
        rows = {ord(name): [(value,) for value in people.values()] for name, (_, _, people) in groups.items()}
        places = {
            key: (ord(name), (value,)) for name, (_, _, people) in groups.items() for key, value in people.items()
        }
        return naive.Version(regions, rows, places)

    old = version(C=(0, 5, {"x": "gout", "j": "flu"}), A=(6, 9, {"i": "flu"}))
    new = version(D=(0, 3, {"j": "flu"}), B=(4, 7, {"x": "gout", "i": "flu"}), E=(20, 21, {"n": "cold"}))
    assert naive.only_came(old, new)
    assert set(naive.surviving([old, new], "x")) == {("gout",), ("flu",)}
    assert set(naive.together(old, new, "x")) == {("gout",)}
    found = audit(story([(0, 5, "xg jf"), (6, 9, "if")], [(0, 3, "jf"), (4, 7, "xg if"), (20, 21, "nc")]), 2, [2])
    assert found.values_left[found.past.keys.to_pylist().index("x"), 0] == 2


def test_without_sensitive_columns_all_have_one_value() -> None:
    history = build_history(
        events([(1, 0, '[["0", "9"]]', 2, "[[[], 2]]")], ["version", "number", "region", "size", "counts"]),
        events([(1, "a", 0), (1, "b", 0)], ["version", "key", "group_number"]),
        events([(1, "a", "[]"), (1, "b", "[]")], ["version", "key", "values"]),
        [],
    )
    assert audit(history, 2, [1]).leaks == 0
    assert audit(history, 3, [1]).leaks == 2
    assert audit(history, 3, []).to_dict()["people_left"] == {"least": 2, "below_k": 2}


def test_results_hold_numbers_only() -> None:
    """No key and no value of a record; counts, column names, version numbers."""
    history = story([(0, 9, "af bc"), (20, 29, "dg em")], [(0, 9, "af bc nf"), (20, 29, "dg em")])
    found = audit(history, 3, [3], [0.1])
    text = json.dumps(found.to_dict()) + repr(found) + repr(found.pairs) + repr(history)
    assert not any(value in text for value in ["flu", "cold", "gout", "mumps", "'a'", '"a"'])


def test_an_empty_history() -> None:
    empty = [[(0, 9, "af bc")], []]
    found = audit(story(*empty), 2, [2])
    assert found.leaks == 0
    with pytest.raises(HedgerowError, match="no version 7"):
        found.failing_groups(7)
    with pytest.raises(HedgerowError, match="one entry for each of the 1 sensitive"):
        audit(story(*empty), 2, [2, 2])


# ---- history from events ---------------------------------------------------------------------------------


def test_a_history_is_played_back_from_events() -> None:
    path = {"a1": ["a1", "a", "all"], "a": ["a", "all"], "b1": ["b1", "b", "all"], "all": ["all"]}
    regions = {
        0: [{"path": path["a1"]}, ["1", "2.50"], None],
        1: [{"path": path["a"]}, ["2.5", "3"], None],
        2: [{"path": path["b1"]}, ["10", "10"], ["-3", "0"]],
        3: [{"path": path["all"]}, ["9", "11"], ["0.0", "4"]],
    }
    groups = [
        (1, 0, 2, [[["x", None], 1], [["y", 1], 1]]),
        (1, 1, 1, [[["x", None], 1]]),
        (2, 0, 0, []),
        (2, 2, 2, [[["y", 1], 2]]),
        (4, 3, 1, [[["y", 2], 1]]),
    ]
    history = build_history(
        events(
            [(v, n, "", json.dumps(regions[n]), size, json.dumps(counts)) for v, n, size, counts in groups],
            ["version", "number", "shown", "region", "size", "counts"],
        ),
        events(
            [
                *[(1, "q", 0, 0), (1, "p", 5, 0), (1, "r", 1, 1), (1, "s", -1, -1)],
                *[(2, "q", 0, 2), (2, "p", -1, -1)],
                (4, "p", 2, 3),
            ],
            ["version", "key", "cluster", "group_number"],
        ),
        events(
            [(1, "p", '["x", null]'), (1, "q", '["y", 1]'), (1, "r", '["x",null]'), (4, "p", '["y", 2]')],
            ["version", "key", "values"],
        ),
        ["one", "two"],
    )
    assert history.keys == ("p", "q", "r", "s")
    assert history.vectors == (("x", None), ("y", 1), ("y", 2))
    assert history.past.codes.tolist() == [[0, -1], [1, 0], [1, 1]]
    assert [version.number for version in history.versions] == [1, 2, 4]
    first, second, last = history.versions
    assert first.groups.tolist() == [0, 1]
    assert second.groups.tolist() == [1, 2]
    assert last.groups.tolist() == [1, 2, 3]
    assert first.sizes.tolist() == [2, 1]
    assert first.group_of.tolist() == [0, 0, 1, -1]
    assert second.group_of.tolist() == [-1, 1, 0, -1]
    assert last.group_of.tolist() == [2, 1, 0, -1]
    assert last.value_of.tolist() == [2, 1, 0, -1]
    assert [part.tolist() for part in (first.count_group, first.count_value, first.count)] == [
        [0, 0, 1],
        [0, 1, 0],
        [1, 1, 1],
    ]
    box = {
        int(number): (version.lo[at], version.hi[at])
        for version in history.versions
        for at, number in enumerate(version.groups)
    }

    def meet(one: int, other: int) -> list[bool]:
        (lo, hi), (other_lo, other_hi) = box[one], box[other]
        return ((lo <= other_hi) & (hi >= other_lo)).tolist()

    assert meet(0, 1) == [True, True, True]
    assert meet(0, 2) == [False, False, False]
    assert meet(2, 3) == [True, True, True]
    assert meet(1, 3) == [True, False, False]


@pytest.mark.parametrize(
    ("places", "values", "message"),
    [
        ([(1, "a", 7)], [(1, "a", '["flu"]')], "a group that is not published"),
        ([(1, "a", 0)], [(2, "a", '["flu"]')], "without sensitive values"),
        ([(1, "a", 0), (1, "b", 0)], [(1, "a", '["flu"]'), (1, "b", '["flu"]')], "more people with a value"),
        ([(1, "a", 0)], [(1, "a", '["flu", "x"]')], "one cell for each of the 1 sensitive"),
    ],
)
def test_events_that_contradict_one_another_are_refused(places: Any, values: Any, message: str) -> None:
    groups = [(1, 0, '[["0", "9"]]', 2, '[[["flu"], 1], [["cold"], 1]]')]
    with pytest.raises(HedgerowError, match=message) as raised:
        build_history(
            events(groups, ["version", "number", "region", "size", "counts"]),
            events(places, ["version", "key", "group_number"]),
            events(values, ["version", "key", "values"]),
            ["diagnosis"],
        )
    assert "flu" not in str(raised.value)
