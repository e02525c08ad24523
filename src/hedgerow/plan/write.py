"""Writing a plan as YAML that a person can read: nested trees in block form, short lists on one line."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import yaml

from hedgerow.plan.model import EVERY


class _Writer(yaml.SafeDumper):
    """Dumps plain data; text that YAML would read as something else is quoted."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _flow_list(writer: _Writer, items: Any) -> yaml.Node:
    items = list(items)
    flow = all(not isinstance(item, dict | list | tuple) for item in items) or not any(
        isinstance(i, dict) for i in items
    )
    return writer.represent_sequence("tag:yaml.org,2002:seq", items, flow_style=flow)


def _decimal(writer: _Writer, number: Decimal) -> yaml.Node:
    return writer.represent_scalar("tag:yaml.org,2002:float", format(number, "f"))


_Writer.add_representer(list, _flow_list)
_Writer.add_representer(tuple, _flow_list)
_Writer.add_representer(Decimal, _decimal)


def plan_to_yaml(raw: dict[str, Any]) -> str:
    """Write a plan's plain data as YAML."""
    return yaml.dump(raw, Dumper=_Writer, sort_keys=False, allow_unicode=True, width=110)


def short_forms(raw: dict[str, Any]) -> dict[str, Any]:
    """Use the short forms of the grammar where they say the same."""
    tidy = dict(raw)
    tidy["attributes"] = {name: _tidy_attribute(part) for name, part in raw["attributes"].items()}
    tidy["privacy"] = {name: _tidy_demand(asked) for name, asked in raw["privacy"].items()}
    if set(tidy.get("weight", ())) == {"column"}:
        tidy["weight"] = tidy["weight"]["column"]
    if set(tidy.get("method", ())) == {"name"}:
        tidy["method"] = tidy["method"]["name"]
    if set(tidy.get("unit", ())) == {"column"}:
        tidy["unit"] = tidy["unit"]["column"]
    return tidy


def _tidy_demand(asked: Any) -> Any:
    if isinstance(asked, dict):
        short = {
            column: (form["at_most"] if isinstance(form, dict) and set(form) == {"at_most"} else form)
            for column, form in asked.items()
        }
        return short[EVERY] if set(short) == {EVERY} else short
    return asked


def _tidy_attribute(part: dict[str, Any]) -> Any:
    if set(part) == {"role"}:
        return part["role"]
    part = dict(part)
    if "treat" in part:
        part["treat"] = {
            name: asked["at"] if isinstance(asked, dict) and set(asked) == {"at"} else asked
            for name, asked in part["treat"].items()
        }
    if "tree" in part.get("hierarchy", {}):
        part["hierarchy"] = {"tree": _tidy_tree(part["hierarchy"]["tree"])}
    if set(part.get("limit", ())) == {"nodes"}:
        part = {
            ("limits" if key == "limit" else key): (value["nodes"] if key == "limit" else value)
            for key, value in part.items()
        }
    return part


def _tidy_tree(tree: dict[str, Any]) -> dict[str, Any]:
    return {name: _tidy_below(below) for name, below in tree.items()}


def _tidy_below(below: dict[str, Any]) -> Any:
    if below and all(not deeper for deeper in below.values()):
        return list(below)
    return {name: (_tidy_below(deeper) if deeper else None) for name, deeper in below.items()}
