"""CSV, character by character: what a text means, and which cells are quoted."""

from __future__ import annotations

Cell = tuple[str, bool]


def parse(text: str, delimiter: str = ",", quote: str = '"') -> list[list[Cell]]:
    """Cut a text into rows of cells, each with whether it is quoted; an empty line is a row without cells."""
    rows: list[list[Cell]] = []
    row: list[Cell] = []
    cell, quoted, inside, at = "", False, False, 0
    while at < len(text):
        sign = text[at]
        if inside:
            if sign != quote:
                cell += sign
            elif text[at + 1 : at + 2] == quote:
                cell += quote
                at += 1
            else:
                inside = False
        elif sign == quote and not cell and not quoted:
            quoted = inside = True
        elif sign == delimiter:
            row.append((cell, quoted))
            cell, quoted = "", False
        elif sign in "\r\n":
            if row or cell or quoted:
                row.append((cell, quoted))
            rows.append(row)
            row, cell, quoted = [], "", False
            if text[at : at + 2] == "\r\n":
                at += 1
        else:
            cell += sign
        at += 1
    if row or cell or quoted:
        rows.append([*row, (cell, quoted)])
    return rows
