"""An HTTP server on loopback, for scripts that show pages to a browser."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

__all__ = ["QuietFolderHandler", "serve", "serve_folder"]


@contextmanager
def serve(handler: Callable[..., BaseHTTPRequestHandler], *, host: str = "127.0.0.1") -> Generator[str]:
    """Serve requests with this handler, and yield the URL without its last slash."""
    with _QuietServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://{host}:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


class _QuietServer(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: browsers end requests that they do not need any more."""


class QuietFolderHandler(SimpleHTTPRequestHandler):
    """Serves the files of a folder and logs nothing."""

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""


@contextmanager
def serve_folder(folder: Path, handler: type[QuietFolderHandler] = QuietFolderHandler) -> Generator[str]:
    """Serve the files of a folder, and yield the URL without its last slash."""
    with serve(functools.partial(handler, directory=str(folder))) as url:
        yield url
