"""The errors in a page's console since a mark."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import anyio
import pytest

from footlight.browser.context.options import SessionOptions
from footlight.browser.driver.playwright_api import Error
from footlight.browser.network.console import Message
from footlight.browser.sessions.engine import Engine
from footlight.browser.sessions.session import Session
from footlight.browser.sessions.tables.pooled_sessions import PooledSessions
from footlight.caller import LOCAL
from footlight.config import PoolSettings, Settings

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def sessions(anyio_backend: str) -> AsyncGenerator[PooledSessions]:
    engine = Engine(Settings(pool=PoolSettings(minBrowsers=1)))
    engine.start()
    sessions = await engine.sessions()
    assert isinstance(sessions, PooledSessions)
    yield sessions
    await engine.close()


@pytest.fixture
async def session(sessions: PooledSessions) -> AsyncGenerator[Session]:
    session = await sessions.create(SessionOptions(), caller=LOCAL)
    yield session
    await sessions.close(session.id, caller=LOCAL)


async def run(session: Session, script: str, page_id: str = "page-1") -> None:
    await (await session.page_table.get(page_id)).playwright.evaluate(script)


def texts(messages: list[Message]) -> list[str]:
    return [message.text for message in messages]


async def test_errors_since_a_mark_exclude_earlier_ones(session: Session) -> None:
    await session.page_table.get()
    await run(session, "console.error('earlier')")
    assert texts(await session.console.errors_since(session.console.mark())) == ["earlier"]

    mark = session.console.mark()
    assert await session.console.errors_since(mark) == []
    await run(session, "console.warn('no error'); console.error('later'); console.log('nor this')")

    assert texts(await session.console.errors_since(mark)) == ["later"]
    assert await session.console.errors_since(session.console.mark()) == []


async def test_repeated_error_is_reported_again(session: Session) -> None:
    await session.page_table.get()
    await run(session, "console.error('same')")
    await session.console.errors_since(session.console.mark())
    mark = session.console.mark()
    await run(session, "console.error('same')")

    assert texts(await session.console.errors_since(mark)) == ["same"]


async def test_uncaught_errors_are_included(session: Session) -> None:
    await session.page_table.get()
    mark = session.console.mark()
    await run(session, "setTimeout(() => { throw new Error('nobody caught') })")

    with anyio.fail_after(10):
        while not (errors := await session.console.errors_since(mark)):
            pass

    assert texts(errors) == ["Uncaught Error: nobody caught"]


async def test_reported_errors_are_limited_per_page(session: Session) -> None:
    await session.page_table.get()
    await session.context.new_page()
    mark = session.console.mark()
    await run(session, "for (let i = 0; i < 9; i++) console.error('error ' + i)")
    await run(session, "console.error('elsewhere')", "page-2")

    assert texts(await session.console.errors_since(mark, "page-1")) == [f"error {i}" for i in range(5)]
    assert texts(await session.console.errors_since(mark, "page-1", most=2)) == ["error 0", "error 1"]
    assert texts(await session.console.errors_since(mark, "page-2")) == ["elsewhere"]
    assert len(await session.console.errors_since(mark, most=20)) == 10


async def test_closed_page_has_no_pending_errors(session: Session) -> None:
    page = await session.page_table.get()
    mark = session.console.mark()
    await page.close()

    assert await session.console.errors_since(mark, "page-1") == []


async def test_messages_are_fetched_only_if_there_are_new_ones(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page may write hundreds of messages before an action that writes none."""
    page = (await session.page_table.get()).playwright
    fetches: list[str] = []

    async def fetch(**options: Any) -> Any:
        fetches.append(options["filter"])
        return await type(page).console_messages(page, **options)

    monkeypatch.setattr(page, "console_messages", fetch)
    await run(session, "console.error('first')")
    assert texts(await session.console.errors_since(0)) == ["first"]
    assert fetches == ["all", "since-navigation"]

    mark = session.console.mark()
    await run(session, "document.title = 'quiet'")
    assert await session.console.errors_since(mark) == []
    assert len(fetches) == 2

    for number in range(3):
        await run(session, f"console.error('a {number}'); console.error('b {number}')")
        assert texts(await session.console.errors_since(mark)) == [f"a {number}", f"b {number}"]
        assert len(fetches) == 3 + number
        mark = session.console.mark()

    await page.goto("data:text/html,<script>console.error('of a new document')</script>")
    assert texts(await session.console.errors_since(mark)) == ["of a new document"]


async def test_messages_after_a_failed_fetch_are_found(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (await session.page_table.get()).playwright
    mark = session.console.mark()
    await session.console.errors_since(mark)
    await run(session, "console.error('kept')")

    async def fail(**_: Any) -> Any:
        raise Error("The page does not respond")

    with monkeypatch.context() as patch:
        patch.setattr(page, "console_messages", fail)
        assert await session.console.errors_since(mark) == []

    assert texts(await session.console.errors_since(mark)) == ["kept"]


async def test_each_message_of_a_page_that_writes_meanwhile_is_found_once(session: Session) -> None:
    page = (await session.page_table.get()).playwright
    mark = session.console.mark()
    writing = asyncio.create_task(
        page.evaluate(
            """async () => {
              for (let i = 0; i < 60; i++) {
                console.error('message ' + i);
                await new Promise((resolve) => setTimeout(resolve, i % 4));
              }
            }"""
        )
    )
    while not writing.done():
        await session.console.fetch()
    await writing

    assert texts(await session.console.errors_since(mark, most=100)) == [f"message {i}" for i in range(60)]


@pytest.mark.slow
async def test_console_value_handles_are_released(session: Session) -> None:
    """Playwright keeps a handle for each value until it is told to forget it, here and in its driver."""
    page = await session.page_table.get()
    write = "number => { for (let i = 0; i < 150; i++) console.log('message', number, {i}, document.body) }"
    for number in range(12):
        await page.playwright.evaluate(write, number)
        await session.console.fetch()
    await session.console.fetch()

    known = page.playwright._impl_obj._connection._objects.values()  # type: ignore[attr-defined]
    handles = [each for each in known if type(each).__name__ in ("JSHandle", "ElementHandle")]
    assert len(handles) <= 2 * 200 * 4
