"""Work that continues after its caller was cancelled."""

from __future__ import annotations

import asyncio
import gc
from typing import Any

import pytest

from footlight.browser.driver.shielding import shield_until_done

pytestmark = pytest.mark.anyio


async def test_late_error_of_shielded_work_is_not_reported_as_lost() -> None:
    reported: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context))
    goes_on, fails = asyncio.Event(), asyncio.Event()

    async def close() -> None:
        await goes_on.wait()
        fails.set()
        raise ConnectionError("the browser has ended")

    try:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0):
                await shield_until_done(close())
        goes_on.set()
        await fails.wait()
        await asyncio.sleep(0)
        gc.collect()
    finally:
        asyncio.get_running_loop().set_exception_handler(None)

    assert reported == []


async def test_error_of_shielded_work_reaches_its_caller() -> None:
    async def fail() -> None:
        raise ConnectionError("the browser has ended")

    with pytest.raises(ConnectionError, match="the browser has ended"):
        await shield_until_done(fail())
