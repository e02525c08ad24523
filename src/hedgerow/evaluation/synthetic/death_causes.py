"""Causes of death: when in life each is likely, and for whom."""

from __future__ import annotations

from typing import NamedTuple

from hedgerow.evaluation.synthetic.trees import NestedNames


class CauseOfDeath(NamedTuple):
    """A cause of death: its chapter, manner of death, weight by phase of life, and how much likelier by sex."""

    chapter: str
    manner: str
    by_phase: tuple[float, float, float, float, float, float]  # infant, young, adult, middle-aged, old, very old
    by_sex: tuple[float, float] = (1, 1)


CAUSES: dict[str, CauseOfDeath] = {
    "heart attack": CauseOfDeath("circulatory", "natural", (0, 1, 6, 14, 13, 11), (0.8, 1.2)),
    "coronary heart disease": CauseOfDeath("circulatory", "natural", (0, 1, 6, 15, 18, 18), (0.8, 1.2)),
    "heart failure": CauseOfDeath("circulatory", "natural", (0, 1, 2, 3, 5, 9)),
    "stroke": CauseOfDeath("circulatory", "natural", (0, 1, 3, 5, 8, 10), (1.1, 0.9)),
    "hypertension": CauseOfDeath("circulatory", "natural", (0, 0, 3, 4, 3, 4)),
    "lung cancer": CauseOfDeath("cancer", "natural", (0, 0, 3, 12, 11, 3), (0.9, 1.1)),
    "colon cancer": CauseOfDeath("cancer", "natural", (0, 0, 2, 4, 3, 2)),
    "breast cancer": CauseOfDeath("cancer", "natural", (0, 0, 5, 6, 3, 2), (2, 0.02)),
    "prostate cancer": CauseOfDeath("cancer", "natural", (0, 0, 0, 2, 4, 4), (0, 2)),
    "pancreatic cancer": CauseOfDeath("cancer", "natural", (0, 0, 1, 3, 2.5, 1)),
    "leukemia": CauseOfDeath("cancer", "natural", (0.3, 4, 2, 2, 2, 1.2)),
    "other cancer": CauseOfDeath("cancer", "natural", (0.5, 6, 7, 12, 10, 5)),
    "chronic lung disease": CauseOfDeath("respiratory", "natural", (0, 0.5, 1, 6, 11, 6)),
    "pneumonia": CauseOfDeath("respiratory", "natural", (3, 2, 2, 2, 4, 6)),
    "influenza": CauseOfDeath("respiratory", "natural", (1, 1, 0.5, 0.5, 0.6, 1)),
    "diabetes": CauseOfDeath("metabolic", "natural", (0, 1, 4, 6, 4, 2.5)),
    "kidney failure": CauseOfDeath("metabolic", "natural", (0, 0.5, 2, 3, 3.5, 3)),
    "liver cirrhosis": CauseOfDeath("digestive", "natural", (0, 0, 7, 7, 1.5, 0.3), (0.8, 1.2)),
    "bowel disease": CauseOfDeath("digestive", "natural", (0.5, 0.5, 1, 1, 1.4, 1.6)),
    "Alzheimer's disease": CauseOfDeath("nervous", "natural", (0, 0, 0, 0.3, 5, 13), (1.2, 0.8)),
    "Parkinson's disease": CauseOfDeath("nervous", "natural", (0, 0, 0, 0.2, 2, 1.6), (0.8, 1.2)),
    "epilepsy": CauseOfDeath("nervous", "natural", (0.5, 3, 2, 0.6, 0.3, 0.2)),
    "sepsis": CauseOfDeath("infection", "natural", (2, 1, 2, 2, 2, 2)),
    "HIV disease": CauseOfDeath("infection", "natural", (0, 1, 6, 1.5, 0.1, 0), (0.5, 1.5)),
    "tuberculosis": CauseOfDeath("infection", "natural", (0, 0, 0.1, 0.1, 0.2, 0.1)),
    "prematurity": CauseOfDeath("perinatal", "natural", (40, 0, 0, 0, 0, 0)),
    "birth defect": CauseOfDeath("perinatal", "natural", (25, 6, 1, 0.3, 0.1, 0)),
    "sudden infant death": CauseOfDeath("perinatal", "natural", (15, 0, 0, 0, 0, 0)),
    "complication of pregnancy": CauseOfDeath("pregnancy", "natural", (0, 1, 0.6, 0, 0, 0), (2, 0)),
    "motor vehicle accident": CauseOfDeath("injury", "accident", (1, 50, 30, 22, 12, 3)),
    "fall": CauseOfDeath("injury", "accident", (2, 3, 5, 15, 50, 75)),
    "poisoning by accident": CauseOfDeath("injury", "accident", (0, 25, 50, 40, 6, 1)),
    "drowning": CauseOfDeath("injury", "accident", (5, 12, 4, 3, 2, 1)),
    "fire": CauseOfDeath("injury", "accident", (2, 5, 3, 4, 5, 3)),
    "suffocation": CauseOfDeath("injury", "accident", (60, 3, 2, 4, 8, 8)),
    "suicide by firearm": CauseOfDeath("injury", "suicide", (0, 45, 45, 52, 70, 70), (0.5, 1.2)),
    "suicide by hanging": CauseOfDeath("injury", "suicide", (0, 40, 30, 20, 12, 15)),
    "suicide by poison": CauseOfDeath("injury", "suicide", (0, 10, 18, 22, 14, 10), (1.6, 0.7)),
    "assault by firearm": CauseOfDeath("injury", "homicide", (5, 85, 75, 55, 35, 30), (0.7, 1.1)),
    "assault by other means": CauseOfDeath("injury", "homicide", (90, 15, 25, 45, 60, 65)),
    "unknown cause": CauseOfDeath("unknown", "undetermined", (30, 10, 10, 10, 10, 10)),
    "poisoning, intent unknown": CauseOfDeath("unknown", "undetermined", (1, 10, 25, 15, 2, 0.5)),
    "cause pending": CauseOfDeath("unknown", "pending", (1, 1, 1, 1, 1, 1)),
}
CAUSE_TREE = NestedNames(
    {
        chapter: {name: 1 for name, cause in CAUSES.items() if cause.chapter == chapter}
        for chapter in dict.fromkeys(cause.chapter for cause in CAUSES.values())
    }
)
