"""The least cost of moving one distribution into another, by plain augmenting paths."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Mapping
from fractions import Fraction
from typing import Any

Ground = Callable[[Any, Any], Fraction]


def transport(have: Mapping[Hashable, Fraction], want: Mapping[Hashable, Fraction], ground: Ground) -> Fraction:
    """Least cost of moving earth: cheapest ways to and fro, one after the other, until all is where it should be."""
    moved: dict[tuple[Hashable, Hashable], Fraction] = {}
    have, want = dict(have), dict(want)
    while any(have.values()):
        reach: dict[tuple[str, Hashable], tuple[Fraction, Any]] = {
            ("have", place): (Fraction(0), None) for place, earth in have.items() if earth
        }
        for _ in range(len(have) + len(want)):
            for one, other in itertools.product(have, want):
                steps = [(("have", one), ("want", other), ground(one, other))]
                steps += [(("want", other), ("have", one), -ground(one, other))] if moved.get((one, other)) else []
                for start, end, cost in steps:
                    if start in reach and (end not in reach or reach[start][0] + cost < reach[end][0]):
                        reach[end] = (reach[start][0] + cost, start)
        end = min((("want", place) for place, lack in want.items() if lack), key=lambda place: reach[place][0])
        way = [end]
        while reach[way[-1]][1] is not None:
            way.append(reach[way[-1]][1])
        way.reverse()
        earth = min(have[way[0][1]], want[end[1]])
        for (side, here), (_, there) in itertools.pairwise(way):
            if side == "want":
                earth = min(earth, moved[there, here])
        for (side, here), (_, there) in itertools.pairwise(way):
            pair = (here, there) if side == "have" else (there, here)
            moved[pair] = moved.get(pair, Fraction(0)) + (earth if side == "have" else -earth)
        have[way[0][1]] -= earth
        want[end[1]] -= earth
    return sum((earth * ground(*pair) for pair, earth in moved.items()), Fraction(0))
