"""List, find and start the actors of workers, by the names of the workers."""

from __future__ import annotations

import secrets
from typing import Any

from footlight.cluster.ray_api import RemoteActor, find_actor, list_actors, start_actor
from footlight.cluster.worker import Worker

__all__ = ["find_worker_actor", "list_worker_names", "start_worker_actor"]

PREFIX = "worker-"
"""The name of a worker's actor is this, and the worker's name."""


async def list_worker_names() -> list[str]:
    """Return the names of the workers of the cluster, whether or not they answer."""
    return [each.removeprefix(PREFIX) for each in await list_actors() if each.startswith(PREFIX)]


async def find_worker_actor(name: str) -> RemoteActor | None:
    return await find_actor(PREFIX + name)


async def start_worker_actor(settings: dict[str, Any], *, cpus: float) -> tuple[str, RemoteActor]:
    """Start a worker with these settings, and return its new name and its actor."""
    name = secrets.token_hex(4)
    return name, await start_actor(Worker, PREFIX + name, name, settings, cpus=cpus)
