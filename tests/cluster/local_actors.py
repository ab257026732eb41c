"""Run `footlight` with the actors of its cluster in the same process, so that a test needs no Ray.

`python -m tests.cluster.local_actors serve …` replaces only what asks Ray. The workers are real ones with
browsers of their own. What is passed to an actor or returned is copied, as between processes.
"""

from __future__ import annotations

import asyncio
import pickle
import runpy
import signal
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextvars import ContextVar
from typing import Any, TypeVar

from footlight.cluster import ray_api
from footlight.cluster.ray_api import ActorLostError, RemoteActor
from footlight.cluster.worker import Worker

ValueT = TypeVar("ValueT")


class LocalActor(RemoteActor):
    """An object of this process that is called as if it were elsewhere."""

    def __init__(self, kind: type[Any], name: str, arguments: tuple[Any, ...]) -> None:
        self.name = name
        self.lost = asyncio.Event()
        own.set(self)  # For the tasks that the object starts.
        super().__init__(kind(*_copy(arguments)))

    async def call(self, method: Callable[..., Coroutine[Any, Any, Any]], *arguments: Any) -> Any:
        """Call a method, which runs on if the caller no longer waits."""
        work = self._start(method, arguments)
        ending = asyncio.create_task(self.lost.wait())
        try:
            await asyncio.wait([work, ending], return_when=asyncio.FIRST_COMPLETED)
        finally:
            ending.cancel()
        if not work.done():
            raise ActorLostError
        return _copy(work.result())

    def send(self, method: Callable[..., Coroutine[Any, Any, None]], *arguments: Any) -> None:
        self._start(method, arguments)

    async def stream(self, method: Callable[..., AsyncIterator[Any]], *arguments: Any) -> AsyncIterator[Any]:
        own.set(self)
        async for each in getattr(self.handle, method.__name__)(*_copy(arguments)):
            yield _copy(each)

    def _start(self, method: Callable[..., Any], arguments: tuple[Any, ...]) -> asyncio.Task[Any]:
        if self.lost.is_set():
            raise ActorLostError
        own.set(self)
        return _run(getattr(self.handle, method.__name__)(*_copy(arguments)))


own: ContextVar[LocalActor] = ContextVar("own")
actors: dict[str, LocalActor] = {}
running: set[asyncio.Task[Any]] = set()


def _copy(value: ValueT) -> ValueT:
    return pickle.loads(pickle.dumps(value))


async def _connect(address: str) -> None:
    """SIGUSR1 drains the worker that has most sessions, as `footlight cluster drain` would."""
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, lambda: _run(_drain_fullest()))


async def _drain_fullest() -> None:
    workers = [each for each in actors.values() if isinstance(each.handle, Worker)]
    used = {each.name: (await each.call(Worker.peek)).load.sessions for each in workers}
    await actors[max(used, key=used.__getitem__)].call(Worker.drain)


def _run(work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
    task = asyncio.create_task(work)
    running.add(task)
    task.add_done_callback(running.discard)
    return task


async def _disconnect() -> None:
    """End the workers, because their process ends now. Those of Ray would stay."""
    for each in [*actors.values()]:
        if isinstance(each.handle, Worker):
            own.set(each)
            await each.handle.end()


async def _list_actors() -> list[str]:
    return [*actors]


async def _find_actor(name: str) -> LocalActor | None:
    return actors.get(name)


async def _start_actor(kind: type[Any], name: str, *arguments: Any, cpus: float) -> LocalActor:
    if name not in actors:
        actors[name] = LocalActor(kind, name, arguments)
    return actors[name]


async def _kill_actor(actor: LocalActor) -> None:
    actor.lost.set()
    del actors[actor.name]


def _kill_own_actor() -> None:
    actor = own.get()
    actor.lost.set()
    del actors[actor.name]


async def _find_no_deadline() -> None: ...


def _ignore_signals(on_signal: Callable[[], None]) -> None:
    """Leave the signals to the server."""


def _replace_ray() -> None:
    replaced: dict[str, Callable[..., Any]] = {
        "connect": _connect,
        "disconnect": _disconnect,
        "find_actor": _find_actor,
        "find_own_drain_deadline": _find_no_deadline,
        "kill_actor": _kill_actor,
        "kill_own_actor": _kill_own_actor,
        "list_actors": _list_actors,
        "own_address": lambda: "127.0.0.1",
        "own_drain_seconds": lambda: 60.0,
        "own_node_id": lambda: "node",
        "require_token": lambda: None,
        "start_actor": _start_actor,
        "watch_termination": _ignore_signals,
    }
    originals = {name: getattr(ray_api, name) for name in replaced}
    for module in [each for name, each in sys.modules.items() if name.startswith("footlight.cluster")]:
        for name, original in originals.items():
            if vars(module).get(name) is original:
                setattr(module, name, replaced[name])


if __name__ == "__main__":
    _replace_ray()
    runpy.run_module("footlight", run_name="__main__", alter_sys=True)
