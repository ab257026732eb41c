"""Events beside an action: new pages, dialogs, downloads, closed pages."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import Response

from tests.conftest import SessionBrowser

pytestmark = pytest.mark.anyio


# Pages


@pytest.mark.parametrize(
    "html",
    [
        "<button id=go onclick=\"window.open('{url}')\">window</button>",
        '<a id=go target=_blank href="{url}">tab</a>',
        '<a id=go target=_blank rel=opener href="{url}">tab</a>',
        "<button id=go onclick=\"window.open('{url}', '', 'noopener')\">window</button>",
        "<form target=_blank action='{url}'><button id=go>send</button></form>",
    ],
)
async def test_click_reports_the_page_that_it_opens(browser: SessionBrowser, html: str) -> None:
    url = browser.site.page("<h1>New</h1>") + "?"
    here = (await browser.show(html.replace("{url}", url)))["url"]

    data = await browser.call("click", selector="#go")

    assert data == {"url": here, "newPages": [{"pageId": "page-2", "url": url}]}
    assert await browser.call("get_text", selector="h1", pageId="page-2") == {"text": "New"}


async def test_a_middle_click_opens_a_tab(browser: SessionBrowser) -> None:
    url = browser.site.page("<h1>New</h1>")
    here = (await browser.show(f"<a href={url}>link</a>"))["url"]

    data = await browser.call("click", selector="a", button="middle")

    assert data == {"url": here, "newPages": [{"pageId": "page-2", "url": url}]}


async def test_slowly_opening_page_is_reported_too(browser: SessionBrowser) -> None:
    asked, answer = asyncio.Event(), asyncio.Event()

    async def slow(_: Request) -> Response:
        asked.set()
        await answer.wait()
        return Response("<h1>Slow</h1>", media_type="text/html")

    url = browser.site.route(slow)
    here = (await browser.show(f"<button onclick=\"window.open('{url}')\">open</button>"))["url"]
    async with asyncio.timeout(20), asyncio.TaskGroup() as tasks:
        clicking = tasks.create_task(browser.call("click", selector="button"))
        await asked.wait()
        assert not clicking.done()
        answer.set()

    assert clicking.result() == {"url": here, "newPages": [{"pageId": "page-2", "url": url}]}
    assert await browser.call("get_text", selector="h1", pageId="page-2") == {"text": "Slow"}


async def test_five_pages_opened_together_are_all_reported(browser: SessionBrowser) -> None:
    url = browser.site.page("<h1>Many</h1>")
    await browser.show(
        f"<button onclick=\"for (let i = 1; i < 6; i++) window.open('{url}?' + i)\">open</button>"
    )

    data = await browser.call("click", selector="button")

    opened = data["newPages"]
    assert sorted(page["url"] for page in opened) == [f"{url}?{number}" for number in range(1, 6)]
    assert [page["pageId"] for page in opened] == [f"page-{number}" for number in range(2, 7)]
    for page in opened:
        answer = await browser.call("evaluate", script="location.href", pageId=page["pageId"])
        assert answer == {"result": page["url"]}


async def open_pages(browser: SessionBrowser) -> list[str]:
    [session] = [
        session
        for session in (await browser.call("list_sessions"))["sessions"]
        if session["sessionId"] == browser.session_id
    ]
    return [page["pageId"] for page in session["pages"]]


async def test_page_ids_stay_when_other_pages_close(browser: SessionBrowser) -> None:
    url = browser.site.page("<h1>New</h1>")
    await browser.show(
        f"<button onclick=\"window.open('{url}?' + ++window.n)\">open</button><script>n = 0</script>"
    )
    for _ in range(2):
        await browser.call("click", selector="button")
    await browser.call("evaluate", script="setTimeout(() => window.close())", pageId="page-2")
    async with asyncio.timeout(10):
        while "page-2" in await open_pages(browser):
            pass

    error = await browser.refused("get_text", selector="h1", pageId="page-2")
    assert error["code"] == "INVALID_PARAMETER"
    assert error["message"] == ("pageId: no page page-2 is open in this session; open pages: page-1, page-3")
    assert error["details"] == {"parameter": "pageId", "pages": ["page-1", "page-3"]}

    answer = await browser.call("evaluate", script="location.href", pageId="page-3")
    assert answer == {"result": f"{url}?2"}
    again = await browser.call("click", selector="button")
    assert again["newPages"] == [{"pageId": "page-4", "url": f"{url}?3"}]


@pytest.mark.slow
async def test_waiting_page_does_not_block_actions_in_other_sessions(
    browser: SessionBrowser,
) -> None:
    await browser.show(f"<a href={browser.site.page('new')} target=_blank>open</a>")
    await browser.call("click", selector="a")
    never = browser.site.never()

    others = [await browser.call("create_session") for _ in range(3)]  # One shares the browser.

    for other in others:
        html = f"<script>onload = () => location.href = '{never}'</script>"
        assert (await browser.show(html, **other, timeout=1000))["status"] == 200
    for other in others:
        await browser.call("close_session", **other)


async def test_a_click_that_closes_its_own_page_succeeds(browser: SessionBrowser) -> None:
    url = browser.site.page("<button id=close onclick='window.close()'>close</button>")
    await browser.show(f"<button id=open onclick=\"window.open('{url}')\">open</button>")
    await browser.call("click", selector="#open")

    assert await browser.call("click", selector="#close", pageId="page-2") == {
        "url": url,
        "closedPages": ["page-2"],
    }
    error = await browser.refused("get_text", selector="body", pageId="page-2")
    assert error["details"] == {"parameter": "pageId", "pages": ["page-1"]}


# Dialogs


@pytest.mark.parametrize(
    ("script", "reported_dialog", "returned"),
    [
        ("alert('Saved')", {"type": "alert", "message": "Saved", "handled": "accepted"}, None),
        ("confirm('Sure?')", {"type": "confirm", "message": "Sure?", "handled": "dismissed"}, False),
        (
            "prompt('Name?', 'Bo')",
            {"type": "prompt", "message": "Name?", "defaultValue": "Bo", "handled": "dismissed"},
            None,
        ),
    ],
)
async def test_a_dialog_is_handled_by_policy_and_reported(
    browser: SessionBrowser, script: str, reported_dialog: dict[str, Any], returned: object
) -> None:
    here = (await browser.show(f'<button onclick="window.returned = {script} ?? null">ask</button>'))["url"]

    data = await browser.call("click", selector="button")

    assert data == {"url": here, "dialogs": [{"pageId": "page-1", **reported_dialog}]}
    assert await browser.call("evaluate", script="window.returned") == {"result": returned}


async def test_beforeunload_dialog_is_accepted_on_navigation(browser: SessionBrowser) -> None:
    await browser.show("<input><script>onbeforeunload = event => event.preventDefault()</script>")
    await browser.call("click", selector="input")

    data = await browser.show("<h1>Left</h1>")

    assert data["dialogs"] == [
        {"pageId": "page-1", "type": "beforeunload", "message": "", "handled": "accepted"}
    ]
    assert await browser.call("get_text", selector="h1") == {"text": "Left"}


@pytest.mark.parametrize("html", ["<body onload=\"alert('on')\">", "<script>alert('on')</script>"])
async def test_dialog_during_page_load_does_not_block_navigation(browser: SessionBrowser, html: str) -> None:
    data = await browser.show(f"{html}<h1>Loaded</h1>")

    assert data["dialogs"] == [{"pageId": "page-1", "type": "alert", "message": "on", "handled": "accepted"}]
    assert await browser.call("get_text", selector="h1") == {"text": "Loaded"}


async def test_only_the_last_twenty_dialogs_are_reported(browser: SessionBrowser) -> None:
    await browser.show("<button onclick='for (let i = 0; i < 30; i++) alert(i)'>ask</button>")

    data = await browser.call("click", selector="button")

    assert [dialog["message"] for dialog in data["dialogs"]] == [str(number) for number in range(10, 30)]


@pytest.mark.slow
async def test_page_that_opens_dialogs_endlessly_is_closed(browser: SessionBrowser) -> None:
    await browser.show("<button onclick=\"for (;;) alert('again')\">ask</button>")

    error = await browser.refused("click", selector="button", timeout=10_000)

    assert error["code"] == "TIMEOUT"
    assert error["details"]["closedPages"] == ["page-1"]
    again = {"pageId": "page-1", "type": "alert", "message": "again", "handled": "accepted"}
    assert error["details"]["dialogs"] == [again] * 20
    await browser.show("<h1>Free</h1>")
    assert await browser.call("get_text", selector="h1") == {"text": "Free"}


# Downloads


def file_at(browser: SessionBrowser, content: bytes, name: str) -> str:
    async def send(_: Request) -> Response:
        return Response(content, headers={"content-disposition": f'attachment; filename="{name}"'})

    return browser.site.route(send)


@pytest.mark.one_machine("downloads are links there")
async def test_a_download_by_click_is_saved_whole(browser: SessionBrowser) -> None:
    content = bytes(range(256)) * 400
    url = file_at(browser, content, "report by click.bin")
    here = (await browser.show(f"<a href={url}>get</a>"))["url"]
    path = browser.downloads / "report by click.bin"

    data = await browser.call("click", selector="a")

    reported = {"suggestedFilename": path.name, "url": url, "path": str(path)}
    assert data == {"url": here, "downloads": [reported]}
    assert path.read_bytes() == content


@pytest.mark.one_machine("downloads are links there")
async def test_download_by_navigation_keeps_the_current_page(browser: SessionBrowser) -> None:
    url = file_at(browser, b"\x00\xff", "by-navigation.bin")
    here = (await browser.show("<h1>Here</h1>"))["url"]
    path = browser.downloads / "by-navigation.bin"

    data = await browser.call("navigate", url=url)

    del data["timing"]
    assert data == {
        "url": here,
        "status": None,
        "redirected": False,
        "finalUrl": here,
        "downloads": [{"suggestedFilename": path.name, "url": url, "path": str(path)}],
    }
    assert path.read_bytes() == b"\x00\xff"
    assert await browser.call("get_text", selector="h1") == {"text": "Here"}


@pytest.mark.one_machine("downloads are links there")
async def test_a_download_never_overwrites(browser: SessionBrowser) -> None:
    for number, content in enumerate([b"first", b"second", b"third"]):
        url = file_at(browser, content, "same.name.txt")
        await browser.show(f"<a href={url}>get</a>")
        [download] = (await browser.call("click", selector="a"))["downloads"]
        suffix = f"-{number}" if number else ""
        assert download["path"] == str(browser.downloads / f"same.name{suffix}.txt")

    kept = [browser.downloads / f"same.name{suffix}.txt" for suffix in ("", "-1", "-2")]
    assert [path.read_bytes() for path in kept] == [b"first", b"second", b"third"]


@pytest.mark.one_machine("downloads are links there")
@pytest.mark.parametrize("name", ["../../escaped.txt", "/etc/escaped.txt", "..\\\\escaped.txt", ".escaped"])
async def test_download_with_any_name_stays_in_its_folder(browser: SessionBrowser, name: str) -> None:
    url = file_at(browser, name.encode(), name)
    await browser.show(f"<a href={url}>get</a>")

    [download] = (await browser.call("click", selector="a"))["downloads"]

    [path] = [path for path in browser.downloads.iterdir() if str(path) == download["path"]]
    assert path.read_bytes() == name.encode()
    assert not path.name.startswith(".")


async def test_file_generated_by_the_page_can_be_downloaded(browser: SessionBrowser) -> None:
    rows = json.dumps({"rows": ["ä", 2]})
    await browser.show(
        f"<button onclick=\"const a = document.createElement('a'); a.download = 'made.json';"
        f"a.href = window.URL.createObjectURL(new Blob([document.querySelector('pre').textContent]));"
        f'document.body.append(a); a.click()">'
        f"make</button><meta charset=utf-8><pre>{rows}</pre>"
    )

    [download] = (await browser.call("click", selector="button"))["downloads"]

    assert download["suggestedFilename"] == "made.json"
    assert (browser.downloads / "made.json").read_text(encoding="utf-8") == rows
