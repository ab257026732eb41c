"""The downloads of a session."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from tests.conftest import SessionBrowser

pytestmark = pytest.mark.anyio


def file_at(browser: SessionBrowser, content: bytes, name: str) -> str:
    async def handler(_: Request) -> Response:
        return Response(
            content,
            media_type="application/octet-stream",
            headers={"Content-Disposition": f'attachment; filename="{name}"'},
        )

    return browser.site.route(handler)


async def test_downloads_are_listed_newest_last(browser: SessionBrowser) -> None:
    assert await browser.call("downloads") == {"entries": []}
    listed = []
    for number, content in enumerate([b"first", b"the second"], 1):
        name = f"{browser.session_id}-{number}.txt"
        url = file_at(browser, content, name)
        await browser.show(f"<a href={url}>get</a>")
        await browser.call("click", selector="a")
        listed.append(
            {
                "id": f"download-{number}",
                "suggestedFilename": name,
                "url": url,
                "pageId": "page-1",
                "state": "completed",
                "path": str(browser.downloads / name),
                "bytes": len(content),
            }
        )

    assert await browser.call("downloads") == {"entries": listed}
    other = await browser.call("create_session")
    assert await browser.call("downloads", **other) == {"entries": []}
    await browser.call("close_session", **other)


async def test_answer_waits_for_the_download_that_a_link_announces(browser: SessionBrowser) -> None:
    release = asyncio.Event()

    async def handler(_: Request) -> Response:
        await release.wait()
        return Response(b"late", headers={"Content-Disposition": 'attachment; filename="late.txt"'})

    await browser.show(f"<a download href={browser.site.route(handler)}>get</a>")
    clicking = asyncio.create_task(browser.call("click", selector="a"))
    try:
        assert await asyncio.wait([clicking], timeout=1) == (set(), {clicking})
    finally:
        release.set()
    [answer] = (await clicking)["downloads"]
    assert answer["suggestedFilename"] == "late.txt"


async def test_too_long_download_name_is_shortened(browser: SessionBrowser) -> None:
    """Bytes count there, of which these letters have three and four."""
    for letter in ("漢", "𠀀"):
        await browser.show(
            f"<a download='{letter * 120}.{letter * 30}' href='data:application/octet-stream,abc'>get</a>"
        )
        [answer] = (await browser.call("click", selector="a"))["downloads"]

        name = Path(answer["path"]).name
        assert len(name.encode()) <= 255
        assert set(name) == {letter, "."}
        assert await asyncio.to_thread(Path(answer["path"]).read_bytes) == b"abc"


def download_until(end: asyncio.Event, name: str, **headers: str) -> Callable[[Request], Awaitable[Response]]:
    """Return a handler of a download that sends 100,000 bytes and no more until the event."""

    async def handler(_: Request) -> Response:
        async def content():
            yield b"x" * 100_000
            await end.wait()

        return StreamingResponse(
            content(),
            media_type="application/octet-stream",
            headers={"Content-Disposition": f'attachment; filename="{name}"', **headers},
        )

    return handler


async def test_running_download_is_removed_when_its_session_ends(browser: SessionBrowser) -> None:
    name = f"{browser.session_id}.bin"
    goes_on = asyncio.Event()

    session = await browser.call("create_session")
    url = browser.site.page(f"<a href={browser.site.route(download_until(goes_on, name))}>get</a>")
    await browser.call("navigate", url=url, **session)
    await browser.call("click", selector="a", timeout=1_000, **session)
    [running] = (await browser.call("downloads", **session))["entries"]
    await browser.call("close_session", **session)
    goes_on.set()

    assert (running["suggestedFilename"], running["state"]) == (name, "running")
    assert [path.name for path in browser.downloads.glob("*") if browser.session_id in path.name] == []


@pytest.mark.slow
async def test_running_and_failed_downloads_are_reported(browser: SessionBrowser) -> None:
    name = f"{browser.session_id}.bin"
    broken = asyncio.Event()

    begin = asyncio.Event()

    async def when_begun(_: Request) -> Response:
        await begin.wait()
        return Response()

    file = download_until(broken, name, **{"Content-Length": "200000"})
    url, go = browser.site.route(file), browser.site.route(when_begun)
    await browser.show("<p>x</p>")
    await browser.call("evaluate", script=f"void fetch('{go}').then(() => {{ location.href = '{url}' }})")
    begin.set()
    about = {"id": "download-1", "suggestedFilename": name, "url": url, "pageId": "page-1"}

    async with asyncio.timeout(10):
        while not (running := (await browser.call("downloads"))["entries"]):
            pass
        broken.set()
        while (failed := (await browser.call("downloads"))["entries"])[0]["state"] == "running":
            pass

    assert running == [{**about, "state": "running"}]
    [download] = failed
    assert download.pop("failure")
    assert download == {**about, "state": "failed"}


async def test_long_data_url_of_a_download_is_truncated(browser: SessionBrowser) -> None:
    await browser.show(f"<a download=long.txt href='data:text/plain,{'x' * 5000}'>get</a>")
    await browser.call("click", selector="a")

    [download] = (await browser.call("downloads"))["entries"]

    assert download["url"] == f"data:text/plain,{'x' * 984}…"
    assert (download["state"], download["bytes"]) == ("completed", 5000)


async def test_unknown_parameter_of_downloads_is_refused(browser: SessionBrowser) -> None:
    error = await browser.refused("downloads", state="failed")

    assert (error["code"], error["details"]["parameter"]) == ("INVALID_PARAMETER", "state")


@pytest.mark.parametrize(
    "html", ["<a target=_blank href={}>get</a>", "<a onclick=\"window.open('{}')\">get</a>"]
)
async def test_a_tab_that_is_opened_for_a_download_is_closed(browser: SessionBrowser, html: str) -> None:
    url = file_at(browser, b"content", f"{browser.session_id}.txt")
    await browser.show(html.format(url))

    answer = await browser.call("click", selector="a")

    assert [each["url"] for each in answer["downloads"]] == [url]
    assert "newPages" not in answer
    assert [tab["pageId"] for tab in (await browser.call("tabs", action="list"))["tabs"]] == ["page-1"]
