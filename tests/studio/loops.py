"""Run a coroutine to its end, also where a browser keeps an event loop of its own in this thread."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Result = TypeVar("Result")


def run(work: Coroutine[object, object, Result]) -> Result:
    """Return what a coroutine returns: a thread of its own has an event loop of its own."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()
