"""Facts, explanations and checks, drawn for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from hedgerow.reports.terminal.parts import and_more, bar, titled
from hedgerow.reports.wording import (
    WITHHELD_BECAUSE,
    columns_left_out,
    counted,
    estimated_line,
    near_the_best,
    shorten,
    solved_exactly,
    units_line,
)


def facts_summary(facts: Mapping[str, Any]) -> RenderableType:
    """Show what a release came to."""
    lines = Table.grid(padding=(0, 2))
    lines.add_row("released", f"{facts['released']:,} of {facts['records']:,} records")
    lines.add_row("withheld", _withheld(facts))
    if "applied" in facts:
        lines.add_row("applied", f"an earlier release of {counted(facts['applied']['groups'], 'group')}")
    if "levels" in facts:
        levels = ", ".join(f"{name} {level}" for name, level in facts["levels"].items())
        lines.add_row("levels", levels)
        lines.add_row("search", _search(facts))
    smallest = f"{facts['smallest_group']:,}"
    if "smallest_group_persons" in facts:
        smallest += f" records, {facts['smallest_group_persons']:,} persons"
    lines.add_row("groups", f"{facts['groups']:,}, the smallest of {smallest} (k = {facts['k']})")
    if "units" in facts:
        lines.add_row("units", units_line(facts["units"], facts["k"]))
    if "solved_exactly" in facts and "units" not in facts:
        lines.add_row("", solved_exactly(facts["solved_exactly"]["records"], facts["released"]))
    if "fewest_people" in facts:
        text = f"at least {facts['fewest_people']:,} of {facts['population']:,} people fit every published combination"
        lines.add_row("population", text)
    if "estimated_risk" in facts:
        lines.add_row("estimated", estimated_line(facts["estimated_risk"]))
    lines.add_row("loss", f"{facts['ntil']:.4f} of 1 (NTIL); NCP {facts['ncp']:.4f}")
    price = facts.get("units", {}).get("ntil_not_linked")
    if price is not None:
        lines.add_row("", f"{price:.4f} (NTIL) if the same records were not linked")
    if "optimality" in facts:
        lines.add_row("optimality", bound_line(facts["optimality"]))
    most = "by the worths that the plan gives" if "worths_given" in facts else "of 1"
    value = f"{facts['research_value']:.4f} {most}; mean over groups {facts['mean_group_value']:.4f}"
    lines.add_row("research value", value)
    if "suppressed_cells" in facts:
        cells = sum(facts["suppressed_cells"].values())
        text = f"{cells:,} cells are released as missing, and a missing cell counts as matching any value"
        lines.add_row("suppressed", Text(text, style="yellow") if cells else text)
        least = facts["least_rows_for_a_known_person"]
        if least is not None and least < facts["k"]:
            rows = "1 row fits" if least == 1 else f"{least:,} rows fit"
            text = f"but only {rows} what somebody may know of a person, fewer than k = {facts['k']}"
            lines.add_row("", Text(text, style="yellow"))
    if facts["limits"] == "ignored":
        lines.add_row(
            "limits", Text(f"ignored as asked: {facts['limits_broken']:,} cells go beyond them", style="yellow")
        )
    else:
        lines.add_row("limits", "none broken" if not facts["limits_broken"] else f"{facts['limits_broken']:,} broken")
    disclosed = facts["attribute_disclosures"]
    if disclosed["by_attribute"]:
        text = f"{disclosed['count']:,} times a group shares one sensitive value"
        lines.add_row("disclosures", Text(text, style="yellow") if disclosed["count"] else text)
    exact = sum(facts.get("exact_end_points", {}).values())
    if exact:
        text = f"{exact:,} cells show the exact value of their record, as an end of an interval; 'snap' would blur them"
        lines.add_row("end points", Text(text, style="yellow"))
    left_out = columns_left_out(facts)
    if left_out:
        lines.add_row("left out", left_out)
    parts: list[RenderableType] = [lines, Text(), _loss_bars(facts)]
    if "rules" in facts:
        parts += [Text(), _rules(facts["rules"])]
    return Group(*parts)


def release_summary(facts: Mapping[str, Any], verdict: Mapping[str, Any]) -> RenderableType:
    """Show what a release came to, and the verdict on it."""
    return Group(facts_summary(facts), Text(), verdict_banner(verdict))


def afresh_line(told: Mapping[str, Any]) -> str:
    """Say what a release made afresh would come to, beside one that takes over earlier groups."""
    loss, withheld = told["afresh"]["ntil"], counted(told["afresh"]["withheld"], "record")
    if loss >= told["ntil"]:
        return f"A release made afresh would be no finer: a loss of {loss:.4f} (NTIL) with {withheld} withheld."
    share = 1 - loss / told["ntil"]
    return f"A release made afresh would lose {share:.0%} less: {loss:.4f} (NTIL) with {withheld} withheld."


def bound_line(optimality: Mapping[str, Any]) -> str:
    """Say in one line what a release loses, and what any loses at least."""
    loss, least = optimality["loss"], optimality["at_least"]
    return f"{near_the_best(optimality)}: {loss:.4f} by {optimality['objective']}, {least:.4f} at least"


def bound_summary(found: Mapping[str, Any]) -> RenderableType:
    """Show how far from the best possible a release is at most, and what that was found out from."""
    lines = Table.grid(padding=(0, 2))
    lines.add_row("released", f"{found['released']:,} of {found['records']:,} records")
    lines.add_row("loss", f"{found['loss']:.6f} of 1 (objective: {found['objective']})")
    lines.add_row("at least", f"{found['at_least']:.6f}, however these records are grouped")
    lines.add_row("so it", near_the_best(found))
    known = f", {found['blocks_solved']:,} of them solved exactly" if found["blocks_solved"] else ""
    lines.add_row("looked at", f"{counted(found['blocks'], 'block')}{known}; {found['boxes']:,} boxes in the end")
    if found["ended_early"]:
        lines.add_row("", Text("ended early: more effort may raise the bound", style="yellow"))
    return lines


def _search(facts: Mapping[str, Any]) -> str:
    """Say what a search of the lattice looked at, and how good its answer is."""
    if facts.get("lattice", {}).get("nodes", facts.get("search", {}).get("strings")) == 1:
        return "none: the plan gives the levels"
    if "lattice" in facts:
        return f"{facts['lattice']['checked']:,} of {facts['lattice']['nodes']:,} nodes looked at"
    if "levels_before" in facts:
        before = ", ".join(f"{name} {level}" for name, level in facts["levels_before"].items())
        return f"kept, or the nearest that hold; the version before had {before}"
    search = facts["search"]
    text = f"{search['name']}: {search['tested']:,} checks, {search['strings']:,} strings of levels; "
    text += f"these levels are worth {facts['score']:.4f}, "
    return text + (
        "proven the most" if search["proven"] else f"not proven the most: none is above {search['bound']:.4f}"
    )


def _rules(rules: Sequence[Mapping[str, Any]]) -> Table:
    """Show which rules are kept and which are broken."""
    table = titled("rules", "rule", numbers=("importance",))
    table.add_column("")
    for rule in rules:
        groups = counted(rule["groups_breaking"], "group")
        state = Text("kept", style="green") if rule["kept"] else Text(f"broken by {groups}", style="yellow")
        table.add_row(rule["name"], str(rule["importance"]), state)
    return table


def association_summary(found: Mapping[str, Any]) -> RenderableType:
    """Show how closely columns go together, and the weights that follow."""
    table = titled("association of quasi-identifiers (0 none, 1 one tells the other)", "", room=1)
    for name in found["columns"]:
        table.add_column(name, justify="right", overflow="fold")
    table.add_column("weight", justify="right", style="bold")
    for name, row in zip(found["columns"], found["association"], strict=True):
        cells = [_shade(share, name == other) for share, other in zip(row, found["columns"], strict=True)]
        table.add_row(name, *cells, f"{found['weights'][name]:.3f}")
    return table


def _shade(share: float, diagonal: bool) -> Text:
    """Write a share on a background that is the darker the greater it is."""
    if diagonal:
        return Text("·", style="dim")
    level = round(255 - 175 * share)
    return Text(f" {share:.2f} ", style=f"black on rgb({level},{round(255 - 60 * share)},{level})")


def _withheld(facts: Mapping[str, Any]) -> str:
    text = f"{facts['withheld']:,} records"
    reasons = facts.get("withheld_because", {})  # known to the owner alone, as is what follows
    because = [f"{count:,} {WITHHELD_BECAUSE[reason]}" for reason, count in reasons.items() if count]
    if because:
        text += f" ({'; '.join(because)})"
    if facts["withheld"] and facts.get("withheld_is_least") and facts["limits"] == "kept":
        text += ", the fewest possible within the limits"
    return text


def _loss_bars(facts: Mapping[str, Any]) -> Table:
    """Show the loss of each attribute as a bar: the share of what it could lose."""
    table = titled("loss by attribute", "attribute", numbers=("share lost",))
    table.add_column("")
    for name, share in facts["share_lost_by_attribute"].items():
        table.add_row(name, f"{share:.3f}", bar(share, 24))
    return table


def explanation_summary(found: Mapping[str, Any]) -> RenderableType:
    """Show what the limits cost before any run."""
    lines = Table.grid(padding=(0, 2))
    lines.add_row("records", f"{found['records']:,} ({found['profiles']:,} different profiles)")
    if found["people"] != found["records"] - found["withheld_unknown"]:
        lines.add_row("persons", f"{found['people']:,}")
    lines.add_row(
        "blocks", f"{found['blocks']:,}; {found['blocks_withheld']:,} are too small (k = {found['k']}) or too uniform"
    )
    share = found["withheld"] / found["records"]
    least = "the fewest possible within the limits" if found["proven"] else "few, but not proven the fewest"
    if found["others_may_not_fit"]:
        least = "and others that fit no group under the models"
    lines.add_row("must be withheld", f"{found['withheld']:,} records ({share:.2%}), {least}")
    if found["allowed"] is not None:
        enough = (
            Text("enough", style="green") if found["withheld"] <= found["allowed"] else Text("too few", style="red")
        )
        lines.add_row("the plan allows", Text(f"{found['allowed']:,} records: ") + enough)
    if found["withheld_unknown"]:
        lines.add_row("", f"{found['withheld_unknown']:,} of them because a value has no leaf")
    lines.add_row("loss at most", f"{found['most_loss']:.4f} of 1 (NTIL), whatever is chosen within the limits")
    if found["in_small_blocks"]:
        text = "records lie in blocks so small that the best possible groups are looked for"
        lines.add_row("small blocks", f"{found['in_small_blocks']:,} {text}")
    for condition in found["conditions"]:
        lines.add_row(
            f"p = {condition['p']}",
            f"the table allows up to {condition['max_p']:,} different values in every group, "
            f"and with {condition['p']} at most {condition['max_groups']:,} groups",
        )
    parts: list[RenderableType] = [lines]
    if found["causes"]:
        numbers = ("without it, fewer withheld", "alone it withholds")
        table = titled("what each limit costs", "attribute", "limit", numbers=numbers)
        for cause in found["causes"]:
            table.add_row(cause["attribute"], shorten(cause["limit"], 40), f"{cause['saves']:,}", f"{cause['alone']:,}")
        parts += [Text(), table]
    if found["lifts"]:
        table = titled("single changes that help", "attribute", "change", numbers=("saves", "loosens"))
        for lift in found["lifts"][:12]:
            table.add_row(lift["attribute"], lift["change"], f"{lift['saves']:,}", f"{lift['loosens']:,} records")
        parts += [Text(), table, *and_more(len(found["lifts"]) - 12)]
    elif found["withheld"] > found["withheld_unknown"]:
        parts += [Text(), Text("No single change saves a record; lower k, or lift several limits together.")]
    return Group(*parts)


STYLES = {"clear": "green", "remains": "yellow", "broken": "bold red"}
MARKS = {True: "!", False: "✓"}


def verdict_banner(verdict: Mapping[str, Any]) -> RenderableType:
    """Show whether every promise is kept, and what remains: see :meth:`hedgerow.reports.verdict.Verdict.to_dict`."""
    remarks = Table.grid(padding=(0, 1))
    for remark in sorted(verdict["remarks"], key=lambda remark: not remark["remains"]):
        style = STYLES["remains" if remark["remains"] else "clear"]
        remarks.add_row(" ", Text(MARKS[remark["remains"]], style=style), remark["text"])
    return Group(Text(verdict["sentence"], style=STYLES[verdict["state"]]), remarks)


def verification_summary(found: Mapping[str, Any], verdict: Mapping[str, Any] | None = None) -> RenderableType:
    """Show which promises are kept, and the verdict that follows."""
    table = Table("", "promise", "asked", "found", box=None, padding=(0, 2))
    for promise in found["promises"]:
        mark = Text("✓", style="green") if promise["kept"] else Text("✗", style="bold red")
        table.add_row(mark, promise["name"], str(promise["asked"]), str(promise["found"]))
    kept = Text("every promise is kept", style="green") if found["kept"] else Text("BROKEN", style="bold red")
    parts: list[RenderableType] = [table, Text()]
    word = found.get("makers_word")
    if word:
        about = "of facts.json, nothing given here can prove these, so they are the maker's word:"
        parts += [Text(f"{about} {', '.join(word)}", style="dim"), Text()]
    parts += [Text(note, style="yellow") for note in found.get("notes", ())]
    return Group(*parts, kept if verdict is None else verdict_banner(verdict))
