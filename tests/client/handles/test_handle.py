"""The forms in which the calls of a handle can be written."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from footlight.client.handles.handle import Handle, wire_name
from footlight.protocol.errors import MCPError, MCPTimeoutError, ToolInvocationError
from footlight.protocol.results import ToolResult
from tests.client.handles.handles import mcp_connect, open_connected, serve_in_memory, soon

pytestmark = pytest.mark.anyio

GOTO = ("nav.goto", {"sessionName": "p4n-test", "url": "https://a.test/"})


async def test_a_call_is_written_with_keywords_or_with_a_mapping() -> None:
    async with open_connected() as it:
        await it.mcp.nav.goto(url="https://a.test/")
        await it.mcp.nav.goto({"url": "https://a.test/"})
        await it.mcp.nav["goto"](url="https://a.test/")
        await it.mcp.nav["goto"]({"url": "https://a.test/"}, timeout_ms=5_000)
        await it.mcp.call("nav.goto", {"url": "https://a.test/"})

        assert it.journal.calls[1:] == [GOTO] * 5


async def test_method_returns_the_result_value() -> None:
    async with open_connected() as it:
        result = await it.mcp.browser.run_test(grep="acceptCookies")

        assert result["passed"] == 1
        assert result == {"passed": 1, "failed": 0}
        assert await it.mcp.root.health() == "well"
        assert await it.mcp._root.health() == "well"
        assert await it.mcp.nav.goto(url="https://a.test/") == ""
        assert await it.mcp.browser["run.file"](path="a.py") == {"ran": "a.py"}
        assert it.journal.calls[1] == (
            "browser.run_test",
            {"sessionName": "p4n-test", "grep": "acceptCookies"},
        )


async def test_arguments_are_sent_unvalidated_and_uncached() -> None:
    wrong: Any = {"url": 5, "no_such": [None]}
    nothing: Any = {}
    async with open_connected() as connection:
        for arguments in (wrong, wrong, nothing):
            await connection.mcp.nav.goto(arguments)

    assert connection.journal.calls[1:-1] == [
        ("nav.goto", {"sessionName": "p4n-test", **arguments}) for arguments in (wrong, wrong, nothing)
    ]


async def test_call_returns_the_whole_result() -> None:
    async with open_connected() as it:
        result = await it.mcp.call("browser.take_screenshot")

        assert isinstance(result, ToolResult)
        assert [part.type for part in result.content] == ["text", "image"]
        assert await it.mcp.browser["take_screenshot"]() == "taken"


async def test_failing_tool_raises_its_error() -> None:
    async with open_connected() as it:
        with pytest.raises(ToolInvocationError, match="net::ERR_NAME_NOT_RESOLVED") as caught:
            await it.mcp.nav.goto(url="https://nowhere.test")

        assert (caught.value.tool_name, caught.value.reason) == ("nav.goto", "tool")


async def test_options_need_a_mapping_and_keywords_are_arguments() -> None:
    async with open_connected() as it:
        holding = await it.holding("1")
        await soon(it.mcp.nav.goto({"url": "https://a.test/"}, parallel=True))
        await soon(it.mcp.root.health({}, parallel=True))
        with pytest.raises(MCPTimeoutError, match="The tool hold did not respond within 20ms"):
            await it.mcp._root["hold"]({"id": "2"}, parallel=True, timeout_ms=20)
        await it.release()
        await soon(holding)
        await it.mcp._root["session_free"](parallel=True, timeout_ms=5)

        assert it.journal.calls[-1] == ("session_free", {"parallel": True, "timeout_ms": 5})


async def test_keyword_argument_beside_a_mapping_is_refused() -> None:
    async with open_connected() as it:
        call: Any = it.mcp.nav.goto
        with pytest.raises(MCPError) as caught:
            await call({}, url="https://a.test/")

        assert (str(caught.value), caught.value.reason) == (
            "url: nav.goto has its arguments in a mapping already; add this one to the mapping",
            "invalid",
        )
        assert [name for name, _ in it.journal.calls] == ["session.open"]


@pytest.mark.parametrize("timeout_ms", [0, -1, True, "5"])
async def test_invalid_timeout_is_refused(timeout_ms: Any) -> None:
    async with open_connected() as it:
        with pytest.raises(MCPError, match="timeout_ms: must be more than 0"):
            await it.mcp.nav.goto({"url": "https://a.test/"}, timeout_ms=timeout_ms)

        assert [name for name, _ in it.journal.calls] == ["session.open"]


@pytest.mark.parametrize(
    ("namespace", "method", "name"),
    [
        ("nav", "goto", "nav.goto"),
        ("browser", "run.file", "browser.run.file"),
        ("_root", "health", "health"),
    ],
)
def test_a_tool_is_named_by_its_namespace_and_method(namespace: str, method: str, name: str) -> None:
    assert wire_name(namespace, method) == name


async def test_method_has_its_tool_name() -> None:
    async with open_connected() as it:
        assert it.mcp.browser["run.file"].__name__ == "browser.run.file"
        assert it.mcp.root["health"].__name__ == "health"


async def test_handle_exposes_its_components() -> None:
    async with open_connected("p4n-test") as it:
        bound = it.mcp.bound

        assert (bound.session_name, bound.log) == ("p4n-test", it.log.log)
        assert bound.client.connected
        assert (await bound.invoker.invoke("health")).text == "well"


# The end


async def test_a_handle_is_closed_in_finally() -> None:
    target, _, journal = serve_in_memory()
    mcp = await mcp_connect("p4n-test", server=target)
    try:
        await mcp.nav.goto({"url": "https://a.test/"})
    finally:
        await mcp.close()

    assert journal.order == [
        *("+session.open", "-session.open", "+nav.goto", "-nav.goto", "+session.close", "-session.close")
    ]
    assert mcp.bound.client.state == "disconnected"


async def test_a_handle_is_a_context_manager() -> None:
    target, _, journal = serve_in_memory()
    mcp = await mcp_connect("p4n-test", server=target)
    with pytest.raises(LookupError, match="the test fails"):
        async with mcp:
            raise LookupError("the test fails")

    assert [name for name, _ in journal.calls] == ["session.open", "session.close"]
    assert mcp.bound.client.state == "disconnected"


async def test_cancelled_handle_closes_its_session() -> None:
    target, _, journal = serve_in_memory()
    entered = asyncio.Event()

    async def work() -> None:
        async with mcp_connect("p4n-test", server=target) as mcp:
            entered.set()
            await mcp.call("hold", {"id": "1"})

    working = asyncio.create_task(work())
    await soon(entered.wait())
    await journal.began("hold")
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await soon(working)

    assert [name for name, _ in journal.calls] == ["session.open", "hold", "session.close"]


async def test_handle_works_without_namespaces() -> None:
    async with open_connected() as it:
        assert (await Handle(it.mcp.bound).call("health")).text == "well"
