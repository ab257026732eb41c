"""A server of the toolset szkrabok over stdio, with one named session."""

from __future__ import annotations

import secrets
import textwrap
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp_types import CallToolResult, TextContent

from tests.conftest import ENGINE, Browser, connect_browser
from tests.site import Site

WITHOUT_SESSION = ("health", "session.list")


class Named:
    """Makes every call in one named session, unless the call names another."""

    def __init__(self, client: Client, site: Site, root: Path, name: str) -> None:
        self.client = client
        self.site = site
        self.root = root
        self.name = name

    async def answer(self, tool: str, /, **arguments: Any) -> CallToolResult:
        """Return the whole result, also of a call that failed."""
        if tool not in WITHOUT_SESSION:
            arguments = {"sessionName": self.name, **arguments}
        return await self.client.call_tool(tool, arguments)

    async def call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        result = await self.answer(tool, **arguments)
        assert not result.is_error, result.structured_content
        assert result.structured_content is not None
        return result.structured_content

    async def text(self, tool: str, /, **arguments: Any) -> str:
        """Return the text of an answer that has nothing but text."""
        result = await self.answer(tool, **arguments)
        assert not result.is_error, result.structured_content
        assert result.structured_content is None
        return get_only_text(result)

    async def refused(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        result = await self.answer(tool, **arguments)
        assert result.is_error
        assert result.structured_content is None
        assert result.meta is not None
        error: dict[str, Any] = result.meta["footlight/error"]
        assert get_first_text(result) == error["message"]
        return error

    async def show(self, html: str) -> str:
        """Put a page on the site, navigate to it and return its URL."""
        url = self.site.page(html)
        await self.call("nav.goto", url=url)
        return url

    def test_file(self, source: str, name: str = "test_them.py") -> None:
        """Replace the test files of the server by this one."""
        for old in (self.root / "tests").glob("*.py"):
            old.unlink()
        (self.root / "tests" / name).write_text(textwrap.dedent(source), "utf-8")


def get_first_text(result: CallToolResult) -> str:
    part = result.content[0]
    assert isinstance(part, TextContent)
    return part.text


def get_only_text(result: CallToolResult) -> str:
    assert len(result.content) == 1, result.content
    return get_first_text(result)


@pytest.fixture(scope="session")
async def named_server(site: Site, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Browser]:
    """One for all tests of a worker: script evaluation on, tests in `root / "tests"`."""
    if ENGINE != "chromium":
        pytest.skip(f"named sessions are Chromium's alone, and this run is in {ENGINE}")
    root = tmp_path_factory.mktemp("named")
    (root / "tests").mkdir()
    flags = (
        *("--toolset", "szkrabok", "--sessions-dir", str(root / "sessions")),
        *("--tests-dir", str(root / "tests"), "--enable-script-evaluation", "--timeout", "10000"),
        *("--download-path", str(root / "downloads"), "--state-directory", str(root / "state")),
    )
    async with connect_browser(site, *flags, cwd=root) as server:
        server.root = root
        yield server


def make_name() -> str:
    """Return a name that is unique on this machine, because it decides on a port."""
    return f"t-{secrets.token_hex(6)}"


@pytest.fixture
async def unopened(named_server: Browser) -> AsyncGenerator[Named]:
    """A session name that only this test uses. The session is not open yet."""
    named = Named(named_server.client, named_server.site, named_server.root, make_name())
    yield named
    await named.answer("session.delete")


@pytest.fixture(scope="module")
async def module_session(named_server: Browser) -> AsyncGenerator[Named]:
    named = Named(named_server.client, named_server.site, named_server.root, make_name())
    await named.call("session.open")
    yield named
    await named.answer("session.delete")


@pytest.fixture
async def named(module_session: Named) -> Named:
    """An open session at an empty page. The tests of a file share it, because a session is a browser."""
    await module_session.call("nav.goto", url="about:blank")
    return module_session


@pytest.fixture
async def own_session(unopened: Named) -> Named:
    """An open session that only this test uses."""
    await unopened.call("session.open")
    return unopened
