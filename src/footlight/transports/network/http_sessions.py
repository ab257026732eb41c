"""Limit the transport sessions of Streamable HTTP, and store the events that each can resume.

The SDK keeps a session for half an hour after its last request, and refuses new ones at its limit. Many
clients open a session for each call and never end it, so this module ends the longest idle session instead.
The SDK has one event store for all sessions, with the clients' request ids as stream ids. `RecentEventStore`
separates the sessions, so that no client can resume the stream of another.
"""

from __future__ import annotations

import itertools
import logging
import time
from collections import OrderedDict, deque
from contextlib import ExitStack
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import NamedTuple

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser, authorization_context
from mcp.server.streamable_http import EventCallback, EventMessage, EventStore
from mcp_types import INVALID_REQUEST, JSONRPCError, JSONRPCMessage, JSONRPCResponse, RequestId
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from footlight.caller import SCOPE_KEY, Caller, OnDisconnect, ignore_disconnect
from footlight.transports.messages import refusal, to_json
from footlight.transports.network.json_answers import answer_in
from footlight.transports.pending_requests import PendingRequests, overload_error

__all__ = ["REQUEST_KEY", "SESSION_HEADER", "IncomingRequest", "RecentEventStore", "TransportSessions"]

logger = logging.getLogger(__name__)

SESSION_HEADER = "mcp-session-id"
RESUME_HEADER = "last-event-id"
EVENT_BYTES = 1_000
"""The estimated memory of an event in addition to its text, in bytes."""


REQUEST_KEY = "footlight.request"
"""The key in the ASGI scope for a request of the handshake era, an `IncomingRequest`."""


class IncomingRequest(NamedTuple):
    """The id of a request, and its size in bytes."""

    id: RequestId
    size: int


@dataclass(eq=False, slots=True)
class _Session:
    user: object
    unanswered: PendingRequests
    """A request continues when its connection is closed, so the connection limit does not limit requests."""
    id: str = ""
    busy: int = 0
    last_used: float = field(default_factory=time.monotonic)
    caller: Caller | None = None
    """The caller of the requests after the first one."""


_current: ContextVar[_Session | None] = ContextVar("transport session", default=None)
"""The session of the current request. The SDK's tasks for a session inherit it from the first request."""


class TransportSessions:
    """ASGI middleware that limits transport sessions to `limit`.

    The SDK ends a session after `idle_seconds`. Each session may have `max_requests` pending requests, with a
    total size of `max_size` bytes. The total size for all sessions is four times that. `on_end` is called
    with the caller of each session that has ended.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        limit: int,
        idle_seconds: float,
        max_requests: int,
        max_size: int,
        on_end: OnDisconnect = ignore_disconnect,
    ) -> None:
        self._app = app
        self._limit = limit
        self._max_requests = max_requests
        self._max_size = max_size
        self._idle_seconds = idle_seconds
        self._on_end = on_end
        self._sessions: OrderedDict[str, _Session] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        id = headers.get(SESSION_HEADER, "")
        session = self._sessions.get(id)
        if session is None or _principal(session.user) != _principal(scope.get("user")):
            unanswered = PendingRequests(max_requests=self._max_requests, max_size=self._max_size)
            id, session = "", _Session(scope.get("user"), unanswered)
        else:
            session.caller = scope.get(SCOPE_KEY)
        request: IncomingRequest | None = scope.get(REQUEST_KEY)
        if request is not None:
            if (refused := self._refuse(session, request)) is not None:
                await refused(scope, receive, send)
                return
            session.unanswered.add(*request)
        token = _current.set(session)
        session.busy += 1
        if scope["method"] == "GET" and RESUME_HEADER in headers:
            send = _end_after_response(send)
        with ExitStack() as use:
            use.callback(self._release, session)
            try:
                await self._app(scope, receive, self._watch_responses(session, id, scope, send, use))
            finally:
                _current.reset(token)

    def _refuse(self, session: _Session, request: IncomingRequest) -> Response | None:
        """Return a refusal if a limit is exceeded or the id is in use, or None.

        If an id was used twice, the SDK would never answer the first request.
        """
        if session.unanswered.has(request.id):
            fault = refusal(INVALID_REQUEST, "Invalid request: this id is in use", request.id)
            return Response(to_json(fault), 400, media_type="application/json")
        fault = session.unanswered.refuse(*request)
        if sum(each.unanswered.size for each in self._sessions.values()) + request.size > 4 * self._max_size:
            fault = overload_error(request.id, "The requests of all clients are too large together")
        return Response(to_json(fault), 429, media_type="application/json") if fault else None

    def _release(self, session: _Session) -> None:
        session.busy -= 1
        session.last_used = time.monotonic()
        if session.id in self._sessions:
            self._sessions.move_to_end(session.id)

    def _watch_responses(self, session: _Session, id: str, scope: Scope, send: Send, use: ExitStack) -> Send:
        """Return a `send` that detects in the responses that sessions are opened and that requests end."""
        method: str = scope["method"]
        request: IncomingRequest | None = scope.get(REQUEST_KEY)

        async def watch(message: Message) -> None:
            if message["type"] == "http.response.start":
                status: int = message["status"]
                new_id = Headers(raw=message["headers"]).get(SESSION_HEADER, "")
                if new_id and status < 400 and not session.id:
                    session.id = new_id
                    self._sessions[new_id] = session
                if not session.id:
                    # The SDK also sends an id if it did not open a session, and clients would use it.
                    del MutableHeaders(scope=message)[SESSION_HEADER]
                if status >= 400 and request is not None:
                    session.unanswered.settle(request.id)
                if id and (status == 404 or (method == "DELETE" and status < 400)):
                    self._on_ended(session)
            elif not message.get("more_body", False):
                # Release the session before the client receives the end, because it may send another request.
                use.close()
                if session.id and not id:
                    await self._make_room(session)
            await send(message)

        return watch

    async def _make_room(self, opened: _Session) -> None:
        """End idle sessions above the limit, except the new one, whose client would open another."""
        expired = time.monotonic() - self._idle_seconds
        idle = [each for each in self._sessions.values() if not each.busy and each is not opened]
        for session in idle:
            if session.last_used < expired:
                self._on_ended(session)
        too_many = len(self._sessions) - self._limit
        # Sessions with running calls come last, because their clients may reconnect for the responses.
        idle_sessions = sorted(
            (each for each in idle if each.id in self._sessions), key=lambda each: bool(each.unanswered)
        )
        for session in idle_sessions[: max(0, too_many)]:
            logger.info("transport session ended to make room for another")
            self._on_ended(session)
            await self._end(session)

    def _on_ended(self, session: _Session) -> None:
        if self._sessions.pop(session.id, None) and session.caller is not None:
            self._on_end(session.caller)

    async def _end(self, session: _Session) -> None:
        """End a session with a DELETE request, as its client would."""

        async def receive() -> Message:
            return {"type": "http.disconnect"}

        async def send(_: Message) -> None:
            pass

        scope: Scope = {
            "type": "http",
            "http_version": "1.1",
            "method": "DELETE",
            "path": "/mcp",
            "query_string": b"",
            "headers": [(SESSION_HEADER.encode(), session.id.encode())],
            "user": session.user,
        }
        await self._app(scope, receive, send)


def _principal(user: object) -> object:
    return authorization_context(user) if isinstance(user, AuthenticatedUser) else None


def _end_after_response(send: Send) -> Send:
    """End a resumed stream after its response, which the SDK does not do."""
    ended = False

    async def send_until_answer(message: Message) -> None:
        nonlocal ended
        if ended:
            return
        ended = message["type"] == "http.response.body" and bool(answer_in(message.get("body", b"")))
        await send({**message, "more_body": False} if ended else message)

    return send_until_answer


class _Event(NamedTuple):
    number: int
    session: _Session | None
    stream: str
    message: JSONRPCMessage | None
    size: int


class RecentEventStore(EventStore):
    """Stores the latest events for clients that resume with `Last-Event-ID`. The oldest are dropped."""

    def __init__(self, *, max_bytes: int) -> None:
        self._left = max_bytes
        self._numbers = itertools.count(1)
        self._events: deque[_Event] = deque()

    async def store_event(self, stream_id: str, message: JSONRPCMessage | None) -> str:
        if isinstance(message, (JSONRPCResponse, JSONRPCError)) and (session := _current.get()):
            session.unanswered.settle(message.id)
        size = EVENT_BYTES + (len(message.model_dump_json(by_alias=True)) if message else 0)
        event = _Event(next(self._numbers), _current.get(), stream_id, message, size)
        self._events.append(event)
        self._left -= size
        while self._left < 0:
            self._left += self._events.popleft().size
        return str(event.number)

    async def replay_events_after(self, last_event_id: str, send_callback: EventCallback) -> str | None:
        last = next((event for event in self._events if str(event.number) == last_event_id), None)
        if last is None or last.session is not _current.get() or _is_answer(last):
            return None
        for event in list(self._events):
            same = event.session is last.session and event.stream == last.stream
            if same and event.number > last.number and event.message is not None:
                await send_callback(EventMessage(event.message, str(event.number)))
        return last.stream


def _is_answer(event: _Event) -> bool:
    return isinstance(event.message, (JSONRPCResponse, JSONRPCError))
