"""Pages that open popups or write to the console without end, while others use the browser."""

from __future__ import annotations

import asyncio
import time

import pytest

from tests.conftest import ENGINE, Browser, SessionBrowser
from tests.site import Site

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

LATE_SECONDS = 2.0
"""How late an answer may be on a busy machine. Without a limit it is late by more than 20 seconds."""


async def test_popups_beyond_the_limit_are_closed_and_reported(browser: SessionBrowser) -> None:
    opening = "for (let i = 0; i < 60; i++) window.open('about:blank', `w${i}`)"
    await browser.show(f'<button onclick="{opening}">Go</button>')

    answer = (await browser.answer("click", selector="button", timeout=60_000)).structured_content
    listed = await browser.call("tabs", action="list")
    own, _ = await asyncio.gather(
        browser.answer("tabs", action="new"), browser.call("click", selector="button", pageId="page-1")
    )

    assert answer is not None
    assert answer["success"], answer
    assert answer["data"]["refusedPages"] == 11
    assert len(listed["tabs"]) == 50
    assert not own.is_error, "a popup at the same time closes no page that a call opens"


@pytest.mark.skipif(ENGINE != "chromium", reason="only Chromium stops a script that floods the console")
async def test_console_flood_in_one_task_is_stopped(
    browser: SessionBrowser, shared_browser: Browser, site: Site
) -> None:
    script = "for (let i = 0; i < 1_000_000; i++) console.log(i)"
    other = (await shared_browser.call("create_session"))["sessionId"]
    await shared_browser.call("navigate", url=site.page("<p>other"), sessionId=other)
    await browser.show(f"<p>kept</p><button onclick='{script}'>Go</button>")
    began = time.monotonic()

    await browser.answer("click", selector="button", timeout=2_000)
    seconds = time.monotonic() - began

    assert seconds < 2 + LATE_SECONDS
    text = await shared_browser.call("get_text", selector="p", sessionId=other, timeout=60_000)
    assert text == {"text": "other"}
    assert await browser.call("get_text", selector="p", timeout=60_000) == {"text": "kept"}
    messages = (await browser.call("console_messages", limit=200))["messages"]
    assert any("A script was stopped" in each["text"] for each in messages), messages[-3:]
    await shared_browser.call("close_session", sessionId=other)
