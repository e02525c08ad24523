"""Projects of ARX (``.deid``): read into a plan folder, and what a plan says written so that it can be entered there.

``archive.py`` reads a project in a child process, ``criteria.py`` says what ARX's privacy and quality models are called
here, ``reading.py`` makes the plan, ``notes.py`` lists what has no counterpart, ``writing.py`` goes the other way.

May import: what ``evaluation`` may. Start reading at ``reading.py``.
"""

from hedgerow.evaluation.arx.reading import FromArx, plan_from_arx
from hedgerow.evaluation.arx.writing import plan_to_arx

__all__ = ["FromArx", "plan_from_arx", "plan_to_arx"]
