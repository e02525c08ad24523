"""A release as a dataset of a data catalogue: DCAT 3 and DCAT-AP, with what HealthDCAT-AP adds, as JSON-LD.

The context stands in the record, so that nothing has to be fetched to read it. What HealthDCAT-AP asks for and neither
facts nor plan can say is left out, and :func:`missing` names it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hedgerow.reports.material import Digest, Material
from hedgerow.reports.records.described import abstract, columns, identity, numbers
from hedgerow.reports.sign_off import CATALOGUE, SignOff, address

EU = "http://publications.europa.eu/resource/authority"
HEALTH = "https://hdeu-dcat.data.health.europa.eu/resource/authority"
FORMATS = {  # by ending: the code of the European list of file types, and the media type
    ".csv": ("CSV", "text/csv"),
    ".parquet": ("PARQUET", "application/vnd.apache.parquet"),
    ".xlsx": ("XLSX", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ".sav": ("SPSS_SAV", "application/x-spss-sav"),
    ".dta": ("DTA", "application/x-stata-dta"),
}
PREFIXES = {
    "csvw": "http://www.w3.org/ns/csvw#",
    "cv": "http://data.europa.eu/m8g/",
    "dcat": "http://www.w3.org/ns/dcat#",
    "dcatap": "http://data.europa.eu/r5r/",
    "dct": "http://purl.org/dc/terms/",
    "dpv": "https://w3id.org/dpv#",
    "dqv": "http://www.w3.org/ns/dqv#",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "healthdcatap": "http://healthdataportal.eu/ns/health#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "spdx": "http://spdx.org/rdf/terms#",
    "vcard": "http://www.w3.org/2006/vcard/ns#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}
ASKED = {  # what every dataset of HealthDCAT-AP has, and where it comes from
    "dct:accessRights": "access",
    "dcatap:applicableLegislation": "legislation",
    "dcat:theme": "theme",
    "healthdcatap:healthCategory": "health-category",
    "healthdcatap:hdab": "access-body",
}


def dcat_record(material: Material) -> str:
    """Write the record.

    Examples
    --------
    >>> from hedgerow import Plan
    >>> from hedgerow.reports.reading import Facts
    >>> plan = Plan.from_dict({"attributes": {"sex": "quasi-identifier"}, "privacy": {"k": 2}})
    >>> record = json.loads(dcat_record(Material(Facts({"released": 4}), plan, {"promises": []})))
    >>> record["@type"], record["healthdcatap:numberOfRecords"]["@value"]
    ('dcat:Dataset', '4')
    """
    return json.dumps(dataset(material), indent=2, ensure_ascii=False) + "\n"


def missing(sign_off: SignOff) -> list[str]:
    """Name what HealthDCAT-AP asks for and nobody has told yet, by the keys of ``CATALOGUE``."""
    told = {**sign_off.catalogue, **({"theme": "HEAL"} if "health-category" in sign_off.catalogue else {})}
    wanted = [*ASKED.values(), "access-url", "access-body-contact"]
    return [key for key in CATALOGUE if key in wanted and not told.get(key)]


def dataset(material: Material) -> dict[str, Any]:
    """Return the record as plain data."""
    sign_off, told = material.sign_off, material.sign_off.catalogue
    start = f"urn:uuid:{identity(material)}"
    found: dict[str, Any] = {
        "@context": PREFIXES,
        "@id": start,
        "@type": "dcat:Dataset",
        "dct:title": _text(material.title),
        "dct:description": _text(abstract(material)),
        "dct:identifier": material.fingerprint,
        "dct:type": _link(f"{EU}/dataset-type/STATISTICAL"),
    }
    if told.get("access"):
        found["dct:accessRights"] = _link(f"{EU}/access-right/{told['access'].upper().replace('-', '_')}")
    if told.get("legislation"):
        found["dcatap:applicableLegislation"] = _link(told["legislation"])
    theme = told.get("theme") or ("HEAL" if told.get("health-category") else "")
    if theme:
        found["dcat:theme"] = _link(theme if ":" in theme else f"{EU}/data-theme/{theme.upper()}")
    if told.get("health-category"):
        category = told["health-category"]
        found["healthdcatap:healthCategory"] = _link(
            category if ":" in category else f"{HEALTH}/healthcategories/{category}"
        )
    if told.get("access-body"):
        found["healthdcatap:hdab"] = _agent(told["access-body"], told.get("access-body-contact", ""))
    found |= _owner(sign_off)
    found["healthdcatap:numberOfRecords"] = _number(material.facts.count("released"))
    found["healthdcatap:hasStructuredData"] = {"@type": "xsd:boolean", "@value": "true"}
    found["healthdcatap:hasVariables"] = _variables(material)
    found["dcat:distribution"] = _distribution(material)
    found["dqv:hasQualityMeasurement"] = [
        {
            "@type": "dqv:QualityMeasurement",
            "dqv:isMeasurementOf": {"@type": "dqv:Metric", "skos:notation": name, "skos:prefLabel": _text(title)},
            "dqv:value": {"@type": "xsd:double", "@value": str(float(value))},
        }
        for name, title, value in numbers(material)
    ]
    return found


def _owner(sign_off: SignOff) -> dict[str, Any]:
    """What its owner says of it."""
    found: dict[str, Any] = {}
    if sign_off.organisation:
        found["dct:publisher"] = _agent(sign_off.organisation, sign_off.contact)
    if sign_off.contact:
        found["dcat:contactPoint"] = {
            "@type": "vcard:Kind",
            **_contact(sign_off.contact, "vcard:hasEmail", "vcard:hasURL"),
        }
    if sign_off.purpose:
        found["dpv:hasPurpose"] = {"@type": "dpv:Purpose", "dct:description": _text(sign_off.purpose)}
    if sign_off.legal_basis:
        found["dpv:hasLegalBasis"] = {"@type": "dpv:LegalBasis", "dct:description": _text(sign_off.legal_basis)}
    if sign_off.source:
        said = _text(f"Made from: {sign_off.source}")
        found["dct:provenance"] = {"@type": "dct:ProvenanceStatement", "rdfs:label": said}
    if sign_off.version:
        found["dcat:version"] = sign_off.version
    if sign_off.date:
        found["dct:issued"] = _day(sign_off.date)
    if sign_off.covers:
        first, last = sign_off.covers
        found["dct:temporal"] = {"@type": "dct:PeriodOfTime", "dcat:startDate": _day(first), "dcat:endDate": _day(last)}
    return found


def _variables(material: Material) -> dict[str, Any]:
    described = [
        {
            "@type": "csvw:Column",
            "csvw:name": column.name,
            "csvw:title": _text(column.title),
            "csvw:datatype": "string",
            "dct:description": _text(column.said),
        }
        for column in columns(material)
    ]
    title = _text(material.title)
    table = {"@type": "csvw:Table", "dct:title": title, "csvw:column": described}
    return {"@type": "csvw:TableGroup", "dct:title": title, "csvw:table": table}


def _distribution(material: Material) -> dict[str, Any]:
    told, data = material.sign_off.catalogue, material.data
    found: dict[str, Any] = {"@type": "dcat:Distribution", "dct:title": _text(data.name if data else material.title)}
    if told.get("access-url"):
        found["dcat:accessURL"] = _link(told["access-url"])
    if told.get("legislation"):
        found["dcatap:applicableLegislation"] = _link(told["legislation"])
    if told.get("licence"):
        found["dct:license"] = _link(told["licence"])
    return found if data is None else found | _file(data)


def _file(data: Digest) -> dict[str, Any]:
    found: dict[str, Any] = {
        "dcat:byteSize": _number(data.size),
        "spdx:checksum": {
            "@type": "spdx:Checksum",
            "spdx:algorithm": _link("http://spdx.org/rdf/terms#checksumAlgorithm_sha256"),
            "spdx:checksumValue": {"@type": "xsd:hexBinary", "@value": data.sha256},
        },
    }
    for ending, (code, media) in FORMATS.items():
        if data.name.endswith(ending):
            found["dct:format"] = _link(f"{EU}/file-type/{code}")
            found["dcat:mediaType"] = _link(f"http://www.iana.org/assignments/media-types/{media}")
    return found


def _agent(name: str, contact: str) -> dict[str, Any]:
    found: dict[str, Any] = {"@type": "foaf:Agent", "foaf:name": _text(name)}
    if contact:
        how = _contact(contact, "cv:email", "cv:contactPage")
        if "cv:email" in how:
            how = {"cv:email": contact}
        found["cv:contactPoint"] = {"@type": "cv:ContactPoint", **how}
    return found


def _contact(contact: str, mail: str, page: str) -> dict[str, Any]:
    link = address(contact)
    return {mail if link.startswith("mailto:") else page: _link(link)}


def _link(to: str) -> Mapping[str, str]:
    return {"@id": to}


def _text(text: str) -> Mapping[str, str]:
    return {"@language": "en", "@value": text}


def _number(number: int) -> Mapping[str, str]:
    return {"@type": "xsd:nonNegativeInteger", "@value": str(number)}


def _day(day: str) -> Mapping[str, str]:
    return {"@type": {4: "xsd:gYear", 7: "xsd:gYearMonth", 10: "xsd:date"}[len(day)], "@value": day}
