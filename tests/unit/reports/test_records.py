"""Records for archives and catalogues have the elements that their standards name, in order, and nothing is left out.

No schema of either can be had without a network, so the elements are written down here: those of DDI Codebook 2.5 that we
use, in the order of its XML Schema, and what the SHACL shapes of HealthDCAT-AP (release 8, for public data) ask for. That a
record is JSON-LD at all is what another program, RDFLib, says.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from rdflib import RDF, Graph, Literal, Namespace, URIRef

import hedgerow as hr
from hedgerow.errors import BrokenPromise, HedgerowError
from hedgerow.reports.records.dcat import PREFIXES, missing
from tests.cases.reported import EVIL, PLANS, people

DDI = "{ddi:codebook:2_5}"
CHILDREN = {  # the elements that may stand in each, in their order
    "codeBook": ["docDscr", "stdyDscr", "fileDscr", "dataDscr", "otherMat"],
    "docDscr": ["citation", "guide", "docStatus", "docSrc", "controlledVocabUsed", "notes"],
    "citation": ["titlStmt", "rspStmt", "prodStmt", "distStmt", "serStmt", "verStmt", "biblCit", "holdings", "notes"],
    "titlStmt": ["titl", "subTitl", "altTitl", "parTitl", "IDNo"],
    "rspStmt": ["AuthEnty", "othId"],
    "prodStmt": ["producer", "copyright", "prodDate", "prodPlac", "software", "fundAg", "grantNo"],
    "distStmt": ["distrbtr", "contact", "depositr", "depDate", "distDate"],
    "verStmt": ["version", "verResp", "notes"],
    "stdyDscr": ["citation", "studyAuthorization", "stdyInfo", "studyDevelopment", "method", "dataAccs", "othrStdyMat", "notes"],
    "stdyInfo": ["studyBudget", "subject", "abstract", "sumDscr", "qualityStatement", "notes", "exPostEvaluation"],
    "sumDscr": ["timePrd", "collDate", "nation", "geogCover", "geogUnit", "geoBndBox", "boundPoly", "anlyUnit", "universe", "dataKind"],
    "method": ["dataColl", "notes", "anlyInfo", "stdyClas", "dataProcessing", "codingInstructions"],
    "dataColl": ["timeMeth", "dataCollector", "sampProc", "deviat", "collMode", "resInstru", "sources", "collSitu"],
    "sources": ["dataSrc", "sourceCitation", "srcOrig", "srcChar", "srcDocu", "sources"],
    "dataAccs": ["typeOfAccess", "setAvail", "useStmt", "notes"],
    "useStmt": ["confDec", "specPerm", "restrctn", "contact", "citReq", "deposReq", "conditions", "disclaimer"],
    "fileDscr": ["fileTxt", "locMap", "notes"],
    "fileTxt": ["fileName", "fileCitation", "dataFingerprint", "fileCont", "fileStrc", "dimensns", "fileType", "format"],
    "dataFingerprint": ["digitalFingerprintValue", "algorithmSpecification", "algorithmVersion"],
    "dimensns": ["caseQnty", "varQnty", "logRecL", "recPrCas", "recNumTot"],
    "dataDscr": ["varGrp", "nCubeGrp", "var", "nCube", "notes"],
    "var": ["location", "labl", "security", "universe", "sumStat", "txt", "catgry", "derivation", "varFormat", "notes"],
}  # fmt: skip
ATTRIBUTES = {
    "codeBook": {"version", "ID", "{http://www.w3.org/XML/1998/namespace}lang", "{http://www.w3.org/2001/XMLSchema-instance}schemaLocation"},
    "software": {"version"}, "IDNo": {"agency"}, "distDate": {"date"}, "timePrd": {"event", "date"},
    "notes": {"subject"}, "fileDscr": {"ID"}, "dataFingerprint": {"type"}, "var": {"ID", "name", "files", "intrvl"},
    "varFormat": {"type"},
}  # fmt: skip
REQUIRED = {
    "titlStmt": "titl",
    "stdyDscr": "citation",
    "codeBook": "stdyDscr",
    "dataFingerprint": "digitalFingerprintValue",
}
DCAT, DCT, HEALTH, DCATAP, CSVW, CV, VCARD = (
    Namespace(PREFIXES[name]) for name in ("dcat", "dct", "healthdcatap", "dcatap", "csvw", "cv", "vcard")
)
EVERYTHING = hr.SignOff(
    title="Patients & <others>",
    organisation="Clinic",
    source="admissions",
    period="2019-01/2023-12-31",
    version="3",
    purpose="teaching",
    legal_basis="consent",
    recipients="students",
    date="2026-11-15",
    contact="data@example.org",
    catalogue={
        "access": "public",
        "access-url": "https://example.org/data",
        "legislation": "http://data.europa.eu/eli/reg/2025/327/oj",
        "licence": "https://example.org/licence",
        "health-category": "EHRS",
        "access-body": "Body",
        "access-body-contact": "https://example.org/ask",
    },
)


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "release"
    hr.anonymize(people(), PLANS["diverse"], folder)
    return folder


def record(release: Path, form: Any, sign_off: hr.SignOff | None = None) -> str:
    target = release.parent / f"record.{form}"
    hr.report(release, target, form=form, sign_off=sign_off, replace=True)
    return target.read_text(encoding="utf-8")


def check_ddi(text: str) -> ET.Element:
    root = ET.fromstring(text)
    for element in root.iter():
        name = element.tag.removeprefix(DDI)
        children = [child.tag.removeprefix(DDI) for child in element]
        if children:
            order = [CHILDREN[name].index(child) for child in children]  # an unknown one is an error
            assert order == sorted(order), (name, children)
        assert set(element.attrib) <= ATTRIBUTES.get(name, set()), (name, element.attrib)
        assert name not in REQUIRED or REQUIRED[name] in children
    names = [element.get("ID") for element in root.iter() if element.get("ID")]
    assert len(names) == len(set(names))
    return root


@pytest.mark.parametrize("sign_off", [None, EVERYTHING])
def test_the_ddi_record_has_the_elements_of_codebook_2_5_in_their_order(
    release: Path, sign_off: hr.SignOff | None
) -> None:
    root = check_ddi(record(release, "ddi", sign_off))
    found = {var.get("name"): var for var in root.iter(f"{DDI}var")}
    assert list(found) == list(PLANS["diverse"].released_columns)
    assert "bands (5, 10, 20)" in str(found["age"].findtext(f"{DDI}txt"))
    assert root.find(f".//{DDI}caseQnty").text == str(len((release / "data.csv").read_text().splitlines()) - 1)
    if sign_off is not None:
        assert root.find(f"./{DDI}stdyDscr//{DDI}titl").text == "Patients & <others>"
        assert root.find(f".//{DDI}AuthEnty").text == "Clinic"


def test_hostile_names_are_text_in_both_records(tmp_path: Path) -> None:
    name = f"{EVIL}\x0b]]>"
    plan = hr.Plan.from_dict({"attributes": {name: "quasi-identifier"}, "privacy": {"k": 2}})
    hr.anonymize(pa.table({name: list("aabb")}), plan, tmp_path / "release")
    var = check_ddi(record(tmp_path / "release", "ddi")).find(f".//{DDI}var")
    assert var.get("name") == name.replace("\x0b", "\ufffd")
    graph = Graph().parse(data=record(tmp_path / "release", "dcat"), format="json-ld")
    assert {str(one) for one in graph.objects(None, CSVW.name)} == {name}


def test_the_dcat_record_has_what_health_dcat_ap_asks_for(release: Path) -> None:
    graph = Graph().parse(data=record(release, "dcat", EVERYTHING), format="json-ld")
    (dataset,) = graph.subjects(RDF.type, DCAT.Dataset)
    assert isinstance(dataset, URIRef)
    for path in (DCT.title, DCT.description, DCT.identifier, HEALTH.hasStructuredData, HEALTH.numberOfRecords):
        assert all(isinstance(value, Literal) for value in graph.objects(dataset, path))
        assert len(list(graph.objects(dataset, path))) == 1, path
    rights = "http://publications.europa.eu/resource/authority/access-right/PUBLIC"
    assert list(graph.objects(dataset, DCT.accessRights)) == [URIRef(rights)]
    for path in (DCATAP.applicableLegislation, DCAT.theme, HEALTH.healthCategory):
        assert [type(value) for value in graph.objects(dataset, path)] == [URIRef], path
    for path, kind_of in ((HEALTH.hasStructuredData, "boolean"), (HEALTH.numberOfRecords, "nonNegativeInteger")):
        (value,) = graph.objects(dataset, path)
        assert isinstance(value, Literal)
        assert str(value.datatype).endswith(f"#{kind_of}")
    (distribution,) = graph.objects(dataset, DCAT.distribution)
    assert (distribution, RDF.type, DCAT.Distribution) in graph
    for path in (DCAT.accessURL, DCATAP.applicableLegislation, DCT["format"], DCAT.mediaType):
        assert len(list(graph.objects(distribution, path))) == 1, path
    for agent in (*graph.objects(dataset, DCT.publisher), *graph.objects(dataset, HEALTH.hdab)):
        (contact,) = graph.objects(agent, CV.contactPoint)
        assert (contact, RDF.type, CV.ContactPoint) in graph
    (kind,) = graph.objects(dataset, DCAT.contactPoint)
    assert list(graph.objects(kind, VCARD.hasEmail)) == [URIRef("mailto:data@example.org")]
    (group,) = graph.objects(dataset, HEALTH.hasVariables)
    (table,) = graph.objects(group, CSVW.table)
    described = list(graph.objects(table, CSVW.column))
    assert len(described) == len(PLANS["diverse"].released_columns)
    for column in described:
        for path in (CSVW.name, CSVW.title, CSVW.datatype, DCT.description):
            assert len(list(graph.objects(column, path))) == 1, path
    assert missing(EVERYTHING) == []


def test_what_health_dcat_ap_still_asks_for_is_named() -> None:
    assert missing(hr.SignOff()) == [
        "access", "access-url", "legislation", "theme", "health-category", "access-body", "access-body-contact",
    ]  # fmt: skip


def test_no_record_is_written_of_a_release_that_breaks_its_promise(tmp_path: Path) -> None:
    hr.anonymize(people(), PLANS["cluster"], tmp_path / "release")
    data = tmp_path / "release" / "data.csv"
    data.write_text("\n".join(data.read_text().splitlines()[:-1]) + "\n")
    for form in ("ddi", "dcat"):
        with pytest.raises(BrokenPromise):
            hr.report(tmp_path / "release", tmp_path / "record", form=form)
    assert not (tmp_path / "record").exists()


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"period": "since 2019"}, "two dates"),
        ({"period": "2023/2019"}, "two dates"),
        ({"contact": "ask Ann"}, "e-mail or web address"),
        ({"catalogue": {"colour": "red"}}, "not told of"),
        ({"catalogue": {"access": "everybody"}}, "restricted"),
        ({"catalogue": {"access-url": "javascript:alert(1)"}}, "web address"),
        ({"catalogue": {"theme": "HE AL"}}, "code"),
        ({"title": "x" * 1001}, "no text above"),
    ],
)
def test_what_cannot_be_told_is_refused(given: dict[str, Any], match: str) -> None:
    with pytest.raises(HedgerowError, match=match):
        hr.SignOff(**given)
