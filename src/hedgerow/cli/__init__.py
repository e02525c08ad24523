"""The command line: a thin face over :mod:`hedgerow.workflow`."""

from __future__ import annotations


def main() -> None:
    """Run the command line; the entry point of ``hedgerow``."""
    from hedgerow.working_folder import forget_working_folder

    forget_working_folder()
    from hedgerow.cli.scarcity import run

    run()
