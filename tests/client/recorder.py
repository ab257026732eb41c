"""Record what a transport reports."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from footlight.protocol.channel import Channel, Transport
from footlight.protocol.errors import MCPError
from footlight.protocol.messages import Message

LIMIT_SECONDS = 110.0


class Recorder:
    """A receiver that records everything. Every wait has a time limit."""

    def __init__(self) -> None:
        self.losses: list[MCPError] = []
        self.sessions_ended = 0
        self._messages: asyncio.Queue[Message] = asyncio.Queue()
        self._lost = asyncio.Event()

    def receive(self, message: Message) -> None:
        assert not self.losses, "nothing comes after the loss"
        self._messages.put_nowait(message)

    def on_connection_lost(self, error: MCPError) -> None:
        self.losses.append(error)
        self._lost.set()

    def on_session_ended(self) -> None:
        self.sessions_ended += 1

    async def message(self) -> Message:
        """Return the next message."""
        async with asyncio.timeout(LIMIT_SECONDS):
            return await self._messages.get()

    async def loss(self) -> dict[str, Any]:
        """Return the error that ended the channel, as plain values. It is reported once."""
        async with asyncio.timeout(LIMIT_SECONDS):
            await self._lost.wait()
        (error,) = self.losses
        return error.to_dict()

    @property
    def silent(self) -> bool:
        """Return whether the test has read everything that was received."""
        return self._messages.empty() and not self.losses


@asynccontextmanager
async def open_channel(transport: Transport) -> AsyncGenerator[tuple[Channel, Recorder]]:
    """Yield a channel and what is received on it. The channel is closed within the time limit."""
    recorder = Recorder()
    channel = await transport.open(recorder)
    try:
        yield channel, recorder
    finally:
        async with asyncio.timeout(LIMIT_SECONDS):
            await channel.close()
