"""Make adult4.csv, the table of the thesis's experiments, from adult.data of the UCI Adult data set.

Usage: python prepare.py adult.data adult4.csv

Keeps the records without a missing value ("?"), 30,162 of them, and four of the fifteen columns. The data set is at
https://archive.ics.uci.edu/dataset/2/adult.
"""

import csv
import sys
from pathlib import Path

COLUMNS = {"age": 0, "education-num": 4, "capital-gain": 10, "salary": 14}

source, target = map(Path, sys.argv[1:])
with source.open(newline="") as lines:
    rows = [row for row in csv.reader(lines, skipinitialspace=True) if len(row) == 15 and "?" not in row]
with target.open("w", newline="") as lines:
    writer = csv.writer(lines)
    writer.writerow(COLUMNS)
    writer.writerows([row[place] for place in COLUMNS.values()] for row in rows)
print(f"{len(rows):,} records written to {target}")
