"""Levels of hierarchies in words and by example, "bands of 10, such as 30-39": nobody counts steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from hedgerow.plan import Attribute, Plan
from hedgerow.plan.hierarchy import Hierarchy
from hedgerow.plan.hierarchy.editing import NOT_OF_THE_PLAN
from hedgerow.plan.hierarchy.kind import HIERARCHY_KINDS
from hedgerow.types import IntArray


def level_words(attribute: Attribute, level: int, examples: Sequence[str] = ()) -> str:
    """Say what values are on a level of their hierarchy.

    Parameters
    ----------
    attribute
        The column in a plan.
    level
        Steps up from the values; 0 is the values themselves.
    examples
        What one value of the column is on each level, if that is known: see :func:`examples_of`.

    Examples
    --------
    >>> age = Attribute(role="quasi-identifier", hierarchy={"bands": [5, 10]})
    >>> level_words(age, 2), level_words(age, 2, ["37", "35-39", "30-39", "*"]), level_words(age, 0)
    ('bands of 10', 'bands of 10, such as 30-39', 'as they are')
    >>> place = Attribute(role="quasi-identifier", hierarchy={"tree": {"US": {"West": ["Reno"]}}})
    >>> level_words(place, 1), level_words(place, 2), level_words(age, 3)
    ('groups such as West', 'all the same: US', 'nothing (*)')
    """
    examples = examples or _of_the_plan(attribute)
    example = examples[min(level, len(examples) - 1)] if examples else ""
    steps = _steps(attribute)
    if level == 0:
        return f"as they are, such as {example}" if example else "as they are"
    if (examples and level >= len(examples) - 1) or (steps and level > len(steps)) or attribute.hierarchy is None:
        return "nothing (*)" if not examples or examples[-1] == "*" else f"all the same: {examples[-1]}"
    if level <= len(steps):
        return f"{steps[level - 1]}, such as {example}" if example else steps[level - 1]
    return f"groups such as {example}" if example else f"{level} steps up"


def limit_words(attribute: Attribute, examples: Sequence[str] = ()) -> str:
    """Say the limit of a column that has one, a level by what values are there.

    Examples
    --------
    >>> from hedgerow.plan import Limit
    >>> limit_words(Attribute(role="quasi-identifier", hierarchy={"dates": ["month", "year"]}, limit=Limit(level=2)))
    'at most the year'
    """
    limit = attribute.limit
    if limit is None:
        return "no limit"
    if limit.level is None:
        return limit.describe()
    words = level_words(attribute, limit.level, examples)
    return f"stay {words}" if limit.level == 0 else f"at most {words}"


def levels_in_words(plan: Plan, levels: Mapping[str, int]) -> str:
    """Say one level for each of some columns.

    Examples
    --------
    >>> plan = Plan.from_dict({"attributes": {"sex": "quasi-identifier"}, "privacy": {"k": 2}})
    >>> levels_in_words(plan, {"sex": 1})
    'sex: nothing (*)'
    """
    return "; ".join(f"{name}: {level_words(plan.attributes[name], level)}" for name, level in levels.items())


def examples_of(hierarchy: Hierarchy, codes: npt.NDArray[np.uint32], counts: IntArray) -> tuple[str, ...]:
    """Return what a value is on each level: of those with the longest way up, the one that most records have.

    Examples
    --------
    >>> ages = Hierarchy.from_tree({"*": {"0-9": ["3", "7"], "10-19": ["12"]}})
    >>> examples_of(ages, np.array([0, 1, 2, 1], np.uint32), np.ones(4, np.int64))
    ('7', '0-9', '*')
    """
    records = np.bincount(codes, weights=counts, minlength=len(hierarchy.leaf_nodes))
    depths = hierarchy.depths[hierarchy.leaf_nodes]
    values = np.array([not leaf.startswith(NOT_OF_THE_PLAN) for leaf in hierarchy.leaves])
    if not values.any():
        return ()
    deepest = values & (depths == depths[values].max())
    best = int(np.argmax(np.where(deepest, records, -1)))
    return hierarchy.way(int(hierarchy.leaf_nodes[best]))


def _steps(attribute: Attribute) -> Sequence[str]:
    """Return words for the levels between the values and the root, as far as a rule has them."""
    spec = attribute.hierarchy
    return () if spec is None else HIERARCHY_KINDS[spec.kind].steps(spec)


def _of_the_plan(attribute: Attribute) -> Sequence[str]:
    """Return an example from a tree that stands in the plan."""
    spec = attribute.hierarchy
    if spec is None or spec.tree is None:
        return ()
    tree = Hierarchy.from_tree(spec.tree, as_printed=True)
    return examples_of(tree, np.arange(len(tree.leaf_nodes), dtype=np.uint32), np.ones(len(tree.leaf_nodes), np.int64))
