"""Find the server that a person wants to watch, and send it HTTP requests."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import click

__all__ = ["WatchedServer", "find_watched_server", "server_options"]

ASK_SECONDS = 30.0


class NoServer(click.ClickException):
    """No server is running, or it does not answer."""

    exit_code = 3


def server_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that name a server."""
    token = click.option(
        "--token-file",
        type=click.Path(dir_okay=False, exists=True),
        help="File whose first line is the token. Default: FOOTLIGHT_TOKEN.",
    )
    url = click.option("--url", help="URL of a server with --transport http, such as http://localhost:8931.")
    return url(token(command))


@dataclass(frozen=True, slots=True)
class WatchedServer:
    """A server by the URL of its listener, without a path."""

    url: str
    token: str | None

    @property
    def page(self) -> str:
        # Browsers do not send the fragment of a URL.
        return f"{self.url}/watch" + (f"#token={self.token}" if self.token else "")

    def get(self, path: str, **query: str) -> tuple[int, str]:
        """Return the status and the text of an answer.

        Raises:
            NoServer: The server cannot be reached.
        """
        import httpx2

        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        try:
            answer = httpx2.get(
                f"{self.url}/watch/api/{path}?{urlencode(query)}", headers=headers, timeout=ASK_SECONDS
            )
        except httpx2.HTTPError as error:
            raise NoServer(f"{self.url} cannot be reached: {error}") from None
        return answer.status_code, answer.text


def find_watched_server(url: str | None, token_file: str | None, *, start: bool) -> WatchedServer:
    """Return the server at a URL, or the background server. With `start`, start it if necessary.

    Raises:
        NoServer: No server is running.
    """
    token = Path(token_file).read_text("utf-8").split("\n")[0].strip() if token_file else None
    if url is not None:
        return WatchedServer(_origin(url), token or os.environ.get("FOOTLIGHT_TOKEN"))
    from footlight.daemon.errors import DaemonError
    from footlight.daemon.folder import find_folder
    from footlight.daemon.running import find_running
    from footlight.daemon.starting import ensure_running
    from footlight.daemon.state import TOKEN

    folder = find_folder(os.environ)
    try:
        state = ensure_running(folder, ())[0] if start else find_running(folder)
    except DaemonError as error:
        raise NoServer(f"{error.message}\n{error.suggestion}".rstrip()) from None
    if state is None:
        raise NoServer("No background server is running. Name another one with --url.")
    file = folder / TOKEN
    if token is None and file.exists():
        token = file.read_text("utf-8").strip()
    return WatchedServer(_origin(state.url), token)


def _origin(url: str) -> str:
    parts = urlsplit(url if "://" in url else f"http://{url}")
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise click.BadParameter(f"{url} is not an http or https URL of a server", param_hint="--url")
    return f"{parts.scheme}://{parts.netloc}"
