"""A release that stays current, drawn for a terminal: its changes, its history, the audit, the check of its store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from hedgerow.reports.terminal.parts import titled
from hedgerow.reports.terminal.release import verification_summary
from hedgerow.reports.versions import ADVICE, AS_IT_IS, audit_checks, kept_wide
from hedgerow.reports.wording import NONE, counted, first_of

STEPS = {  # what is said of each step of a change: of one, of several
    "joined": ("1 record joined one", "{:,} records joined one"),
    "borrowed": ("1 borrowed a record", "{:,} borrowed a record"),
    "split": ("1 split", "{:,} split"),
    "dissolved": ("1 dissolved", "{:,} dissolved"),
    "broken": ("1 taken apart because others cover it", "{:,} taken apart because others cover them"),
    "formed": ("1 formed anew", "{:,} formed anew"),
    "merged": ("1 merged with another", "{:,} merged with others"),
    "withdrawn": ("1 record withdrawn with its group", "{:,} records withdrawn with their groups"),
    "moved": ("1 record moved", "{:,} records moved"),
    "swapped": ("1 pair of records swapped", "{:,} pairs of records swapped"),
    "raised": ("1 level up", "{:,} levels up"),
    "lowered": ("1 level down", "{:,} levels down"),
    "regrouped": ("1 made by regrouping", "{:,} made by regrouping"),
}
CAME = {"inserted": "came", "deleted": "left", "updated": "changed"}
NOT_RELEASED = {
    "held_back": "held back until they can be hidden",
    "withdrawn": "withdrawn for good",
    "withheld": "withheld, with a value that has no leaf",
}


# ---- changes ---------------------------------------------------------------------------------------------------------


def change_summary(found: Mapping[str, Any]) -> RenderableType:
    """Show what came of a change: the new version, or that nothing had to be changed."""
    if not found["changed"]:
        return Text(f"Nothing to change: {AS_IT_IS[found['asked']]}. Version {found['version']} stays the newest.")
    counts, before = found["counts"], found["before"]
    lines = Table.grid(padding=(0, 2))
    lines.add_row("version", f"{found['version']}, by {found['verb']}{_who(counts)}")
    lines.add_row("records", f"{_from_to(before, 'records', counts)}; {counts['released']:,} released")
    for name, words in NOT_RELEASED.items():
        if counts[name] or (before is not None and before["counts"][name]):
            lines.add_row("", f"{_from_to(before, name, counts)} {words}")
    lines.add_row("groups", "; ".join([_from_to(before, "groups", counts), *_steps(counts["steps"])]))
    lines.add_row("loss", _loss(found))
    if wide := kept_wide(found["scores"]):
        lines.add_row("", wide)
    verified = Text("every promise is kept", style="green") if found["verified"] else Text("BROKEN", style="bold red")
    lines.add_row("verified", verified)
    if said := _covered(found["covered"]):
        lines.add_row("", said)
    lines.add_row("drift", _drift(found))
    lines.add_row("all versions", _leaks(found))
    return lines if not found["start_over"] else Group(lines, Text(), _advice(found))


def _covered(covered: Mapping[str, Any]) -> str:
    """Say what a check in part looked at."""
    if covered["how"] == "full":
        return ""
    looked = f"{covered['changed']:,} groups that changed and {covered['read_again']:,} others were counted again"
    return f"{looked}; the rest was in version {covered['last_full']}"


def _who(counts: Mapping[str, Any]) -> str:
    told = [f"{counted(counts[name], 'record')} {word}" for name, word in CAME.items() if counts[name]]
    return ": " + ", ".join(told) if told else ""


def _from_to(before: Mapping[str, Any] | None, name: str, counts: Mapping[str, Any]) -> str:
    """A number, after the one before it if that was another."""
    if before is None or before["counts"][name] == counts[name]:
        return f"{counts[name]:,}"
    return f"{before['counts'][name]:,} → {counts[name]:,}"


def _steps(steps: Mapping[str, int]) -> Iterator[str]:
    told = [
        one if steps[name] == 1 else many.format(steps[name]) for name, (one, many) in STEPS.items() if steps.get(name)
    ]
    if told:
        yield ", ".join(told)


def _loss(found: Mapping[str, Any]) -> str:
    now = found["scores"]["ntil"]
    return f"{now:.4f} of 1 (NTIL)" if found["before"] is None else f"{found['before']['ntil']:.4f} → {now:.4f} (NTIL)"


def _drift(found: Mapping[str, Any]) -> RenderableType:
    scores = found["scores"]
    if scores["drift"] is None:
        lossless = scores["fresh_ntil"] is not None
        return "a release made afresh would lose nothing" if lossless else "not known at this size"
    if found["verb"] in ("create", "restart"):
        return "none: it was just made afresh"
    about = "" if scores["exact"] else "about "
    fresh = f"a release made afresh, which would lose {about}{scores['fresh_ntil']:.4f}"
    if round(scores["drift"], 3) == 0:
        return f"none: it loses as much as {fresh}"
    side = "above" if scores["drift"] > 0 else "below"
    return Text(f"{about}{abs(scores['drift']):.1%} {side} {fresh}", style="yellow" if found["start_over"] else "")


def _advice(found: Mapping[str, Any]) -> Text:
    share = f"{found['advise_above']:.1%}".replace(".0%", "%")
    told = f"The loss is more than {share} above that of a fresh release, as the plan's 'drift' asks to be told."
    if found["republish"] in ("only-coarser", "cohorts"):
        why = f"The plan says 'republish: {found['republish']}', so people cannot be grouped anew in this store."
        return Text(f"{told} {why}", style="yellow")
    how = "To start over: hedgerow release restart. It groups everybody anew, "
    how += "so the audit may refuse it." if found["republish"] == "gated" else "so look at the audit afterwards."
    return Text(f"{told} {how}", style="yellow")


def _leaks(found: Mapping[str, Any]) -> RenderableType:
    audit = found["audit"]
    if not audit:
        return Text("not audited: run hedgerow release audit", style="yellow")
    if not audit["leaks"]:
        if audit["versions"] == 1:
            return "this is the only one, so there is nothing to compare it with"
        return Text(f"whoever holds {_all(audit)} learns too much about nobody", style="green")
    told = f"whoever holds {_all(audit)} could learn too much about {_of_people(audit)}"
    return Text(f"{told}; see hedgerow release audit", style="yellow")


def erasure_warning(people: int) -> RenderableType:
    """Say what erasing does, before it is done."""
    who = counted(people, "person", "people")
    return Text(
        f"This erases {who} from the private tables of every version: their records, and which groups they were in. "
        "Who is still in the release is deleted from it first, which makes a new version. "
        "Versions that they were in can be exported no more. What was published stays. It cannot be undone."
    )


def erasure_summary(found: Mapping[str, Any]) -> RenderableType:
    """Show what was erased."""
    who = counted(found["people"], "person", "people")
    rows = counted(found["rows"], "row")
    done = Text(f"erased: {rows} about {who}, from the private tables of all versions")
    if not found["rows"]:
        done = Text("Nothing to erase: no version has any of these keys (any more). The store was cleaned once more.")
    kept = Text("Backups of the store, files that were exported and link tables still have them.", style="dim")
    deletion = [] if found["deletion"] is None else [change_summary(found["deletion"]), Text()]
    return Group(*deletion, done, kept)


# ---- history ---------------------------------------------------------------------------------------------------------


def history_summary(found: Mapping[str, Any]) -> RenderableType:
    """Show every version in a line."""
    table = Table(box=None, padding=(0, 1), collapse_padding=True, pad_edge=False)
    table.add_column("version", justify="right", no_wrap=True)
    table.add_column("made (UTC)", min_width=10)  # date and time go below each other where room is short
    table.add_column("by", no_wrap=True)
    for name in ("records", "+", "−", "~", "held\nback", "groups", "NTIL", "drift", "leaks"):
        table.add_column(name, justify="right", no_wrap=True)
    threshold = found["advise_above"]
    for row in found["versions"]:
        counts, drift = row["counts"], row["scores"]["drift"]
        far = drift is not None and threshold is not None and drift > threshold
        leaks = row["audit"].get("leaks")
        table.add_row(
            str(row["version"]),
            row["made_at"][:16].replace("T", " "),
            row["verb"],
            f"{counts['records']:,}",
            *(f"{counts[name]:,}" if counts[name] else "" for name in CAME),
            f"{counts['held_back'] + counts['withdrawn'] + counts['withheld']:,}",
            f"{counts['groups']:,}",
            f"{row['scores']['ntil']:.4f}",
            Text(_signed(drift), style="yellow" if far else ""),
            Text(NONE if leaks is None else f"{leaks:,}", style="yellow" if leaks else ""),
        )
    return Group(table, Text(), *_legend(found))


def _legend(found: Mapping[str, Any]) -> Iterator[Text]:
    yield Text("+ came, − left, ~ changed; held back: all that are not released.", style="dim")
    drift = "drift: loss against a release made afresh"
    if found["advise_above"] is not None:
        drift += f"; the plan advises to start over above {found['advise_above']:.1%}".replace(".0%", "%")
    yield Text(f"{drift}.", style="dim")
    leaks = "leaks: people of whom holders of all versions up to this one could learn too much"
    unknown = any(not row["audit"] for row in found["versions"])
    yield Text(leaks + (f"; {NONE} not audited by the Hedgerow that made it." if unknown else "."), style="dim")
    newest = found["versions"][-1]
    drift_now = newest["scores"]["drift"]
    if found["advise_above"] is not None and drift_now is not None and drift_now > found["advise_above"]:
        yield Text()
        yield _advice(found)


# ---- difference ------------------------------------------------------------------------------------------------------


def diff_summary(found: Mapping[str, Any]) -> RenderableType:
    """Show what changed between two versions."""
    first, last = f"version {found['from']}", f"version {found['to']}"
    table = titled(f"from {first} to {last}", "", numbers=(first, last))
    for name in ("records", "released", "held_back", "withdrawn", "withheld", "groups"):
        then, now = (found["counts"][side][name] for side in ("from", "to"))
        if then or now:
            table.add_row(name.replace("_", " "), f"{then:,}", f"{now:,}")
    table.add_row("loss (NTIL)", *(f"{found['ntil'][side]:.4f}" for side in ("from", "to")))
    lines = Table.grid(padding=(0, 2))
    people, groups = found["people"], found["groups"]
    lines.add_row("published people", f"{people['came']:,} came, {people['left']:,} left")
    stayed = f"{people['stayed_in_their_group']:,} are published as before, {people['changed_groups']:,} otherwise"
    lines.add_row("", stayed)
    lines.add_row("groups", f"{groups['came']:,} came, {groups['vanished']:,} vanished")
    lines.add_row("", f"{groups['unchanged']:,} are as they were, {groups['changed']:,} have other members or values")
    return Group(table, Text(), lines)


# ---- audit -----------------------------------------------------------------------------------------------------------


def audit_summary(found: Mapping[str, Any]) -> RenderableType:
    """Show what holders of all versions could learn, check by check, and what to do."""
    versions = {1: "the only version", 2: "both versions"}.get(found["versions"], f"all {found['versions']:,} versions")
    question = (
        f"What could somebody learn who holds {versions}, knows a person's quasi-identifiers, and knows in "
        "which of them the person is?"
    )
    if found["leaks"]:
        broken = found["republish"] in ("gated", "cohorts")
        verdict = Text(f"Too much about {_of_people(found)}.", style="bold red" if broken else "bold yellow")
    else:
        verdict = Text(f"Too much about nobody, of {found['people']:,} people who were published.", style="green")
    table = Table(box=None, padding=(0, 2), pad_edge=False)
    table.add_column("")
    table.add_column("check", overflow="fold")
    table.add_column("asked", justify="right")
    table.add_column("worst", justify="right")
    table.add_column("people who fail", justify="right")
    meanings = Table.grid(padding=(0, 2))
    for name, asked, worst, failing, meaning in audit_checks(found):
        mark = (
            Text("·", style="dim")
            if failing is None
            else Text("✗", style="bold red")
            if failing
            else Text("✓", style="green")
        )
        table.add_row(mark, name, asked, worst, NONE if failing is None else f"{failing:,}")
        meanings.add_row(Text(name, style="dim"), Text(meaning, style="dim"))
    return Group(Text(question), verdict, Text(), table, Text(), meanings, *_what_to_do(found))


def _what_to_do(found: Mapping[str, Any]) -> Iterator[RenderableType]:
    if not found["leaks"]:
        return
    yield Text()
    if found["republish"] in ("gated", "cohorts"):
        yield Text(
            f"The plan says 'republish: {found['republish']}', so this must not be. Do not hand out the newest "
            "version, and run hedgerow release check."
        )
        return
    yield Text("what to do", style="bold")
    lines = Table.grid(padding=(0, 1))
    for told in ADVICE:
        lines.add_row("-", told)
    yield lines


def _of_people(audit: Mapping[str, Any]) -> str:
    share = audit["leaks"] / audit["people"] if audit["people"] else 1
    who = counted(audit["leaks"], "person", "people")
    return f"{who} ({min(share, 1):.1%} of {audit['people']:,})"


# ---- check -----------------------------------------------------------------------------------------------------------


def check_summary(found: Mapping[str, Any]) -> RenderableType:
    """Show whether the store is as it was written, and which promises its newest version keeps."""
    versions = "version 1" if found["head"] == 1 else f"versions 1 to {found['head']}"
    if found["chain"]:
        chain = Text(f"{versions}: as they were written", style="green")
    else:
        broken = first_of([str(number) for number in found["broken_versions"]], 8)
        chain = Text(
            f"CHANGED since it was written: version {broken}. Go back to a copy that is whole.", style="bold red"
        )
    told = Text("chain of hashes  ") + chain
    problems = found["verification"].get("problems", [])
    if problems:
        words = [Text(f"version {found['head']}: {problem['message']}", style="bold red") for problem in problems]
        return Group(told, *words)
    return Group(
        told, Text(), Text(f"promises of version {found['head']}"), verification_summary(found["verification"])
    )


# ---- words -----------------------------------------------------------------------------------------------------------


def _signed(share: float | None) -> str:
    if share is None:
        return NONE
    return f"{share:+.1%}" if round(share, 3) else "0.0%"


def _all(audit: Mapping[str, Any]) -> str:
    return {1: "it", 2: "both versions"}.get(audit["versions"], f"all {audit['versions']:,} versions")
