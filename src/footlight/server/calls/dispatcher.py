"""Run the tools that clients call.

`Dispatcher` takes each call through the same stages, which `_run_stages`, `_run_in_session`,
`act_and_observe` and `_finish` list in order: validate, check permissions, find the session and its page,
observe before, run, settle, observe after, answer, mask, record. Arguments and answers are plain values, so
that the front of a cluster can route a call to the worker that has its session.

A call runs in a separate task. The task that waits for it may be cancelled at any point, and repeatedly, as
anyio does. The work is cancelled once, and is undone before its session runs another call.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from footlight.browser.driver.offload import CHARACTERS_A_NODE, offload
from footlight.browser.driver.probe import RESPONSE_SECONDS
from footlight.browser.driver.shielding import shield_until_done
from footlight.caller import LOCAL, Caller
from footlight.errors import BrowserCrashedError, FootlightError
from footlight.server.answers.answer import Answer, failure, success
from footlight.server.answers.json_values import count_work
from footlight.server.answers.masking import Mask, keep_unmasked
from footlight.server.calls.acting import act_and_observe, settle
from footlight.server.calls.attachments import shorten_answer
from footlight.server.calls.call_state import CallState
from footlight.server.calls.dialog_race import check_no_dialog
from footlight.server.calls.effects import advise_after_failures
from footlight.server.calls.observer import ObservationOptions, Observer
from footlight.server.calls.progress import Report, report_stages
from footlight.server.calls.recording import RecordedCall
from footlight.server.calls.steps import BatchStep, parse_steps, run_steps
from footlight.server.calls.time_limits import TimeLimit, deadline_exceeded, make_deadline
from footlight.server.calls.tool_caller import ToolCaller
from footlight.server.help import InputRequired
from footlight.server.tools.tool_call import StepOutcome, ToolCall

if TYPE_CHECKING:
    from pydantic import BaseModel

    from footlight.browser.context.state_store import StateStore
    from footlight.browser.driver.deadline import Deadline
    from footlight.browser.driver.pending_starts import PendingStart
    from footlight.browser.driver.playwright_connection import SilentPart
    from footlight.browser.sessions.session import Session
    from footlight.browser.sessions.tables.session_table import SessionTable
    from footlight.config import Settings
    from footlight.server.answers.secrets import Secrets
    from footlight.server.calls.journal import CallJournal
    from footlight.server.calls.recording import Recorder
    from footlight.server.help import Elicitation
    from footlight.server.live_view import LiveView
    from footlight.server.selection import Group
    from footlight.server.tools.declaration import Tool

__all__ = ["Dispatcher"]

logger = logging.getLogger(__name__)


class Dispatcher(ToolCaller):
    """Runs tools. Each session runs one call at a time, and sessions are independent of each other."""

    def __init__(
        self,
        tools: Mapping[str, Tool],
        settings: Settings,
        *,
        sessions: Callable[[], Awaitable[SessionTable]],
        find_silent_part: Callable[[float], Awaitable[PendingStart | SilentPart | None]] | None = None,
        states: StateStore,
        withheld: Mapping[str, Group] = MappingProxyType({}),
        secrets: Secrets | None = None,
        mask: Mask = keep_unmasked,
        recorder: Recorder | None = None,
        journal: CallJournal | None = None,
        live_view: LiveView | None = None,
    ) -> None:
        """Create a dispatcher.

        Args:
            sessions: waits for the browser and returns the session table.
            find_silent_part: returns the part that does not respond or is still starting, for timeout errors.
            withheld: the groups of tools that are not offered, for the error of a call of one of them.
            secrets: the values for `secret:NAME` in arguments.
            mask: removes the secrets from all answers and progress messages.
            recorder: writes the calls to the knowledge store.
            journal: shows the calls on the watch page.
        """
        super().__init__(tools, withheld, settings.tools)
        self._settings = settings
        self._sessions = sessions
        self._find_silent_part = find_silent_part
        self._states = states
        self._secrets = secrets
        self._mask = mask
        self._recorder = recorder
        self._journal = journal
        self._live_view = live_view
        self._table: SessionTable | None = None
        self._working: set[asyncio.Task[Answer]] = set()

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        caller: Caller = LOCAL,
        report: Report | None = None,
        elicitation: Elicitation | None = None,
    ) -> Answer:
        state = CallState(self.get(name), caller, arguments, elicitation)
        work = asyncio.create_task(self._work(state, report and _make_masking_report(report, self._mask)))
        self._working.add(work)
        work.add_done_callback(self._working.discard)
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            state.abandon(work)
            raise

    async def _work(self, state: CallState, report: Report | None) -> Answer:
        outcome, sent = "cancelled", None
        if self._journal is not None and state.tool.followed:
            state.followed = self._journal.begin(state.tool, state.arguments, state.caller)
        try:
            answer = await self._finish(state, await self._answer(state, report))
            if not state.is_abandoned:
                outcome = "ok" if answer.success else answer.content["error"]["code"]
                sent = answer
                await self._record(state, answer)
            return answer
        except InputRequired:
            outcome = "ok"
            raise
        finally:
            if state.followed is not None:
                state.followed.end(sent, outcome, state.session)
            logger.info(
                "call",
                extra={
                    "tool": state.tool.name,
                    "ms": round(state.elapsed_ms, 1),
                    "outcome": outcome,
                    "session": state.session.id if state.session else None,
                },
            )

    async def _answer(self, state: CallState, report: Report | None) -> Answer:
        """Run the stages, and convert an error to an answer."""
        try:
            return await self._run_stages(state, report)
        except InputRequired:
            raise
        except FootlightError as raised:
            error = state.log_if_bug(raised)
        except Exception as bug:  # noqa: BLE001 - bugs are converted to answers here
            error = await state.translate(bug)
        if state.call and state.has_begun and state.tool.effect == "act":
            if isinstance(error, BrowserCrashedError):
                error.forbid_retry(dispatched="unknown")
            elif advice := advise_after_failures(state.call, state.tool.name, state.arguments, error.code):
                error.suggestion = f"{error.suggestion} {advice}"
        return failure(error, events=_take_events(state))

    async def _run_stages(self, state: CallState, report: Report | None) -> Answer:
        tool = state.tool
        arguments = tool.parse(state.arguments, self._secrets)
        tool.check_permission(self._settings.security)
        deadline = make_deadline(tool, arguments, self._settings.session)
        async with report_stages(
            report, began=state.began, total_ms=deadline.timeout_ms, stage=_describe_stage(tool)
        ) as stage:
            deadline = replace(deadline, stage=stage)
            try:
                async with contextlib.AsyncExitStack() as stack:
                    async with asyncio.timeout_at(deadline.expires):
                        call = state.call = await self._make_call(state, deadline)
                        if tool.scope == "server":
                            state.has_begun = True
                            return success(await tool.run(call, arguments), images=call.report.images)
                        await self._enter_session(state, call, arguments, stack)
                        if tool.scope == "page":
                            await _find_page(call, arguments)
                    return await self._run_in_session(state, call, arguments)
            except TimeoutError:
                raise await self._late_error(state, deadline) from None

    async def _late_error(self, state: CallState, deadline: Deadline) -> FootlightError:
        """Return the error of a call that missed its deadline, with the reason for the wait."""
        silent = None
        if state.awaited is None and self._find_silent_part is not None:
            silent = await self._find_silent_part(RESPONSE_SECONDS)
        elif state.awaited is not None and not state.has_begun and state.awaited.takeover.is_active:
            return state.awaited.takeover.refusal()
        return deadline_exceeded(state.tool, deadline, has_begun=state.has_begun, silent=silent)

    async def _make_call(self, state: CallState, deadline: Deadline) -> ToolCall:
        return ToolCall(
            settings=self._settings,
            deadline=deadline,
            sessions=await self._get_table(deadline),
            states=self._states.below(state.caller.scope_name("")),
            caller=state.caller,
            mask=self._mask,
            is_recorded=self._recorder is not None,
            elicitation=state.elicitation,
            live_view=self._live_view,
        )

    async def _get_table(self, deadline: Deadline) -> SessionTable:
        is_first = self._table is None
        if is_first:
            deadline.stage("starting the browser")
        self._table = await self._sessions()
        if is_first:
            deadline.stage("opening the session")
        return self._table

    async def _enter_session(
        self, state: CallState, call: ToolCall, arguments: BaseModel, stack: contextlib.AsyncExitStack
    ) -> None:
        """Find or create the session, and acquire its lock until `stack` is closed."""
        # A session that is being created is completed even if this call is cancelled, for the next call.
        session = await shield_until_done(call.sessions.get(_session_name(arguments), caller=state.caller))
        state.awaited = session
        if state.followed is not None:
            state.followed.wait_for(session)
        await stack.enter_async_context(_session_lock(session, call.deadline, state.tool))
        state.session = session
        call.use_session(session)

    async def _run_in_session(self, state: CallState, call: ToolCall, arguments: BaseModel) -> Answer:
        tool, session = state.tool, call.session
        state.has_begun = True
        options = ObservationOptions.of(arguments, self._settings.observation)
        observer = Observer(tool, options) if tool.observed else None
        call = replace(call, deadline=call.deadline.start_patience())
        call = replace(call, steps=functools.partial(self._run_steps, call, arguments, observer))
        state.call = call
        if tool.queued:  # Events during a queued call belong to that call.
            session.actions.begin(acts=tool.effect == "act")
        try:
            if state.followed is not None:
                await state.followed.before(call)
            if observer:
                async with TimeLimit(tool, call):
                    await observer.begin(call)
            return await act_and_observe(state, call, arguments, observer)
        finally:
            if tool.queued:
                session.actions.end()
            if state.followed is not None and not state.is_abandoned:
                await state.followed.after(call)
            if self._recorder is not None and not state.is_abandoned:
                state.observed = await self._recorder.observe(tool, call)

    async def _finish(self, state: CallState, answer: Answer) -> Answer:
        """Mask and shorten an answer, and add the session and the duration."""
        # Mask an answer before it is stored or cut, because a part of a secret would not be found.
        characters = 1_000 if self._mask is keep_unmasked else CHARACTERS_A_NODE
        work = count_work([answer.content, answer.events, answer.source], characters=characters)
        answer = await offload(work, lambda: _mask_and_write(answer, self._mask))
        if answer.success and state.session and not state.tool.whole:
            max_bytes = self._settings.resources.max_inline_text
            answer = shorten_answer(answer, state.session, tool=state.tool.name, max_bytes=max_bytes)
        session = state.session or (state.call and state.call.report.session)
        active = self._table.active_id(caller=state.caller) if self._table and not session else None
        return replace(
            answer, session_id=session.id if session else active, duration_ms=round(state.elapsed_ms)
        )

    async def _record(self, state: CallState, answer: Answer) -> None:
        """Pass a call with valid arguments to the recorder, whose errors do not affect the call."""
        if self._recorder is None or state.call is None:
            return
        recorded = RecordedCall(state.tool, state.arguments, answer, state.call, state.observed)
        with _logged_record("call", state.tool):
            await self._recorder.record(recorded)

    async def _run_steps(
        self,
        call: ToolCall,
        arguments: BaseModel,
        observer: Observer | None,
        given: Sequence[Mapping[str, Any]],
        stop_on_error: bool,
    ) -> list[StepOutcome]:
        steps = parse_steps(
            given,
            self.tools,
            session_id=call.session.id,
            own_id=functools.partial(call.sessions.own_id, caller=call.caller),
            secrets=self._secrets,
        )
        for step in steps:
            step.tool.check_permission(self._settings.security)
        return await run_steps(
            call,
            steps,
            page_id=getattr(arguments, "page_id", None),
            stop_on_error=stop_on_error,
            settle=lambda call: settle(call, observer),
            on_step_done=self._record_step,
        )

    async def _record_step(
        self, step: BatchStep, call: ToolCall, outcome: StepOutcome, duration_ms: int
    ) -> None:
        """Record a step in the same way as a call."""
        if self._recorder is None:
            return
        answer = success(outcome.data or {}) if outcome.error is None else failure(outcome.error)
        answer = self._mask(replace(answer, session_id=call.session.id, duration_ms=duration_ms))
        with _logged_record("step", step.tool):
            observed = await self._recorder.observe(step.tool, call)
            await self._recorder.record(RecordedCall(step.tool, step.given, answer, call, observed))


@contextlib.contextmanager
def _logged_record(what: str, tool: Tool) -> Generator[None]:
    """Log errors of the recorder, which do not affect the call. A known error is logged without traceback."""
    try:
        yield
    except (OSError, FootlightError) as error:
        logger.error("a %s of %s could not be recorded: %s", what, tool.name, error)
    except Exception:
        logger.exception("a %s of %s could not be recorded", what, tool.name)


def _mask_and_write(answer: Answer, mask: Mask) -> Answer:
    masked = mask(answer)
    _ = masked.text  # Computed and cached here, because this may run in a thread.
    return masked


def _session_name(arguments: BaseModel) -> str | None:
    """Return the session's name or its id, depending on the toolset."""
    name: str | None = getattr(arguments, "session_name", None)
    id: str | None = getattr(arguments, "session_id", None)
    return id if name is None else name


@contextlib.asynccontextmanager
async def _session_lock(session: Session, deadline: Deadline, tool: Tool) -> AsyncGenerator[None]:
    """Acquire the session's lock. If another call has it, a tool that is not queued runs without it.

    Raises:
        HumanInControlError: a person controls the session, and the tool is not queued and makes changes.
    """
    waits = session.lock.locked()
    if waits and not tool.queued:
        if tool.effect != "read":
            session.takeover.check()
        yield
        return
    if waits:
        deadline.stage(session.takeover.stage)
    async with session.lock:
        if waits:
            deadline.stage(_describe_stage(tool))
        yield


async def _find_page(call: ToolCall, arguments: BaseModel) -> None:
    """Find the page that the call names, or the selected page.

    Raises:
        DialogOpenError: a dialog blocks the page.
    """
    call.use_page(await call.session.page_table.get(getattr(arguments, "page_id", None)))
    call.page.view.begin_locating(portable=bool(getattr(arguments, "locator", None)))
    await check_no_dialog(call)


def _make_masking_report(report: Report, mask: Mask) -> Report:
    async def send(progress: float, total: float | None, message: str | None) -> None:
        await report(progress, total, mask(message))

    return send


def _describe_stage(tool: Tool) -> str:
    return f"{tool.name} is running"


def _take_events(state: CallState) -> Any:
    """Return the events for a failed call. Events of an abandoned call are kept for the next call."""
    return state.session.actions.take_events() if state.session and not state.is_abandoned else None
