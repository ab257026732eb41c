"""Serve a cluster: the composition root of a server whose browsers run on workers."""

from __future__ import annotations

import asyncio
import functools
import gc
import logging
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from footlight.app.network import NetworkEndpoint, bind_network, listen
from footlight.app.process import handle_signals, kill_descendants, limit_shutdown
from footlight.app.wiring import load_prompts
from footlight.cluster import ray_api
from footlight.cluster.file_site import FileSite
from footlight.cluster.fleet.fleet import Fleet
from footlight.cluster.front import Front
from footlight.cluster.registry import start_registry
from footlight.cluster.resources import ClusterResources
from footlight.cluster.session_locations import SessionLocations
from footlight.cluster.watch_backend import ClusterWatchBackend
from footlight.cluster.worker import build_of, settings_for_workers
from footlight.toolsets import make_toolset

if TYPE_CHECKING:
    from footlight.config import Settings
    from footlight.server.toolset import Toolset

__all__ = ["run"]

logger = logging.getLogger(__name__)


def run(settings: Settings, *, command: Sequence[str] = ()) -> int:
    """Serve until the signal to stop, and return the exit status. The workers keep their sessions.

    Raises:
        ConfigurationError: the settings do not go together, the address is in use, the cluster cannot be
            joined, or it does not use token authentication.
    """
    ray_api.require_token()
    toolset = make_toolset(settings)
    _ = toolset.offered
    if settings.prompts.directory is not None:
        load_prompts(settings)
    endpoint = bind_network(settings, command=command)
    try:
        return asyncio.run(_serve(settings, toolset, endpoint))
    finally:
        kill_descendants()


async def _serve(settings: Settings, toolset: Toolset, endpoint: NetworkEndpoint) -> int:
    from footlight.server.protocol.methods import make_methods
    from footlight.server.protocol.server import make_server
    from footlight.server.protocol.tools import list_tools
    from footlight.server.resources.subscriptions import Subscriptions
    from footlight.watch.site import WatchSites

    stop, hurry = asyncio.Event(), asyncio.Event()

    def on_signal() -> None:
        (hurry if stop.is_set() else stop).set()

    handle_signals(on_signal)
    assert settings.cluster.address is not None
    await ray_api.connect(settings.cluster.address)
    handle_signals(on_signal)  # Ray has put a handler before it that writes a stack trace.
    subscriptions = Subscriptions()
    given = settings_for_workers(settings)
    fleet = Fleet(
        settings.cluster,
        build=build_of(toolset, given),
        max_sessions=settings.session.max_sessions,
        worker_settings=given,
        on_change=subscriptions.on_change,
    )
    files = FileSite(fleet)
    backend = ClusterWatchBackend(fleet) if settings.has_watch_page else None
    watch = WatchSites(backend) if backend else None
    keeps_sessions = settings.session.persistent_sessions
    locations = SessionLocations(fleet, await start_registry(), keeps_sessions=keeps_sessions)
    front = Front(toolset, settings, fleet=fleet, locations=locations, files=files)

    async def serve() -> None:
        await fleet.open()
        methods = make_methods(
            settings,
            instructions=toolset.describe(fleet.secret_names),
            dispatcher=front,
            envelope=toolset.make_envelope(),
            resources=ClusterResources(locations, fleet),
            subscriptions=subscriptions,
            prompts=functools.cache(functools.partial(load_prompts, settings)),
            compact_list=toolset.compact_list,
            tickets=watch.tickets if watch else None,
            read_app=watch.read_app if watch else None,
        )
        gc.freeze()  # What the start imported stays. Each full collection would look at it for 0.1 s.
        async with listen(
            endpoint,
            make_server(methods),
            front,
            stop,
            on_drain=subscriptions.close,
            list_tools=functools.partial(list_tools, toolset),
            extras=(files, watch) if watch else (files,),
        ) as banner:
            sys.stdout.write(f"{banner}\n")
            sys.stdout.flush()
            await stop.wait()

    serving = asyncio.create_task(serve())
    ends = [serving, asyncio.create_task(hurry.wait())]
    ends.append(asyncio.create_task(_wait_for_early_stop(stop, fleet)))
    if backend is not None:
        ends.append(asyncio.create_task(backend.follow()))
    try:
        ended, _ = await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        for end in ended:
            end.result()
    finally:
        limit_shutdown()
        if watch is not None:
            watch.close()
        for end in ends:
            end.cancel()
        await asyncio.wait(ends[1:])
        if backend is not None:
            await backend.close()
        await fleet.close()
        await ray_api.disconnect()
    logger.info("stopped")
    return 0


async def _wait_for_early_stop(stop: asyncio.Event, fleet: Fleet) -> None:
    """Return when the server is to stop although no worker answers. Otherwise `serve` ends by itself."""
    await stop.wait()
    if fleet.why_not_ready() is None:
        await asyncio.Event().wait()
