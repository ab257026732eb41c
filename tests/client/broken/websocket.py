"""A WebSocket server with one fault."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import ssl
import struct
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from http import HTTPStatus

from websockets.asyncio.server import ServerConnection, serve
from websockets.http11 import Request, Response
from websockets.typing import Subprotocol

from footlight.client.transports.websocket import WebSocket
from tests.client.broken.server import LIMIT_SECONDS, Broken, Fault, Message, well


class Socket:
    """The frames that the server sends over a WebSocket."""

    def __init__(self, websocket: ServerConnection) -> None:
        self.websocket = websocket
        self.refusal: Response | None = None

    async def say(self, message: Message) -> None:
        await self.websocket.send(json.dumps(message))

    async def nothing(self) -> None:
        pass

    def refuse(self, status: int, text: str) -> None:
        """Refuse the opening handshake."""
        self.refusal = self.websocket.respond(HTTPStatus(status), text)

    def write(self, data: bytes) -> None:
        """Send raw bytes."""
        self.websocket.transport.write(data)

    def break_off(self) -> None:
        """Reset the connection."""
        sock = self.websocket.transport.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.websocket.transport.abort()

    def hang_up(self) -> None:
        """Close the connection without finishing the message."""
        self.websocket.transport.close()


class BrokenWebSocket(Broken):
    """The broken server over WebSocket. A fault at `opening` answers the opening handshake."""

    port: int

    async def opening(self, websocket: ServerConnection, _: Request) -> Response | None:
        if not self.is_next("opening"):
            return None
        said = Socket(websocket)
        async with self.connection():
            await self.fail(said, {})
        return said.refusal

    async def live(self, websocket: ServerConnection) -> None:
        said = Socket(websocket)
        async with self.connection() as start:
            async for frame in websocket:
                start(self.take(json.loads(frame), said))


def over_websocket(port: int, *, tls: ssl.SSLContext | None = None) -> WebSocket:
    """Return a transport to the server whose URL and headers contain every kind of secret."""
    scheme = "ws" if tls is None else "wss"
    return WebSocket(f"{scheme}://friend:hunter2@127.0.0.1:{port}/mcp?key=mellon", token="swordfish", ssl=tls)


@asynccontextmanager
async def broken_websocket(
    fault: Fault | None, at: str, *, port: int = 0, tls: ssl.SSLContext | None = None
) -> AsyncGenerator[BrokenWebSocket]:
    server = BrokenWebSocket(fault, at)
    async with serve(
        server.live,
        "127.0.0.1",
        port,
        subprotocols=[Subprotocol("mcp")],
        process_request=server.opening,
        compression=None,
        logger=_QUIET,
        ssl=tls,
    ) as listener:
        server.port = listener.sockets[0].getsockname()[1]
        server.transport = over_websocket(server.port)
        yield server


_QUIET = logging.getLogger("tests.websocket")
"""The log of the server, which is separate from the client's."""
_QUIET.setLevel(logging.CRITICAL)


# What can be wrong with it


def status(number: int) -> Fault:
    async def fault(said: Socket, request: Message) -> None:
        said.refuse(number, f"No: {number}\n")

    fault.__name__ = f"status_{number}"
    return fault


async def no_websocket(said: Socket, request: Message) -> None:
    said.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    said.hang_up()


async def no_http(said: Socket, request: Message) -> None:
    said.write(b"SSH-2.0-OpenSSH_9.9\r\n")
    said.hang_up()


async def half_a_head(said: Socket, request: Message) -> None:
    said.write(b"HTTP/1.1 101 Switching Pro")
    said.hang_up()


async def reset(said: Socket, request: Message) -> None:
    said.break_off()


async def hung_up(said: Socket, request: Message) -> None:
    said.hang_up()


async def silence(said: Socket, request: Message) -> None:
    """Send nothing until the client disconnects."""
    async with asyncio.timeout(LIMIT_SECONDS):
        await said.websocket.wait_closed()


async def closed(said: Socket, request: Message) -> None:
    await said.websocket.close(1011, "The disk is full")


async def half_a_frame(said: Socket, request: Message) -> None:
    said.write(b"\x81\x64" + json.dumps(well(request)).encode()[:20])  # 100 bytes of text should come.
    said.hang_up()


async def no_frame(said: Socket, request: Message) -> None:
    said.write(b"\x83\x00")  # Of a kind that there is not.


async def not_json(said: Socket, request: Message) -> None:
    await said.websocket.send("All set!")


async def no_message(said: Socket, request: Message) -> None:
    await said.websocket.send(json.dumps({"id": request["id"], "result": {}}))


async def binary(said: Socket, request: Message) -> None:
    await said.websocket.send(json.dumps(well(request)).encode())
