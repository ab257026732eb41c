"""Named sessions over HTTP: each principal has its own, independent of connections."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import pytest

from tests.conftest import ENGINE
from tests.http_client import HttpServer, Raw, raw
from tests.site import Site
from tests.toolsets.szkrabok.conftest import make_name
from tests.transports.conftest import house_of_callers

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(ENGINE != "chromium", reason="profiles are Chromium's"),
]


@pytest.fixture(scope="module")
async def house(anyio_backend: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[HttpServer]:
    """It has no transport sessions."""
    config = {"toolset": "szkrabok", "listen": {"stateless": True}}
    async with house_of_callers(tmp_path_factory.mktemp("house"), config) as server:
        yield server


async def result(client: Raw, tool: str, /, **arguments: Any) -> dict[str, Any]:
    answer = await client.modern("tools/call", {"name": tool, "arguments": arguments})
    assert "mcp-session-id" not in answer.headers
    return answer.json()["result"]


async def data(client: Raw, tool: str, /, **arguments: Any) -> dict[str, Any]:
    reported = await result(client, tool, **arguments)
    assert not reported["isError"], reported
    return reported["structuredContent"]


async def error(client: Raw, tool: str, /, **arguments: Any) -> dict[str, Any]:
    reported = await result(client, tool, **arguments)
    assert reported["isError"], reported
    return reported["_meta"]["footlight/error"]


@pytest.mark.slow
async def test_named_session_is_private_to_its_principal(ada: Raw, bob: Raw, site: Site) -> None:
    name = make_name()
    assert await data(ada, "session.open", sessionName=name) == {"opened": True}
    mine = await data(ada, "session.endpoint", sessionName=name)

    for tool in ("session.close", "session.delete", "session.endpoint", "browser.snapshot", "nav.back"):
        message = await error(bob, tool, sessionName=name)
        assert (message["code"], message["details"]) == ("SESSION_NOT_FOUND", {"sessionName": name}), tool
    assert await data(bob, "session.list") == {"sessions": []}
    assert (await data(bob, "health"))["openSessions"] == []

    assert await data(bob, "session.open", sessionName=name) == {"opened": True}
    theirs = await data(bob, "session.endpoint", sessionName=name)
    assert mine["port"] != theirs["port"]
    refused = await error(bob, "nav.goto", sessionName=name, url=f"{mine['http']}/json/list")
    assert refused["code"] == "PERMISSION_DENIED"
    assert await data(bob, "session.delete", sessionName=name) == {"deleted": True}
    assert (await data(ada, "health"))["openSessions"] == [name]
    await data(ada, "session.delete", sessionName=name)


@pytest.mark.slow
async def test_session_name_works_from_any_connection(ada: Raw, house: HttpServer, site: Site) -> None:
    name = make_name()
    await data(ada, "session.open", sessionName=name, url=site.page("<title>Here</title>"))

    async with raw(house, token="another-token-of-ada") as other:
        reported = await result(other, "browser.snapshot", sessionName=name)
        assert reported["content"][0]["text"].splitlines()[1] == "title: Here"
        await data(other, "session.close", sessionName=name)
    after = await error(ada, "browser.snapshot", sessionName=name)
    assert after["message"] == f'Session "{name}" was closed'
    await data(ada, "session.delete", sessionName=name)
