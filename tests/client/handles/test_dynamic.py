"""Handles without a generated module."""

from __future__ import annotations

import copy
import sys
from pathlib import Path
from typing import Any

import pytest

from footlight.client.handles.adapters import no_session
from footlight.client.handles.dynamic import connect_dynamic
from footlight.client.mcp_client import MCPClient
from footlight.client.transports.memory import InMemory
from footlight.protocol.errors import MCPError, ToolInvocationError
from tests.client.handles.handles import Log, Started, children, serve_in_memory, soon
from tests.client.scripted_server import Script, says

pytestmark = pytest.mark.anyio


async def test_every_tool_is_a_method_of_its_namespace() -> None:
    target, _, journal = serve_in_memory()
    log = Log()
    async with connect_dynamic("p4n-test", server=target, log=log.log) as mcp:
        await mcp.nav.goto(url="https://a.test/")
        await mcp.nav.goto({"url": "https://a.test/"}, parallel=True)
        assert await mcp.browser["run.file"](path="a.py") == {"ran": "a.py"}
        assert [await mcp.root.health(), await mcp._root.health()] == ["well", "well"]
        assert (await mcp.call("health")).text == "well"

    session = {"sessionName": "p4n-test"}
    assert journal.calls == [
        ("session.open", session),
        ("nav.goto", {**session, "url": "https://a.test/"}),
        ("nav.goto", {**session, "url": "https://a.test/"}),
        ("browser.run.file", {**session, "path": "a.py"}),
        *[("health", {})] * 3,
        ("session.close", session),
    ]
    assert [line["_seq"] for line in log.lines[::2]] == list(range(1, 9))


async def test_adapter_is_inferred_from_the_tools_unless_given() -> None:
    target, _, journal = serve_in_memory()
    async with connect_dynamic("p4n-test", no_session, server=target, log=Log().log) as mcp:
        await mcp.call("health")
    script = Script(("add",), {"add": says("3")})
    async with connect_dynamic("p4n-test", server=InMemory(script.server()), log=Log().log) as mcp:
        assert await mcp.root.add(target="1") == "3"
    opens = {
        "create_session": says(success=True, data={"sessionId": "s-1"}),
        "close_session": says(success=True),
    }
    browser = Script(("create_session", "close_session"), opens)
    async with connect_dynamic("p4n-test", server=InMemory(browser.server()), log=Log().log) as mcp:
        assert mcp.bound.session_name == "s-1"

    assert journal.calls == [("health", {})]
    assert script.calls == [("add", {"target": "1"})]
    assert browser.calls == [("create_session", {}), ("close_session", {"sessionId": "s-1"})]


async def test_unknown_tool_is_refused_by_the_server() -> None:
    target, _, _ = serve_in_memory()
    async with connect_dynamic("p4n-test", server=target, log=Log().log) as mcp:
        with pytest.raises(ToolInvocationError, match=r"Unknown tool: nav\.fly"):
            await mcp.nav.fly()


@pytest.mark.parametrize("name", ["_repr_html_", "__wrapped__", "_x"])
async def test_python_introspection_names_are_not_tools(name: str) -> None:
    target, _, _ = serve_in_memory()
    async with connect_dynamic("p4n-test", server=target, log=Log().log) as mcp:
        thing: Any
        for thing in (mcp, mcp.nav):
            assert not hasattr(thing, name)
        assert copy.copy(mcp).bound is mcp.bound


async def test_failed_tool_listing_leaves_no_process() -> None:
    async def wrong(read: Any, write: Any) -> None:
        raise LookupError("the server is wrong")

    before = children()
    client = MCPClient(InMemory(wrong))
    for server in ([sys.executable, "-c", "import sys; sys.stdin.read()"], client):
        with pytest.raises(MCPError):
            await soon(connect_dynamic("p4n-test", server=server, log=Log().log, timeout_ms=300))

    assert client.state == "disconnected"
    assert children() - before == set()


@pytest.mark.slow
async def test_one_process_is_started_and_ended(tmp_path: Path) -> None:
    started = Started(tmp_path)
    async with connect_dynamic("p4n-test", server=started.command, log=Log().log) as mcp:
        assert await mcp.root.health() == "well"

    assert len(started.pids) == 1
    assert await started.find_left_processes() == []
