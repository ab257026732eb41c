"""What a client is told to reach becomes a transport."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from footlight.client.errors import MCPError

if TYPE_CHECKING:
    import httpx2

    from footlight.client.channel import Transport

__all__ = ["transport_for"]


def transport_for(
    target: object,
    *,
    headers: Mapping[str, str] | None = None,
    auth: httpx2.Auth | None = None,
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
) -> Transport:
    """The transport that reaches it. `headers` and `auth` are for URLs, `env` and `cwd` for commands.

    Raises:
        MCPError: it names nothing, or an option does not fit it (`invalid`).
    """
    if isinstance(target, str) and "://" in target.strip().partition(" ")[0]:
        _refuse({"env": env, "cwd": cwd}, "a URL")
        return _network(target.strip(), headers, auth)
    if isinstance(target, (str, Sequence)):
        _refuse({"headers": headers, "auth": auth}, "a command")
        return _command(cast("str | Sequence[str]", target), env, cwd)
    _refuse({"headers": headers, "auth": auth, "env": env, "cwd": cwd}, "a transport")
    if hasattr(target, "open") and hasattr(target, "where"):
        return cast("Transport", target)
    if not (callable(target) or hasattr(target, "run")):
        raise MCPError(f"target: there is no way to a {type(target).__name__}", reason="invalid")
    from footlight.client.transports.memory import InMemory

    return InMemory(cast("Any", target))


def _network(url: str, headers: Mapping[str, str] | None, auth: httpx2.Auth | None) -> Transport:
    scheme = url.partition("://")[0].lower()
    if scheme in ("http", "https"):
        from footlight.client.transports.http import StreamableHTTP

        return StreamableHTTP(url, headers=headers or {}, auth=auth)
    if scheme in ("ws", "wss"):
        from footlight.client.transports.websocket import WebSocket

        _refuse({"auth": auth}, "a WebSocket")
        return WebSocket(url, headers=headers or {})
    raise MCPError(
        f"target: {scheme}:// is no way to reach a server; give http(s)://, ws(s):// or a command",
        reason="invalid",
    )


def _command(target: str | Sequence[str], env: Mapping[str, str] | None, cwd: str | None) -> Transport:
    import shlex

    from footlight.client.transports.stdio import Stdio

    try:
        words = shlex.split(target) if isinstance(target, str) else list(target)
    except ValueError as error:
        raise MCPError(f"target: {error} in the command line", reason="invalid") from None
    if not all(isinstance(word, str) for word in cast("list[object]", words)):
        raise MCPError("target: a command is made of text", reason="invalid")
    if not words or not words[0]:
        raise MCPError("target: the command is empty; give a command line or a URL", reason="invalid")
    if words[0] == "footlight" and not _is_in_path("footlight", env):
        words[:1] = [sys.executable, "-m", "footlight"]  # Of an environment that nobody has activated.
    return Stdio(words[0], tuple(words[1:]), env=env, cwd=cwd)


def _is_in_path(command: str, env: Mapping[str, str] | None) -> bool:
    import shutil

    return shutil.which(command, path=(os.environ if env is None else env).get("PATH")) is not None


def _refuse(options: Mapping[str, Any], what: str) -> None:
    for name, value in options.items():
        if value is not None:
            raise MCPError(f"{name}: {what} has none; leave it out", reason="invalid")
