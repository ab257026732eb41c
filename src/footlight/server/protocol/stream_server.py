"""Serve one client over a stream of messages, such as standard input and output.

The client's first request determines the revisions that the connection uses: those without a handshake if its
`_meta` names a revision, or else those with a handshake.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterable, Awaitable, Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import Any, Literal

from footlight.caller import LOCAL
from footlight.protocol.messages import (
    Message,
    RequestId,
    answer_to,
    kind_of,
    notification,
    own_id,
    peer_error,
    request,
)
from footlight.protocol.untrusted_json import object_or_none, text
from footlight.protocol.versions import HANDSHAKE_VERSIONS, STATELESS_VERSIONS, UNSUPPORTED_VERSION
from footlight.server.protocol.methods import ServerMethods
from footlight.server.requests import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    ClientRequestError,
    Handler,
    ProtocolError,
    Request,
    invalid_params,
)

__all__ = ["serve_stream"]

logger = logging.getLogger(__name__)

Send = Callable[[Message], Awaitable[None]]

INVALID_REQUEST = -32600
INTERNAL_ERROR = -32603
CONNECTION_CLOSED = -32000
LAST_SECONDS = 1.0
"""The time limit for sending the last answers when the connection ends."""
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"


async def serve_stream(methods: ServerMethods, incoming: AsyncIterable[Message], send: Send) -> None:
    """Answer the messages of one client until they end.

    Requests that are still running are then cancelled.
    """
    connection = _StreamConnection(methods, send)
    try:
        async for message in incoming:
            await connection.receive(message)
    finally:
        await connection.close()


@dataclass(eq=False, slots=True)
class _Running:
    """A request that is being answered."""

    task: asyncio.Task[None]
    cancelled: bool = False
    """Whether the client has cancelled the request, so that it gets no answer."""


class _StreamConnection:
    """The state of one connection."""

    def __init__(self, methods: ServerMethods, send: Send) -> None:
        self._methods = methods
        self._send = send
        self._era: Literal["handshake", "stateless"] | None = None
        self._version = HANDSHAKE_VERSIONS[-1]
        self._initialized = False
        self._capabilities: Mapping[str, Any] = {}
        self._running: dict[RequestId, _Running] = {}
        self._asked: dict[RequestId, asyncio.Future[Any]] = {}
        """The pending requests to the client."""
        self._last_asked = 0
        self._at_close = ExitStack()

    async def receive(self, message: Message) -> None:
        """Handle a message.

        `initialize` is answered before this returns, other requests in separate tasks.
        """
        kind = kind_of(message)
        if kind == "request":
            id = message["id"]
            running = _Running(asyncio.create_task(self._answer(id, message), name=f"request {id!r:.50}"))
            self._running[_key(id)] = running
            if message["method"] == "initialize":
                await asyncio.wait([running.task])
        elif kind == "notification" and message["method"] == "notifications/cancelled":
            self._cancel((object_or_none(message.get("params")) or {}).get("requestId"))
        elif kind in ("response", "error"):
            self._take_answer(message)

    async def notify(self, method: str, params: Mapping[str, Any]) -> None:
        await self._send(notification(method, params))

    async def send_request(self, method: str, params: Mapping[str, Any]) -> Any:
        """Send a request to the client and return its result. If this is cancelled, cancel the request.

        Raises:
            ClientRequestError: the client answered with an error.
        """
        self._last_asked += 1
        id = self._last_asked
        answer = self._asked[id] = asyncio.get_running_loop().create_future()
        try:
            await self._send(request(id, method, params))
            return await answer
        except asyncio.CancelledError:
            with suppress(TimeoutError):
                async with asyncio.timeout(LAST_SECONDS):
                    await self.notify("notifications/cancelled", {"requestId": id})
            raise
        finally:
            del self._asked[id]

    def _take_answer(self, message: Message) -> None:
        id = message.get("id")
        waiting = self._asked.get(_key(id)) if isinstance(id, (int, str)) else None
        if waiting is None or waiting.done():
            return
        if "result" in message:
            waiting.set_result(message["result"])
        else:
            waiting.set_exception(ClientRequestError(str(peer_error(message.get("error")))))

    def on_close(self, callback: Callable[[], None]) -> None:
        self._at_close.callback(callback)

    async def close(self) -> None:
        """Cancel running requests, and answer them with an error if the client still reads."""
        await asyncio.sleep(0)  # A task that is cancelled before it has started would send no answer.
        running = [each.task for each in self._running.values()]
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running, timeout=LAST_SECONDS)
        self._at_close.close()

    def _cancel(self, id: object) -> None:
        if isinstance(id, (int, str)) and (running := self._running.get(_key(id))):
            running.cancelled = True
            running.task.cancel()

    async def _answer(self, id: RequestId, message: Message) -> None:
        try:
            answer = answer_to(id, result=await self._result(id, message["method"], message.get("params")))
        except ProtocolError as error:
            data = {} if error.data is None else {"data": error.data}
            answer = answer_to(id, error={"code": error.code, "message": error.message, **data})
        except asyncio.CancelledError:
            if self._forget(id):
                raise
            answer = answer_to(id, error={"code": CONNECTION_CLOSED, "message": "Connection closed"})
        except Exception:
            logger.exception("the handler of %r failed", message["method"])
            answer = answer_to(id, error={"code": INTERNAL_ERROR, "message": "Internal server error"})
        if not self._forget(id):
            await self._send_answer(id, answer)

    async def _send_answer(self, id: RequestId, answer: Message) -> None:
        try:
            await self._send(answer)
        except (TypeError, ValueError):
            logger.exception("an answer could not be written as JSON")
            await self._send(
                answer_to(id, error={"code": INTERNAL_ERROR, "message": "Internal server error"})
            )

    def _forget(self, id: RequestId) -> bool:
        """Remove a request that has ended. Return whether the client has cancelled it."""
        running = self._running.get(_key(id))
        if running is None or running.task is not asyncio.current_task():
            return False  # A later request has the same id.
        if not running.cancelled:
            with suppress(KeyError):
                del self._running[_key(id)]
            return False
        del self._running[_key(id)]
        return True

    async def _result(self, id: RequestId, method: str, params: object) -> dict[str, Any]:
        fields = object_or_none(params)
        if fields is None and params is not None:
            raise invalid_params()
        fields = fields or {}
        meta = object_or_none(fields.get("_meta"))
        if self._era is None:
            is_stateless = method != "initialize" and meta is not None and VERSION_KEY in meta
            self._era = "stateless" if is_stateless else "handshake"
        if self._era == "stateless":
            version = _check_stateless(method, fields, meta)
        else:
            _check_handshake(method, meta)
            version = self._version
        handler = self._find(method, version)
        if handler is None:
            raise ProtocolError(METHOD_NOT_FOUND, "Method not found", method)
        if meta is None and fields.get("_meta") is not None:
            raise invalid_params()
        if self._era == "handshake" and not self._initialized and method not in ("initialize", "ping"):
            raise invalid_params()
        stateless = object_or_none(meta.get(CAPABILITIES_KEY)) if meta is not None else None
        taken = Request(
            id=id,
            params=fields,
            caller=LOCAL,
            connection=self,
            notify=self._notify_of(id),
            version=version,
            send_request=self.send_request if self._era == "handshake" else None,
            client_capabilities=self._capabilities if stateless is None else stateless,
        )
        result = await handler(taken)
        return result if self._era == "handshake" else self._methods.stateless_result(method, result)

    def _notify_of(self, id: RequestId) -> Callable[[str, Mapping[str, Any]], Awaitable[None]]:
        """Return a function that sends notifications for a request, until the request ends."""
        task = asyncio.current_task()

        async def notify(method: str, params: Mapping[str, Any]) -> None:
            running = self._running.get(_key(id))
            if running is not None and running.task is task and not running.cancelled:
                await self.notify(method, params)

        return notify

    def _find(self, method: str, version: str) -> Handler | None:
        """Return the handler of a method, or None. The connection itself handles `initialize` and `ping`."""
        if self._era == "handshake" and method in ("initialize", "ping"):
            return self._initialize if method == "initialize" else _ping
        return self._methods.find(method, version)

    async def _initialize(self, request: Request) -> dict[str, Any]:
        params = request.params
        requested, client = text(params.get("protocolVersion")), object_or_none(params.get("clientInfo"))
        capabilities = object_or_none(params.get("capabilities"))
        if requested is None or client is None or capabilities is None:
            raise invalid_params()
        if text(client.get("name")) is None or text(client.get("version")) is None:
            raise invalid_params()
        result = self._methods.initialize_result(requested)
        self._version = result["protocolVersion"]
        self._initialized = True
        self._capabilities = capabilities
        return result


async def _ping(_: Request) -> dict[str, Any]:
    return {}


def _check_handshake(method: str, meta: Mapping[str, Any] | None) -> None:
    """Check that a request belongs to a connection with a handshake.

    Raises:
        ProtocolError: the request is one of a stateless revision.
    """
    if meta is not None and VERSION_KEY in meta and method != "initialize":
        raise ProtocolError(
            INVALID_REQUEST,
            "this connection serves the handshake protocol era; requests carrying the "
            f"{STATELESS_VERSIONS[-1]} envelope are not accepted on it",
        )


def _check_stateless(method: str, params: Mapping[str, Any], meta: Mapping[str, Any] | None) -> str:
    """Return the revision that a request names.

    Raises:
        ProtocolError: `_meta` is incomplete, or the revision is not supported.
    """
    supported = list(STATELESS_VERSIONS)
    if method == "initialize":
        requested = text(params.get("protocolVersion"))
        raise ProtocolError(
            UNSUPPORTED_VERSION,
            f"connection is serving the {supported[-1]} protocol; the initialize handshake is not accepted",
            {"supported": supported, **({} if requested is None else {"requested": requested})},
        )
    if meta is None:
        raise ProtocolError(
            INVALID_PARAMS,
            f"params._meta must be an object carrying the required {VERSION_KEY!r} and {CAPABILITIES_KEY!r} "
            "envelope keys",
        )
    if missing := [key for key in (VERSION_KEY, CAPABILITIES_KEY) if key not in meta]:
        raise ProtocolError(
            INVALID_PARAMS, f"params._meta is missing the required envelope key(s): {', '.join(missing)}"
        )
    version = text(meta[VERSION_KEY])
    if version is None:
        raise ProtocolError(INVALID_PARAMS, "the protocol-version envelope value must be a string")
    if version not in supported:
        raise ProtocolError(
            UNSUPPORTED_VERSION,
            "Unsupported protocol version",
            {"supported": supported, "requested": version},
        )
    if object_or_none(meta[CAPABILITIES_KEY]) is None:
        raise invalid_params()
    return version


def _key(id: RequestId) -> RequestId:
    """Return the same key for a number and its string, because some clients cancel `7` as `"7"`."""
    number = own_id(id)
    return id if number is None else number
