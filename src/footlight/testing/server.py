"""Choose the server for a test run from its options."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, cast

import pytest

from footlight.client.target import transport_for
from footlight.client.transports.stdio import Stdio
from footlight.testing.options import Options
from footlight.toolsets import find_toolset_class

if TYPE_CHECKING:
    from footlight.server.toolset import Toolset

__all__ = ["choose_server", "find_toolset", "is_external", "is_footlight_command"]

DEFAULT_SERVER = "footlight serve"


def choose_server(options: Options, *, of_module: object = None, profiles: Path) -> object:
    """Return the server to connect to, as a value that `MCPClient` accepts.

    `of_module` is the server of a generated module. `profiles` is the folder for the profiles of the tests'
    sessions, so that a test does not find the state of an earlier run.

    Raises:
        pytest.UsageError: an option does not apply to the server.
    """
    server = options.server or of_module or DEFAULT_SERVER
    if isinstance(server, str) and "://" in server.strip().partition(" ")[0]:
        if options.headed:
            raise pytest.UsageError(
                "--mcp-headed does not apply to a server with a URL, which is already running; "
                "start it with --headed"
            )
        return transport_for(server, headers=options.headers)
    if options.headers:
        raise pytest.UsageError("--mcp-header is for a server with a URL")
    if not isinstance(server, (str, Sequence)):
        return server
    try:
        words = shlex.split(server) if isinstance(server, str) else list(cast("Sequence[str]", server))
    except ValueError as error:
        raise pytest.UsageError(f"--mcp-server: {error} in {server!r}") from None
    if not is_footlight_command(words):
        if options.headed:
            raise pytest.UsageError(
                f"--mcp-headed does not apply to {words[0]}; add an option of that server to --mcp-server"
            )
        return Stdio(words[0], tuple(words[1:]), cwd=options.folder)
    if words[0] == "footlight":
        words[:1] = [sys.executable, "-m", "footlight"]  # The command `footlight` may not be in the PATH.
    if options.headed:
        words.append("--headed")
    toolset = find_toolset(words)
    if (
        options.session is None
        and toolset is not None
        and toolset.named_sessions
        and _find_option(words, "--sessions-dir") is None
    ):
        words += ["--sessions-dir", str(profiles)]
    return Stdio(words[0], tuple(words[1:]), cwd=options.folder)


def is_external(server: object) -> bool:
    """Return whether the server is not started by the tests, so that it keeps running after them."""
    return not isinstance(server, Stdio)


def find_toolset(words: Sequence[str]) -> type[Toolset] | None:
    """Return the class of the toolset in a `footlight serve` command, or None without `--toolset`."""
    name = _find_option(words, "--toolset")
    return find_toolset_class(name) if name else None


def _find_option(words: Sequence[str], option: str) -> str | None:
    """Return the last value of an option in a command, or None."""
    found = None
    for word, following in zip(words, (*words[1:], None), strict=True):
        if word == option:
            found = following
        elif word.startswith(f"{option}="):
            found = word.removeprefix(f"{option}=")
    return found


def is_footlight_command(words: Sequence[str]) -> bool:
    if not words:
        raise pytest.UsageError("--mcp-server: the command is empty")
    return PurePath(words[0]).stem == "footlight" or list(words[1:3]) == ["-m", "footlight"]
