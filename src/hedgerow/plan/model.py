"""The plan: what the owner asks, as frozen data. Its grammar is a contract with outside users.

Short forms (``name: identifier``, ``limits: [California]``, ``method: cluster``, ``withhold: 5%``) are widened to the
long form before validation, so that the rest of Hedgerow sees one form only.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    WithJsonSchema,
    field_validator,
    model_serializer,
    model_validator,
)
from pydantic_core import PydanticCustomError

from hedgerow.plan.audiences import USUAL
from hedgerow.plan.concepts import METHODS, PRIVACY_MODELS
from hedgerow.plan.hierarchy.kind import HIERARCHY_KINDS
from hedgerow.plan.hierarchy.numbers import parse_number
from hedgerow.plan.hierarchy.tree import Hierarchy
from hedgerow.plan.notation import Notation

Role = Literal["identifier", "quasi-identifier", "sensitive", "other"]
ONE_PLAIN_CHARACTER = r"^[\x01-\x7f]$"
Unknown = Literal["error", "own-leaf-under-root", "withhold"]
Publish = Literal["set", "mean", "median"]


def _number(value: Any) -> int | Decimal:
    number = None if isinstance(value, bool) else parse_number(str(value))
    if number is None:
        raise PydanticCustomError("number", "must be a number")
    return number


def _label(value: Any) -> str:
    if isinstance(value, str | int | float | Decimal) and not isinstance(value, bool):
        return str(value)
    raise PydanticCustomError("label", "must be a label")


def _share(value: Any) -> int | Decimal:
    number = _number(value)
    if not 0 <= number <= 1:
        raise PydanticCustomError("number", "must be a number from 0 to 1")
    return number


Share = Annotated[Any, BeforeValidator(_share), WithJsonSchema({"type": ["number", "string"]})]
NUMBER: Any = {"type": ["number", "string"]}
Number = Annotated[Any, BeforeValidator(_number), WithJsonSchema(NUMBER)]
Label = Annotated[str, BeforeValidator(_label), WithJsonSchema({"type": ["string", "number"]})]


def _tree(value: Any) -> dict[str, Any]:
    """Bring a nested mapping to one form, in which a leaf is an empty mapping."""
    if not isinstance(value, Mapping) or not value:
        raise PydanticCustomError("tree", "must be a mapping {root: {node: [leaf, …]}}")

    def normal(below: Any) -> dict[str, Any]:
        if below is None or below == "":
            return {}
        if isinstance(below, Mapping):
            return {_label(name): normal(deeper) for name, deeper in below.items()}
        if isinstance(below, list | tuple):
            leaves: dict[str, Any] = {}
            for item in below:
                new = normal(item) if isinstance(item, Mapping) else {_label(item): {}}
                again = next((name for name in new if name in leaves), None)
                if again is not None:
                    raise PydanticCustomError("tree", "must not list {name} twice", {"name": repr(again)})
                leaves |= new
            return leaves
        return {_label(below): {}}

    return normal(value)


Tree = Annotated[dict[str, Any], BeforeValidator(_tree), WithJsonSchema({"type": "object"})]


def _weights(value: Any) -> Any:
    if isinstance(value, Mapping):
        for name, weight in value.items():
            if isinstance(weight, bool) or parse_number(str(weight)) is None:
                where = {"name": repr(str(name)), "column": name}
                raise PydanticCustomError("weights", "must have a number for {name}", where)
        return {_label(name): _number(weight) for name, weight in value.items()}
    if value in (None, "association"):
        return value
    raise PydanticCustomError("weights", "must be 'association', or a mapping of columns to numbers")


Weights = Annotated[
    Any,
    BeforeValidator(_weights),
    WithJsonSchema({"anyOf": [{"const": "association"}, {"type": "object", "additionalProperties": NUMBER}]}),
]


def _forms(value: Any) -> Any:
    forms = [value] if isinstance(value, str) else value
    if not isinstance(forms, list | tuple) or not forms or not all(isinstance(form, str) and form for form in forms):
        raise PydanticCustomError("forms", "must be a form such as %d.%m.%Y, or a list of them")
    return forms[0] if len(forms) == 1 else tuple(forms)


Forms = Annotated[
    str | tuple[str, ...],
    BeforeValidator(_forms),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]}),
]


class Frozen(BaseModel):
    """Base of all parts of a plan: immutable, and no unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class DataFormat(Frozen):
    """How the input file is written."""

    delimiter: str | None = Field(
        default=None, pattern=ONE_PLAIN_CHARACTER, description="one character; found out if absent"
    )
    encoding: str = Field(default="utf-8", description="of CSV files, such as utf-8 or latin-1")
    quote: str = Field(default='"', pattern=ONE_PLAIN_CHARACTER, description="quotation mark of CSV files")
    header: bool = Field(
        default=True, description="CSV, Excel: whether the first line names the columns; else they are column 1, …"
    )
    decimal: Literal[".", ","] = Field(default=".", description="sign before the fraction of numbers written as text")
    thousands: Literal[".", ",", "'", "_", " "] | None = Field(
        default=None, description="sign between groups of three digits, in numbers written as text; space for any blank"
    )
    dates: Forms | None = Field(
        default=None, description="how days are written in columns whose hierarchy does not say it (form)"
    )
    missing: tuple[str, ...] = Field(default=("",), description="cells that mean a missing value")
    missing_in: dict[Label, tuple[Label, ...]] = Field(
        default={}, description="cells that mean a missing value in one column only, by column, such as 999"
    )
    format: str | None = Field(default=None, description="by the file's ending if absent")
    sheet: str | None = Field(default=None, description="name of the sheet of an Excel file; the first if absent")
    labels: Literal["publish", "keep-codes"] = Field(
        default="publish",
        description="SPSS, Stata: publish reads a labelled code as its label; keep-codes reads the code itself",
    )

    output: Literal["as-read", "standard"] | None = Field(
        default=None,
        description="how a release is written as CSV: as-read, with delimiter, quotation mark, encoding and decimal "
        "sign of the file it is made from, which is the default; standard, with commas, UTF-8 and decimal points",
    )

    @model_validator(mode="before")
    @classmethod
    def _widen(cls, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        value = dict(value)
        if isinstance(value.get("missing"), str):
            value["missing"] = [value["missing"]]
        if value.get("delimiter") in ("\\t", "tab"):
            value["delimiter"] = "\t"
        if value.get("thousands") == "space":
            value["thousands"] = " "
        if isinstance(value.get("missing_in"), Mapping):
            value["missing_in"] = {
                name: [cells] if isinstance(cells, str | int | float | Decimal) else cells
                for name, cells in value["missing_in"].items()
            }
        return value

    @model_validator(mode="after")
    def _two_signs(self) -> DataFormat:
        if self.decimal == self.thousands:
            raise PydanticCustomError("two_signs", "must have different signs as 'decimal' and 'thousands'")
        return self

    @property
    def notation(self) -> Notation:
        """How numbers are written in cells of text."""
        return Notation(self.decimal, self.thousands)

    def markers(self, column: str) -> tuple[str, ...]:
        """Return the cells that mean a missing value in a column.

        Examples
        --------
        >>> DataFormat(missing=["", "?"], missing_in={"height": ["999"]}).markers("height")
        ('', '?', '999')
        """
        return (*self.missing, *self.missing_in.get(column, ()))


class HierarchySpec(Frozen):
    """How the values of a column are coarsened; exactly one of file, tree, bands, cuts, prefix, dates."""

    file: str | None = Field(default=None, description="leaf-to-root lines, ; or , separated, as ARX writes them")
    tree: Tree | None = Field(default=None, description="{root: {node: [leaf, …]}}")
    bands: tuple[Number, ...] | None = Field(default=None, description="widths, each a multiple of the one before")
    cuts: tuple[tuple[Number, ...], ...] | None = Field(default=None, description="lists of cut points, finest first")
    prefix: tuple[int, ...] | None = Field(default=None, description="characters kept at each level, falling")
    dates: tuple[Literal["month", "quarter", "year", "decade", "20-years", "40-years"], ...] | None = Field(
        default=None, description="fine to coarse"
    )
    top: Number | None = Field(
        default=None, description="with bands or cuts: numbers at or above it are 90+, on every level"
    )
    bottom: Number | None = Field(
        default=None, description="with bands or cuts: numbers at or below it are 17 or less, on every level"
    )
    length: int | None = Field(default=None, ge=1, description="with prefix: characters of a full value")
    form: Forms | None = Field(
        default=None,
        description="with dates: how days are written, such as %d.%m.%Y; of several forms the first that fits is taken",
    )

    @property
    def kind(self) -> str:
        """Which of the kinds this is."""
        return next(kind for kind in HIERARCHY_KINDS.names if getattr(self, kind) is not None)

    @model_validator(mode="before")
    @classmethod
    def _widen(cls, value: Any) -> Any:
        bands = value.get("bands") if isinstance(value, Mapping) else None
        if not isinstance(bands, Mapping):
            return value
        widths = bands.get("width")
        beside = {name: part for name, part in bands.items() if name != "width"}
        return {**value, "bands": widths if isinstance(widths, list | tuple) else [widths], **beside}

    @model_validator(mode="after")
    def _one_kind(self) -> HierarchySpec:
        given = [kind for kind in HIERARCHY_KINDS if getattr(self, kind.name) is not None]
        if len(given) != 1:
            names = {"names": ", ".join(HIERARCHY_KINDS.names)}
            raise PydanticCustomError("one_kind", "must have exactly one of {names}", names)
        for key in dict.fromkeys(key for kind in HIERARCHY_KINDS for key in kind.beside):
            kinds = [kind for kind in HIERARCHY_KINDS if key in kind.beside]
            if getattr(self, key) is not None and given[0] not in kinds:
                only = {"key": key, "kinds": " or ".join(repr(kind.name) for kind in kinds)}
                raise PydanticCustomError("one_kind", "may have '{key}' only with {kinds}", only)
        return self


class Limit(Frozen):
    """How far the values of a column may be coarsened."""

    level: int | None = Field(default=None, ge=0, description="every node at this level; 0 is the value itself")
    nodes: tuple[Label, ...] | None = Field(
        default=None, description="names of nodes; the first met on the way up holds"
    )
    cuts: tuple[Number, ...] | None = Field(
        default=None, description="free intervals: points that no interval may cross"
    )
    width: Number | None = Field(default=None, description="free intervals: greatest width")
    values: int | None = Field(default=None, ge=1, description="sets of values: how many a set has at most")

    @model_validator(mode="before")
    @classmethod
    def _widen(cls, value: Any) -> Any:
        if isinstance(value, list | tuple):
            return {"nodes": value}
        if isinstance(value, str):
            return {"nodes": [value]}
        return value

    @model_validator(mode="after")
    def _some_kind(self) -> Limit:
        kinds = (self.level is not None) + (self.nodes is not None) + (self.cuts is not None or self.width is not None)
        if kinds + (self.values is not None) != 1:
            message = "must be one of: a level, a list of nodes, cuts and/or a width, or a number of values"
            raise PydanticCustomError("one_kind", message)
        if self.width is not None and self.width < 0:
            raise PydanticCustomError("one_kind", "must have a width of 0 or more")
        return self

    def describe(self) -> str:
        """Say the limit in a few words."""
        if self.level is not None:
            return f"level {self.level}"
        if self.nodes is not None:
            return ", ".join(self.nodes)
        if self.values is not None:
            return f"{self.values} values"
        parts = [f"cuts {', '.join(map(str, self.cuts))}"] if self.cuts else []
        return "; ".join(parts + ([f"width {self.width}"] if self.width is not None else []))


class Point(Frozen):
    """From where on values are no longer told apart: given, or found in the data and then kept as ``at``."""

    at: Number | None = Field(default=None, description="the number itself; absent: found in the data")
    quantile: Number | None = Field(
        default=None,
        description="such that this share of the records lies below: 0.99 for the top, 0.01 for the bottom",
    )
    fewest: int | None = Field(default=None, ge=1, description="such that at least so many people lie at it or beyond")

    @model_validator(mode="before")
    @classmethod
    def _widen(cls, value: Any) -> Any:
        return value if isinstance(value, Mapping | Point) else {"at": value}

    @model_validator(mode="after")
    def _some_kind(self) -> Point:
        rules = (self.quantile is not None) + (self.fewest is not None)
        if rules > 1 or (not rules and self.at is None):
            raise PydanticCustomError("one_kind", "must be a number, {quantile: 0.99} or {fewest: 10}")
        if self.quantile is not None and not 0 < self.quantile < 1:
            raise PydanticCustomError("one_kind", "must have a quantile between 0 and 1")
        return self


class Treatment(Frozen):
    """What becomes of every value of a column before anything else is done with it: a function of the value alone."""

    top: Point | None = Field(default=None, description="numbers at or above it are published as 90+")
    bottom: Point | None = Field(default=None, description="numbers at or below it are published as 10 or less")
    round: Number | None = Field(
        default=None, description="numbers are rounded to multiples of it first, halves to even ones"
    )
    dates: Literal["month", "quarter", "year"] | None = Field(
        default=None, description="days are published as their month, quarter or year"
    )
    form: Forms | None = Field(
        default=None,
        description="with dates: how days are written, such as %d.%m.%Y; by default as data.dates says, or ISO",
    )

    @property
    def of_numbers(self) -> bool:
        """Tell whether it treats numbers; else days."""
        return self.dates is None

    @property
    def open_ends(self) -> bool:
        """Tell whether some values are published as text such as 90+."""
        return self.top is not None or self.bottom is not None

    @property
    def found(self) -> bool:
        """Tell whether every point is a number; else some must be found in the data."""
        return all(point is None or point.at is not None for point in (self.top, self.bottom))


class Attribute(Frozen):
    """One column: what it is, how it is coarsened, and how far."""

    role: Role
    title: str | None = Field(
        default=None, max_length=1000, description="what people call the column; by default what its file says"
    )
    hierarchy: HierarchySpec | None = None
    intervals: Literal["free"] | None = None
    snap: Number | None = Field(
        default=None, description="with free intervals: grid that published ends are moved out to"
    )
    limit: Limit | None = None
    publish: Publish | None = Field(
        default=None,
        description="quasi-identifier: what a group is published as in place of a node; set: the values that its "
        "records have, such as Private|State-gov, for a column without a hierarchy; mean, median: of its numbers, "
        "for a column of free intervals. The plan's weight, other: mean, that of the weights of its group, so that "
        "sums stay and no weight tells records of a group apart",
    )
    decimals: int | None = Field(
        default=None, ge=0, le=9, description="with publish: mean or median: decimal places; 1 by default"
    )
    weight: Number | None = Field(
        default=None,
        description="quasi-identifier: how much its loss counts, 1 by default; sensitive: how much its diversity "
        "counts, by default the less the more values it has",
    )
    unknown: Unknown = Field(default="error", description="what happens to a value that has no leaf")
    treat: Treatment | None = Field(
        default=None, description="what becomes of every value first: top, bottom, round, or days to months"
    )
    level: int | None = Field(
        default=None, ge=0, description="sensitive: level of its hierarchy at which values count as different"
    )
    numeric: bool | None = Field(
        default=None,
        description="whether research value counts spans of numbers; by default so for free intervals, bands and cuts",
    )

    @model_validator(mode="before")
    @classmethod
    def _widen(cls, value: Any) -> Any:
        if isinstance(value, str):
            return {"role": value}
        if value is None:
            raise PydanticCustomError("role", "must have a role")
        if isinstance(value, Mapping) and "limits" in value:
            if "limit" in value:
                raise PydanticCustomError("both", "must have 'limit' or 'limits', not both")
            return {("limit" if key == "limits" else key): part for key, part in value.items()}
        return value

    @property
    def free(self) -> bool:
        """Tell whether the column is generalized to free intervals."""
        return self.intervals == "free"

    @property
    def in_numbers(self) -> bool:
        """Tell whether research value and rules see the column as numbers rather than as labels."""
        if self.numeric is not None:
            return self.numeric
        return self.free or (self.hierarchy is not None and HIERARCHY_KINDS[self.hierarchy.kind].as_numbers)


EVERY = "*"
"""Stands for every sensitive column."""


def _at_least_1(value: Any) -> int:
    number = _number(value)
    if not isinstance(number, int) or number < 1:
        raise PydanticCustomError("number", "must be a whole number of 1 or more")
    return number


Count = Annotated[int, BeforeValidator(_at_least_1), WithJsonSchema({"type": ["integer", "string"]})]


class Presence(Frozen):
    """How much of the population that fits a published combination may be in the release."""

    at_least: Share = Field(default=0, description="least share of the people of the population who fit")
    at_most: Share = Field(default=1, description="greatest share of them")

    @model_validator(mode="before")
    @classmethod
    def _widen(cls, value: Any) -> Any:
        if isinstance(value, Mapping | Presence):
            return value
        if isinstance(value, list | tuple):
            return dict(zip(("at_least", "at_most"), value, strict=True)) if len(value) == 2 else {"at_most": None}
        return {"at_most": value}

    @model_validator(mode="after")
    def _in_order(self) -> Presence:
        if self.at_least > self.at_most:
            raise PydanticCustomError("presence", "must be [least, greatest], in this order")
        return self


class Privacy(Frozen):
    """What must hold of every group: k, and demands on sensitive columns, each for all of them or by column.

    Attributes
    ----------
    k
        Persons in a group at least.
    k_map, presence
        People of the population whom every published combination fits at least; what share of these may be released.
    asked
        What is asked, by name of the privacy model and then by column; ``*`` stands for every sensitive one. In a plan
        file each model is a key beside k: see :mod:`hedgerow.plan.grammar`.
    """

    k: int = Field(description="every person is one of at least k; 2 or more")
    k_map: int | None = Field(
        default=None,
        ge=2,
        description="every published combination fits at least so many people of the population",
    )
    presence: Presence | None = Field(
        default=None,
        description="δ-presence: [least, greatest] share of the population who fit a published combination that may be "
        "in the release",
    )
    asked: Mapping[str, Mapping[str, Any]] = {}

    @model_serializer(mode="wrap")
    def _flat(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        written = write(self)
        asked = written.pop("asked", {})
        return {**written, **asked}

    @property
    def of_population(self) -> bool:
        """Whether something is asked that a population must be counted for."""
        return self.k_map is not None or self.presence is not None

    def demands(self, column: str) -> dict[str, Any]:
        """Return what is asked of one sensitive column, by the name of the model; one value is no demand."""
        found = {}
        for model in PRIVACY_MODELS:
            asked = self.asked.get(model.name, {})
            demand = asked.get(column, asked.get(EVERY))
            if demand is not None and not model.asks_nothing(demand):
                found[model.name] = demand
        return found


class PopulationTable(Frozen):
    """A table of the people whom the records were drawn from, as a source of counts."""

    file: Label | None = Field(
        default=None, description="a file, or the address of a table; or give it when you run: --population"
    )
    columns: dict[Label, Label] | None = Field(
        default=None,
        min_length=1,
        description="quasi-identifiers by which people are looked for, and what the table calls them; absent: all that "
        "it has",
    )
    count: Label | None = Field(default=None, description="its column that says how many people each row stands for")

    @model_validator(mode="before")
    @classmethod
    def _widen(cls, value: Any) -> Any:
        return {"file": value} if isinstance(value, str) else value

    @field_validator("columns", mode="before")
    @classmethod
    def _by_name(cls, value: Any) -> Any:
        return {name: name for name in value} if isinstance(value, list | tuple) else value


class SamplingWeight(Frozen):
    """How many people of the population each record stands for, where the records are a sample."""

    column: Label = Field(
        description="the column of weights; published only if it is one of the attributes, as other: as they are, "
        "rounded (treat: {round: 10}), or as means of groups (publish: mean)"
    )

    @model_validator(mode="before")
    @classmethod
    def _widen(cls, value: Any) -> Any:
        return {"column": value} if isinstance(value, str) else value


class Withhold(Frozen):
    """How many records may be withheld."""

    at_most: Label = Field(description="a number of records, or a share such as 5%")

    @model_validator(mode="before")
    @classmethod
    def _widen(cls, value: Any) -> Any:
        return value if isinstance(value, Mapping | Withhold) else {"at_most": value}

    @model_validator(mode="after")
    def _readable(self) -> Withhold:
        text = self.at_most.strip()
        number = parse_number(text.removesuffix("%"))
        percent = text.endswith("%")
        if number is None or number < 0 or (percent and number > 100) or (not percent and not isinstance(number, int)):
            raise PydanticCustomError("at_most", "must be a number of records or a share such as 5%")
        return self

    def records(self, n: int) -> int:
        """Return how many of n records may be withheld.

        Examples
        --------
        >>> Withhold(at_most="5%").records(30), Withhold(at_most=7).records(30)
        (1, 7)
        """
        text = self.at_most.strip()
        if text.endswith("%"):
            return math.floor(Decimal(text[:-1]) * n / 100)
        return int(text)


class Drift(Frozen):
    """When a maintained release has drifted so far from a fresh one that starting over is worth a thought."""

    advise_above: Label = Field(description="loss above the estimate for a fresh release, such as 10%")

    @model_validator(mode="before")
    @classmethod
    def _widen(cls, value: Any) -> Any:
        return value if isinstance(value, Mapping | Drift) else {"advise_above": value}

    @model_validator(mode="after")
    def _readable(self) -> Drift:
        number = parse_number(self.advise_above.strip().removesuffix("%"))
        if number is None or number < 0 or not self.advise_above.strip().endswith("%"):
            raise PydanticCustomError("advise_above", "must be a share such as 10%")
        return self

    @property
    def share(self) -> float:
        """The threshold as a share.

        Examples
        --------
        >>> Drift(advise_above="10%").share
        0.1
        """
        return float(Decimal(self.advise_above.strip()[:-1]) / 100)


class Rule(Frozen):
    """A distinction that the owner wants kept: two values that no published value should mix."""

    name: str | None = Field(default=None, description="how reports call it; by default its column and values")
    attribute: str = Field(description="a quasi-identifier")
    keep_apart: tuple[Label, Label] = Field(
        description="two numbers that no range should span, or two leaves or nodes that no node should mix"
    )
    importance: Number = Field(default=1, description="how much it counts beside the other rules of its column")

    @property
    def title(self) -> str:
        """What reports call the rule."""
        return self.name or f"{self.attribute}: {self.keep_apart[0]} | {self.keep_apart[1]}"


class ResearchValue(Frozen):
    """How granularity and rules make up the research value of a column."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    base: Number = Field(default=0, description="value that stays when every rule of a column is broken")
    lambda_: Share | None = Field(
        default=None,
        alias="lambda",
        description="λ·granularity + (1 − λ)·rules; absent: granularity × rules",
    )
    levels: dict[Label, tuple[Number, ...]] | None = Field(
        default=None,
        min_length=1,
        description="lattice: by column, what each level is worth, from level 0 to the root, in place of what is "
        "computed; numbers from 0 to 100 that never rise",
    )


def _effort(value: Any) -> Any:
    if not isinstance(value, str) or not re.fullmatch(r"[1-9][0-9]{0,4}s", value.strip()):
        raise PydanticCustomError("effort", "must be an effort in seconds such as 30s")
    return value.strip()


Effort = Annotated[str, BeforeValidator(_effort), WithJsonSchema({"type": "string", "pattern": "^[1-9][0-9]{0,4}s$"})]


class Method(Frozen):
    """How the release is made."""

    name: str = "cluster"
    limits: Literal["keep", "whole-levels", "ignore"] = Field(
        default="keep",
        description="keep: every value stops at its own limit; whole-levels (lattice): a level that takes some value "
        "beyond its limit is not used at all; ignore: as if there were no limits, and count",
    )
    objective: str = Field(
        default="loss",
        description="what there is to be least of, and of research value most: lattice, the best node; cluster, the "
        "groups (loss, ncp, granularity, entropy or research-value); partition, what it is improved by",
    )
    improve: Literal["off", "il-optimization", "steps", "quick", "thorough", "longest"] = Field(
        default="off",
        description="cluster, partition, utility, bottom-up: how to search for groups that lose less; il-optimization: "
        "break groups that others cover; steps: then move and swap people; quick, thorough, longest: regroup them",
    )
    certify: Effort | None = Field(
        default=None,
        description="how long to look for a bound on what any release of these records loses, such as 30s: counted in "
        "steps, so the same everywhere; absent: not at all",
    )
    search: Literal["exact", "global", "local", "hybrid", "divided"] = Field(
        default="exact",
        description="lattice by research value: exact never lists the nodes; the others are the thesis's",
    )
    block: int = Field(default=4, ge=1, description="lattice by research value, divided: attributes in a block")
    levels: dict[Label, Annotated[int, Field(ge=0)]] | None = Field(
        default=None,
        min_length=1,
        description="lattice: the level of each column, as the owner chooses; columns that are not named are searched",
    )
    suppress: bool = Field(
        default=False, description="utility: single cells may be released as missing; needs missing: matches-any"
    )
    overlap: Literal["allowed", "forbidden"] = Field(
        default="allowed",
        description="utility, bottom-up, euclidean: whether different published values of a column may have values in "
        "common; forbidden: they are disjoint or equal over the whole release",
    )
    join: Literal["increase", "loss"] = Field(
        default="increase",
        description="cluster: a record left over joins the group whose loss grows least, or is least",
    )
    split: int | None = Field(
        default=None,
        ge=1000,
        description="cluster: blocks of more different combinations than this are partitioned first; absent: never",
    )

    @model_validator(mode="before")
    @classmethod
    def _widen(cls, value: Any) -> Any:
        return {"name": value} if isinstance(value, str) else value

    @property
    def seconds_to_certify(self) -> int:
        """Effort to certify with, 0 if that is not asked for."""
        return 0 if self.certify is None else int(self.certify[:-1])

    @property
    def goes_by(self) -> str:
        """What the method has least (or most) of: what is asked, or else what it is made for."""
        way = METHODS[self.name]
        return self.objective if "objective" in way.options else way.objectives[0]


class Unit(Frozen):
    """What is published linked: households, or persons with several rows. The whole unit is then one of k."""

    column: str = Field(description="the column whose equal values make a unit, such as a household number")
    publish: Literal["linked"] = Field(
        default="linked", description="linked: the column is released, with numbers drawn anew for this release"
    )
    same: tuple[Label, ...] = Field(
        default=(), description="columns that are the same for all records of a unit, such as the region of a household"
    )
    order: tuple[Label, ...] = Field(
        default=(),
        description="quasi-identifiers by which the records of two units are matched first, such as the relation to "
        "the head of the household; by default all, in the order of the plan",
    )

    @model_validator(mode="before")
    @classmethod
    def _widen(cls, value: Any) -> Any:
        return value if isinstance(value, Mapping | Unit) else {"column": value}


class PlanModel(Frozen):
    """The keys of a plan. :class:`hedgerow.plan.Plan` adds reading, checking and writing."""

    data: DataFormat = DataFormat()
    key: str | None = Field(default=None, description="the column that names a record")
    person: str | None = Field(default=None, description="the column that names a person; k then counts persons")
    weight: SamplingWeight | None = Field(
        default=None, description="the column that says how many people each record stands for, in a sample"
    )
    population: PopulationTable | None = Field(
        default=None, description="a table of the people whom the records were drawn from, to count them in"
    )
    unit: Unit | None = Field(
        default=None,
        description="households, or persons with several rows, that are published linked; each is then one of k",
    )
    attributes: dict[str, Attribute] = Field(min_length=1)
    privacy: Privacy
    method: Method = Method()
    withhold: Withhold | None = None
    rules: tuple[Rule, ...] = Field(default=(), description="distinctions that should be kept, with their importance")
    weights: Weights = Field(
        default=None,
        description="how much each quasi-identifier counts: by column, or association: the less the more it can be "
        "told from the others",
    )
    research_value: ResearchValue = ResearchValue()
    missing: Literal["own-value", "matches-any"] = Field(
        default="own-value",
        description="what a missing cell of the release means when groups are counted: a value of its own, or any",
    )
    republish: Literal["free", "only-coarser", "gated", "cohorts"] = Field(
        default="free",
        description="what a new version of a maintained release may change, since others may hold the old ones: "
        "anything; nothing gets narrower, groups may only be merged; only what passes the audit; nobody ever changes "
        "groups",
    )
    drift: Drift | None = Field(default=None, description="when a maintained release advises to start over")
    threshold: Share | None = Field(
        default=None,
        description="risk of being found that is just acceptable, such as 0.09; verdicts and reports hold the release "
        "against it; it promises nothing and changes no release",
    )
    seed: int = Field(default=0, ge=0, description="picks where clustering starts")

    @property
    def accepted(self) -> float:
        """The risk that is just acceptable: the plan's, or that of the usual audience."""
        return USUAL.threshold if self.threshold is None else float(self.threshold)

    def columns(self, *roles: Role) -> tuple[str, ...]:
        """Return the columns with one of these roles, in the plan's order."""
        return tuple(name for name, attribute in self.attributes.items() if attribute.role in roles)

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """Columns that are generalized."""
        return self.columns("quasi-identifier")

    @property
    def released_columns(self) -> tuple[str, ...]:
        """Columns of the release that hold values of the data, in the plan's order; keys are never released."""
        return self.columns("quasi-identifier", "sensitive", "other")

    @property
    def published_columns(self) -> tuple[str, ...]:
        """Columns of the data file: the numbers of units first, if they are linked, then the released columns."""
        return self.released_columns if self.unit is None else (self.unit.column, *self.released_columns)

    @property
    def named_columns(self) -> tuple[str, ...]:
        """All columns that the plan names; messages may show these, and no other name that comes from data."""
        weight = None if self.weight is None else self.weight.column
        unit = None if self.unit is None else self.unit.column
        named = (self.key, self.person, unit, weight)
        return tuple(dict.fromkeys([*self.attributes, *(name for name in named if name is not None)]))

    @property
    def publishes_weights(self) -> bool:
        """Whether sampling weights are released."""
        return self.weight is not None and self.weight.column in self.columns("other")

    @property
    def publishes_instead(self) -> tuple[str, ...]:
        """Quasi-identifiers whose groups are published as something else than a node or an interval."""
        return tuple(name for name in self.quasi_identifiers if self.attributes[name].publish is not None)

    @property
    def means_of_weights(self) -> str | None:
        """The column of sampling weights that is released as means of groups; None: there is none."""
        if self.weight is None or not self.publishes_weights:
            return None
        return self.weight.column if self.attributes[self.weight.column].publish == "mean" else None

    @property
    def changes_weights(self) -> bool:
        """Whether sampling weights are released as others than they are: rounded, or as means of groups."""
        treat = None if self.weight is None or not self.publishes_weights else self.attributes[self.weight.column].treat
        return treat is not None or self.means_of_weights is not None

    @property
    def as_they_are(self) -> tuple[str, ...]:
        """Released columns whose values belong to their records, treated or not; means of groups do not."""
        return tuple(name for name in self.columns("sensitive", "other") if name != self.means_of_weights)

    @property
    def published_as_numbers(self) -> frozenset[str]:
        """Quasi-identifiers whose groups are published as a mean or a median."""
        return frozenset(name for name in self.quasi_identifiers if self.attributes[name].publish in ("mean", "median"))

    @property
    def estimates_k_map(self) -> bool:
        """Whether k_map is estimated from sampling weights, for want of a population to count in."""
        return self.privacy.k_map is not None and self.population is None and self.weight is not None

    @property
    def merges(self) -> bool:
        """Tell whether the method starts from the profiles and merges those that are too small."""
        return METHODS[self.method.name].merges

    @property
    def keeps_limits(self) -> bool:
        """Tell whether the release promises to keep the limits."""
        return self.method.limits != "ignore"


def with_ends(attribute: Attribute) -> Attribute:
    """Return a column whose bands or cuts end where its treatment ends numbers.

    Examples
    --------
    >>> age = Attribute(role="quasi-identifier", hierarchy={"bands": [5]}, treat={"top": 90})
    >>> with_ends(age).hierarchy.top
    90
    """
    treat, spec = attribute.treat, attribute.hierarchy
    if treat is None or spec is None or not HIERARCHY_KINDS[spec.kind].as_numbers:
        return attribute
    ends = {name: point.at for name in ("top", "bottom") if (point := getattr(treat, name)) is not None}
    return attribute.model_copy(update={"hierarchy": spec.model_copy(update=ends)}) if ends else attribute


def spec_of(hierarchy: Hierarchy) -> HierarchySpec:
    """Write a tree out in full, as a plan that needs no file holds it."""
    return HierarchySpec(tree=hierarchy.tree())
