"""Projects as ARX saves them, made by a script: a table, hierarchies, settings, and the lattice with every node judged.

The lattice is searched by brute force, with plain loops that share nothing with ours.
"""

from __future__ import annotations

import itertools
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

LINES = Mapping[str, Sequence[Sequence[str]]]


@dataclass(frozen=True)
class Project:
    """What is saved: rows under a header, a hierarchy for every quasi-identifier, what is asked."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    hierarchies: LINES
    sensitive: Sequence[str] = ()
    k: int = 2
    criteria: Sequence[str] = ()
    most_withheld: float = 0.0
    metric: str = "Precision"

    def best(self) -> tuple[dict[str, int], list[tuple[tuple[int, ...], float, bool]]]:
        """The levels with the least loss by height, the first if several; and every node with its loss."""
        names = list(self.hierarchies)
        ways = [{line[0]: line for line in self.hierarchies[name]} for name in names]
        heights = [len(next(iter(way.values()))) for way in ways]
        at = [self.header.index(name) for name in names]
        nodes, best = [], None
        for levels in itertools.product(*map(range, heights)):
            keys = [
                tuple(way[row[place]][level] for way, place, level in zip(ways, at, levels, strict=True))
                for row in self.rows
            ]
            sizes = Counter(keys)
            withheld = sum(size for size in sizes.values() if size < self.k)
            fits = withheld <= self.most_withheld * len(self.rows) and withheld < len(self.rows)
            kept = len(self.rows) - withheld
            cost = sum(level / (height - 1) for level, height in zip(levels, heights, strict=True))
            loss = (kept * cost + withheld * len(names)) / (len(self.rows) * len(names))
            nodes.append((levels, loss, fits))
            if fits and (best is None or loss < best[1] - 1e-12):
                best = levels, loss
        assert best is not None
        return dict(zip(names, best[0], strict=True)), nodes

    def save(self, path: Path, more: Mapping[str, bytes] | None = None) -> None:
        """Write it as ARX 3 does; ``more`` are entries besides, or instead."""
        _, nodes = self.best()
        entries = {
            "metadata.xml": "<metadata><version>3.7.0</version><vocabulary>2.0</vocabulary></metadata>",
            "project.xml": "<project><name>x</name><separator>;</separator><quote>&quot;</quote></project>",
            "data/input.csv": "".join(";".join(row) + "\n" for row in (self.header, *self.rows)),
            "input/config.xml": self._config(),
            "input/config.dat": "\xac\xed a Java object",
            "input/definition.xml": "<definition>" + "".join(map(self._column, self.header)) + "</definition>",
            "output/definition.xml": "<definition></definition>",
            "lattice.xml": "<lattice><level depth='0'>" + "".join(map(_node, nodes)) + "</level></lattice>",
        }
        for name, lines in self.hierarchies.items():
            entries[f"input/hierarchies/{name}.csv"] = "".join(";".join(line) + "\n" for line in lines)
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, text in {**{name: text.encode() for name, text in entries.items()}, **(more or {})}.items():
                archive.writestr(name, text)

    def _config(self) -> str:
        criteria = (f"{self.k}-anonymity", *self.criteria)
        return (
            f"<config><practicalMonotonicity>false</practicalMonotonicity>"
            f"<relativeMaxOutliers>{self.most_withheld}</relativeMaxOutliers><metric>{self.metric}</metric>"
            f"<attributeWeights></attributeWeights><criteria>"
            + "".join(f"<criterion>{escape(criterion)}</criterion>" for criterion in criteria)
            + "</criteria></config>"
        )

    def _column(self, name: str) -> str:
        kind = "SENSITIVE" if name in self.sensitive else "QUASI_IDENTIFYING"
        kind = kind if name in (*self.sensitive, *self.hierarchies) else "IDENTIFYING"
        reference = f"<ref>hierarchies/{escape(name)}.csv</ref>" if name in self.hierarchies else ""
        return (
            f"<assigment><name>{escape(name)}</name><type>{kind}_ATTRIBUTE</type><datatype>String</datatype>"
            f"{reference}<min>All</min><max>All</max></assigment>"
        )


def _node(node: tuple[tuple[int, ...], float, bool]) -> str:
    levels, loss, fits = node
    state = "ANONYMOUS" if fits else "NOT_ANONYMOUS"
    return f"<n i='0'><t>{list(levels)}</t><a>{state}</a><c>true</c><l><u>{loss!r}</u><f>{loss!r}</f></l></n>"
