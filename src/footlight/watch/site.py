"""The watch page `/watch` and its API, as an ASGI application behind the access control of its listener.

The page itself contains no data. It is served to every request with a valid Host header, so that it can
explain problems. All other requests need the token in a header, and requests from other sites are refused.
Every request ends after a limited time. The page sends the next request when it has shown the last result, so
a watcher that stops reading does not delay others.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, cast

from starlette.datastructures import Headers, QueryParams
from starlette.responses import FileResponse, Response

from footlight.browser.driver.playwright_api import Error
from footlight.errors import FootlightError
from footlight.transports.network.access import AccessControl, Refusal
from footlight.watch.sender import refuse_sender
from footlight.watch.trace_viewer import NoTrace
from footlight.watch.views import render_ended_session, session_view

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from footlight.browser.sessions.session import Session
    from footlight.browser.sessions.session_table import SessionTable
    from footlight.watch.control import Control
    from footlight.watch.entry import Entry
    from footlight.watch.journal import Journal
    from footlight.watch.pictures import Pictures
    from footlight.watch.tickets import Tickets
    from footlight.watch.trace_viewer import TraceViewer

__all__ = ["PATH", "WatchSite"]

logger = logging.getLogger(__name__)

PATH = "/watch"
WAIT_SECONDS = 10.0
"""How long a request waits for changes."""
SEND_SECONDS = 10.0
"""How long a watcher may take to read an answer."""
FILE_SECONDS = 300.0
"""How long a watcher may take to read a trace."""
MAX_BODY = 64 << 10
MAX_NEW_CALLS = 300

_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_ASSETS = {
    "": ("watch.html", "text/html"),
    "/watch.css": ("watch.css", "text/css"),
    "/watch.js": ("watch.js", "text/javascript"),
    "/picture.js": ("picture.js", "text/javascript"),
    "/server.js": ("server.js", "text/javascript"),
    "/calls.js": ("calls.js", "text/javascript"),
}


class _RequestFailed(Exception):
    """A request that failed, with an HTTP status and a message for the page."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


@dataclass(frozen=True, slots=True)
class _Visitor:
    """The sender of a request, who sees the sessions of `owner`, or of everybody, or only `session_id`."""

    owner: str | None = None
    session_id: str | None = None

    def may_see(self, session_id: str | None, owner: str) -> bool:
        return self.owner in (None, owner) and self.session_id in (None, session_id)

    def may_see_call(self, entry: Entry) -> bool:
        return self.may_see(entry.session_id, entry.owner)

    def filter_sessions(self, table: SessionTable | None) -> list[Session]:
        sessions = table.list_all(owner=self.owner) if table else ()
        return [session for session in sessions if self.session_id in (None, session.id)]


class WatchSite:
    """Answers `/watch` and the paths below it. A principal with its own token sees only its own sessions."""

    def __init__(
        self,
        access_control: AccessControl,
        *,
        sessions: Callable[[], SessionTable | None],
        journal: Journal,
        pictures: Pictures,
        control: Control,
        tickets: Tickets,
        trace_viewer: TraceViewer,
        make_report: Callable[[str], Awaitable[str]],
    ) -> None:
        self._access_control = access_control
        self._sessions = sessions
        self._journal = journal
        self._pictures = pictures
        self._control = control
        self._tickets = tickets
        self._trace_viewer = trace_viewer
        self._make_report = make_report
        self._closed = asyncio.Event()

    def owns(self, path: str) -> bool:
        return path == PATH or path.startswith(f"{PATH}/")

    def close(self) -> None:
        """Answer all waiting and later requests with the message that the server is shutting down."""
        self._closed.set()
        self._journal.touch()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        try:
            response = await self._answer(scope, headers, receive)
        except _RequestFailed as failed:
            response = _json({"error": failed.message}, failed.status)
        except Exception:
            logger.exception("a request of a watcher failed")
            response = _json({"error": "The server failed. The reason is in its log."}, 500)
        seconds = FILE_SECONDS if isinstance(response, FileResponse) else SEND_SECONDS
        try:
            async with asyncio.timeout(seconds):
                await response(scope, receive, send)
        except TimeoutError:
            logger.info("a watcher did not read its answer in %.0f s", seconds)
            raise

    async def _answer(self, scope: Scope, headers: Headers, receive: Receive) -> Response:
        if any(len(headers.getlist(name)) > 1 for name in ("host", "origin", "authorization")):
            raise _RequestFailed(400, "A header occurs more than once.")
        path, method = scope["path"].removeprefix(PATH).rstrip("/"), scope["method"]
        if path in _ASSETS and method in ("GET", "HEAD"):
            _check_sender(self._access_control, headers)
            return _asset(path)
        if self._trace_viewer.owns(scope["path"]) and method in ("GET", "HEAD"):
            # The path of an opened trace is known only to those who could ask for it.
            _check_sender(self._access_control, headers)
            if (found := self._trace_viewer.find(scope["path"])) is not None:
                return found
            raise _RequestFailed(404, "There is no such trace.")
        visitor = await self._identify(headers)
        query = QueryParams(scope["query_string"])
        if self._closed.is_set():
            raise _RequestFailed(503, "The server is shutting down.")
        asked = {
            "/api/state": self._state,
            "/api/picture": self._picture,
            "/api/still": self._serve_picture,
            "/api/report": self._report,
        }
        if method == "GET" and path in asked:
            return await self._answer_while_there(asked[path](query, visitor), receive)
        if method == "POST" and path == "/api/open-trace":
            return self._open_trace(await _body(receive), visitor)
        if method == "POST" and path in ("/api/take", "/api/give-back", "/api/act"):
            return await self._steer(path, await _body(receive), visitor)
        raise _RequestFailed(404, "There is no such page.")

    async def _answer_while_there(self, work: Coroutine[Any, Any, Response], receive: Receive) -> Response:
        """Return the answer, or stop waiting when the watcher disconnects or the server stops."""
        working = asyncio.create_task(work)
        leaving = asyncio.create_task(_wait_until_gone(receive))
        closing = asyncio.create_task(self._closed.wait())
        try:
            await asyncio.wait((working, leaving, closing), return_when=asyncio.FIRST_COMPLETED)
            if working.done():
                return await working
            raise _RequestFailed(503, "The server is shutting down.")
        finally:
            for task in (working, leaving, closing):
                task.cancel()
            await asyncio.gather(working, leaving, closing, return_exceptions=True)

    async def _identify(self, headers: Headers) -> _Visitor:
        _check_sender(self._access_control, headers)
        token = headers.get("authorization", "").partition(" ")[2].strip()
        if (ticket := self._tickets.find(token)) is not None:
            return _Visitor(session_id=ticket.session_id)
        if self._tickets.is_closed(token):
            raise _RequestFailed(401, "The request for help is over, so this address is no longer valid.")
        # `_check_sender` has checked the origin already, more strictly than the access control.
        checked = await self._access_control.check(
            {name: value for name, value in headers.items() if name != "origin"}
        )
        if isinstance(checked, Refusal):
            message = {401: "The token is missing or wrong."}.get(checked.status, checked.message)
            raise _RequestFailed(checked.status, message)
        return _Visitor(owner=checked.principal if checked.named else None)

    async def _state(self, query: QueryParams, visitor: _Visitor) -> Response:
        after, watcher = _count(query, "after"), query.get("watcher", "")[:64]
        self._control.note_watcher(watcher)
        if query.get("wait") == "1" and not self._closed.is_set():
            await self._journal.wait(after, WAIT_SECONDS)
        revision = self._journal.revision
        table = self._sessions()
        sessions = visitor.filter_sessions(table)
        entries = [entry for entry in self._journal.entries(after=after) if visitor.may_see_call(entry)]
        live = {session.id for session in sessions}
        return _json(
            {
                "revision": revision,
                "captures": self._pictures.captures,
                "sessions": [
                    {
                        **session_view(session, self._journal, self._pictures),
                        "yours": self._control.has(session, watcher),
                    }
                    for session in sessions
                ],
                "ended": [
                    render_ended_session(each)
                    for each in self._journal.list_ended()
                    if visitor.may_see(each.id, each.owner) and each.id not in live
                ],
                "calls": [entry.as_json() for entry in entries[-MAX_NEW_CALLS:]],
                "left_out": max(0, len(entries) - MAX_NEW_CALLS),
            }
        )

    async def _picture(self, query: QueryParams, visitor: _Visitor) -> Response:
        session = self._session(query.get("session", ""), visitor)
        page_id = query.get("page")
        page = next((each for each in session.pages if each.id == page_id), session.page_table.current)
        if page is None:
            raise _RequestFailed(409, "The session has no open page.")
        if page.crashed:
            raise _RequestFailed(409, "The page has crashed.")
        found = await self._pictures.wait_for_next(session, page, _count(query, "after"), WAIT_SECONDS)
        if session.has_ended:
            self._session(session.id, visitor)
        if found is None:
            return Response(status_code=204, headers={**_HEADERS, "X-Page": page.id})
        number, frame = found
        facts = {
            "X-Frame": str(number),
            "X-Page": page.id,
            "X-Size": f"{frame.width}x{frame.height}",
            "X-Drawn-At": f"{frame.at_ms:.0f}",
        }
        return Response(frame.data, headers={**_HEADERS, **facts}, media_type="image/jpeg")

    async def _serve_picture(self, query: QueryParams, visitor: _Visitor) -> Response:
        number = _count(query, "call")
        entry = next((each for each in self._journal.entries() if each.number == number), None)
        if entry is None or entry.picture is None or not visitor.may_see_call(entry):
            raise _RequestFailed(404, "There is no such picture.")
        return Response(entry.picture, headers=_HEADERS, media_type="image/jpeg")

    async def _report(self, query: QueryParams, visitor: _Visitor) -> Response:
        id = query.get("session", "")
        calls = self._journal.entries(session_id=id)
        if not any(visitor.may_see_call(entry) for entry in calls):
            self._session(id, visitor)
        return Response(await self._make_report(id), headers=_HEADERS, media_type="text/html")

    def _open_trace(self, body: Mapping[str, Any], visitor: _Visitor) -> Response:
        """Open the trace that a call has written, or the last one of a session, in the trace viewer."""
        session_id, number = body.get("session"), body.get("call")
        traces = [
            entry.trace
            for entry in self._journal.entries()
            if entry.trace and visitor.may_see_call(entry)
            if (entry.number == number if number is not None else entry.session_id == session_id)
        ]
        if not traces:
            raise _RequestFailed(404, "No trace was recorded. The tool `trace` records one.")
        try:
            return _json({"url": self._trace_viewer.open(traces[-1])})
        except NoTrace as error:
            raise _RequestFailed(410, str(error)) from None

    async def _steer(self, path: str, body: Mapping[str, Any], visitor: _Visitor) -> Response:
        session = self._session(str(body.get("session", "")), visitor)
        watcher = str(body.get("watcher", ""))[:64]
        if not watcher:
            raise _RequestFailed(400, "The request has no watcher.")
        if path == "/api/take":
            if (why := await self._control.take(session, watcher)) is not None:
                raise _RequestFailed(409, why)
        elif path == "/api/give-back":
            self._control.give_back(session, watcher, str(body.get("note", "")))
        else:
            events: object = body.get("events")
            if not isinstance(events, list):
                raise _RequestFailed(400, "The input is not understood.")
            try:
                await self._control.act(session, watcher, cast("list[Any]", events))
            except FootlightError as error:
                raise _RequestFailed(409, self._journal.redactor.text(error.message)) from None
            except Error:
                raise _RequestFailed(409, "The page did not accept the input.") from None
        self._journal.touch()
        return _json({"ok": True})

    def _session(self, id: str, visitor: _Visitor) -> Session:
        """Return the session. A session that the visitor may not see is reported as missing."""
        for session in visitor.filter_sessions(self._sessions()):
            if session.id == id:
                return session
        ended = self._journal.find_ended(id)
        if ended is not None and visitor.may_see(id, ended.owner):
            crashed = ended.reason == "crashed"
            raise _RequestFailed(
                410, "The browser of the session crashed." if crashed else f"The session {ended.reason}."
            )
        raise _RequestFailed(404, "There is no such session.")


def _check_sender(access_control: AccessControl, headers: Headers) -> None:
    refusal = refuse_sender(access_control, headers)
    if refusal is not None:
        raise _RequestFailed(refusal.status, refusal.message)


async def _wait_until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _body(receive: Receive) -> Mapping[str, Any]:
    body = bytearray()
    while True:
        async with asyncio.timeout(SEND_SECONDS):
            message = await receive()
        if message["type"] == "http.disconnect":
            raise _RequestFailed(400, "The request ended before its body was complete.")
        body += message.get("body", b"")
        if len(body) > MAX_BODY:
            raise _RequestFailed(413, "The request is too large.")
        if not message.get("more_body", False):
            break
    try:
        value: object = json.loads(body)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise _RequestFailed(400, "The input is not understood.")
    return cast("dict[str, Any]", value)


def _count(query: QueryParams, name: str) -> int:
    text = query.get(name, "0")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else 0


def _json(value: Mapping[str, Any], status: int = 200) -> Response:
    body = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
    return Response(body, status, headers=_HEADERS, media_type="application/json")


@cache
def _asset(path: str) -> Response:
    name, kind = _ASSETS[path]
    data = files("footlight.watch").joinpath("assets", name).read_bytes()
    return Response(data, headers=_HEADERS, media_type=kind)
