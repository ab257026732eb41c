"""A server process, and a client that exchanges raw lines with it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.conftest import server_command
from tests.evidence import keep_log
from tests.process_log import ProcessLog

MODERN_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "wire", "version": "1"},
}

LIMIT_SECONDS = 60.0


class Wire:
    """A client that sends and receives raw lines. Every wait has a time limit."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        assert process.stderr is not None
        self.log = ProcessLog()
        """The lines on stderr so far."""
        self._listening = asyncio.create_task(self.log.collect(process.stderr))
        self._count = 0

    async def send(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        async with asyncio.timeout(LIMIT_SECONDS):
            await self.process.stdin.drain()

    async def line(self) -> bytes:
        """Return the next line, or b"" at the end."""
        assert self.process.stdout is not None
        async with asyncio.timeout(LIMIT_SECONDS):
            return await self.process.stdout.readline()

    async def message(self) -> dict[str, Any]:
        line = await self.line()
        assert line.endswith(b"\n"), line
        return json.loads(line)

    async def ask(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """Send a request and return the next message."""
        self._count += 1
        request = {"jsonrpc": "2.0", "id": self._count, "method": method}
        await self.send(json.dumps({**request, **({"params": params} if params else {})}).encode() + b"\n")
        answer = await self.message()
        assert answer["id"] == self._count
        return answer

    async def initialize(self, version: str = "2025-11-25") -> dict[str, Any]:
        answer = await self.ask(
            "initialize",
            {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "wire", "version": "1"}},
        )
        await self.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        return answer

    async def call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Call a tool after `initialize`, and return the result."""
        return (await self.ask("tools/call", {"name": tool, "arguments": arguments}))["result"]

    async def call_modern(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        params = {"name": tool, "arguments": arguments, "_meta": MODERN_META}
        return (await self.ask("tools/call", params))["result"]

    async def end(self) -> int:
        """Close the server's input and return its exit status."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return await self.exit()

    async def exit(self) -> int:
        async with asyncio.timeout(LIMIT_SECONDS):
            return await self.process.wait()

    async def close(self) -> None:
        if self.process.returncode is None:
            with contextlib.suppress(TimeoutError):
                await self.end()
        if self.process.returncode is None:
            self.process.kill()
        await self.process.wait()
        await self._listening


@asynccontextmanager
async def wired(*flags: str, cwd: Path | None = None, **environment: str) -> AsyncGenerator[Wire]:
    """Start a server with these flags."""
    process = await asyncio.create_subprocess_exec(
        *server_command(*flags),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        limit=128 << 20,
        cwd=cwd,
        env={**os.environ, **environment},
    )
    wire = Wire(process)
    try:
        yield wire
    except Exception as error:
        keep_log(error, "\n".join(wire.log.lines))
        raise
    finally:
        await wire.close()
