"""The form of a report: what it says, who it is for, and as what it is written."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from hedgerow.errors import HedgerowError
from hedgerow.reports.reporting import FORMS, Form
from hedgerow.reports.sign_off import ACCESS, CATALOGUE, SignOff
from hedgerow.studio import theme
from hedgerow.studio.components.job_view import JobView
from hedgerow.studio.components.result_cards import thresholds
from hedgerow.studio.jobs import Job
from hedgerow.studio.runs import Run
from hedgerow.studio.sessions import Session

PARTS = {
    "What is released": {
        "title": "Title of the release",
        "organisation": "Organisation",
        "source": "Made from",
        "version": "Version",
        "period": "Time covered, such as 2019/2023",
        "contact": "Contact: e-mail or web address",
    },
    "What for": {
        "purpose": "Purpose",
        "legal_basis": "Legal basis",
        "recipients": "Recipients",
    },
    "Who signs it": {
        "approver": "Approver",
        "role": "The approver's role",
        "date": "Date of the approval",
        "review_by": "Date by which to review the release",
    },
}
DAYS = ("date", "review_by")
AUDIENCES = {
    "public": "Whoever holds the release: nothing that is not in it",
    "internal": "Its owner: also what was measured on the original",
}
BUTTONS: dict[Form, tuple[str, str, str]] = {
    "page": ("Report", "article", "One page that needs no network: to read, print and sign."),
    "pdf": ("PDF", "picture_as_pdf", "The same page as a PDF."),
    "ddi": ("DDI", "data_object", "Its facts for a data archive: DDI Codebook 2.5."),
    "dcat": ("DCAT", "data_object", "Its facts for a data catalogue: DCAT with HealthDCAT-AP."),
}


class ReportCard:
    """A form, and a button for each form of a report."""

    def __init__(self, session: Session, run: Run) -> None:
        self._session, self._run = session, run
        with theme.card():
            theme.heading("Report")
            ui.label("Whatever you leave empty becomes a blank line on the page, to fill in by hand.").classes(
                "muted small"
            )
            self._fields: dict[str, Any] = {}
            for part, fields in PARTS.items():
                ui.label(part).classes("small font-bold")
                with ui.element("div").classes("fields"):
                    self._fields |= {name: self._field(name, label) for name, label in fields.items()}
            if not self._fields["source"].value:
                self._fields["source"].value = run.data_name
            self._assume = self._keep(ui.textarea("Further assumptions, one a line"), "report-assume")
            self._assume.props("autogrow")
            with ui.element("div").classes("fields"):
                self._threshold = ui.select(
                    thresholds(run.plan), value=run.plan.accepted, label="A risk that is just acceptable"
                ).classes("w-full")
                self._threshold.props("outlined dense data-testid=report-threshold")
                self._audience = ui.select(dict(AUDIENCES), value="public", label="Who the report is for")
                self._audience.classes("w-full").props("outlined dense data-testid=report-for")
            self._catalogue()
            with ui.row().classes("gap-2"):
                self._buttons = [self._button(form, *said) for form, said in BUTTONS.items()]
            self._progress = ui.column().classes("w-full")

    def _catalogue(self) -> None:
        """What only catalogues ask for."""
        about = theme.fold("For data catalogues", "report-catalogue").props("dense")
        with about, ui.element("div").classes("fields"):
            self._told = {key: self._keep(_asked(key), f"report-catalogue-{key}") for key in CATALOGUE}

    def _button(self, form: Form, label: str, icon: str, told: str) -> ui.button:
        button = ui.button(label, icon=icon, on_click=theme.safely(lambda: self._write(form)))
        style = "unelevated" if form == "page" else "outline"
        testid = "export-report" if form == "page" else f"export-{form}"
        return button.props(f"{style} data-testid={testid}").tooltip(told)

    def _write(self, form: Form) -> None:
        sign_off = self._sign_off()
        if sign_off is None:
            return
        stored = self._session.files.new(f"{self._run.number}{FORMS[form][0]}".replace(" ", "-"))
        task: dict[str, Any] = {
            "task": "report",
            "release": str(self._run.release),
            "data": self._run.data if self._audience.value == "internal" else None,
            "audience": self._audience.value,
            "form": form,
            "output": str(stored.path),
            "threshold": float(self._threshold.value),
            "sign_off": sign_off,
        }
        job = self._session.bench.begin(task)
        self._enable(False)

        def done(_: Job) -> None:
            stored.path.chmod(0o600)
            ui.download.from_url(f"/files/{stored.id}")
            self._session.log.write("exported", self._session, kind="report", plan=self._run.plan.digest())

        self._progress.clear()
        with self._progress:
            JobView(job, done, "report", always=lambda: self._enable(True))

    def _sign_off(self) -> dict[str, Any] | None:
        """Return what the form says; where a field cannot be so, say it there."""
        said: dict[str, Any] = {name: (field.value or "").strip() for name, field in self._fields.items()}
        wrong = False
        for name, field in self._fields.items():
            wrong |= _refused(field, {name: said[name]})
        catalogue = {key: (field.value or "").strip() for key, field in self._told.items()}
        catalogue = {key: text for key, text in catalogue.items() if text}
        for key, field in self._told.items():
            wrong |= key in catalogue and _refused(field, {"catalogue": {key: catalogue[key]}})
        assumptions = [line.strip() for line in (self._assume.value or "").splitlines() if line.strip()]
        wrong |= _refused(self._assume, {"assumptions": assumptions})
        return None if wrong else {**said, "assumptions": assumptions, "catalogue": catalogue}

    def _enable(self, on: bool) -> None:
        for button in self._buttons:
            button.set_enabled(on)

    def _field(self, name: str, label: str) -> Any:
        field = self._keep(ui.input(label), f"report-{name.removesuffix('_by').replace('_', '-')}")
        return field.props("type=date stack-label") if name in DAYS else field

    def _keep(self, field: Any, testid: str) -> Any:
        kept = theme.keep(field, self._session, testid)
        return kept.classes("w-full").props(f"outlined dense placeholder=none data-testid={testid}")


def _asked(key: str) -> Any:
    """Make the field of something that catalogues ask for."""
    if key == "access":
        return ui.select({"": "not said", **{one: one for one in ACCESS}}, value="", label="Who may have it")
    return ui.input(CATALOGUE[key][0].upper() + CATALOGUE[key][1:])


def _refused(field: Any, given: dict[str, Any]) -> bool:
    """Show at a field why it cannot be so; tell whether it cannot."""
    try:
        SignOff(**given)
    except HedgerowError as error:
        theme.say_at(field, error)
        return True
    field.error = None
    return False
