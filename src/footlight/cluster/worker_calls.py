"""Send one call to a worker, once, and say what is known when no reply comes."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import pickle
import time
from collections.abc import AsyncGenerator, Callable
from typing import TYPE_CHECKING

from footlight.cluster.ray_api import ActorLostError, RemoteActor
from footlight.cluster.worker import HelpInvitation, HelpQuestion, HelpTerms, Worker, WorkerReply
from footlight.errors import DeadlineExceededError, WorkerLostError
from footlight.server.help import InputRequired

if TYPE_CHECKING:
    from footlight.cluster.fleet.known_worker import KnownWorker
    from footlight.cluster.worker import HelpMessage, HelpStep, Progress, RemoteCall
    from footlight.cluster.worker.call_channel import CallChannel
    from footlight.server.calls.progress import Report
    from footlight.server.help import Elicitation, HelpReply, Invitation
    from footlight.server.tools.declaration import Tool

__all__ = ["ConnectionLostError", "disconnected_error", "lost_error", "silent_error", "wait_for_reply"]

logger = logging.getLogger(__name__)

GRACE_SECONDS = 15.0
"""How long after its deadline a call may look for the reason, as long as its worker can be reached."""
RUNS_SECONDS = 5.0
"""How long a worker whose connection was lost may take to say that it runs."""
PING_SECONDS = 1.0
"""How long a worker may take to say that it can be reached. It is asked this long before the deadline."""
STOP_SECONDS = 0.1
"""How long the end of a call waits for progress that is being sent, because the answer must be sent last."""
WITHDRAW_SECONDS = 1.0
"""How long the end of a call waits for the withdrawal of its question."""
LOOK_FIRST = "Look before you repeat the action."


class ConnectionLostError(Exception):
    """The connection to a worker that still runs was lost. Whether the call ran is not known."""


async def wait_for_reply(
    actor: RemoteActor,
    sent: RemoteCall,
    seconds: float,
    report: Report | None,
    elicitation: Elicitation | None,
    *,
    channel: CallChannel | None = None,
) -> WorkerReply:
    """Send a call, and wait for its reply until the deadline, and longer while the worker can be reached.

    A call that asks nobody is sent on `channel` if it is open, and through Ray otherwise.

    Raises:
        TimeoutError: the worker cannot be reached at the deadline or after the loss of its connection, or it
            takes much longer than the deadline.
        ActorLostError: the worker has ended.
        ConnectionLostError: the worker runs, but the connection to it was lost.
        InputRequired: the client must ask its person with `elicitation` and repeat the call.
    """
    work = asyncio.create_task(_call(actor, channel, sent, report, elicitation))
    gives_up_at = time.monotonic() + seconds + GRACE_SECONDS
    try:
        await asyncio.wait([work], timeout=max(0, seconds - PING_SECONDS))
        while not work.done():
            ping = asyncio.create_task(actor.call(Worker.ping))
            ping.add_done_callback(_ignore_result)
            await asyncio.wait([work], timeout=PING_SECONDS)
            is_reached = ping.done() and ping.exception() is None
            ping.cancel()
            if not work.done() and (not is_reached or time.monotonic() > gives_up_at):
                raise TimeoutError
        return work.result()
    finally:
        work.cancel()


def _ignore_result(task: asyncio.Task[None]) -> None:
    if not task.cancelled():
        task.exception()


async def _call(
    actor: RemoteActor,
    channel: CallChannel | None,
    sent: RemoteCall,
    report: Report | None,
    elicitation: Elicitation | None,
) -> WorkerReply:
    async with _relay_progress(report) as relay:
        if elicitation is None and channel is not None and channel.is_open:
            try:
                packed = await channel.call(sent.pack(), lambda body: relay(pickle.loads(body)))
                return WorkerReply.unpack(packed)
            except ActorLostError:
                if await _still_runs(actor, channel):
                    raise ConnectionLostError from None
                raise
        if elicitation is None and report is None:
            return WorkerReply.unpack(await actor.call(Worker.call, sent.pack()))
        async with _Helper(actor, sent.id, elicitation) as helper:
            async for each in actor.stream(Worker.call_with_progress, sent):
                if isinstance(each, WorkerReply):
                    return each
                if isinstance(each, tuple):
                    relay(each)
                else:
                    await helper.help(each)
    raise ActorLostError("the stream ended without a reply")


@contextlib.asynccontextmanager
async def _relay_progress(report: Report | None) -> AsyncGenerator[Callable[[Progress], None]]:
    """Yield a function that passes on progress until the block ends.

    A client that reads slowly misses some, but does not delay its call.
    """
    latest: Progress | None = None
    changed = asyncio.Event()

    def relay(progress: Progress) -> None:
        nonlocal latest
        latest = progress
        changed.set()

    async def send() -> None:
        try:
            while report is not None:
                await changed.wait()
                changed.clear()
                assert latest is not None
                await report(*latest)
        except Exception:
            logger.debug("progress could not be reported", exc_info=True)

    if report is None:
        yield relay
        return
    sending = asyncio.create_task(send())
    try:
        yield relay
    finally:
        sending.cancel()
        await asyncio.wait([sending], timeout=STOP_SECONDS)


async def _still_runs(actor: RemoteActor, channel: CallChannel) -> bool:
    """Return whether the process at the other end of a lost connection runs.

    Raises:
        TimeoutError: the worker does not say.
    """
    try:
        async with asyncio.timeout(RUNS_SECONDS):
            status = await actor.call(Worker.peek)
    except ActorLostError:
        return False
    return status.process_id == channel.process_id


class _Helper(contextlib.AsyncExitStack):
    """Asks the person behind the client for a call on a worker."""

    def __init__(self, actor: RemoteActor, id: str, elicitation: Elicitation | None) -> None:
        super().__init__()
        self._actor = actor
        self._id = id
        self._elicitation = elicitation
        self._invitation: Invitation | None = None
        self._asking: asyncio.Task[None] | None = None
        self._question: InputRequired | None = None

    async def help(self, request: HelpMessage) -> None:
        """Do what the worker asks for.

        Raises:
            InputRequired: the client must ask its person and repeat the call.
        """
        if isinstance(request, HelpInvitation):
            await self._invite(request)
            return
        assert self._invitation is not None
        if isinstance(request, HelpQuestion):
            self._asking = asyncio.create_task(self._ask(self._invitation, request.reason))
            self.push_async_callback(self._withdraw)
        elif request == "withdrawn":
            await self._withdraw()
        elif request == "complete":
            await self._invitation.complete()
        elif self._question is not None:
            raise self._question

    async def _invite(self, request: HelpInvitation) -> None:
        assert self._elicitation is not None
        now = time.monotonic()
        inviting = self._elicitation.invite(
            request.session_id, hand_backs=request.hand_backs, expires=now + request.seconds
        )
        self._invitation = await self.enter_async_context(inviting)
        terms = HelpTerms(self._invitation.hand_backs, self._invitation.expires - now)
        self._actor.send(Worker.answer_question, self._id, terms)

    async def _ask(self, invitation: Invitation, reason: str) -> None:
        reply: HelpReply | HelpStep | None = "input required"
        try:
            reply = await invitation.ask(reason)
        except InputRequired as question:
            self._question = question
        except Exception:
            logger.exception("the person behind a client could not be asked")
            reply = None
        self._actor.send(Worker.answer_question, self._id, reply)

    async def _withdraw(self) -> None:
        if self._asking is not None:
            self._asking.cancel()
            await asyncio.wait([self._asking], timeout=WITHDRAW_SECONDS)


def disconnected_error(tool: Tool, worker: KnownWorker) -> WorkerLostError:
    return _make_lost_error(
        tool, f"the connection to worker {worker.name} was lost", "The session is still there."
    )


def lost_error(tool: Tool, worker: KnownWorker, next_step: str) -> WorkerLostError:
    """Return the error of a call whose worker has ended. `next_step` says what becomes of its session."""
    return _make_lost_error(tool, f"worker {worker.name} was lost", next_step)


def _make_lost_error(tool: Tool, reason: str, next_step: str) -> WorkerLostError:
    message = f"{tool.name} failed: {reason}"
    if tool.effect == "read":
        return WorkerLostError(message, suggestion=next_step, retryable=True)
    return WorkerLostError(
        f"{message}. Its action may have been done",
        suggestion=f"{next_step} {LOOK_FIRST}",
        retryable=False,
        dispatched="unknown",
    )


def silent_error(tool: Tool, worker: KnownWorker, limit_ms: float) -> DeadlineExceededError:
    acts = tool.effect != "read"
    next_step = "The session is still there if the worker can be reached again."
    return DeadlineExceededError(
        f"{tool.name} timed out: worker {worker.name} does not answer",
        suggestion=f"{next_step} {LOOK_FIRST}" if acts else next_step,
        retryable=not acts,
        timeout=limit_ms,
        dispatched="unknown" if acts else None,
    )
