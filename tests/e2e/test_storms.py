"""Pages that open popups without end."""

from __future__ import annotations

import asyncio

import pytest

from tests.conftest import SessionBrowser

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


async def test_popups_beyond_the_limit_are_closed_and_reported(browser: SessionBrowser) -> None:
    opening = "for (let i = 0; i < 60; i++) window.open('about:blank', `w${i}`)"
    await browser.show(f'<button onclick="{opening}">Go</button>')

    answer = (await browser.answer("click", selector="button", timeout=60_000)).structured_content
    listed = await browser.call("tabs", action="list")
    own, again = await asyncio.gather(
        browser.answer("tabs", action="new"),
        browser.answer("click", selector="button", pageId="page-1", observe="diff", timeout=60_000),
    )

    assert answer is not None
    assert answer["success"], answer
    assert answer["data"]["refusedPages"] == 11
    assert len(listed["tabs"]) == 50
    content = again.structured_content or {}
    assert content.get("effect") == "popup", content
    assert content["reason"].endswith("popups above the limit of pages were closed")
    assert not own.is_error, "a popup at the same time closes no page that a call opens"
