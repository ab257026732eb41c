"""The errors of a page's console since a mark, for answers that tell of them."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import anyio
import pytest

from footlight.browser.console import Message
from footlight.browser.engine import Engine
from footlight.browser.session import Session
from footlight.caller import LOCAL
from footlight.config import PoolSettings, Settings

pytestmark = pytest.mark.anyio


@pytest.fixture
async def session() -> AsyncGenerator[Session]:
    engine = Engine(Settings(pool=PoolSettings(minBrowsers=1)))
    engine.start()
    yield await (await engine.sessions()).get(None, caller=LOCAL)
    await engine.close()


async def run(session: Session, script: str, page_id: str = "page-1") -> None:
    await (await session.page(page_id)).playwright.evaluate(script)


def texts(messages: list[Message]) -> list[str]:
    return [message.text for message in messages]


async def test_errors_since_a_mark_are_those_that_became_known_after_it(session: Session) -> None:
    await session.page()
    await run(session, "console.error('earlier')")
    assert texts(await session.console.errors_since(session.console.mark())) == ["earlier"]

    mark = session.console.mark()
    assert await session.console.errors_since(mark) == []
    await run(session, "console.warn('no error'); console.error('later'); console.log('nor this')")

    assert texts(await session.console.errors_since(mark)) == ["later"]
    assert await session.console.errors_since(session.console.mark()) == []


async def test_an_error_that_comes_again_is_known_again(session: Session) -> None:
    await session.page()
    await run(session, "console.error('same')")
    await session.console.errors_since(session.console.mark())
    mark = session.console.mark()
    await run(session, "console.error('same')")

    assert texts(await session.console.errors_since(mark)) == ["same"]


async def test_uncaught_errors_count(session: Session) -> None:
    await session.page()
    mark = session.console.mark()
    await run(session, "setTimeout(() => { throw new Error('nobody caught') })")

    with anyio.fail_after(10):
        while not (errors := await session.console.errors_since(mark)):
            pass

    assert texts(errors) == ["Uncaught Error: nobody caught"]


async def test_the_first_few_of_one_page_are_told(session: Session) -> None:
    await session.page()
    await session.context.new_page()
    mark = session.console.mark()
    await run(session, "for (let i = 0; i < 9; i++) console.error('error ' + i)")
    await run(session, "console.error('elsewhere')", "page-2")

    assert texts(await session.console.errors_since(mark, "page-1")) == [f"error {i}" for i in range(5)]
    assert texts(await session.console.errors_since(mark, "page-1", most=2)) == ["error 0", "error 1"]
    assert texts(await session.console.errors_since(mark, "page-2")) == ["elsewhere"]
    assert len(await session.console.errors_since(mark, most=20)) == 10


async def test_a_page_that_is_gone_has_told_all(session: Session) -> None:
    page = await session.page()
    mark = session.console.mark()
    await page.close()

    assert await session.console.errors_since(mark, "page-1") == []
