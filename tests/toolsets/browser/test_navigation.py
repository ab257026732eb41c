"""Navigating from page to page."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from tests.conftest import SessionBrowser

pytestmark = pytest.mark.anyio


def remove_timing(data: dict[str, Any]) -> dict[str, Any]:
    """Return the answer of a navigation without its times, which always differ."""
    timing = data.pop("timing")
    assert set(timing) == {"startTime", "domContentLoaded", "loadComplete", "duration"}
    return data


def make_answer(url: str, *, status: int | None = 200, redirected: bool = False) -> dict[str, Any]:
    return {"url": url, "status": status, "redirected": redirected, "finalUrl": url}


async def test_navigate_reports_the_final_url_and_its_duration(browser: SessionBrowser) -> None:
    url = browser.site.page("<h1>Hello</h1>")
    before = time.time() * 1000

    data = await browser.call("navigate", url=url)

    timing = data["timing"]
    assert before - 1 <= timing["startTime"] <= time.time() * 1000
    assert 0 < timing["domContentLoaded"] <= timing["loadComplete"] <= timing["duration"]
    assert remove_timing(data) == make_answer(url)
    assert await browser.call("get_text", selector="h1") == {"text": "Hello"}


async def test_a_redirect_is_followed_and_reported(browser: SessionBrowser) -> None:
    goal = browser.site.page("<h1>Goal</h1>")
    url = browser.site.redirect(browser.site.redirect(goal))

    data = await browser.call("navigate", url=url)

    assert remove_timing(data) == make_answer(goal, redirected=True)


@pytest.mark.parametrize("status", [404, 500])
async def test_error_response_is_a_page_with_its_status(browser: SessionBrowser, status: int) -> None:
    url = browser.site.page("<h1>Sorry</h1>", status=status)

    assert remove_timing(await browser.call("navigate", url=url)) == make_answer(url, status=status)
    assert await browser.call("get_text", selector="h1") == {"text": "Sorry"}


async def test_response_without_content_leaves_the_page_and_is_reported(browser: SessionBrowser) -> None:
    url = (await browser.show("<p>here</p>"))["url"]
    empty = browser.site.page("", path="/empty", status=204)

    error = await browser.refused("navigate", url=empty)

    assert error["code"] == "NAVIGATION_FAILED"
    assert error["message"].startswith(f"{empty} has no document: the server answered 204")
    assert error["details"] == {"url": empty, "status": 204}
    assert (await browser.call("get_page_metadata"))["url"] == url


async def test_same_page_anchor_needs_no_request(browser: SessionBrowser) -> None:
    url = browser.site.page("<p id=end>End</p>")
    await browser.call("navigate", url=url)

    data = await browser.call("navigate", url=f"{url}#end")

    assert remove_timing(data) == make_answer(f"{url}#end", status=None)


async def test_data_and_blank_urls_can_be_opened(browser: SessionBrowser) -> None:
    inline = "data:text/html,<p>inline</p>"

    assert remove_timing(await browser.call("navigate", url=inline)) == make_answer(inline, status=None)
    assert await browser.call("get_text", selector="p") == {"text": "inline"}
    assert remove_timing(await browser.call("navigate", url="about:blank")) == make_answer(
        "about:blank", status=None
    )


async def test_navigation_waits_for_the_requested_load_state(browser: SessionBrowser) -> None:
    url = browser.site.page(f"<h1>Text first</h1><img src={browser.site.never()}>")

    data = await browser.call("navigate", url=url, waitUntil="domcontentloaded")

    assert data["timing"]["domContentLoaded"] > 0
    assert data["timing"]["loadComplete"] is None
    assert remove_timing(data) == make_answer(url)
    assert await browser.call("wait_for_load", state="domcontentloaded") == {"url": url}
    for state in ("load", "networkidle"):
        error = await browser.refused("wait_for_load", state=state, timeout=300)
        assert error["code"] == "TIMEOUT"
        assert error["message"] == f"The page did not reach the state {state} within 300ms"
        assert error["details"] == {"url": url, "timeout": 300}


async def test_network_idle_waits_for_later_requests_of_the_page(browser: SessionBrowser) -> None:
    data = browser.site.page("fetched")
    url = browser.site.page(
        f"<p>empty</p><script>onload = () => setTimeout(async () => document.querySelector('p')"
        f".textContent = await (await fetch('{data}')).text(), 50)</script>"
    )

    await browser.call("navigate", url=url, waitUntil="networkidle")

    assert await browser.call("get_text", selector="p") == {"text": "fetched"}
    assert await browser.call("wait_for_load", state="networkidle") == {"url": url}


async def test_wait_for_load_waits_until_the_last_image_is_there(browser: SessionBrowser) -> None:
    asked, answer = asyncio.Event(), asyncio.Event()

    async def image(_: Request) -> Response:
        asked.set()
        await answer.wait()
        return Response(b"", media_type="image/png")

    source = browser.site.route(image)
    url = browser.site.page(f"<img src={source}><script>onload = () => document.title = 'loaded'</script>")
    await browser.call("navigate", url=url, waitUntil="domcontentloaded")
    async with asyncio.timeout(20), asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(browser.call("wait_for_load"))
        await asked.wait()
        assert not waiting.done()
        answer.set()

    assert waiting.result() == {"url": url}
    assert (await browser.call("get_page_metadata"))["title"] == "loaded"


async def test_back_and_forward_walk_the_history_and_stop_at_its_ends(browser: SessionBrowser) -> None:
    first, second = browser.site.page("<h1>First</h1>"), browser.site.page("<h1>Second</h1>")
    await browser.call("navigate", url=first)
    await browser.call("navigate", url=second)

    back = remove_timing(await browser.call("go_back"))
    assert back == {**make_answer(first), "moved": True}
    assert await browser.call("get_text", selector="h1") == {"text": "First"}

    forward = remove_timing(await browser.call("go_forward"))
    assert forward == {**make_answer(second), "moved": True}
    assert await browser.call("get_text", selector="h1") == {"text": "Second"}

    end = remove_timing(await browser.call("go_forward"))
    assert end == {**make_answer(second, status=None), "moved": False}


async def test_same_document_history_moves_are_reported_as_moves(browser: SessionBrowser) -> None:
    url = browser.site.page("<p>one page</p>")
    await browser.call("navigate", url=url)
    await browser.call("evaluate", script="history.pushState(null, '', '#2')")

    back = remove_timing(await browser.call("go_back"))
    forward = remove_timing(await browser.call("go_forward"))

    assert back == {**make_answer(url, status=None), "moved": True}
    assert forward == {**make_answer(f"{url}#2", status=None), "moved": True}


async def test_a_new_page_has_no_history(browser: SessionBrowser) -> None:
    nowhere = make_answer("about:blank", status=None)

    assert remove_timing(await browser.call("go_back")) == {**nowhere, "moved": False}
    assert remove_timing(await browser.call("go_forward")) == {**nowhere, "moved": False}
    assert remove_timing(await browser.call("reload")) == nowhere


async def test_reload_requests_the_page_again(browser: SessionBrowser) -> None:
    visits = iter(range(1, 9))

    async def count(_: Request) -> Response:
        return HTMLResponse(f"<h1>{next(visits)}</h1>")

    url = browser.site.route(count)
    await browser.call("navigate", url=url)

    assert remove_timing(await browser.call("reload")) == make_answer(url)
    assert await browser.call("get_text", selector="h1") == {"text": "2"}


async def test_reload_without_cache_requests_every_resource_again(browser: SessionBrowser) -> None:
    async def script(_: Request) -> Response:
        return Response(
            "", media_type="text/javascript", headers={"cache-control": "max-age=3600, immutable"}
        )

    source = browser.site.route(script)
    await browser.show(f"<script src={source}></script>")
    path = source.removeprefix(browser.site.url)

    await browser.call("reload")
    assert browser.site.requests.count(("GET", path)) == 1

    await browser.call("reload", ignoreCache=True)
    assert browser.site.requests.count(("GET", path)) == 2


async def test_client_side_redirect_is_followed(browser: SessionBrowser) -> None:
    goal = browser.site.page("<h1>Goal</h1>")
    await browser.show(f"<script>location.replace('{goal}')</script>")

    assert await browser.call("wait_for_selector", selector="h1") == {"selector": "h1", "state": "visible"}
    assert (await browser.call("wait_for_load"))["url"] == goal


async def test_page_stays_usable_after_a_navigation_timeout(browser: SessionBrowser) -> None:
    url = (await browser.show("<h1>Still here</h1>"))["url"]
    never = browser.site.never()

    error = await browser.refused("navigate", url=never, timeout=400)

    assert error["message"] == "Navigation timed out after 400ms"
    assert error["details"] == {"url": never, "timeout": 400}
    assert await browser.call("get_text", selector="h1", timeout=3000) == {"text": "Still here"}
    assert remove_timing(await browser.call("reload", timeout=3000)) == make_answer(url)


@pytest.mark.slow
async def test_go_back_works_after_a_click_on_an_unresponsive_link(browser: SessionBrowser) -> None:
    first = (await browser.show("<h1>First</h1>"))["url"]
    never = browser.site.never()
    second = (await browser.show(f"<a href={never}>wait</a>"))["url"]

    error = await browser.refused("click", selector="a", timeout=400)

    assert error["message"] == (
        'The action on "a" timed out after 400ms; the action had been dispatched; '
        f"the page waits for {never}, which has not answered"
    )
    assert error["details"] == {
        "selector": "a",
        "page": second,
        "dispatched": True,
        "timeout": 400,
        "waitsFor": never,
    }
    assert not error["retryable"]
    assert remove_timing(await browser.call("go_back", timeout=3000)) == {**make_answer(first), "moved": True}
