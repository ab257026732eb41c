"""An HTTP channel for tests, which records received messages and failures."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from footlight.client.transports.http import StreamableHTTP
from footlight.client.transports.http_channel import HttpChannel
from footlight.protocol.errors import MCPError
from footlight.protocol.messages import Message, notification, request
from tests.client.http_servers import LIMIT_SECONDS, HttpServer
from tests.client.recorder import Recorder

VERSION = "2025-06-18"


class Caller:
    """A caller on an HTTP channel. Every wait has a time limit."""

    def __init__(self, channel: HttpChannel, recorder: Recorder) -> None:
        self.channel = channel
        self.recorder = recorder
        self.heard: list[Message] = []
        """What came on the server's own stream."""
        self._ends: asyncio.Queue[MCPError] = asyncio.Queue()

    async def send(self, message: Message, headers: Mapping[str, str] | None = None) -> list[Message]:
        """Send a message, and return the messages received until it was sent or, for a request, answered."""
        async with asyncio.timeout(LIMIT_SECONDS):
            await self.channel.send(message, headers=headers or {})
        return await self.read_messages()

    async def read_messages(self) -> list[Message]:
        messages: list[Message] = []
        while not self.recorder.silent:
            messages.append(await self.recorder.message())
        return messages

    async def ask(self, method: str = "ping", id: int | str = 1, /, **params: Any) -> list[Message]:
        return await self.send(request(id, method, params))

    async def tell(self, method: str = "notifications/initialized") -> list[Message]:
        return await self.send(notification(method, {}))

    async def initialize(self) -> list[Message]:
        return await self.ask("initialize", 0, protocolVersion=VERSION)

    async def fail_request(self, method: str = "ping", id: int | str = 1, /, **params: Any) -> MCPError:
        """Return the error of a request that fails."""
        try:
            messages = await self.ask(method, id, **params)
        except MCPError as error:
            return error
        raise AssertionError(f"it was answered: {messages}")

    async def listen(self) -> bool:
        async with asyncio.timeout(LIMIT_SECONDS):
            return await self.channel.listen(self.heard.append, self._ends.put_nowait)

    async def end_of_stream(self) -> MCPError:
        """Return the error with which the GET stream ended. It is reported once."""
        async with asyncio.timeout(LIMIT_SECONDS):
            end = await self._ends.get()
        assert self._ends.empty()
        return end

    @property
    def silent(self) -> bool:
        """Return whether the test has read everything that was received."""
        return self._ends.empty() and not self.recorder.losses


@asynccontextmanager
async def connect_caller(server: HttpServer | str, **options: Any) -> AsyncGenerator[Caller]:
    recorder = Recorder()
    transport = StreamableHTTP(server if isinstance(server, str) else server.url, **options)
    channel = await transport.open(recorder)
    caller = Caller(channel, recorder)
    try:
        yield caller
    finally:
        async with asyncio.timeout(LIMIT_SECONDS):
            await channel.close()
    assert caller.silent
