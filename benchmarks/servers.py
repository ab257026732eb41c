"""The servers that are compared: how each is started, and how it is asked for the same things."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp_types import CallToolResult, TextContent
from playwright._impl._driver import compute_driver_executable

from footlight.browser.launch import find_browser
from footlight.config import BrowserSettings
from scripts.run_conformance import install

__all__ = [
    "NODE",
    "PEERS",
    "PLAYWRIGHT_MCP",
    "SERVERS",
    "Footlight",
    "Server",
    "Worker",
    "executable",
    "install_peers",
    "text_of",
]

ROOT = Path(__file__).parents[1]
PEERS = ROOT / ".peers" / "node_modules"
"""Where `install_peers` puts them."""
NODE = str(compute_driver_executable()[0])
PLAYWRIGHT_MCP = "@playwright/mcp"


def install_peers() -> None:
    """At the versions of `peers/package-lock.json`."""
    install(ROOT / "peers", PEERS.parent)


@cache
def executable(*, headless: bool = True) -> str:
    """The browser that all of them are given; "" where each has to find its own."""
    own = Path(tempfile.gettempdir()) / "no-such-build"
    return str(find_browser(BrowserSettings(headless=headless), own).executable or "")


@dataclass(frozen=True)
class Start:
    """A server's process: its command, and what of the environment is its own."""

    command: Sequence[str]
    environment: Mapping[str, str]


class Worker(ABC):
    """Whoever does the work that is compared. Each call gives the whole answer."""

    name: ClassVar[str]

    @classmethod
    @abstractmethod
    def running(cls) -> AbstractAsyncContextManager[Worker]: ...

    async def prepare(self) -> None:  # noqa: B027 - most need nothing
        """After a page has come: learn what its elements are called."""

    @abstractmethod
    async def navigate(self, url: str) -> CallToolResult: ...

    @abstractmethod
    async def click(self) -> CallToolResult: ...

    @abstractmethod
    async def click_and_look(self) -> CallToolResult:
        """Until the caller knows what the page is like after the click."""

    @abstractmethod
    async def fill(self, value: str) -> CallToolResult: ...

    @abstractmethod
    async def snapshot(self) -> CallToolResult: ...

    @abstractmethod
    async def read_text(self) -> CallToolResult: ...

    @abstractmethod
    async def screenshot(self) -> CallToolResult: ...


class Server(Worker):
    """A server with a client on its standard input and output."""

    def __init__(self, client: Client, names: Mapping[str, Any] | None = None) -> None:
        self.client = client
        self.names = dict(names or {})

    @classmethod
    @abstractmethod
    def start(cls, folder: Path) -> Start: ...

    @classmethod
    @asynccontextmanager
    async def running(cls) -> AsyncGenerator[Server]:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            start = cls.start(Path(folder))
            command, *arguments = start.command
            parameters = StdioServerParameters(
                command=command, args=arguments, env={**os.environ, **start.environment}, cwd=folder
            )
            with tempfile.TemporaryFile("w") as errors:
                async with Client(stdio_client(parameters, errlog=errors)) as client:
                    yield cls(client)

    async def ask(self, tool: str, **arguments: Any) -> CallToolResult:
        result = await self.client.call_tool(tool, {**self.names, **arguments})
        assert not result.is_error, result
        return result


class Footlight(Server):
    """With its defaults: each acting call tells what changed."""

    name = "footlight"
    flags: ClassVar[Sequence[str]] = ()

    @classmethod
    def start(cls, folder: Path) -> Start:
        command = [sys.executable, "-m", "footlight", "serve", "--log-level", "error", *cls.flags]
        return Start([*command, "--state-directory", str(folder)], {"FOOTLIGHT_POOL_MIN_BROWSERS": "1"})

    async def navigate(self, url: str) -> CallToolResult:
        return await self.ask("navigate", url=url)

    async def click(self) -> CallToolResult:
        return await self.ask("click", selector="#b")

    async def click_and_look(self) -> CallToolResult:
        return await self.click()

    async def fill(self, value: str) -> CallToolResult:
        return await self.ask("fill", selector="#i", value=value)

    async def snapshot(self) -> CallToolResult:
        return await self.ask("snapshot")

    async def read_text(self) -> CallToolResult:
        return await self.ask("get_text", selector="#t")

    async def screenshot(self) -> CallToolResult:
        return await self.ask("screenshot")


class PlaywrightMcp(Server):
    name = PLAYWRIGHT_MCP

    @classmethod
    def start(cls, _: Path) -> Start:
        script = PEERS / "@playwright/mcp/cli.js"
        found = ["--executable-path", executable()] if executable() else []
        return Start([NODE, str(script), "--headless", "--isolated", *_NO_SANDBOX, *found], {})

    async def navigate(self, url: str) -> CallToolResult:
        return await self.ask("browser_navigate", url=url)

    async def click(self) -> CallToolResult:
        return await self.ask("browser_click", element="the button", target="#b")

    async def click_and_look(self) -> CallToolResult:
        return _together(await self.click(), await self.snapshot())

    async def fill(self, value: str) -> CallToolResult:
        return await self.ask("browser_type", element="the field", target="#i", text=value)

    async def snapshot(self) -> CallToolResult:
        return await self.ask("browser_snapshot")

    async def read_text(self) -> CallToolResult:
        return await self.ask("browser_evaluate", function="() => document.querySelector('#t').innerText")

    async def screenshot(self) -> CallToolResult:
        return await self.ask("browser_take_screenshot", type="png")


class ChromeDevtoolsMcp(Server):
    name = "chrome-devtools-mcp"

    @classmethod
    def start(cls, _: Path) -> Start:
        script = PEERS / "chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js"
        flags = ["--headless", "--isolated", "--no-usage-statistics", "--no-performance-crux"]
        browser = executable(headless=False)
        found = ["--executablePath", browser] if browser else []
        unsafe = [f"--chromeArg={flag}" for flag in _NO_SANDBOX]
        return Start([NODE, str(script), *flags, *found, *unsafe], {})

    async def navigate(self, url: str) -> CallToolResult:
        self.names = {"pageId": 1}
        return await self.ask("navigate_page", type="url", url=url)

    async def prepare(self) -> None:
        text = text_of(await self.snapshot())
        self._button = _uid(text, r'button "Press"')
        self._field = _uid(text, r'textbox "Name"')

    async def click(self) -> CallToolResult:
        return await self.ask("click", uid=self._button)

    async def click_and_look(self) -> CallToolResult:
        return await self.ask("click", uid=self._button, includeSnapshot=True)

    async def fill(self, value: str) -> CallToolResult:
        return await self.ask("fill", uid=self._field, value=value)

    async def snapshot(self) -> CallToolResult:
        return await self.ask("take_snapshot")

    async def read_text(self) -> CallToolResult:
        return await self.ask("evaluate_script", function="() => document.querySelector('#t').innerText")

    async def screenshot(self) -> CallToolResult:
        return await self.ask("take_screenshot", format="png")


SERVERS: tuple[type[Server], ...] = (Footlight, PlaywrightMcp, ChromeDevtoolsMcp)

_NO_SANDBOX = ["--no-sandbox"] if getattr(os, "geteuid", lambda: 1)() == 0 else []


def text_of(result: CallToolResult) -> str:
    """All that a model would read: the text blocks, not the pictures."""
    return "\n".join(block.text for block in result.content if isinstance(block, TextContent))


def _together(first: CallToolResult, second: CallToolResult) -> CallToolResult:
    return CallToolResult(content=[*first.content, *second.content])


def _uid(snapshot: str, words: str) -> str:
    found = re.search(rf"uid=(\S+) {words}", snapshot)
    assert found, snapshot[:500]
    return found[1]
