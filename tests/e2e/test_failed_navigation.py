"""A failed navigation says why, and leaves a usable page."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.responses import Response

from tests.conftest import SessionBrowser, connect_browser
from tests.site import Site

pytestmark = pytest.mark.anyio


@pytest.mark.slow
async def test_failed_navigation_does_not_affect_the_next(site: Site, tmp_path: Path) -> None:
    good = site.page("<p>here</p>")
    async with connect_browser(site, cwd=tmp_path) as browser:
        for _ in range(10):
            error = await browser.refused("navigate", url="http://127.0.0.1:9/")
            assert error["code"] == "NAVIGATION_FAILED"
            assert (await browser.call("navigate", url=good))["status"] == 200


@pytest.mark.slow
async def test_navigation_failure_is_not_blamed_on_another_blocked_request(
    site: Site, tmp_path: Path
) -> None:
    async def answer_empty(_: Request) -> Response:
        return Response(status_code=204)

    image = f"{site.at('localhost')}/image?"
    page = f"<script>setInterval(() => {{ new Image().src = '{image}' + Math.random() }}, 25)</script>"
    async with connect_browser(site, "--block-domain", "localhost", cwd=tmp_path) as browser:
        await browser.show(page)
        error = await browser.refused("navigate", url=site.route(answer_empty))

    assert error["code"] == "NAVIGATION_FAILED"


@pytest.mark.slow
async def test_proxy_error_response_is_not_a_page(site: Site, tmp_path: Path) -> None:
    async with connect_browser(site, "--block-domain", "localhost", cwd=tmp_path) as browser:
        error = await browser.refused("navigate", url="http://a b/")

    assert error["code"] in ("INVALID_URL", "NAVIGATION_FAILED")


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/", "http://nowhere.invalid/"])
async def test_call_after_a_failed_navigation_works_or_reports_the_failure(
    browser: SessionBrowser, url: str
) -> None:
    """The browser's own page about the failure comes a moment after the failure."""
    good = browser.site.page("<p>here</p>")
    for _ in range(3):
        await browser.call("navigate", url=good)
        await browser.refused("navigate", url=url)
        error = await browser.refused("reload")
        assert error["message"].startswith(f"{url} could not be opened: net::ERR_")
        assert error["details"] == {"url": url}
        await browser.refused("navigate", url=url)
        moved = await browser.call("go_back")
        assert (moved["url"], moved["status"], moved["moved"]) == (good, 200, True)


async def test_history_step_staying_on_the_error_page_is_a_failure(browser: SessionBrowser) -> None:
    url, good = "http://127.0.0.1:9/", browser.site.page("<p>here</p>")
    await browser.call("navigate", url=good)
    await browser.refused("navigate", url=url)
    await browser.call("go_back")
    await browser.refused("go_forward")
    for _ in range(2):
        error = await browser.refused("go_forward")
        assert error["message"].startswith(f"{url} could not be opened: ")
        assert error["details"] == {"url": url}
    assert (await browser.call("go_back"))["url"] == good


@pytest.mark.slow
async def test_a_link_that_fails_can_be_reloaded(browser: SessionBrowser) -> None:
    await browser.show("<a href='http://127.0.0.1:9/'>go</a>")
    for _ in range(3):
        await browser.call("click", selector="a")
        error = await browser.refused("reload")
        assert error["message"].startswith("http://127.0.0.1:9/ could not be opened: net::ERR_")
        await browser.call("go_back")
