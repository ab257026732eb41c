"""Connecting a client to a command, a URL or a transport."""

from __future__ import annotations

from pathlib import Path

import pytest

from footlight.client.handles import spawn_client
from footlight.protocol.errors import MCPError, MCPTimeoutError, ServerNotAvailableError
from tests.client.handles.handles import Started, serve_in_memory, soon

pytestmark = pytest.mark.anyio


async def test_a_command_becomes_a_connected_client_that_the_caller_closes(tmp_path: Path) -> None:
    started = Started(tmp_path)
    client = await soon(spawn_client(started.command))
    try:
        assert (client.state, client.get_server_info()["name"]) == ("connected", "session-server")
        assert len(started.pids) == 1
        assert started.journal.calls == []
    finally:
        await soon(client.close())

    assert await started.find_left_processes() == []


async def test_client_timeout_limits_each_call() -> None:
    target, _, _ = serve_in_memory()
    client = await soon(spawn_client(target, timeout_ms=500))
    try:
        with pytest.raises(MCPTimeoutError, match="within 500ms"):
            await soon(client.call_tool("hold", {"id": "1", "sessionName": "a"}))
    finally:
        await soon(client.close())


async def test_server_that_fails_to_start_is_reported() -> None:
    with pytest.raises(ServerNotAvailableError):
        await soon(spawn_client("no-such-server-anywhere"))


@pytest.mark.parametrize("timeout_ms", [0, -1, float("nan")])
async def test_invalid_timeout_is_refused(timeout_ms: float) -> None:
    target, _, _ = serve_in_memory()
    with pytest.raises(MCPError, match="timeout_ms: must be more than 0"):
        await soon(spawn_client(target, timeout_ms=timeout_ms))
