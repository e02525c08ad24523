"""Charts as SVG text of our own: no script, no font, nothing to install, nothing from elsewhere.

Every chart is as wide as what it is put into, and takes its colours from the page around it. The same input gives the
same bytes. Labels are shown as they are given; whatever they hold cannot become markup. ``bars``, ``planes`` and
``heat`` have the kinds of charts, ``axes`` and ``parts`` what they are made of, ``plots`` the pictures that commands
write to files. May import nothing of Hedgerow but errors and outputs.
"""

from hedgerow.reports.charts.bars import bar_chart, histogram
from hedgerow.reports.charts.bins import size_bins
from hedgerow.reports.charts.planes import line_chart, scatter

__all__ = ["bar_chart", "histogram", "line_chart", "scatter", "size_bins"]
