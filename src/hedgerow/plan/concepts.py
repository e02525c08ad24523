"""One place per concept: what each privacy model, method, measure and so on says of itself, and finding all of them.

A *descriptor* is a small frozen object that stands beside the code it describes: in a module of its own, as the
constant ``DESCRIPTOR`` (or ``DESCRIPTORS``). A :class:`Concept` finds all descriptors of one kind in the package that
is their home. Whoever offers, checks, explains or tabulates models, methods, … goes over the descriptors and lists no
names of its own: the grammar and the checks of plans, help texts, comparisons, the studio, reports, and the tables of
the documentation. So a new one is one new module; the verifier has its own independent side, found by the same name.

The rooms of the code stand above this one, so they are not imported here but found by the names of modules, when
somebody first asks. Only the data of a descriptor is used here; what it makes is for the rooms above.
"""

from __future__ import annotations

import contextlib
import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, Protocol, TypeVar


class Described(Protocol):
    """What all descriptors have."""

    @property
    def name(self) -> str:
        """How plans and commands call it."""

    @property
    def order(self) -> int:
        """Where it stands among others of its kind."""


D = TypeVar("D", bound=Described)


class Concept(Generic[D]):
    """All descriptors of one kind, in their order.

    Parameters
    ----------
    word
        What one of them is called in messages.
    home
        The package whose modules hold the descriptors.

    Examples
    --------
    >>> PRIVACY_MODELS.names
    ('p', 'l', 't', 'alpha', 'beta', 'delta')
    >>> PRIVACY_MODELS["p"].title
    'p-sensitivity'
    """

    def __init__(self, word: str, home: str) -> None:
        self.word, self.home = word, home
        self._found: tuple[D, ...] | None = None

    @property
    def all(self) -> tuple[D, ...]:
        """All of them, in their order."""
        if self._found is None:
            self._found = tuple(sorted(self._discovered(), key=lambda one: one.order))
        return self._found

    @property
    def names(self) -> tuple[str, ...]:
        """Their names, in their order."""
        return tuple(one.name for one in self.all)

    def __iter__(self) -> Iterator[D]:
        return iter(self.all)

    def __getitem__(self, name: str) -> D:
        for one in self.all:
            if one.name == name:
                return one
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    @contextlib.contextmanager
    def registered(self, descriptor: D) -> Iterator[D]:
        """Have one more for a while, such as one of a test or of a notebook."""
        before = self.all
        if descriptor.name in self.names:
            raise ValueError(f"there is a {self.word} {descriptor.name!r} already")
        self._found = tuple(sorted((*before, descriptor), key=lambda one: one.order))
        try:
            yield descriptor
        finally:
            self._found = before

    def _discovered(self) -> Iterator[D]:
        home = importlib.import_module(self.home)
        for module in pkgutil.iter_modules(home.__path__):
            found = importlib.import_module(f"{self.home}.{module.name}")
            one = getattr(found, "DESCRIPTOR", None)
            yield from getattr(found, "DESCRIPTORS", () if one is None else (one,))


def _nothing(_: Any) -> bool:
    return False


def _no_conflict(*_: Any) -> Iterator[tuple[str, str]]:
    return iter(())


def _none(*_: Any) -> None:
    return None


def _zero(_: Any) -> int:
    return 0


@dataclass(frozen=True, eq=False)
class ModelDescriptor:
    """A demand on the values of a sensitive column in every group, such as p-sensitivity.

    Attributes
    ----------
    name, title, help
        Its key under ``privacy`` in a plan; what it is called; what it asks, in a few words.
    meaning
        What it promises in one sentence, for readers of a report who know no formula.
    order
        Where it stands among the others.
    form
        The type of what is asked of one column; pydantic checks it.
    keys
        Keys of the long form of a demand, which tell it from one that is given by column.
    short
        JSON Schema of the short form of a demand on all columns.
    make
        Makes the model of a demand on an encoded sensitive column, for algorithms.
    said
        Says a demand as short as can be, as reports do; empty if it asks for nothing.
    asks_nothing
        Tells whether a demand is none, such as for one different value.
    least_values
        How many different values a demand asks for, if it counts them, else 0.
    greatest_share
        The greatest share of one value that a demand allows, if that is what it is about.
    conflicts
        Given name of column, its part of the plan and the demand: what is wrong with it, and what to do.
    impossible
        Given the demand, the name of the column and how many different values it has: why it can never be met.
    reached
        Given the tally of groups and the encoded column: the strictest demand that all groups meet, by form where there
        are several. None if that cannot be said in numbers.
    compares_with_all
        Whether a demand on one group depends on all released records.
    with_suppression
        Whether it can be promised where single cells are released as missing.
    ask
        Label of the studio's input; ``forms``: words for the forms among which one is chosen there; ``step`` of the
        input; ``in_words`` is what it says to people who do not know the letter, ``{column}`` standing for the column.
    """

    name: str
    title: str
    help: str
    order: int
    form: Any
    make: Callable[[Any, Any], Any]
    said: Callable[[Any], str]
    ask: str
    in_words: str = ""
    meaning: str = ""
    keys: frozenset[str] = frozenset()
    short: Mapping[str, Any] = field(default_factory=dict)
    asks_nothing: Callable[[Any], bool] = _nothing
    least_values: Callable[[Any], int] = _zero
    greatest_share: Callable[[Any], float | None] = _none
    conflicts: Callable[[str, Any, Any], Iterator[tuple[str, str]]] = _no_conflict
    impossible: Callable[[Any, str, int], str | None] = _none
    reached: Callable[[Any, Any], Any] = _none
    compares_with_all: bool = False
    with_suppression: bool = False
    forms: Mapping[str, str] = field(default_factory=dict)
    step: float = 1


PRIVACY_MODELS: Concept[ModelDescriptor] = Concept("privacy model", "hedgerow.privacy.models")


@dataclass(frozen=True)
class Variant:
    """A method with some of its options, under the name by which comparisons and the studio offer it.

    Attributes
    ----------
    name, help
        What it is called, and what it does in a few words.
    options
        Keys of ``method`` in a plan, besides its name.
    usual
        Whether it is among those that are compared if nobody says which.
    recommended
        What it is recommended for, in a word or two; empty: it is for those who know what they want.
    """

    name: str
    help: str
    options: Mapping[str, Any] = field(default_factory=dict)
    usual: bool = False
    recommended: str = ""


@dataclass(frozen=True, eq=False)
class MethodDescriptor:
    """A way of making releases.

    Attributes
    ----------
    name, title, help, order
        Its name in a plan; what it is called; what it does in a few words; where it stands among the others.
    variants
        How comparisons and the studio offer it.
    make
        Given microdata, plan, requirement, threads and objective: the clustering to run inside blocks. None: it chooses
        a node of the lattice.
    options
        Keys of ``method`` that it takes, besides ``name`` and ``limits``.
    objectives
        What it can be asked to have least (or most) of; the first is what it goes by if nobody says.
    objective_if_improved
        Whether the objective is only for the search that improves its groups.
    merges
        Whether it starts from the profiles and merges those that are too small.
    """

    name: str
    title: str
    help: str
    order: int
    variants: tuple[Variant, ...]
    objectives: tuple[str, ...]
    make: Callable[[Any, Any, Any, int, Any], Any] | None = None
    options: frozenset[str] = frozenset()
    objective_if_improved: bool = False
    merges: bool = False

    @property
    def needs_levels(self) -> bool:
        """Whether every column must have levels, because one is chosen for all of its values."""
        return self.make is None


METHODS: Concept[MethodDescriptor] = Concept("method", "hedgerow.anonymization.methods")


@dataclass(frozen=True, eq=False)
class MeasureDescriptor:
    """What a release loses, or is worth, in one number.

    Attributes
    ----------
    name, title, help, order
        Its name in ``facts.json``; what it is called; what it says in a few words; where it stands among the others.
    meaning
        What it says in one sentence, for readers of a report who know no formula.
    of_release
        Given a :class:`hedgerow.measures.measured.Measured`: the number.
    beside
        Given the same: further facts that stand beside it, such as the same by column.
    compared
        Its place in comparisons; 0 if it is not shown there.
    objective
        The name under which a method can be asked to go by it; empty if none can.
    more_is_better
        Whether it is a worth, not a loss.
    cost_of_nodes
        For an objective that adds up over records and columns: given a hierarchy and the number of its leaves, what a
        value costs that is published as each node, and out of what, in whole numbers.
    cost_of_sets
        For such an objective, where a column without a hierarchy publishes sets of values: given how many values sets
        have, and how many the column has, what a value costs in each set, and out of what, in whole numbers. From two
        values on it must grow by the same for each.
    cost_by_records
        For an objective that adds up and looks at how many records a published value may stand for: given these
        numbers, and that of all records, what such a value costs, and out of what, in whole numbers. What is the same
        for all releases may be left out.
    squared
        Whether it is an objective that goes by squared distances, to which published values as such say nothing. It is
        a fact of those releases alone that were made by it.
    sizes
        For an objective that looks at the sizes of groups alone: whether it wants ``many`` groups or ``even`` sizes. A
        clustering sees to that first, and to loss second.
    score_of_node
        For another objective of the lattice: given what was found at a node, the number of records, and k.
    """

    name: str
    title: str
    help: str
    order: int
    of_release: Callable[[Any], Any]
    beside: Callable[[Any], Mapping[str, Any]] = lambda _: {}
    compared: int = 0
    objective: str = ""
    more_is_better: bool = False
    meaning: str = ""
    cost_of_nodes: Callable[[Any, int], tuple[Any, int]] | None = None
    cost_of_sets: Callable[[Any, int], tuple[Any, int]] | None = None
    cost_by_records: Callable[[Any, int], tuple[Any, int]] | None = None
    squared: bool = False
    sizes: Literal["", "many", "even"] = ""
    score_of_node: Callable[[Any, int, int], float] | None = None

    @property
    def is_additive(self) -> bool:
        """Whether it adds up over records and columns."""
        return self.cost_of_nodes is not None or self.cost_by_records is not None


MEASURES: Concept[MeasureDescriptor] = Concept("measure", "hedgerow.measures")


def objectives() -> dict[str, MeasureDescriptor]:
    """Return the measures that methods can go by, by the names of these objectives."""
    return {measure.objective: measure for measure in MEASURES if measure.objective}
