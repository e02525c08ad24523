"""Help texts and completion that go over the descriptors of methods, models, measures, …: see plan/concepts.py.

A help text holds a word in braces, such as ``{methods}``, which is filled in when the help is shown: to look for
descriptors takes longer than most commands should take to start.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

# The headings under which "hedgerow --help" lists commands, in the order in which people come to need them.
HEADINGS = START, LOOK, MAKE, HAND_OVER = "Start", "Look before you release", "Make a release", "Check and hand over"


def _methods() -> Iterable[str]:
    from hedgerow.evaluation.comparison import variants

    return variants()


def _models() -> Iterable[str]:
    from hedgerow.plan.concepts import PRIVACY_MODELS

    return (f"{model.name} ({model.title})" for model in PRIVACY_MODELS)


def _ways() -> Iterable[str]:
    from hedgerow.plan.concepts import METHODS

    return METHODS.names


def _objectives() -> Iterable[str]:
    from hedgerow.plan.concepts import objectives

    return objectives()


def _measures() -> Iterable[str]:
    from hedgerow.evaluation.comparison import compared_measures

    return (measure.title for measure in compared_measures())


def export_forms() -> tuple[str, ...]:
    """Return the formats in which a version is exported."""
    from hedgerow.plan.formats import release_formats

    return tuple(one.name for one in release_formats())


def forms() -> tuple[str, ...]:
    """Return the ways in which a release is written."""
    from hedgerow.engines.descriptor import release_forms

    return release_forms()


def engines() -> tuple[str, ...]:
    """Return the words that ask for an engine."""
    from hedgerow.engines.descriptor import engine_words

    return engine_words()


def sort_keys() -> tuple[str, ...]:
    """Return what nodes of the lattice can be sorted by."""
    from hedgerow.evaluation.nodes import sort_keys

    return sort_keys()


def demo_kinds() -> tuple[str, ...]:
    """Return the tables that can be made up."""
    from hedgerow.cli.demo import KINDS

    return tuple(KINDS)


def audiences() -> tuple[str, ...]:
    """Return who a release may be for."""
    from hedgerow.plan.audiences import AUDIENCES

    return tuple(AUDIENCES)


def _where() -> Iterable[str]:
    from hedgerow.engines.descriptor import ENGINES

    *others, last = (one.help for one in ENGINES if one.by_name)
    return (*others, f"or {last}")


def _files() -> Iterable[str]:
    from hedgerow.plan.formats import format_titles

    return (format_titles(),)


WORDS: dict[str, Callable[[], Iterable[str]]] = {
    "{compared}": _methods,
    "{models}": _models,
    "{methods}": _ways,
    "{objectives}": _objectives,
    "{measures}": _measures,
    "{forms}": lambda: ("|".join(forms()),),
    "{export forms}": lambda: ("|".join(export_forms()),),
    "{sort keys}": sort_keys,
    "{demo kinds}": lambda: ("|".join(demo_kinds()),),
    "{audiences}": lambda: ("|".join(audiences()),),
    "{engines}": lambda: ("|".join(engines()),),
    "{where}": _where,
    "{files}": _files,
}


def filled(text: str) -> str:
    """Fill the lists of names into a help text.

    Examples
    --------
    >>> filled("Privacy models: {models}.")  # doctest: +ELLIPSIS
    'Privacy models: p (p-sensitivity), l (l-diversity), t (t-closeness), ...'
    """
    for word, names in WORDS.items():
        if word in text:
            text = text.replace(word, ", ".join(names()))
    return text


class DescribedGroup(TyperGroup):
    """A group of commands whose help lists them under their headings."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands, heading by heading."""
        names = super().list_commands(ctx)
        headings = {name: getattr(self.commands[name], "rich_help_panel", None) for name in names}
        return sorted(names, key=lambda name: HEADINGS.index(headings[name]) if headings[name] in HEADINGS else -1)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Show the help."""
        _plain_types(self, ctx)
        super().format_help(ctx, formatter)


class DescribedCommand(TyperCommand):
    """A command in whose help lists of names are filled in when it is shown."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Show the help with all names that there are now."""
        _plain_types(self, ctx)
        holding: list[Any] = [self, *self.params]
        places = [(part, name, getattr(part, name, None)) for part in holding for name in ("help", "metavar")]
        asked = [(part, name, text) for part, name, text in places if text]
        try:
            for part, name, text in asked:
                setattr(part, name, filled(text))
            super().format_help(ctx, formatter)
        finally:
            for part, name, text in asked:
                setattr(part, name, text)


# What stands beside an option that says nothing better, in place of names of Python's types.
PLAIN_TYPES: dict[Any, str] = {int: "N", float: "X", str: "TEXT", Path: "PATH"}


def _plain_types(command: Any, ctx: Any) -> None:
    """Say what is to be typed in words of ours: nothing beside a flag, and beside an argument its name alone."""
    for parameter in command.get_params(ctx):
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""
        elif parameter.param_type_name == "argument":
            parameter.display_type_rich = _no_type
        elif parameter.metavar is None:
            described = getattr(parameter, "type_descriptor", None)  # older versions of typer have none
            parameter.metavar = PLAIN_TYPES.get(getattr(described, "annotation", None))


def _no_type(**_: Any) -> None:
    return None


def command(app: typer.Typer, example: str, among: str | None = None, **more: Any) -> Callable[[Any], Any]:
    """Return what makes a function a command of ``app``, with an example below its help.

    ``among`` is the heading under which it is listed.
    """
    return app.command(cls=DescribedCommand, epilog=f"Example: {example}", rich_help_panel=among, **more)


def complete_methods(incomplete: str) -> list[str]:
    """Complete the last of several names of methods."""
    done, comma, last = incomplete.rpartition(",")
    return [f"{done}{comma}{name}" for name in ("plan", "all", *_methods()) if name.startswith(last)]


def completing(words: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """Return what a shell asks for the words that begin as somebody has typed."""

    def complete(incomplete: str) -> list[str]:
        return [word for word in words() if word.startswith(incomplete)]

    return complete


def one_of(words: Callable[[], Iterable[str]], option: str) -> Callable[[str | None], str | None]:
    """Return a check that what was typed after an option is one of some words."""

    def check(typed: str | None) -> str | None:
        known = list(words())
        if typed is None or typed in known:
            return typed
        raise typer.BadParameter(f"must be {', '.join(known[:-1])} or {known[-1]}", param_hint=option)

    return check
