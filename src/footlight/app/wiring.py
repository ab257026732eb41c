"""The composition root: make a running server from the settings, and close all of it at the end."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import gc
import importlib
import logging
import os
import sys
from collections.abc import AsyncGenerator, AsyncIterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

from footlight.app.machine import Machine, read_secrets
from footlight.app.network import NetworkEndpoint, bind_network, listen
from footlight.app.process import (
    handle_signals,
    kill_descendants,
    limit_shutdown,
    wait_until_orphaned,
)
from footlight.app.watching import bind_watch_page, make_watch, serve_watch_page
from footlight.toolsets import make_toolset

if TYPE_CHECKING:
    import socket

    from footlight.browser.driver.early_driver import EarlyDriver
    from footlight.config import Settings
    from footlight.protocol.messages import Message
    from footlight.server.answers.secrets import Secrets
    from footlight.server.prompt_library import PromptLibrary
    from footlight.server.protocol.methods import ServerMethods
    from footlight.server.resources.subscriptions import Subscriptions
    from footlight.server.toolset import Toolset
    from footlight.watch.watch import Watch

__all__ = ["load_prompts", "run"]

logger = logging.getLogger(__name__)

TRANSPORTS = {
    "stdio": ("footlight.server.protocol.stream_server", "footlight.transports.stdio"),
    "http": ("footlight.server.protocol.server", "footlight.transports.network.http_server"),
    "websocket": ("footlight.server.protocol.server", "footlight.transports.network.websocket_server"),
}
"""The modules that serve each transport. Only those for networks import the SDK."""
ENGINE = "footlight.browser.sessions.engine"
"""It imports Playwright."""
PARTS = (
    "footlight.server.calls.dispatcher",
    "footlight.server.protocol.tools",
    "footlight.server.resources.resources",
)
"""The modules that take most of the time of the rest of the start."""
CLOSE_SECONDS = 1.0
GREETING_SECONDS = 0.2
"""How long the rest of the start waits for the client's first request, to answer it first."""
DESCRIBING = frozenset({"initialize", "notifications/initialized", "ping", "server/discover"})
"""The methods that are answered before the tools are imported."""


def run(settings: Settings, *, command: Sequence[str] = (), early_driver: EarlyDriver | None = None) -> int:
    """Serve until the client is gone, and return the exit status. A close that hangs ends the process.

    `command` is the command line of the server, which other commands of this user can read. `early_driver` is
    a driver that is starting already; it still belongs to the caller if it was not used.

    Raises:
        ConfigurationError: the settings do not go together, the address is in use, or a tool, a secret, a
            prompt or the app under test cannot be used as the settings say.
    """
    # All errors in the settings are reported before anything starts.
    secrets = read_secrets(settings)
    toolset = make_toolset(settings)
    instructions = toolset.describe(secrets.names if secrets else None)
    if settings.prompts.directory is not None:
        load_prompts(settings)
    watch_listener = bind_watch_page(settings)
    endpoint = None
    if settings.transport != "stdio":
        endpoint = bind_network(settings, command=command)
    configuration = _Configuration(
        settings, toolset, secrets, instructions, endpoint, watch_listener, early_driver
    )
    try:
        return asyncio.run(_serve(configuration))
    finally:
        kill_descendants()


@dataclass(frozen=True)
class _Configuration:
    """The settings and everything that was checked before the start."""

    settings: Settings
    toolset: Toolset
    secrets: Secrets | None
    instructions: str
    endpoint: NetworkEndpoint | None
    """The address for clients over a network; None on stdio."""
    watch_listener: socket.socket | None
    """The address of the page for people, if it is not on the listener of the clients."""
    early_driver: EarlyDriver | None


@dataclass(frozen=True)
class _Running:
    """The parts that answer requests, when everything is imported and the driver is starting."""

    machine: Machine
    watch: Watch | None
    methods: ServerMethods
    subscriptions: Subscriptions


async def _serve(configuration: _Configuration) -> int:
    stop, hurry = asyncio.Event(), asyncio.Event()
    handle_signals(lambda: (hurry if stop.is_set() else stop).set())
    greeted = asyncio.Event()
    opening = asyncio.create_task(_open(configuration, greeted))
    opening.add_done_callback(lambda _: stop.set() if _has_failed(opening) else None)
    if configuration.endpoint is None:
        serving = asyncio.create_task(_serve_stdio(configuration, opening, greeted))
        ends = [serving, asyncio.create_task(stop.wait()), asyncio.create_task(wait_until_orphaned())]
    else:
        # After `stop` this task finishes the running calls and ends.
        greeted.set()
        serving = asyncio.create_task(_serve_network(configuration, opening, stop))
        ends = [serving, asyncio.create_task(hurry.wait())]
    try:
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
    finally:
        limit_shutdown()
        for end in ends[1:]:
            end.cancel()
        opening.cancel()
        await asyncio.wait([opening])
        if not opening.cancelled() and opening.exception() is None:
            running = opening.result()
            if running.watch is not None:
                await running.watch.close()
            await running.machine.engine.close()
        serving.cancel()
        with contextlib.suppress(asyncio.CancelledError, TimeoutError):
            async with asyncio.timeout(CLOSE_SECONDS):
                await serving
    if _has_failed(opening):
        opening.result()
    logger.info("stopped")
    return 0


def _has_failed(task: asyncio.Task[_Running]) -> bool:
    return task.done() and not task.cancelled() and task.exception() is not None


async def _open(configuration: _Configuration, greeted: asyncio.Event) -> _Running:
    """Start the engine as soon as it is imported, and import what runs calls while the browser starts."""
    settings, toolset = configuration.settings, configuration.toolset
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(GREETING_SECONDS):
            await greeted.wait()
    await asyncio.to_thread(importlib.import_module, ENGINE)
    machine = Machine(settings, toolset, configuration.secrets, early_driver=configuration.early_driver)
    engine = machine.engine
    engine.start()
    try:
        await asyncio.to_thread(_import_parts, settings)
        gc.enable()
        gc.freeze()
        watch = make_watch(settings, toolset, engine, mask=machine.answer_mask, secrets=machine.secret_values)
        if watch is not None:
            machine.change_listeners.append(watch.journal.on_change)
        methods, subscriptions = _make_methods(machine, watch, configuration.instructions)
    except BaseException:
        await engine.close()
        raise
    return _Running(machine, watch, methods, subscriptions)


def _import_parts(settings: Settings) -> None:
    for module in (*PARTS, *TRANSPORTS[settings.transport]):
        importlib.import_module(module)


async def _serve_stdio(
    configuration: _Configuration, opening: asyncio.Task[_Running], greeted: asyncio.Event
) -> None:
    from footlight.server.live_view import APP_TOOLS
    from footlight.server.protocol.methods import defer_methods
    from footlight.server.protocol.stream_server import serve_stream
    from footlight.transports.stdio import serve_stdio

    async def load() -> ServerMethods:
        return (await asyncio.shield(opening)).methods

    settings = configuration.settings
    has_app = settings.has_watch_page and not APP_TOOLS.isdisjoint(configuration.toolset.offered_names)
    methods = defer_methods(settings, instructions=configuration.instructions, has_app=has_app, load=load)
    watch = None
    if configuration.watch_listener is not None:
        greeted.set()
        watch = (await asyncio.shield(opening)).watch
    async with serve_stdio() as (read, write), serve_watch_page(watch, configuration.watch_listener) as page:
        _print_banner("Playwright MCP Server running on stdio", sys.stderr)
        if page:
            _print_banner(f"Watch the sessions at {page}", sys.stderr)

        async def write_and_note(message: Message) -> None:
            await write(message)
            greeted.set()

        await serve_stream(methods, _hold_back(read, opening), write_and_note)


async def _hold_back(
    incoming: AsyncIterable[Message], opening: asyncio.Task[_Running]
) -> AsyncGenerator[Message]:
    """Yield messages, but those that need more than a description of the server only when it is open.

    The end of the input follows them, so it does not cancel a request that could not begin yet.
    """
    async for message in incoming:
        if message.get("method") not in DESCRIBING:
            await asyncio.shield(opening)
        yield message


async def _serve_network(
    configuration: _Configuration, opening: asyncio.Task[_Running], stop: asyncio.Event
) -> None:
    endpoint = configuration.endpoint
    assert endpoint is not None
    running = await asyncio.shield(opening)
    from footlight.server.protocol.server import make_server
    from footlight.server.protocol.tools import list_tools

    clients = listen(
        endpoint,
        make_server(running.methods),
        running.machine.engine,
        stop,
        on_drain=running.subscriptions.close,
        list_tools=functools.partial(list_tools, configuration.toolset),
        extras=(running.watch.sites,) if running.watch else (),
    )
    async with serve_watch_page(running.watch, configuration.watch_listener) as page, clients as banner:
        _print_banner(banner, sys.stdout)
        if page:
            _print_banner(f"Watch the sessions at {page}", sys.stderr)
        if endpoint.local:
            os.dup2(2, 1)  # The starting command has read the banner and closes the pipe.
        await stop.wait()


def _print_banner(line: str, stream: TextIO) -> None:
    """Print a line for people. It is not part of the log."""
    stream.write(f"{line}\n")
    stream.flush()


def _make_methods(
    machine: Machine, watch: Watch | None, instructions: str
) -> tuple[ServerMethods, Subscriptions]:
    from footlight.server.protocol.methods import make_methods
    from footlight.server.resources.subscriptions import Subscriptions

    settings, toolset = machine.settings, machine.toolset
    subscriptions = Subscriptions()
    machine.change_listeners.append(subscriptions.on_change)
    methods = make_methods(
        settings,
        instructions=instructions,
        dispatcher=machine.make_dispatcher(watch.journal if watch else None, watch),
        envelope=toolset.make_envelope(),
        resources=machine.make_resources(),
        subscriptions=subscriptions,
        prompts=functools.cache(functools.partial(load_prompts, settings)),
        mask=machine.answer_mask,
        compact_list=toolset.compact_list,
        tickets=watch.sites.tickets if watch else None,
        read_app=watch.sites.read_app if watch else None,
    )
    return methods, subscriptions


def load_prompts(settings: Settings) -> PromptLibrary:
    """Return the built-in prompts and those of the configured folder.

    Raises:
        ConfigurationError: a file in the folder is not a prompt.
    """
    from footlight.server.prompt_files import builtin_prompts, load_prompts
    from footlight.server.prompt_library import PromptLibrary

    library = PromptLibrary()
    folder = settings.prompts.directory
    for prompt in (*builtin_prompts(), *(load_prompts(folder) if folder else ())):
        library.register(prompt)
    return library
