"""anonypy's Mondrian; it writes every group as intervals of numbers and sets of values."""

import json
import sys
import time
from pathlib import Path

import anonypy
import pandas as pd

folder = Path(sys.argv[1])
task = json.loads((folder / "task.json").read_text())
data = pd.read_csv(folder / "data.csv", dtype=str, keep_default_na=False)
columns = list(data.columns)
for name in columns:
    data[name] = data[name].astype(float).astype(int) if name in task["bands"] else data[name].astype("category")
data["sensitive"] = "x"  # it wants a sensitive column, and counts records by it
busy = time.process_time()
rows = anonypy.Preserver(data, columns, "sensitive").anonymize_k_anonymity(k=task["k"])
busy = time.process_time() - busy
made = pd.DataFrame(rows)
made = made.loc[made.index.repeat(made["count"])]
for name in columns:
    made[name] = [cell[0] if isinstance(cell, list) else cell for cell in made[name]]
made[columns].to_csv(folder / "release.csv", index=False)
print(busy)
