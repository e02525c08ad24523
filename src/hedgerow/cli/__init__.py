"""The command line: a thin face over :mod:`hedgerow.api`; no domain logic.

May import: everything. Start reading at ``app.py``.
"""

from __future__ import annotations


def main() -> None:
    """Run the command line; the entry point of ``hedgerow``."""
    from hedgerow.outside.working_folder import forget_working_folder

    forget_working_folder()
    from hedgerow.cli.scarcity import run

    run()
