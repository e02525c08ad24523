"""Plan: reading, checking, changing and writing what the owner asks."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hedgerow.errors import PlanError, Problem, escape_text
from hedgerow.outside.intake import is_deeper, read_bytes
from hedgerow.plan.check import parse
from hedgerow.plan.concepts import METHODS
from hedgerow.plan.model import Attribute, PlanModel, PopulationTable, with_ends
from hedgerow.plan.places import MOST_BYTES, MOST_DEPTH, NOWHERE, read_yaml
from hedgerow.plan.write import plan_to_yaml, short_forms


class Plan(PlanModel):
    """What the owner asks: roles, hierarchies, limits, k, method.

    Examples
    --------
    >>> plan = Plan.from_dict(
    ...     {
    ...         "attributes": {
    ...             "name": "identifier",
    ...             "age": {"role": "quasi-identifier", "hierarchy": {"bands": [5, 10]}, "limit": {"level": 2}},
    ...             "diagnosis": "sensitive",
    ...         },
    ...         "privacy": {"k": 5},
    ...     }
    ... )
    >>> plan
    Plan(k=5, quasi-identifiers: age; sensitive: diagnosis; limits on: age)
    """

    @classmethod
    def load(cls, path: str | Path, *, files: bool = True) -> Plan:
        """Read a plan file; hierarchy files are looked for beside it and become part of the plan.

        Parameters
        ----------
        path
            The file.
        files
            Whether it may name hierarchy files. A plan that came with somebody else's release may not.

        Raises
        ------
        PlanError
            With every problem, each with ``file:line:column`` and a hint.
        """
        path = Path(path)
        try:
            text = read_bytes(path, MOST_BYTES, "The plan").decode("utf-8-sig")
        except UnicodeDecodeError:
            raise PlanError(Problem("yaml", "The plan is not UTF-8 text.", str(path), "save it as UTF-8")) from None
        return cls.loads(text, file=str(path), base=path.parent if files else None)

    @classmethod
    def loads(cls, text: str, file: str = "plan", base: str | Path | None = ".") -> Plan:
        """Read a plan from YAML text; without a ``base`` it may not name hierarchy files."""
        raw, places, problems = read_yaml(text, file)
        model, more = parse(raw, places, None if base is None else Path(base))
        return cls._from(model, problems + more)

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any], base: str | Path | None = ".") -> Plan:
        """Make a plan from plain data of the same shape as the file; without a ``base`` it may not name files."""
        if is_deeper(raw, MOST_DEPTH):
            raise PlanError(Problem("yaml", f"The plan is nested deeper than {MOST_DEPTH} levels."))
        model, problems = parse(raw, NOWHERE, None if base is None else Path(base))
        return cls._from(model, problems)

    @classmethod
    def _from(cls, model: PlanModel | None, problems: list[Problem]) -> Plan:
        if model is None or problems:
            raise PlanError(sorted(problems, key=_line_and_column))
        return cls.model_construct(**{name: getattr(model, name) for name in PlanModel.model_fields})

    def replace(self, **changes: Any) -> Plan:
        """Return the plan with some of its top keys replaced and checked again.

        Examples
        --------
        >>> plan = Plan.from_dict({"attributes": {"sex": "quasi-identifier"}, "privacy": {"k": 5}})
        >>> plan.replace(privacy={"k": 3}).privacy.k
        3
        """
        return Plan.from_dict({**self.to_dict(), **changes})

    def with_levels(self, levels: Mapping[str, int]) -> Plan:
        """Return the plan that publishes each of these columns at its level, by the lattice; others are searched.

        Examples
        --------
        >>> plan = Plan.from_dict({"attributes": {"sex": "quasi-identifier"}, "privacy": {"k": 5}})
        >>> plan.with_levels({"sex": 0}).method.levels
        {'sex': 0}
        """
        method = self.to_dict().get("method", {})
        if "levels" not in METHODS[self.method.name].options:
            method = {"name": "lattice", "limits": self.method.limits}
        return self.replace(method={**method, "levels": dict(levels)})

    def settled(self) -> Plan:
        """Return the plan without what its method does not use.

        A column may have levels for the lattice and free intervals for clustering, and its levels may be worth
        something that no other method asks about; and weights given together are the same as weights given one by one.
        """
        attributes = {name: with_ends(self._with_form(attribute)) for name, attribute in self.attributes.items()}
        for name in self.quasi_identifiers:
            attribute = attributes[name]
            if attribute.free and attribute.hierarchy is not None:
                unused: dict[str, Any] = {"hierarchy": None}
                if METHODS[self.method.name].needs_levels:  # the numbers stay numbers
                    unused = {"intervals": None, "snap": None, "numeric": attribute.hierarchy.kind == "tree" or None}
                attributes[name] = attribute = attribute.model_copy(update=unused)
            if isinstance(self.weights, Mapping) and name in self.weights:
                attributes[name] = attribute.model_copy(update={"weight": self.weights[name]})
        weights = None if isinstance(self.weights, Mapping) else self.weights
        changes: dict[str, Any] = {"attributes": attributes, "weights": weights}
        if self.research_value.levels is not None and not METHODS[self.method.name].needs_levels:
            changes["research_value"] = self.research_value.model_copy(update={"levels": None})
        return self.model_copy(update=changes)

    def counting_in(self, place: str | None) -> Plan:
        """Return the plan that counts people in the table at a place; None: without all it asks of a population.

        A plan that is taken from elsewhere names no file, and much can be said of a table without its population.

        Examples
        --------
        >>> asked = {"attributes": {"sex": "quasi-identifier"}, "privacy": {"k": 5, "k_map": 9}, "population": {}}
        >>> plan = Plan.from_dict(asked)
        >>> plan.counting_in("register.csv").population.file
        'register.csv'
        >>> plan.counting_in(None).privacy.of_population
        False
        """
        if place is not None:
            asked = self.population or PopulationTable()
            return self.model_copy(update={"population": asked.model_copy(update={"file": place})})
        privacy = self.privacy
        if not self.estimates_k_map or privacy.presence is not None:
            privacy = privacy.model_copy(update={"k_map": None, "presence": None})
        return self.model_copy(update={"population": None, "privacy": privacy})

    def untreated(self) -> Plan:
        """Return the plan by which a table is read as it is, whatever becomes of its values."""
        attributes = {name: one.model_copy(update={"treat": None}) for name, one in self.attributes.items()}
        return self.model_copy(update={"attributes": attributes})

    def _with_form(self, attribute: Attribute) -> Attribute:
        """Return a column that says how its days are written, where the plan says it for all."""
        spec, form = attribute.hierarchy, self.data.dates
        if form is None or spec is None or spec.dates is None or spec.form is not None:
            return attribute
        return attribute.model_copy(update={"hierarchy": spec.model_copy(update={"form": form})})

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain data, hierarchies written out, defaults left out."""
        return self.model_dump(exclude_defaults=True, exclude_none=True, by_alias=True, mode="python")

    def short(self) -> dict[str, Any]:
        """Return the plan as plain data in the short forms of the grammar."""
        return short_forms(self.to_dict())

    def to_yaml(self) -> str:
        """Return the plan as YAML that needs no other file."""
        return plan_to_yaml(self.short())

    def digest(self) -> str:
        """Return a fingerprint of everything the plan says, hierarchies included."""
        text = json.dumps(self.to_dict(), sort_keys=True, default=str, ensure_ascii=False)
        return "sha256:" + hashlib.sha256(text.encode()).hexdigest()

    def __repr__(self) -> str:
        parts = ["quasi-identifiers: " + ", ".join(self.quasi_identifiers)]
        if self.columns("sensitive"):
            parts.append("sensitive: " + ", ".join(self.columns("sensitive")))
        limited = [name for name in self.quasi_identifiers if self.attributes[name].limit is not None]
        if limited:
            parts.append("limits on: " + ", ".join(limited))
        return escape_text(f"Plan(k={self.privacy.k}, {'; '.join(parts)})")

    __str__ = __repr__

    def _repr_html_(self) -> str:
        from html import escape

        def row(name: str, attribute: Attribute) -> str:
            coarsened = attribute.hierarchy.kind if attribute.hierarchy else "free intervals" if attribute.free else ""
            limit = attribute.limit.describe() if attribute.limit else ""
            return (
                "<tr>"
                + "".join(f"<td>{escape(cell)}</td>" for cell in (name, attribute.role, coarsened, limit))
                + "</tr>"
            )

        rows = "".join(row(name, attribute) for name, attribute in self.attributes.items())
        head = "<tr><th>column</th><th>role</th><th>hierarchy</th><th>limit</th></tr>"
        return f"<p>Plan with k = {self.privacy.k}</p><table>{head}{rows}</table>"


def _line_and_column(problem: Problem) -> tuple[int, int]:
    numbers = [int(part) for part in problem.place.split(":")[-2:] if part.isdigit()]
    return (numbers[0], numbers[1]) if len(numbers) == 2 else (0, 0)


def settled_plan(plan: Plan | str | Path, seed: int | None = None) -> Plan:
    """Load a plan if it is the path of one, and leave out what its method does not use."""
    plan = plan if isinstance(plan, Plan) else Plan.load(plan)
    return (plan if seed is None else plan.replace(seed=seed)).settled()
