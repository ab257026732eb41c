"""The seam to Ray: connect to a cluster, start and find actors, and translate Ray's errors."""

from __future__ import annotations

import asyncio
import faulthandler
import importlib
import logging
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any, TypeVar, TypeVarTuple

from footlight.errors import ConfigurationError

__all__ = [
    "ActorLostError",
    "RemoteActor",
    "connect",
    "disconnect",
    "find_actor",
    "find_own_drain_deadline",
    "forget_token",
    "kill_actor",
    "kill_own_actor",
    "list_actors",
    "own_address",
    "own_drain_seconds",
    "own_node_id",
    "require_token",
    "restart_own_actor",
    "start_actor",
    "uses_tls",
    "watch_termination",
]

ArgumentsT = TypeVarTuple("ArgumentsT")
ResultT = TypeVar("ResultT")

NAMESPACE = "footlight"
MAX_CALLS = 10_000
"""The calls that an actor runs at the same time. Sessions queue their own calls."""
GCS_SECONDS = 5.0
PROBE_SECONDS = 20.0
PROBE = """
import sys
from ray._raylet import GcsClient
from ray.exceptions import AuthenticationError
try:
    GcsClient(address=sys.argv[1]).get_draining_nodes(timeout=5)
except AuthenticationError:
    sys.exit(10)
sys.exit(11)
"""
"""A program that asks a cluster without a token. Ray reads its mode only once in a process."""
REFUSED, ACCEPTED = 10, 11
"""The exit statuses of the program: the cluster refused it, or answered."""


class ActorLostError(Exception):
    """The actor, its machine or the network to it ended before the answer came."""


def require_token() -> None:
    """Check that this process uses Ray's token authentication.

    Without it, everyone who reaches a port of the cluster can run code on its machines.

    Raises:
        ConfigurationError: Ray is not installed, or token authentication is off.
    """
    try:
        token_setup = _import_ray_module("ray._private.authentication.authentication_token_setup")
        utils = _import_ray_module("ray._private.authentication.authentication_utils")
    except ImportError:
        raise ConfigurationError(
            "setting 'cluster.address' needs the package Ray, which is not installed",
            suggestion="Install it: pip install 'footlight[ray]'.",
        ) from None
    # Like `ray start`, use a token that is there although no mode is given.
    token_setup.maybe_enable_token_auth_if_token_available(warn_if_disabled=False)
    if not utils.is_token_auth_enabled():
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
        ConfigurationError: there is no cluster at the address, it does not accept our token, or it accepts
            clients without any.
    """
    ray = _import_ray()
    logging.getLogger("ray._private.worker").addFilter(_is_not_about_signals)
    try:
        # In another thread, Ray leaves the signal handlers of Python as they are, and warns that it does.
        gcs_address = await asyncio.to_thread(_find_gcs_address, address)
        if await _ask_without_token(gcs_address) == ACCEPTED:
            raise ConfigurationError(
                f"setting 'cluster.address': the Ray cluster {address} accepts clients without a token",
                suggestion="Start Ray with RAY_AUTH_MODE=token on every machine of the cluster.",
            )
        await asyncio.to_thread(
            ray.init, address=address, namespace=NAMESPACE, log_to_driver=False, configure_logging=False
        )
    except (ConnectionError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        raise ConfigurationError(
            f"setting 'cluster.address': the Ray cluster {address} cannot be joined: {error}",
            suggestion="Check the address, and that this machine has the token of the cluster.",
        ) from None


def _is_not_about_signals(record: logging.LogRecord) -> bool:
    return "SIGTERM handler" not in record.getMessage()


def _find_gcs_address(address: str) -> str:
    services = _import_ray_module("ray._private.services")
    return services.canonicalize_bootstrap_address(address) or address


async def _ask_without_token(gcs_address: str) -> int:
    """Return REFUSED or ACCEPTED.

    Raises:
        ConnectionError: the cluster gives no such answer.
    """
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RAY_AUTH")}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", PROBE, gcs_address),
        env={**environment, "RAY_AUTH_MODE": "disabled"},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(PROBE_SECONDS):
            if (status := await process.wait()) in (REFUSED, ACCEPTED):
                return status
    except TimeoutError:
        pass
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    raise ConnectionError(f"{gcs_address} does not answer")


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


def restart_own_actor() -> None:
    """End the actor in whose process this runs. Ray starts it again, on a machine that stays."""
    ray = _import_ray()
    ray.kill(ray.get_runtime_context().current_actor, no_restart=False)


def watch_termination(on_signal: Callable[[], None]) -> None:
    """Call `on_signal` in the running event loop for each SIGTERM that this process gets from now on.

    Ray's own handler ends an actor's process at once. Python lets only the main thread replace it, and Ray
    runs actors in another one. A handler of `faulthandler` can be set from any thread: it writes to a pipe.
    """
    if sys.platform == "win32":  # It has no such handler, and no SIGTERM either.
        return
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    os.set_blocking(writer, False)

    def on_written() -> None:
        os.read(reader, 1 << 16)
        on_signal()

    asyncio.get_running_loop().add_reader(reader, on_written)
    faulthandler.register(signal.SIGTERM, file=writer, all_threads=False, chain=False)


def own_address() -> str:
    """Return the address under which the other machines of the cluster reach the node of this actor."""
    return _import_ray().util.get_node_ip_address()


def uses_tls() -> bool:
    """Return whether Ray encrypts its connections."""
    return os.environ.get("RAY_USE_TLS", "0").lower() in ("1", "true")


def own_node_id() -> str:
    """Return the id of the node on which this actor runs."""
    return _import_ray().get_runtime_context().get_node_id()


async def find_own_drain_deadline() -> float | None:
    """Return when Ray removes the node on which this actor runs, as a Unix time, or None if it stays.

    The time is infinite if Ray waits until the node is idle.
    """
    ray = _import_ray()

    def ask() -> dict[str, int]:
        client = ray._raylet.GcsClient(address=ray.get_runtime_context().gcs_address)
        return client.get_draining_nodes(timeout=GCS_SECONDS)

    deadline_ms = (await asyncio.to_thread(ask)).get(own_node_id())
    return None if deadline_ms is None else deadline_ms / 1000 or float("inf")


def own_drain_seconds() -> float:
    """Return how long Ray lets a machine drain that gets SIGTERM."""
    constants = _import_ray_module("ray._private.ray_constants")
    return float(constants.RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S)


class RemoteActor:
    """Calls the methods of an actor, which are given as those of its class, such as `Worker.status`.

    Their errors are those of the actor, or ActorLostError.
    """

    def __init__(self, handle: Any) -> None:
        self.handle = handle

    async def call(
        self,
        method: Callable[[Any, *ArgumentsT], Coroutine[Any, Any, ResultT]],
        *arguments: *ArgumentsT,
    ) -> ResultT:
        """Call a method once, and return its result."""
        with _TranslateRayErrors():
            return await self._find(method).remote(*arguments)

    def send(
        self, method: Callable[[Any, *ArgumentsT], Coroutine[Any, Any, None]], *arguments: *ArgumentsT
    ) -> None:
        """Call a method without waiting for its end."""
        self._find(method).remote(*arguments)

    async def stream(
        self, method: Callable[[Any, *ArgumentsT], AsyncIterator[ResultT]], *arguments: *ArgumentsT
    ) -> AsyncIterator[ResultT]:
        """Call a method that is an asynchronous generator, and yield its values as they come."""
        with _TranslateRayErrors():
            async for item in self._find(method).options(num_returns="streaming").remote(*arguments):
                yield await item

    def _find(self, method: Callable[..., object]) -> Any:
        return getattr(self.handle, method.__name__)


class _TranslateRayErrors:
    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None:
            return
        exceptions = _import_ray().exceptions
        # A large result is lost with the machine of its actor.
        if isinstance(error, exceptions.RayActorError | exceptions.ObjectLostError):
            raise ActorLostError(type(error).__name__) from None


def _import_ray() -> Any:
    """Import Ray, which takes a second and which only a cluster needs."""
    import ray  # pyright: ignore[reportMissingImports]

    return ray


def _import_ray_module(name: str) -> Any:
    """Import a module of Ray without its types, which are unknown where Ray is not installed."""
    return importlib.import_module(name)
