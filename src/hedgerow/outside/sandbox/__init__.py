"""Running a function of ours on a stranger's bytes in a child process, with limits on memory, time and output.

A parser that crashes on damaged bytes, or unpacks a few bytes to more than there is memory, ends a child, and the
caller gets one :class:`~hedgerow.errors.DataError`. The caller never parses: it opens the files, regular ones only,
and hands over descriptors. What comes back is JSON, and Arrow batches that the child has validated in full.

>>> with run("hedgerow.outside.sandbox.trying:count_bytes", {}, [__file__]) as answer:
...     answer.facts["bytes"] > 100
True
"""

from hedgerow.outside.sandbox.answer import Answer
from hedgerow.outside.sandbox.limits import Limits
from hedgerow.outside.sandbox.running import prepare, run, stay_here
from hedgerow.outside.sandbox.task import TaskResult

__all__ = ["Answer", "Limits", "TaskResult", "prepare", "run", "stay_here"]
