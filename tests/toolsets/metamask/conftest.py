"""A server of the toolset metamask over stdio, with the test wallet in it."""

from __future__ import annotations

import json
import os
import shutil
import socket
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

import psutil
import pytest
from mcp import Client
from mcp_types import CallToolResult, TextContent

from footlight.apps.metamask.fixtures import PASSWORD
from tests.apps.anvil_path import anvil_path
from tests.apps.wallet_folder import DAPP, wallet
from tests.conftest import ENGINE, connect_browser
from tests.processes import children_of, line_of
from tests.site import Site

PIN = "hunter2-hunter2"
"""The value of the secret PIN."""


def free_ports() -> dict[str, int]:
    """Return free ports in the form of `mm_launch`."""
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as other:
        return {"anvil": one.getsockname()[1], "fixtureServer": other.getsockname()[1]}


def path_with(*folders: Path) -> str:
    return os.pathsep.join([*map(str, folders), os.environ["PATH"]])


class Server:
    """A connected client: `call` returns an answer's result, `refused` its error, `envelope` all of it."""

    def __init__(self, client: Client, site: Site, root: Path, ports: Mapping[str, int]) -> None:
        self.client = client
        self.site = site
        self.root = root
        """The repository of the wallet."""
        self.ports = ports

    async def answer(self, tool: str, /, **arguments: Any) -> CallToolResult:
        return await self.client.call_tool(tool, arguments)

    async def envelope(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Return the envelope of an answer, which must be one text, and marked as an error if it is one."""
        result = await self.answer(tool, **arguments)
        (part,) = result.content
        assert isinstance(part, TextContent)
        assert result.structured_content is None
        data: dict[str, Any] = json.loads(part.text)
        assert result.is_error is not data["ok"]
        return data

    async def call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        reported = await self.envelope(tool, **arguments)
        assert reported["ok"], reported["error"]
        return reported["result"]

    async def refused(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        reported = await self.envelope(tool, **arguments)
        assert not reported["ok"], reported["result"]
        return reported["error"]

    async def code(self, tool: str, /, **arguments: Any) -> str:
        return (await self.refused(tool, **arguments))["code"]

    async def launch(self, **arguments: Any) -> dict[str, Any]:
        return await self.call("mm_launch", **{"ports": self.ports, **arguments})

    async def show(self, html: str) -> str:
        """Put a page on the site, navigate to it and return its URL."""
        url = self.site.page(html)
        await self.call("mm_navigate", screen="url", url=url, observe="none")
        return url

    async def nodes(self) -> list[dict[str, Any]]:
        return (await self.call("mm_accessibility_snapshot"))["nodes"]

    async def refs(self) -> dict[str, str]:
        """Take a snapshot and return its refs by `role:name`."""
        return {f"{node['role']}:{node['name']}": node["ref"] for node in await self.nodes()}

    async def text(self, test_id: str) -> str:
        return (await self.call("mm_get_text", testId=test_id))["text"]

    async def unlock(self) -> None:
        await self.call("mm_type", testId="unlock-password", text=PASSWORD, observe="none")
        await self.call("mm_click", testId="unlock-submit", observe="none")
        await self.call("mm_wait_for", testId="account-menu-icon")

    async def go_home(self) -> None:
        """Unlock the wallet and show its home screen, with no other page open."""
        tabs = (await self.call("mm_switch_tab", role="extension"))["tabs"]
        for tab in tabs:
            if not tab["current"]:
                await self.call("mm_close_tab", url=tab["url"])
        await self.call("mm_navigate", screen="home", observe="none")
        if not (await self.call("mm_get_state"))["state"]["isUnlocked"]:
            await self.unlock()

    async def open_dapp(self) -> str:
        """Open the site that uses the wallet, and return its URL."""
        url = self.site.page(DAPP.read_text("utf-8"), path="/dapp")
        await self.call("mm_navigate", screen="url", url=url, observe="none")
        await self.call("mm_wait_for", selector='[data-testid="dapp-wallet"]:not(:text("none"))')
        return url


@asynccontextmanager
async def serve_wallet_tools(
    site: Site, root: Path, *flags: str, built: bool = True, path: Sequence[Path] = ()
) -> AsyncGenerator[Server]:
    """Start a server in the repository `root`, which has a build of the wallet."""
    if ENGINE != "chromium":
        pytest.skip(f"extensions are Chromium's alone, and this run is in {ENGINE}")
    ports = free_ports()
    if built:
        folder = wallet(root / "src", fixture_port=ports["fixtureServer"], rpc_port=ports["anvil"])
        shutil.copytree(folder, root / "dist/chrome")
    secrets = root.with_name(f"{root.name}.secrets")
    secrets.write_text(f"PIN={PIN}\n", "utf-8")
    secrets.chmod(0o600)
    log = root.with_name(f"{root.name}.log")
    own = ("--toolset", "metamask", "--repository", str(root), "--secrets", str(secrets))
    logged = ("--log-level", "debug", "--log-file", str(log))
    environment = {"PATH": path_with(*path, anvil_path().parent), "FOOTLIGHT_SESSION_ELEMENT_TIMEOUT": "1000"}
    async with connect_browser(site, *own, *logged, *flags, cwd=root, **environment) as browser:
        yield Server(browser.client, site, root, ports)


def process_of(server: Server) -> psutil.Process:
    [own] = [each for each in children_of(psutil.Process()) if str(server.root) in line_of(each)]
    return own


def log_of(server: Server) -> str:
    return server.root.with_name(f"{server.root.name}.log").read_text("utf-8")


@pytest.fixture(scope="session")
async def launched(site: Site, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Server]:
    """One server for all tests of a worker, which has launched the wallet."""
    async with serve_wallet_tools(site, tmp_path_factory.mktemp("wallet")) as server:
        await server.launch()
        yield server
        await server.call("mm_cleanup")


@pytest.fixture
async def app(launched: Server) -> Server:
    """The wallet: unlocked, on its home screen, with no other page open."""
    await launched.go_home()
    return launched


@pytest.fixture(scope="session")
async def idle(site: Site, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Server]:
    """A server that has not launched the wallet."""
    async with serve_wallet_tools(site, tmp_path_factory.mktemp("idle")) as server:
        yield server


@pytest.fixture(scope="session")
async def strict(site: Site, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Server]:
    """A server with --strict that has not launched the wallet."""
    async with serve_wallet_tools(site, tmp_path_factory.mktemp("strict"), "--strict-002") as server:
        yield server


class Start(Protocol):
    async def __call__(self, *flags: str, built: bool = True, path: Sequence[Path] = ()) -> Server: ...


@pytest.fixture
async def start(site: Site, tmp_path: Path) -> AsyncGenerator[Start]:
    """Start a server for one test, in a new repository."""
    async with AsyncExitStack() as stack:

        async def start(*flags: str, built: bool = True, path: Sequence[Path] = ()) -> Server:
            (root := tmp_path / "repository").mkdir()
            return await stack.enter_async_context(
                serve_wallet_tools(site, root, *flags, built=built, path=path)
            )

        yield start
