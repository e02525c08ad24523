"""How often anonymeter guesses a sensitive column of people who are in a release, and of people who are not."""

import json
import sys
import warnings
from pathlib import Path

import pandas as pd
from anonymeter.evaluators import InferenceEvaluator

warnings.simplefilter("ignore")  # it warns where the control is guessed as well, which is for the reader to judge
folder = Path(sys.argv[1])
asked = json.loads((folder / "asked.json").read_text())
original, released, control = (pd.read_csv(folder / f"{name}.csv") for name in ("original", "released", "control"))
evaluator = InferenceEvaluator(
    ori=original,
    syn=released,
    control=control,
    aux_cols=asked["known"],
    secret=asked["secret"],
    regression=False,
    n_attacks=min(asked["people"], len(original), len(control)),
)
evaluator.evaluate(n_jobs=1)
found = evaluator.results(confidence_level=0.95)
gained = found.risk()
print(
    json.dumps(
        {
            "with": [found.attack_rate.value, found.attack_rate.error],
            "without": [found.control_rate.value, found.control_rate.error],
            "gained": [gained.value, *gained.ci],
        }
    )
)
