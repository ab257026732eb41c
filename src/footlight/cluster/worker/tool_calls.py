"""Run the calls of tools on a worker, until their answers or the loss of their clients."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from footlight.cluster.worker.elicitation import RemoteElicitation
from footlight.cluster.worker.messages import HelpMessage, Progress, RemoteCall, WorkerReply
from footlight.cluster.worker.session_keeper import find_session_name
from footlight.errors import ResourceExhaustedError
from footlight.server.answers.answer import failure
from footlight.server.help import InputRequired

if TYPE_CHECKING:
    from footlight.cluster.worker.file_links import FileLinks
    from footlight.cluster.worker.running import RunningWorker
    from footlight.server.answers.answer import Answer
    from footlight.server.calls.progress import Report

__all__ = ["ToolCalls"]

MAX_ABANDONED = 1_000


class ToolCalls:
    """The running calls of a worker, by their ids."""

    def __init__(self, files: FileLinks) -> None:
        self._files = files
        self._running: dict[str, asyncio.Task[Answer]] = {}
        self._asking: dict[str, RemoteElicitation] = {}
        """The calls that may ask a person."""
        self._abandoned: OrderedDict[str, None] = OrderedDict()
        self.is_draining = False
        """Whether the worker gets no more sessions, and leaves calls of sessions that it lacks to others."""

    @property
    def are_running(self) -> bool:
        return bool(self._running)

    async def run(
        self,
        call: RemoteCall,
        running: RunningWorker,
        report: Report | None = None,
        elicitation: RemoteElicitation | None = None,
    ) -> WorkerReply:
        """Call a tool, and return the reply. `abandon` with the same id cancels the call."""
        keeper, id, caller = running.keeper, call.id, call.caller
        if self.is_draining and call.tool == "create_session":
            refusal = failure(ResourceExhaustedError("This worker is draining"))
            return WorkerReply(refusal, running.load(is_draining=True))
        session_id = caller.find_session_id(find_session_name(call.arguments))
        if self.is_draining and call.tool != "list_sessions" and await keeper.has_left(session_id):
            return WorkerReply(None, running.load(is_draining=True))
        with keeper.use(session_id):
            work = self._running[id] = asyncio.create_task(
                running.dispatcher.call(
                    call.tool, call.arguments, caller=caller, report=report, elicitation=elicitation
                )
            )
            if id in self._abandoned:
                work.cancel()
            try:
                answer = await work
            finally:
                del self._running[id]
            keeper.note_call(call.arguments, answer, caller)
            if session := keeper.find(answer.session_id):
                answer = await self._files.link(answer, session, caller, call.files)
        return WorkerReply(answer, running.load(is_draining=self.is_draining))

    async def stream(
        self, call: RemoteCall, running: RunningWorker
    ) -> AsyncIterator[Progress | HelpMessage | WorkerReply]:
        """Call a tool, and yield its progress and its questions, and then its reply."""
        queue: asyncio.Queue[Progress | HelpMessage | None] = asyncio.Queue()

        async def report(progress: float, total: float | None, message: str | None) -> None:
            queue.put_nowait((progress, total, message))

        elicitation = RemoteElicitation(queue.put_nowait) if call.may_ask else None
        if elicitation is not None:
            self._asking[call.id] = elicitation
        work = asyncio.create_task(self.run(call, running, report, elicitation))
        work.add_done_callback(lambda _: self._end_stream(call.id, queue))
        while (progress := await queue.get()) is not None:
            yield progress
        try:
            yield await work
        except InputRequired:
            yield "input required"

    def _end_stream(self, id: str, queue: asyncio.Queue[Progress | HelpMessage | None]) -> None:
        self._asking.pop(id, None)
        queue.put_nowait(None)

    def answer_question(self, id: str, reply: Any) -> None:
        """Give a call the reply to what it asked last."""
        if asking := self._asking.get(id):
            asking.answer(reply)

    def abandon(self, id: str) -> None:
        """Cancel a call whose client no longer waits. The call may not have arrived yet."""
        if work := self._running.get(id):
            work.cancel()
            return
        self._abandoned[id] = None
        while len(self._abandoned) > MAX_ABANDONED:
            self._abandoned.popitem(last=False)
