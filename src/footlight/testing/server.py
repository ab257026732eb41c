"""The server that a test's options name."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import cast

import pytest

from footlight.client.target import transport_for
from footlight.client.transports.stdio import Stdio
from footlight.testing.options import Options

__all__ = ["runs_already", "server_of"]

OURS = "footlight serve"


def server_of(options: Options, *, of_module: object = None, profiles: Path) -> object:
    """What `MCPClient` takes. `of_module` is what a generated module was made from.

    Profiles of sessions that nobody named are put into `profiles`: a test must not find what one before it
    left there.

    Raises:
        pytest.UsageError: the browser is to be shown, and its server is none that can be told so.
    """
    server = options.server or of_module or OURS
    if isinstance(server, str) and "://" in server.strip().partition(" ")[0]:
        if options.headed:
            raise pytest.UsageError(f"--mcp-headed: {server}: it runs already; start it with --headed")
        return transport_for(server, headers=options.headers)
    if options.headers:
        raise pytest.UsageError("--mcp-header is for a server with a URL")
    if not isinstance(server, (str, Sequence)):
        return server
    try:
        words = shlex.split(server) if isinstance(server, str) else list(cast("Sequence[str]", server))
    except ValueError as error:
        raise pytest.UsageError(f"--mcp-server: {error} in {server!r}") from None
    if not _is_ours(words):
        if options.headed:
            raise pytest.UsageError(
                f"--mcp-headed: {words[0]} is no server of ours; put an option of its own into --mcp-server"
            )
        return Stdio(words[0], tuple(words[1:]), cwd=options.folder)
    if words[0] == "footlight":
        words[:1] = [sys.executable, "-m", "footlight"]  # Whether it is in the PATH or not.
    if options.headed:
        words.append("--headed")
    if options.session is None and "szkrabok" in words and "--sessions-dir" not in words:
        words += ["--sessions-dir", str(profiles)]
    return Stdio(words[0], tuple(words[1:]), cwd=options.folder)


def runs_already(server: object) -> bool:
    """Whether the test does not start what `server_of` gave, so that it goes on after it."""
    return not isinstance(server, Stdio)


def _is_ours(words: Sequence[str]) -> bool:
    if not words:
        raise pytest.UsageError("--mcp-server: the command is empty")
    return PurePath(words[0]).stem == "footlight" or list(words[1:3]) == ["-m", "footlight"]
