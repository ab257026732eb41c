"""The session `default` belongs to its connection and ends with it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from footlight.app.local_endpoint import name_commands
from footlight.caller import Caller
from tests.http_client import data, handshake, raw, served
from tests.network import client_over, listening
from tests.site import Site

pytestmark = pytest.mark.anyio

FEW = ("--max-sessions", "2")
END_SECONDS = 10.0


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    content = (await client.call_tool(tool, arguments)).structured_content
    assert content is not None
    assert content["success"], content
    return content["data"]


async def session_to_spare(client: Client) -> None:
    """Make and close a session, as soon as there is room for it."""
    async with asyncio.timeout(END_SECONDS):
        while True:
            content = (await client.call_tool("create_session", {})).structured_content
            assert content is not None
            if content["success"]:
                break
            assert content["error"]["code"] == "RESOURCE_EXHAUSTED"
    await call(client, "close_session", sessionId=content["data"]["sessionId"])


@pytest.mark.slow
async def test_default_session_ends_with_its_websocket(site: Site) -> None:
    async with listening("websocket", *FEW) as url:
        for _ in range(5):
            async with client_over("websocket", url, mode="auto") as client:
                await session_to_spare(client)
                page = site.page("<p>mine</p>")
                await call(client, "navigate", url=page)
                assert await call(client, "get_text", selector="p") == {"text": "mine"}


@pytest.mark.slow
async def test_steps_may_name_only_the_session_of_the_call(site: Site) -> None:
    async with listening("websocket") as url, client_over("websocket", url, mode="auto") as client:
        page = site.page("<p>mine</p>")
        steps = [
            {"tool": "navigate", "arguments": {"url": page, "sessionId": "default"}},
            {"tool": "get_text", "arguments": {"selector": "p", "sessionId": None}},
        ]
        done = await call(client, "run_steps", steps=steps, sessionId="default")
        assert done["steps"][1]["data"] == {"text": "mine"}

        other = (await call(client, "create_session"))["sessionId"]
        steps[0]["arguments"]["sessionId"] = other
        refused = (await client.call_tool("run_steps", {"steps": steps})).structured_content
        assert refused is not None
        assert refused["error"]["details"]["parameter"] == "steps.0.arguments.sessionId"


@pytest.mark.slow
async def test_a_default_session_ends_with_its_transport_session(site: Site, tmp_path: Any) -> None:
    async with served(tmp_path, *FEW) as server, raw(server) as client:
        for _ in range(4):
            speaker = await handshake(client)
            await data(speaker, "navigate", url=site.page("<p>mine</p>"))
            assert (await speaker.end()).status_code == 200
        made = await data(client, "create_session")
        await data(client, "close_session", **made)


def test_commands_on_each_machine_of_a_cluster_have_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def default_of(host: str, folder: str, *, is_cluster: bool = True) -> str | None:
        monkeypatch.setattr("platform.node", lambda: host)
        return Caller(name_commands(Path(folder), is_cluster=is_cluster), shares_default=True).default_session

    assert default_of("one", "/a") == default_of("one", "/a")
    assert len({default_of(*each) for each in (("one", "/a"), ("one", "/b"), ("two", "/a"))}) == 3
    alone = [default_of(host, "/a", is_cluster=False) for host in ("one", "two")]
    assert alone[0] == alone[1]
