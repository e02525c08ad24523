"""The glossary of a report: every measure and every word that it uses, each in one sentence."""

from __future__ import annotations

from typing import Any

from hedgerow.plan.concepts import MEASURES, PRIVACY_MODELS
from hedgerow.reports.material import Material

WORDS = {
    "quasi-identifier": "A column that others may know of a person, such as age or place: several of them together "
    "can point at one person.",
    "sensitive": "A column that others do not know of a person and would learn from the table, such as a diagnosis.",
    "hierarchy": "How a value is made coarser, step by step: Wichita, Kansas, Midwest, United States.",
    "limit": "How coarse a value may be published at most, as its owner decided.",
    "group": "All rows that agree in every quasi-identifier: readers cannot tell its members apart by these.",
    "k": "Every group has at least this many members.",
    "withheld": "Not released, because nobody else is near enough within the limits.",
    "risk of being found": "The chance that somebody who looks for a person picks the right row: 1 divided by the "
    "number of people that the row cannot be told from.",
    "threshold": "The risk that is just acceptable, as the owner decided.",
    "fingerprint": "A number worked out from every byte of a file (SHA-256): if one byte differs, it differs.",
    "promise": "Something that a program which shares no code with the maker found to hold of the published rows.",
}


UNIT = (
    "linked unit",
    "A household, or a person with several rows, whose rows the release links by a number: at least as "
    "many others as k asks have as many rows with the same published values.",
)


def glossary(material: Material) -> dict[str, Any]:
    """Say what every measure and every word that the page uses means."""
    asked = material.plan.privacy.asked
    rows = list(WORDS.items())
    if material.plan.unit is not None:
        rows.append(UNIT)
    rows += [
        (f"{model.name}: {model.title}", model.meaning or model.help)
        for model in PRIVACY_MODELS
        if asked.get(model.name)
    ]
    rows += [
        (measure.title, measure.meaning or measure.help)
        for measure in MEASURES
        if material.facts.number(measure.name) is not None
    ]
    return {"rows": rows}
