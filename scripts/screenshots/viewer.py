"""Start Footlight as an MCP server, call its tools, and let its browser show our own pages."""

from __future__ import annotations

import base64
import logging
import re
import sys
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any

from footlight.client.transports.stdio import Stdio
from footlight.sync import MCPClient
from scripts.local_server import serve

__all__ = ["Browser", "find_ref", "open_browser", "serve_pages"]

CALL_LIMIT_MS = 60_000
OUTPUT_LIMIT_S = 30


class Browser:
    """Calls the tools of a server in its default session."""

    def __init__(self, client: MCPClient, output: _Output) -> None:
        self._client = client
        self._output = output

    def call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return its structured answer.

        Raises:
            ToolInvocationError: the tool failed.
        """
        return self._client.call_tool(tool, arguments).structured_content or {}

    def observe(self, tool: str, /, **arguments: Any) -> str:
        """Call a tool and return what its answer says about the page.

        Raises:
            ToolInvocationError: the tool failed.
        """
        return self.call(tool, **arguments)["observation"]["text"]

    def screenshot(self, selector: str | None = None) -> bytes:
        """Return a screenshot of the page, or of the first element that matches, as PNG."""
        tool, arguments = ("screenshot_element", {"selector": selector}) if selector else ("screenshot", {})
        content = self._client.call_tool(tool, arguments).content
        return next(base64.b64decode(item.data) for item in content if item.type == "image" and item.data)

    def find_output(self, pattern: str) -> re.Match[str]:
        """Wait until a line of the server's standard error matches.

        Raises:
            TimeoutError: no line does.
        """
        return self._output.find(pattern)


@contextmanager
def open_browser(*flags: str, size: tuple[int, int] | None = None) -> Generator[Browser]:
    """Start a server on standard input and output, with pages of this size if it is given."""
    server = Stdio(
        sys.executable, ("-m", "footlight", "serve", "--log-level", "error", "--tools", "all", *flags)
    )
    with _server_output() as output, MCPClient(server, timeout_ms=CALL_LIMIT_MS) as client:
        browser = Browser(client, output)
        if size is not None:
            browser.call("emulate", viewport={"width": size[0], "height": size[1]})
        yield browser


@contextmanager
def _server_output() -> Generator[_Output]:
    """Collect what the client logs of the server's standard error."""
    logger = logging.getLogger("footlight.client.stdio")
    output, level, propagate = _Output(), logger.level, logger.propagate
    logger.addHandler(output)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    try:
        yield output
    finally:
        logger.removeHandler(output)
        logger.setLevel(level)
        logger.propagate = propagate


class _Output(logging.Handler):
    """Keeps lines, which another thread waits for."""

    def __init__(self) -> None:
        super().__init__()
        self._lines: list[str] = []
        self._changed = threading.Condition()

    def emit(self, record: logging.LogRecord) -> None:
        with self._changed:
            self._lines.append(record.getMessage())
            self._changed.notify_all()

    def find(self, pattern: str) -> re.Match[str]:
        def search() -> re.Match[str] | None:
            return next(filter(None, (re.search(pattern, line) for line in self._lines)), None)

        with self._changed:
            found = self._changed.wait_for(search, OUTPUT_LIMIT_S)
        if found is None:
            raise TimeoutError(f"The server printed no line like {pattern}: {self._lines}")
        return found


@contextmanager
def serve_pages(pages: Mapping[str, str | bytes], host: str = "127.0.0.1") -> Generator[str]:
    """Serve HTML (texts) and pictures (bytes) by their paths, and yield the URL without its last slash.

    Names that end with `.localhost` are loopback addresses in every browser.
    """

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            content = pages.get(self.path)
            self.send_response(200 if content is not None else 404)
            html = isinstance(content, str)
            self.send_header("Content-Type", "text/html; charset=utf-8" if html else "image/png")
            self.end_headers()
            self.wfile.write(content.encode() if isinstance(content, str) else content or b"")

        def log_message(self, format: str, *args: Any) -> None:
            """Log nothing."""

    with serve(Page, host=host) as url:
        yield url


def find_ref(tree: str, words: str) -> str:
    """Return the ref of the first element in a snapshot with this role and name: `link "Offers"`.

    The role may be left out there, in rows and lists of similar controls.

    Raises:
        LookupError: there is none.
    """
    name = re.escape(words.partition(" ")[2])
    found = re.search(rf"(e\d+) {re.escape(words)}", tree) or re.search(rf"(e\d+) {name}", tree)
    if found is None:
        raise LookupError(f"{words} is not on the page:\n{tree}")
    return found[1]
