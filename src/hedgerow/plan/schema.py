"""The JSON Schema of plans, short forms included, for editors."""

from __future__ import annotations

from typing import Any, get_args

from hedgerow.plan.concepts import METHODS, PRIVACY_MODELS
from hedgerow.plan.grammar import grammar
from hedgerow.plan.model import Role


def plan_schema() -> dict[str, Any]:
    """Return the JSON Schema of a plan file.

    The long forms come from the model; the short forms that it widens are added here.
    """
    schema = grammar().model_json_schema()
    parts = schema["$defs"]
    parts["Attribute"]["properties"]["limits"] = {"$ref": "#/$defs/Limit"}
    _also(parts, "Attribute", {"enum": list(get_args(Role)), "description": "a role"})
    label = {"type": ["string", "number"]}
    _also(parts, "Limit", {"type": "array", "items": label, "description": "names of nodes"}, label)
    _also(parts, "Method", {"enum": list(METHODS.names), "description": "a method by name"})
    _also(
        parts, "Withhold", {"type": ["string", "integer"], "description": "a number of records, or a share such as 5%"}
    )
    number = {"type": ["number", "string"]}
    _also(parts, "LDiversity", {"type": "integer", "description": "so many different values"})
    _also(parts, "Closeness", number)
    _also(parts, "Likeness", number)
    shares = {"type": "array", "items": number, "minItems": 2, "maxItems": 2, "description": "[least, greatest]"}
    _also(parts, "Presence", shares, number)
    _also(parts, "Point", number)
    widths = {"anyOf": [number, {"type": "array", "items": number}]}
    open_bands: dict[str, Any] = {"type": "object", "properties": {"width": widths, "top": number, "bottom": number}}
    open_bands |= {"required": ["width"], "additionalProperties": False}
    parts["HierarchySpec"]["properties"]["bands"]["anyOf"].append(open_bands)
    _also(parts, "SamplingWeight", {"type": "string", "description": "the column"})
    _also(parts, "PopulationTable", {"type": "string", "description": "the table"})
    for model in PRIVACY_MODELS:
        parts["Privacy"]["properties"][model.name]["anyOf"].append(dict(model.short))
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "Hedgerow plan"
    return schema


def _also(parts: dict[str, Any], name: str, *short: dict[str, Any]) -> None:
    """Let a part be written in a short form too."""
    parts[name] = {"anyOf": [parts[name], *short]}
