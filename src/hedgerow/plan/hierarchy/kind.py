"""Kinds of hierarchies: what each says of itself, and which there are. They stand in ``plan.hierarchy.kinds``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hedgerow.errors import PlanError, Problem
from hedgerow.plan.concepts import Concept
from hedgerow.plan.hierarchy.builders import Built
from hedgerow.plan.hierarchy.numbers import Number, parse_number
from hedgerow.plan.hierarchy.tree import Hierarchy


@dataclass(frozen=True)
class Field:
    """An input of the studio.

    Attributes
    ----------
    name
        The key that it is about.
    label, hint
        What stands at it and below it.
    lines
        Whether there is room for more than one line.
    choices
        Words among which some are chosen; empty: text is typed.
    """

    name: str
    label: str
    hint: str = ""
    lines: bool = False
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class HierarchyRule:
    """How the studio lets a person make a hierarchy by a rule.

    Attributes
    ----------
    choice
        What stands in the list of kinds.
    fields
        The inputs.
    begin
        Given the numbers of a column, in order, and the length of its longest value: what to begin with, by input.
    read
        Reads what was typed, by input, to what stands under ``hierarchy`` in a plan.
    typed
        The opposite: what would have been typed, by input, for the hierarchy of a plan.
    """

    choice: str
    fields: tuple[Field, ...]
    begin: Callable[[Sequence[Number], int], Mapping[str, Any]]
    read: Callable[[Mapping[str, Any]], dict[str, Any]]
    typed: Callable[[Any], Mapping[str, Any]]


def _no_height(_: Any) -> None:
    return None


def _as_it_is(spec: Any, _: int) -> Any:
    return spec


def _no_words(_: Any) -> tuple[str, ...]:
    return ()


def _no_node(*_: Any) -> bool:
    return False


@dataclass(frozen=True, eq=False)
class KindDescriptor:
    """A way to say how the values of a column are coarsened.

    Attributes
    ----------
    name, title, help, example
        Its key under ``hierarchy`` in a plan; how reports call it; what stands under the key; an example.
    order
        Where it stands among the others.
    check
        Given the part of the plan and the folder of the plan file: refuses what is wrong, and returns the tree if the
        plan alone gives it. A label may stand on several levels of it; who cannot do with that refuses it.
    build
        Builds the tree over the labels that occur in a column.
    beside
        Keys that may stand beside it, and beside those kinds alone that say so.
    is_file
        Whether it names a file, which becomes part of the plan when that is read.
    as_numbers
        Whether research value and rules see numbers by default, rather than labels.
    of_numbers
        Whether its leaves may be numbers at all.
    folded
        Whether values of a sensitive column are told apart by their letters, not by what they mean.
    height
        Level of the root, if the plan alone gives it.
    could_be_node
        Tells whether a hierarchy made by the rule could have a node of some name; the root is one always.
    node_names
        How its nodes are called, as a hint.
    settled
        Fills in what depends on the data: the part of the plan, and the length of the longest value that occurs.
    shows_steps
        Whether reports list what stands under the key.
    steps
        Words for the levels that lie between the values and the root, the finest first, as far as the rule has any.
    rule
        How the studio lets a person make one; None: it has no rule.
    """

    name: str
    title: str
    help: str
    example: str
    order: int
    check: Callable[[Any, Path], Hierarchy | None]
    build: Callable[[Any, Sequence[str]], Built]
    beside: tuple[str, ...] = ()
    is_file: bool = False
    as_numbers: bool = False
    of_numbers: bool = True
    folded: bool = False
    height: Callable[[Any], int | None] = _no_height
    could_be_node: Callable[[Any, str], bool] = _no_node
    node_names: str = ""
    settled: Callable[[Any, int], Any] = _as_it_is
    shows_steps: bool = False
    steps: Callable[[Any], Sequence[str]] = _no_words
    rule: HierarchyRule | None = None


HIERARCHY_KINDS: Concept[KindDescriptor] = Concept("kind of hierarchy", "hedgerow.plan.hierarchy.kinds")


def typed_numbers(text: Any) -> list[Number]:
    """Read numbers that a person typed.

    Examples
    --------
    >>> typed_numbers("5, 10; 20")
    [5, 10, 20]
    """
    parts = str(text or "").replace(";", ",").replace(",", " ").split()
    found = [parse_number(part) for part in parts]
    if None in found:
        hint = "put commas between them, and points before decimals, such as 2.5, 5, 10"
        raise PlanError(Problem("wrong-value", "This must be a list of numbers.", hint=hint))
    return [number for number in found if number is not None]


def round_width(span: Number) -> int:
    """Return a round width that makes some ten bands of a span.

    Examples
    --------
    >>> round_width(73), round_width(99_000), round_width(3)
    (5, 10000, 1)
    """
    tens = 1
    while span > 15 * 5 * tens:
        tens *= 10
    return next(width for width in (tens, 2 * tens, 5 * tens) if span <= 15 * width)


def ends_of(numbers: Sequence[Number]) -> tuple[Number, Number]:
    """Return the least and the greatest of some numbers in order; 0 and 100 if there are none."""
    return (numbers[0], numbers[-1]) if numbers else (0, 100)
