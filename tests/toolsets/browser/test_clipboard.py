"""The browser's clipboard."""

from __future__ import annotations

import secrets
from typing import Any

import pytest

from tests.conftest import ENGINE, SessionBrowser

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(ENGINE != "chromium", reason="only Chromium gives a page the clipboard"),
]

STATES = """Promise.all(['clipboard-read', 'clipboard-write', 'geolocation'].map(
    async name => (await navigator.permissions.query({name})).state))"""


async def test_written_text_can_be_read_and_pasted(browser: SessionBrowser) -> None:
    text = f"ä 💡 {secrets.token_hex(4)}\nsecond line"
    await browser.show("<textarea></textarea>")

    assert await browser.call("clipboard", action="write", text=text) == {"length": len(text)}
    assert await browser.call("clipboard") == {"text": text, "types": ["text/plain"], "length": len(text)}
    await browser.call("click", selector="textarea")
    await browser.call("press", key="v", modifiers=["Control"])
    assert (await browser.call("get_value", selector="textarea"))["value"] == text


async def test_text_copied_by_the_page_can_be_read(browser: SessionBrowser) -> None:
    text = secrets.token_hex(8)
    await browser.show(f"<input value='{text}'>")
    await browser.call("click", selector="input")
    await browser.call("press", key="a", modifiers=["Control"])
    await browser.call("press", key="c", modifiers=["Control"])

    assert (await browser.call("clipboard"))["text"] == text


async def test_html_is_written_with_its_plain_text(browser: SessionBrowser) -> None:
    await browser.show("<div contenteditable></div>")

    await browser.call("clipboard", action="write", text="bold", html="<b>bold</b>")
    read = await browser.call("clipboard")
    await browser.call("click", selector="div")
    await browser.call("press", key="v", modifiers=["Control"])

    assert (read["text"], read["types"]) == ("bold", ["text/plain", "text/html"])
    assert "<b" in read["html"]
    assert await browser.call("get_text", selector="div b") == {"text": "bold"}


async def test_clipboard_permission_ends_with_the_call(browser: SessionBrowser) -> None:
    await browser.show("<p>x</p>")
    before = (await browser.call("evaluate", script=STATES))["result"]
    script = "navigator.clipboard.readText().then(() => 'read', error => error.name)"

    await browser.call("clipboard", action="write", text="x")
    await browser.call("clipboard")

    assert (await browser.call("evaluate", script=STATES))["result"] == before == ["prompt"] * 3
    assert (await browser.call("evaluate", script=script))["result"] == "NotAllowedError"


async def test_second_page_can_use_the_clipboard(browser: SessionBrowser) -> None:
    url = browser.site.page("<p>popup</p>")
    await browser.show(f"<button onclick=\"window.open('{url}')\">open</button>")
    await browser.call("click", selector="button")

    for page_id in ("page-1", "page-2"):
        await browser.call("clipboard", action="write", text=page_id, pageId=page_id)
        assert (await browser.call("clipboard", pageId="page-1"))["text"] == page_id


async def test_a_long_text_is_read_in_pieces(browser: SessionBrowser) -> None:
    text = "".join(str(number) for number in range(5000))
    await browser.show("<p>x</p>")
    await browser.call("clipboard", action="write", text=text)

    first = await browser.call("clipboard")
    second = await browser.call("clipboard", offset=first["nextOffset"])

    assert (first["text"], first["length"], first["nextOffset"]) == (text[:10_000], len(text), 10_000)
    assert (second["text"], "nextOffset" in second) == (text[10_000:], False)


async def test_insecure_page_has_no_clipboard(browser: SessionBrowser) -> None:
    url = "http://insecure.test/"
    await browser.call("mock_response", url=url, response={"body": "<p>x</p>", "contentType": "text/html"})
    await browser.call("navigate", url=url)

    for arguments in ({}, {"action": "write", "text": "x"}):
        error = await browser.refused("clipboard", **arguments)

        assert error["code"] == "INVALID_PARAMETER"
        assert error["message"] == (
            f"pageId: {url} has no clipboard: only https pages have one, and http on loopback"
        )
        assert error["suggestion"] == "Navigate to such a page first."


async def test_blank_page_has_no_clipboard(browser: SessionBrowser) -> None:
    error = await browser.refused("clipboard")

    assert error["message"].startswith("pageId: about:blank has no clipboard")


@pytest.mark.parametrize(
    ("arguments", "code", "parameter"),
    [
        ({"action": "write"}, "MISSING_PARAMETER", "text"),
        ({"action": "write", "html": "<b>"}, "MISSING_PARAMETER", "text"),
        ({"action": "write", "text": "x", "offset": 1}, "INVALID_PARAMETER", "offset"),
        ({"text": "x"}, "INVALID_PARAMETER", "text"),
        ({"html": "x"}, "INVALID_PARAMETER", "html"),
        ({"action": "clear"}, "INVALID_PARAMETER", "action"),
        ({"offset": -1}, "INVALID_PARAMETER", "offset"),
    ],
)
async def test_invalid_clipboard_arguments_are_refused_by_field(
    browser: SessionBrowser, arguments: dict[str, Any], code: str, parameter: str
) -> None:
    error = await browser.refused("clipboard", **arguments)

    assert error["code"] == code
    assert error["details"]["parameter"] == parameter
    assert parameter in error["message"]


async def test_an_offset_beyond_the_end_is_refused(browser: SessionBrowser) -> None:
    await browser.show("<p>x</p>")
    await browser.call("clipboard", action="write", text="abc")

    error = await browser.refused("clipboard", offset=4)

    assert error["message"] == "offset: 4 is beyond the end; the text has 3 characters"
