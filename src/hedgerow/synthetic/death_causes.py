"""Causes of death: when in life each is likely, and for whom."""

from __future__ import annotations

from typing import NamedTuple

from hedgerow.synthetic.trees import Tree


class Cause(NamedTuple):
    """A cause of death: its chapter, manner of death, weight by stage of life, and how much likelier by sex."""

    chapter: str
    manner: str
    by_stage: tuple[float, float, float, float, float, float]  # infant, young, adult, middle-aged, old, very old
    by_sex: tuple[float, float] = (1, 1)


CAUSES: dict[str, Cause] = {
    "heart attack": Cause("circulatory", "natural", (0, 1, 6, 14, 13, 11), (0.8, 1.2)),
    "coronary heart disease": Cause("circulatory", "natural", (0, 1, 6, 15, 18, 18), (0.8, 1.2)),
    "heart failure": Cause("circulatory", "natural", (0, 1, 2, 3, 5, 9)),
    "stroke": Cause("circulatory", "natural", (0, 1, 3, 5, 8, 10), (1.1, 0.9)),
    "hypertension": Cause("circulatory", "natural", (0, 0, 3, 4, 3, 4)),
    "lung cancer": Cause("cancer", "natural", (0, 0, 3, 12, 11, 3), (0.9, 1.1)),
    "colon cancer": Cause("cancer", "natural", (0, 0, 2, 4, 3, 2)),
    "breast cancer": Cause("cancer", "natural", (0, 0, 5, 6, 3, 2), (2, 0.02)),
    "prostate cancer": Cause("cancer", "natural", (0, 0, 0, 2, 4, 4), (0, 2)),
    "pancreatic cancer": Cause("cancer", "natural", (0, 0, 1, 3, 2.5, 1)),
    "leukemia": Cause("cancer", "natural", (0.3, 4, 2, 2, 2, 1.2)),
    "other cancer": Cause("cancer", "natural", (0.5, 6, 7, 12, 10, 5)),
    "chronic lung disease": Cause("respiratory", "natural", (0, 0.5, 1, 6, 11, 6)),
    "pneumonia": Cause("respiratory", "natural", (3, 2, 2, 2, 4, 6)),
    "influenza": Cause("respiratory", "natural", (1, 1, 0.5, 0.5, 0.6, 1)),
    "diabetes": Cause("metabolic", "natural", (0, 1, 4, 6, 4, 2.5)),
    "kidney failure": Cause("metabolic", "natural", (0, 0.5, 2, 3, 3.5, 3)),
    "liver cirrhosis": Cause("digestive", "natural", (0, 0, 7, 7, 1.5, 0.3), (0.8, 1.2)),
    "bowel disease": Cause("digestive", "natural", (0.5, 0.5, 1, 1, 1.4, 1.6)),
    "Alzheimer's disease": Cause("nervous", "natural", (0, 0, 0, 0.3, 5, 13), (1.2, 0.8)),
    "Parkinson's disease": Cause("nervous", "natural", (0, 0, 0, 0.2, 2, 1.6), (0.8, 1.2)),
    "epilepsy": Cause("nervous", "natural", (0.5, 3, 2, 0.6, 0.3, 0.2)),
    "sepsis": Cause("infection", "natural", (2, 1, 2, 2, 2, 2)),
    "HIV disease": Cause("infection", "natural", (0, 1, 6, 1.5, 0.1, 0), (0.5, 1.5)),
    "tuberculosis": Cause("infection", "natural", (0, 0, 0.1, 0.1, 0.2, 0.1)),
    "prematurity": Cause("perinatal", "natural", (40, 0, 0, 0, 0, 0)),
    "birth defect": Cause("perinatal", "natural", (25, 6, 1, 0.3, 0.1, 0)),
    "sudden infant death": Cause("perinatal", "natural", (15, 0, 0, 0, 0, 0)),
    "complication of pregnancy": Cause("pregnancy", "natural", (0, 1, 0.6, 0, 0, 0), (2, 0)),
    "motor vehicle accident": Cause("injury", "accident", (1, 50, 30, 22, 12, 3)),
    "fall": Cause("injury", "accident", (2, 3, 5, 15, 50, 75)),
    "poisoning by accident": Cause("injury", "accident", (0, 25, 50, 40, 6, 1)),
    "drowning": Cause("injury", "accident", (5, 12, 4, 3, 2, 1)),
    "fire": Cause("injury", "accident", (2, 5, 3, 4, 5, 3)),
    "suffocation": Cause("injury", "accident", (60, 3, 2, 4, 8, 8)),
    "suicide by firearm": Cause("injury", "suicide", (0, 45, 45, 52, 70, 70), (0.5, 1.2)),
    "suicide by hanging": Cause("injury", "suicide", (0, 40, 30, 20, 12, 15)),
    "suicide by poison": Cause("injury", "suicide", (0, 10, 18, 22, 14, 10), (1.6, 0.7)),
    "assault by firearm": Cause("injury", "homicide", (5, 85, 75, 55, 35, 30), (0.7, 1.1)),
    "assault by other means": Cause("injury", "homicide", (90, 15, 25, 45, 60, 65)),
    "unknown cause": Cause("unknown", "undetermined", (30, 10, 10, 10, 10, 10)),
    "poisoning, intent unknown": Cause("unknown", "undetermined", (1, 10, 25, 15, 2, 0.5)),
    "cause pending": Cause("unknown", "pending", (1, 1, 1, 1, 1, 1)),
}
CAUSE_TREE = Tree(
    {
        chapter: {name: 1 for name, cause in CAUSES.items() if cause.chapter == chapter}
        for chapter in dict.fromkeys(cause.chapter for cause in CAUSES.values())
    }
)
