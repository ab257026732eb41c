"""The compared servers: how to start them, and the same calls for each."""

from __future__ import annotations

import asyncio
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

from benchmarks.goals import CHROME_DEVTOOLS_MCP, FOOTLIGHT, PLAYWRIGHT_MCP
from footlight.browser.launch.installation import find_browser
from footlight.config import BrowserSettings
from scripts.run_conformance import install

__all__ = [
    "NODE",
    "PEERS",
    "SERVERS",
    "Footlight",
    "PlaywrightMcpWithChromium",
    "Server",
    "Worker",
    "executable",
    "install_peers",
    "start_shared_footlight",
    "text_of",
]

ROOT = Path(__file__).parents[1]
PEERS = ROOT / ".peers" / "node_modules"
"""The folder of `install_peers`."""
NODE = str(compute_driver_executable()[0])


def install_peers() -> None:
    """Install the other servers at the versions of `peers/package-lock.json`."""
    install(ROOT / "peers", PEERS.parent)


@cache
def executable(*, headless: bool = True) -> str:
    """Return the browser for all servers, or "" if each finds its own."""
    own = Path(tempfile.gettempdir()) / "no-such-build"
    return str(find_browser(BrowserSettings(headless=headless), own).executable or "")


@dataclass(frozen=True)
class Start:
    """The command of a server, and its additional environment variables."""

    command: Sequence[str]
    environment: Mapping[str, str]


class Worker(ABC):
    """A subject of the comparison: a server, or Playwright itself. Each call returns the whole answer."""

    name: ClassVar[str]

    @classmethod
    @abstractmethod
    def running(cls) -> AbstractAsyncContextManager[Worker]: ...

    async def prepare(self) -> None:  # noqa: B027 - empty for most
        """Find the references of the page's elements after navigation."""

    @abstractmethod
    async def navigate(self, url: str) -> CallToolResult: ...

    @abstractmethod
    async def click(self) -> CallToolResult: ...

    @abstractmethod
    async def click_and_look(self) -> CallToolResult:
        """Click, and return what the page shows afterwards."""

    @abstractmethod
    async def fill(self, value: str) -> CallToolResult: ...

    @abstractmethod
    async def snapshot(self) -> CallToolResult: ...

    @abstractmethod
    async def evaluate(self) -> CallToolResult:
        """Run a script that changes nothing."""

    @abstractmethod
    async def add_rows(self) -> CallToolResult:
        """Click the button that adds ten rows, and return what the page shows afterwards."""

    @abstractmethod
    async def read_text(self) -> CallToolResult: ...

    @abstractmethod
    async def screenshot(self) -> CallToolResult: ...


class Server(Worker):
    """A server with a client over stdio."""

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
    """Footlight with its default settings: action results include what changed."""

    name = FOOTLIGHT
    flags: ClassVar[Sequence[str]] = ("--enable-script-evaluation",)

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

    async def evaluate(self) -> CallToolResult:
        return await self.ask("evaluate", script="1 + 1")

    async def add_rows(self) -> CallToolResult:
        return await self.ask("click", selector="#more")

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
        return _join(await self.click(), await self.snapshot())

    async def fill(self, value: str) -> CallToolResult:
        return await self.ask("browser_type", element="the field", target="#i", text=value)

    async def snapshot(self) -> CallToolResult:
        return await self.ask("browser_snapshot")

    async def evaluate(self) -> CallToolResult:
        return await self.ask("browser_evaluate", function="() => 1 + 1")

    async def add_rows(self) -> CallToolResult:
        added = await self.ask("browser_click", element="the button for more", target="#more")
        return _join(added, await self.snapshot())

    async def read_text(self) -> CallToolResult:
        return await self.ask("browser_evaluate", function="() => document.querySelector('#t').innerText")

    async def screenshot(self) -> CallToolResult:
        return await self.ask("browser_take_screenshot", type="png")


class PlaywrightMcpWithChromium(PlaywrightMcp):
    """`@playwright/mcp` with its default, the full Chromium. Footlight starts the headless shell."""

    @classmethod
    def start(cls, _: Path) -> Start:
        script = PEERS / "@playwright/mcp/cli.js"
        browser = executable(headless=False)
        found = ["--executable-path", browser] if browser else []
        return Start([NODE, str(script), "--headless", "--isolated", *_NO_SANDBOX, *found], {})


class ChromeDevtoolsMcp(Server):
    name = CHROME_DEVTOOLS_MCP

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
        self._more = _uid(text, r'button "More"')

    async def click(self) -> CallToolResult:
        return await self.ask("click", uid=self._button)

    async def click_and_look(self) -> CallToolResult:
        return await self.ask("click", uid=self._button, includeSnapshot=True)

    async def fill(self, value: str) -> CallToolResult:
        return await self.ask("fill", uid=self._field, value=value)

    async def snapshot(self) -> CallToolResult:
        return await self.ask("take_snapshot")

    async def evaluate(self) -> CallToolResult:
        return await self.ask("evaluate_script", function="() => 1 + 1")

    async def add_rows(self) -> CallToolResult:
        return await self.ask("click", uid=self._more, includeSnapshot=True)

    async def read_text(self) -> CallToolResult:
        return await self.ask("evaluate_script", function="() => document.querySelector('#t').innerText")

    async def screenshot(self) -> CallToolResult:
        return await self.ask("take_screenshot", format="png")


@asynccontextmanager
async def start_shared_footlight() -> AsyncGenerator[type[Server]]:
    """Start a background server, and yield Footlight as a client of it."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        environment = {"FOOTLIGHT_DAEMON_DIR": folder, "FOOTLIGHT_POOL_MIN_BROWSERS": "1"}

        class SharedFootlight(Footlight):
            @classmethod
            def start(cls, _: Path) -> Start:
                return Start([sys.executable, "-m", "footlight", "serve", "--shared"], environment)

        async def daemon(action: str) -> None:
            command = (sys.executable, "-m", "footlight", "daemon", action)
            process = await asyncio.create_subprocess_exec(
                *command, env={**os.environ, **environment}, stdout=asyncio.subprocess.DEVNULL
            )
            assert await process.wait() == 0, f"footlight daemon {action} failed"

        await daemon("start")
        try:
            yield SharedFootlight
        finally:
            await daemon("stop")


SERVERS: tuple[type[Server], ...] = (Footlight, PlaywrightMcp, ChromeDevtoolsMcp)

_NO_SANDBOX = ["--no-sandbox"] if getattr(os, "geteuid", lambda: 1)() == 0 else []


def text_of(result: CallToolResult) -> str:
    """Return the text of an answer, without images."""
    return "\n".join(block.text for block in result.content if isinstance(block, TextContent))


def _join(first: CallToolResult, second: CallToolResult) -> CallToolResult:
    return CallToolResult(content=[*first.content, *second.content])


def _uid(snapshot: str, words: str) -> str:
    found = re.search(rf"uid=(\S+) {words}", snapshot)
    assert found, snapshot[:500]
    return found[1]
