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
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    import socket

    from mcp.server import Server

    from footlight.apps.profile import AppProfile
    from footlight.browser.changes import Change, OnChange
    from footlight.browser.engine import Engine, MakeTable
    from footlight.browser.extension_launch import ExtensionLauncher
    from footlight.browser.session import SessionSurroundings
    from footlight.caller import Caller
    from footlight.config import Settings
    from footlight.knowledge.store import KnowledgeStore
    from footlight.server.dispatch import Dispatcher
    from footlight.server.masking import Mask
    from footlight.server.prompts import PromptLibrary
    from footlight.server.recording import Recorder
    from footlight.server.secrets import Secrets
    from footlight.server.subscriptions import Subscriptions
    from footlight.server.tool import Tool
    from footlight.server.toolset import Toolset
    from footlight.transports.gate import Gate
    from footlight.transports.presence import Presence

__all__ = ["offered_tools", "run", "toolset_of"]

logger = logging.getLogger(__name__)

TRANSPORTS = {
    "stdio": "footlight.transports.stdio",
    "http": "footlight.transports.http",
    "websocket": "footlight.transports.websocket_server",
}
TOOLSETS = {"browser": "footlight.toolsets.browser", "szkrabok": "footlight.toolsets.szkrabok"}
"""Modules that have a `TOOLSET`. That of an app under test is made for the app."""
ORPHAN_CHECK_SECONDS = 0.5
LAST_SECONDS = 4.5
"""From the wish to stop to the end of the process, whatever hangs."""


def run(settings: Settings, *, command: Sequence[str] = ()) -> int:
    """Serve until the client is gone; the exit status. Does not return where something hangs.

    `command` is how it was started, for those who find it on this machine.

    Raises:
        ConfigurationError: the settings for listening do not fit together, the address is taken, or a tool,
            a secret or the app under test cannot be as the settings have it.
    """
    # Half of the start is imports, and collecting garbage is a sixth of those.
    gc.disable()
    # What is wrong with any of these is better said now than at the first use.
    secrets = read_secrets(settings)
    if "tools" in settings.model_fields_set:
        offered_tools(settings)
    if settings.prompts.directory is not None:
        make_prompts(settings)
    if settings.toolset == "metamask":
        app_profile(settings)
    check_extensions(settings)
    entrance = None
    if settings.transport != "stdio":
        settings, token = _with_token(settings)
        entrance = _entrance(settings, command=command, token=token)
    try:
        return asyncio.run(_serve(settings, entrance, secrets))
    finally:
        _kill_descendants()


@dataclass(frozen=True)
class Entrance:
    """Where clients come in over a network."""

    listener: socket.socket
    gate: Gate
    local: Local | None = None


@dataclass(frozen=True)
class Local:
    """Where this user's own commands come in, and what they are told of how it was started."""

    listener: socket.socket
    folder: Path
    command: Sequence[str]
    token: str | None


def _with_token(settings: Settings) -> tuple[Settings, str | None]:
    """A server that nobody started by hand must not be there for whoever else is on this machine."""
    listen = settings.listen
    if not settings.daemon.local or settings.token or listen.token_file or listen.token_verifier:
        return settings, None
    from secrets import token_urlsafe

    from pydantic import SecretStr

    token = token_urlsafe(32)
    return settings.model_copy(update={"token": SecretStr(token)}), token


def _entrance(settings: Settings, *, command: Sequence[str], token: str | None) -> Entrance:
    from footlight.transports.listener import bind, make_gate
    from footlight.transports.tls import server_ssl

    gate = make_gate(settings)
    server_ssl(settings.listen)  # What is wrong with the files is better said before anything starts.
    listener = bind(settings)
    return Entrance(listener, gate, _local(settings, command, token) if settings.daemon.local else None)


def _local(settings: Settings, command: Sequence[str], token: str | None) -> Local:
    from footlight.daemon.errors import DaemonError
    from footlight.daemon.folder import find_folder, private_folder
    from footlight.daemon.running import find_running
    from footlight.errors import ConfigurationError
    from footlight.transports.local import bind_local

    try:
        folder = private_folder(settings.daemon.dir or find_folder(os.environ))
        running = find_running(folder)
    except DaemonError as error:
        message = f"setting 'daemon.dir': {error.message}"
        raise ConfigurationError(message, suggestion=error.suggestion) from None
    if running:
        raise ConfigurationError(
            f"setting 'daemon.local': a server runs in {folder} already, as process {running.pid}",
            suggestion="Stop it with `footlight daemon stop`, or name another folder.",
        )
    return Local(bind_local(folder), folder, command, token)


async def _serve(settings: Settings, entrance: Entrance | None, secrets: Secrets | None) -> int:
    from footlight.browser.engine import Engine

    stop, hurry = asyncio.Event(), asyncio.Event()
    _on_signals(lambda: (hurry if stop.is_set() else stop).set())
    news = News()
    store = make_store(settings)
    engine = Engine(
        settings,
        on_change=news,
        secrets=secrets.values if secrets else (),
        make_table=make_app_table(settings, store) if settings.toolset == "metamask" else None,
    )
    engine.start()
    # The driver starts in its own process while the SDK, which is most of the start, is imported here.
    await asyncio.to_thread(importlib.import_module, "footlight.server.protocol")
    await asyncio.to_thread(importlib.import_module, TRANSPORTS[settings.transport])
    gc.enable()
    gc.freeze()
    if entrance is None:
        serving = asyncio.create_task(_serve_stdio(settings, engine, news, secrets, store))
        ends = [serving, asyncio.create_task(stop.wait()), asyncio.create_task(_orphaned())]
    else:
        # It ends by itself when it is told to stop, and then finishes what runs.
        serving = asyncio.create_task(_serve_network(settings, engine, news, secrets, store, entrance, stop))
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


async def _serve_stdio(
    settings: Settings, engine: Engine, news: News, secrets: Secrets | None, store: KnowledgeStore | None
) -> None:
    from footlight.transports.stdio import serve_stdio

    server, _ = _make_server(settings, engine, news, secrets, store)
    async with serve_stdio() as (read, write):
        _say("Playwright MCP Server running on stdio", sys.stderr)
        await server.run(read, write, server.create_initialization_options())


async def _serve_network(
    settings: Settings,
    engine: Engine,
    news: News,
    secrets: Secrets | None,
    store: KnowledgeStore | None,
    entrance: Entrance,
    stop: asyncio.Event,
) -> None:
    server, subscriptions = _make_server(settings, engine, news, secrets, store)
    listening = _listen_http if settings.transport == "http" else _listen_websocket
    async with listening(settings, engine, entrance, server, stop, on_drain=subscriptions.close) as banner:
        _say(banner, sys.stdout)
        if entrance.local:
            os.dup2(2, 1)  # Who started us in the background has read its line, and hangs up.
        await stop.wait()


@contextlib.asynccontextmanager
async def _listen_http(
    settings: Settings,
    engine: Engine,
    entrance: Entrance,
    server: Server[Any],
    stop: asyncio.Event,
    *,
    on_drain: Callable[[], None],
) -> AsyncGenerator[str]:
    from footlight.transports.http import serve_http
    from footlight.transports.presence import Presence

    presence = Presence()
    async with contextlib.AsyncExitStack() as stack:
        url = await stack.enter_async_context(
            serve_http(
                server,
                entrance.listener,
                settings=settings.listen,
                gate=entrance.gate,
                ready=engine.why_not_ready,
                on_drain=on_drain,
                present=presence,
            )
        )
        if entrance.local:
            found = _be_found(
                entrance.local, settings, engine, server, url, stop, presence, on_drain=on_drain
            )
            await stack.enter_async_context(found)
        leaving = asyncio.create_task(_leave_when_idle(presence, settings, stop))
        stack.callback(leaving.cancel)
        yield f"Playwright MCP Server listening on {url}"


async def _leave_when_idle(presence: Presence, settings: Settings, stop: asyncio.Event) -> None:
    if settings.daemon.idle_exit:
        await presence.absence(settings.daemon.idle_exit / 1000)
        logger.info("nobody was here for %dms", settings.daemon.idle_exit)
        stop.set()


@contextlib.asynccontextmanager
async def _be_found(
    local: Local,
    settings: Settings,
    engine: Engine,
    server: Server[Any],
    url: str,
    stop: asyncio.Event,
    presence: Presence,
    *,
    on_drain: Callable[[], None],
) -> AsyncGenerator[None]:
    """Listen on the local stream, and write down where."""
    from footlight.daemon.state import forget_state, make_state, write_state
    from footlight.server.handlers.tools import listed_tool
    from footlight.transports.local import Read, Write, serve_local

    async def serve_connection(read: Read, write: Write, caller: Caller) -> None:
        try:
            await server.run(read, write, server.create_initialization_options())
        finally:
            sessions = engine.find_sessions()
            if sessions is not None and not caller.default_lasts:
                await asyncio.shield(sessions.leave(caller.principal))

    def facts() -> dict[str, int]:
        sessions = engine.find_sessions()
        return {"clients": clients.count, "sessions": sessions.count if sessions is not None else 0}

    state = make_state(f"{url}/mcp", local.listener.getsockname(), command=local.command)
    envelope = toolset_of(settings).make_envelope()
    listed = [listed_tool(tool, envelope) for tool in offered_tools(settings)]
    tools = [tool.model_dump(by_alias=True, exclude_none=True) for tool in listed]
    async with serve_local(
        local.listener,
        nonce=state.nonce,
        serve_connection=serve_connection,
        facts=facts,
        on_stop=stop.set,
        on_drain=on_drain,
        present=presence,
        max_requests=settings.listen.max_requests,
        shutdown_seconds=settings.listen.shutdown_timeout / 1000,
    ) as clients:
        write_state(local.folder, state, tools=tools, token=local.token)
        try:
            yield
        finally:
            forget_state(local.folder, state)


@contextlib.asynccontextmanager
async def _listen_websocket(
    settings: Settings,
    engine: Engine,
    entrance: Entrance,
    server: Server[Any],
    _stop: asyncio.Event,
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
    settings: Settings,
    engine: Engine,
    news: News,
    secrets: Secrets | None,
    store: KnowledgeStore | None,
) -> tuple[Server[Any], Subscriptions]:
    from footlight.server.protocol import make_server
    from footlight.server.resources import Resources
    from footlight.server.subscriptions import Subscriptions

    subscriptions = Subscriptions()
    news.listener = subscriptions.on_change
    toolset = toolset_of(settings)
    mask = make_mask(secrets, toolset)
    dispatcher, instructions = make_dispatcher(settings, engine, secrets, mask, store)
    server = make_server(
        settings,
        instructions=instructions,
        dispatcher=dispatcher,
        envelope=toolset.make_envelope(),
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
    settings: Settings,
    engine: Engine,
    secrets: Secrets | None,
    mask: Mask,
    store: KnowledgeStore | None = None,
) -> tuple[Dispatcher, str]:
    """The toolset of the settings over an engine, and what its instructions say."""
    from footlight.browser.storage import StateStore
    from footlight.server.dispatch import Dispatcher
    from footlight.server.selection import fitted

    toolset = toolset_of(settings)
    offered = offered_tools(settings)
    dispatcher = Dispatcher(
        offered,
        settings,
        sessions=engine.sessions,
        states=StateStore(settings.session.state_directory),
        withheld=[tool for tool in toolset.tools if tool not in offered],
        secrets=secrets,
        mask=mask,
        recorder=make_recorder(settings, store),
    )
    about = toolset.instructions + (toolset.about_extensions if settings.browser.extensions else "")
    instructions = fitted(about, [tool.name for tool in offered], toolset.tools)
    return dispatcher, instructions + (toolset.about_secrets(secrets.names) if secrets else "")


def toolset_of(settings: Settings) -> Toolset:
    """Raises ConfigurationError where its app is not to be had."""
    if settings.toolset != "metamask":
        return importlib.import_module(TOOLSETS[settings.toolset]).TOOLSET
    from footlight.toolsets.metamask import make_toolset

    return make_toolset(
        app=app_profile(settings).name, prefix=app_prefix(settings), strict=settings.app.strict
    )


def app_profile(settings: Settings) -> AppProfile:
    """Raises ConfigurationError where the settings name none."""
    from footlight.apps.loading import load_profile

    return load_profile(settings.app.profile)


def app_prefix(settings: Settings) -> str:
    return settings.app.prefix or app_profile(settings).prefix


def make_app_table(settings: Settings, store: KnowledgeStore | None) -> MakeTable:
    """What makes the table of an app's sessions, when there is a browser to launch it in."""
    from footlight.apps.sessions import AppSessions

    def make(launcher: ExtensionLauncher, surroundings: SessionSurroundings) -> AppSessions:
        return AppSessions(
            settings.session,
            profile=app_profile(settings),
            prefix=app_prefix(settings),
            repository=settings.app.repository.absolute(),
            launcher=launcher,
            surroundings=surroundings,
            # A window is what an extension is looked at in, unless somebody says otherwise.
            headless="headless" in settings.browser.model_fields_set and settings.browser.headless,
            knowledge=store,
        )

    return make


def make_store(settings: Settings) -> KnowledgeStore | None:
    """Where steps are written down; None where they are not."""
    wanted = settings.toolset == "metamask" or settings.knowledge.directory is not None
    if not (wanted and settings.knowledge.keep):
        return None
    from footlight.knowledge.sanitising import Rules
    from footlight.knowledge.store import DEFAULT_ROOT, KnowledgeStore

    if settings.toolset != "metamask":
        from footlight.toolsets.browser.recording import RULES

        assert settings.knowledge.directory is not None
        return KnowledgeStore(settings.knowledge.directory.absolute(), rules=RULES, screens=())
    profile = app_profile(settings)
    root = settings.knowledge.directory or settings.app.repository / DEFAULT_ROOT
    secret = frozenset(screen.name for screen in profile.screens if screen.secret)
    rules = Rules(secret_screens=Rules().secret_screens | secret, known_texts=profile.secrets)
    return KnowledgeStore(root.absolute(), rules=rules, screens=profile.screen_names)


def make_recorder(settings: Settings, store: KnowledgeStore | None) -> Recorder | None:
    if store is None:
        return None
    if settings.toolset != "metamask":
        from footlight.toolsets.browser.recording import PageRecorder

        return PageRecorder(store, repository=Path.cwd())
    from footlight.toolsets.metamask.recording import StepRecorder

    return StepRecorder(
        store,
        prefix=app_prefix(settings),
        repository=settings.app.repository.absolute(),
        strict=settings.app.strict,
    )


def offered_tools(settings: Settings) -> tuple[Tool, ...]:
    """Those of its toolset that the settings choose.

    Raises:
        ConfigurationError: a group or a tool that does not exist.
    """
    from footlight.server.selection import choose

    toolset = toolset_of(settings)
    return choose(toolset.tools, settings.tools, minimal=toolset.minimal)


def check_extensions(settings: Settings) -> None:
    """Raises ConfigurationError where a folder has none."""
    if not settings.browser.extensions:
        return
    from footlight.browser.extensions import read_extension
    from footlight.errors import ConfigurationError, InvalidConfig

    for folder in settings.browser.extensions:
        try:
            read_extension(folder)
        except InvalidConfig as error:
            raise ConfigurationError(f"setting 'browser.extensions': {error.message}") from error


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


def make_mask(secrets: Secrets | None, toolset: Toolset) -> Mask:
    """Takes the secrets out of all that the server tells."""
    from footlight.server.masking import Masker, unmasked, words_of

    return Masker(secrets, words_of(toolset.tools)) if secrets else unmasked


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
