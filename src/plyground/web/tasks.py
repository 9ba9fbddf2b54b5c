"""Tasks of the server that nobody waits for, and what a page is told when one fails."""

from __future__ import annotations

import asyncio
import logging
import threading
import traceback
from collections import deque
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from plyground.errors import Error
from plyground.play.background import NAME

LOG = logging.getLogger("plyground")
Kind = TypeVar("Kind")


def hold(tasks: set[asyncio.Task[None]], work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
    """Start a task that the set holds until its end: asyncio alone would let it be collected."""
    task = asyncio.get_running_loop().create_task(work)
    tasks.add(task)
    task.add_done_callback(tasks.discard)
    return task


class Tasks:
    """Tasks that end with the server. One that fails is logged."""

    def __init__(self) -> None:
        self.running: set[asyncio.Task[None]] = set()
        self.failures: deque[BaseException] = deque(maxlen=10)

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = hold(self.running, work)
        task.add_done_callback(self._finished)
        return task

    def _finished(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self.failures.append(error)
            LOG.error("a task of the server has failed\n%s", "".join(traceback.format_exception(error)))

    async def close(self) -> None:
        for task in list(self.running):
            task.cancel()
        await asyncio.gather(*self.running, return_exceptions=True)


async def in_thread(function: Callable[[], Kind]) -> Kind:
    """What a function that may compile returns. A server that ends does not wait for it, as it would with
    `asyncio.to_thread`."""
    loop, future = asyncio.get_running_loop(), asyncio.get_running_loop().create_future()

    def tell(set_it: Callable[[Any], None], value: Any) -> None:
        if not future.cancelled():
            set_it(value)

    def run() -> None:
        try:
            done: tuple[Callable[[Any], None], Any] = future.set_result, function()
        except BaseException as error:
            done = future.set_exception, error
        with suppress(RuntimeError):  # the server has ended
            loop.call_soon_threadsafe(tell, *done)

    threading.Thread(target=run, name=NAME, daemon=True).start()
    return await future


def sentence(error: Exception) -> str:
    """What a page is told of an error; of one that is not ours the kind alone, for it may quote a whole state."""
    if isinstance(error, Error):
        return str(error)
    LOG.error("a request or an agent has failed\n%s", "".join(traceback.format_exception(error)))
    return f"the server has met an error that it does not know: {type(error).__name__}"
