"""The process of a run: does one task that it reads from its input, and tells how far it is, line by line of JSON.

A run has a process of its own so that it can be cancelled at any moment, cannot slow the screens down, and takes its
memory with it when it ends. It ends when its input closes: when the studio goes, however that happens.
"""

from __future__ import annotations

import _thread
import contextlib
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from hedgerow.errors import HedgerowError, Problem, kind_and_place
from hedgerow.outside import children
from hedgerow.outside.outputs.moment import Interrupted, begin, interrupt, tell_also
from hedgerow.types import Progress

EVERY_SECONDS = 0.1
GRACE_SECONDS = 10.0


def make_release(task: Mapping[str, Any], tell: Progress) -> dict[str, Any]:
    """Make a release into a folder, which is checked on the way, and pick records to look at."""
    from hedgerow.api import anonymize
    from hedgerow.studio.before_after import before_and_after

    release = anonymize(task["data"], task["plan"], task["output"], progress=tell, population=task.get("population"))
    assert release.verification is not None
    shown = before_and_after(release, task["data"])
    return {"facts": release.told, "verification": release.verification.to_dict(), "before_after": shown}


def compare_patterns(task: Mapping[str, Any], tell: Progress) -> dict[str, Any]:
    """Make the release of a plan once more and measure what patterns of the original survive in it."""
    from hedgerow.api import compare
    from hedgerow.plan import Plan

    plan = _peopled(Plan.load(task["plan"]), task)
    found = compare(task["data"], plan, methods=["plan"], target=task["target"], progress=tell)
    return found.to_dict()


def attack_release(task: Mapping[str, Any], tell: Progress) -> dict[str, Any]:
    """Attack a release with what somebody may know."""
    from hedgerow.evaluation.attacking import attack

    known = {name: task[name] for name in ("columns", "knowledge", "key")}
    return attack(task["release"], task["data"], **known, progress=tell).to_dict()


def compare_analyses(task: Mapping[str, Any], tell: Progress) -> dict[str, Any]:
    """Work out from the original and from the release what analysts would."""
    from hedgerow.evaluation.analysing import utility

    tell("comparing analyses", 0, 0)
    return utility(task["release"], task["data"], regress=task["regress"]).to_dict()


def list_nodes(task: Mapping[str, Any], tell: Progress) -> dict[str, Any]:
    """List nodes of the lattice, with what their releases would be like."""
    from hedgerow.api import lattice
    from hedgerow.plan import Plan

    plan = _peopled(Plan.from_dict(task["plan"], base=None), task)
    wish = {name: task[name] for name in ("which", "sort", "most")}
    return lattice(task["data"], plan, **wish, progress=tell).to_dict()


def try_leaving_out(task: Mapping[str, Any], tell: Progress) -> dict[str, Any]:
    """Try what leaving out each column that another tells of would save."""
    from hedgerow.api import leave_out
    from hedgerow.plan import Plan

    plan = _peopled(Plan.from_dict(task["plan"], base=None), task)
    return leave_out(task["data"], plan, progress=tell).to_dict()


def _peopled(plan: Any, task: Mapping[str, Any]) -> Any:
    """Return a plan with the table of the population, if there is one."""
    return plan if task.get("population") is None else plan.counting_in(task["population"])


def write_report(task: Mapping[str, Any], tell: Progress) -> dict[str, Any]:
    """Write the report of a release."""
    from hedgerow.reports.reporting import report
    from hedgerow.reports.sign_off import SignOff

    made = report(
        task["release"],
        task["output"],
        original=task.get("data"),
        sign_off=SignOff(**task["sign_off"]),
        threshold=task["threshold"],
        audience=task.get("audience"),
        form=task.get("form", "page"),
        progress=tell,
    )
    return {"kept": made.kept}


def maintain(task: Mapping[str, Any], tell: Progress) -> dict[str, Any]:
    """Change a maintained release, or look at it."""
    from hedgerow.maintenance import create_release, open_release

    verb, data = task["verb"], task.get("data")
    if verb == "create":
        with create_release(data, task["plan"], task["store"], progress=tell) as made:
            return {"verb": verb, "version": made.head, "changed": True, "store": task["store"]}
    with open_release(task["store"], progress=tell) as release:
        if verb == "audit":
            return {"verb": verb, "republish": release.plan.republish, **release.audit().to_dict()}
        if verb == "export":
            tell("exporting", 0, 0)
            release.export(task["version"], task["output"])
            return {"verb": verb, "version": task["version"], "output": task["output"]}
        if verb not in CHANGES:
            raise HedgerowError(Problem("usage", "There is no such change of a release."))
        before = release.head
        change = getattr(release, verb)
        change(data) if verb in WITH_RECORDS else change()
        return {"verb": verb, "version": release.head, "changed": release.head > before}


WITH_RECORDS = ("insert", "delete", "update")
CHANGES = (*WITH_RECORDS, "optimize", "restart")
TASKS: dict[str, Callable[[Mapping[str, Any], Progress], dict[str, Any]]] = {
    "release": make_release,
    "analyses": compare_analyses,
    "attack": attack_release,
    "patterns": compare_patterns,
    "nodes": list_nodes,
    "leaving-out": try_leaving_out,
    "report": write_report,
    "maintain": maintain,
}


def main() -> None:
    """Do the task."""
    os.umask(0o077)
    signal.signal(signal.SIGTERM, lambda *_: interrupt())
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if len(sys.argv) > 1:
        children.confine(int(sys.argv[1]))
    task = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_input, daemon=True).start()
    try:
        begin()
        tell_also(lambda what: _say(happened=what))
        _say(result=TASKS[task["task"]](task, _Teller()))
    except HedgerowError as error:
        _say(problems=[problem.to_dict() for problem in error.problems])
    except (Interrupted, KeyboardInterrupt):
        sys.exit(130)
    except MemoryError:
        _say(problems=[Problem("usage", "There is not enough memory for this table.").to_dict()])
    except Exception as error:  # its text may hold cells of the data, so only its kind and place are told
        hint = "please report this line; it holds nothing of your data"
        _say(problems=[Problem("internal", f"Internal error ({kind_and_place(error)}).", hint=hint).to_dict()])


class _Teller:
    """Passes progress on, not too often."""

    def __init__(self) -> None:
        self._doing, self._told = "", 0.0

    def __call__(self, doing: str, done: int, total: int) -> None:
        now = time.monotonic()
        if doing != self._doing or now - self._told > EVERY_SECONDS:
            self._doing, self._told = doing, now
            _say(doing=doing, done=done, total=total)


def _say(**what: Any) -> None:
    with contextlib.suppress(BrokenPipeError):
        print(json.dumps(what, default=float), flush=True)


def _end_with_input() -> None:
    sys.stdin.read()
    _thread.interrupt_main()
    time.sleep(GRACE_SECONDS)
    os._exit(130)


if __name__ == "__main__":
    main()
