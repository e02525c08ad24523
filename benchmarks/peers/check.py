"""The smallest group of a release, counted by pycanon."""

import sys
from pathlib import Path

import pandas as pd
from pycanon import anonymity

release = pd.read_csv(Path(sys.argv[1]), dtype=str, keep_default_na=False)
print(anonymity.k_anonymity(release, list(release.columns)))
