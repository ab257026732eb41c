"""The composition root: settings become a running server, and nothing of it stays when it ends."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import importlib
import logging
import os
import signal
import sys
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from footlight.browser.engine import Engine
    from footlight.config import Settings

__all__ = ["run"]

logger = logging.getLogger(__name__)

ORPHAN_CHECK_SECONDS = 0.5
LAST_SECONDS = 4.5
"""From the wish to stop to the end of the process, whatever hangs."""


def run(settings: Settings) -> int:
    """Serve until the client is gone; the exit status. Does not return where something hangs."""
    # Half of the start is imports, and collecting garbage is a sixth of those.
    gc.disable()
    try:
        return asyncio.run(_serve(settings))
    finally:
        _kill_descendants()


async def _serve(settings: Settings) -> int:
    from footlight.browser.engine import Engine

    engine = Engine(settings)
    engine.start()
    # The driver starts in its own process while the SDK, which is most of the start, is imported here.
    await asyncio.to_thread(importlib.import_module, "footlight.server.protocol")
    await asyncio.to_thread(importlib.import_module, "footlight.transports.stdio")
    gc.enable()
    gc.freeze()
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT, *((signal.SIGHUP,) if hasattr(signal, "SIGHUP") else ())):
        with contextlib.suppress(NotImplementedError):  # Windows
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
    waits = [
        asyncio.create_task(_serve_stdio(settings, engine)),
        asyncio.create_task(stop.wait()),
        asyncio.create_task(_orphaned()),
    ]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        _end_at_last()
        for wait in waits[1:]:
            wait.cancel()
        await engine.close()
        waits[0].cancel()
        with contextlib.suppress(asyncio.CancelledError, TimeoutError):
            async with asyncio.timeout(1.0):
                await waits[0]
    logger.info("stopped")
    return 0


async def _serve_stdio(settings: Settings, engine: Engine) -> None:
    from footlight.server.protocol import make_server
    from footlight.transports.stdio import serve_stdio

    dispatcher, instructions = make_dispatcher(settings, engine)
    server = make_server(dispatcher, settings, instructions=instructions)
    async with serve_stdio() as (read, write):
        sys.stderr.write("Playwright MCP Server running on stdio\n")
        sys.stderr.flush()
        await server.run(read, write, server.create_initialization_options())


def make_dispatcher(settings: Settings, engine: Engine) -> tuple[Any, str]:
    """The browser toolset over an engine, and what its instructions say."""
    from footlight.browser.storage import StateStore
    from footlight.server.dispatch import Dispatcher
    from footlight.toolsets.browser import INSTRUCTIONS, TOOLS

    states = StateStore(settings.session.state_directory)
    return Dispatcher(TOOLS, settings, sessions=engine.sessions, states=states), INSTRUCTIONS


async def _orphaned() -> None:
    """Return when whoever started us is gone. Its end of our input may be held open by another."""
    parent = os.getppid()
    while os.getppid() == parent:  # noqa: ASYNC110 - the system has no event for it
        await asyncio.sleep(ORPHAN_CHECK_SECONDS)
    logger.warning("the parent process is gone")


def _end_at_last() -> None:
    """What hangs now does not matter any more."""

    def end() -> None:
        _kill_descendants()
        os._exit(1)

    timer = threading.Timer(LAST_SECONDS, end)
    timer.daemon = True
    timer.start()


def _kill_descendants() -> None:
    import psutil

    with contextlib.suppress(psutil.Error):
        for child in psutil.Process().children(recursive=True):
            with contextlib.suppress(psutil.Error):
                child.kill()
