"""The tools `nav.*`: navigating from page to page."""

from __future__ import annotations

import asyncio

import pytest
from starlette.requests import Request
from starlette.responses import Response

from tests.toolsets.szkrabok.conftest import Named, get_first_text

pytestmark = pytest.mark.anyio


async def test_goto_reports_the_final_url(named: Named) -> None:
    url = named.site.page("<title>First</title>")

    assert await named.call("nav.goto", url=named.site.redirect(url)) == {
        "url": url,
        "title": "First",
        "status": 200,
    }


async def test_goto_waits_for_the_requested_load_state(named: Named) -> None:
    asked, answer = asyncio.Event(), asyncio.Event()

    async def image(_: Request) -> Response:
        asked.set()
        await answer.wait()
        return Response(b"", media_type="image/png")

    url = named.site.page(f"<title>Early</title><img src={named.site.route(image)}>")
    arrived = await named.call("nav.goto", url=url, wait="domcontentloaded", timeout=5000)

    assert arrived["title"] == "Early"
    async with asyncio.timeout(20):
        await asked.wait()
    answer.set()


async def test_back_and_forward_walk_the_history(named: Named) -> None:
    first, second = await named.show("<title>One</title>"), await named.show("<title>Two</title>")

    assert await named.call("nav.back") == {"url": first, "title": "One", "moved": True}
    assert await named.call("nav.forward") == {"url": second, "title": "Two", "moved": True}
    assert await named.call("nav.forward") == {"url": second, "title": "Two", "moved": False}


async def test_navigation_failure_begins_with_the_browser_error(named: Named) -> None:
    result = await named.answer("nav.goto", url="http://127.0.0.1:1/")

    assert result.is_error
    assert get_first_text(result) == "net::ERR_UNSAFE_PORT at http://127.0.0.1:1/"
    assert result.meta is not None
    error = result.meta["footlight/error"]
    assert (error["code"], error["retryable"]) == ("NAVIGATION_FAILED", False)


async def test_unresponsive_page_ends_with_the_call_timeout(named: Named) -> None:
    never = named.site.never()

    error = await named.refused("nav.goto", url=never, timeout=400)

    assert (error["code"], error["message"]) == ("TIMEOUT", "Navigation timed out after 400ms")


async def test_changes_are_reported_on_request(named: Named) -> None:
    plain = await named.call("nav.goto", url=named.site.page("<button>Save</button>"))
    answer = await named.call("nav.goto", url=named.site.page("<button>Send</button>"), observe="full")

    assert "observation" not in plain
    assert 'button "Send"' in answer["observation"]["text"]
