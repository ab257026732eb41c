"""Serve local files and folders on loopback, so that they can be audited as pages."""

from __future__ import annotations

import functools
import io
import os
import threading
from collections.abc import Generator, Iterable, Sequence
from contextlib import ExitStack, contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, cast
from urllib.parse import quote, unquote, urlsplit

from footlight.cli.usage import InvalidUsageError

__all__ = ["LocalPages", "serve_local_pages"]

MAX_FILES = 10_000
HTML = (".html", ".htm")
LocalPages = tuple[list[str], dict[str, str]]
"""The URLs that replace the files, and the folder of each server by the prefix of its URLs."""


@contextmanager
def serve_local_pages(words: Sequence[str]) -> Generator[LocalPages]:
    """Serve the folders of all words that are files or folders, and yield the URLs.

    A folder is replaced by all `.html` and `.htm` files in it and its subfolders. Other words are yielded
    unchanged.

    Raises:
        InvalidUsageError: a folder contains no HTML file.
    """
    urls: list[str] = []
    sources: dict[str, str] = {}
    servers: dict[Path, str] = {}
    with ExitStack() as stack:
        for word in words:
            path = Path(word)
            if word == "-" or "://" in word or not path.exists():
                urls.append(word)
                continue
            root = (path if path.is_dir() else path.parent).resolve()
            if root not in servers:
                servers[root] = stack.enter_context(_serve(root))
                sources[servers[root]] = _display_path(root)
            files = _pages_below(root) if path.is_dir() else [path.resolve()]
            if not files:
                raise InvalidUsageError(f"{word}: the folder has no .html file")
            urls += [servers[root] + quote(file.relative_to(root).as_posix()) for file in files]
        yield urls, sources


def _pages_below(root: Path) -> list[Path]:
    found = (file for file in root.rglob("*") if file.suffix.lower() in HTML and file.is_file())
    return sorted(file for file in found if not _is_hidden(file.relative_to(root).parent.parts))[:MAX_FILES]


def _is_hidden(parts: Iterable[str]) -> bool:
    return any(part.startswith(".") and part != ".well-known" for part in parts)


def _display_path(root: Path) -> str:
    """Return the path relative to the working directory, or only the name if it is not below that."""
    relative = os.path.relpath(root).replace(os.sep, "/")
    return root.name if relative.startswith("..") else relative


@contextmanager
def _serve(root: Path) -> Generator[str]:
    handler = functools.partial(_FileHandler, directory=str(root))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, name="footlight-local-pages")
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()


class _FileHandler(SimpleHTTPRequestHandler):
    """Serves files. It does not list folders and does not log requests.

    The folder may be the user's home, so hidden files, such as `.env` and `.git/config`, are not served.
    Neither is anything to pages of other hosts, whose names may resolve to this machine.
    """

    def send_head(self) -> io.BytesIO | BinaryIO | None:
        server = cast("ThreadingHTTPServer", self.server)
        parts = PurePosixPath(unquote(urlsplit(self.path).path)).parts
        is_named_page = parts[-1].lower().endswith(HTML) if parts else False
        if self.headers["Host"] != f"127.0.0.1:{server.server_port}" or _is_hidden(
            parts[:-1] if is_named_page else parts
        ):
            self.send_error(404)
            return None
        return super().send_head()

    def list_directory(self, path: Any) -> None:  # noqa: ARG002 - the signature of the class
        self.send_error(404)

    def log_message(self, format: str, *args: Any) -> None:
        pass
