"""The table of pooled sessions when its limit is reached."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import anyio
import pytest

from footlight.browser.context.options import SessionOptions
from footlight.browser.sessions.engine import Engine
from footlight.browser.sessions.tables.pooled_sessions import EVICTION_IDLE_SECONDS, PooledSessions
from footlight.caller import Caller
from footlight.config import PoolSettings, SessionSettings, Settings
from footlight.errors import ResourceExhaustedError, SessionNotFoundError

pytestmark = pytest.mark.anyio

ADA, BOB, EVE = (Caller("anonymous", connection=name) for name in ("ada", "bob", "eve"))


@pytest.fixture
async def sessions() -> AsyncGenerator[PooledSessions]:
    """With room for two."""
    settings = Settings(session=SessionSettings(maxSessions=2), pool=PoolSettings(minBrowsers=1))
    engine = Engine(settings)
    engine.start()
    yield await engine.sessions()
    await engine.close()


async def test_idle_default_session_is_evicted(sessions: PooledSessions) -> None:
    """Its client may be gone for good, and nobody else can mean it."""
    made = await sessions.create(SessionOptions(), caller=ADA)
    idle = await sessions.get(None, caller=ADA)
    for each in (made, idle):
        each.last_used -= EVICTION_IDLE_SECONDS + 1

    new = await sessions.get(None, caller=BOB)

    assert sessions.list(caller=BOB) == [made, new]
    with pytest.raises(SessionNotFoundError, match="was ended to make room"):
        sessions.find(idle.id, caller=ADA)


async def test_busy_session_is_not_evicted(sessions: PooledSessions) -> None:
    await sessions.get(None, caller=ADA)
    working = await sessions.get(None, caller=BOB)
    working.last_used -= EVICTION_IDLE_SECONDS + 1

    async with working.lock:
        with pytest.raises(ResourceExhaustedError, match="All 2 sessions are in use"):
            await sessions.get(None, caller=EVE)


async def test_default_session_is_listed_only_to_its_connection(sessions: PooledSessions) -> None:
    """A session made by hand to the whole principal."""
    made = await sessions.create(SessionOptions(), caller=ADA)
    own = await sessions.get(None, caller=ADA)

    assert sessions.list(caller=ADA) == [made, own]
    assert sessions.list(caller=BOB) == [made]
    assert sessions.list(caller=Caller("somebody", named=True)) == []


async def test_session_closed_during_expiry_does_not_stop_the_reaper(sessions: PooledSessions) -> None:
    first, second = [await sessions.create(SessionOptions(), caller=ADA) for _ in range(2)]
    for each in (first, second):
        each.last_used -= 3_600

    reaping = asyncio.create_task(sessions.reap())
    while not first.closed:
        await anyio.lowlevel.checkpoint()
    await sessions.close(second.id, caller=ADA)
    await reaping

    assert sessions.list(caller=ADA) == []
