"""Templates of the page: ours, from the package, with everything that they are given escaped."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from jinja2.ext import Extension
from markupsafe import Markup

from hedgerow.reports.html.markup import fact, name, names, picture
from hedgerow.reports.material import Material
from hedgerow.reports.wording import counted, percent, shorten


class Joined(Extension):
    """Line breaks of a template, and the room around them, are there for who reads it: the page has none of them."""

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
        """Join the lines of a template. A sentence therefore stands on one line."""
        return re.sub(r"\s*\n\s*", "", source)


@functools.cache
def environment() -> Environment:
    """Return what renders templates: a name that is not there is an error, a text is never markup."""
    made = Environment(
        loader=PackageLoader("hedgerow.reports.html"), autoescape=True, undefined=StrictUndefined, extensions=[Joined]
    )
    made.filters.update(
        counted=counted, name=name, names=names, percent=percent, picture=picture, shorten=shorten, grouped=_grouped
    )
    return made


def render(template: str, material: Material, more: Mapping[str, Any]) -> Markup:
    """Render a template with what a report is made of, and with what belongs to this template alone."""
    given = {
        "material": material,
        "plan": material.plan,
        "facts": material.facts,
        "extras": material.extras,
        "sign_off": material.sign_off,
        "fact": functools.partial(fact, material.facts),
        **more,
    }
    return Markup(environment().get_template(f"{template}.html.j2").render(given))


def _grouped(number: int) -> str:
    return f"{number:,}"
