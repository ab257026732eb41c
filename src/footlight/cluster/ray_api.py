"""The seam to Ray: connect to a cluster, start and find actors, and translate Ray's errors."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from typing import Any

from footlight.errors import ConfigurationError

__all__ = [
    "ActorLost",
    "RemoteActor",
    "connect",
    "disconnect",
    "find_actor",
    "forget_token",
    "kill_actor",
    "kill_own_actor",
    "list_actors",
    "own_node_id",
    "require_token",
    "start_actor",
]

NAMESPACE = "footlight"
MAX_CALLS = 10_000
"""The calls that an actor runs at the same time. Sessions queue their own calls."""


class ActorLost(Exception):
    """The actor, its machine or the network to it ended before the answer came."""


def require_token() -> None:
    """Check that this process uses Ray's token authentication.

    Without it, everyone who reaches a port of the cluster can run code on its machines.

    Raises:
        ConfigurationError: Ray is not installed, or token authentication is off.
    """
    try:
        import ray  # pyright: ignore[reportMissingImports, reportUnusedImport] # noqa: F401
    except ImportError:
        raise ConfigurationError(
            "setting 'cluster.address' needs the package Ray, which is not installed",
            suggestion="Install it: pip install 'footlight[ray]'.",
        ) from None
    if os.environ.get("RAY_AUTH_MODE", "").lower() != "token":
        raise ConfigurationError(
            "setting 'cluster.address' needs Ray's token authentication, which is off",
            suggestion="Set RAY_AUTH_MODE=token on every machine of the cluster, and give all of them the "
            "same token (RAY_AUTH_TOKEN or RAY_AUTH_TOKEN_PATH).",
        )


def forget_token() -> None:
    """Remove the token, which this process has read, from its environment, so that no browser gets it."""
    os.environ.pop("RAY_AUTH_TOKEN", None)


async def connect(address: str) -> None:
    """Join a cluster as its client.

    Raises:
        ConfigurationError: there is no cluster at the address, or it does not accept our token.
    """
    ray = _import_ray()
    try:
        # In another thread, Ray leaves the signal handlers of the server as they are.
        await asyncio.to_thread(
            ray.init, address=address, namespace=NAMESPACE, log_to_driver=False, configure_logging=False
        )
    except (ConnectionError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        raise ConfigurationError(
            f"setting 'cluster.address': the Ray cluster {address} cannot be joined: {error}",
            suggestion="Check the address, and that this machine has the token of the cluster.",
        ) from None


async def disconnect() -> None:
    await asyncio.to_thread(_import_ray().shutdown)


async def list_actors() -> list[str]:
    """Return the names of the running actors of Footlight."""
    found = await asyncio.to_thread(_import_ray().util.list_named_actors)
    return list(found)


async def find_actor(name: str) -> RemoteActor | None:
    ray = _import_ray()
    try:
        return RemoteActor(await asyncio.to_thread(ray.get_actor, name, namespace=NAMESPACE))
    except ValueError:
        return None


async def start_actor(kind: type[Any], name: str, *arguments: Any, cpus: float) -> RemoteActor:
    """Start an actor that outlives this process, or return the one that has the name already.

    Ray starts it again where it ends unexpectedly, but never sends a call twice.
    """
    ray = _import_ray()
    actor = ray.remote(kind).options(
        name=name,
        namespace=NAMESPACE,
        lifetime="detached",
        get_if_exists=True,
        num_cpus=cpus,
        max_restarts=-1,
        max_task_retries=0,
        max_concurrency=MAX_CALLS,
        scheduling_strategy="SPREAD",
        enable_task_events=False,
    )
    return RemoteActor(await asyncio.to_thread(lambda: actor.remote(*arguments)))


async def kill_actor(actor: RemoteActor) -> None:
    """End an actor that has nothing to close. Ray does not start it again."""
    await asyncio.to_thread(_import_ray().kill, actor.handle, no_restart=True)


def kill_own_actor() -> None:
    """End the actor in whose process this runs. Ray does not start it again."""
    ray = _import_ray()
    ray.kill(ray.get_runtime_context().current_actor, no_restart=True)


def own_node_id() -> str:
    """Return the id of the node on which this actor runs."""
    return _import_ray().get_runtime_context().get_node_id()


class RemoteActor:
    """The methods of an actor. Their errors are those of the actor, or ActorLost."""

    def __init__(self, handle: Any) -> None:
        self.handle = handle

    async def call(self, method: str, *arguments: Any) -> Any:
        """Call a method once, and return its result."""
        with _Translated():
            return await getattr(self.handle, method).remote(*arguments)

    def send(self, method: str, *arguments: Any) -> None:
        """Call a method without waiting for its result."""
        getattr(self.handle, method).remote(*arguments)

    async def stream(self, method: str, *arguments: Any) -> AsyncIterator[Any]:
        """Call a method that is an asynchronous generator, and yield its values as they come."""
        with _Translated():
            async for item in (
                getattr(self.handle, method).options(num_returns="streaming").remote(*arguments)
            ):
                yield await item


class _Translated:
    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is not None and isinstance(error, _import_ray().exceptions.RayActorError):
            raise ActorLost(type(error).__name__) from None


def _import_ray() -> Any:
    """Import Ray, which takes a second and which only a cluster needs."""
    import ray  # pyright: ignore[reportMissingImports]

    return ray
