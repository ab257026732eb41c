"""The lifetime of the process: signals, the end of the parent process, and the time limit of the shutdown."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import threading
from collections.abc import Callable

__all__ = ["handle_signals", "kill_descendants", "limit_shutdown", "wait_until_orphaned"]

logger = logging.getLogger(__name__)

ORPHAN_CHECK_SECONDS = 0.5
SHUTDOWN_SECONDS = 4.5
"""The maximum time from the request to stop to the end of the process."""


def handle_signals(act: Callable[[], None]) -> None:
    for number in (signal.SIGTERM, signal.SIGINT, *((signal.SIGHUP,) if hasattr(signal, "SIGHUP") else ())):
        with contextlib.suppress(NotImplementedError):  # Windows
            asyncio.get_running_loop().add_signal_handler(number, act)


async def wait_until_orphaned() -> None:
    """Wait until the parent process has ended.

    Standard input may stay open then, because another process may hold its other end.
    """
    parent = os.getppid()
    while os.getppid() == parent:  # noqa: ASYNC110 - the system has no event for it
        await asyncio.sleep(ORPHAN_CHECK_SECONDS)
    logger.warning("the parent process is gone")


def limit_shutdown() -> None:
    """Kill this process and its children if they still run after `SHUTDOWN_SECONDS`."""

    def end() -> None:
        kill_descendants()
        os._exit(1)

    timer = threading.Timer(SHUTDOWN_SECONDS, end)
    timer.daemon = True
    timer.start()


def kill_descendants() -> None:
    import psutil

    with contextlib.suppress(psutil.Error):
        for child in psutil.Process().children(recursive=True):
            with contextlib.suppress(psutil.Error):
                child.kill()
