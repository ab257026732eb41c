"""Name and arguments in, answer out: the one place for what every call needs.

Find the tool, validate its arguments, check what it is permitted, find the session, take its lock, keep
one deadline, run, gather what happened beside it, translate the error. Plain values go in and come out,
so that a front process may one day route a call to where its session lives.

A call runs in a task of its own. The one who waits for it can be cancelled at any point, and again and again,
as anyio does; the work is cancelled once, and takes back what it began before its session takes another call.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import secrets
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from footlight.browser.deadline import Deadline
from footlight.browser.unbroken import detached, unbroken
from footlight.caller import LOCAL, Caller
from footlight.errors import DeadlineExceeded, FootlightError, InternalError, PermissionDenied
from footlight.server.answer import Answer, failure, success
from footlight.server.dialog_race import check_no_dialog, cut_short, until_dialog
from footlight.server.keeping import keep_if_long
from footlight.server.masking import Mask, unmasked
from footlight.server.observing import Observer
from footlight.server.progress import Report, reporting
from footlight.server.recording import Recorded
from footlight.server.selection import how_to_get
from footlight.server.steps import Outcome, Step, StepFailed, parse_steps, run_all
from footlight.server.tool import Tool, ToolCall

if TYPE_CHECKING:
    from pydantic import BaseModel

    from footlight.browser.page import Page
    from footlight.browser.session import Session
    from footlight.browser.session_table import SessionTable
    from footlight.browser.storage import StateStore
    from footlight.config import Settings
    from footlight.server.recording import Recorder
    from footlight.server.secrets import Secrets

__all__ = ["Dispatcher", "UnknownTool"]

logger = logging.getLogger(__name__)

GRACE_SECONDS = 8.0
"""A call that ran out of time may look for the reason before it is cut off."""
CHANGE_SECONDS = 1.0
"""A call that changes the session itself is not left half done when it is cancelled, if it ends so soon."""


class UnknownTool(LookupError):
    """Not a tool's failure but a wrong request; the protocol has its own answer for it."""

    def __init__(self, name: str, *, why: str | None = None) -> None:
        super().__init__(f"Unknown tool: {name}" + (f". {why}" if why else ""))


@dataclass(slots=True)
class _Course:
    """A call, and how far it came: for the error that says so, and for its end before it is done."""

    tool: Tool
    caller: Caller
    report: Report | None
    began: float = field(default_factory=time.monotonic)
    session: Session | None = None
    running: bool = False
    changing: bool = False
    clearing: bool = False
    abandoned: bool = False
    call: ToolCall | None = None
    observed: object = None

    def abandon(self, work: asyncio.Task[Answer]) -> None:
        """Nobody waits for the answer any more."""
        self.abandoned = True
        work.add_done_callback(lambda _: self._take_back())
        if self.changing:
            asyncio.get_running_loop().call_later(CHANGE_SECONDS, self._cancel, work)
        else:
            self._cancel(work)

    def _take_back(self) -> None:
        """Also where the work was done already, and only its answer had no reader."""
        for undo in self.call.undo if self.call else ():
            detached(undo())

    def _cancel(self, work: asyncio.Task[Answer]) -> None:
        if not self.clearing:
            work.cancel()


class Dispatcher:
    """Run tools. One call at a time in a session; sessions do not wait for each other."""

    def __init__(
        self,
        tools: Iterable[Tool],
        settings: Settings,
        *,
        sessions: Callable[[], Awaitable[SessionTable]],
        states: StateStore,
        withheld: Iterable[Tool] = (),
        secrets: Secrets | None = None,
        mask: Mask = unmasked,
        recorder: Recorder | None = None,
    ) -> None:
        """`withheld` are tools that there are, but not here; `mask` goes over all that leaves."""
        self._recorder = recorder
        self._table: SessionTable | None = None
        self._tools = {tool.name: tool for tool in tools}
        self._withheld = {tool.name: tool for tool in withheld}
        self._secrets = secrets
        self._mask = mask
        self._settings = settings
        self._sessions = sessions
        self._states = states
        self._started = False
        self._working: set[asyncio.Task[Answer]] = set()

    @property
    def tools(self) -> tuple[Tool, ...]:
        return tuple(self._tools.values())

    def get(self, name: str) -> Tool:
        """Raises UnknownTool."""
        if name not in self._tools:
            withheld = self._withheld.get(name)
            raise UnknownTool(name, why=how_to_get(withheld, self._settings.tools) if withheld else None)
        return self._tools[name]

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        caller: Caller = LOCAL,
        report: Report | None = None,
    ) -> Answer:
        """Raises UnknownTool; everything else that goes wrong is an answer. `report` hears how far it is."""
        course = _Course(self.get(name), caller, report and _masking(report, self._mask))
        work = asyncio.create_task(self._work(course, arguments))
        self._working.add(work)
        work.add_done_callback(self._working.discard)
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            course.abandon(work)
            raise

    async def _work(self, course: _Course, arguments: Mapping[str, Any]) -> Answer:
        outcome = "cancelled"
        try:
            answer = self._completed(course, await self._answer_or_failure(course, arguments))
            if not course.abandoned:
                outcome = "ok" if answer.success else answer.content["error"]["code"]
                await self._record(course, arguments, answer)
            return answer
        finally:
            logger.info(
                "call",
                extra={
                    "tool": course.tool.name,
                    "ms": round((time.monotonic() - course.began) * 1000, 1),
                    "outcome": outcome,
                    "session": course.session.id if course.session else None,
                },
            )

    def _completed(self, course: _Course, answer: Answer) -> Answer:
        session = course.session or (course.call and course.call.maybe_session)
        active = self._table.active_id(caller=course.caller) if self._table and not session else None
        return replace(
            answer,
            session_id=session.id if session else active,
            duration_ms=round((time.monotonic() - course.began) * 1000),
        )

    async def _record(self, course: _Course, arguments: Mapping[str, Any], answer: Answer) -> None:
        """What cannot be written down is no fault of the call."""
        if self._recorder is None:
            return
        told = Recorded(course.tool, arguments, answer, course.call, course.observed)
        try:
            await self._recorder.record(told)
        except Exception:
            logger.exception("a call of %s could not be recorded", course.tool.name)

    async def _answer_or_failure(self, course: _Course, arguments: Mapping[str, Any]) -> Answer:
        try:
            return self._mask(await self._answer(course, arguments))
        except FootlightError as error:
            return self._mask(failure(_traced(error, course.tool), events=_events(course)))
        except Exception as error:  # noqa: BLE001 - the one boundary where a bug becomes an answer
            return self._mask(failure(await _explained(error, course), events=_events(course)))

    async def _answer(self, course: _Course, arguments: Mapping[str, Any]) -> Answer:
        parsed = course.tool.parse(arguments, self._secrets)
        self._check_permission(course.tool)
        timeout_ms, patience_ms = self._limits(course.tool, parsed)
        async with reporting(
            course.report, began=course.began, total_ms=timeout_ms, stage=_runs(course.tool)
        ) as stage:
            deadline = Deadline.after(timeout_ms, patience_ms=patience_ms, stage=stage)
            try:
                async with asyncio.timeout(timeout_ms / 1000) as limit:
                    return await self._run(course, parsed, deadline, limit)
            except TimeoutError:
                raise _overdue(course, deadline) from None

    def _limits(self, tool: Tool, parsed: BaseModel) -> tuple[float, float]:
        """For the whole call, and for an element to appear."""
        if tool.limits is not None:
            return tool.limits(parsed)
        timeout_ms: float | None = getattr(parsed, "timeout", None)
        if timeout_ms is not None and "timeout" in parsed.model_fields_set:
            return timeout_ms, timeout_ms
        session = self._settings.session
        return tool.default_timeout_ms or session.default_timeout, session.element_timeout

    def _check_permission(self, tool: Tool) -> None:
        security = self._settings.security
        if tool.permission == "evaluation" and not security.enable_script_evaluation:
            raise _switched_off(tool, "security.enableScriptEvaluation")
        if tool.permission == "upload" and not security.enable_file_upload:
            raise _switched_off(tool, "security.enableFileUpload")

    async def _run(
        self, course: _Course, parsed: BaseModel, deadline: Deadline, limit: asyncio.Timeout
    ) -> Answer:
        tool, caller = course.tool, course.caller
        sessions = await self._get_sessions(deadline)
        call = ToolCall(self._settings, deadline, sessions, self._states.below(caller.scoped("")), caller)
        call.mask = self._mask
        call.written_down = self._recorder is not None
        course.call = call
        if tool.scope == "server":
            return success(await tool.run(call, parsed), images=call.images)
        # Whoever asks next can use a session that is being made.
        session = await unbroken(sessions.get(_session_named(parsed), caller=caller))
        async with _turn(session, deadline, tool):
            course.session = call.maybe_session = session
            if tool.scope == "page":
                call.maybe_page = await session.page(getattr(parsed, "page_id", None))
                call.maybe_page.view.take_located()  # Of a call that failed.
                await check_no_dialog(call)
            try:
                return await self._run_in_turn(course, call, parsed, limit)
            finally:
                course.observed = await self._observed(course, call)

    async def _observed(self, course: _Course, call: ToolCall) -> object:
        """What the page is like after the call, before another can change it."""
        if self._recorder is None or course.abandoned:
            return None
        return await self._recorder.observe(course.tool, call)

    async def _run_in_turn(
        self, course: _Course, call: ToolCall, parsed: BaseModel, limit: asyncio.Timeout
    ) -> Answer:
        tool, session, deadline = course.tool, call.session, call.deadline
        course.running = True
        call.deadline = deadline.begun()
        limit.reschedule((limit.when() or 0) + GRACE_SECONDS)
        if tool.queued:  # Beside another call nothing begins: what happens is that call's.
            session.begin_action(acts=tool.effect == "act")
        observer = Observer(tool, call, parsed) if tool.observed else None
        if observer:
            await observer.begin()
        call.steps = functools.partial(self._run_steps, call, parsed, observer)
        stopped: StepFailed | None = None
        data: Mapping[str, Any] | None
        try:
            running = _run_tool(course, call, parsed)
            raced = tool.queued and not tool.batch
            data = await (until_dialog(call, running) if raced else running)
        except StepFailed as failed:
            data, stopped = {}, failed
        except asyncio.CancelledError:
            course.clearing = True
            if not limit.expired():
                limit.reschedule(None)
            session.events.closed += await session.close_hung()
            raise
        observation = None
        if data is None:
            data = await cut_short(tool, call)
        elif tool.effect == "act":
            observation = await until_dialog(call, _aftermath(session, deadline, observer))
        elif observer:
            observation = await until_dialog(call, observer.tell())
        session.touch()
        if stopped:
            failed = failure(
                stopped.explained(),
                observation=observation,
                events=session.take_events(),
                images=call.images,
                links=call.links,
            )
            return _about(call.maybe_page, failed)
        answer = success(
            _with_healed(data, call),
            observation=observation,
            events=session.take_events(),
            images=call.images,
            links=call.links,
        )
        answer = _about(call.maybe_page, answer)
        max_inline_text = self._settings.resources.max_inline_text
        # What is kept, or shown as a beginning, is masked whole: half a secret would not be found.
        masked = self._mask(answer)
        if not tool.whole:
            masked = keep_if_long(masked, session, tool=tool.name, max_inline_text=max_inline_text)
        return replace(masked, locator=self._mask(_locator(call)))

    async def _run_steps(
        self,
        call: ToolCall,
        parsed: BaseModel,
        observer: Observer | None,
        given: Sequence[Mapping[str, Any]],
        stop_on_error: bool,
    ) -> list[Outcome]:
        steps = parse_steps(given, self._tools, session_id=call.session.id, secrets=self._secrets)
        for step in steps:
            self._check_permission(step.tool)

        async def settle() -> None:
            if observer:
                await observer.settle()
            await call.session.settle(call.deadline)

        page_id: str | None = getattr(parsed, "page_id", None)
        return await run_all(
            call,
            steps,
            page_id=page_id,
            stop_on_error=stop_on_error,
            settle=settle,
            after=functools.partial(self._record_step, call),
        )

    async def _record_step(self, call: ToolCall, step: Step, outcome: Outcome, duration_ms: int) -> None:
        """A step is written down as if it were a call."""
        if self._recorder is None:
            return
        answer = success(outcome.data or {}) if outcome.error is None else failure(outcome.error)
        answer = self._mask(replace(answer, session_id=call.session.id, duration_ms=duration_ms))
        try:
            observed = await self._recorder.observe(step.tool, call)
            await self._recorder.record(Recorded(step.tool, step.given, answer, call, observed))
        except Exception:
            logger.exception("a step of %s could not be recorded", step.tool.name)

    async def _get_sessions(self, deadline: Deadline) -> SessionTable:
        if not self._started:
            deadline.stage("starting the browser")
        sessions = self._table = await self._sessions()
        if not self._started:
            deadline.stage("opening the session")
        self._started = True
        return sessions


def _session_named(parsed: BaseModel) -> str | None:
    """By its id or its name, whichever the toolset has."""
    name: str | None = getattr(parsed, "session_name", None)
    id: str | None = getattr(parsed, "session_id", None)
    return id if name is None else name


@contextlib.asynccontextmanager
async def _turn(session: Session, deadline: Deadline, tool: Tool) -> AsyncGenerator[None]:
    """Hold the session's lock; a tool that must not wait for it goes without where it is taken."""
    waits = session.lock.locked()
    if waits and not tool.queued:
        yield
        return
    if waits:
        deadline.stage("waiting for the session")
    async with session.lock:
        if waits:
            deadline.stage(_runs(tool))
        yield


async def _run_tool(course: _Course, call: ToolCall, parsed: BaseModel) -> Mapping[str, Any]:
    course.changing = course.tool.effect == "configure"
    data = await course.tool.run(call, parsed)
    if course.abandoned:
        raise asyncio.CancelledError
    return data


async def _aftermath(
    session: Session, deadline: Deadline, observer: Observer | None
) -> dict[str, Any] | None:
    """What an action leads to, waited for and told."""
    if observer:
        await observer.settle()
    await session.settle(deadline)
    return await observer.tell() if observer else None


def _about(page: Page | None, answer: Answer) -> Answer:
    return replace(answer, source=page.url) if page else answer


def _with_healed(data: Mapping[str, Any], call: ToolCall) -> Mapping[str, Any]:
    """Which refs led to the successors of their elements."""
    healed = call.maybe_page.view.take_healed() if call.maybe_page else {}
    return {**data, "healed": healed} if healed else data


def _locator(call: ToolCall) -> Any:
    return call.locator or (call.maybe_page.view.take_located() if call.maybe_page else None)


def _masking(report: Report, mask: Mask) -> Report:
    async def masked(progress: float, total: float | None, message: str | None) -> None:
        await report(progress, total, mask(message))

    return masked


def _runs(tool: Tool) -> str:
    return f"{tool.name} is running"


def _switched_off(tool: Tool, setting: str) -> PermissionDenied:
    return PermissionDenied(
        f"{tool.name} is switched off on this server",
        suggestion=f"Whoever runs the server can switch it on: {setting} = true.",
        setting=setting,
    )


def _overdue(course: _Course, deadline: Deadline) -> DeadlineExceeded:
    """Only what our own clock had to cut off comes here."""
    tool = course.tool
    after = f"after {deadline.timeout_ms:.0f}ms"
    if not course.running:
        return DeadlineExceeded(
            f"{tool.name} timed out {after} before it could begin: the browser or another call was busy",
            timeout=deadline.timeout_ms,
            dispatched=False,
        )
    dispatched = tool.effect != "read"
    return DeadlineExceeded(
        f"{tool.name} timed out {after}",
        retryable=not dispatched,
        timeout=deadline.timeout_ms,
        dispatched=dispatched,
    )


async def _explained(error: Exception, course: _Course) -> FootlightError:
    """Everything fails in a session that has ended; what fails otherwise is a bug."""
    if course.session and (ended := await course.session.ended()):
        return ended
    return _traced(InternalError(f"Unexpected {type(error).__name__}"), course.tool, error)


def _traced(error: FootlightError, tool: Tool, cause: Exception | None = None) -> FootlightError:
    """A bug is logged whole, under an id that the answer carries."""
    if isinstance(error, InternalError):
        error.details["errorId"] = error_id = secrets.token_hex(6)
        logger.error("%s failed [%s]", tool.name, error_id, exc_info=cause or error)
    return error


def _events(course: _Course) -> Any:
    """Those of a call that nobody waits for are left to the next."""
    return course.session.take_events() if course.session and not course.abandoned else None
