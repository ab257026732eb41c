"""The lifetime of the process: signals, the death of the parent, and the last seconds."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import threading
from collections.abc import Callable

__all__ = ["end_process_at_last", "handle_signals", "kill_descendants", "wait_until_orphaned"]

logger = logging.getLogger(__name__)

ORPHAN_CHECK_SECONDS = 0.5
LAST_SECONDS = 4.5
"""The time from the request to stop to the end of the process, whatever hangs."""


def handle_signals(act: Callable[[], None]) -> None:
    for number in (signal.SIGTERM, signal.SIGINT, *((signal.SIGHUP,) if hasattr(signal, "SIGHUP") else ())):
        with contextlib.suppress(NotImplementedError):  # Windows
            asyncio.get_running_loop().add_signal_handler(number, act)


async def wait_until_orphaned() -> None:
    """Return when the parent process is gone. Another process may hold its end of our input open."""
    parent = os.getppid()
    while os.getppid() == parent:  # noqa: ASYNC110 - the system has no event for it
        await asyncio.sleep(ORPHAN_CHECK_SECONDS)
    logger.warning("the parent process is gone")


def end_process_at_last() -> None:
    """Kill this process and its children in `LAST_SECONDS`, whatever still hangs then."""

    def end() -> None:
        kill_descendants()
        os._exit(1)

    timer = threading.Timer(LAST_SECONDS, end)
    timer.daemon = True
    timer.start()


def kill_descendants() -> None:
    import psutil

    with contextlib.suppress(psutil.Error):
        for child in psutil.Process().children(recursive=True):
            with contextlib.suppress(psutil.Error):
                child.kill()
