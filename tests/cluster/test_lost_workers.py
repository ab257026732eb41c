"""What a server does with workers that are lost, cannot start or differ, with actors that need no Ray."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from footlight.browser.sessions.change_events import SessionChange, ignore_change
from footlight.caller import LOCAL, Caller
from footlight.cluster import registry, trace_copies, watch_backend
from footlight.cluster.file_site import FileSite
from footlight.cluster.fleet.fleet import Fleet
from footlight.cluster.fleet.known_worker import KnownWorker
from footlight.cluster.front import Front
from footlight.cluster.ray_api import ActorLostError, RemoteActor
from footlight.cluster.resources import ClusterResources
from footlight.cluster.session_locations import SessionLocations
from footlight.cluster.watch_backend import NO_CALLS, ClusterWatchBackend
from footlight.cluster.worker import (
    HelpInvitation,
    HelpQuestion,
    Load,
    RemoteCall,
    WatchedWorker,
    Worker,
    WorkerRefusal,
    WorkerReply,
)
from footlight.cluster.worker_calls import wait_for_reply
from footlight.config import ClusterSettings, Settings
from footlight.errors import ConfigurationError
from footlight.server.answers.answer import Answer
from footlight.server.resources.resources import ResourceNotFoundError
from footlight.toolsets import make_toolset
from footlight.watch.watchers import Visitor, WatchedItem, WatchRequestError, WatchState

pytestmark = pytest.mark.anyio

ACTOR = "footlight.cluster.worker.actor"
LIMIT_SECONDS = 30.0
SESSION = WatchedItem({"id": "w1.1", "createdAt": 1}, "ada", "w1.1")
STATE = WatchState(revision=1, captures=0, sessions=[SESSION], ended=[], calls=[])
NONE_OPEN: tuple[int, list[SessionChange]] = (0, [])
OPENED = SessionChange("opened", "ada", "w1.1")
CLOSED = replace(OPENED, kind="closed")
SECOND = SessionChange("opened", "bob", "w1.2")
CALL = WatchedItem({"number": 1, "at": 1}, "ada", "w1.1")
LOST = ActorLostError("killed")


class ScriptedActor(RemoteActor):
    """An actor whose methods have fixed results, one after the other. The last one stays."""

    def __init__(self, **results: list[Any]) -> None:
        super().__init__(None)
        self.results = results
        self.called: asyncio.Queue[tuple[Any, ...]] = asyncio.Queue()
        """The arguments of the calls that had a result."""

    async def call(self, method: Callable[..., Any], *arguments: Any) -> Any:
        results = self.results.get(method.__name__)
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


async def test_a_restarted_registry_asks_the_workers_for_their_sessions(monkeypatch: pytest.MonkeyPatch):
    actors = {"w1": ScriptedActor(list_registered_ids=[["default"]]), "w2": None}

    async def list_worker_names() -> list[str]:
        return [*actors]

    async def find_worker_actor(name: str) -> RemoteActor | None:
        return actors[name]

    async def watch_node(_: registry.SessionRegistry) -> None:
        pass  # Ray does not run.

    monkeypatch.setattr(registry, "list_worker_names", list_worker_names)
    monkeypatch.setattr(registry, "find_worker_actor", find_worker_actor)
    monkeypatch.setattr(registry.SessionRegistry, "watch_node", watch_node)

    assert await registry.SessionRegistry().find("default") == "w1"
    assert await registry.SessionRegistry().claim("default", "w2", frozenset({"w1", "w2"})) == "w1"
    assert await registry.SessionRegistry().forget("default") == "w1"


async def test_a_registry_that_could_not_list_the_workers_tries_again(monkeypatch: pytest.MonkeyPatch):
    lists: list[Any] = [ConnectionError("the head does not answer"), []]

    async def list_worker_names() -> list[str]:
        listed = lists.pop(0)
        if isinstance(listed, Exception):
            raise listed
        return listed

    async def watch_node(_: registry.SessionRegistry) -> None:
        pass  # Ray does not run.

    monkeypatch.setattr(registry, "list_worker_names", list_worker_names)
    monkeypatch.setattr(registry.SessionRegistry, "watch_node", watch_node)

    started = registry.SessionRegistry()
    with pytest.raises(ConnectionError):
        await started.find("default")
    assert await started.find("default") is None


async def test_a_worker_that_cannot_start_is_left_out_of_lists():
    broken = ScriptedActor(ask_resources=[ConfigurationError("setting 'security.secretsFile': /etc/none")])
    async with fleet_of(ScriptedActor(ask_resources=[["one"]]), broken, ScriptedActor()) as fleet:
        answers = await fleet.ask_all(Worker.ask_resources, "list", seconds=0.1)
    assert {worker.name: answer for worker, answer in answers.items()} == {"w1": ["one"]}


@pytest.mark.parametrize(
    ("results", "expected"),
    [
        ([(1, [OPENED]), LOST, NONE_OPEN], [OPENED, CLOSED]),
        ([(2, [OPENED]), NONE_OPEN], [OPENED, CLOSED]),  # Its new process answers the next call already.
        ([(1, [OPENED]), LOST, (1, [OPENED]), (2, [SECOND])], [OPENED, SECOND]),  # It was only unreachable.
        ([ConfigurationError("no"), (1, [OPENED])], [OPENED]),  # It can start later.
    ],
)
async def test_sessions_are_reported_as_closed_only_after_they_have_ended(
    results: list[Any], expected: list[SessionChange], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("footlight.cluster.fleet.session_changes.RETRY_SECONDS", 0.01)
    heard: asyncio.Queue[SessionChange] = asyncio.Queue()
    actor = ScriptedActor(changes=[*results, LOST])
    async with fleet_of(actor, on_change=heard.put_nowait), asyncio.timeout(LIMIT_SECONDS):
        assert [await heard.get() for _ in expected] == expected


async def test_the_sessions_of_a_worker_that_is_no_longer_known_are_reported_as_closed(
    monkeypatch: pytest.MonkeyPatch,
):
    async def list_no_workers() -> list[str]:
        return []

    monkeypatch.setattr("footlight.cluster.fleet.session_changes.RETRY_SECONDS", 0.01)
    monkeypatch.setattr("footlight.cluster.fleet.fleet.list_worker_names", list_no_workers)
    heard: asyncio.Queue[SessionChange] = asyncio.Queue()
    actor = ScriptedActor(changes=[(1, [OPENED]), LOST])
    async with fleet_of(actor, on_change=heard.put_nowait) as fleet, asyncio.timeout(LIMIT_SECONDS):
        assert await heard.get() == OPENED
        await fleet._find_running()  # pyright: ignore[reportPrivateUsage]
        assert await heard.get() == CLOSED


def front_of(
    fleet: Fleet, *, locations: SessionLocations | None = None, settings: Settings | None = None
) -> Front:
    settings = settings or Settings()
    toolset, locations = make_toolset(settings), locations or locations_of(fleet)
    return Front(toolset, settings, fleet=fleet, locations=locations, files=FileSite(fleet))


def locations_of(
    fleet: Fleet, registry: RemoteActor | None = None, *, keeps_sessions: bool = False
) -> SessionLocations:
    return SessionLocations(fleet, registry or ScriptedActor(), keeps_sessions=keeps_sessions)


async def test_a_call_on_a_worker_that_began_to_drain_meanwhile_is_not_sent_again():
    async with fleet_of(ScriptedActor(call=[LOST])) as fleet:
        (worker,) = fleet.workers
        sent: Any = worker.actor.call

        async def begin_to_drain(method: Callable[..., Any], *arguments: Any) -> Any:
            if method is Worker.call:  # Its session is being opened, and not counted yet.
                worker.load = Load(0, 9, is_draining=True)
            return await sent(method, *arguments)

        worker.load, worker.actor.call = Load(1, 9, is_draining=False), begin_to_drain
        answer = await front_of(fleet).call("click", {"selector": "button", "sessionId": "w1.1"})
    error = answer.content["error"]
    assert (error["code"], error["details"]) == ("WORKER_LOST", {"dispatched": "unknown"})


async def test_a_session_stays_on_a_worker_that_answers_its_call_after_a_restart():
    reply = WorkerReply(Answer({"success": True, "data": {}}), Load(1, 9, is_draining=False)).pack()
    async with fleet_of(ScriptedActor(call=[reply]), ScriptedActor()) as fleet:
        worker, _ = fleet.workers
        sent: Any = worker.actor.call

        async def fail_a_look(method: Callable[..., Any], *arguments: Any) -> Any:
            worker.is_lost = worker.is_lost or method is Worker.call
            return await sent(method, *arguments)

        worker.load, worker.actor.call = Load(0, 9, is_draining=False), fail_a_look
        locations = locations_of(fleet, ScriptedActor(find=[None]), keeps_sessions=True)
        answer = await front_of(fleet, locations=locations).call("get_text", {"sessionId": "w1.1"})
        assert answer.success
        assert await locations.find("w1.1", LOCAL) is worker


@pytest.mark.parametrize(
    ("session", "keeps", "expected"),
    [
        ("w1.1", False, "Its session has ended, so create another one."),
        ("w1.1", True, "The next call opens its session again from its saved state."),
        ("default", False, "The next call begins with an empty session."),
        ("default", True, "The next call begins with an empty session."),
    ],
)
async def test_the_error_of_a_lost_worker_says_what_becomes_of_the_session(
    session: str, keeps: bool, expected: str
):
    caller = Caller("ada", "connection")
    settings = Settings.model_validate({"session": {"persistentSessions": keeps}})
    async with fleet_of(ScriptedActor(call=[LOST])) as fleet:
        fleet.workers[0].load = Load(1, 9, is_draining=False)
        locations = locations_of(fleet, ScriptedActor(find=["w1"]), keeps_sessions=keeps)
        front = front_of(fleet, locations=locations, settings=settings)
        for tool, look in (("get_text", ""), ("click", " Look before you repeat the action.")):
            answer = await front.call(tool, {"sessionId": session}, caller=caller)
            fleet.workers[0].is_lost = False
            assert answer.content["error"]["suggestion"] == expected + look


async def test_a_reply_of_another_version_does_not_fail_the_list_of_sessions():
    data: dict[str, Any] = {"sessions": [{"sessionId": "w1.1"}], "savedStates": []}
    answers = [Answer({"success": True, "data": each}) for each in (data, {})]
    replies = [WorkerReply(each, Load(1, 1, is_draining=False)).pack() for each in answers]
    async with fleet_of(*(ScriptedActor(call=[each]) for each in (*replies, b"odd"))) as fleet:
        answer = await front_of(fleet).call("list_sessions", {})
    assert answer.content["data"] == {**data, "unanswered": ["w2", "w3"]}


async def test_the_sessions_of_lost_workers_are_not_counted():
    async with fleet_of(ScriptedActor(), ScriptedActor()) as fleet:
        for worker in fleet.workers:
            worker.load = Load(3, 9, is_draining=False)
        fleet.workers[1].is_lost = True
        assert front_of(fleet).session_count == 3


class QuestionedActor(ScriptedActor):
    """A worker that asks a person, and whose answer is the reply to its question."""

    def send(self, method: Callable[..., Any], *arguments: Any) -> None:
        assert method == Worker.answer_question
        self.called.put_nowait(arguments)

    async def stream(self, method: Callable[..., Any], *arguments: Any) -> AsyncGenerator[Any]:
        assert (method, len(arguments)) == (Worker.call_with_progress, 1)
        yield HelpInvitation("w1.1", 0, 60)
        await self.called.get()
        yield HelpQuestion("Sign in")
        _, reply = await self.called.get()
        yield WorkerReply(Answer({"success": True, "data": {"reply": reply}}), Load(1, 1, is_draining=False))


class BrokenElicitation:
    """A client whose connection fails unexpectedly when it is asked."""

    hand_backs = 0
    expires = float("inf")

    @asynccontextmanager
    async def invite(self, _: str, **terms: Any) -> AsyncGenerator[Any]:
        assert [*terms] == ["hand_backs", "expires"]
        yield self

    async def ask(self, reason: str) -> None:
        raise KeyError(reason)


async def test_a_question_that_fails_unexpectedly_is_answered():
    sent = RemoteCall(id="1", tool="request_help", arguments={}, caller=LOCAL, may_ask=True)
    broken: Any = BrokenElicitation()
    reply = await wait_for_reply(QuestionedActor(), sent, LIMIT_SECONDS, None, broken)
    assert reply.answer is not None
    assert reply.answer.content["data"] == {"reply": None}


@pytest.mark.parametrize(
    "later", [ActorLostError("killed"), WatchedWorker("new", replace(STATE, sessions=[]))]
)
async def test_the_sessions_of_a_lost_worker_are_shown_as_lost(later: Any):
    actor = ScriptedActor(read_watched=[WatchedWorker("old", STATE)])
    async with fleet_of(actor) as fleet:
        backend = ClusterWatchBackend(fleet)
        following = asyncio.create_task(backend.follow())
        seen = await backend.read_state(0, 0)
        assert [each.view["worker"] for each in seen.sessions] == ["w1"]
        actor.results["read_watched"] = [later]
        async with asyncio.timeout(LIMIT_SECONDS):
            while seen.sessions:
                seen = await backend.read_state(seen.revision, 1)
        (lost,) = seen.ended
        assert (lost.session_id, lost.view["reason"]) == ("w1.1", "was lost with worker w1")
        assert lost.is_for(Visitor("ada"))
        assert not lost.is_for(Visitor("bob"))
        following.cancel()


async def test_calls_are_sent_only_while_somebody_watches():
    actor = ScriptedActor(read_watched=[WatchedWorker("a", STATE)])
    async with fleet_of(actor) as fleet, asyncio.timeout(LIMIT_SECONDS):
        following = asyncio.create_task(ClusterWatchBackend(fleet).follow())
        assert (await actor.called.get())[:2] == ("", NO_CALLS)
        following.cancel()
        await ClusterWatchBackend(fleet).read_state(0, 0)
        assert (await actor.called.get())[:2] == ("", -1)


async def test_a_worker_that_cannot_start_does_not_fail_the_watch_page():
    broken = ScriptedActor(read_watched=[ConfigurationError("no")], watch=[WorkerRefusal(404, "none")])
    async with fleet_of(ScriptedActor(read_watched=[WatchedWorker("a", STATE)]), broken) as fleet:
        seen = await ClusterWatchBackend(fleet).read_state(0, 0)
    assert [each.session_id for each in seen.sessions] == ["w1.1"]


async def test_a_change_without_a_new_revision_is_shown():
    asking = replace(SESSION, view={**SESSION.view, "help": "Sign in"})
    actor, seen = ScriptedActor(), list[WatchState]()
    async with fleet_of(actor) as fleet:
        backend = ClusterWatchBackend(fleet)
        for sessions in ([SESSION], LOST, [SESSION], [asking]):  # It is unreachable for a moment.
            state = sessions if sessions is LOST else WatchedWorker("a", replace(STATE, sessions=sessions))
            actor.results["read_watched"] = [state]
            seen.append(await backend.read_state(0, 0))
    asked = [[each.view.get("help") for each in state.sessions] for state in seen]
    assert asked == [[None], [], [None], ["Sign in"]]
    assert len({each.revision for each in seen}) == 4


async def test_a_state_of_another_version_does_not_stop_the_watch_page():
    odd = WatchedWorker("a", replace(STATE, calls=[WatchedItem({}, "ada", None)]))
    async with fleet_of(ScriptedActor(read_watched=[odd, WatchedWorker("a", STATE)])) as fleet:
        backend = ClusterWatchBackend(fleet)
        following = asyncio.create_task(backend.follow())
        await backend.read_state(0, 0)
        assert not following.done()
        following.cancel()


@pytest.mark.usefixtures("ends")
async def test_requests_about_a_call_name_the_process_that_ran_it():
    worker = Worker("w1", {})
    refused = await worker.watch_call("other-1", "read_still", "1", Visitor())
    await worker.end()
    assert isinstance(refused, WorkerRefusal)
    assert refused.status == 404
    seen = WatchedWorker("a", replace(STATE, calls=[CALL]))
    actor = ScriptedActor(read_watched=[seen], watch_call=[b"jpeg"])
    async with fleet_of(actor) as fleet:
        backend = ClusterWatchBackend(fleet)
        assert [each.view["number"] for each in (await backend.read_state(0, 0)).calls] == ["a-1"]
        assert await backend.read_still("a-1", Visitor()) == b"jpeg"
    sent = [actor.called.get_nowait() for _ in range(actor.called.qsize())]
    assert ("a-1", "read_still", "1", Visitor()) in sent


async def test_a_refusal_of_a_worker_is_told_as_that_of_this_server():
    refusal, visitor = WorkerRefusal(409, "Bob has control."), Visitor()
    actor = ScriptedActor(
        read_watched=[WatchedWorker("a", STATE)], watch=[refusal], ask_resources=[WorkerRefusal(404, "gone")]
    )
    async with fleet_of(actor) as fleet:
        fleet.workers[0].load = Load(1, 1, is_draining=False)
        with pytest.raises(WatchRequestError) as refused:
            await ClusterWatchBackend(fleet).take("w1.1", "ada", visitor)
        with pytest.raises(ResourceNotFoundError, match="gone"):
            await ClusterResources(locations_of(fleet), fleet).read("playwright:///session/w1.1", LOCAL)
    assert (refused.value.status, refused.value.message) == (409, "Bob has control.")


@pytest.fixture
def ends(monkeypatch: pytest.MonkeyPatch) -> asyncio.Queue[str]:
    """The ends of workers in this process, which run without Ray."""
    ends: asyncio.Queue[str] = asyncio.Queue()
    for name in ("require_token", "forget_token", "own_node_id"):
        monkeypatch.setattr(f"{ACTOR}.{name}", lambda: "")
    for name in ("leave_at_signal", "leave_with_node"):
        monkeypatch.setattr(f"{ACTOR}.{name}", _wait_forever)
    monkeypatch.setattr(f"{ACTOR}.kill_own_actor", lambda: ends.put_nowait("killed"))
    return ends


async def _wait_forever(*_: object) -> None:
    await asyncio.Event().wait()


async def test_a_worker_that_cannot_read_its_settings_ends_without_trying_again(
    ends: asyncio.Queue[str], monkeypatch: pytest.MonkeyPatch
):
    reads: list[Any] = []

    def refuse(**given: Any) -> Any:
        reads.append(given)
        raise ConfigurationError("setting 'security.secretsFile': /etc/none")

    monkeypatch.setattr("footlight.config.loading.load_settings", refuse)
    drained, unused, left = Worker("w1", {}), Worker("w2", {}), Worker("w3", {})
    assert "secretsFile" in str((await drained.peek()).failure)
    await drained.drain()
    await unused.end()
    left.lease_seconds = 0.0
    assert "secretsFile" in str((await left.peek()).failure)
    async with asyncio.timeout(LIMIT_SECONDS):
        assert [await ends.get() for _ in range(3)] == ["killed"] * 3
    assert len(reads) == 2


@pytest.mark.usefixtures("ends")
async def test_the_lease_is_that_of_the_server_before_the_settings_are_read():
    worker = Worker("w1", {"cluster": {"lease": 7_000, "maxWorkers": 2}})
    await worker.end()
    assert worker.lease_seconds == 7


@pytest.mark.usefixtures("ends")
async def test_garbage_collections_leave_out_what_the_start_of_a_worker_imports(
    monkeypatch: pytest.MonkeyPatch,
):
    def configure(*_: Any, **__: Any) -> None: ...

    monkeypatch.setattr("footlight.log.configure", configure)
    worker = Worker("w1", {})
    gc.unfreeze()
    try:
        status = await worker.peek()
        assert (status.failure, gc.get_freeze_count() > 0) == (None, True)
    finally:
        gc.unfreeze()
        await worker.end()


async def test_a_worker_that_no_server_asks_ends_with_its_lease(ends: asyncio.Queue[str]):
    worker = Worker("w1", {"cluster": {"lease": 200}})
    async with asyncio.timeout(LIMIT_SECONDS):
        assert await ends.get() == "killed"
    assert worker.lease_seconds == 0.2


async def test_silent_workers_delay_no_other_request(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(watch_backend, "ANSWER_SECONDS", 0.2)
    monkeypatch.setattr(watch_backend, "BUSY_SECONDS", 1_000.0)
    silent = ScriptedActor()
    lively = ScriptedActor(read_watched=[WatchedWorker("a", STATE)], watch=[None])
    async with fleet_of(lively, silent) as fleet:
        backend = ClusterWatchBackend(fleet)
        await asyncio.gather(backend.read_state(0, 0), backend.read_state(0, 0))
        assert lively.called.qsize() == 2  # One look of both requests, and one that follows.
        monkeypatch.setattr(watch_backend, "ANSWER_SECONDS", 1_000.0)
        async with asyncio.timeout(LIMIT_SECONDS):
            await backend.take("w1.1", "ada", Visitor())
            with pytest.raises(WatchRequestError, match="no such session"):
                await backend.make_report("unknown", Visitor())


async def test_only_the_latest_watchers_are_remembered(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(watch_backend, "MAX_WATCHERS", 2)
    actor = ScriptedActor(read_watched=[WatchedWorker("a", STATE)])
    async with fleet_of(actor) as fleet:
        backend = ClusterWatchBackend(fleet)
        for watcher in ("ada", "bob", "ada", "cy"):
            backend.note_watcher(watcher)
        await backend.read_state(0, 0)
    assert [*(await actor.called.get())[3]] == ["ada", "cy"]


async def test_a_trace_is_copied_whole_or_not_at_all(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(trace_copies, "MAX_TRACE_BYTES", 3)
    found, visitor = Path("/far/trace.zip"), Visitor()
    actor = ScriptedActor(read_watched=[WatchedWorker("a", STATE)], watch=[found])
    async with fleet_of(actor) as fleet:
        backend = ClusterWatchBackend(fleet)
        await backend.read_state(0, 0)
        copies: list[Path] = []
        for _ in range(2):
            actor.results["read_trace"] = [b"PK", b"0", b""]
            copies.append(await backend.find_trace("w1.1", None, visitor))
        assert [each.read_bytes() for each in copies] == [b"PK0", b"PK0"]
        for parts, status in (([b"PK", b"01"], 413), ([b"PK", None], 410), ([b"PK", LOST], 410)):
            actor.results["read_trace"] = [*parts]
            with pytest.raises(WatchRequestError) as refused:
                await backend.find_trace("w1.1", None, visitor)
            assert refused.value.status == status
        assert {*copies[0].parent.iterdir()} == {*copies}
        await backend.close()
        assert not copies[0].parent.exists()
