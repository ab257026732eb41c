"""The SDK's server in memory, behind a channel with one fault."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
from mcp import MCPError as SdkError
from mcp.server import Server
from mcp_types import CallToolResult, TextContent

from footlight.client.transports.memory import InMemory
from footlight.transports.messages import read_message, to_json
from tests.client.broken.server import Broken, Fault, Message


class Streams:
    """The messages of the broken layer in front of the SDK's server."""

    def __init__(self, server: BrokenInMemory, inlet: Any, write: Any, end: Callable[[], None]) -> None:
        self.server = server
        self.end = end
        self._inlet = inlet
        self._write = write

    async def nothing(self) -> None:
        pass

    async def say(self, message: Message) -> None:
        await self._write.send(read_message(json.dumps(message)))

    async def pass_on(self, message: Message) -> None:
        """Pass a message on to the SDK's server."""
        await self._inlet.send(read_message(json.dumps(message)))


class BrokenInMemory(Broken):
    """The SDK's server behind a layer with one fault."""

    def __init__(self, fault: Fault | None, at: str) -> None:
        super().__init__(fault, at)
        self._server = Server("broken", on_call_tool=self._call)
        self.raising: Exception | None = None
        """By the next call of a tool."""
        self.transport = InMemory(self.live)

    async def _call(self, _: Any, params: Any) -> CallToolResult:
        if params.name == "hold":
            await self.released.wait()
        elif (error := self.raising) is not None:
            self.raising = None
            raise error
        return CallToolResult(content=[TextContent(text=f"{params.name} is done")])

    async def live(self, read: Any, write: Any) -> None:
        inlet, outlet = anyio.create_memory_object_stream[Any](0)

        async def serve_here() -> None:
            await self._server.run(outlet, write, self._server.create_initialization_options())

        async with self.connection(), inlet, anyio.create_task_group() as group:
            said = Streams(self, inlet, write, group.cancel_scope.cancel)
            group.start_soon(serve_here)
            async for item in read:
                group.start_soon(self.take, json.loads(to_json(item.message)), said)
            await inlet.aclose()

    async def answer(self, message: Message, said: Streams) -> None:
        await said.pass_on(message)


@asynccontextmanager
async def broken_in_memory(fault: Fault | None, at: str) -> AsyncGenerator[BrokenInMemory]:
    yield BrokenInMemory(fault, at)


# What can be wrong with it


async def fails(said: Streams, request: Message) -> None:
    raise RuntimeError("The disk is full")


async def ends(said: Streams, request: Message) -> None:
    said.end()


async def raises_in_the_tool(said: Streams, request: Message) -> None:
    said.server.raising = RuntimeError("The disk is full")
    await said.pass_on(request)


async def unknown_to_the_tool(said: Streams, request: Message) -> None:
    said.server.raising = SdkError(-32602, "Unknown tool: broken")
    await said.pass_on(request)
