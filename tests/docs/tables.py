"""Tables of the documentation that are made from descriptors. ``python -m tests.docs.tables`` writes them anew."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from hedgerow.engines.descriptor import AUTO, ENGINES
from hedgerow.plan.concepts import MEASURES, METHODS, PRIVACY_MODELS
from hedgerow.plan.formats import FILE_FORMATS
from hedgerow.plan.hierarchy.kind import HIERARCHY_KINDS

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
BETWEEN = "<!-- generated: {} -->\n\n{}\n<!-- end -->"


def file_formats() -> str:
    """Say how tables are read from files, and in which formats releases are written."""
    rows = []
    for one in FILE_FORMATS:
        endings = _code(one.endings) + (", and any that no other has" if one.any_ending else "")
        released = _code([one.released_file]) if one.writer else "no"
        rows.append((one.title, _code([one.name]), endings, _code(one.options) or "none", released, one.help))
    return _table(("kind", "`data.format`", "endings", "its keys of `data`", "release", "notes"), rows)


def hierarchy_kinds() -> str:
    """Say what stands under ``hierarchy`` in a plan."""
    rows = ((_code([one.name]), one.help, one.example) for one in HIERARCHY_KINDS)
    return _table(("key", "value", "example: value → levels"), rows)


def engines() -> str:
    """Say where the work can be done."""
    rows = []
    for one in ENGINES:
        asked = _code([f"--engine {one.name}"]) if one.by_name else "by the address of DATA alone"
        own = _code(f"--{name.replace('_', '-')}" for name in one.options) or "none"
        rows.append((one.title, asked, one.reads, own, "yes" if one.numbers_records else "no"))
    rows.append(("the one that suits DATA", _code([f"--engine {AUTO}"]), "the last above that does", "", ""))
    return _table(("engine", "asked for by", "reads", "its options", "`--link`"), rows)


def privacy_models() -> str:
    """Say which demands on sensitive columns a plan can make."""
    return _table(
        ("key", "name", "what it asks of every group"),
        ((_code([one.name]), one.title, one.help) for one in PRIVACY_MODELS),
    )


def methods() -> str:
    """Say by which methods releases are made, and what each takes."""
    rows = []
    for one in METHODS:
        own = _code(sorted(one.options)) or "none"
        goals = _code(one.objectives) if "objective" in one.options else f"its own: {_code(one.objectives)}"
        rows.append((_code([one.name]), one.help, own, goals, _code(variant.name for variant in one.variants)))
    return _table(("name", "what it does", "its keys", "objectives", "in `compare`"), rows)


def measures() -> str:
    """Say what is measured of a release."""
    rows = []
    for one in MEASURES:
        better = "more" if one.more_is_better else "less"
        rows.append((_code([one.name]), one.title, one.help, better, _code([one.objective]) if one.objective else ""))
    return _table(("fact", "name", "what it says", "better", "as `objective`"), rows)


def words_of_models() -> str:
    """Say in a sentence what each privacy model means."""
    return _table(
        ("word", "meaning"), ((f"{one.title} ({_code([one.name])})", one.meaning or one.help) for one in PRIVACY_MODELS)
    )


def words_of_measures() -> str:
    """Say in a sentence what each measure means."""
    return _table(
        ("word", "meaning"), ((f"{one.title} ({_code([one.name])})", one.meaning or one.help) for one in MEASURES)
    )


TABLES: dict[str, tuple[str, Callable[[], str]]] = {
    "file formats": ("files.md", file_formats),
    "hierarchy kinds": ("plan.md", hierarchy_kinds),
    "engines": ("command-line.md", engines),
    "privacy models": ("plan.md", privacy_models),
    "methods": ("plan.md", methods),
    "measures": ("facts.md", measures),
    "words of privacy models": ("glossary.md", words_of_models),
    "words of measures": ("glossary.md", words_of_measures),
}


def renewed(name: str) -> tuple[Path, str]:
    """Return the page of a table, and what it should be."""
    page, make = TABLES[name]
    path = REFERENCE / page
    pattern = re.compile(re.escape(f"<!-- generated: {name} -->") + r".*?<!-- end -->", re.DOTALL)
    text, found = pattern.subn(lambda _: BETWEEN.format(name, make()), path.read_text(encoding="utf-8"))
    if found != 1:
        raise ValueError(f"{page} must have one place for {name!r}, between marks")
    return path, text


def _code(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    def lines() -> Iterator[str]:
        yield "| " + " | ".join(head) + " |"
        yield "|" + "---|" * len(head)
        for row in rows:
            yield "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"

    return "\n".join(lines()) + "\n"


if __name__ == "__main__":
    for each in TABLES:
        place, content = renewed(each)
        place.write_text(content, encoding="utf-8")
