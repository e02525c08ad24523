"""A release as a record of DDI Codebook 2.5, as data archives keep them: the study, its file, and every variable.

Elements stand in the order that the schema of version 2.5 asks for. Values and their frequencies are not given: they
can be read from the release.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

from hedgerow.reports.material import Material
from hedgerow.reports.records.described import abstract, columns, identity, numbers
from hedgerow.version import __version__

NAMESPACE = "ddi:codebook:2_5"
SCHEMA = "http://www.ddialliance.org/Specification/DDI-Codebook/2.5/XMLSchema/codebook.xsd"
NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
FILE = "F1"


def ddi_record(material: Material) -> str:
    """Write the record.

    Examples
    --------
    >>> from hedgerow import Plan
    >>> from hedgerow.reports.reading import Facts
    >>> plan = Plan.from_dict({"attributes": {"sex": "quasi-identifier"}, "privacy": {"k": 2}})
    >>> record = ddi_record(Material(Facts({"released": 4}), plan, {"promises": []}))
    >>> '<var ID="V1" name="sex" files="F1"' in record
    True
    """
    root = ET.Element("codeBook", {"version": "2.5", "xml:lang": "en", "ID": f"H{identity(material).hex}"})
    root.set("xmlns", NAMESPACE)
    root.set("xmlns:xsi", "http://www.w3.org/2001/XMLSchema-instance")
    root.set("xsi:schemaLocation", f"{NAMESPACE} {SCHEMA}")
    _document(root, material)
    _study(ET.SubElement(root, "stdyDscr"), material)
    _file(root, material)
    _variables(root, material)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _document(root: ET.Element, material: Material) -> None:
    citation = ET.SubElement(ET.SubElement(root, "docDscr"), "citation")
    _add(ET.SubElement(citation, "titlStmt"), "titl", f"Record of {material.title}")
    _add(ET.SubElement(citation, "prodStmt"), "software", "Hedgerow", version=__version__)


def _study(study: ET.Element, material: Material) -> None:
    sign_off = material.sign_off
    citation = ET.SubElement(study, "citation")
    titles = ET.SubElement(citation, "titlStmt")
    _add(titles, "titl", material.title)
    _add(titles, "IDNo", material.fingerprint, agency="SHA-256")
    if sign_off.organisation:
        _add(ET.SubElement(citation, "rspStmt"), "AuthEnty", sign_off.organisation)
    if sign_off.organisation or sign_off.contact or sign_off.date:
        given = ET.SubElement(citation, "distStmt")
        if sign_off.organisation:
            _add(given, "distrbtr", sign_off.organisation)
        if sign_off.contact:
            _add(given, "contact", sign_off.contact)
        if sign_off.date:
            _add(given, "distDate", sign_off.date, date=sign_off.date)
    if sign_off.version:
        _add(ET.SubElement(citation, "verStmt"), "version", sign_off.version)
    about = ET.SubElement(study, "stdyInfo")
    _add(about, "abstract", abstract(material))
    summary = ET.SubElement(about, "sumDscr")
    for event, day in zip(("start", "end"), sign_off.covers or (), strict=False):
        _add(summary, "timePrd", day, event=event, date=day)
    _add(summary, "anlyUnit", "Individual" if material.plan.person is None else "Record of an individual")
    if material.plan.unit is not None:
        _add(summary, "anlyUnit", "Unit of linked records, such as a household")
    _add(summary, "dataKind", "Anonymized microdata")
    method = ET.SubElement(study, "method")
    if sign_off.source:
        collected = ET.SubElement(ET.SubElement(method, "dataColl"), "sources")
        _add(collected, "dataSrc", sign_off.source)
    for name, title, value in numbers(material):
        _add(method, "notes", f"{title}: {value}", subject=name)
    done = (
        f"Anonymized by Hedgerow, method {material.facts.text('method') or 'unknown'}: {', '.join(material.demands())}."
    )
    _add(method, "dataProcessing", done)
    _access(study, material)


def _access(study: ET.Element, material: Material) -> None:
    sign_off = material.sign_off
    if not (sign_off.purpose or sign_off.recipients or sign_off.legal_basis):
        return
    use = ET.SubElement(ET.SubElement(study, "dataAccs"), "useStmt")
    if sign_off.recipients:
        _add(use, "restrctn", f"Recipients: {sign_off.recipients}")
    if sign_off.purpose:
        _add(use, "conditions", f"Purpose: {sign_off.purpose}")
    if sign_off.legal_basis:
        _add(use, "conditions", f"Legal basis: {sign_off.legal_basis}")


def _file(root: ET.Element, material: Material) -> None:
    text = ET.SubElement(ET.SubElement(root, "fileDscr", {"ID": FILE}), "fileTxt")
    if material.data is not None:
        _add(text, "fileName", material.data.name)
        print_of = ET.SubElement(text, "dataFingerprint", {"type": "dataFile"})
        _add(print_of, "digitalFingerprintValue", material.data.sha256)
        _add(print_of, "algorithmSpecification", "SHA-256")
    size = ET.SubElement(text, "dimensns")
    _add(size, "caseQnty", str(material.facts.count("released")))
    _add(size, "varQnty", str(len(material.plan.released_columns)))


def _variables(root: ET.Element, material: Material) -> None:
    described = ET.SubElement(root, "dataDscr")
    for number, column in enumerate(columns(material), 1):
        var = ET.SubElement(described, "var", {"ID": f"V{number}", "name": _plain(column.name), "files": FILE})
        var.set("intrvl", "discrete")
        _add(var, "labl", column.title)
        _add(var, "txt", column.said)
        _add(var, "varFormat", type="character")
        if column.share_lost is not None:
            _add(var, "notes", f"{column.share_lost:.6f}", subject="share_lost")


def _add(parent: ET.Element, tag: str, text: str = "", **attributes: str) -> None:
    ET.SubElement(parent, tag, {name: _plain(value) for name, value in attributes.items()}).text = _plain(text) or None


def _plain(text: str) -> str:
    """Replace what XML cannot hold."""
    return NO_XML.sub("\ufffd", text)
