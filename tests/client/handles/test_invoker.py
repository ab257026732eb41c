"""The order and the session of a handle's calls, and its close, as the server sees them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import psutil
import pytest

from footlight.client.handles import create_call_invoker, create_logger
from footlight.client.handles.adapters import Adapter, no_session, szkrabok_session
from footlight.client.mcp_client import MCPClient
from footlight.protocol.errors import MCPConnectionError, MCPError, MCPTimeoutError, ToolInvocationError
from tests.client.handles.handles import (
    Log,
    Started,
    mcp_connect,
    open_connected,
    serve_in_memory,
    soon,
    wait_until_queued,
)

pytestmark = pytest.mark.anyio

NAME = "p4n-test"


def describe_closed(tool: str) -> tuple[str, str]:
    return f"{tool}: the handle is closed", "not_connected"


async def check_refused(waiting: Any) -> tuple[str, str]:
    """Return the message and the reason of an error of this package."""
    with pytest.raises(MCPError) as caught:
        await soon(waiting)
    return str(caught.value), caught.value.reason


# What it is


async def test_invoker_can_only_invoke_and_close() -> None:
    target, _, journal = serve_in_memory()
    client = MCPClient(target)
    invoker = create_call_invoker(
        client=client, log=create_logger(console=False), adapter=szkrabok_session, session_name=NAME
    )

    result = await soon(invoker.invoke("nav.goto", {"url": "https://a.test/"}))
    await soon(invoker.close())

    assert {name for name in dir(invoker) if not name.startswith("_")} == {"close", "invoke"}
    assert (result.text, result.is_error) == ("", False)
    assert journal.calls == [
        ("nav.goto", {"sessionName": NAME, "url": "https://a.test/"}),
        ("session.close", {"sessionName": NAME}),
    ]
    assert client.state == "disconnected"


# The session


async def test_session_is_sent_only_to_tools_that_accept_it() -> None:
    async with open_connected(NAME) as it:
        await it.mcp.call("nav.goto", {"url": "https://a.test/"})
        await it.mcp.call("health")
        await it.mcp.call("session_free", {"url": "https://a.test/"})

        assert it.journal.calls == [
            ("session.open", {"sessionName": NAME}),
            ("nav.goto", {"sessionName": NAME, "url": "https://a.test/"}),
            ("health", {}),
            ("session_free", {"url": "https://a.test/"}),
        ]
        assert [list(arguments) for _, arguments in it.journal.calls][1] == ["sessionName", "url"]


async def test_session_argument_cannot_be_overridden() -> None:
    async with open_connected(NAME) as it:
        error = await check_refused(
            it.mcp.call("nav.goto", {"url": "https://a.test/", "sessionName": "another"})
        )
        free = await it.mcp.call("session_free", {"sessionName": "another"})

        assert error == (
            "sessionName: the handle gives its own session to nav.goto; leave this argument out",
            "invalid",
        )
        assert free.text == '{"sessionName": "another"}'
        assert [name for name, _ in it.journal.calls] == ["session.open", "session_free"]


async def test_unknown_tool_is_refused_by_the_server() -> None:
    async with open_connected() as it:
        with pytest.raises(ToolInvocationError) as caught:
            await it.mcp.call("nav.fly", {"to": "Oslo"})

        assert (str(caught.value), caught.value.reason) == ("Unknown tool: nav.fly", "unknown_tool")
        assert it.journal.calls[-1] == ("nav.fly", {"to": "Oslo"})


async def test_tool_added_later_receives_the_session() -> None:
    target, server, journal = serve_in_memory("fewer")
    async with MCPClient(target) as client:
        invoker = create_call_invoker(
            client=client, log=create_logger(console=False), adapter=szkrabok_session, session_name=NAME
        )
        await invoker.invoke("say", {"text": "hello"})
        server.offer_later("later")
        await client.list_tools(refresh=True)
        await invoker.invoke("later", {"text": "hello"})

    assert journal.calls[-1] == ("later", {"sessionName": NAME, "text": "hello"})


async def test_arguments_must_be_a_mapping_and_are_copied() -> None:
    """What is none is refused, and the caller's own is neither kept nor changed."""
    given: dict[str, Any] = {"url": "https://a.test/"}
    async with open_connected(NAME) as it:
        holding = await it.holding("1")
        going = asyncio.create_task(it.mcp.call("nav.goto", given))
        await wait_until_queued()
        given["url"] = "https://b.test/"
        await it.release()
        await soon(asyncio.gather(holding, going))

        error = await check_refused(it.mcp.nav.goto("https://a.test/"))  # pyright: ignore

        assert given == {"url": "https://b.test/"}
        assert it.journal.calls[-1] == ("nav.goto", {"sessionName": NAME, "url": "https://a.test/"})
        assert error == (
            "nav.goto: give the arguments by name, or all of them in a mapping; a str is not one",
            "invalid",
        )


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1, 2}, b"bytes"], ids=repr)
async def test_value_without_a_json_form_is_not_sent(value: object) -> None:
    async with open_connected() as it:
        before = it.log.text
        _, reason = await check_refused(it.mcp.call("session_free", {"value": value}))

        assert reason == "invalid"
        assert it.log.text == before
        assert [name for name, _ in it.journal.calls] == ["session.open"]


# One after another


async def test_calls_run_in_order_without_overlap() -> None:
    async with open_connected() as it:
        calls = [asyncio.create_task(it.mcp.call("say", {"text": str(number)})) for number in range(50)]
        results = await soon(asyncio.gather(*calls))

        assert [result.text for result in results] == [str(number) for number in range(50)]
        assert it.journal.order[2:] == [
            mark for number in range(50) for mark in (f"+say {number}", f"-say {number}")
        ]


async def test_parallel_call_neither_waits_nor_blocks() -> None:
    async with open_connected() as it:
        first = await it.holding("1")
        waiting = asyncio.create_task(it.mcp.call("say", {"text": "in turn"}))
        beside = await it.holding("2", 2, parallel=True)
        await soon(it.mcp.call("say", {"text": "at once"}, parallel=True))
        await soon(it.mcp.nav.goto({"url": "https://a.test/"}, parallel=True))

        assert not any(task.done() for task in (first, waiting, beside))
        await it.release()
        await soon(asyncio.gather(first, waiting, beside))
        later = await it.holding("3", 3, parallel=True)
        await soon(it.mcp.call("say", {"text": "meanwhile"}))

        assert not later.done()
        assert it.journal.order[2:9] == [
            *("+hold 1", "+hold 2", "+say at once", "-say at once", "+nav.goto", "-nav.goto", "+release")
        ]
        assert it.journal.order[-3:] == ["+hold 3", "+say meanwhile", "-say meanwhile"]
        await it.release()
        await soon(later)


async def test_two_handles_do_not_block_each_other() -> None:
    target, _, journal = serve_in_memory()
    async with (
        mcp_connect("one", server=target, log=Log().log) as one,
        mcp_connect("two", server=target, log=Log().log) as two,
    ):
        holding = asyncio.create_task(one.call("hold", {"id": "1"}))
        await journal.began("hold")
        await soon(two.nav.goto(url="https://a.test/"))

        assert not holding.done()
        assert journal.calls[-1] == ("nav.goto", {"sessionName": "two", "url": "https://a.test/"})
        await two.call("release")
        await soon(holding)


async def test_failed_call_does_not_stop_the_next() -> None:
    async with open_connected() as it:
        calls = [
            asyncio.create_task(it.mcp.call(*call))
            for call in (
                ("fail", {"text": "no"}),
                ("say", {"text": "one"}),
                ("nav.fly", {}),
                ("session_free", {"x": {1, 2}}),
                ("nav.goto", {"url": "https://a.test/", "sessionName": "another"}),
                ("say", {"text": "two"}),
            )
        ]
        results = await soon(asyncio.gather(*calls, return_exceptions=True))

        assert [getattr(result, "text", str(result)) for result in results] == [
            "no",
            "one",
            "Unknown tool: nav.fly",
            "arguments: cannot be written as JSON: Object of type set is not JSON serializable",
            "sessionName: the handle gives its own session to nav.goto; leave this argument out",
            "two",
        ]
        assert [type(result).__name__ for result in results] == [
            *(
                "ToolInvocationError",
                "ToolResult",
                "ToolInvocationError",
                "MCPError",
                "MCPError",
                "ToolResult",
            )
        ]


async def test_cancelled_or_timed_out_call_lets_the_next_run() -> None:
    async with open_connected() as it:
        cancelled = await it.holding("1")
        slow = asyncio.create_task(it.hold("2", timeout_ms=50))
        last = asyncio.create_task(it.mcp.call("say", {"text": "at last"}))
        await wait_until_queued()
        cancelled.cancel()

        assert (await soon(last)).text == "at last"
        with pytest.raises(asyncio.CancelledError):
            await cancelled
        with pytest.raises(MCPTimeoutError, match="The tool hold did not respond within 50ms"):
            await slow
        assert [mark for mark in it.journal.order if mark.startswith("+")] == [
            *("+session.open", "+hold 1", "+hold 2", "+say at last")
        ]
        assert [line["_error"] for line in it.log.lines if "_error" in line] == [
            "CancelledError",
            "The tool hold did not respond within 50ms",
        ]


async def test_call_cancelled_in_the_queue_is_never_sent() -> None:
    async with open_connected() as it:
        holding = await it.holding("1")
        waiting = asyncio.create_task(it.mcp.call("say", {"text": "never"}))
        last = asyncio.create_task(it.mcp.call("say", {"text": "last"}))
        await wait_until_queued()
        waiting.cancel()
        await it.release()
        await soon(asyncio.gather(holding, last))

        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert [arguments.get("text") for name, arguments in it.journal.calls if name == "say"] == ["last"]
        assert "never" not in it.log.text


async def test_sequence_numbers_are_unique() -> None:
    async with open_connected() as it:
        await soon(
            asyncio.gather(*(it.mcp.call("health", parallel=bool(number % 2)) for number in range(20)))
        )

        befores = [line["_seq"] for line in it.log.lines if line["_phase"] == "before"]
        afters = [line["_seq"] for line in it.log.lines if line["_phase"] == "after"]
        assert sorted(befores) == sorted(afters) == list(range(1, 22))


# The end


async def test_closing_waits_for_running_calls_and_refuses_queued_ones() -> None:
    async with open_connected() as it:
        running = await it.holding("1")
        beside = await it.holding("2", 2, parallel=True)
        waiting = asyncio.create_task(it.mcp.call("say", {"text": "too late"}))
        await wait_until_queued()
        closing = asyncio.create_task(it.mcp.close())
        await wait_until_queued()

        assert await check_refused(it.mcp.call("health")) == describe_closed("health")
        assert await check_refused(it.mcp.call("health", parallel=True)) == describe_closed("health")
        await soon(it.client.ping())  # What was sent before has come.
        assert not closing.done()
        it.server.release()
        await soon(asyncio.gather(running, beside, closing))

        assert await check_refused(waiting) == describe_closed("say")
        assert it.journal.order[2:] == [
            *("+hold 1", "+hold 2", "-hold 1", "-hold 2", "+session.close", "-session.close")
        ]


async def test_closing_waits_for_parallel_calls() -> None:
    async with open_connected() as it:
        beside = await it.holding("1", parallel=True)
        closing = asyncio.create_task(it.mcp.close())
        await wait_until_queued()
        await soon(it.client.ping())  # What was sent before has come.
        assert not closing.done()
        it.server.release()
        await soon(asyncio.gather(beside, closing))

        assert it.journal.order[2:] == ["+hold 1", "-hold 1", "+session.close", "-session.close"]


async def test_calls_after_closing_are_refused() -> None:
    async with open_connected() as it:
        await it.mcp.close()
        await it.mcp.close()

        assert await check_refused(it.mcp.nav.goto(url="https://a.test/")) == describe_closed("nav.goto")
        assert [name for name, _ in it.journal.calls] == ["session.open", "session.close"]
        assert it.client.state == "disconnected"
    assert [name for name, _ in it.journal.calls] == ["session.open", "session.close"]


async def test_concurrent_close_returns_when_closed() -> None:
    async with open_connected() as it:
        running = await it.holding("1")
        closing = [asyncio.create_task(it.mcp.close()) for _ in range(3)]
        await wait_until_queued()
        assert not any(task.done() for task in closing)
        it.server.release()
        _, second, _ = closing
        await soon(second)

        assert it.client.state == "disconnected"
        assert [name for name, _ in it.journal.calls] == ["session.open", "hold", "session.close"]
        await soon(asyncio.gather(running, *closing))


async def test_failed_session_close_is_reported_and_client_closed() -> None:
    async with open_connected() as it:
        it.server.refuse_to_close()
        with pytest.raises(ToolInvocationError, match="the browser is gone"):
            await soon(it.mcp.close())
        await soon(it.mcp.close())

        assert it.client.state == "disconnected"
        assert [name for name, _ in it.journal.calls] == ["session.open", "session.close"]
        assert it.log.lines[-1]["_error"] == "the browser is gone"


async def test_killed_server_ends_pending_calls(tmp_path: Path) -> None:
    started = Started(tmp_path)
    log = Log()
    mcp = await soon(mcp_connect(NAME, server=started.command, log=log.log))
    try:
        holding = asyncio.create_task(mcp.call("hold", {"id": "1"}))
        waiting = asyncio.create_task(mcp.call("health"))
        (pid,) = started.pids
        await soon(mcp.call("health", parallel=True))
        psutil.Process(pid).kill()
        results = await soon(asyncio.gather(holding, waiting, return_exceptions=True))
    finally:
        with pytest.raises(MCPConnectionError):
            await soon(mcp.close())

    assert [type(result) for result in results] == [MCPConnectionError, MCPConnectionError]
    assert log.lines[-1]["name"] == "session.close"
    assert log.lines[-1]["_error"] == "The server was ended by SIGKILL"
    assert await check_refused(mcp.call("health")) == describe_closed("health")
    assert await started.find_left_processes() == []


@pytest.mark.slow
async def test_cancelled_close_leaves_no_process(tmp_path: Path) -> None:
    started = Started(tmp_path)
    mcp = await soon(mcp_connect(NAME, server=started.command, log=Log().log))
    holding = asyncio.create_task(mcp.call("hold", {"id": "1"}))
    await soon(mcp.call("health", parallel=True))
    closing = asyncio.create_task(mcp.close())
    await wait_until_queued()
    closing.cancel()

    with pytest.raises(asyncio.CancelledError):
        await soon(closing)
    with pytest.raises(MCPConnectionError):
        await soon(holding)
    assert mcp.bound.client.state == "disconnected"
    assert await started.find_left_processes() == []


# Adapters of one's own


class Numbered:
    """Another server's way, in the four members that an adapter has: the session's key has another name."""

    async def open(self, client: Any, session_name: str) -> str:  # noqa: ARG002
        return f"https://{session_name}.test/"

    async def close(self, client: Any, session_name: str) -> None:
        await client.call_tool("say", {"text": f"bye from {session_name}"})

    def inject_session(self, arguments: Mapping[str, Any], session_name: str) -> dict[str, Any]:
        return {"url": session_name, **arguments}

    def has_session(self, tool: Any) -> bool:
        return "url" in tool.input_schema["properties"]


async def test_custom_adapter_replaces_session_protocol() -> None:
    target, _, journal = serve_in_memory()
    log = Log()
    async with mcp_connect("a", Numbered(), server=target, log=log.log) as mcp:
        await mcp.call("nav.goto", {"sessionName": "mine"})
        assert (await check_refused(mcp.call("nav.goto", {"url": "x"})))[0].startswith(
            "url: the handle gives"
        )

    assert journal.calls == [
        ("nav.goto", {"url": "https://a.test/", "sessionName": "mine"}),
        ("say", {"text": "bye from https://a.test/"}),
    ]
    assert [(line["name"], line["_phase"], line["_seq"]) for line in log.lines] == [
        *(("nav.goto", "before", 1), ("nav.goto", "after", 1)),
        *(("say", "before", 3), ("say", "after", 3)),
    ]


async def test_adapter_returning_no_name_keeps_the_handle_name() -> None:
    """As the document's `open` gives none; and its four functions need no class."""

    async def open(client: Any, name: str) -> None:
        await client.call_tool("session.open", {"sessionName": name})

    async def close(client: Any, name: str) -> None:
        await client.call_tool("session.close", {"sessionName": name})

    adapter = SimpleNamespace(
        open=open,
        close=close,
        inject_session=lambda arguments, name: {"sessionName": name, **arguments},
        has_session=lambda tool: "sessionName" in tool.input_schema["properties"],
    )
    target, _, journal = serve_in_memory()
    async with mcp_connect("a", cast("Adapter", adapter), server=target, log=Log().log) as mcp:
        await mcp.nav.goto(url="x")

    assert journal.calls == [
        ("session.open", {"sessionName": "a"}),
        ("nav.goto", {"sessionName": "a", "url": "x"}),
        ("session.close", {"sessionName": "a"}),
    ]


async def test_no_session_adapter_adds_no_arguments() -> None:
    target, _, journal = serve_in_memory()
    async with mcp_connect("unused", no_session, server=target, log=Log().log) as mcp:
        await mcp.call("nav.goto", {"url": "https://a.test/", "sessionName": "mine"})

    assert journal.calls == [("nav.goto", {"url": "https://a.test/", "sessionName": "mine"})]
