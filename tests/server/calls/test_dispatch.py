"""The stages that every call goes through, whatever its tool does."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import anyio
import pytest
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from typing_extensions import TypedDict

from footlight.browser.context.state_store import StateStore
from footlight.browser.sessions.engine import Engine
from footlight.config import PoolSettings, SessionSettings, Settings
from footlight.server.calls.dispatcher import Dispatcher
from footlight.server.calls.tool_caller import UnknownToolError
from footlight.server.tools import ToolCall, tool
from tests.conftest import SessionBrowser
from tests.site import Site

pytestmark = pytest.mark.anyio

DEFAULT_TIMEOUT = 1500
"""Milliseconds, in the dispatcher of one's own."""


# Arguments


async def test_a_missing_parameter_is_named(browser: SessionBrowser) -> None:
    error = await browser.refused("click")

    assert error["code"] == "MISSING_PARAMETER"
    assert error["message"] == "click needs the parameter selector"
    assert error["details"]["parameter"] == "selector"
    assert error["details"]["expected"] == {
        "selector": "string",
        "button": "left | middle | right",
        "clickCount": "number",
        "modifiers": "array of Alt | Control | ControlOrMeta | Meta | Shift",
        "sessionId": "string",
        "pageId": "string",
        "timeout": "number",
        "observe": "none | diff | full",
        "settle": "auto | none",
        "expect": "{text?, gone?, url?, request?, value?, count?}",
        "locator": "boolean",
        "budget": "number",
    }
    assert error["retryable"] is False


@pytest.mark.parametrize(
    ("tool_name", "arguments", "parameter"),
    [
        ("click", {"selector": 7}, "selector"),
        ("click", {"selector": "a", "button": "upper"}, "button"),
        ("press", {"key": "a", "modifiers": ["Hyper"]}, "modifiers.0"),
        ("upload_file", {"selector": "a", "files": "b"}, "files"),
        ("set_offline", {"offline": "yes"}, "offline"),
        ("navigate", {"url": "http://a.test", "waitUntil": "commit"}, "waitUntil"),
        ("navigate", {"url": "http://a.test", "speed": 3}, "speed"),
        ("get_text", {"selector": "a", "timeout": -1}, "timeout"),
        ("close_session", {"sessionId": 3}, "sessionId"),
    ],
)
async def test_invalid_parameter_is_named(
    browser: SessionBrowser, tool_name: str, arguments: dict[str, Any], parameter: str
) -> None:
    """It is an answer, not a protocol error."""
    error = await browser.refused(tool_name, **arguments)

    assert error["code"] == "INVALID_PARAMETER"
    assert error["details"]["parameter"] == parameter
    assert parameter.split(".")[0] in error["message"]
    assert error["details"]["expected"]


async def test_null_is_accepted_for_optional_parameters(browser: SessionBrowser) -> None:
    url = browser.site.page("<p>x</p>")

    await browser.call("navigate", url=url, waitUntil=None, timeout=None, pageId=None)
    await browser.call("scroll", x=None, y=None, selector=None)
    text = await browser.call("get_text", selector="p", timeout=None)

    assert text == {"text": "x"}
    assert (await browser.refused("get_text", selector=None))["code"] == "INVALID_PARAMETER"


# Time


async def test_deadline_includes_the_wait_for_the_session(browser: SessionBrowser) -> None:
    """A call whose time is up while another runs is never begun."""
    await browser.show("<p>x</p>")
    busy, over = anyio.Event(), anyio.Event()

    async def keep_busy() -> None:
        busy.set()
        await browser.refused("evaluate", script="new Promise(() => {})", timeout=20_000)
        over.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(keep_busy)
        await busy.wait()
        await browser.client.list_tools()
        error = await browser.refused("evaluate", script="window.late = true", timeout=300)
        assert not over.is_set()
        tasks.cancel_scope.cancel()

    assert error["code"] == "TIMEOUT"
    assert error["message"].startswith("evaluate timed out after 300ms before it could begin")
    assert error["details"] == {"timeout": 300, "dispatched": False}
    assert error["retryable"] is True
    assert await browser.call("evaluate", script="window.late") == {"result": None}


@pytest.mark.slow
async def test_call_without_a_timeout_uses_the_default(dispatcher: Dispatcher, site: Site) -> None:
    never = site.never()
    await dispatcher.call("navigate", {"url": "about:blank", "timeout": 30_000})

    for arguments, limit in (({"timeout": 500}, 500), ({}, DEFAULT_TIMEOUT)):
        error = (await dispatcher.call("navigate", {"url": never, **arguments})).content["error"]
        assert error["code"] == "TIMEOUT"
        assert error["message"] == f"Navigation timed out after {limit}ms"
        assert error["details"] == {"url": never, "timeout": limit}
        assert error["retryable"] is True


# Order


async def test_slow_session_does_not_block_another(browser: SessionBrowser) -> None:
    asked, release = anyio.Event(), anyio.Event()

    async def slow(_: Request) -> Response:
        asked.set()
        await release.wait()
        return HTMLResponse("<p>slow</p>")

    url = browser.site.route(slow)
    other = (await browser.call("create_session"))["sessionId"]
    async with anyio.create_task_group() as tasks:

        async def wait_for_it() -> None:
            await browser.call("navigate", url=url)

        tasks.start_soon(wait_for_it)
        await asked.wait()
        await browser.call("navigate", url=browser.site.page("<p>fast</p>"), sessionId=other)
        assert await browser.call("get_text", selector="p", sessionId=other) == {"text": "fast"}
        release.set()

    assert await browser.call("get_text", selector="p") == {"text": "slow"}
    await browser.call("close_session", sessionId=other)


async def test_calls_in_a_session_run_in_order_without_overlap(browser: SessionBrowser) -> None:
    await browser.show("<p>x</p>")
    await browser.call("evaluate", script="window.order = []; window.inside = 0; window.most = 0; 0")
    script = """async number => {
        most = Math.max(most, ++inside);
        await new Promise(done => setTimeout(done, 5));
        order.push(number);
        inside -= 1;
    }"""

    async with anyio.create_task_group() as tasks:
        for number in range(20):

            async def add(number: int = number) -> None:
                await browser.call("evaluate", script=script, args=[number])

            tasks.start_soon(add)

    seen = await browser.call("evaluate", script="({order, most})")
    assert seen["result"] == {"order": list(range(20)), "most": 1}


async def test_concurrent_first_calls_create_one_session(browser: SessionBrowser) -> None:
    async with anyio.create_task_group() as tasks:
        for _ in range(8):

            async def look() -> None:
                await browser.call("element_exists", selector="p", sessionId="default")

            tasks.start_soon(look)

    listed = (await browser.call("list_sessions"))["sessions"]
    (default,) = [each for each in listed if each["sessionId"] == "default"]
    assert [page["pageId"] for page in default["pages"]] == ["page-1"]
    await browser.call("close_session", sessionId="default")


# Permission


async def test_evaluate_is_disabled_by_default_and_error_names_the_setting(dispatcher: Dispatcher) -> None:
    answer = await dispatcher.call("evaluate", {"script": "1"})

    assert answer.content["error"] == {
        "code": "PERMISSION_DENIED",
        "message": "evaluate is disabled on this server",
        "details": {"setting": "security.enableScriptEvaluation"},
        "retryable": False,
        "suggestion": "Ask the server operator to enable `security.enableScriptEvaluation`.",
    }


# Bugs


class Nothing(TypedDict):
    pass


@tool(scope="server", effect="read")
async def broken(call: ToolCall) -> Nothing:
    """Break"""
    raise ZeroDivisionError("a secret path: /nowhere")


@tool(scope="session", effect="read")
async def broken_inside(call: ToolCall) -> Nothing:
    """Break in a session"""
    raise KeyError("inside")


@pytest.fixture
async def dispatcher(tmp_path: Path) -> AsyncGenerator[Dispatcher]:
    """A dispatcher of one's own, on a real engine."""
    from footlight.toolsets.browser import load_tools

    settings = Settings(
        pool=PoolSettings(minBrowsers=1, maxBrowsers=1),
        session=SessionSettings(defaultTimeout=DEFAULT_TIMEOUT),
    )
    engine = Engine(settings)
    await engine.sessions()
    yield Dispatcher(
        {tool.name: tool for tool in (broken, broken_inside, *load_tools())},
        settings,
        sessions=engine.sessions,
        states=StateStore(tmp_path),
    )
    await engine.close()


async def test_internal_error_has_an_id_that_finds_its_traceback(
    dispatcher: Dispatcher, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing of the inside reaches a client."""
    for name, kind in (("broken", "ZeroDivisionError"), ("broken_inside", "KeyError")):
        caplog.clear()
        with caplog.at_level(logging.ERROR, "footlight"):
            answer = await dispatcher.call(name, {})

        error = answer.content["error"]
        error_id = error["details"]["errorId"]
        assert error == {
            "code": "INTERNAL_ERROR",
            "message": f"Unexpected {kind}",
            "details": {"errorId": error_id},
            "retryable": False,
            "suggestion": "Please try again or contact support if the issue persists.",
        }
        (record,) = caplog.records
        assert record.getMessage() == f"{name} failed [{error_id}]"
        assert record.exc_info is not None
        assert record.exc_info[0] is not None
        assert record.exc_info[0].__name__ == kind
        assert "nowhere" not in answer.text
        assert "Traceback" not in answer.text


@pytest.mark.slow
async def test_session_works_after_an_internal_error(dispatcher: Dispatcher) -> None:
    await dispatcher.call("broken_inside", {})

    answer = await dispatcher.call("get_cookies", {})

    assert answer.content == {"success": True, "data": {"cookies": []}}


async def test_unknown_tool_is_raised_as_an_exception(dispatcher: Dispatcher) -> None:
    with pytest.raises(UnknownToolError):
        await dispatcher.call("fly", {})


async def test_every_call_is_logged(dispatcher: Dispatcher, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "footlight.server.calls.dispatcher"):
        await dispatcher.call("get_cookies", {})
        await dispatcher.call("close_session", {"sessionId": "none"})

    calls = [record.__dict__ for record in caplog.records if record.getMessage() == "call"]
    facts = [(call["tool"], call["outcome"], call["session"]) for call in calls]
    assert facts == [("get_cookies", "ok", "default"), ("close_session", "SESSION_NOT_FOUND", None)]
    assert all(call["ms"] >= 0 for call in calls)
