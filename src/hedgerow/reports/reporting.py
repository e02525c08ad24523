"""The verb that tells about a release: checked again, its risks worked out, written as one page."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path
from typing import Any, Literal

from hedgerow.engines.opening import read_microdata
from hedgerow.engines.place import read_place
from hedgerow.errors import DataError, HedgerowError, Problem
from hedgerow.evaluation.analysing import utility
from hedgerow.evaluation.limit_effects import LimitEffect, measure_limits
from hedgerow.maintenance import open_release as open_store
from hedgerow.microdata.frames import taken_over
from hedgerow.outside.intake import open_regular
from hedgerow.outside.outputs.file import FOR_ALL, FOR_ITS_OWNER, put_bytes
from hedgerow.outside.outputs.trouble import refuse_link
from hedgerow.outside.server import check_path, is_server
from hedgerow.outside.stores import is_in_spark
from hedgerow.plan import Plan
from hedgerow.privacy.risks import accepted_risk
from hedgerow.release import Release, read_in_spark, read_table
from hedgerow.release.facts import facts_to_json
from hedgerow.release.verifying import verify
from hedgerow.reports.html.page import report_html
from hedgerow.reports.material import Audience, Digest, Extras, Material, demands_of
from hedgerow.reports.pdf import check_available, page_to_pdf
from hedgerow.reports.reading import Facts
from hedgerow.reports.records.dcat import dcat_record
from hedgerow.reports.records.ddi import ddi_record
from hedgerow.reports.sign_off import SignOff
from hedgerow.reports.verdict import Verdict, risks_of_facts, verdict_of
from hedgerow.types import Progress, silent
from hedgerow.verification import SIGNATURE, Verification, open_release

Form = Literal["page", "pdf", "ddi", "dcat"]
FORMS: dict[Form, tuple[str, str]] = {
    "page": ("-report.html", "the report"),
    "pdf": ("-report.pdf", "the report"),
    "ddi": ("-ddi.xml", "the record"),
    "dcat": ("-dcat.jsonld", "the record"),
}
"""By form: how a name ends that is not chosen, and what is written."""
MOST_FILES = 50
MOST_ANALYSED = 200_000
"""Records of a table whose analyses a report compares; 'hedgerow utility' compares those of any."""
BLOCK = 1 << 20


@dataclass(frozen=True)
class Report:
    """What there is to say about a release.

    Attributes
    ----------
    html
        The page: one text that needs nothing else.
    facts, plan, verification
        What it was made from.
    verdict
        Whether every promise is kept, and what remains.
    risks
        Of the three attackers, at the threshold; None if the facts do not say enough.
    digests
        Fingerprints of the files.
    limit_effects
        What each limit did, if the original was given; private.
    audit
        What holders of all versions could learn, if the store was given.
    audience
        Who it is for.
    """

    html: str
    facts: Mapping[str, Any]
    plan: Plan
    verification: Verification
    verdict: Verdict
    risks: Mapping[str, Any] | None
    digests: Sequence[Digest] = ()
    limit_effects: Sequence[LimitEffect] = ()
    audit: Mapping[str, Any] | None = None
    audience: Audience = "public"

    @property
    def demands(self) -> tuple[str, ...]:
        """What is promised of every group, such as k = 5 and p = 2."""
        return tuple(demands_of(self.plan))

    @property
    def kept(self) -> bool:
        """Whether every promise of the release is kept."""
        return self.verification.kept

    def _repr_html_(self) -> str:
        return f'<iframe title="Report" width="100%" height="600" sandbox srcdoc="{escape(self.html)}"></iframe>'

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the page as plain data."""
        return {
            "facts": dict(self.facts),
            "verification": self.verification.to_dict(),
            "verdict": self.verdict.to_dict(),
            "risks": self.risks,
            "digests": [asdict(digest) for digest in self.digests],
            "limit_effects": [effect.to_dict() for effect in self.limit_effects],
            "audit": self.audit,
            "audience": self.audience,
        }

    def __repr__(self) -> str:
        state = "every promise kept" if self.kept else f"{len(self.verification.broken)} promises BROKEN"
        return f"Report({state}; {len(self.html.encode()):,} bytes)"


def report(
    release: Release | str | Path,
    output: str | Path | None = None,
    *,
    original: Any = None,
    store: str | Path | None = None,
    sign_off: SignOff | None = None,
    threshold: float | None = None,
    replace: bool = False,
    key: str | Path | None = None,
    audience: Audience | None = None,
    form: Form = "page",
    progress: Progress | None = None,
) -> Report:
    """Tell about a release: check it again, work out its risks, and write it all as one page.

    A release that breaks its promise gets a report as well, which says so first of all.

    Parameters
    ----------
    release
        A release folder, the address of a table that is a release, or a release in memory.
    output
        File to write it to, outside the release folder; mode 0600 if it is internal, as it then may hold figures about
        the original. Without it the report is only returned.
    original
        The table it was made from: the check then compares with it, and releases without each limit are made in memory
        to say what the limits cost and saved. What they came to tells about the original records.
    store
        The store that the release was exported from: what holders of all versions could learn is told too.
    sign_off
        What the page to be signed says.
    threshold
        A risk that is just acceptable, against which the others are held; that of the plan by default.
    replace
        Whether an existing file may be replaced.
    key
        File with the public key of who released it: its signature is checked too.
    audience
        Who it is for. A ``public`` report holds nothing that is not in the release; an ``internal`` one may hold what
        was measured on the original or worked out from its store. Without it: internal if one of the two is given.
    form
        What is written: the ``page``, the same as ``pdf`` (extra ``pdf``), or its facts as a record for machines,
        ``ddi`` (DDI Codebook 2.5) or ``dcat`` (DCAT with HealthDCAT-AP, JSON-LD). No record is written of a release
        that breaks its promise.
    progress
        Called now and then during long work.

    Raises
    ------
    DataError
        If the folder is not a release, or the report cannot be written.
    BrokenPromise
        If a record was asked for, and the release breaks its promise.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from hedgerow import Plan, anonymize
    >>> plan = Plan.from_dict({"attributes": {"sex": "quasi-identifier"}, "privacy": {"k": 2}})
    >>> made = report(anonymize(pa.table({"sex": list("FFMM")}), plan))
    >>> made.kept, made.risks["prosecutor"]["highest"]
    (True, 0.5)
    """
    tell = progress or silent
    if threshold is not None:
        accepted_risk(threshold)
    original = taken_over(original)
    audience = _audience(audience, original is not None or store is not None)
    if form == "pdf":
        check_available()
    if output is not None:
        check_output(output, release, replace)
    tell("checking the release", 0, 0)
    verification = verify(release, original, key=key)
    if form in ("ddi", "dcat"):
        verification.raise_if_broken()
    plan, facts, digests = _read(release)
    threshold = plan.accepted if threshold is None else threshold
    effects: tuple[LimitEffect, ...] = ()
    if original is not None:
        tell("reading", 0, 0)
        effects = measure_limits(*read_microdata(original, plan.counting_in(None)), tell)
    measured = [effect.to_dict() for effect in effects]
    audit = None if store is None else _audited(store, facts, tell)
    analyses = _analysed(release, original, facts, tell)
    compared = original is not None
    extras = Extras(name_of(release), threshold, digests, measured, compared, audit, analyses, audience)
    tell("writing", 0, 0)
    page = report_html(facts, plan, verification.to_dict(), sign_off, extras)
    risks = risks_of_facts(Facts(facts), threshold)
    if output is not None:
        material = Material(Facts(facts), plan, verification.to_dict(), sign_off or SignOff(), extras)
        mode = FOR_ALL if audience == "public" else FOR_ITS_OWNER
        put_bytes(output, _written(form, page, material), FORMS[form][1], replace=replace, mode=mode)
    verdict = verdict_of(facts, plan, [promise.name for promise in verification.broken], threshold)
    return Report(page, facts, plan, verification, verdict, risks, digests, effects, audit, audience)


def name_of(release: Release | str | Path) -> str:
    """Return what a release is called: its folder or table; nothing that only its owner should know."""
    if isinstance(release, Release):
        return "release"
    if is_server(release):
        return read_place(str(release)).table
    if is_in_spark(release):
        return re.split(r"[/:.]", str(release).rstrip("/"))[-1] or "release"
    return Path(os.path.abspath(release)).name or "release"  # noqa: PTH100 - a link keeps its own name


def check_output(output: str | Path, release: Release | str | Path, replace: bool) -> None:
    """Refuse, before any work, a place that the page may not be written to."""
    check_path(output)
    target = Path(os.path.abspath(output))  # noqa: PTH100 - a link is refused, not followed
    refuse_link(target)
    if target.is_dir():
        raise DataError(Problem("output-in-use", "The output is a folder, not a file.", str(output), "name a file"))
    if target.exists() and not replace:
        hint = "choose another file, or replace it with --replace"
        raise DataError(Problem("output-in-use", "The report exists already.", str(output), hint))
    if not target.parent.is_dir():
        raise DataError(Problem("no-file", "The folder for the report does not exist.", str(output), "create it"))
    if not isinstance(release, Release) and not is_server(release) and not is_in_spark(release):
        folder = os.path.abspath(release)  # noqa: PTH100
        if target.is_relative_to(folder):
            message = "A release folder holds the release and nothing else."
            raise DataError(Problem("output", message, str(output), "write the report beside it"))


# -- steps -----------------------------------------------------------------------------------------------------------


def _analysed(
    release: Release | str | Path, original: Any, facts: Mapping[str, Any], tell: Progress
) -> Mapping[str, Any] | None:
    """Return what analyses come to before and after, where both are here and not too large to fit models to."""
    elsewhere = any(is_server(place) or is_in_spark(place) for place in (release, original))
    if original is None or elsewhere or facts["records"] > MOST_ANALYSED:
        return None
    if not isinstance(release, Release) and open_release(Path(release))[2].is_dir():
        return None  # parts that Spark wrote
    tell("comparing analyses", 0, 0)
    return utility(release, original).to_dict()


def _audience(asked: Audience | None, measured: bool) -> Audience:
    """Return who a report is for; what was measured on more than the release is for its owner."""
    if asked == "public" and measured:
        message = "A report for the public holds nothing that is not in the release."
        hint = "leave out the original and the store, or make it internal"
        raise HedgerowError(Problem("usage", message, hint=hint))
    return asked or ("internal" if measured else "public")


def _written(form: Form, page: str, material: Material) -> bytes:
    if form == "pdf":
        return page_to_pdf(page)
    if form == "page":
        return page.encode()
    return (ddi_record(material) if form == "ddi" else dcat_record(material)).encode()


def _read(release: Release | str | Path) -> tuple[Plan, Mapping[str, Any], tuple[Digest, ...]]:
    """Return the plan, the facts and the fingerprints of a release."""
    if isinstance(release, Release):
        return release.plan, json.loads(facts_to_json(dict(release.facts))), ()
    if is_server(release):
        return *read_table(read_place(str(release))), ()
    if is_in_spark(release):
        return *read_in_spark(str(release)), ()
    folder = Path(release)
    plan, facts, data = open_release(folder)
    signature = folder / SIGNATURE
    files = [folder / "plan.yaml", folder / "facts.json", *([signature] if signature.is_file() else [])]
    if data.is_dir():
        parts = sorted(path for path in data.rglob("*") if path.is_file())
        digests = [_digest(path, path.relative_to(folder).as_posix()) for path in parts]
        return plan, facts, (_together(data.name, digests), *digests[:MOST_FILES], *map(_digest, files))
    return plan, facts, tuple(map(_digest, (data, *files)))


def _audited(store: str | Path, facts: Mapping[str, Any], tell: Progress) -> dict[str, Any]:
    """Audit all versions of a store, one of which the release must be."""
    with open_store(store, progress=tell) as kept:
        history = kept.history()
        same = [row.number for row in history if row.facts == facts]
        if not same:
            hint = "give the store that it was exported from"
            raise DataError(Problem("no-version", "The release is not a version of this store.", hint=hint))
        about = {"version": same[-1], "versions": len(history), "republish": kept.plan.republish}
        return {**kept.audit().to_dict(), **about}


def _digest(path: Path, name: str = "") -> Digest:
    found, size = hashlib.sha256(), 0
    try:
        with os.fdopen(open_regular(path, "A part of the release"), "rb") as file:
            while block := file.read(BLOCK):
                found.update(block)
                size += len(block)
    except OSError as error:
        message = f"A file of the release cannot be read: {error.strerror or 'unreadable'}."
        raise DataError(Problem("no-file", message, str(path), "check its permissions")) from None
    return Digest(name or path.name, size, found.hexdigest())


def _together(name: str, digests: Sequence[Digest]) -> Digest:
    """Return one fingerprint of several files: that of what ``sha256sum`` prints of them, by name."""
    lines = "".join(f"{one.sha256}  {one.name}\n" for one in digests)
    title = f"{name} ({len(digests):,} files: fingerprint of their fingerprints)"
    return Digest(title, sum(one.size for one in digests), hashlib.sha256(lines.encode()).hexdigest())
