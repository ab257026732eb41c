"""Serve the large files of workers below `/files/`, in parts, to callers with the token of `/mcp`."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar, TypeVarTuple
from urllib.parse import quote

from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response, StreamingResponse

from footlight.cluster.ray_api import ActorLostError
from footlight.cluster.worker import Worker
from footlight.transports.network.access import AccessControl, Refusal

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from footlight.caller import Caller
    from footlight.cluster.fleet.fleet import Fleet
    from footlight.cluster.fleet.known_worker import KnownWorker

__all__ = ["FileSite"]

logger = logging.getLogger(__name__)

ArgumentsT = TypeVarTuple("ArgumentsT")
ResultT = TypeVar("ResultT")

PATH = "/files/"
PART_BYTES = 1 << 20
"""How much of a file is in the memory of the server at a time."""
ANSWER_SECONDS = 15.0
"""How long a worker may take for a part of a file."""
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "X-Content-Type-Options": "nosniff",
}


class _FileLostError(Exception):
    """The rest of a file cannot be read: its session has ended, or its worker."""


class FileSite:
    """Finds the worker of a file by its link, and passes the file on."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet
        self.address: str | None = None
        """The URL below which the files are, as soon as the server listens."""

    def set_address(self, url: str) -> None:
        """Set the URL of the listener that serves the files, without a path."""
        self.address = url + PATH.rstrip("/")

    def make_site(self, access_control: AccessControl) -> _Site:
        """Return the site for a listener with this access control."""
        return _Site(self, access_control)

    async def answer(self, path: str, caller: Caller, *, with_body: bool) -> ASGIApp:
        """Return the file of a path below `PATH`, or a response that says why there is none."""
        id = path.partition("/")[0]
        worker = self._fleet.find(id.partition(".")[0])
        try:
            facts = worker and await _ask(worker, Worker.describe_file, id, caller)
        except (ActorLostError, TimeoutError):
            return _fail(503, "The worker that has the file does not answer.")
        if worker is None or facts is None:
            return _fail(404, "There is no such file. The link of a file ends with its session.")
        headers = {
            **_HEADERS,
            "Content-Disposition": f"attachment; filename*=UTF-8''{quote(facts.name, safe='')}",
            "Content-Length": str(facts.bytes),
        }
        parts = _read_parts(worker, id, caller, facts.bytes if with_body else 0)
        return StreamingResponse(parts, headers=headers, media_type=facts.mime_type)


class _Site:
    def __init__(self, files: FileSite, access_control: AccessControl) -> None:
        self._files = files
        self._access_control = access_control

    def owns(self, path: str) -> bool:
        return path.startswith(PATH)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = await self._answer(scope)
        try:
            await answer(scope, receive, send)
        except _FileLostError as error:
            # The connection closes before the announced length, so that the client notices.
            logger.warning("a file could not be sent to its end: %s", error)

    async def _answer(self, scope: Scope) -> ASGIApp:
        headers = Headers(scope=scope)
        if any(len(headers.getlist(name)) > 1 for name in ("host", "origin", "authorization")):
            return _fail(400, "A header occurs more than once.")
        checked = await self._access_control.check(headers)
        if isinstance(checked, Refusal):
            return _fail(checked.status, checked.message, **checked.headers)
        if scope["method"] not in ("GET", "HEAD"):
            return _fail(405, "Files are only read.", Allow="GET, HEAD")
        path, caller = scope["path"].removeprefix(PATH), checked.caller(None)
        return await self._files.answer(path, caller, with_body=scope["method"] == "GET")


async def _read_parts(worker: KnownWorker, id: str, caller: Caller, size: int) -> AsyncGenerator[bytes]:
    """Yield `size` bytes of a file. The next part is read when the client has taken the last one."""
    start = 0
    while start < size:
        try:
            part = await _ask(worker, Worker.read_file, id, caller, start, min(PART_BYTES, size - start))
        except (ActorLostError, TimeoutError):
            raise _FileLostError(f"worker {worker.name} does not answer") from None
        if not part:
            raise _FileLostError("it has ended")
        yield part
        start += len(part)


async def _ask(
    worker: KnownWorker,
    method: Callable[[Worker, *ArgumentsT], Coroutine[Any, Any, ResultT]],
    *arguments: *ArgumentsT,
) -> ResultT:
    async with asyncio.timeout(ANSWER_SECONDS):
        return await worker.actor.call(method, *arguments)


def _fail(status: int, message: str, **headers: str) -> Response:
    return JSONResponse({"error": message}, status, headers={**_HEADERS, **headers})
