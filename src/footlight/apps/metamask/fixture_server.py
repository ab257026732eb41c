"""An HTTP server for the initial state of test builds, which request `/state.json`."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
import h11

from footlight.apps.ports import check_port_free, port_taken

__all__ = ["FixtureServer", "serve_fixture"]

PATH = "/state.json"
WHAT = "the fixture server"
CHUNK_BYTES = 1 << 16


@asynccontextmanager
async def serve_fixture(state: Mapping[str, Any], *, port: int) -> AsyncGenerator[FixtureServer]:
    """Serve a copy of the state on 127.0.0.1. The port and all connections are closed on exit.

    Raises:
        PortInUseError: Another process listens on the port.
    """
    check_port_free(port, what=WHAT)
    fixtures = FixtureServer(state, _listen(port))
    server = await asyncio.start_server(fixtures.accept, sock=fixtures.listener)
    try:
        yield fixtures
    finally:
        with anyio.CancelScope(shield=True):
            server.close()
            await fixtures.close_connections()
            await server.wait_closed()


def _listen(port: int) -> socket.socket:
    try:
        return socket.create_server(("127.0.0.1", port))
    except OSError:
        raise port_taken(port, what=WHAT) from None


class FixtureServer:
    """Serves one state. `was_read` is set after the first complete response; `reads` counts the responses."""

    def __init__(self, state: Mapping[str, Any], listener: socket.socket) -> None:
        self.listener = listener
        self.port: int = listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}{PATH}"
        self.reads = 0
        self.was_read = asyncio.Event()
        self._state = json.dumps(state).encode()
        self._tasks = set[asyncio.Task[None]]()

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve a new connection in the background."""
        conversation = asyncio.create_task(self._serve_connection(reader, writer))
        self._tasks.add(conversation)
        conversation.add_done_callback(self._tasks.discard)

    async def close_connections(self) -> None:
        """Close all connections."""
        conversations = tuple(self._tasks)
        for conversation in conversations:
            conversation.cancel()
        await asyncio.gather(*conversations, return_exceptions=True)

    async def _serve_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request and close the connection. The app sends one request when it starts."""
        connection = h11.Connection(h11.SERVER)
        try:
            with suppress(h11.RemoteProtocolError, ConnectionError):
                if request := await _read_request(connection, reader):
                    await self._answer(request, connection, writer)
        finally:
            writer.transport.abort()

    async def _answer(
        self, request: h11.Request, connection: h11.Connection, writer: asyncio.StreamWriter
    ) -> None:
        status = _status_for(request)
        body = self._state if status == 200 else b""
        response = h11.Response(status_code=status, headers=_make_headers(status, len(body)))
        for event in (response, h11.Data(data=body), h11.EndOfMessage()):
            writer.write(connection.send(event) or b"")
        writer.close()
        await writer.wait_closed()
        if status == 200:
            self.reads += 1
            self.was_read.set()


async def _read_request(connection: h11.Connection, reader: asyncio.StreamReader) -> h11.Request | None:
    """Read a request completely, because closing a connection with unread data would reset it."""
    request: h11.Request | None = None
    while True:
        match connection.next_event():
            case h11.Request() as request:
                pass
            case h11.EndOfMessage():
                return request
            case h11.ConnectionClosed():
                return None
            case h11.NEED_DATA:
                connection.receive_data(await reader.read(CHUNK_BYTES))
            case _:
                pass  # Ignore the body of a POST.


def _status_for(request: h11.Request) -> int:
    if request.target.partition(b"?")[0] != PATH.encode():
        return 404
    return 200 if request.method == b"GET" else 405


def _make_headers(status: int, length: int) -> list[tuple[str, str]]:
    headers = [
        ("Access-Control-Allow-Origin", "*"),
        ("Cache-Control", "no-store"),
        ("Connection", "close"),
        ("Content-Length", str(length)),
    ]
    return [*headers, *_MORE.get(status, ())]


_MORE = {200: (("Content-Type", "application/json"),), 405: (("Allow", "GET"),)}
