"""What a server does with workers that are lost or cannot start, with actors that need no Ray."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from footlight.browser.sessions.change_events import SessionChange, ignore_change
from footlight.cluster.fleet import Fleet, KnownWorker
from footlight.cluster.ray_api import ActorLost, RemoteActor
from footlight.cluster.watching import NO_CALLS, ClusterDesk
from footlight.cluster.worker import WatchedWorker
from footlight.config import ClusterSettings
from footlight.errors import ConfigurationError
from footlight.watch.watchers import RequestFailed, Visitor, Watched, WatchState

pytestmark = pytest.mark.anyio

LIMIT_SECONDS = 30.0
SESSION = Watched({"id": "w1.1", "createdAt": 1}, "ada", "w1.1")
STATE = WatchState(revision=1, captures=0, sessions=[SESSION], ended=[], calls=[])
OPENED = SessionChange("opened", "ada", "w1.1")


class ScriptedActor(RemoteActor):
    """An actor whose methods have fixed results, one after the other. The last one stays."""

    def __init__(self, **results: list[Any]) -> None:
        super().__init__(None)
        self.results = results
        self.called: asyncio.Queue[tuple[Any, ...]] = asyncio.Queue()
        """The arguments of the calls that had a result."""

    async def call(self, method: str, *arguments: Any) -> Any:
        results = self.results.get(method)
        if not results:
            await asyncio.Event().wait()
        assert results is not None
        self.called.put_nowait(arguments)
        result = results.pop(0) if len(results) > 1 else results[0]
        if isinstance(result, Exception):
            raise result
        return result


@asynccontextmanager
async def fleet_of(
    *actors: RemoteActor, on_change: Callable[[SessionChange], None] = ignore_change
) -> AsyncGenerator[Fleet]:
    fleet = Fleet(ClusterSettings(), build="", max_sessions=1, worker_settings={}, on_change=on_change)
    for number, actor in enumerate(actors, 1):
        fleet.add(KnownWorker(f"w{number}", actor))
    yield fleet
    await fleet.close()


async def test_a_worker_that_cannot_start_is_left_out_of_lists():
    broken = ScriptedActor(resources=[ConfigurationError("setting 'security.secretsFile': /etc/none")])
    async with fleet_of(ScriptedActor(resources=[["one"]]), broken, ScriptedActor()) as fleet:
        answers = await fleet.ask_all("resources", "list", seconds=0.1)
    assert {worker.name: answer for worker, answer in answers.items()} == {"w1": ["one"]}


async def test_the_sessions_of_a_lost_worker_are_reported_as_closed():
    heard: asyncio.Queue[SessionChange] = asyncio.Queue()
    actor = ScriptedActor(changes=[(1, [OPENED]), ActorLost("killed")])
    async with fleet_of(actor, on_change=heard.put_nowait), asyncio.timeout(LIMIT_SECONDS):
        assert [await heard.get(), await heard.get()] == [OPENED, SessionChange("closed", "ada", "w1.1")]


@pytest.mark.parametrize("later", [ActorLost("killed"), WatchedWorker("new", replace(STATE, sessions=[]))])
async def test_the_sessions_of_a_lost_worker_are_shown_as_lost(later: Any):
    actor = ScriptedActor(read_watched=[WatchedWorker("old", STATE)])
    async with fleet_of(actor) as fleet:
        desk = ClusterDesk(fleet)
        following = asyncio.create_task(desk.follow())
        seen = await desk.read_state(0, 0)
        assert [each.view["worker"] for each in seen.sessions] == ["w1"]
        actor.results["read_watched"] = [later]
        async with asyncio.timeout(LIMIT_SECONDS):
            while seen.sessions:
                seen = await desk.read_state(seen.revision, 1)
        (lost,) = seen.ended
        assert (lost.session_id, lost.view["reason"]) == ("w1.1", "was lost with worker w1")
        assert lost.is_for(Visitor("ada"))
        assert not lost.is_for(Visitor("bob"))
        following.cancel()


async def test_calls_are_sent_only_while_somebody_watches():
    actor = ScriptedActor(read_watched=[WatchedWorker("a", STATE)])
    async with fleet_of(actor) as fleet, asyncio.timeout(LIMIT_SECONDS):
        following = asyncio.create_task(ClusterDesk(fleet).follow())
        assert (await actor.called.get())[:2] == ("", NO_CALLS)
        following.cancel()
        await ClusterDesk(fleet).read_state(0, 0)
        assert (await actor.called.get())[:2] == ("", -1)


async def test_a_worker_that_cannot_start_does_not_fail_the_watch_page():
    broken = ScriptedActor(read_watched=[ConfigurationError("no")], watch=[RequestFailed(404, "none")])
    async with fleet_of(ScriptedActor(read_watched=[WatchedWorker("a", STATE)]), broken) as fleet:
        seen = await ClusterDesk(fleet).read_state(0, 0)
    assert [each.session_id for each in seen.sessions] == ["w1.1"]
