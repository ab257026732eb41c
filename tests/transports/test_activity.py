"""The activity tracker, which decides when a background server without clients ends."""

from __future__ import annotations

import asyncio

import pytest

from footlight.transports.activity import ActivityTracker

pytestmark = pytest.mark.anyio


async def test_tracker_is_idle_only_after_the_last_user_leaves() -> None:
    tracker = ActivityTracker()
    with tracker():
        with tracker():
            alone = asyncio.create_task(tracker.wait_until_idle(0.01))
            await asyncio.wait([alone], timeout=0.1)
            while_two = alone.done()
        await asyncio.wait([alone], timeout=0.1)
        while_one = alone.done()

    async with asyncio.timeout(20):
        await alone

    assert (while_two, while_one) == (False, False)
