"""Work that is waited for aside, so that the server goes on answering others.

The toolkit has a pool of a few threads for this. Whoever waits for a reader holds one for a while, so a few people who
bring hostile tables would hold them all. Threads that wait cost next to nothing; here are enough for every session.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

MOST_THREADS = 400
Found = TypeVar("Found")
_threads = ThreadPoolExecutor(MOST_THREADS, thread_name_prefix="aside")


async def aside(work: Callable[..., Found], *arguments: Any, **more: Any) -> Found:
    """Do some work in a thread, and wait for it without holding up anybody else."""
    return await asyncio.get_running_loop().run_in_executor(_threads, partial(work, *arguments, **more))
