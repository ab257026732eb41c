"""A server process over HTTP, and a client that sends requests exactly as a test writes them."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from tests.conftest import server_command
from tests.evidence import keep_log
from tests.process_log import ProcessLog
from tests.wire import MODERN_META

LIMIT_SECONDS = 60.0
LATEST = "2025-11-25"
MODERN = "2026-07-28"

JSON = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}

Message = dict[str, Any]


class HttpServer:
    """A running server. Every wait has a time limit."""

    def __init__(self, process: asyncio.subprocess.Process, folder: Path) -> None:
        self.process = process
        self.folder = folder
        """Its working directory."""
        self.url = ""
        self.log = ProcessLog()
        """The lines on stdout and stderr after the banner."""
        self._listening: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    async def start(self) -> None:
        assert self.process.stdout is not None
        async with asyncio.timeout(LIMIT_SECONDS):
            while not (line := (await self.process.stdout.readline()).decode()).startswith(
                "Footlight listening on"
            ):
                assert line, f"the server ended before it listened: {self.log.lines}"
                self.log.lines.append(line)
        self.url = line.split()[-1].removesuffix("/mcp")
        self._listening = asyncio.create_task(self.log.collect(self.process.stdout))

    async def exit(self) -> int:
        async with asyncio.timeout(LIMIT_SECONDS):
            status = await self.process.wait()
            if self._listening is not None:
                await self._listening
        return status

    async def close(self) -> None:
        if self.process.returncode is None:
            self.process.terminate()
        try:
            await self.exit()
        except TimeoutError:
            self.process.kill()
            await self.process.wait()
            raise


@asynccontextmanager
async def served(
    folder: Path, *flags: str, config: Mapping[str, Any] | None = None, **environment: str
) -> AsyncGenerator[HttpServer]:
    """Start a server on a free port, in this folder. It has ended on return."""
    if config is not None:
        file = folder / "settings.json"
        file.write_text(json.dumps(config))
        flags = ("--config", str(file), *flags)
    process = await asyncio.create_subprocess_exec(
        *server_command("--transport", "http", "--port", "0", *flags),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        limit=1 << 20,
        cwd=folder,
        env={**os.environ, **environment},
    )
    server = HttpServer(process, folder)
    try:
        await server.start()
        yield server
    except Exception as error:
        keep_log(error, "\n".join(server.log.lines))
        raise
    finally:
        await server.close()


def request(method: str, params: Mapping[str, Any] | None = None, *, id: str | int = 1) -> Message:
    return {"jsonrpc": "2.0", "id": id, "method": method, **({"params": params} if params else {})}


def initialize(version: str = LATEST) -> Message:
    client = {"name": "raw", "version": "1"}
    return request("initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": client})


def refusal(code: int, message: str, id: str | int | None = None) -> Message:
    return {"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}


def modern(method: str, params: Mapping[str, Any] | None = None, *, id: str | int = 1) -> Message:
    """Return a request of the revisions without a handshake, which describes itself in `_meta`."""
    params = params or {}
    meta = {**MODERN_META, **params.get("_meta", {})}
    return request(method, {**params, "_meta": meta}, id=id)


def routing(message: Message) -> dict[str, str]:
    """Return the headers that a request without a handshake needs."""
    name = message["params"].get("name") or message["params"].get("uri")
    headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": message["method"]}
    return {**headers, **({"Mcp-Name": name} if name else {})}


@dataclass(frozen=True)
class Event:
    """An event of an event stream."""

    id: str
    data: str
    retry: str

    @property
    def message(self) -> Message:
        return json.loads(self.data)


async def events(response: httpx2.Response) -> AsyncGenerator[Event]:
    fields: dict[str, str] = {}
    async for line in response.aiter_lines():
        name, _, value = line.partition(":")
        if name:
            fields[name] = value.removeprefix(" ")
        elif fields:
            yield Event(fields.get("id", ""), fields.get("data", ""), fields.get("retry", ""))
            fields = {}


class Raw:
    """A client that sends requests to one server, with the same headers in each."""

    def __init__(self, http: httpx2.AsyncClient, headers: Mapping[str, str]) -> None:
        self.http = http
        self.headers = dict(headers)

    def build(
        self,
        message: object = None,
        *,
        method: str = "POST",
        path: str = "/mcp",
        content: bytes | None = None,
        headers: Mapping[str, str | None] | None = None,
    ) -> httpx2.Request:
        """Build a request with `message` as JSON, or `content` as bytes. Headers of None are left out."""
        merged: dict[str, str | None] = {**self.headers, **(headers or {})}
        body = json.dumps(message).encode() if message is not None else content
        given = {name: value for name, value in merged.items() if value is not None}
        built = self.http.build_request(method, path, content=body, headers=given)
        if "Accept" not in given:
            built.headers.pop("Accept", None)
        return built

    async def send(self, message: object = None, **how: Any) -> httpx2.Response:
        return await self.http.send(self.build(message, **how))

    @asynccontextmanager
    async def streaming(self, message: object = None, **how: Any) -> AsyncGenerator[httpx2.Response]:
        """Yield a response whose body is read on demand. The rest of the body is discarded."""
        response = await self.http.send(self.build(message, **how), stream=True)
        try:
            yield response
        finally:
            await response.aclose()

    async def modern(self, method: str, params: Mapping[str, Any] | None = None) -> httpx2.Response:
        message = modern(method, params)
        return await self.send(message, headers=routing(message))

    async def call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return its structured content, from a JSON answer or an event stream."""
        answer = await self.modern("tools/call", {"name": tool, "arguments": arguments})
        return answer.json()["result"]["structuredContent"]


class Handshaken(Raw):
    """A transport session of a revision with a handshake."""

    def __init__(self, http: httpx2.AsyncClient, headers: Mapping[str, str], id: str, version: str) -> None:
        super().__init__(http, {**headers, "Mcp-Session-Id": id, "MCP-Protocol-Version": version})
        self.id = id
        self._numbers = itertools.count(1)

    async def ask(self, method: str, params: Mapping[str, Any] | None = None) -> Message:
        """Send a request and return its answer."""
        response = await self.send(request(method, params, id=next(self._numbers)))
        assert response.headers["content-type"] == "application/json", response.text
        return response.json()

    async def call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return its structured content, from a JSON answer or an event stream."""
        message = request("tools/call", {"name": tool, "arguments": arguments}, id=next(self._numbers))
        async with self.streaming(message) as response:
            if response.headers["content-type"] == "application/json":
                answer = json.loads(await response.aread())
            else:
                answer = [event async for event in events(response)][-1].message
        return answer["result"]["structuredContent"]

    async def end(self) -> httpx2.Response:
        return await self.send(method="DELETE")

    @asynccontextmanager
    async def listening(self, *, after: str | None = None) -> AsyncGenerator[httpx2.Response]:
        """Yield the GET stream, resumed `after` an event if one is given."""
        headers = {"Accept": "text/event-stream", "Content-Type": None, "Last-Event-ID": after}
        async with self.streaming(method="GET", headers=headers) as response:
            yield response


@asynccontextmanager
async def raw(server: HttpServer | str, *, token: str | None = None, **options: Any) -> AsyncGenerator[Raw]:
    """Yield a new client with its own connections."""
    url = server if isinstance(server, str) else server.url
    async with httpx2.AsyncClient(base_url=url, timeout=LIMIT_SECONDS, **options) as http:
        yield Raw(http, {**JSON, **({"Authorization": f"Bearer {token}"} if token else {})})


async def handshake(client: Raw, version: str = LATEST) -> Handshaken:
    """Open a transport session."""
    answer = await client.send(initialize(version))
    assert answer.json()["result"]["protocolVersion"] == version
    session = Handshaken(client.http, client.headers, answer.headers["Mcp-Session-Id"], version)
    done = await session.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert (done.status_code, done.content) == (202, b"")
    return session


async def data(client: Raw, tool: str, /, **arguments: Any) -> dict[str, Any]:
    """Return the data of a call's answer."""
    content = await client.call(tool, **arguments)
    assert content["success"], content
    return content["data"]


async def error(client: Raw, tool: str, /, **arguments: Any) -> dict[str, Any]:
    """Return the error of a call that fails."""
    content = await client.call(tool, **arguments)
    assert not content["success"], content
    return content["error"]
