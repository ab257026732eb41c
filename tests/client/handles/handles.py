"""Handles for tests in the form that the generator writes, and servers of named sessions for them."""

from __future__ import annotations

import asyncio
import io
import json
import shlex
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NotRequired, TypedDict, TypeVar, Unpack, overload

import psutil

from footlight.client.handles import (
    CallLog,
    CallOptions,
    Handle,
    Namespace,
    PendingConnection,
    Registry,
    SessionBinding,
    connect,
    create_logger,
    registry_hash,
)
from footlight.client.handles.adapters import Adapter, szkrabok_session
from footlight.client.handles.registry import tool_hash
from footlight.client.mcp_client import MCPClient
from footlight.client.transports.memory import InMemory
from tests.client.handles import session_server
from tests.client.handles.session_server import Entry, SessionServer, Variant, list_registered_tools
from tests.processes import descendants_of

LIMIT_SECONDS = 60.0

Given = TypeVar("Given")


async def soon(waiting: Awaitable[Given]) -> Given:
    """Return the result of an awaitable, or raise TimeoutError."""
    async with asyncio.timeout(LIMIT_SECONDS):
        return await waiting


# What a module is made of, in its own words


class NavGotoArguments(TypedDict):
    url: str


class NoArguments(TypedDict):
    pass


class BrowserRunTestArguments(TypedDict):
    grep: NotRequired[str]


class Nav(Namespace):
    @overload
    async def goto(self, /, **arguments: Unpack[NavGotoArguments]) -> Any: ...
    @overload
    async def goto(self, arguments: NavGotoArguments, /, **options: Unpack[CallOptions]) -> Any: ...
    async def goto(self, arguments: Any = None, /, **keywords: Any) -> Any:
        """Go to a URL"""
        return await self._invoke("goto", arguments, keywords)


class Browser(Namespace):
    @overload
    async def run_test(self, /, **arguments: Unpack[BrowserRunTestArguments]) -> Any: ...
    @overload
    async def run_test(
        self, arguments: BrowserRunTestArguments, /, **options: Unpack[CallOptions]
    ) -> Any: ...
    async def run_test(self, arguments: Any = None, /, **keywords: Any) -> Any:
        """Run tests"""
        return await self._invoke("run_test", arguments, keywords)


class Root(Namespace):
    @overload
    async def health(self, /, **arguments: Unpack[NoArguments]) -> Any: ...
    @overload
    async def health(self, arguments: NoArguments, /, **options: Unpack[CallOptions]) -> Any: ...
    async def health(self, arguments: Any = None, /, **keywords: Any) -> Any:
        """Return whether the server is well."""
        return await self._invoke("health", arguments, keywords)


class McpHandle(Handle):
    """`nav`, `browser`, and `_root` for tools without a namespace."""

    def __init__(self, bound: SessionBinding) -> None:
        super().__init__(bound)
        self.nav = Nav(bound, "nav")
        self.browser = Browser(bound, "browser")
        self._root = self.root = Root(bound, "_root")


REGENERATE = "footlight codegen --server 'a server' --out mcp_tools.py"
REGISTRY = Registry(
    registry_hash(list_registered_tools()),
    {tool.name: tool_hash(tool) for tool in list_registered_tools()},
    regenerate=REGENERATE,
)


def mcp_connect(
    session_name: str,
    adapter: Adapter = szkrabok_session,
    *,
    server: object,
    log: CallLog | None = None,
    timeout_ms: float | None = None,
) -> PendingConnection[McpHandle]:
    return connect(
        McpHandle,
        session_name,
        adapter=adapter,
        server=server,
        registry=REGISTRY,
        log=log,
        timeout_ms=timeout_ms,
    )


# What happened at the server


class Journal:
    """The journal of the server: its events in order."""

    def __init__(self, entries: Sequence[Entry] = ()) -> None:
        self.entries = list(entries)
        self._more = asyncio.Event()

    def add(self, entry: Entry) -> None:
        self.entries.append(entry)
        self._more.set()

    async def wait_until(self, enough: Callable[[], bool]) -> None:
        async with asyncio.timeout(LIMIT_SECONDS):
            while not enough():
                self._more.clear()
                await self._more.wait()

    async def began(self, name: str, count: int = 1) -> None:
        """Wait until so many calls of the tool have begun."""
        await self.wait_until(lambda: [called for called, _ in self.calls].count(name) >= count)

    @property
    def calls(self) -> list[tuple[str, Mapping[str, Any]]]:
        return [(entry["name"], entry["arguments"]) for entry in self.entries if "began" in entry]

    @property
    def order(self) -> list[str]:
        """Return `+name` for each beginning of a call, `-name` for each end, with an identifying argument."""
        marks: dict[int, str] = {}
        reported: list[str] = []
        for entry in self.entries:
            if "began" in entry:
                mark = entry["arguments"].get("id") or entry["arguments"].get("text")
                marks[entry["began"]] = f"{entry['name']} {mark}" if mark else entry["name"]
                reported.append(f"+{marks[entry['began']]}")
            elif "ended" in entry:
                reported.append(f"-{marks[entry['ended']]}")
        return reported


class Started:
    """A command that starts a server with a journal, and the processes that it has started."""

    def __init__(self, folder: Path, variant: Variant = "plain") -> None:
        self._journal = folder / "journal.jsonl"
        script = str(Path(session_server.__file__))
        self.words = [sys.executable, script, "--registry", variant, "--journal", str(self._journal)]
        self.command = shlex.join(self.words)

    @property
    def journal(self) -> Journal:
        """Return the journal as it is now."""
        if not self._journal.exists():
            return Journal()
        return Journal([json.loads(line) for line in self._journal.read_text().splitlines()])

    @property
    def pids(self) -> list[int]:
        """Return the ids of all processes that were ever started."""
        return [entry["started"] for entry in self.journal.entries if "started" in entry]

    async def find_left_processes(self) -> list[int]:
        """Give processes some time to end, and return those that still run."""
        family: list[psutil.Process] = []
        for pid in self.pids:
            with suppress(psutil.NoSuchProcess):
                family.append(psutil.Process(pid))
        _, alive = await asyncio.to_thread(psutil.wait_procs, family, LIMIT_SECONDS)
        return [process.pid for process in alive]


def children() -> set[int]:
    """Return the child processes that run."""
    return {process.pid for process in descendants_of(psutil.Process())}


# Handles to work with


class Log:
    """A call log that is written to a stream in memory."""

    def __init__(self, **options: Any) -> None:
        self.stream = io.StringIO()
        self.log = create_logger(console=self.stream, **options)

    @property
    def text(self) -> str:
        return self.stream.getvalue()

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.text.splitlines()]


@dataclass(frozen=True)
class Connected:
    """A handle, the server behind it in this process, its journal and its log."""

    mcp: McpHandle
    server: SessionServer
    journal: Journal
    log: Log

    @property
    def client(self) -> MCPClient:
        return self.mcp.bound.client

    async def hold(self, id: str, **options: Any) -> Any:
        return await self.mcp.call("hold", {"id": id}, **options)

    async def release(self) -> None:
        """Call `release` without waiting in the queue of the handle."""
        await soon(self.mcp.call("release", parallel=True))

    async def holding(self, id: str, count: int = 1, **options: Any) -> asyncio.Task[Any]:
        """Start a call that lasts until `release`, and wait until the server has begun it."""
        task = asyncio.create_task(self.hold(id, **options))
        await self.journal.began("hold", count)
        return task


def serve_in_memory(variant: Variant = "plain") -> tuple[InMemory, SessionServer, Journal]:
    """Return a server in this process, for tests to which a process adds nothing."""
    journal = Journal()
    server = SessionServer(journal.add, variant)
    return InMemory(server.server()), server, journal


@asynccontextmanager
async def open_connected(name: str = "p4n-test", **options: Any) -> AsyncGenerator[Connected]:
    target, server, journal = serve_in_memory()
    log = Log()
    async with mcp_connect(name, server=target, log=log.log, **options) as mcp:
        yield Connected(mcp, server, journal, log)


async def wait_until_queued() -> None:
    """Wait until the tasks that were just created are waiting in the queue."""
    await asyncio.sleep(0)
