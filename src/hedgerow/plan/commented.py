"""A plan file that is changed: comments, order and spelling of everything else stay."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from hedgerow.errors import PlanError
from hedgerow.plan.plan import Plan
from hedgerow.plan.write import plan_to_yaml


def keeping_comments() -> YAML:
    """Return a reader and writer of YAML that keeps comments, quotation marks and long lines."""
    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 1 << 16
    yaml.allow_unicode = True
    return yaml


def with_comments(text: str, plan: Plan, base: Path | None) -> str:
    r"""Write a plan into the file that it comes from.

    Parameters
    ----------
    text
        The file as it was.
    plan
        The plan as it is now.
    base
        The folder of the file; None: the plan may name no files.

    Returns
    -------
    The file with what has changed, and with its comments; the plan alone where that would not say the same.

    Examples
    --------
    >>> before = "attributes:  # who is who\n  sex: quasi-identifier\nprivacy: {k: 5}  # agreed in May\n"
    >>> print(with_comments(before, Plan.loads(before).replace(privacy={"k": 7}), None), end="")
    attributes:  # who is who
      sex: quasi-identifier
    privacy: {k: 7}  # agreed in May
    """
    yaml = keeping_comments()
    try:
        was, document = Plan.loads(text, base=base), yaml.load(text)
        _change(yaml, document, was.to_dict(), plan.to_dict())
        written = io.StringIO()
        yaml.dump(document, written)
        if Plan.loads(written.getvalue(), base=base) == plan:
            return written.getvalue()
    except (PlanError, YAMLError, AttributeError, KeyError, TypeError, ValueError):
        pass  # a file that is written otherwise than we know
    return plan.to_yaml()


def _change(yaml: YAML, document: Any, was: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Change what differs, and nothing else; a part in a short form is written anew."""
    for key in was:
        if key not in now:
            document.pop(key, None)
    for key, part in now.items():
        if was.get(key) == part:
            continue
        if isinstance(part, Mapping) and isinstance(was.get(key), Mapping) and isinstance(document.get(key), Mapping):
            _change(yaml, document[key], was[key], part)
        else:
            document[key] = yaml.load(plan_to_yaml({"part": part}))["part"]
