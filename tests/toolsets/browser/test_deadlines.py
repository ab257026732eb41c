"""The deadline of a call: its share for finding an element, and the errors when it passes."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from tests.conftest import Browser, SessionBrowser, connect_browser, new_session, run_in_sessions
from tests.site import Site

ELEMENT_MS = 400
BUSY_MS = 2_500
"""Far longer than an element is waited for."""
BUSY = f"function work(ms = {BUSY_MS}) {{ const end = Date.now() + ms; while (Date.now() < end); }}"


@pytest.fixture(scope="session")
async def impatient_server(site: Site) -> AsyncGenerator[Browser]:
    """One where a setting ends the wait for elements early."""
    flags = ("--enable-script-evaluation", "--timeout", "12000", "--observe", "none", "--tools", "all")
    async with connect_browser(site, *flags, FOOTLIGHT_SESSION_ELEMENT_TIMEOUT=str(ELEMENT_MS)) as browser:
        yield browser


@pytest.fixture
async def impatient(impatient_server: Browser) -> AsyncGenerator[SessionBrowser]:
    async with new_session(impatient_server) as browser:
        yield browser


async def count_of(browser: Browser) -> Any:
    return (await browser.call("evaluate", script="window.count"))["result"]


ACTIONS: list[tuple[str, str, dict[str, Any]]] = [
    ("<button id=e onclick='did()'>x</button>", "click", {}),
    ("<button id=e ondblclick='did()'>x</button>", "click", {"clickCount": 2}),
    ("<button id=e onmousedown='did()'>x</button>", "click", {}),
    ("<button id=e onmouseover='did()'>x</button>", "hover", {}),
    ("<input id=e type=checkbox onchange='did()'>", "check", {}),
    ("<input id=e oninput='did()'>", "fill", {"value": "text"}),
    ("<input id=e onkeydown='did()'>", "type", {"text": "a"}),
    ("<input id=e onfocus='did()'>", "fill", {"value": "text"}),
    ("<select id=e onchange='did()'><option>a<option>b</select>", "select", {"value": "b"}),
]


@pytest.mark.slow
async def test_action_waits_for_a_page_that_stays_busy_afterwards(impatient_server: Browser) -> None:
    """What limits the wait for an element says nothing of what the page does with the action."""
    await run_in_sessions(impatient_server, wait_for_busy_page, ACTIONS)


async def wait_for_busy_page(browser: SessionBrowser, action: tuple[str, str, dict[str, Any]]) -> None:
    html, tool, arguments = action
    await browser.show(
        f"{html}<script>window.count = 0; {BUSY} function did() {{ count += 1; work(); }}</script>"
    )
    began = time.monotonic()

    await browser.call(tool, selector="#e", **arguments)

    assert time.monotonic() - began > BUSY_MS / 1000 - 0.5
    assert await count_of(browser) == 1


@pytest.mark.slow
async def test_action_waits_for_a_page_that_is_busy_beforehand(impatient: SessionBrowser) -> None:
    """A page that gives no answer does not say that an element is missing."""
    await impatient.show(
        f"<p>text</p><button id=e onclick='count += 1'>x</button><script>window.count = 0; {BUSY}</script>"
    )
    await impatient.call("evaluate", script="void setTimeout(work)")
    await impatient.call("click", selector="#e")
    await impatient.call("evaluate", script="void setTimeout(work)")

    assert await impatient.call("get_text", selector="p") == {"text": "text"}
    assert await count_of(impatient) == 1


@pytest.mark.slow
async def test_click_waits_for_navigation_to_a_slow_site(impatient: SessionBrowser) -> None:
    async def slow(_: Request) -> Response:
        await asyncio.sleep(1.5)
        return HTMLResponse("<h1>There</h1>")

    url = impatient.site.route(slow)
    # A form that is being sent disables its button.
    await impatient.show(f"<form action='{url}' onsubmit='go.disabled = true'><button id=go>go</button>")

    assert (await impatient.call("click", selector="button"))["url"].startswith(url)


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("html", "tool", "code"),
    [
        ("<p>other</p>", "click", "ELEMENT_NOT_FOUND"),
        ("<p>other</p>", "get_text", "ELEMENT_NOT_FOUND"),
        ("<button id=e disabled>x</button>", "click", "ELEMENT_NOT_INTERACTIVE"),
        ("<input id=e readonly>", "fill", "ELEMENT_NOT_INTERACTIVE"),
        ("<select id=e><option>a</select>", "select", "INVALID_PARAMETER"),
        ("<select id=e multiple><option>a</select>", "fill_form", "INVALID_PARAMETER"),
        ("<p>other</p>", "upload_file", "ELEMENT_NOT_FOUND"),
        ("<p>other</p>", "type", "ELEMENT_NOT_FOUND"),
        ("<p>other</p>", "screenshot_element", "ELEMENT_NOT_FOUND"),
    ],
)
async def test_element_wait_ends_before_the_call_deadline(
    impatient: SessionBrowser, html: str, tool: str, code: str
) -> None:
    await impatient.show(html)
    arguments: dict[str, Any] = {"selector": "#e"}
    if tool == "fill_form":
        arguments = {"fields": {"#e": ["text"]}}
    if tool in ("fill", "select"):
        arguments["value"] = "text"
    if tool == "type":
        arguments["text"] = "text"
    if tool == "upload_file":
        arguments["files"] = [__file__]
    began = time.monotonic()

    error = await impatient.refused(tool, **arguments)

    assert error["code"] == code
    assert (
        f"The call waited for the element for {ELEMENT_MS}ms (session.elementTimeout)" in error["suggestion"]
    )
    assert ELEMENT_MS / 1000 <= time.monotonic() - began < 8


ENDLESS = "<button id=e onclick='for (;;);'>x</button><p>text</p>"


@pytest.mark.slow
async def test_page_closes_only_at_the_deadline_and_limit_is_reported(
    site: Site,
) -> None:
    settings = {"FOOTLIGHT_SESSION_ELEMENT_TIMEOUT": "200"}
    async with connect_browser(site, "--timeout", "10000", "--observe", "none", **settings) as browser:
        await run_in_sessions(
            browser, lambda browser, limit: limit(browser), [limit_a_wait, limit_an_endless_click]
        )


async def limit_a_wait(browser: SessionBrowser) -> None:
    await browser.show(ENDLESS)

    error = await browser.refused("wait_for", text="never there")

    assert error["message"] == 'The text "never there" did not appear within 10000ms'
    assert error["suggestion"].endswith("A call that gives none has 10000ms (session.defaultTimeout).")


async def limit_an_endless_click(browser: SessionBrowser) -> None:
    await browser.show(ENDLESS)
    began = time.monotonic()

    error = await browser.refused("click", selector="#e")

    assert 10 <= time.monotonic() - began < 12
    assert error["code"] == "TIMEOUT"
    assert error["message"].startswith(
        'The action on "#e" timed out after 10000ms; the action had been dispatched; a script in the page'
    )
    assert error["details"]["closedPages"] == ["page-1"]


@pytest.mark.slow
async def test_a_page_that_is_busy_for_longer_than_its_call_stays_open(
    browser: SessionBrowser,
) -> None:
    await browser.show("<p>kept</p>")
    busy = "const began = Date.now(); while (Date.now() - began < 8_000); document.body.append('done')"

    error = await browser.refused("evaluate", script=busy, timeout=1_000)

    assert re.fullmatch(
        r"The page did not respond within 1000ms; page-1 has not answered for \d{3,4}ms, and stays open",
        error["message"],
    )
    assert error["suggestion"] == (
        "Call again with a longer timeout: the page may be busy. "
        "If its script does not end, it is closed after 10 seconds."
    )
    assert await browser.call("get_text", selector="p") == {"text": "kept"}


@pytest.mark.slow
async def test_action_followed_by_a_hang_is_answered_after_the_deadline(
    browser: SessionBrowser,
) -> None:
    """Nobody can know what the click did, so the answer does not say that it did nothing."""
    await browser.show(
        """<button onclick="setTimeout(() => {
          const began = Date.now();
          while (Date.now() - began < 30_000);
        }, 0)">Go</button>"""
    )
    began = time.monotonic()

    answer = (
        await browser.answer("click", selector="button", timeout=2_000, observe="diff")
    ).structured_content

    assert answer is not None
    assert time.monotonic() - began < 25  # The page hangs for 30.
    assert (answer["success"], answer["effect"]) == (True, "unknown")
    assert answer["reason"] == "the page did not respond"


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "replace",
    [
        "Function.prototype.call = () => 1",
        "Reflect.apply = Reflect.get = Reflect.construct = () => 1",
        "Array.prototype[Symbol.iterator] = () => ({ next: () => ({ done: false, value: 1 }) })",
        "Array.prototype.map = Array.prototype.filter = function () { return this }",
    ],
)
async def test_what_a_page_replaces_stops_nothing_and_changes_no_answer(
    browser: SessionBrowser, replace: str
) -> None:
    """Our scripts would call it in the page's own world, where a loop might never end."""
    await browser.show(f"<script>{replace}</script><input id=name><button onclick=1>Go</button><p>kept</p>")

    found = await browser.call("find_elements", selector="button")
    clicked = (await browser.answer("click", selector="button")).structured_content
    await browser.call("press", key="Tab")

    assert [each["text"] for each in found["elements"]] == ["Go"]
    assert clicked is not None
    assert clicked["effect"] == "none"
    assert clicked.get("reason") in (None, "listeners of the page received it and changed nothing")
    assert await browser.call("get_text", selector="p") == {"text": "kept"}


@pytest.mark.slow
async def test_own_timeout_is_reported_where_no_setting_limits_the_call(impatient: SessionBrowser) -> None:
    never = impatient.site.never()
    error = await impatient.refused("navigate", url=never, timeout=1_500)
    # On an overloaded machine, more follows.
    assert error["message"].partition(";")[0] == "Navigation timed out after 1500ms"

    error = await impatient.refused(
        "run_steps", steps=[{"tool": "navigate", "arguments": {"url": never, "timeout": 1_000}}]
    )
    assert error["message"].partition(";")[0] == "steps.0 (navigate): Navigation timed out after 1000ms"


@pytest.mark.slow
async def test_step_ended_by_the_call_timeout_reports_that_limit(impatient: SessionBrowser) -> None:
    steps = [{"tool": "navigate", "arguments": {"url": impatient.site.never()}}]

    error = await impatient.refused("run_steps", steps=steps, timeout=3_000)

    assert error["message"].partition(";")[0] == "steps.0 (navigate): Navigation timed out after 3000ms"


@pytest.mark.sampled(10)
@pytest.mark.parametrize("timeout", [2**31, 2**31 - 1, 10**12, 1e300])
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("navigate", {}),
        ("click", {"selector": "button"}),
        ("wait_for_selector", {"selector": "button"}),
        ("wait_for", {"text": "later"}),
        ("evaluate", {"script": "1"}),
        ("screenshot", {}),
    ],
)
async def test_very_long_timeouts_are_not_cut_short(
    browser: SessionBrowser, tool: str, arguments: dict[str, Any], timeout: float
) -> None:
    """Timers of 32 bits end at once where more is asked of them."""
    page = "<script>setTimeout(() => document.body.innerHTML = '<button>later</button>', 100)</script>"
    url = browser.site.page(page)
    await browser.call("navigate", url=url)

    await browser.call(tool, timeout=timeout, **({"url": url} if tool == "navigate" else arguments))


async def test_navigate_advertises_its_default_timeout(
    impatient: SessionBrowser, browser: SessionBrowser
) -> None:
    for server, expected in ((impatient, 12_000), (browser, 10_000)):
        tools = {tool.name: tool for tool in (await server.client.list_tools()).tools}
        assert tools["navigate"].input_schema["properties"]["timeout"]["default"] == expected
