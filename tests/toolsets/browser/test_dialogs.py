"""Open dialogs: they are reported, end the waits of calls, and are answered by a tool."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from footlight.browser.page.events import Events
from footlight.safe_text import cut_text
from tests.conftest import Browser, SessionBrowser, connect_browser
from tests.site import Site
from tests.tiers import sample_parameters

pytestmark = pytest.mark.anyio

ASK = {"alert": "ask", "confirm": "ask", "prompt": "ask", "beforeunload": "ask"}
STAYS = "<input><script>onbeforeunload = event => event.preventDefault()</script>"
AT_ONCE = 9.5
"""Seconds. A page call that waited for the dialog would take the 10 of its deadline."""


@pytest.fixture
async def asking(shared_browser: Browser) -> AsyncGenerator[SessionBrowser]:
    """A session that leaves every dialog open."""
    session_id = (await shared_browser.call("create_session", dialogs=ASK))["sessionId"]
    yield SessionBrowser(shared_browser, session_id)
    async with asyncio.timeout(AT_ONCE):
        await shared_browser.client.call_tool("close_session", {"sessionId": session_id})


def button(script: str) -> str:
    return f"<button onclick=\"window.returned = {script}; document.title = 'after'\">ask</button>"


def describe_open_dialog(type: str, message: str, page: str = "page-1", **more: str) -> dict[str, Any]:
    return {"pageId": page, "type": type, "message": message, **more, "handled": "open"}


CONFIRM = {"pageId": "page-1", "type": "confirm", "message": "Sure?"}


async def test_action_that_opens_a_dialog_answers_immediately(asking: SessionBrowser) -> None:
    here = (await asking.show(button("confirm('Sure?')")))["url"]

    async with asyncio.timeout(AT_ONCE):
        data = await asking.call("click", selector="button")

    assert data == {"url": here, "dialogs": [describe_open_dialog("confirm", "Sure?")]}


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("script", "answer", "returned"),
    [
        ("confirm('Sure?')", {"accept": True}, True),
        ("confirm('Sure?')", {"accept": False}, False),
        ("prompt('Name?', 'Bo')", {"accept": True, "promptText": "Ada"}, "Ada"),
        ("prompt('Name?', 'Bo')", {"accept": True, "promptText": ""}, ""),
        ("prompt('Name?', 'Bo')", {"accept": True}, "Bo"),
        ("prompt('Name?', 'Bo') ?? 'nothing'", {"accept": False}, "nothing"),
        ("alert('Saved') ?? 'closed'", {"accept": True}, "closed"),
        ("alert('Saved') ?? 'closed'", {"accept": False}, "closed"),
    ],
)
async def test_dialog_answer_reaches_the_page(
    asking: SessionBrowser, script: str, answer: dict[str, Any], returned: object
) -> None:
    here = (await asking.show(button(script)))["url"]
    [dialog] = (await asking.call("click", selector="button"))["dialogs"]

    handled = await asking.call("handle_dialog", **answer)

    assert handled == {
        "pageId": "page-1",
        "type": dialog["type"],
        "message": dialog["message"],
        "handled": "accepted" if answer["accept"] else "dismissed",
        "url": here,
    }
    assert await asking.call("evaluate", script="[window.returned, document.title]") == {
        "result": [returned, "after"]
    }


async def test_next_dialog_is_reported_in_the_previous_dialog_answer(asking: SessionBrowser) -> None:
    await asking.show(button("confirm('First?') && confirm('Second?')"))
    await asking.call("click", selector="button")

    first = await asking.call("handle_dialog", accept=True)
    second = await asking.call("handle_dialog", accept=True)

    assert first["message"] == "First?"
    assert first["dialogs"] == [describe_open_dialog("confirm", "Second?")]
    assert second["message"] == "Second?"
    assert "dialogs" not in second
    assert await asking.call("evaluate", script="window.returned") == {"result": True}


@pytest.mark.parametrize(
    ("tool", "arguments"),
    sample_parameters(
        [
            ("get_text", {"selector": "button"}),
            ("click", {"selector": "button"}),
            ("navigate", {"url": "about:blank"}),
            ("evaluate", {"script": "1"}),
            ("screenshot", {}),
            ("wait_for", {"text": "never"}),
            ("save_state", {}),
        ],
        ("click", {"selector": "button"}),
        ("save_state", {}),
    ),
)
async def test_other_calls_on_a_page_with_a_dialog_are_refused(
    asking: SessionBrowser, tool: str, arguments: dict[str, Any]
) -> None:
    await asking.show(button("confirm('Sure?')"))
    await asking.call("click", selector="button")

    async with asyncio.timeout(AT_ONCE):
        error = await asking.refused(tool, **arguments)

    assert error == {
        "code": "DIALOG_OPEN",
        "message": 'page-1 waits for the answer to its dialog, confirm: "Sure?"',
        "details": CONFIRM,
        "retryable": False,
        "suggestion": "Answer it with handle_dialog, accept true or false, then call again.",
    }
    assert (await asking.call("handle_dialog", accept=True))["handled"] == "accepted"


async def test_session_level_reads_work_while_a_dialog_is_open(asking: SessionBrowser) -> None:
    await asking.show(button("confirm('Sure?')"))
    await asking.call("click", selector="button")

    async with asyncio.timeout(AT_ONCE):
        assert await asking.call("get_cookies") == {"cookies": []}
        log = await asking.call("get_request_log", resourceType="document")
        [tab] = (await asking.call("tabs", action="list"))["tabs"]

    assert log["requestCount"] == 1
    assert (tab["pageId"], tab["title"]) == ("page-1", None)


async def test_other_pages_of_the_session_work_despite_a_dialog(asking: SessionBrowser) -> None:
    await asking.show(button("confirm('Sure?')"))
    await asking.call("tabs", action="new", url=asking.site.page("<h1>Other</h1>"))
    await asking.call("click", selector="button", pageId="page-1")

    async with asyncio.timeout(AT_ONCE):
        assert await asking.call("get_text", selector="h1", pageId="page-2") == {"text": "Other"}


@pytest.mark.slow
async def test_page_sharing_scripts_with_a_blocked_page_is_refused(
    asking: SessionBrowser,
) -> None:
    url = asking.site.page("<h1>Popup</h1>")
    await asking.show(
        f"<button id=open onclick=\"window.open('{url}')\">open</button>"
        "<button id=ask onclick=\"confirm('Sure?')\">ask</button>"
    )
    await asking.call("click", selector="#open")
    await asking.call("click", selector="#ask")

    async with asyncio.timeout(AT_ONCE):
        error = await asking.refused("get_text", selector="h1", pageId="page-2")

    assert (error["code"], error["details"]) == ("DIALOG_OPEN", CONFIRM)
    await asking.call("handle_dialog", accept=True)
    assert await asking.call("get_text", selector="h1", pageId="page-2") == {"text": "Popup"}


@pytest.mark.slow
async def test_popup_dialog_during_load_does_not_block_its_opener(asking: SessionBrowser) -> None:
    url = asking.site.page("<script>document.title = confirm('In the popup?')</script><h1>Popup</h1>")
    await asking.show(f"<button onclick=\"window.open('{url}')\">open</button>")

    async with asyncio.timeout(AT_ONCE):
        answer = await asking.call("click", selector="button")
        error = await asking.refused("wait_for", text="never", pageId="page-2")

    assert answer["newPages"] == [{"pageId": "page-2", "url": url}]
    assert error["message"] == 'page-2 waits for the answer to its dialog, confirm: "In the popup?"'
    await asking.call("handle_dialog", accept=True)
    assert await asking.call("get_text", selector="h1", pageId="page-2") == {"text": "Popup"}


@pytest.mark.slow
async def test_immediate_popup_dialog_blocks_its_opener_too(asking: SessionBrowser) -> None:
    html = "<button onclick=\"document.title = window.open('').confirm('Sure?')\">open</button>"
    here = (await asking.show(html))["url"]

    async with asyncio.timeout(AT_ONCE):
        answer = await asking.call("click", selector="button")
        error = await asking.refused("evaluate", script="document.title", pageId="page-1")

    assert answer == {
        "url": here,
        "newPages": [{"pageId": "page-2", "url": "about:blank"}],
        "dialogs": [describe_open_dialog("confirm", "Sure?", "page-2")],
    }
    assert (error["code"], error["details"]["pageId"]) == ("DIALOG_OPEN", "page-2")
    await asking.call("handle_dialog", accept=True)
    assert await asking.call("evaluate", script="document.title") == {"result": "true"}


async def test_navigation_answers_when_the_loading_page_opens_a_dialog(asking: SessionBrowser) -> None:
    url = asking.site.page("<script>document.title = confirm('Adult?')</script><h1>Loaded</h1>")

    async with asyncio.timeout(AT_ONCE):
        assert await asking.call("navigate", url=url) == {
            "url": url,
            "dialogs": [describe_open_dialog("confirm", "Adult?")],
        }

    await asking.call("handle_dialog", accept=True)
    assert await asking.call("get_text", selector="h1") == {"text": "Loaded"}


async def test_timer_dialog_is_reported_by_the_current_call(
    asking: SessionBrowser,
) -> None:
    await asking.show("<script>setTimeout(() => confirm('Sure?'))</script>")

    async with asyncio.timeout(AT_ONCE):
        error = await asking.refused("wait_for", text="never")

    assert error["code"] == "DIALOG_OPEN"
    answer = error["details"].get("dialogs")
    assert answer in (None, [describe_open_dialog("confirm", "Sure?")])
    assert (await asking.call("handle_dialog", accept=False))["handled"] == "dismissed"


async def test_typing_stops_at_a_dialog_and_releases_the_key(asking: SessionBrowser) -> None:
    await asking.show("<input oninput=\"value == 'a' && confirm('Sure?')\"><p></p>")
    answer = await asking.call("type", selector="input", text="a")
    await asking.call("handle_dialog", accept=True)

    await asking.call("type", selector="input", text="bc")

    assert answer["dialogs"] == [describe_open_dialog("confirm", "Sure?")]
    assert await asking.call("get_value", selector="input") == {"value": "abc"}


ASKS_WHEN_PRESSED = """
    <style>* { margin: 0 } input { width: 50px; height: 50px }</style>
    <input type="checkbox" onmousedown="confirm('Sure?')" onmouseup="document.title = 'up'">"""


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("click", {"selector": "input"}),
        ("check", {"selector": "input"}),
        ("fill_form", {"fields": {"input": True}}),
        ("mouse_click", {"x": 20, "y": 20}),
    ],
)
async def test_mouse_button_is_released_after_the_dialog_is_answered(
    asking: SessionBrowser, tool: str, arguments: dict[str, Any]
) -> None:
    await asking.show(ASKS_WHEN_PRESSED)
    await asking.call(tool, **arguments)
    handled = await asking.call("handle_dialog", accept=True)

    assert handled["handled"] == "accepted"
    assert await asking.call("evaluate", script="document.title") == {"result": "up"}


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("pressed", "role", "value"),
    [
        ("<fieldset><label><input type=radio value=a ASKS>A</label></fieldset>", "fieldset", "a"),
        ("<div role=listbox><p role=option ASKS>A</p></div>", "div", "A"),
        ("<div role=combobox aria-expanded=true>-</div><div role=listbox><p role=option ASKS>A", "div", "A"),
        ("<div role=combobox aria-controls=none ASKS>-</div>", "div", "A"),
    ],
)
async def test_mouse_button_is_released_after_a_dialog_during_fill_form(
    asking: SessionBrowser, pressed: str, role: str, value: str
) -> None:
    asks = "onmousedown=\"confirm('Sure?')\" onmouseup=\"document.title = 'up'\""
    await asking.show(pressed.replace("ASKS", asks))
    fields = {f"{role} >> nth=0": value}
    await asking.call("fill_form", fields=fields)
    handled = await asking.call("handle_dialog", accept=True)

    assert handled["handled"] == "accepted"
    assert await asking.call("evaluate", script="document.title") == {"result": "up"}


async def test_action_interrupted_by_a_dialog_is_aborted(
    asking: SessionBrowser,
) -> None:
    await asking.show(
        "<button disabled onclick=\"document.title = 'clicked'\">Later</button>"
        "<script>setTimeout(() => confirm('Sure?'), 2_000)</script>"
    )
    await asking.call("click", selector="button")
    async with asyncio.timeout(AT_ONCE):
        await asking.call("handle_dialog", accept=True)

    title = """
        document.querySelector('button').disabled = false;
        await new Promise((resolve) => setTimeout(resolve, 700));
        return document.title"""
    assert await asking.call("evaluate", script=title) == {"result": ""}


# Leaving a page


async def test_navigation_continues_when_beforeunload_is_accepted(asking: SessionBrowser) -> None:
    here = (await asking.show(STAYS))["url"]
    there = asking.site.page("<h1>There</h1>")
    await asking.call("click", selector="input")

    async with asyncio.timeout(AT_ONCE):
        answer = await asking.call("navigate", url=there)
        handled = await asking.call("handle_dialog", accept=True)

    assert answer == {"url": here, "dialogs": [describe_open_dialog("beforeunload", "")]}
    assert handled["url"] == there
    assert await asking.call("get_text", selector="h1") == {"text": "There"}


async def test_navigation_stops_when_beforeunload_is_dismissed(asking: SessionBrowser) -> None:
    here = (await asking.show(STAYS))["url"]
    await asking.call("click", selector="input")
    await asking.call("navigate", url=asking.site.page("<h1>There</h1>"))

    handled = await asking.call("handle_dialog", accept=False)

    assert handled["url"] == here
    assert await asking.call("evaluate", script="location.href") == {"result": here}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("accept", [True, False])
async def test_closing_a_tab_may_open_a_beforeunload_dialog(asking: SessionBrowser, accept: bool) -> None:
    here = (await asking.show(STAYS))["url"]
    await asking.call("click", selector="input")

    async with asyncio.timeout(AT_ONCE):
        answer = await asking.call("tabs", action="close", beforeUnload=True)
        await asking.call("handle_dialog", accept=accept)
        left = await asking.call("tabs", action="list")

    assert answer == {"url": here, "dialogs": [describe_open_dialog("beforeunload", "")]}
    assert [tab["pageId"] for tab in left["tabs"]] == ([] if accept else ["page-1"])


# The end of a dialog that nobody answered


async def test_dialog_disappears_when_its_page_is_closed(asking: SessionBrowser) -> None:
    await asking.show(button("confirm('Sure?')"))
    await asking.call("click", selector="button")

    async with asyncio.timeout(AT_ONCE):
        assert await asking.call("tabs", action="close") == {"active": None, "closed": True}
        error = await asking.refused("handle_dialog", accept=True)
        assert (await asking.show("<h1>Free</h1>"))["status"] == 200

    assert error["message"] == "No dialog is open in this session"


async def test_session_with_an_open_dialog_closes_immediately(shared_browser: Browser) -> None:
    session = await shared_browser.call("create_session", dialogs=ASK)
    await shared_browser.show(button("confirm('Sure?')"), **session)
    await shared_browser.call("click", selector="button", **session)

    async with asyncio.timeout(AT_ONCE):
        await shared_browser.call("close_session", **session)


@pytest.mark.slow
async def test_session_with_an_open_dialog_expires(site: Site) -> None:
    async with connect_browser(site, FOOTLIGHT_SESSION_IDLE_TIMEOUT="3000") as browser:
        session = await browser.call("create_session", dialogs=ASK)
        await browser.show(button("confirm('Sure?')"), **session)
        await browser.call("click", selector="button", **session)

        async with asyncio.timeout(20):
            while (await browser.call("list_sessions"))["sessions"]:
                pass
        error = await browser.refused("handle_dialog", accept=True, **session)

    assert error["code"] == "SESSION_NOT_FOUND"


# Nobody is held up


async def test_open_dialog_does_not_block_another_session(
    asking: SessionBrowser, browser: SessionBrowser
) -> None:
    await asking.show(button("confirm('Sure?')"))
    await asking.call("click", selector="button")

    async with asyncio.timeout(AT_ONCE):
        await browser.show("<button onclick=\"document.title = confirm('Sure?')\">ask</button>")
        answer = await browser.call("click", selector="button")

    assert answer["dialogs"] == [{**CONFIRM, "handled": "dismissed"}]


@pytest.mark.slow
async def test_waiting_call_does_not_block_handle_dialog(asking: SessionBrowser) -> None:
    await asking.show(button("confirm('Sure?')"))
    await asking.call("tabs", action="new", url=asking.site.page("<h1>Other</h1>"))
    await asking.call("click", selector="button", pageId="page-1")

    async with asyncio.timeout(AT_ONCE), asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(asking.answer("wait_for", text="never", pageId="page-2", timeout=2000))
        queued = tasks.create_task(asking.answer("get_text", selector="h1", pageId="page-2", timeout=100))
        handled = await asking.call("handle_dialog", accept=True)
        assert not waiting.done()
        waiting_result, queued_result = await waiting, await queued

    assert handled["handled"] == "accepted"
    assert waiting_result.is_error
    assert queued_result.is_error


async def test_the_steps_before_a_dialog_are_reported(asking: SessionBrowser) -> None:
    await asking.show("<h1>One</h1>" + button("confirm('Sure?')"))

    async with asyncio.timeout(AT_ONCE):
        error = await asking.refused(
            "run_steps",
            steps=[
                {"tool": "get_text", "arguments": {"selector": "h1"}},
                {"tool": "click", "arguments": {"selector": "button"}},
                {"tool": "get_text", "arguments": {"selector": "h1"}},
            ],
        )

    assert error["code"] == "DIALOG_OPEN"
    assert error["details"]["step"] == 2
    assert [step["tool"] for step in error["details"]["done"]] == ["get_text", "click"]


# What is wrong with a call


@pytest.mark.parametrize(
    ("script", "arguments", "message", "parameter"),
    [
        (
            "confirm('Sure?')",
            {"accept": True, "promptText": "x"},
            "promptText: only a prompt that is accepted takes a text; "
            "this dialog is a confirm, and accept is true",
            "promptText",
        ),
        (
            "prompt('Name?')",
            {"accept": False, "promptText": "x"},
            "promptText: only a prompt that is accepted takes a text; "
            "this dialog is a prompt, and accept is false",
            "promptText",
        ),
        (
            "alert('Saved')",
            {"accept": True, "pageId": "page-7"},
            "pageId: no dialog is open there; open: page-1",
            "pageId",
        ),
    ],
)
async def test_invalid_answer_leaves_the_dialog_open(
    asking: SessionBrowser, script: str, arguments: dict[str, Any], message: str, parameter: str
) -> None:
    await asking.show(button(script))
    await asking.call("click", selector="button")

    error = await asking.refused("handle_dialog", **arguments)

    assert (error["code"], error["message"]) == ("INVALID_PARAMETER", message)
    assert error["details"]["parameter"] == parameter
    assert (await asking.call("handle_dialog", accept=True))["handled"] == "accepted"


@pytest.mark.slow
async def test_page_id_is_required_when_two_dialogs_are_open(asking: SessionBrowser) -> None:
    for _ in range(2):
        await asking.call("tabs", action="new")
    for page in ("page-1", "page-2"):
        await asking.show(button("confirm('Sure?')"), pageId=page)
        await asking.call("click", selector="button", pageId=page)

    error = await asking.refused("handle_dialog", accept=True)

    assert error["message"] == "pageId: more than one dialog is open; open: page-1, page-2"
    assert (await asking.call("handle_dialog", accept=True, pageId="page-2"))["pageId"] == "page-2"
    assert (await asking.call("handle_dialog", accept=True))["pageId"] == "page-1"


async def test_error_without_open_dialog_explains_the_ask_setting(browser: SessionBrowser) -> None:
    error = await browser.refused("handle_dialog", accept=True)

    assert error == {
        "code": "INVALID_PARAMETER",
        "message": "No dialog is open in this session",
        "details": {},
        "retryable": False,
        "suggestion": "A dialog is left open only if the session's dialogs setting is ask. Others are "
        "answered at once, as data.dialogs reports.",
    }


async def test_dialogs_between_two_calls_are_limited_in_number_and_length(browser: SessionBrowser) -> None:
    await browser.show("<p>Ready")
    alerts = (
        "for (let i = 0; i < 30; i++) alert(i + ' ' + 'x'.repeat(1e5)); document.body.textContent = 'Done'"
    )
    first = await browser.call("evaluate", script=f"setTimeout(() => {{ {alerts} }}, 0); 0")
    second = await browser.call("wait_for", text="Done")

    dialogs: list[list[dict[str, str]]] = [first.get("dialogs", []), second.get("dialogs", [])]
    assert max(map(len, dialogs)) <= 20
    [last] = [each["message"] for some in dialogs for each in some if each["message"].startswith("29 ")]
    assert last == "29 " + "x" * 4_997 + "… [cut, 10240 characters]"


def test_message_that_is_cut_twice_tells_its_whole_length() -> None:
    once = cut_text("x" * 9_000, 5_000)

    assert cut_text(once, 5_000) == once
    assert cut_text(once, 1_000) == "x" * 1_000 + "… [cut, 9000 characters]"
    written_by_page = "x" * 80 + "… [cut, 7 characters]"
    assert cut_text(written_by_page, 50) == "x" * 50 + f"… [cut, {len(written_by_page)} characters]"


def test_events_are_kept_up_to_the_limit_until_they_are_taken() -> None:
    events = Events()
    events.closed.extend(f"page-{number}" for number in range(10))
    earlier = events.copy()
    events.closed.extend(f"page-{number}" for number in range(10, 25))

    assert [*events.after(earlier).closed] == [f"page-{number}" for number in range(10, 25)]
    events.closed.extend(f"page-{number}" for number in range(25, 1_000))
    kept = [f"page-{number}" for number in range(980, 1_000)]
    assert [*events.after(earlier).closed] == kept
    assert [*events.take().closed] == kept
    assert [*events.take().closed] == []
