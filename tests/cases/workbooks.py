"""Workbooks made by hand, such as no program writes them."""

from __future__ import annotations

import io
import zipfile

TYPES = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" '
    'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/></Types>'
)
ROOT = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" '
    'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" '
    'Target="xl/workbook.xml"/></Relationships>'
)
BOOK = (
    '<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">'
    '<sheets><sheet name="people" sheetId="1" r:id="r1"/></sheets></workbook>'
)
PARTS = ROOT.replace('officeDocument" ', 'worksheet" ').replace("xl/workbook.xml", "worksheets/sheet1.xml")


def workbook(rows: int, padding: bytes = b"", cell: str = "") -> bytes:
    """Write a sheet of two columns and so many rows, with white space at its end, and a cell at some place."""
    lines = [
        "<row r='1'><c r='A1' t='inlineStr'><is><t>ward</t></is></c><c r='B1' t='inlineStr'><is><t>age</t></is></c></row>"
    ]
    lines += [
        f"<row r='{row}'><c r='A{row}'><v>{row % 2}</v></c><c r='B{row}'><v>{row}</v></c></row>"
        for row in range(2, rows + 2)
    ]
    if cell:
        lines.append(f"<row><c r='{cell}'><v>1</v></c></row>")
    sheet = (
        (
            '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
            + "".join(lines)
            + "</sheetData>"
        ).encode()
        + padding
        + b"</worksheet>"
    )
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in (
            ("[Content_Types].xml", TYPES),
            ("_rels/.rels", ROOT),
            ("xl/workbook.xml", BOOK),
            ("xl/_rels/workbook.xml.rels", PARTS),
            ("xl/worksheets/sheet1.xml", sheet),
        ):
            archive.writestr(name, content)
    return held.getvalue()
