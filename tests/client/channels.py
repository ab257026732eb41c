"""A channel without a server: it records what is sent, and receives what the test says."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from footlight.protocol.channel import Receiver
from footlight.protocol.errors import MCPError
from footlight.protocol.messages import Message, answer_to, notification

LIMIT_SECONDS = 60.0


@dataclass(frozen=True)
class Refusal:
    """A JSON-RPC error of the server."""

    code: int
    message: str = "No"
    data: Any = None

    @property
    def body(self) -> dict[str, Any]:
        added = {} if self.data is None else {"data": self.data}
        return {"code": self.code, "message": self.message, **added}


Reply = Mapping[str, Any] | Refusal | MCPError | None
"""A result, a refusal, an exception that the exchange raises, or silence."""
Script = Mapping[str, Reply | Callable[[Mapping[str, Any]], Reply]]
"""The replies by method. Other methods are answered by the test, or never."""

SERVER_INFO = {"name": "scripted", "version": "1.2.3"}


def make_initialize_result(version: str = "2025-06-18", **more: Any) -> dict[str, Any]:
    return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": SERVER_INFO, **more}


def make_discover_result(*versions: str) -> dict[str, Any]:
    return {
        "supportedVersions": list(versions or ("2026-07-28",)),
        "capabilities": {"tools": {}},
        "_meta": {"io.modelcontextprotocol/serverInfo": SERVER_INFO},
    }


LEGACY: Script = {"initialize": make_initialize_result()}
STATELESS: Script = {"initialize": Refusal(-32601), "server/discover": make_discover_result()}


class Wire:
    """A channel. `comes`, `answer`, `refuse`, `notify` and `lose` act as the server. Waits have a limit."""

    def __init__(self, receiver: Receiver, script: Script) -> None:
        self.cancels_by_closing = False
        self.script: dict[str, Any] = dict(script)
        self.sent: list[Message] = []
        self.headers: list[Mapping[str, str]] = []
        """Those of each message that was sent."""
        self.versions: list[str] = []
        """What was told to be negotiated."""
        self.abandoned: list[Message] = []
        """Sent, and cancelled before the server had taken it."""
        self.closed = 0
        self.stuck: asyncio.Event | None = None
        """What each `send` waits for: a server that does not read."""
        self._receiver = receiver
        self._changed = asyncio.Condition()

    # The client's side

    async def send(self, message: Message, *, headers: Mapping[str, str]) -> None:
        self.sent.append(copy.deepcopy(message))
        self.headers.append(headers)
        async with self._changed:
            self._changed.notify_all()
        if self.stuck is not None:
            try:
                await self.stuck.wait()
            except asyncio.CancelledError:
                self.abandoned.append(message)
                raise
        reply = self.script.get(message.get("method", ""))
        if callable(reply):
            reply = reply(message["params"])
        self._reply(message, reply)

    def _reply(self, message: Message, reply: Any) -> None:
        if isinstance(reply, MCPError):
            self._fails(reply)
            raise reply
        if isinstance(reply, Refusal):
            self.refuse(message, reply)
        elif reply is not None and "id" in message:
            self.answer(message, reply)

    def _fails(self, error: MCPError) -> None:
        """Fail like a real channel, apart from raising the error."""

    def use_version(self, version: str) -> None:
        self.versions.append(version)

    async def close(self) -> None:
        self.closed += 1

    # The server's side

    def comes(self, message: Message) -> None:
        self._receiver.receive(message)

    def answer(self, request: Message, result: Any) -> None:
        self.comes(answer_to(request["id"], result=result))

    def refuse(self, request: Message, refusal: Refusal) -> None:
        self.comes(answer_to(request["id"], error=refusal.body))

    def notify(self, method: str, **params: Any) -> None:
        self.comes(notification(method, params))

    def lose(self, error: MCPError) -> None:
        self._receiver.on_connection_lost(error)

    # What was sent

    async def until(self, done: Callable[[], bool]) -> None:
        async with asyncio.timeout(LIMIT_SECONDS), self._changed:
            await self._changed.wait_for(done)

    async def asked(self, method: str, count: int = 1) -> Message:
        """Wait for `count` messages of this method, and return the last one."""
        await self.until(lambda: len(self.of(method)) >= count)
        return self.of(method)[count - 1]

    async def answered(self, identifier: int | str) -> Message:
        """Return the client's response to a request of the server."""
        await self.until(lambda: bool(self._answers(identifier)))
        return self._answers(identifier)[0]

    def of(self, method: str) -> list[Message]:
        return [message for message in self.sent if message.get("method") == method]

    def _answers(self, identifier: int | str) -> list[Message]:
        return [each for each in self.sent if each.get("id") == identifier and "method" not in each]

    @property
    def methods(self) -> list[str]:
        return [message.get("method", "an answer") for message in self.sent]


class HttpWire(Wire):
    """A channel with an HTTP session."""

    def __init__(self, receiver: Receiver, script: Script) -> None:
        super().__init__(receiver, script)
        self.session_id: str | None = "session-1"
        self.terminated = 0
        self.listens: bool | MCPError = True
        self.ending: BaseException | bool = True
        """What becomes of a DELETE."""
        self.on_error: Callable[[MCPError], None] | None = None
        """Of the GET stream that is open."""
        self.streams_closed = 0

    def _fails(self, error: MCPError) -> None:
        if error.reason == "session_expired" and self.session_id is not None:
            self.expires()

    def expires(self) -> None:
        """Expire the session, and let a request notice it."""
        self.session_id = None
        self._receiver.on_session_ended()

    async def terminate(self) -> bool:
        self.terminated += 1
        if self.session_id is not None:
            self.expires()
        if isinstance(self.ending, BaseException):
            raise self.ending
        return self.ending

    async def listen(
        self, on_message: Callable[[Message], None], on_error: Callable[[MCPError], None]
    ) -> bool:
        if isinstance(self.listens, MCPError):
            self._fails(self.listens)
            raise self.listens
        self._on_message = on_message
        self.on_error = on_error if self.listens else None
        async with self._changed:
            self._changed.notify_all()
        return self.listens

    def stream(self, method: str, **params: Any) -> None:
        """Deliver a message on the GET stream."""
        self.notify(method, **params)
        self._on_message(notification(method, params))

    async def stop_listening(self) -> None:
        if self.on_error is not None:
            self.on_error = None
            self.streams_closed += 1


@dataclass
class Place:
    """A transport. Each `open` returns a `Wire` with the script, or raises the next of `failures`."""

    script: Script = field(default_factory=lambda: LEGACY)
    http: bool = False
    failures: list[BaseException] = field(default_factory=list[BaseException])
    gate: asyncio.Event | None = None
    """The event that `open` waits for."""
    command: Sequence[str] | str | None = None
    where: str = "a wire"
    wires: list[Any] = field(default_factory=list[Any])
    opening: int = 0
    _tries: asyncio.Queue[int] = field(default_factory=asyncio.Queue[int])

    async def open(self, receiver: Receiver) -> Wire:
        self.opening += 1
        self._tries.put_nowait(self.opening)
        if self.gate is not None:
            await self.gate.wait()
        if self.failures:
            raise self.failures.pop(0)
        wire = (HttpWire if self.http else Wire)(receiver, self.script)
        self.wires.append(wire)
        return wire

    async def wait_until_tried(self, count: int = 1) -> None:
        """Wait until `open` was called `count` times."""
        async with asyncio.timeout(LIMIT_SECONDS):
            while await self._tries.get() < count:
                pass

    @property
    def wire(self) -> Any:
        """Return the newest wire."""
        return self.wires[-1]
