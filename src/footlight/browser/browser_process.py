"""The process of a browser that is ours alone: found, and surely ended."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any, cast

from footlight.browser._playwright import Error

if TYPE_CHECKING:
    import psutil
    from playwright.async_api import BrowserContext

__all__ = ["close_context", "end_process", "process_of"]

END_SECONDS = 2.0


async def process_of(context: BrowserContext) -> psutil.Process:
    import psutil

    assert context.browser is not None
    cdp = await context.browser.new_browser_cdp_session()
    told = cast("dict[str, Any]", await cdp.send("SystemInfo.getProcessInfo"))
    await cdp.detach()
    pid = next(int(each["id"]) for each in told["processInfo"] if each["type"] == "browser")
    return psutil.Process(pid)


async def close_context(context: BrowserContext) -> None:
    with contextlib.suppress(Error, TimeoutError):
        async with asyncio.timeout(END_SECONDS):
            await context.close()


def end_process(process: psutil.Process) -> None:
    """Wait until it is gone, and kill it with all below it where it does not go."""
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
