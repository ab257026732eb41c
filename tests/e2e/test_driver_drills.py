"""Failure drills with the driver: it dies or hangs, is reported correctly, and is replaced."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import signal
import time
from collections.abc import Generator
from pathlib import Path

import psutil
import pytest

from tests.e2e.test_drills import browsers_of, data, error, renderers_of, serve
from tests.http_client import raw
from tests.http_client import served as served_over_http
from tests.processes import kill_all, line_of, wait_until, wait_until_gone
from tests.side_by_side import run_in_folders
from tests.site import Site

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="needs POSIX signals"),
]

ONE_BROWSER = {"pool": {"minBrowsers": 1, "maxBrowsers": 1}}


def driver_of(pid: int) -> psutil.Process:
    children = psutil.Process(pid).children(recursive=True)
    return next(process for process in children if line_of(process)[-1:] == ["run-driver"])


@contextlib.contextmanager
def suspend(*processes: psutil.Process) -> Generator[None]:
    for process in processes:
        process.suspend()
    try:
        yield
    finally:
        for process in processes:
            with contextlib.suppress(psutil.Error):
                process.resume()


@pytest.mark.slow
async def test_dead_driver_is_reported_once_and_restarted(site: Site, tmp_path: Path) -> None:
    async with serve(site, tmp_path, config=ONE_BROWSER) as wire:
        page = site.page("<p>x</p>")
        await data(wire, "navigate", url=page)
        made = await data(wire, "create_session")
        browsers = browsers_of(wire.process.pid)
        began = site.page("begun")
        script = f"fetch('{began}').then(() => new Promise(() => {{}}))"
        calling = asyncio.create_task(error(wire, "evaluate", script=script))
        await wait_until(lambda: ("GET", began.removeprefix(site.url)) in site.requests)

        driver_of(wire.process.pid).kill()

        reported = await calling
        assert reported["code"] == "BROWSER_CRASHED", reported
        await data(wire, "navigate", url=page)
        assert await data(wire, "get_text", selector="p") == {"text": "x"}
        assert (await error(wire, "get_cookies", **made))["code"] == "BROWSER_CRASHED"
        assert await data(wire, "get_cookies", **made) == {"cookies": []}
        await wait_until_gone(browsers)


AFTER_CLICK = "<form method=post action={url}><button>Send</button></form>"
DURING_CLICK = """<button>Send</button><script>onmousedown = () => {{
  const request = new XMLHttpRequest();
  request.open('POST', '{url}', false);
  request.send();
}}</script>"""


@pytest.mark.slow
@pytest.mark.parametrize("html", [AFTER_CLICK, DURING_CLICK], ids=["after", "during"])
async def test_crash_of_a_click_is_reported_at_once_and_not_as_retryable(
    site: Site, tmp_path: Path, html: str
) -> None:
    await run_in_folders(
        tmp_path,
        *(functools.partial(crash_of_click, site, html, part) for part in ("driver", "browser", "page")),
    )


async def crash_of_click(site: Site, html: str, part: str, folder: Path) -> None:
    asked = site.never()
    async with serve(site, folder, config=ONE_BROWSER) as wire:
        await data(wire, "navigate", url=site.page(html.format(url=asked)))
        driver, (browser,) = driver_of(wire.process.pid), browsers_of(wire.process.pid)
        victims = {"driver": [driver], "browser": [browser], "page": renderers_of(browser)}[part]
        clicking = asyncio.create_task(error(wire, "click", selector="button", timeout=50_000))
        await wait_until(lambda: ("POST", asked.removeprefix(site.url)) in site.requests)

        kill_all(victims)

        async with asyncio.timeout(25):  # For a dead driver, it took the whole time of the call.
            reported = await clicking
        assert reported["code"] == "BROWSER_CRASHED", reported
        assert not reported["retryable"]
        assert reported["details"]["dispatched"]
        await data(wire, "navigate", url=site.page("<p>x</p>"))


@pytest.mark.slow
async def test_session_closed_while_the_driver_is_slow_leaves_no_page(site: Site, tmp_path: Path) -> None:
    async with serve(site, tmp_path, config=ONE_BROWSER) as wire:
        server = psutil.Process(wire.process.pid)
        others = renderers_of(server)
        made = await data(wire, "create_session")
        await data(wire, "navigate", url=site.page("<p>x</p>"), **made)
        pages = [each for each in renderers_of(server) if each not in others]
        assert pages

        with suspend(driver_of(wire.process.pid)):
            assert await data(wire, "close_session", **made) == {**made, "closed": True}

        await wait_until_gone(pages)


@pytest.mark.slow
async def test_silent_browser_is_replaced_for_the_next_session(site: Site, tmp_path: Path) -> None:
    await run_in_folders(
        tmp_path,
        *(
            functools.partial(replace_silent_browser, site, closed)
            for closed in ("before", "meanwhile", "after a refusal")
        ),
    )


async def replace_silent_browser(site: Site, closed: str, folder: Path) -> None:
    async with serve(site, folder, config=ONE_BROWSER) as wire:
        made = await data(wire, "create_session")
        await data(wire, "navigate", url=site.page("<p>x</p>"), **made)
        (browser,) = browsers_of(wire.process.pid)
        if closed == "before":
            await data(wire, "close_session", **made)

        with suspend(browser):
            if closed == "after a refusal":
                refusal = await error(wire, "create_session")
                assert refusal["message"] == "The browser does not respond, and other sessions use it"
            if closed != "before":
                assert await data(wire, "close_session", **made) == {**made, "closed": True}
            made = await data(wire, "create_session")
            await data(wire, "navigate", url=site.page("<p>y</p>"), **made)
            assert await data(wire, "get_text", selector="p", **made) == {"text": "y"}

        await wait_until_gone([browser])


@pytest.mark.slow
async def test_a_server_is_ready_again_after_its_driver_died(site: Site, tmp_path: Path) -> None:
    async with served_over_http(tmp_path, config=ONE_BROWSER) as server, raw(server) as client:
        from tests.http_client import data

        for _ in range(2):
            made = await data(client, "create_session")
            await data(client, "navigate", url=site.page("<p>x</p>"), **made)

            driver_of(server.pid).kill()

            assert (await client.send(method="GET", path="/readyz")).status_code == 200
            made = await data(client, "create_session")
            await data(client, "navigate", url=site.page("<p>x</p>"), **made)
            assert await data(client, "get_text", selector="p", **made) == {"text": "x"}


@pytest.mark.slow
async def test_a_stopped_driver_is_reported_soon_after_the_deadline(site: Site, tmp_path: Path) -> None:
    async with serve(site, tmp_path, config=ONE_BROWSER) as wire:
        await data(wire, "navigate", url=site.page("<button>x</button>"))
        with suspend(driver_of(wire.process.pid)):
            for tool, arguments in (("click", {"selector": "button"}), ("get_text", {"selector": "button"})):
                began = time.monotonic()
                message = await error(wire, tool, timeout=300, **arguments)

                assert message["code"] == "TIMEOUT"
                assert "the driver of the browsers does not respond either" in message["message"]
                assert "closedPages" not in message["details"]
                assert time.monotonic() - began < 8  # It was 16 s.

        assert await data(wire, "get_text", selector="button") == {"text": "x"}


STUCK = "<button onclick='for (;;);'>x</button>"


@pytest.mark.slow
async def test_stopped_page_process_is_not_reported_as_a_busy_script(site: Site, tmp_path: Path) -> None:
    await run_in_folders(
        tmp_path,
        functools.partial(read_from_stopped_page, site),
        functools.partial(leave_stopped_page, site),
        functools.partial(click_into_busy_script, site),
    )


async def read_from_stopped_page(site: Site, folder: Path) -> None:
    async with serve(site, folder, config=ONE_BROWSER) as wire:
        await data(wire, "navigate", url=site.page(STUCK))
        (browser,) = browsers_of(wire.process.pid)
        with suspend(*renderers_of(browser)):
            brief = await error(wire, "get_text", selector="button", timeout=300)
            message = await error(wire, "get_text", selector="button", timeout=10_000)

    assert "and stays open: its process does not respond either: it is stopped" in brief["message"]
    assert "closedPages" not in brief["details"]
    assert "the page's process does not respond either: it is stopped" in message["message"]
    assert message["details"]["closedPages"] == ["page-1"]


async def leave_stopped_page(site: Site, folder: Path) -> None:
    async with serve(site, folder, config=ONE_BROWSER) as wire:
        page = site.page(STUCK)
        await data(wire, "navigate", url=page)
        (browser,) = browsers_of(wire.process.pid)
        with suspend(*renderers_of(browser)):
            message = await error(wire, "navigate", url=page, timeout=10_000)

    assert "the page's process does not respond either: it is stopped" in message["message"]


async def click_into_busy_script(site: Site, folder: Path) -> None:
    async with serve(site, folder, config=ONE_BROWSER) as wire:
        await data(wire, "navigate", url=site.page(STUCK))
        message = await error(wire, "click", selector="button", timeout=10_000)

    assert "a script in the page does not end" in message["message"]


@pytest.mark.slow
@pytest.mark.parametrize("part", ["driver", "browser"])
async def test_server_is_not_ready_while_driver_or_browser_is_stopped(
    site: Site, tmp_path: Path, part: str
) -> None:
    async with served_over_http(tmp_path, config=ONE_BROWSER) as server, raw(server) as client:
        assert (await client.send(method="GET", path="/readyz")).status_code == 200
        stopped = driver_of(server.pid) if part == "driver" else browsers_of(server.pid)[0]
        with suspend(stopped):
            answer = await client.send(method="GET", path="/readyz")

            assert answer.status_code == 503
            assert part in answer.json()["reason"]
            assert "does not respond" in answer.json()["reason"]

        assert (await client.send(method="GET", path="/readyz")).status_code == 200


@pytest.mark.slow
async def test_stopped_browser_is_not_reported_as_a_busy_page(site: Site, tmp_path: Path) -> None:
    async with serve(site, tmp_path, config=ONE_BROWSER) as wire:
        await data(wire, "navigate", url=site.page("<button>x</button>"))
        (browser,) = browsers_of(wire.process.pid)
        stopped = [browser, *browser.children(recursive=True)]
        for process in stopped:
            process.suspend()
        began = time.monotonic()
        try:
            message = [
                await error(wire, tool, timeout=300, **arguments)
                for tool, arguments in (
                    ("click", {"selector": "button"}),
                    ("get_all_text", {"selector": "button"}),
                    ("navigate", {"url": site.page("<p>x</p>")}),
                )
            ]
        finally:
            for process in stopped:
                process.resume()

        for each in message:
            assert each["code"] == "TIMEOUT"
            assert "the browser does not respond either" in each["message"]
            assert "script" not in each["message"]
            assert "closedPages" not in each["details"]
        assert time.monotonic() - began < 20
        assert [page["pageId"] for page in (await data(wire, "list_sessions"))["sessions"][0]["pages"]] == [
            "page-1"
        ]
        await data(wire, "navigate", url=site.page("<p>again</p>"))
        assert await data(wire, "get_text", selector="p") == {"text": "again"}


async def test_zero_minimum_browsers_starts_none_until_needed(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOOTLIGHT_POOL_MIN_BROWSERS", "0")
    async with serve(site, tmp_path, config={"pool": {"maxBrowsers": 1}}) as wire:
        assert (await data(wire, "list_sessions"))["sessions"] == []
        assert browsers_of(wire.process.pid) == []

        await data(wire, "navigate", url=site.page("<p>x</p>"))
        assert len(browsers_of(wire.process.pid)) == 1
