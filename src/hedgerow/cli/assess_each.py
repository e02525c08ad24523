"""``hedgerow assess`` on each of several tables, for pre-commit and for workflows, which hand over lists of files."""

from __future__ import annotations

import sys
from collections.abc import Sequence

USAGE = "usage: hedgerow-assess [PLAN] [options of hedgerow assess] -- FILE …"
STOPPED = 130


def main(arguments: Sequence[str] | None = None) -> None:
    """Assess every table with the same options, and exit with the worst of the codes: 1 if one lacks what is required.

    What stands before ``--`` goes to ``hedgerow assess``, what stands behind it are tables.
    """
    from hedgerow.cli.printing import say
    from hedgerow.outside.server import shown
    from hedgerow.outside.working_folder import forget_working_folder

    forget_working_folder()
    words = list(sys.argv[1:] if arguments is None else arguments)
    if "--" not in words:
        say(USAGE, error=True)
        sys.exit(2)
    at = words.index("--")
    worst = 0
    for table in words[at + 1 :]:
        say("")
        say(shown(table), flush=True)
        code = _assess(table, words[:at])
        if code == STOPPED:
            sys.exit(code)
        worst = max(worst, code)
    sys.exit(worst)


def _assess(table: str, options: Sequence[str]) -> int:
    from hedgerow.cli.run import run

    try:
        run(["assess", f"./{table}" if table.startswith("-") else table, *options])
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0
