"""anjana's k-anonymity: raises the level of the column with most values until every group has k records."""

import json
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from anjana.anonymity import k_anonymity

folder = Path(sys.argv[1])
task = json.loads((folder / "task.json").read_text())
data = pd.read_csv(folder / "data.csv", dtype=str, keep_default_na=False)


def of_bands(values, widths):
    """Levels of numbers: themselves, intervals of each width, everything."""
    numbers = [int(value) for value in values]
    levels = {0: np.array(values)}
    for level, width in enumerate(widths, 1):
        levels[level] = np.array([f"{n // width * width}-{n // width * width + width - 1}" for n in numbers])
    levels[len(levels)] = np.array(["*"] * len(values))
    return levels


def of_paths(paths):
    """Levels of a tree whose leaves are all equally deep."""
    return {level: np.array([path[level] for path in paths]) for level in range(len(paths[0]))}


levels = {
    name: of_bands(sorted(set(data[name]), key=int), task["bands"][name])
    if name in task["bands"]
    else of_paths(task["paths"][name])
    for name in data.columns
}
busy = time.process_time()
made = k_anonymity(data, [], list(data.columns), task["k"], 0, levels)
busy = time.process_time() - busy
if made.empty:
    sys.exit("no release found")
made[list(data.columns)].to_csv(folder / "release.csv", index=False)
print(busy)
