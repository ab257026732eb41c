"""Route each call to the worker that has its session. The front has the dispatcher's interface."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from footlight.caller import LOCAL, Caller
from footlight.cluster.ray_api import ActorLostError
from footlight.cluster.session_locations import WAIT, SessionLocations, find_registered_id
from footlight.cluster.worker import RemoteCall, Worker, WorkerReply
from footlight.cluster.worker_calls import (
    ConnectionLostError,
    disconnected_error,
    lost_error,
    silent_error,
    wait_for_reply,
)
from footlight.errors import (
    ConfigurationError,
    FootlightError,
    InvalidParameterError,
    SessionNotFoundError,
    WorkerLostError,
)
from footlight.server.answers.answer import Answer, failure
from footlight.server.calls.tool_caller import ToolCaller

if TYPE_CHECKING:
    from footlight.cluster.file_site import FileSite
    from footlight.cluster.fleet.fleet import Fleet
    from footlight.cluster.fleet.known_worker import KnownWorker
    from footlight.config import Settings
    from footlight.server.calls.progress import Report
    from footlight.server.help import Elicitation
    from footlight.server.tools.declaration import Tool
    from footlight.server.toolset import Toolset

__all__ = ["Front"]

logger = logging.getLogger(__name__)

LIST_SECONDS = 5.0
"""How long `list_sessions` waits for each worker."""


class Front(ToolCaller):
    """Calls tools on the workers of a cluster."""

    def __init__(
        self,
        toolset: Toolset,
        settings: Settings,
        *,
        fleet: Fleet,
        locations: SessionLocations,
        files: FileSite,
    ) -> None:
        super().__init__(toolset.offered, toolset.withheld, settings.tools)
        self._settings = settings
        self._fleet = fleet
        self._locations = locations
        self._files = files
        self._background: set[asyncio.Task[None]] = set()

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        caller: Caller = LOCAL,
        report: Report | None = None,
        elicitation: Elicitation | None = None,
    ) -> Answer:
        """Call a tool on the worker that has its session, once, and return the answer.

        Raises:
            UnknownToolError: no tool has this name.
        """
        tool = self.get(name)
        # Other tools ask nobody, and a call without questions is cheaper.
        may_ask = tool.group == "handover" and tool.effect == "act"
        client = _Client(report, elicitation if may_ask else None)
        try:
            if name == "list_sessions":
                return await self._list_sessions(tool, arguments, caller)
            if name == "create_session":
                _refuse_literal_passwords(tool, arguments)
                return await self._create_session(tool, arguments, caller, client)
            return await self._call_in_session(tool, arguments, caller, client)
        except FootlightError as error:
            return failure(error)

    async def _call_in_session(
        self, tool: Tool, arguments: Mapping[str, Any], caller: Caller, client: _Client
    ) -> Answer:
        session_id = arguments.get("sessionId")
        id = find_registered_id(session_id, caller)
        while True:
            worker = await self._locations.find(session_id, caller)
            if worker is not None:
                answer = await self._run(worker, tool, arguments, caller, client)
                if answer is not None:
                    return answer
                self._locations.drop(id)  # The session has left that worker, which is draining.
            # The first call of a session `default` or of one that lost its worker, or one that any worker
            # refuses in the same words.
            async with self._fleet.reserve_place(self._queue_report(client.report)) as free:
                worker = await self._locations.claim(id, free)
                answer = await self._run(worker, tool, arguments, caller, client)
            if answer is not None:
                if id is not None and id != caller.default_session and _is_missing(answer):
                    self._run_in_background(self._forget(id))
                return answer
            self._locations.drop(id)

    async def _create_session(
        self, tool: Tool, arguments: Mapping[str, Any], caller: Caller, client: _Client
    ) -> Answer:
        """Create a session on the least loaded worker. Take another one if it has begun to drain."""
        while True:
            async with self._fleet.reserve_place(self._queue_report(client.report)) as worker:
                answer = await self._run(worker, tool, arguments, caller, client)
                if answer is not None and (answer.success or worker.takes_sessions):
                    return answer

    async def _forget(self, id: str) -> None:
        with contextlib.suppress(WorkerLostError):
            await self._locations.forget(id)

    async def _run(
        self,
        worker: KnownWorker,
        tool: Tool,
        arguments: Mapping[str, Any],
        caller: Caller,
        client: _Client,
    ) -> Answer | None:
        """Run the call, once. Return None if the worker is draining and its session is not open there."""
        had_left = worker.has_left  # Otherwise it may run the call, even if it is draining and empty later.
        limit_ms = self._deadline_ms(tool, arguments)
        call = RemoteCall(
            id=secrets.token_hex(8),
            tool=tool.name,
            arguments=dict(arguments),
            caller=caller,
            files=self._files.address,
            may_ask=client.elicitation is not None,
            has_progress=client.report is not None,
        )
        try:
            reply = await wait_for_reply(
                worker.actor,
                call,
                limit_ms / 1000,
                client.report,
                client.elicitation,
                channel=worker.channel,
            )
        except asyncio.CancelledError:
            worker.actor.send(Worker.abandon, call.id)
            raise
        except ConnectionLostError:
            worker.actor.send(Worker.abandon, call.id)
            raise disconnected_error(tool, worker) from None
        except (ActorLostError, ConfigurationError):  # Its new process may be unable to start.
            worker.is_lost = True
            if had_left:
                return None
            raise lost_error(tool, worker, self._describe_next(tool, arguments, caller)) from None
        except TimeoutError:
            worker.actor.send(Worker.abandon, call.id)
            raise silent_error(tool, worker, limit_ms) from None
        worker.is_lost = False  # A look at its status may have failed while Ray started it again.
        self._fleet.note_load(worker, reply.load)
        return reply.answer

    def _describe_next(self, tool: Tool, arguments: Mapping[str, Any], caller: Caller) -> str:
        """Return what becomes of the session of a call whose worker was lost."""
        if tool.name == "create_session":
            return "Create another session."
        is_default = caller.find_session_id(arguments.get("sessionId")) == caller.default_session
        if self._settings.session.persistent_sessions and not (
            is_default and not caller.default_outlives_connection
        ):
            return "The next call opens its session again from its saved state."
        if is_default:
            return "The next call begins with an empty session."
        return "Its session has ended, so create another one."

    def _deadline_ms(self, tool: Tool, arguments: Mapping[str, Any]) -> float:
        given = arguments.get("timeout")
        if isinstance(given, int | float) and not isinstance(given, bool) and given > 0:
            return float(given)
        if tool.limits is not None:
            try:
                return tool.limits(tool.parse(arguments))[0]
            except FootlightError:
                pass  # The worker says what is wrong with the arguments.
        return tool.default_timeout_ms or self._settings.session.default_timeout

    async def _list_sessions(self, tool: Tool, arguments: Mapping[str, Any], caller: Caller) -> Answer:
        """Ask every worker, and name those that did not answer in time."""
        call = RemoteCall(id=secrets.token_hex(8), tool=tool.name, arguments=dict(arguments), caller=caller)
        workers = self._fleet.workers
        packed = await self._fleet.ask_all(Worker.call, call.pack(), seconds=LIST_SECONDS)
        read = {worker: _read_list(worker, reply) for worker, reply in packed.items()}
        replies = {worker: reply for worker, reply in read.items() if reply is not None}
        answered = [answer for answer, _ in replies.values()]
        if failed := next((each for each in answered if not each.success), None):
            return failed
        silent = [each.name for each in workers if each not in replies]
        if not answered:
            raise WorkerLostError(
                "No worker of the cluster answers", suggestion=WAIT, retryable=True, workers=silent
            )
        listed = [each for _, each in replies.values()]
        sessions = [session for each in listed for session in each.sessions]
        data: dict[str, Any] = {
            "sessions": sessions,
            "savedStates": sorted({name for each in listed for name in each.saved_states}),
        }
        kept = {id for each in listed for id in each.kept}
        if kept := kept - {session["sessionId"] for session in sessions}:
            data["kept"] = sorted(kept)
        if silent:
            data["unanswered"] = silent
        longest = max(each.duration_ms for each in answered)
        return replace(answered[0], content={"success": True, "data": data}, duration_ms=longest)

    def _queue_report(self, report: Report | None) -> Any:
        def send(message: str) -> None:
            if report is not None:
                self._run_in_background(report(0.0, None, message))

        return send

    # What the transports ask.

    async def why_not_ready(self) -> str | None:
        return self._fleet.why_not_ready()

    @property
    def session_count(self) -> int:
        return sum(each.load.sessions for each in self._fleet.workers if each.load and not each.is_lost)

    async def leave(self, principal: str) -> None:
        """End all sessions of a principal that will not return, on all workers."""
        await self._fleet.ask_all(Worker.leave, principal, seconds=LIST_SECONDS)

    def disconnect(self, caller: Caller) -> None:
        """End the default session of a connection that has ended, without waiting for it."""
        id = caller.default_session
        if id is not None and not caller.default_outlives_connection:
            self._run_in_background(self._disconnect(id, caller))

    async def _disconnect(self, id: str, caller: Caller) -> None:
        try:
            if (worker := await self._locations.forget(id)) is not None:
                await worker.actor.call(Worker.disconnect, caller)
        except (ActorLostError, WorkerLostError):
            pass  # The session has ended with its worker, or ends when it has been idle.

    def _run_in_background(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)


@dataclass(frozen=True, slots=True)
class _Client:
    """How a running call reaches its client."""

    report: Report | None
    elicitation: Elicitation | None


def _refuse_literal_passwords(tool: Tool, arguments: Mapping[str, Any]) -> None:
    """Check that credentials are given by the name of a secret, which the worker reads on its own machine.

    Raises:
        InvalidParameterError: a parameter is wrong, or a password is written out and would be sent to another
            machine.
    """
    tool.parse(arguments)
    for parameter in ("httpCredentials", "proxy"):
        given: Any = arguments.get(parameter)
        password: Any = cast("Any", given).get("password") if isinstance(given, dict) else None
        if isinstance(password, str) and not password.startswith("secret:"):
            raise InvalidParameterError(
                f"{parameter}.password: a cluster takes passwords only by the name of a secret",
                suggestion="Give secret:NAME, and put NAME into the file of secrets on each machine.",
                parameter=parameter,
            )


@dataclass(frozen=True, slots=True)
class _SessionListing:
    """What `list_sessions` returned on one worker."""

    sessions: Sequence[Mapping[str, Any]] = ()
    saved_states: Sequence[str] = ()
    kept: Sequence[str] = ()


def _read_list(worker: KnownWorker, packed: bytes) -> tuple[Answer, _SessionListing] | None:
    """Return the answer of `list_sessions` from a reply, or None if the worker is of another build."""
    try:
        answer = WorkerReply.unpack(packed).answer
        assert answer is not None, "it is answered by draining workers, too"
        if not answer.success:
            return answer, _SessionListing()
        data = answer.content["data"]
        return answer, _SessionListing(data["sessions"], data["savedStates"], data.get("kept", ()))
    except Exception:
        logger.warning("the list of worker %s cannot be read", worker.name, exc_info=True)
        return None


def _is_missing(answer: Answer) -> bool:
    return not answer.success and answer.content["error"]["code"] == SessionNotFoundError.code
