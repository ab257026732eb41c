"""Name and arguments in, answer out: the one place for what every call needs.

Find the tool, validate its arguments, check what it is permitted, find the session, take its lock, keep
one deadline, run, gather what happened beside it, translate the error. Plain values go in and come out,
so that a front process may one day route a call to where its session lives.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from footlight.browser.deadline import Deadline
from footlight.caller import LOCAL, Caller
from footlight.errors import DeadlineExceeded, FootlightError, InternalError, PermissionDenied
from footlight.server.answer import Answer, failure, success
from footlight.server.tool import Tool, ToolCall

if TYPE_CHECKING:
    from pydantic import BaseModel

    from footlight.browser.session import Session
    from footlight.browser.sessions import SessionsFactory
    from footlight.browser.storage import StateStore
    from footlight.config import Settings

__all__ = ["Dispatcher", "UnknownTool"]

logger = logging.getLogger(__name__)

GRACE_SECONDS = 3.0
"""A call that ran out of time may look for the reason before it is cut off."""


class UnknownTool(LookupError):
    """Not a tool's failure but a wrong request; the protocol has its own answer for it."""


@dataclass(slots=True)
class _Progress:
    """How far a call came, for the error that says so."""

    session: Session | None = None
    running: bool = False


class Dispatcher:
    """Run tools. One call at a time in a session; sessions do not wait for each other."""

    def __init__(
        self, tools: Iterable[Tool], settings: Settings, *, sessions: SessionsFactory, states: StateStore
    ) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._settings = settings
        self._sessions = sessions
        self._states = states

    @property
    def tools(self) -> tuple[Tool, ...]:
        return tuple(self._tools.values())

    async def call(self, name: str, arguments: Mapping[str, Any], *, caller: Caller = LOCAL) -> Answer:
        """Raises UnknownTool; everything else that goes wrong is an answer."""
        tool = self._tools.get(name)
        if tool is None:
            raise UnknownTool(name)
        began = time.monotonic()
        progress = _Progress()
        try:
            answer = await self._answer(tool, arguments, caller, progress)
        except FootlightError as error:
            answer = failure(_traced(error, tool), events=_events(progress))
        except Exception as error:  # noqa: BLE001 - the one boundary where a bug becomes an answer
            answer = failure(await _explained(error, tool, progress), events=_events(progress))
        logger.info(
            "call",
            extra={
                "tool": name,
                "ms": round((time.monotonic() - began) * 1000, 1),
                "outcome": "ok" if answer.success else answer.content["error"]["code"],
                "session": progress.session.id if progress.session else None,
            },
        )
        return answer

    async def _answer(
        self, tool: Tool, arguments: Mapping[str, Any], caller: Caller, progress: _Progress
    ) -> Answer:
        parsed = tool.parse(arguments)
        self._check_permission(tool)
        deadline = self._deadline(parsed)
        try:
            async with asyncio.timeout(deadline.timeout_ms / 1000) as limit:
                return await self._run(tool, parsed, deadline, caller, progress, limit)
        except TimeoutError:
            raise _overdue(tool, deadline, progress) from None

    def _deadline(self, parsed: BaseModel) -> Deadline:
        timeout_ms: float | None = getattr(parsed, "timeout", None)
        if timeout_ms is not None and "timeout" in parsed.model_fields_set:
            return Deadline.after(timeout_ms)
        session = self._settings.session
        return Deadline.after(session.default_timeout, patience_ms=session.element_timeout)

    def _check_permission(self, tool: Tool) -> None:
        security = self._settings.security
        if tool.permission == "evaluation" and not security.enable_script_evaluation:
            raise _switched_off(tool, "security.enableScriptEvaluation")
        if tool.permission == "upload" and not security.enable_file_upload:
            raise _switched_off(tool, "security.enableFileUpload")

    async def _run(
        self,
        tool: Tool,
        parsed: BaseModel,
        deadline: Deadline,
        caller: Caller,
        progress: _Progress,
        limit: asyncio.Timeout,
    ) -> Answer:
        sessions = await self._sessions()
        call = ToolCall(self._settings, deadline, sessions, self._states.below(caller.scoped("")), caller)
        if tool.scope == "server":
            return success(await tool.run(call, parsed), images=call.images)
        session = await sessions.get(getattr(parsed, "session_id", None), caller=caller)
        async with session.lock:
            progress.session = call.maybe_session = session
            if tool.scope == "page":
                call.maybe_page = await session.page(getattr(parsed, "page_id", None))
            progress.running = True
            limit.reschedule((limit.when() or 0) + GRACE_SECONDS)
            session.begin_action()
            try:
                data = await tool.run(call, parsed)
            except asyncio.CancelledError:
                await asyncio.shield(session.close_hung())
                raise
            if tool.effect == "act":
                await session.settle(deadline)
            session.touch()
            return success(data, events=session.take_events(), images=call.images)


def _switched_off(tool: Tool, setting: str) -> PermissionDenied:
    return PermissionDenied(
        f"{tool.name} is switched off on this server",
        suggestion=f"Whoever runs the server can switch it on: {setting} = true.",
        setting=setting,
    )


def _overdue(tool: Tool, deadline: Deadline, progress: _Progress) -> DeadlineExceeded:
    """Only what our own clock had to cut off comes here."""
    after = f"after {deadline.timeout_ms:.0f}ms"
    if not progress.running:
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


async def _explained(error: Exception, tool: Tool, progress: _Progress) -> FootlightError:
    """Everything fails in a session that has ended; what fails otherwise is a bug."""
    if progress.session and (ended := await progress.session.ended()):
        return ended
    return _traced(InternalError(f"Unexpected {type(error).__name__}"), tool, error)


def _traced(error: FootlightError, tool: Tool, cause: Exception | None = None) -> FootlightError:
    """A bug is logged whole, under an id that the answer carries."""
    if isinstance(error, InternalError):
        error.details["errorId"] = error_id = secrets.token_hex(6)
        logger.error("%s failed [%s]", tool.name, error_id, exc_info=cause or error)
    return error


def _events(progress: _Progress) -> Any:
    return progress.session.take_events() if progress.session else None
