"""The composition root: settings become a running server, and nothing of it stays when it ends."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import gc
import importlib
import logging
import os
import signal
import sys
import threading
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    import socket

    from mcp.server import Server

    from footlight.browser.changes import Change, OnChange
    from footlight.browser.engine import Engine
    from footlight.config import Settings
    from footlight.server.dispatch import Dispatcher
    from footlight.server.masking import Mask
    from footlight.server.prompts import PromptLibrary
    from footlight.server.secrets import Secrets
    from footlight.server.subscriptions import Subscriptions
    from footlight.server.tool import Tool
    from footlight.transports.gate import Gate

__all__ = ["run"]

logger = logging.getLogger(__name__)

TRANSPORTS = {
    "stdio": "footlight.transports.stdio",
    "http": "footlight.transports.http",
    "websocket": "footlight.transports.websocket_server",
}
ORPHAN_CHECK_SECONDS = 0.5
LAST_SECONDS = 4.5
"""From the wish to stop to the end of the process, whatever hangs."""


def run(settings: Settings) -> int:
    """Serve until the client is gone; the exit status. Does not return where something hangs.

    Raises:
        ConfigurationError: the settings for listening do not fit together, the address is taken, or a tool
            or a secret cannot be as the settings have it.
    """
    # Half of the start is imports, and collecting garbage is a sixth of those.
    gc.disable()
    # What is wrong with any of these is better said now than at the first use.
    secrets = read_secrets(settings)
    if "tools" in settings.model_fields_set:
        offered_tools(settings)
    if settings.prompts.directory is not None:
        make_prompts(settings)
    entrance = None if settings.transport == "stdio" else _entrance(settings)
    try:
        return asyncio.run(_serve(settings, entrance, secrets))
    finally:
        _kill_descendants()


@dataclass(frozen=True)
class Entrance:
    """Where clients come in over a network."""

    listener: socket.socket
    gate: Gate


def _entrance(settings: Settings) -> Entrance:
    from footlight.transports.listener import bind, make_gate
    from footlight.transports.tls import server_ssl

    gate = make_gate(settings)
    server_ssl(settings.listen)  # What is wrong with the files is better said before anything starts.
    return Entrance(bind(settings), gate)


async def _serve(settings: Settings, entrance: Entrance | None, secrets: Secrets | None) -> int:
    from footlight.browser.engine import Engine

    stop, hurry = asyncio.Event(), asyncio.Event()
    _on_signals(lambda: (hurry if stop.is_set() else stop).set())
    news = News()
    engine = Engine(settings, on_change=news, secrets=secrets.values if secrets else ())
    engine.start()
    # The driver starts in its own process while the SDK, which is most of the start, is imported here.
    await asyncio.to_thread(importlib.import_module, "footlight.server.protocol")
    await asyncio.to_thread(importlib.import_module, TRANSPORTS[settings.transport])
    gc.enable()
    gc.freeze()
    if entrance is None:
        serving = asyncio.create_task(_serve_stdio(settings, engine, news, secrets))
        ends = [serving, asyncio.create_task(stop.wait()), asyncio.create_task(_orphaned())]
    else:
        # It ends by itself when it is told to stop, and then finishes what runs.
        serving = asyncio.create_task(_serve_network(settings, engine, news, secrets, entrance, stop))
        ends = [serving, asyncio.create_task(hurry.wait())]
    try:
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
    finally:
        _end_at_last()
        for end in ends[1:]:
            end.cancel()
        await engine.close()
        serving.cancel()
        with contextlib.suppress(asyncio.CancelledError, TimeoutError):
            async with asyncio.timeout(1.0):
                await serving
    logger.info("stopped")
    return 0


def _on_signals(act: Callable[[], None]) -> None:
    for number in (signal.SIGTERM, signal.SIGINT, *((signal.SIGHUP,) if hasattr(signal, "SIGHUP") else ())):
        with contextlib.suppress(NotImplementedError):  # Windows
            asyncio.get_running_loop().add_signal_handler(number, act)


async def _serve_stdio(settings: Settings, engine: Engine, news: News, secrets: Secrets | None) -> None:
    from footlight.transports.stdio import serve_stdio

    server, _ = _make_server(settings, engine, news, secrets)
    async with serve_stdio() as (read, write):
        _say("Playwright MCP Server running on stdio", sys.stderr)
        await server.run(read, write, server.create_initialization_options())


async def _serve_network(
    settings: Settings,
    engine: Engine,
    news: News,
    secrets: Secrets | None,
    entrance: Entrance,
    stop: asyncio.Event,
) -> None:
    server, subscriptions = _make_server(settings, engine, news, secrets)
    listening = _listen_http if settings.transport == "http" else _listen_websocket
    async with listening(settings, engine, entrance, server, on_drain=subscriptions.close) as banner:
        _say(banner, sys.stdout)
        await stop.wait()


@contextlib.asynccontextmanager
async def _listen_http(
    settings: Settings,
    engine: Engine,
    entrance: Entrance,
    server: Server[Any],
    *,
    on_drain: Callable[[], None],
) -> AsyncGenerator[str]:
    from footlight.transports.http import serve_http

    async with serve_http(
        server,
        entrance.listener,
        settings=settings.listen,
        gate=entrance.gate,
        ready=engine.why_not_ready,
        on_drain=on_drain,
    ) as url:
        yield f"Playwright MCP Server listening on {url}"


@contextlib.asynccontextmanager
async def _listen_websocket(
    settings: Settings,
    engine: Engine,
    entrance: Entrance,
    server: Server[Any],
    *,
    on_drain: Callable[[], None],
) -> AsyncGenerator[str]:
    from footlight.transports.websocket_server import Read, Write, serve_websocket

    async def serve_connection(read: Read, write: Write) -> None:
        await server.run(read, write, server.create_initialization_options())

    async with serve_websocket(
        entrance.listener,
        settings=settings.listen,
        gate=entrance.gate,
        serve_connection=serve_connection,
        ready=engine.why_not_ready,
        on_drain=on_drain,
    ) as url:
        yield f"WebSocket server listening on {url}"


def _say(line: str, stream: TextIO) -> None:
    """The lines of document 003 §6, which are for people and are no log."""
    stream.write(f"{line}\n")
    stream.flush()


def _make_server(
    settings: Settings, engine: Engine, news: News, secrets: Secrets | None
) -> tuple[Server[Any], Subscriptions]:
    from footlight.server.protocol import make_server
    from footlight.server.resources import Resources
    from footlight.server.subscriptions import Subscriptions

    subscriptions = Subscriptions()
    news.listener = subscriptions.on_change
    mask = make_mask(secrets)
    dispatcher, instructions = make_dispatcher(settings, engine, secrets, mask)
    server = make_server(
        settings,
        instructions=instructions,
        dispatcher=dispatcher,
        resources=Resources(engine.find_sessions, mask=mask),
        subscriptions=subscriptions,
        prompts=functools.cache(functools.partial(make_prompts, settings)),
        mask=mask,
    )
    return server, subscriptions


class News:
    """Passes changes on to whoever listens by then: the browser starts before there is a server."""

    def __init__(self) -> None:
        self.listener: OnChange | None = None

    def __call__(self, change: Change) -> None:
        if self.listener is not None:
            self.listener(change)


def make_dispatcher(
    settings: Settings, engine: Engine, secrets: Secrets | None, mask: Mask
) -> tuple[Dispatcher, str]:
    """The browser toolset over an engine, and what its instructions say."""
    from footlight.browser.storage import StateStore
    from footlight.server.dispatch import Dispatcher
    from footlight.server.selection import fitted
    from footlight.toolsets.browser import INSTRUCTIONS, TOOLS, secrets_instructions

    offered = offered_tools(settings)
    dispatcher = Dispatcher(
        offered,
        settings,
        sessions=engine.sessions,
        states=StateStore(settings.session.state_directory),
        withheld=[tool for tool in TOOLS if tool not in offered],
        secrets=secrets,
        mask=mask,
    )
    instructions = fitted(INSTRUCTIONS, [tool.name for tool in offered], TOOLS)
    return dispatcher, instructions + (secrets_instructions(secrets.names) if secrets else "")


def offered_tools(settings: Settings) -> tuple[Tool, ...]:
    """Those of the browser toolset that the settings choose.

    Raises:
        ConfigurationError: a group or a tool that does not exist.
    """
    from footlight.server.selection import choose
    from footlight.toolsets.browser import MINIMAL, TOOLS

    return choose(TOOLS, settings.tools, minimal=MINIMAL)


def read_secrets(settings: Settings) -> Secrets | None:
    """From now on the log does not tell them either.

    Raises:
        ConfigurationError: the file cannot be used.
    """
    file = settings.security.secrets_file
    if file is None:
        return None
    from footlight.log import mask
    from footlight.server.masking import Masker
    from footlight.server.secrets import load_secrets

    secrets = load_secrets(file)
    mask(Masker(secrets))
    return secrets


def make_mask(secrets: Secrets | None) -> Mask:
    """Takes the secrets out of all that the server tells."""
    from footlight.server.masking import Masker, unmasked, words_of
    from footlight.toolsets.browser import TOOLS

    return Masker(secrets, words_of(TOOLS)) if secrets else unmasked


def make_prompts(settings: Settings) -> PromptLibrary:
    """The prompts of the document, and those of the configured folder.

    Raises:
        ConfigurationError: a file in the folder is no prompt.
    """
    from footlight.server.prompt_files import builtin_prompts, load_prompts
    from footlight.server.prompts import PromptLibrary

    library = PromptLibrary()
    folder = settings.prompts.directory
    for prompt in (*builtin_prompts(), *(load_prompts(folder) if folder else ())):
        library.register(prompt)
    return library


async def _orphaned() -> None:
    """Return when whoever started us is gone. Its end of our input may be held open by another."""
    parent = os.getppid()
    while os.getppid() == parent:  # noqa: ASYNC110 - the system has no event for it
        await asyncio.sleep(ORPHAN_CHECK_SECONDS)
    logger.warning("the parent process is gone")


def _end_at_last() -> None:
    """What hangs now does not matter any more."""

    def end() -> None:
        _kill_descendants()
        os._exit(1)

    timer = threading.Timer(LAST_SECONDS, end)
    timer.daemon = True
    timer.start()


def _kill_descendants() -> None:
    import psutil

    with contextlib.suppress(psutil.Error):
        for child in psutil.Process().children(recursive=True):
            with contextlib.suppress(psutil.Error):
                child.kill()
