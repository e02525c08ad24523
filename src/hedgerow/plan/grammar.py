"""The grammar of plan files: the parts of a plan, with the words that the descriptors of all concepts add to them.

Which privacy models, methods, … there are is told by :mod:`hedgerow.plan.concepts`. So the classes that check a file
are made from the descriptors; what they have checked is kept in the plain classes of :mod:`hedgerow.plan.model`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field, create_model

from hedgerow.plan.concepts import METHODS, PRIVACY_MODELS, ModelDescriptor, objectives
from hedgerow.plan.formats import FILE_FORMATS
from hedgerow.plan.model import EVERY, DataFormat, Frozen, Method, PlanModel, Privacy


def grammar() -> type[PlanModel]:
    """Return the class that checks the keys of a plan file, as all descriptors now have it."""
    return _grammar(PRIVACY_MODELS.all, METHODS.names, tuple(objectives()), FILE_FORMATS.names)


def part_of_grammar(name: str) -> type[BaseModel]:
    """Return the class that checks what stands under a key of a plan, such as ``privacy``."""
    found: type[BaseModel] = grammar().model_fields[name].annotation  # type: ignore[assignment]
    return found


def validate(raw: Mapping[str, Any]) -> PlanModel:
    """Check the keys and kinds of plain data, and return it as parts of a plan.

    Raises
    ------
    pydantic.ValidationError
        With everything that is wrong.
    """
    found = grammar().model_validate({name: _plain(part) for name, part in raw.items()})
    parts = {name: getattr(found, name) for name in PlanModel.model_fields}
    asked = {name: getattr(found.privacy, name) for name in PRIVACY_MODELS.names}
    demands = {name: demand for name, demand in asked.items() if demand is not None}
    own = {name: getattr(found.privacy, name) for name in Privacy.model_fields if name != "asked"}
    parts["privacy"] = Privacy(**own, asked=demands)
    parts["data"] = DataFormat.model_construct(found.data.model_fields_set, **dict(found.data))
    parts["method"] = Method.model_construct(found.method.model_fields_set, **dict(found.method))
    return PlanModel.model_construct(found.model_fields_set, **parts)


def _plain(part: Any) -> Any:
    """Write out a part that is given as an object, since it may be one of a plain class."""
    return part.model_dump(exclude_unset=True) if isinstance(part, BaseModel) else part


@lru_cache(maxsize=4)
def _grammar(
    models: tuple[ModelDescriptor, ...], methods: tuple[str, ...], goals: tuple[str, ...], formats: tuple[str, ...]
) -> type[PlanModel]:
    long = frozenset[str]().union(*(model.keys for model in models))

    def by_column(value: Any) -> Any:
        """Widen a demand on every sensitive column to a demand by column."""
        if value is None or (isinstance(value, Mapping) and not long & set(value)):
            return value
        return {EVERY: value}

    demands: dict[str, Any] = {
        model.name: (
            Annotated[dict[str, model.form], BeforeValidator(by_column)] | None,  # type: ignore[name-defined]
            Field(default=None, description=model.help),
        )
        for model in models
    }
    own: dict[str, Any] = {
        name: (field.annotation, field) for name, field in Privacy.model_fields.items() if name != "asked"
    }
    privacy = create_model("Privacy", __base__=Frozen, __doc__=_first_line(Privacy), **own, **demands)
    words = {"name": methods, "objective": goals}
    method = create_model("Method", __base__=Method, __doc__=Method.__doc__, **_with_words(Method, words))
    form: Any = (Literal[formats] | None, DataFormat.model_fields["format"])
    data = create_model("DataFormat", __base__=DataFormat, __doc__=DataFormat.__doc__, format=form)
    parts: dict[str, Any] = {"privacy": (privacy, ...), "method": (method, method()), "data": (data, data())}
    return create_model("PlanModel", __base__=PlanModel, __doc__=PlanModel.__doc__, **parts)


def _with_words(part: type[BaseModel], words: Mapping[str, tuple[str, ...]]) -> dict[str, Any]:
    """Let fields of a part take these words only."""
    return {name: (Literal[known], part.model_fields[name]) for name, known in words.items()}


def _first_line(part: type[BaseModel]) -> str:
    return (part.__doc__ or "").split("\n", 1)[0]
