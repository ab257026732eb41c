"""Tools that send notifications before they answer, lose their stream, or never answer."""

from __future__ import annotations

import anyio
from mcp.server.subscriptions import PromptsListChanged, ToolsListChanged

from tests.protocol.fixtures import Call, Outcome, content, fixture, strings, text


@fixture()
async def test_tool_with_logging(call: Call) -> Outcome:
    """Log three lines."""
    await call.log("Tool execution started")
    await call.log("Tool processing data")
    await call.log("Tool execution completed")
    return content(text("Logged three lines."))


@fixture()
async def test_logging_tool(call: Call) -> Outcome:
    """Log a line, which goes out only where the request asks for it."""
    await call.log("Logged")
    return content(text("Logged one line."))


@fixture()
async def test_tool_with_progress(call: Call) -> Outcome:
    """Report progress three times."""
    for progress in (0, 50, 100):
        await call.context.session.report_progress(progress, 100, f"Completed {progress} of 100")
    return content(text("Reported progress three times."))


@fixture()
async def test_trigger_tool_change(call: Call) -> Outcome:
    """Tell those who listen that the tools are others now."""
    await call.stage.events.publish(ToolsListChanged())
    return content(text("Told that the tools changed."))


@fixture()
async def test_trigger_prompt_change(call: Call) -> Outcome:
    """Tell those who listen that the prompts are others now."""
    await call.stage.events.publish(PromptsListChanged())
    return content(text("Told that the prompts changed."))


@fixture()
async def test_reconnection(call: Call) -> Outcome:
    """Close the stream before the answer, which waits for the client to come back (SEP-1699)."""
    if call.context.close_sse_stream is not None:
        await call.context.close_sse_stream()
    return content(text("Answered after the stream was closed."))


@fixture(strings("name"))
async def test_wait(call: Call) -> Outcome:
    """Report progress once, and wait to be cancelled."""
    name = call.argument("name")
    try:
        await call.context.session.report_progress(1)
        await anyio.sleep_forever()
    finally:
        call.stage.cancelled[name].set()
    raise AssertionError("nothing ends the wait but its cancellation")


@fixture(strings("name"))
async def test_wait_cancelled(call: Call) -> Outcome:
    """Answer when the `test_wait` of this name is cancelled."""
    await call.stage.cancelled[call.argument("name")].wait()
    return content(text("Cancelled."))


TOOLS = (
    test_tool_with_logging,
    test_logging_tool,
    test_tool_with_progress,
    test_trigger_tool_change,
    test_trigger_prompt_change,
    test_reconnection,
    test_wait,
    test_wait_cancelled,
)
