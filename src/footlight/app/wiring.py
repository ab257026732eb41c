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
from collections.abc import Callable, Sequence
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

    from footlight.config import Settings
    from footlight.server.prompts.library import PromptLibrary
    from footlight.server.protocol.methods import ServerMethods
    from footlight.server.resources.subscriptions import Subscriptions
    from footlight.server.secrets.secrets import Secrets
    from footlight.server.toolset import Toolset
    from footlight.watch.watch import Watch

__all__ = ["load_prompts", "run"]

logger = logging.getLogger(__name__)

TRANSPORTS = {
    "stdio": ("footlight.server.protocol.stream_server", "footlight.transports.stdio"),
    "http": ("footlight.server.protocol.server", "footlight.transports.http.server"),
    "websocket": ("footlight.server.protocol.server", "footlight.transports.websocket.server"),
}
"""The modules that serve each transport. Only those for networks import the SDK."""
CLOSE_SECONDS = 1.0

MakeMethods = Callable[[], "tuple[ServerMethods, Subscriptions]"]


def run(settings: Settings, *, command: Sequence[str] = ()) -> int:
    """Serve until the client is gone, and return the exit status. A close that hangs ends the process.

    `command` is the command line of the server, which other commands of this user can read.

    Raises:
        ConfigurationError: the settings do not go together, the address is in use, or a tool, a secret, a
            prompt or the app under test cannot be used as the settings say.
    """
    # Half of the start is imports, and a sixth of their time would be collecting garbage.
    gc.disable()
    # All errors in the settings are reported before anything starts.
    secrets = read_secrets(settings)
    toolset = make_toolset(settings)
    if "tools" in settings.model_fields_set:
        _ = toolset.offered
    if settings.prompts.directory is not None:
        load_prompts(settings)
    watch_listener = bind_watch_page(settings)
    endpoint = None
    if settings.transport != "stdio":
        endpoint = bind_network(settings, command=command)
    try:
        return asyncio.run(_serve(_Configuration(settings, toolset, secrets, endpoint, watch_listener)))
    finally:
        kill_descendants()


@dataclass(frozen=True)
class _Configuration:
    """The settings and everything that was checked before the start."""

    settings: Settings
    toolset: Toolset
    secrets: Secrets | None
    endpoint: NetworkEndpoint | None
    """The address for clients over a network; None on stdio."""
    watch_listener: socket.socket | None
    """The address of the page for people, if it is not on the listener of the clients."""


async def _serve(configuration: _Configuration) -> int:
    settings, toolset, secrets = configuration.settings, configuration.toolset, configuration.secrets
    stop, hurry = asyncio.Event(), asyncio.Event()
    handle_signals(lambda: (hurry if stop.is_set() else stop).set())
    machine = Machine(settings, toolset, secrets)
    engine = machine.engine
    engine.start()
    # The driver starts in its own process meanwhile.
    for module in TRANSPORTS[settings.transport]:
        await asyncio.to_thread(importlib.import_module, module)
    gc.enable()
    gc.freeze()
    watch = make_watch(settings, toolset, engine, mask=machine.answer_mask, secrets=machine.secret_values)
    if watch is not None:
        machine.change_listeners.append(watch.on_change)
    make_methods = functools.partial(_make_methods, machine, watch)
    if configuration.endpoint is None:
        serving = asyncio.create_task(_serve_stdio(configuration, make_methods, watch))
        ends = [serving, asyncio.create_task(stop.wait()), asyncio.create_task(wait_until_orphaned())]
    else:
        # After `stop` this task finishes the running calls and ends.
        serving = asyncio.create_task(_serve_network(configuration, machine, make_methods, watch, stop))
        ends = [serving, asyncio.create_task(hurry.wait())]
    try:
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
    finally:
        limit_shutdown()
        for end in ends[1:]:
            end.cancel()
        if watch is not None:
            await watch.close()
        await engine.close()
        serving.cancel()
        with contextlib.suppress(asyncio.CancelledError, TimeoutError):
            async with asyncio.timeout(CLOSE_SECONDS):
                await serving
    logger.info("stopped")
    return 0


async def _serve_stdio(configuration: _Configuration, make_methods: MakeMethods, watch: Watch | None) -> None:
    from footlight.server.protocol.stream_server import serve_stream
    from footlight.transports.stdio import serve_stdio

    methods, _ = make_methods()
    async with serve_stdio() as (read, write), serve_watch_page(watch, configuration.watch_listener) as page:
        _print_banner("Playwright MCP Server running on stdio", sys.stderr)
        if page:
            _print_banner(f"Watch the sessions at {page}", sys.stderr)
        await serve_stream(methods, read, write)


async def _serve_network(
    configuration: _Configuration,
    machine: Machine,
    make_methods: MakeMethods,
    watch: Watch | None,
    stop: asyncio.Event,
) -> None:
    from footlight.server.protocol.server import make_server
    from footlight.server.protocol.tools import list_tools

    endpoint = configuration.endpoint
    assert endpoint is not None
    methods, subscriptions = make_methods()

    clients = listen(
        endpoint,
        make_server(methods),
        machine.engine,
        stop,
        on_drain=subscriptions.close,
        list_tools=functools.partial(list_tools, configuration.toolset),
        watch=watch,
    )
    async with serve_watch_page(watch, configuration.watch_listener) as page, clients as banner:
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


def _make_methods(machine: Machine, watch: Watch | None) -> tuple[ServerMethods, Subscriptions]:
    from footlight.server.protocol.methods import make_methods
    from footlight.server.resources.subscriptions import Subscriptions

    settings, toolset, secrets = machine.settings, machine.toolset, machine.secrets
    subscriptions = Subscriptions()
    machine.change_listeners.append(subscriptions.on_change)
    methods = make_methods(
        settings,
        instructions=toolset.describe(secrets.names if secrets else None),
        dispatcher=machine.make_dispatcher(watch.journal if watch else None),
        envelope=toolset.make_envelope(),
        resources=machine.make_resources(),
        subscriptions=subscriptions,
        prompts=functools.cache(functools.partial(load_prompts, settings)),
        mask=machine.answer_mask,
        compact_list=toolset.compact_list,
    )
    return methods, subscriptions


def load_prompts(settings: Settings) -> PromptLibrary:
    """Return the built-in prompts and those of the configured folder.

    Raises:
        ConfigurationError: a file in the folder is not a prompt.
    """
    from footlight.server.prompts.files import builtin_prompts, load_prompts
    from footlight.server.prompts.library import PromptLibrary

    library = PromptLibrary()
    folder = settings.prompts.directory
    for prompt in (*builtin_prompts(), *(load_prompts(folder) if folder else ())):
        library.register(prompt)
    return library
