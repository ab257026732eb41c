"""Find and end the process of a browser."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from footlight.browser.driver.driver_process import find_process_ids
from footlight.browser.driver.playwright_api import Error
from footlight.browser.driver.shielding import shield_until_done

if TYPE_CHECKING:
    import psutil
    from playwright.async_api import BrowserContext

__all__ = ["close_context", "end_process", "find_process", "listener_on"]

END_SECONDS = 2.0


async def find_process(context: BrowserContext) -> psutil.Process:
    import psutil

    assert context.browser is not None
    return psutil.Process((await find_process_ids(context.browser, "browser"))[0])


async def close_context(context: BrowserContext) -> None:
    with contextlib.suppress(Error, TimeoutError):
        async with asyncio.timeout(END_SECONDS):
            await shield_until_done(context.close())  # A cancelled close leaves the context open forever.


def end_process(process: psutil.Process) -> None:
    """Wait until the process ends. If it does not, kill it and its children."""
    import psutil

    try:
        family = [process, *process.children(recursive=True)]
        _, alive = psutil.wait_procs(family, timeout=END_SECONDS)
    except psutil.NoSuchProcess:
        return
    for each in alive:
        with contextlib.suppress(psutil.Error):
            each.kill()
    psutil.wait_procs(alive, timeout=END_SECONDS)


def listener_on(port: int) -> str:
    """Describe the process that listens on the port, if the system reports it."""
    import psutil

    with contextlib.suppress(psutil.Error):
        for each in psutil.net_connections("tcp"):
            if each.status == psutil.CONN_LISTEN and each.laddr and each.laddr[1] == port and each.pid:
                return f"process {each.pid} ({psutil.Process(each.pid).name()})"
    return "another process"
