"""Serve the trace viewer of the Playwright package for recorded traces, below the watch page.

A browser requests the viewer and its files without a token in a header, so the path of an opened trace
contains a random token. The viewer shows the pages of a trace without their scripts.
"""

from __future__ import annotations

import contextlib
import secrets
import socket
import zipfile
from collections.abc import AsyncGenerator
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from starlette.responses import FileResponse, Response

from footlight.watch.watchers import find_oldest_of_most, refuse_sender

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

__all__ = ["InvalidTraceError", "TraceViewer", "serve_trace"]

PREFIX = "/watch/trace/"
TRACE = "trace.zip"
LOOPBACK = "127.0.0.1"
MAX_OPENED = 50
TYPES = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
    ".ttf": "font/ttf",
    ".webmanifest": "application/manifest+json",
}
HEADERS = {
    "Cache-Control": "no-store",
    # All resources come from this server. Inline scripts and styles belong to the viewer. Its service worker
    # applies a stricter policy to the pages of a trace.
    "Content-Security-Policy": (
        "default-src 'self' data: blob:; script-src 'self' 'unsafe-inline'; "
        "style-src 'self' 'unsafe-inline'; "
        "connect-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class InvalidTraceError(Exception):
    """The trace cannot be opened."""


class TraceViewer:
    """Serves opened traces, each below a separate path. The latest ones stay open until the server ends."""

    def __init__(self) -> None:
        self._opened: dict[str, Path] = {}
        self._owners: dict[str, str] = {}

    def open(self, trace: Path, *, owner: str = "") -> str:
        """Open a trace, and return the path and the query of its URL.

        If there are too many traces, one of the owner with the most is closed.

        Raises:
            InvalidTraceError: the file is missing or not a trace, or Playwright has no trace viewer.
        """
        if trace.is_symlink() or not trace.is_file():
            raise InvalidTraceError(f"The file {trace.name} no longer exists.")
        if not _is_trace(trace):
            raise InvalidTraceError(f"The file {trace.name} is not a trace of Playwright.")
        if not _viewer_files():
            raise InvalidTraceError("The installed Playwright package has no trace viewer.")
        token = secrets.token_urlsafe(32)
        self._opened[token], self._owners[token] = trace, owner
        while len(self._opened) > MAX_OPENED:
            oldest = find_oldest_of_most(self._owners)
            del self._opened[oldest], self._owners[oldest]
        return f"{PREFIX}{token}/index.html?trace={PREFIX}{token}/{TRACE}"

    def owns(self, path: str) -> bool:
        return path.startswith(PREFIX)

    def find(self, path: str) -> Response | None:
        """Return the response for a path below `PREFIX`, or None if there is no such file or trace."""
        token, _, name = path.removeprefix(PREFIX).partition("/")
        trace = self._opened.get(token)
        if trace is None:
            return None
        if name == TRACE:
            if trace.is_symlink() or not trace.is_file():
                return None
            return FileResponse(trace, headers=HEADERS, media_type="application/zip")
        file = _viewer_files().get(name)
        if file is None:
            return None
        return Response(file.read_bytes(), headers=HEADERS, media_type=TYPES.get(file.suffix))


@contextlib.asynccontextmanager
async def serve_trace(trace: Path) -> AsyncGenerator[str]:
    """Serve the viewer for one trace on a free loopback port, and yield the URL.

    Raises:
        InvalidTraceError: what `TraceViewer.open` raises.
    """
    from footlight.config import ListenSettings
    from footlight.transports.network.access import AccessControl
    from footlight.transports.network.http_server import serve_app

    viewer = TraceViewer()
    path = viewer.open(trace)
    access_control = AccessControl(bound=LOOPBACK)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        refusal = refuse_sender(access_control, Headers(scope=scope))
        response = viewer.find(scope["path"]) if scope["method"] in ("GET", "HEAD") else None
        if refusal is not None:
            response = Response(refusal.message, refusal.status)
        await (response or Response("There is no such trace.", 404))(scope, receive, send)

    async with serve_app(app, socket.create_server((LOOPBACK, 0)), ListenSettings()) as url:
        yield url + path


@cache
def _viewer_files() -> dict[str, Path]:
    """Return the files of the viewer by path.

    Requested paths are only looked up here, so no others are served.
    """
    folder = Path(str(files("playwright"))) / "driver/package/lib/vite/traceViewer"
    return {file.relative_to(folder).as_posix(): file for file in folder.rglob("*") if file.is_file()}


def _is_trace(file: Path) -> bool:
    try:
        with zipfile.ZipFile(file) as archive:
            return any(name.endswith(".trace") for name in archive.namelist())
    except (OSError, zipfile.BadZipFile):
        return False
