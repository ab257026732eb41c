"""An HTTP server with one fault."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from footlight.client.transports.http import StreamableHTTP
from tests.client.broken.server import SESSION_ID, Broken, Fault, Message, failed, subject, well
from tests.client.http_servers import HttpServer, Received, Reply


class Exchange:
    """The answer of the server to one request, as JSON or as events."""

    def __init__(self, reply: Reply, *, events: bool, session_id: str | None) -> None:
        self.reply = reply
        self.events = events
        self._headers = {} if session_id is None else {"Mcp-Session-Id": session_id}

    async def nothing(self) -> None:
        """Send nothing until the client disconnects."""
        await self.reply.wait_until_gone()

    async def say(self, message: Message) -> None:
        if self.events:
            await self.reply.start(headers=self._headers)
            await self.reply.event(message)
            await self.reply.end()
        else:
            await self.reply.json(message, headers=self._headers)


class BrokenHttp(Broken):
    """The broken server over HTTP, where each message is a request of its own."""

    port: int

    def __init__(self, fault: Fault | None, at: str, *, events: bool, session_id: str | None) -> None:
        super().__init__(fault, at)
        self._events = events
        self._session_id = session_id
        self._connections = _Connections(self)

    async def answers(self, request: Received, reply: Reply) -> None:
        if request.method != "POST":
            await reply.send(status=200 if request.method == "DELETE" else 405)
            return
        is_refused = self.is_next(subject(request.message))
        await self.take(request.message, Exchange(reply, events=self._events, session_id=self._session_id))
        if "id" not in request.message and not is_refused:
            await reply.send(status=202)

    @asynccontextmanager
    async def listening(self, port: int, tls: ssl.SSLContext | None) -> AsyncGenerator[int]:
        """Listen, and yield the port. All connections are closed at the end."""
        accept = self._connections.accept
        listener = await asyncio.start_server(accept, "127.0.0.1", port, limit=1 << 20, ssl=tls)
        self._connections.listener = listener
        try:
            yield listener.sockets[0].getsockname()[1]
        finally:
            await self._connections.close()

    async def deserted(self) -> None:
        await super().deserted()
        assert self._connections.failures == []


class _Connections(HttpServer):
    def __init__(self, server: BrokenHttp) -> None:
        super().__init__(server.answers)
        self._server = server

    async def _guarded(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with self._server.connection():
            await super()._guarded(reader, writer)


NOBODY = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""The only trusted certificates, because reading those of the system would take most of the time."""


def over_http(port: int, *, tls: ssl.SSLContext | None = None) -> StreamableHTTP:
    """Return a transport to the server whose URL and headers contain every kind of secret."""
    scheme = "http" if tls is None else "https"
    url = f"{scheme}://friend:hunter2@127.0.0.1:{port}/mcp?key=mellon"
    return StreamableHTTP(url, headers={"X-Api-Key": "swordfish"}, verify=tls or NOBODY)


@asynccontextmanager
async def broken_http(
    fault: Fault | None,
    at: str,
    *,
    events: bool = False,
    session_id: str | None = SESSION_ID,
    port: int = 0,
    tls: ssl.SSLContext | None = None,
) -> AsyncGenerator[BrokenHttp]:
    server = BrokenHttp(fault, at, events=events, session_id=session_id)
    async with server.listening(port, tls) as server.port:
        server.transport = over_http(server.port)
        yield server


# What can be wrong with it


PROGRESS = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": 1}}


def status(number: int, phrase: str, body: str = "", content_type: str = "text/plain") -> Fault:
    async def fault(said: Exchange, request: Message) -> None:
        head = f"HTTP/1.1 {number} {phrase}\r\nContent-Type: {content_type}\r\nContent-Length: {len(body)}"
        await said.reply.write(f"{head}\r\n\r\n{body}".encode())

    fault.__name__ = f"status_{number}"
    return fault


async def status_with_an_error(said: Exchange, request: Message) -> None:
    await said.reply.json(failed(request, -32603, "The disk is full"), status=500)


async def redirect(said: Exchange, request: Message) -> None:
    place = {"Location": "http://friend:hunter2@127.0.0.1:9/elsewhere?key=mellon"}
    await said.reply.send(status=307, headers=place)


async def reset(said: Exchange, request: Message) -> None:
    said.reply.break_off()


async def hung_up(said: Exchange, request: Message) -> None:
    said.reply.hang_up()


async def half_a_head(said: Exchange, request: Message) -> None:
    await said.reply.write(b"HTTP/1.1 200 OK\r\nContent-Ty")
    said.reply.hang_up()


async def no_http(said: Exchange, request: Message) -> None:
    await said.reply.write(b"SSH-2.0-OpenSSH_9.9\r\n\r\n")
    said.reply.hang_up()


async def illegal_header(said: Exchange, request: Message) -> None:
    await said.reply.write(f"HTTP/1.1 200 OK\r\nMcp-Session-Id : {SESSION_ID}\r\n\r\n".encode())
    said.reply.hang_up()


async def half_a_body(said: Exchange, request: Message) -> None:
    await begin(said, request)
    said.reply.hang_up()


async def reset_in_the_body(said: Exchange, request: Message) -> None:
    await begin(said, request)
    said.reply.break_off()


async def silence_after_the_head(said: Exchange, request: Message) -> None:
    await said.reply.start(content_type="text/event-stream" if said.events else "application/json")
    await said.reply.wait_until_gone()


async def silence_in_the_body(said: Exchange, request: Message) -> None:
    await begin(said, request)
    await said.reply.wait_until_gone()


async def begin(said: Exchange, request: Message) -> None:
    """Send a message before the answer, or half of the answer."""
    if said.events:
        await said.reply.start()
        await said.reply.event(PROGRESS)
    else:
        await said.reply.start(content_type="application/json")
        await said.reply.chunk(json.dumps(well(request)).encode()[:20])


async def end_of_events(said: Exchange, request: Message) -> None:
    await begin(said, request)
    await said.reply.end()


async def end_in_an_event(said: Exchange, request: Message) -> None:
    await said.reply.start()
    await said.reply.chunk(b"data: " + json.dumps(well(request)).encode()[:20])
    await said.reply.end()


async def reset_of_what_could_go_on(said: Exchange, request: Message) -> None:
    await said.reply.start()
    await said.reply.event(PROGRESS, id="7", retry=0)
    said.reply.break_off()


async def end_of_what_could_go_on(said: Exchange, request: Message) -> None:
    await said.reply.start()
    await said.reply.event(PROGRESS, id="7", retry=0)
    await said.reply.end()


async def no_chunk(said: Exchange, request: Message) -> None:
    await said.reply.start(content_type="application/json")
    await said.reply.write(b"many\r\n{}")
    said.reply.hang_up()


async def not_json(said: Exchange, request: Message) -> None:
    if said.events:
        await said.reply.start()
        await said.reply.chunk(b"data: All set!\n\n")
        await said.reply.end()
    else:
        await said.reply.send(b"All set!", content_type="application/json")


async def no_message(said: Exchange, request: Message) -> None:
    await said.say({"id": request["id"], "result": {}})


async def nothing(said: Exchange, request: Message) -> None:
    await said.reply.send(content_type="application/json")


async def accepted(said: Exchange, request: Message) -> None:
    await said.reply.send(status=202)


async def a_page(said: Exchange, request: Message) -> None:
    await said.reply.send(b"<h1>Welcome</h1>", content_type="text/html")
