"""Create the transport for the target of a client."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from footlight.protocol.errors import MCPError
from footlight.protocol.untrusted_json import object_or_none

if TYPE_CHECKING:
    import httpx2

    from footlight.protocol.channel import Transport

__all__ = ["transport_for", "transport_from_config"]

_VARIABLE = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^${}]*))?\}")
_KEYS = frozenset(("mcpServers", "servers"))
_URL_TYPES = ("http", "streamable-http", "streamable_http", "streamablehttp", "ws", "websocket")


def transport_for(
    target: object,
    *,
    headers: Mapping[str, str] | None = None,
    auth: httpx2.Auth | None = None,
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
) -> Transport:
    """Return a transport for the target. `headers` and `auth` are for URLs, `env` and `cwd` for commands.

    A mapping with `mcpServers` is a configuration with one server. See `transport_from_config`.

    Raises:
        MCPError: the target is not valid, or an option does not fit it (`invalid`).
    """
    if isinstance(target, str) and "://" in target.strip().partition(" ")[0]:
        _refuse({"env": env, "cwd": cwd}, "a URL")
        return _network(target.strip(), headers, auth)
    if isinstance(target, (str, Sequence)):
        _refuse({"headers": headers, "auth": auth}, "a command")
        return _command(cast("str | Sequence[str]", target), env, cwd)
    _refuse({"headers": headers, "auth": auth, "env": env, "cwd": cwd}, "a transport")
    config = object_or_none(target)
    if config is not None and not _KEYS.isdisjoint(config):
        return transport_from_config(config)
    if hasattr(target, "open") and hasattr(target, "where"):
        return cast("Transport", target)
    if not (callable(target) or hasattr(target, "run")):
        raise MCPError(f"target: a {type(target).__name__} is not supported", reason="invalid")
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
        f"target: {scheme}:// is not supported; give http(s)://, ws(s):// or a command",
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
        raise MCPError("target: the words of a command must be strings", reason="invalid")
    if not words or not words[0]:
        raise MCPError("target: the command is empty; give a command line or a URL", reason="invalid")
    if words[0] == "footlight" and not _is_in_path("footlight", env):
        # The command is not in the PATH if the virtual environment is not activated.
        words[:1] = [sys.executable, "-m", "footlight"]
    return Stdio(words[0], tuple(words[1:]), env=env, cwd=cwd)


def transport_from_config(
    config: Mapping[str, Any], server: str | None = None, *, environ: Mapping[str, str] | None = None
) -> Transport:
    """Return a transport for a server in a configuration such as `.mcp.json`, parsed from JSON.

    `config` is an object with `mcpServers` or `servers`. `server` names an entry, and may be left out if only
    one entry is not `disabled`. An entry has a `command` with `args`, `env` and `cwd`, or a `url` with
    `headers`; other keys are ignored. The entry's `env` is added to `environ`, which is `os.environ` by
    default. `${NAME}` and `${NAME:-default}` in an entry are replaced by variables of `environ`.

    Raises:
        MCPError: there is no such server, or its entry has no usable command or URL (`invalid`).
    """
    name, entry = _entry_of(config, server)
    environ = os.environ if environ is None else environ
    texts = _ConfigEntry(name, entry, environ)
    kind = texts.text("type") or texts.text("transport")
    if kind is not None and kind.lower() == "sse":
        raise texts.refusal(
            "type", "the transport sse, of 2024, is not supported; give the URL of Streamable HTTP"
        )
    command, url = texts.text("command"), texts.text("url")
    if (command is None) == (url is None):
        raise texts.refusal("command", "an entry has either a command or a url")
    if kind is not None and kind.lower() not in (("stdio", "local") if url is None else _URL_TYPES):
        raise texts.refusal("type", f"{kind!r:.40} does not fit the rest of the entry")
    if url is not None:
        if "://" not in url:
            raise texts.refusal("url", "must be a URL")
        return transport_for(url, headers=texts.mapping("headers"))
    env = texts.mapping("env")
    return transport_for(
        [command, *texts.list("args")],
        env=None if env is None else {**environ, **env},
        cwd=texts.text("cwd"),
    )


def _entry_of(config: Mapping[str, Any], server: str | None) -> tuple[str, Mapping[str, Any]]:
    """Return the name and the entry of the chosen server."""
    servers = object_or_none(config.get("mcpServers", config.get("servers")))
    if servers is None:
        raise MCPError("config: must have an object `mcpServers`", reason="invalid")
    enabled = [name for name in servers if not (object_or_none(servers[name]) or {}).get("disabled")]
    if server is None and len(enabled) == 1:
        server = enabled[0]
    names = ", ".join(map(repr, servers)) or "none"
    if server is None:
        raise MCPError(f"server: name one of those in `mcpServers`: {names:.200}", reason="invalid")
    entry = object_or_none(servers.get(server))
    if entry is None:
        raise MCPError(
            f"server: there is no {server!r:.60} in `mcpServers`, only: {names:.200}", reason="invalid"
        )
    return server, entry


class _ConfigEntry:
    """Reads an entry and replaces its variables. Errors do not show values, which may be secret."""

    def __init__(self, name: str, entry: Mapping[str, Any], environ: Mapping[str, str]) -> None:
        self._name = name
        self._entry = entry
        self._environ = environ

    def refusal(self, key: str, why: str) -> MCPError:
        return MCPError(f"{self._name:.60}: {key}: {why}", reason="invalid")

    def text(self, key: str) -> str | None:
        value = self._entry.get(key)
        return None if value is None else self._fill_variables(key, value)

    def list(self, key: str) -> Sequence[str]:
        values = self._entry.get(key)
        if values is None:
            return ()
        if not isinstance(values, (list, tuple)):
            raise self.refusal(key, "must be a list of texts")
        return [self._fill_variables(key, value) for value in cast("Sequence[object]", values)]

    def mapping(self, key: str) -> Mapping[str, str] | None:
        values = self._entry.get(key)
        if values is None:
            return None
        if not isinstance(values, Mapping):
            raise self.refusal(key, "must map names to texts")
        entries = cast("Mapping[str, object]", values).items()
        return {name: self._fill_variables(f"{key}.{name}", value) for name, value in entries}

    def _fill_variables(self, key: str, value: object) -> str:
        if not isinstance(value, str):
            raise self.refusal(key, "must be text")

        def fill(found: re.Match[str]) -> str:
            variable, default = found.groups()
            value = self._environ.get(variable)
            if default is not None:
                return value or default
            if value is None:
                raise self.refusal(key, f"the environment variable {variable:.60} is not set")
            return value

        if "${input:" in value:
            raise self.refusal(key, "asks for an input of an editor; name an environment variable instead")
        return _VARIABLE.sub(fill, value)


def _is_in_path(command: str, env: Mapping[str, str] | None) -> bool:
    import shutil

    return shutil.which(command, path=(os.environ if env is None else env).get("PATH")) is not None


def _refuse(options: Mapping[str, Any], what: str) -> None:
    for name, value in options.items():
        if value is not None:
            raise MCPError(f"{name}: {what} has none; leave it out", reason="invalid")
