"""HTTP servers on real sockets that send the bytes of a script, valid or not."""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
import struct
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

LIMIT_SECONDS = 60.0

Message = Mapping[str, Any]


@dataclass(frozen=True)
class Received:
    """A request, with the names of its headers in lower case."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def message(self) -> dict[str, Any]:
        return json.loads(self.body)

    @property
    def asks(self) -> str | None:
        """Return the JSON-RPC method, or None for GET, DELETE and responses."""
        return self.message.get("method") if self.body else None


class Reply:
    """The answer to one request: all at once (`json`, `send`), or bit by bit (`start`, `event`, `end`)."""

    def __init__(self, request: Received, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._request = request
        self._reader = reader
        self._writer = writer
        self.keeps_open = True
        """Whether the connection is for further requests."""

    # All at once

    async def result(self, result: Any = None, **how: Any) -> None:
        """Answer the request as JSON."""
        await self.json(answer(self._request.message["id"], result), **how)

    async def json(self, value: object, *, content_type: str = "application/json", **how: Any) -> None:
        await self.send(json.dumps(value).encode(), content_type=content_type, **how)

    async def send(
        self,
        body: bytes = b"",
        *,
        status: int = 200,
        content_type: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        typed = {"Content-Type": content_type} if content_type is not None else {}
        await self.write(_head(status, {**typed, "Content-Length": str(len(body)), **(headers or {})}) + body)

    async def write(self, data: bytes) -> None:
        """Send raw bytes, including the head."""
        self._writer.write(data)
        async with asyncio.timeout(LIMIT_SECONDS):
            await self._writer.drain()

    # Bit by bit

    async def start(
        self,
        *,
        status: int = 200,
        content_type: str = "text/event-stream",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        head = {"Content-Type": content_type, "Transfer-Encoding": "chunked", **(headers or {})}
        await self.write(_head(status, head))

    async def event(self, message: Message | None = None, **fields: str | int) -> None:
        """Send an event with this message as its data, and with these other fields."""
        lines = [f"{name}: {value}" for name, value in fields.items()]
        if message is not None:
            lines.append(f"data: {json.dumps(message)}")
        await self.chunk("\n".join([*lines, "", ""]).encode())

    async def chunk(self, data: bytes) -> None:
        await self.write(b"%x\r\n%b\r\n" % (len(data), data))

    async def end(self) -> None:
        """End the stream as the protocol requires."""
        await self.write(b"0\r\n\r\n")

    async def finish(self, result: Any = None, **fields: str | int) -> None:
        """Send the answer as an event, and end the stream."""
        await self.event(answer(self._request.message["id"], result), **fields)
        await self.end()

    # Otherwise

    def break_off(self) -> None:
        """Reset the connection."""
        sock = self._writer.get_extra_info("socket")
        if self._writer.get_extra_info("ssl_object") is None:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.keeps_open = False
        self._writer.transport.abort()

    def hang_up(self) -> None:
        """Close the connection without finishing the message."""
        self.keeps_open = False
        self._writer.close()

    async def wait_until_gone(self) -> None:
        """Wait until the client has closed its end."""
        self.keeps_open = False
        try:
            async with asyncio.timeout(LIMIT_SECONDS):
                assert await self._reader.read(1) == b""
        except ConnectionError:
            pass


Script = Callable[[Received, Reply], Awaitable[None]]


class HttpServer:
    def __init__(self, script: Script) -> None:
        self.script = script
        self.url = ""
        self.requests: list[Received] = []
        self.connections = 0
        self.failures: list[BaseException] = []
        """What went wrong in the script."""
        self.listener: asyncio.Server | None = None
        self._serving: set[asyncio.Task[None]] = set()
        self._came = asyncio.Condition()

    @property
    def origin(self) -> str:
        return self.url.removesuffix("/mcp")

    @property
    def asked(self) -> list[str]:
        """Return the methods of all requests."""
        return [request.asks or request.method for request in self.requests]

    async def wait_for_requests(self, count: int) -> list[Received]:
        """Wait for so many requests, and return them."""
        async with asyncio.timeout(LIMIT_SECONDS), self._came:
            await self._came.wait_for(lambda: len(self.requests) >= count)
        return self.requests

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.create_task(self._guarded(reader, writer))
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)

    async def _guarded(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._serve(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # The client went away.
        except Exception as error:  # noqa: BLE001 - whatever it is, the test fails with it.
            self.failures.append(error)
        finally:
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        keeps_open = True
        while keeps_open:
            request = await _read_request(reader)
            async with self._came:
                self.requests.append(request)
                self._came.notify_all()
            reply = Reply(request, reader, writer)
            await self.script(request, reply)
            keeps_open = reply.keeps_open

    async def stop_listening(self) -> None:
        """Stop listening. Open connections stay open."""
        assert self.listener is not None
        self.listener.close()

    async def close(self) -> None:
        await self.stop_listening()
        for task in self._serving:
            task.cancel()
        if self._serving:
            await asyncio.wait(set(self._serving), timeout=LIMIT_SECONDS)


@asynccontextmanager
async def serve_script(script: Script, *, tls: ssl.SSLContext | None = None) -> AsyncGenerator[HttpServer]:
    """Serve a script on a free port, at `/mcp`. An error in the script fails the test."""
    server = HttpServer(script)
    server.listener = await asyncio.start_server(server.accept, "127.0.0.1", 0, ssl=tls, limit=1 << 20)
    port = server.listener.sockets[0].getsockname()[1]
    server.url = f"{'http' if tls is None else 'https'}://127.0.0.1:{port}/mcp"
    try:
        yield server
    finally:
        await server.close()
    assert server.failures == []


def answer_in_turn(*scripts: Script) -> Script:
    """Return a script that answers the requests in order, each with the next script."""
    left = list(scripts)

    async def script(request: Received, reply: Reply) -> None:
        await left.pop(0)(request, reply)

    return script


def answer_by_method(scripts: Mapping[str, Script]) -> Script:
    """Return a script that answers each request by its JSON-RPC method, or by GET and DELETE.

    What is not named is answered as a server without sessions would: a handshake, 202, 405, an empty result.
    """

    async def script(request: Received, reply: Reply) -> None:
        name = request.asks or request.method
        await scripts.get(name, _ordinary)(request, reply)

    return script


async def _ordinary(request: Received, reply: Reply) -> None:
    if request.method != "POST":
        await reply.send(status=405)
    elif "method" not in request.message or "id" not in request.message:
        await reply.send(status=202)
    elif request.asks == "initialize":
        await handshake()(request, reply)
    else:
        await reply.result({})


def handshake(session_id: str | None = None, **capabilities: Any) -> Script:
    """Return a script that answers `initialize` with the client's revision."""

    async def script(request: Received, reply: Reply) -> None:
        headers = {} if session_id is None else {"Mcp-Session-Id": session_id}
        result = {
            "protocolVersion": request.message["params"].get("protocolVersion", "2025-06-18"),
            "capabilities": capabilities,
            "serverInfo": {"name": "scripted", "version": "1"},
        }
        await reply.result(result, headers=headers)

    return script


def answer_status(status: int, body: bytes = b"", **how: Any) -> Script:
    async def script(request: Received, reply: Reply) -> None:
        await reply.send(body, status=status, **how)

    return script


def answer_bytes(data: bytes) -> Script:
    async def script(request: Received, reply: Reply) -> None:
        await reply.write(data)
        reply.hang_up()

    return script


def answer_chunks(*chunks: bytes, clean: bool = True) -> Script:
    """Return a stream of events in these pieces."""

    async def script(request: Received, reply: Reply) -> None:
        await reply.start()
        for chunk in chunks:
            await reply.chunk(chunk)
        if clean:
            await reply.end()
        else:
            reply.break_off()

    return script


def answer(identifier: int | str, result: Any = None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": identifier, "result": {} if result is None else result}


def data_of(*messages: Message) -> bytes:
    """Return the bytes of events with these messages."""
    return b"".join(b"data: %b\n\n" % json.dumps(message).encode() for message in messages)


def list_header(requests: Sequence[Received], header: str) -> list[str | None]:
    """Return the value of this header in each request."""
    return [request.headers.get(header.lower()) for request in requests]


async def _read_request(reader: asyncio.StreamReader) -> Received:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.rstrip("\r\n").split("\r\n")
    method, target, _ = first.split(" ")
    pairs = (line.partition(": ") for line in lines)
    headers = {name.lower(): value for name, _, value in pairs}
    return Received(method, target, headers, await _read_body(reader, headers))


async def _read_body(reader: asyncio.StreamReader, headers: Mapping[str, str]) -> bytes:
    return await reader.readexactly(int(headers.get("content-length", "0")))


def _head(status: int, headers: Mapping[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} {_PHRASES.get(status, 'Whatever')}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode()


_PHRASES = {200: "OK", 202: "Accepted", 401: "Unauthorized", 404: "Not Found", 503: "Service Unavailable"}
