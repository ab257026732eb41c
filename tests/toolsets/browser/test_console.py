"""The console messages and uncaught errors of pages."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from tests.conftest import SessionBrowser

pytestmark = pytest.mark.anyio


async def messages(browser: SessionBrowser, count: int, **conditions: Any) -> list[dict[str, Any]]:
    """Wait until there are so many messages, which arrive independently of the answers."""
    with anyio.fail_after(10):
        while True:
            answer = await browser.call("console_messages", **conditions)
            if answer["total"] >= count:
                assert answer["total"] == count, answer
                return answer["messages"]


@pytest.mark.parametrize("tool", ["console_messages", "console_stacks", "get_request_log"])
async def test_page_that_never_existed_is_refused(browser: SessionBrowser, tool: str) -> None:
    await browser.show("<p>x</p>")

    error = await browser.refused(tool, pageId="page-9")

    message = "pageId: this session never had a page page-9; open pages: page-1"
    assert (error["code"], error["message"]) == ("INVALID_PARAMETER", message)


async def test_every_console_level_is_reported_with_its_source(browser: SessionBrowser) -> None:
    url = (
        await browser.show(
            """<script>
console.error('bad', {a: 1});
console.assert(false, 'not so');
console.warn('careful');
console.log('plain');
console.info('told');
console.debug('detail');
</script>"""
        )
    )["url"]

    def message(level: str, text: str, line: int, column: int) -> dict[str, Any]:
        return {"level": level, "text": text, "source": f"{url}:{line}:{column}", "pageId": "page-1"}

    assert await messages(browser, 6) == [
        message("error", "bad {a: 1}", 2, 9),
        message("error", "not so", 3, 9),
        message("warning", "careful", 4, 9),
        message("info", "plain", 5, 9),
        message("info", "told", 6, 9),
        message("debug", "detail", 7, 9),
    ]


async def test_uncaught_errors_are_reported(browser: SessionBrowser) -> None:
    url = (
        await browser.show(
            """<script>
missing.call();
</script>
<script>Promise.reject(new RangeError('too far'))</script>
<script>Promise.reject('only words')</script>"""
        )
    )["url"]

    entries = await messages(browser, 3, levels=["error"])

    assert entries == [
        {
            "level": "error",
            "text": "Uncaught ReferenceError: missing is not defined",
            "source": f"{url}:2:1",
            "pageId": "page-1",
        },
        {
            "level": "error",
            "text": "Uncaught RangeError: too far",
            "source": f"{url}:4:24",
            "pageId": "page-1",
        },
        {"level": "error", "text": "Uncaught only words", "source": f"{url}:5:17", "pageId": "page-1"},
    ]


async def test_failed_resource_load_is_an_error_message(browser: SessionBrowser) -> None:
    missing = f"{browser.site.url}/missing/{browser.session_id}"
    await browser.show(f"<img src='{missing}'>")

    assert await messages(browser, 1) == [
        {
            "level": "error",
            "text": "Failed to load resource: the server responded with a status of 404 (Not Found)",
            "source": missing,
            "pageId": "page-1",
        }
    ]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ({"levels": ["error"]}, ["one error"]),
        ({"levels": ["error", "warning"]}, ["one error", "one warning"]),
        ({"levels": ["debug"]}, []),
        ({"text": "ONE"}, ["one error", "one warning"]),
        ({"text": "one", "levels": ["warning", "info"]}, ["one warning"]),
        ({"pageId": "page-1"}, ["one error", "one warning", "other"]),
        ({"offset": 1, "limit": 1}, ["one warning"]),
        ({"offset": 9}, []),
    ],
)
async def test_messages_are_filtered(
    browser: SessionBrowser, conditions: dict[str, Any], expected: list[str]
) -> None:
    await browser.show(
        "<script>console.error('one error'); console.warn('one warning'); console.log('other')</script>"
    )
    await messages(browser, 3)

    answer = await browser.call("console_messages", **conditions)

    assert [message["text"] for message in answer["messages"]] == expected


async def test_messages_are_returned_in_pages(browser: SessionBrowser) -> None:
    await browser.show("<script>for (let i = 0; i < 5; i++) console.log('line ' + i)</script>")
    await messages(browser, 5)

    first = await browser.call("console_messages", limit=3)
    second = await browser.call("console_messages", limit=3, offset=first["nextOffset"])

    assert [message["text"] for message in first["messages"]] == ["line 0", "line 1", "line 2"]
    assert [message["text"] for message in second["messages"]] == ["line 3", "line 4"]
    assert (first["total"], second["total"], "nextOffset" in second) == (5, 5, False)


async def test_messages_before_the_navigation_are_returned_only_on_request(browser: SessionBrowser) -> None:
    html = "<script>console.error('again')</script>"
    first = (await browser.show(html))["url"]
    second = (await browser.show(html))["url"]

    now = await messages(browser, 1)
    ever = await messages(browser, 2, sinceNavigation=False)

    assert [message["source"] for message in now] == [f"{second}:1:17"]
    assert [message["source"] for message in ever] == [f"{first}:1:17", f"{second}:1:17"]


async def test_reload_does_not_repeat_earlier_messages(browser: SessionBrowser) -> None:
    await browser.show("<script>console.error('again')</script>")
    await messages(browser, 1)

    await browser.call("reload")

    [entries] = await messages(browser, 1)
    assert "count" not in entries


async def test_in_page_navigation_keeps_the_messages(browser: SessionBrowser) -> None:
    await browser.show("<script>console.log('first')</script>")
    await browser.call("evaluate", script="location.hash = 'there'; history.pushState({}, '', '?next')")

    assert [message["text"] for message in await messages(browser, 1)] == ["first"]


async def test_repeated_messages_are_collapsed_with_a_count(browser: SessionBrowser) -> None:
    await browser.show(
        """<script>
        for (let i = 0; i < 4; i++) console.log('same');
        console.log('other');
        console.log('same');
        </script>"""
    )

    entries = await messages(browser, 3)

    assert [(message["text"], message.get("count")) for message in entries] == [
        ("same", 4),
        ("other", None),
        ("same", None),
    ]


async def test_long_message_is_truncated(browser: SessionBrowser) -> None:
    await browser.show("<script>console.log('x'.repeat(5000))</script>")

    [entries] = await messages(browser, 1)

    assert entries["text"] == "x" * 2000 + "… [cut, 5000 characters]"


async def test_first_messages_of_a_popup_are_captured(browser: SessionBrowser) -> None:
    popup = browser.site.page("<script>console.error('of the popup')</script>")
    await browser.show(f"<button onclick=\"window.open('{popup}')\">open</button>")
    await browser.call("click", selector="button")

    assert await messages(browser, 1) == [
        {"level": "error", "text": "of the popup", "source": f"{popup}:1:17", "pageId": "page-2"}
    ]


async def test_worker_messages_are_captured(browser: SessionBrowser) -> None:
    await browser.show(
        "<script>new Worker(URL.createObjectURL(new Blob([\"console.log('works')\"])))</script>"
    )

    [entries] = await messages(browser, 1)

    assert (entries["text"], entries["pageId"]) == ("works", "page-1")


async def test_messages_of_another_session_are_not_listed(browser: SessionBrowser) -> None:
    await browser.show("<script>console.log('mine')</script>")
    await messages(browser, 1)
    other = await browser.call("create_session")

    assert await browser.call("console_messages", **other) == {"messages": [], "total": 0}
    await browser.call("close_session", **other)


@pytest.mark.slow
async def test_message_flood_keeps_the_last_ones_and_notes_the_rest(browser: SessionBrowser) -> None:
    """What had been read before stays; nobody listens to the rest."""
    await browser.show("<script>console.error('before')</script>")
    await messages(browser, 1)
    script = "for (let line = 0; line < 2000; line++) console.log('line ' + line, {line})"
    await browser.call("evaluate", script=script)

    entries = await messages_until(browser, "line 1999 {line: 1999}")

    texts = [message["text"] for message in entries["messages"]]
    first = 2001 - len(texts)
    assert texts == ["before", *(f"line {line} {{line: {line}}}" for line in range(first, 2000))]
    assert 180 <= len(texts) <= 201
    assert entries["note"] == "A page wrote more messages than are kept; only its last ones are listed."


async def messages_until(browser: SessionBrowser, last: str) -> dict[str, Any]:
    """Wait for a message with this text, and return the first 500."""
    with anyio.fail_after(60):
        while not (await browser.call("console_messages", text=last))["total"]:
            pass
    return await browser.call("console_messages", limit=500)


@pytest.mark.slow
@pytest.mark.timeout(300)  # Chromium works for all messages that the script has sent.
async def test_script_that_writes_without_end_is_stopped(browser: SessionBrowser) -> None:
    await browser.show("<button onclick='for (;;) console.log(1)'>Go</button>")

    await browser.call("click", selector="button", timeout=300_000)
    refused = await browser.refused("evaluate", script="for (;;) console.log(2)", timeout=300_000)

    stopped = (
        "Footlight stopped a script of this page, which sent more than 20,000 messages to the console or "
        "the like in one task"
    )
    assert refused["message"] == f"script: {stopped}"
    errors = await browser.call("console_messages", levels=["error"])
    assert {each["text"] for each in errors["messages"]} == {f"Uncaught Error: {stopped}"}


async def test_log_messages_do_not_displace_errors(browser: SessionBrowser) -> None:
    await browser.show("<script>console.error('kept')</script>")
    for number in range(6):
        lines = f"for (let line = 0; line < 100; line++) console.log('line {number} ' + line)"
        await browser.call("evaluate", script=lines)
        await messages_until(browser, f"line {number} 99")

    answer = await browser.call("console_messages", limit=2)

    assert [message["text"] for message in answer["messages"]] == ["kept", "line 1 0"]
    assert (answer["total"], answer["dropped"], "note" in answer) == (501, 100, False)


async def test_messages_of_a_closed_page_stay_listed(browser: SessionBrowser) -> None:
    popup = browser.site.page("<script>console.log('of the popup')</script>")
    await browser.show(f"<button onclick=\"window.open('{popup}')\">open</button>")
    await browser.call("click", selector="button")
    before = await messages(browser, 1)

    await browser.call("evaluate", pageId="page-2", script="void setTimeout(close)")
    with anyio.fail_after(10):
        while not (await browser.answer("element_exists", selector="p", pageId="page-2")).is_error:
            pass

    assert await messages(browser, 1) == before


@pytest.mark.parametrize(
    ("arguments", "parameter"),
    [
        ({"levels": ["errors"]}, "levels.0"),
        ({"levels": []}, "levels"),
        ({"levels": "error"}, "levels"),
        ({"limit": 0}, "limit"),
        ({"limit": 501}, "limit"),
        ({"offset": -1}, "offset"),
        ({"sinceNavigation": "yes"}, "sinceNavigation"),
    ],
)
async def test_invalid_condition_is_refused_by_field(
    browser: SessionBrowser, arguments: dict[str, Any], parameter: str
) -> None:
    error = await browser.refused("console_messages", **arguments)

    assert error["code"] == "INVALID_PARAMETER"
    assert error["details"]["parameter"] == parameter
