"""What can go wrong, said once.

The tree of exceptions::

    HedgerowError            exit code 2
    ├── PlanError            the plan asks for something it cannot mean      exit code 2
    ├── DataError            the data, or a place to write to, cannot be used exit code 2
    ├── NoSolution           nothing can be released within the plan         exit code 3
    ├── BrokenPromise        a release does not keep what its plan promises  exit code 1
    └── DoneBut              it is done, but something after that went wrong exit code 4

Every error is a list of :class:`Problem`: what, where, and what to do. A problem never holds a value taken from a
record, because it may identify someone: it names the column, the row number and the rule. Names of columns come from
the data too: it names those that the plan names or the user typed, and counts the others. What is not seen but does
something, such as an escape sequence in the name of a file, is escaped.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

CODES: dict[str, str] = {
    # plan
    "yaml": "the plan is not readable as YAML",
    "unknown-key": "the plan has a key that Hedgerow does not know",
    "missing-key": "the plan lacks a key it needs",
    "wrong-value": "a value in the plan is not of the kind its key wants",
    "conflict": "two statements of the plan contradict each other",
    "no-quasi-identifier": "no column is a quasi-identifier, so there is nothing to protect by",
    "k-too-small": "k is below 2, which protects nobody",
    "unknown-limit": "a limit names a node that the hierarchy does not have",
    "limit-level": "a level that the hierarchy does not have, or not as many as it has",
    "limit-kind": "this kind of limit does not go with this kind of attribute",
    # hierarchy
    "hierarchy-file": "a hierarchy file cannot be read",
    "hierarchy-empty": "a hierarchy has no leaf",
    "two-parents": "a node of a hierarchy has two parents",
    "cycle": "a node of a hierarchy is its own ancestor",
    "two-roots": "a hierarchy has more than one root",
    "ambiguous-label": "one label names two different nodes of a hierarchy",
    "value-is-node": "a node of a hierarchy is both a value and a group of values",
    "bands": "band widths or cut points do not nest",
    "unknown-node": "a hierarchy was asked for a node that it does not have",
    # data
    "no-file": "a file or folder does not exist or cannot be opened",
    "format": "the kind of data is not one that Hedgerow reads",
    "unreadable-file": "a file is so damaged that reading it failed",
    "too-much": "something is larger, deeper or longer, or takes more memory or time to read, than is allowed",
    "encoding": "the bytes of a file are not text in the stated encoding",
    "ragged": "rows of a file do not have as many cells as its header",
    "duplicate-column": "two columns have the same name",
    "no-header": "what should be the names of columns looks like a record",
    "missing-column": "the plan names a column that the data does not have",
    "empty": "the table has no records",
    "point": "a point from which on values are not told apart cannot be found in the data",
    "no-leaf": "values of a column have no leaf in its hierarchy",
    "not-a-number": "values of a numeric column are not numbers",
    "too-precise": "the numbers of a column have more digits than can be computed with exactly",
    "no-person": "records without a person key",
    "no-unit": "records without the key of a unit",
    "differs-in-unit": "a column that the plan says is the same for all records of a unit is not",
    "output": "the output cannot be written to the place asked for",
    "output-in-use": "the output holds something already",
    "not-a-set": "values of a column hold the sign between those of a set, or are too many for sets",
    "not-a-release": "a folder is not a release that Hedgerow wrote",
    "key": "a file does not hold the key that signing needs, or does not keep it secret",
    # store
    "no-store": "there is no store at the address given",
    "store-exists": "there is a store already where one was to be begun",
    "not-a-store": "a file or a schema holds something that is not a store",
    "store-newer": "a store was written by a newer Hedgerow",
    "store-changed": "somebody else has changed a store meanwhile",
    "store-busy": "somebody else is using a store and is not done in time",
    "store-damaged": "a store is not as Hedgerow wrote it",
    "store-text": "a text holds a character that a database cannot keep",
    "store-address": "the address of a store cannot be understood",
    "no-version": "a store does not have the version asked for",
    "no-key": "records without a key",
    "duplicate-key": "a key names more than one record",
    "no-such-key": "a key names no record of the release",
    "other-plan": "a release was created with another plan",
    "erased": "people were erased without whom a version cannot be made again",
    "republish": "the plan does not let a new version change this",
    "no-connection": "a database cannot be reached, or does not let us in",
    "no-population": "a table of the population cannot be counted in, or records are of nobody in it",
    "table-address": "the address of a table on a server is not understood",
    "no-table": "the server has no such table",
    "no-right": "the role has no right to do this",
    "not-applicable": "the release is of a kind that cannot be applied to another table",
    "no-memory": "the memory that may be taken is not enough for the work",
    # no solution
    "too-few-records": "the table has fewer records than k",
    "too-few-values": "a sensitive column has fewer different values than p",
    "too-many-nodes": "the lattice is too large to be laid out",
    "all-withheld": "the limits would withhold every record",
    "no-node": "no node of the lattice meets the plan",
    "chosen-node": "the node of the lattice that the owner chose does not meet the plan",
    "withhold-budget": "more records must be withheld than the plan allows",
    "audit": "holders of all versions could learn too much from the next one",
    # broken promise
    "broken-promise": "a release does not keep what its plan promises",
    # done, but
    "done-but": "what was asked is done, but something after that went wrong",
    "in-doubt": "whether what was asked is done could not be found out",
    # usage
    "usage": "a command or function was called with arguments it does not take",
    # the studio
    "users": "the users file of a studio, a name or a password is not as it must be",
    "internal": "something went wrong that was not foreseen",
}


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong: what, where, and what to do.

    Examples
    --------
    >>> print(Problem("k-too-small", "'k' must be at least 2. Got 1 instead.", place="plan.yaml:7:11"))
    plan.yaml:7:11: 'k' must be at least 2. Got 1 instead. [k-too-small]
    """

    code: str
    message: str
    place: str = ""
    hint: str = ""

    def __post_init__(self) -> None:
        if self.code not in CODES:
            raise ValueError(f"undocumented problem code {self.code!r}")
        for part in ("message", "place", "hint"):
            object.__setattr__(self, part, escape_text(getattr(self, part)))

    def to_dict(self) -> dict[str, str]:
        """Return the problem as plain data, as ``--json`` prints it."""
        return asdict(self)

    def __str__(self) -> str:
        text = f"{self.place}: " if self.place else ""
        text += f"{self.message} [{self.code}]"
        return text + (f"\n  hint: {self.hint}" if self.hint else "")


def kind_and_place(error: BaseException) -> str:
    """Say what kind of error it was, and where; its text may hold values of records, and is left out."""
    import traceback
    from pathlib import Path

    steps = traceback.extract_tb(error.__traceback__)
    place = f" at {Path(steps[-1].filename).name}:{steps[-1].lineno}" if steps else ""
    return f"{type(error).__name__}{place}"


class HedgerowError(Exception):
    """Base of every error Hedgerow raises on purpose; holds one or more problems."""

    exit_code = 2

    def __init__(self, problems: Problem | Iterable[Problem]) -> None:
        self.problems = (problems,) if isinstance(problems, Problem) else tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))
        self.__suppress_context__ = True  # the error that was being handled may quote cells, and would be shown first


class PlanError(HedgerowError):
    """The plan asks for something it cannot mean."""


class DataError(HedgerowError):
    """The data, or the place to write to, cannot be used."""


class NoSolution(HedgerowError):
    """Nothing can be released within the plan; says what blocks."""

    exit_code = 3


class BrokenPromise(HedgerowError):
    """A release does not keep what its plan promises."""

    exit_code = 1


class DoneBut(HedgerowError):
    """What was asked is done, but something after that went wrong; or nobody knows whether it is done.

    Every other error means that nothing has changed.
    """

    exit_code = 4


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Offer the nearest known word, or list the known ones when they are few. None of them may come from data.

    Examples
    --------
    >>> did_you_mean("sensitiv", ["identifier", "sensitive"])
    "did you mean 'sensitive'?"
    """
    candidates = list(known)
    near = difflib.get_close_matches(word, candidates, n=1, cutoff=0.6)
    if near:
        return f"did you mean {near[0]!r}?"
    if 0 < len(candidates) <= 12:
        return "known here: " + ", ".join(candidates)
    return ""


def how_to_install(extra: str) -> str:
    """Say how to install what a part of Hedgerow needs: from its checkout, since no package index has it.

    Examples
    --------
    >>> "pip install" in how_to_install("studio") and "[studio]" in how_to_install("studio")
    True
    """
    import shlex
    import sys
    from pathlib import Path

    checkout = Path(__file__).parents[2]
    install = f"{shlex.quote(sys.executable)} -m pip install"
    if (checkout / "pyproject.toml").is_file():
        return f"{install} -e {shlex.quote(f'{checkout}[{extra}]')}"
    return f"in a checkout of Hedgerow: {install} '.[{extra}]'"


# -- other people's texts --------------------------------------------------------------------------------------------
#
# Names of files, columns, labels, rules and tables are other people's texts. One may hold what a terminal obeys
# (escape sequences), what turns the direction of writing round, a line of its own making, or half of a character,
# which cannot be written at all. All that Hedgerow prints goes through here.

# Control characters, lone surrogates, separators of lines and paragraphs, and what is there to format and is not
# seen. Joiners (U+200C, U+200D) stay: Persian, Hindi and families of emoji are written with them.
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f]"
)


def escape_text(text: str, keep: str = "") -> str:
    r"""Write characters that are not seen but do something as Python would; ``keep``: those that are ours.

    Examples
    --------
    >>> print(escape_text("red\x1b[31m\nline\u202e"))
    red\x1b[31m\nline\u202e
    """
    return _UNSEEN.sub(lambda found: found[0] if found[0] in keep else _as_python(found[0]), text)


def escape_data(value: Any) -> Any:
    r"""Escape every text in plain data, keys too.

    Examples
    --------
    >>> escape_data({"name\n": ["a\x07", 3]})
    {'name\\n': ['a\\x07', 3]}
    """
    if isinstance(value, str):
        return escape_text(value)
    if isinstance(value, Mapping):
        return {escape_data(key): escape_data(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [escape_data(part) for part in value]
    return value


def escape_json(text: str) -> str:
    r"""Write such characters in JSON text, where they stand in strings only, as JSON escapes them.

    Examples
    --------
    >>> print(escape_json('{"name": "a\u202eb"}'))
    {"name": "a\u202eb"}
    """
    return _UNSEEN.sub(lambda found: found[0] if found[0] == "\n" else _as_json(found[0]), text)


def _as_python(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def _as_json(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
