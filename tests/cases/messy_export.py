"""A hospital's export as such files come: semicolons, umlauts in cp1252, decimal commas, three ways to write a day.

``python -m tests.cases.messy_export PATH`` writes it; ``--encoding utf-8-sig`` writes UTF-8 with a byte order mark. What is
messy about it, by column:

===================  =================================================================================================
Patientennummer      begins with zeros; a third of the patients have two stays, and some three
Nachname             umlauts
Geburtsdatum         1984-05-02, 02.05.1984 or 2/5/1984, day first; two cells are no days
Aufnahme             always 02.05.2024
PLZ                  postal codes, some of which begin with 0
Größe (cm)           whole numbers; 999 where nobody measured
Gewicht (kg)         72,5
Kosten               1.234,50
Diagnose             codes such as J18.9
Raucher              ja, nein, k.A., n/a, -
Bemerkung            sentences, with semicolons, quotes and line breaks
Mandant              the same everywhere
===================  =================================================================================================
"""

from __future__ import annotations

import argparse
import csv
import datetime as dt
import io
import random
from pathlib import Path

RECORDS = 900
NO_DAYS = {17: "31.02.1980", 230: "im Mai 1962"}
"""The records, counted from 1, whose day of birth is none, and what stands there."""
NOT_MEASURED = "999"
HEADER = [
    "Patientennummer",
    "Nachname",
    "Geburtsdatum",
    "Aufnahme",
    "Geschlecht",
    "PLZ",
    "Größe (cm)",
    "Gewicht (kg)",
    "Kosten",
    "Diagnose",
    "Raucher",
    "Bemerkung",
    "Mandant",
]
_NAMES = [
    "Müller",
    "Jäger",
    "Schröder",
    "Groß",
    "Öztürk",
    "Weiß",
    "Köhler",
    "Böhm",
    "Krüger",
    "Lang",
    "Vogel",
    "Ärzte",
    "Übel",
    "Huber",
    "Schmidt",
    "Kraus",
]
_DIAGNOSES = ["J18.9", "I10", "E11.9", "K35.8", "S72.0", "I50.1", "C34.9", "M54.5"]
_CODES = ["01067", "01099", "04109", "04155", "80331", "80469", "90402", "90461"]
_REMARKS = (
    "Aufnahme über die Notaufnahme; Angehörige {name} verständigt, Rückruf am {day}. erbeten wegen Zimmer {room}",
    'Patient wünscht "nur vegetarische" Kost, trägt Hörgerät links, Zimmer {room}, Besuch am {day}. angekündigt',
    "Verlegt aus Haus {room}; Unterlagen folgen.\nBitte am {day}. beim Hausarzt {name} nachfragen und ablegen",
)


def messy_rows(records: int = RECORDS) -> list[list[str]]:
    """Return the records as text."""
    draw = random.Random(21)
    people = [_patient(draw, number) for number in range(1, 2 * records // 3 + 1)]
    stays = [*people, *draw.choices(people, k=records - len(people))]
    draw.shuffle(stays)
    rows = []
    for at, (number, name, born, sex, code, height, weight) in enumerate(stays, start=1):
        admitted = dt.date(2024, 1, 1) + dt.timedelta(days=draw.randrange(366))
        day = NO_DAYS.get(at) or _written(draw, born)
        tall = NOT_MEASURED if draw.random() < 0.04 else str(height)
        cost = f"{draw.uniform(300, 9000):,.2f}".translate(str.maketrans(",.", ".,"))
        smokes = draw.choices(["ja", "nein", "k.A.", "n/a", "-"], [30, 55, 8, 4, 3])[0]
        remark = draw.choice(_REMARKS).format(name=draw.choice(_NAMES), day=draw.randint(1, 28), room=at)
        weighed = f"{weight:.1f}".replace(".", ",")
        rows.append([number, name, day, f"{admitted:%d.%m.%Y}", sex, code, tall, weighed, cost,
                     draw.choice(_DIAGNOSES), smokes, remark, "4711"])  # fmt: skip
    return rows


def write_messy_export(path: Path, encoding: str = "cp1252", records: int = RECORDS) -> Path:
    """Write the export, and return its path."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=";", lineterminator="\r\n")
    writer.writerow(HEADER)
    writer.writerows(messy_rows(records))
    path.write_bytes(text.getvalue().encode(encoding))
    return path


def _patient(draw: random.Random, number: int) -> tuple[str, str, dt.date, str, str, int, float]:
    born = dt.date(1935, 1, 1) + dt.timedelta(days=draw.randrange(75 * 365))
    sex = draw.choice("mw")
    height = round(draw.gauss(179 if sex == "m" else 166, 7))
    weight = round(draw.gauss(24.5, 3) * (height / 100) ** 2, 1)
    return f"{number:06}", draw.choice(_NAMES), born, sex, draw.choice(_CODES), height, weight


def _written(draw: random.Random, day: dt.date) -> str:
    return draw.choice([day.isoformat(), f"{day:%d.%m.%Y}", f"{day.day}/{day.month}/{day.year}"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write a hospital's messy export.")
    parser.add_argument("path", type=Path)
    parser.add_argument("--encoding", default="cp1252", help="such as cp1252 or utf-8-sig")
    given = parser.parse_args()
    write_messy_export(given.path, given.encoding)
