"""The local endpoint: the socket on which commands of the same user reach the server."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import platform
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import socket

    from mcp.server import Server

    from footlight.caller import Caller
    from footlight.config import Settings
    from footlight.transports.activity import ActivityTracker

__all__ = [
    "Backend",
    "LocalEndpoint",
    "bind_local_endpoint",
    "ensure_token",
    "name_commands",
    "serve_local_endpoint",
]

LOCK_SECONDS = 1.0
"""The time limit for a command that only looks whether the lock is taken."""


class Backend(Protocol):
    """Answers transports about sessions: the engine of this process, or the workers of a cluster."""

    async def why_not_ready(self) -> str | None: ...

    @property
    def session_count(self) -> int: ...

    async def leave(self, principal: str) -> None:
        """End all sessions of a principal that will not return."""
        ...

    def disconnect(self, caller: Caller) -> None: ...


@dataclass(frozen=True)
class LocalEndpoint:
    """The socket for commands of the same user, and the command line of the server."""

    listener: socket.socket
    folder: Path
    command: Sequence[str]
    token: str | None
    lock: int
    """The descriptor of the lock of the folder, which is held while commands can find this server."""


def ensure_token(settings: Settings) -> tuple[Settings, str | None]:
    """Return settings with a token, and the token if it was generated here.

    A server with a local endpoint always requires a token, because other users of this machine must not call
    it.
    """
    listen = settings.listen
    if not settings.daemon.local or settings.token or listen.token_file or listen.token_verifier:
        return settings, None
    from secrets import token_urlsafe

    from pydantic import SecretStr

    token = token_urlsafe(32)
    return settings.model_copy(update={"token": SecretStr(token)}), token


def bind_local_endpoint(settings: Settings, command: Sequence[str], token: str | None) -> LocalEndpoint:
    """Bind the socket, and take the lock that makes this process the server of its folder.

    Raises:
        ConfigurationError: the folder has a server, which may not answer, or it cannot be used.
    """
    from footlight.daemon.errors import DaemonError
    from footlight.daemon.folder import SERVER_LOCK, ensure_daemon_folder, find_folder, lock_folder
    from footlight.daemon.state import read_state
    from footlight.daemon.stopping import find_process
    from footlight.errors import ConfigurationError
    from footlight.transports.local import bind_local

    try:
        folder = ensure_daemon_folder(settings.daemon.dir or find_folder(os.environ))
        lock = lock_folder(folder, SERVER_LOCK, seconds=LOCK_SECONDS)
        state = read_state(folder)
    except DaemonError as error:
        message = f"setting 'daemon.dir': {error.message}"
        raise ConfigurationError(message, suggestion=error.suggestion) from None
    # Servers of earlier versions have no lock.
    pid = state.pid if state and find_process(state) else None
    if lock is None or pid is not None:
        runs = f"runs in {folder} already, as process {pid}" if pid else f"is starting in {folder} already"
        raise ConfigurationError(
            f"setting 'daemon.local': a server {runs}",
            suggestion="Stop it with `footlight daemon stop`, or name another folder.",
        )
    return LocalEndpoint(bind_local(folder), folder, command, token, lock)


@contextlib.asynccontextmanager
async def serve_local_endpoint(
    local: LocalEndpoint,
    settings: Settings,
    backend: Backend,
    server: Server[Any],
    url: str,
    stop: asyncio.Event,
    tracker: ActivityTracker,
    *,
    tools: list[dict[str, Any]],
    on_drain: Callable[[], None],
) -> AsyncGenerator[None]:
    """Listen on the local socket, and write its address to the state file, where commands find it."""
    from footlight.daemon.state import forget_state, make_state, write_state
    from footlight.transports.local import Read, Write, serve_local

    async def serve_connection(read: Read, write: Write, caller: Caller) -> None:
        try:
            await server.run(read, write, server.create_initialization_options())
        finally:
            if not caller.default_outlives_connection:
                await asyncio.shield(backend.leave(caller.principal))

    def facts() -> dict[str, int]:
        return {"clients": clients.count, "sessions": backend.session_count}

    state = make_state(f"{url}/mcp", local.listener.getsockname(), command=local.command)
    async with serve_local(
        local.listener,
        nonce=state.nonce,
        serve_connection=serve_connection,
        commands=name_commands(local.folder, is_cluster=settings.cluster.address is not None),
        facts=facts,
        on_stop=stop.set,
        on_drain=on_drain,
        track_activity=tracker,
        max_requests=settings.listen.max_requests,
        shutdown_seconds=settings.listen.shutdown_timeout / 1000,
    ) as clients:
        write_state(local.folder, state, tools=tools, token=local.token)
        try:
            yield
        finally:
            forget_state(local.folder, state)
            os.close(local.lock)


def name_commands(folder: Path, *, is_cluster: bool) -> str:
    """Return the principal of the commands of this user, also of those after a restart of the server.

    The servers of a cluster share their sessions, but not those of the commands on each one's machine.
    """
    if not is_cluster:
        return "local:commands"
    identity = f"{platform.node()}\0{folder}"
    return f"local:commands:{hashlib.sha256(identity.encode()).hexdigest()[:32]}"
