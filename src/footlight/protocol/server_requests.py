"""Answer the requests that a server sends to its client.

They come as messages, which handlers answer and a queue sends, or as a result that asks for input
(`input_required`), after which the client's request is sent again with the answers.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, cast

from footlight.protocol import messages
from footlight.protocol.errors import MCPError
from footlight.protocol.untrusted_json import an_object, text

if TYPE_CHECKING:
    from footlight.protocol.messages import Message, RequestId

__all__ = [
    "MAX_ROUNDS",
    "MOST_ANSWERS",
    "MOST_SENDERS",
    "MOST_SERVED",
    "NO_HANDLER",
    "Handler",
    "ServerRequests",
    "find_handler_task",
    "request_until_complete",
]

logger = logging.getLogger(__name__)

Handler = Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]] | Mapping[str, Any]]
"""Answers a request of the server: takes its params and returns the result. An `MCPError` is sent to the
server.
"""

MOST_SERVED = 500
"""Requests of the server that handlers answer at the same time."""
METHOD_NOT_FOUND = -32601
INTERNAL_ERROR = -32603
NO_HANDLER = "This client does not answer"
"""Starts our refusal of a server's request, which many servers return as the error of the tool call."""

MOST_ANSWERS = 10_000
"""A server that asks for more does not read its answers."""
MOST_SENDERS = 4
"""Tasks that send. One for each answer would hold up the event loop when many are asked for at once."""
ANSWERS_IN_A_TURN = 20

MAX_ROUNDS = 10
"""How often a server may answer one request with questions."""

Ask = Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]]
"""Sends the request with these params."""
Handle = Callable[[str, Mapping[str, Any]], Awaitable[Mapping[str, Any]]]
"""Answers a request of the server: its method and params."""

_handler_task: ContextVar[asyncio.Task[Any] | None] = ContextVar("handler_task", default=None)
"""The task that answers a request of the server, inside of its handler."""


def find_handler_task() -> asyncio.Task[Any] | None:
    """Return the task that answers a request of the server, if the caller runs inside of its handler."""
    return _handler_task.get()


class ServerRequests:
    """Answers the requests of one connection. `handlers` answer them by their method; `ping` needs none, and
    others are refused.

    `send` sends one answer and does not fail, and `start` starts a task, which the connection ends.
    """

    def __init__(
        self,
        handlers: Mapping[str, Handler],
        *,
        send: Callable[[Message], Awaitable[None]],
        start: Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]],
    ) -> None:
        self._handlers: Mapping[str, Handler] = {"ping": _pong, **handlers}
        self._send = send
        self._start = start
        self._serving: dict[RequestId, asyncio.Task[None]] = {}
        self._queue = _AnswerQueue(send, start)

    def receive(self, message: Message) -> None:
        identifier, method = message["id"], message["method"]
        handler = self._handlers.get(method)
        if handler is _pong:
            self._queue.add(messages.answer_to(identifier, result={}))
        elif handler is None:
            error = {"code": METHOD_NOT_FOUND, "message": f"{NO_HANDLER} {method}"}
            self._queue.add(messages.answer_to(identifier, error=error))
        elif len(self._serving) >= MOST_SERVED:
            error = {"code": INTERNAL_ERROR, "message": f"This client answers {MOST_SERVED} requests at once"}
            self._queue.add(messages.answer_to(identifier, error=error))
        else:
            task = self._start(self._serve(message))
            self._serving[identifier] = task
            task.add_done_callback(lambda _: self._serving.pop(identifier, None))

    def cancel(self, identifier: object) -> None:
        """Cancel the handler of a request, if it is still running."""
        task = self._serving.get(identifier) if messages.is_id(identifier) else None
        if task is not None:
            task.cancel()

    async def _serve(self, message: Message) -> None:
        _handler_task.set(asyncio.current_task())
        await self._send(await self._answer(message))

    async def _answer(self, message: Message) -> Message:
        identifier, method = message["id"], message["method"]
        try:
            result = await self.handle(method, an_object(message.get("params")))
            return messages.answer_to(identifier, result=result)
        except MCPError as error:
            response_error = {"code": error.rpc_code or INTERNAL_ERROR, "message": error.message}
            return messages.answer_to(identifier, error=response_error)

    async def handle(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return what the handler of this method returns.

        Raises:
            MCPError: there is no handler, it refused, or it failed, which is logged.
        """
        handler = self._handlers.get(method)
        if handler is None:
            raise MCPError(f"{NO_HANDLER} {method}", reason="protocol", rpc_code=METHOD_NOT_FOUND)
        try:
            answer = handler(params)
            return _check_result(await answer if inspect.isawaitable(answer) else answer)
        except MCPError:
            raise
        except Exception as error:
            logger.exception("the handler of %s failed", method)
            raise MCPError(
                f"The client's handler of {method} failed", reason="protocol", rpc_code=INTERNAL_ERROR
            ) from error


class _AnswerQueue:
    """The answers that wait to be sent, as those to pings do."""

    def __init__(
        self,
        send: Callable[[Message], Awaitable[None]],
        start: Callable[[Coroutine[Any, Any, None]], object],
    ) -> None:
        self._send = send
        self._start = start
        self._answers: deque[Message] = deque()
        self._senders = 0

    def add(self, answer: Message) -> None:
        """Send an answer as soon as the ones before it are sent. Beyond `MOST_ANSWERS` it is dropped."""
        if len(self._answers) >= MOST_ANSWERS:
            logger.debug("dropped an answer, as %d are not sent yet", MOST_ANSWERS)
            return
        self._answers.append(answer)
        if self._senders < MOST_SENDERS:
            self._senders += 1
            self._start(self._send_all())

    async def _send_all(self) -> None:
        sent = 0
        try:
            while self._answers:
                await self._send(self._answers.popleft())
                sent += 1
                if sent % ANSWERS_IN_A_TURN == 0:
                    await asyncio.sleep(0)
        finally:
            self._senders -= 1


def _pong(_: Mapping[str, Any]) -> Mapping[str, Any]:
    return {}


def _check_result(result: object) -> Mapping[str, Any]:
    """Return the result if it can be sent.

    Raises:
        TypeError: it is not a JSON object.
    """
    if not isinstance(result, Mapping):
        raise TypeError("A handler must return an object")
    try:
        messages.encode(cast("Mapping[str, Any]", result))
    except MCPError as error:
        raise TypeError(error.message) from None
    return cast("Mapping[str, Any]", result)


async def request_until_complete(ask: Ask, handle: Handle, params: Mapping[str, Any]) -> Mapping[str, Any]:
    """Send the request, answering what the server asks, until its result is complete.

    A result without a `resultType` is complete.

    Raises:
        MCPError: the kind of a result is unknown, the server asked more than `MAX_ROUNDS` times, or the
            client has no handler for a question.
    """
    asked = params
    for _ in range(MAX_ROUNDS):
        result = await ask(asked)
        kind = result.get("resultType", "complete")
        if kind == "complete":
            return result
        if kind != "input_required":
            raise MCPError(f"The server gave a result of the unknown kind {kind!r:.40}", reason="protocol")
        # Each round repeats the first request, with the answers to the last questions.
        asked = {**params, **await _answers(result, handle)}
    raise MCPError(f"The server asked back more than {MAX_ROUNDS} times", reason="protocol")


async def _answers(result: Mapping[str, Any], handle: Handle) -> dict[str, Any]:
    questions = an_object(result.get("inputRequests"))
    answers = {key: await _answer(key, question, handle) for key, question in questions.items()}
    state = {"requestState": result["requestState"]} if "requestState" in result else {}
    return ({"inputResponses": answers} if answers else {}) | state


async def _answer(key: str, question: object, handle: Handle) -> Mapping[str, Any]:
    request = an_object(question)
    method = text(request.get("method"))
    if method is None:
        raise MCPError(f"The server's question {key!r:.40} names no method", reason="protocol")
    return await handle(method, an_object(request.get("params")))
