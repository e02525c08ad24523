"""What --help shows: an example of every command that can be typed, headings, and no type beside a flag."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import Any

import pytest
import typer.main

from hedgerow.cli.app import app
from hedgerow.cli.described import HEADINGS


def commands(group: Any, *names: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, *names, name)
        else:
            yield (*names, name), command


ROOT: Any = typer.main.get_command(app)
ALL = dict(commands(ROOT))


@pytest.mark.parametrize("names", ALL, ids=" ".join)
def test_every_command_has_an_example_that_can_be_typed(names: tuple[str, ...]) -> None:
    command = ALL[names]
    assert command.epilog, "no example: make it with hedgerow.cli.described.command"
    example = command.epilog.removeprefix("Example: ").partition(" > ")[0]
    words = shlex.split(example)
    assert words[: len(names) + 1] == ["hedgerow", *names]
    with command.make_context(" ".join(names), words[len(names) + 1 :]) as context:  # refuses words that do not fit
        assert not context.args


@pytest.mark.parametrize("names", [(), *ALL], ids=" ".join)
def test_help_shows_no_type_of_pythons(names: tuple[str, ...], command: Any) -> None:
    shown = command(*names, "--help")
    assert shown.returncode == 0
    assert "bool" not in shown.stdout.lower()
    assert not re.search(r"<(str|int|float|path)\b", shown.stdout)
    assert "BOOLEAN" not in shown.stdout


def test_commands_stand_under_headings_in_the_order_of_the_work(command: Any) -> None:
    shown = command("--help").stdout
    places = [shown.index(heading) for heading in HEADINGS]
    assert places == sorted(places)
    assert {one.rich_help_panel for one in ROOT.commands.values()} == set(HEADINGS)
