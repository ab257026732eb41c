"""How many workers a server keeps, with actors that need no Ray."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from footlight.cluster.fleet import fleet as fleet_module
from footlight.cluster.fleet.fleet import Fleet
from footlight.cluster.ray_api import RemoteActor
from footlight.cluster.worker import Load, Worker
from footlight.cluster.worker.messages import WorkerStatus
from footlight.config import ClusterSettings
from tests.processes import wait_until

pytestmark = pytest.mark.anyio

BUILD = "build"
ROUNDS = 5
"""After so many more questions the server has counted its workers several times."""


class IdleWorker(RemoteActor):
    """A worker without a session."""

    def __init__(self) -> None:
        super().__init__(None)
        self.questions = 0
        self.drains = 0

    async def call(self, method: Callable[..., Any], *_: Any) -> Any:
        if method is Worker.status:
            self.questions += 1
            return WorkerStatus(BUILD, "", "", 1, Load(0, 1, is_draining=self.drains > 0), None)
        if method is Worker.drain:
            self.drains += 1
            return None
        if method is Worker.find_call_address:
            return None
        return await asyncio.Event().wait()


@pytest.fixture
def workers(monkeypatch: pytest.MonkeyPatch) -> dict[str, IdleWorker]:
    """Return the workers of a cluster by name. `Fleet` starts more of them."""
    running: dict[str, IdleWorker] = {}

    async def start_worker_actor(*_: object, **__: object) -> tuple[str, IdleWorker]:
        name = f"w{len(running) + 1}"
        running[name] = IdleWorker()
        return name, running[name]

    async def list_worker_names() -> list[str]:
        return [*running]

    async def find_worker_actor(name: str) -> IdleWorker:
        return running[name]

    for replacement in (start_worker_actor, list_worker_names, find_worker_actor):
        monkeypatch.setattr(fleet_module, replacement.__name__, replacement)
    monkeypatch.setattr(fleet_module, "ASK_EVERY_SECONDS", 0.01)
    return running


async def test_missing_workers_are_started_and_one_above_the_minimum_is_drained_once(
    workers: dict[str, IdleWorker],
) -> None:
    settings = ClusterSettings(minWorkers=2, idleTimeout=200)
    fleet = Fleet(settings, build=BUILD, max_sessions=1, worker_settings={})
    await fleet.open()
    try:
        assert (list(workers), fleet.why_not_ready()) == (["w1", "w2"], None)

        workers["w3"] = IdleWorker()  # Another server has started it.
        await wait_until(lambda: any(each.drains for each in workers.values()))
        await wait_until(lambda: any(each.is_draining for each in fleet.workers))
        asked = workers["w1"].questions
        await wait_until(lambda: workers["w1"].questions > asked + ROUNDS)

        assert sum(each.drains for each in workers.values()) == 1
        assert sum(each.takes_sessions for each in fleet.workers) == 2
    finally:
        await fleet.close()
