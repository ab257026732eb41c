"""Record the steps: the calls, the observation after each, and the environment."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from footlight.browser.driver.deadline import Deadline
from footlight.errors import FootlightError
from footlight.knowledge.facts import FactsReader
from footlight.knowledge.steps import RawStep, StepObservation
from footlight.toolsets.metamask.envelope import document_code

if TYPE_CHECKING:
    from pathlib import Path

    from footlight.apps.nodes import RefMap
    from footlight.apps.observation import AppObservation
    from footlight.apps.sessions import AppSessions
    from footlight.apps.starter import RunningApp
    from footlight.knowledge.store import KnowledgeStore
    from footlight.server.calls.recording import RecordedCall
    from footlight.server.tools import Tool, ToolCall

__all__ = ["RECORDED", "StepRecorder"]

logger = logging.getLogger(__name__)

RECORDED = frozenset(
    (
        *("launch", "get_state", "describe_screen", "list_testids", "accessibility_snapshot"),
        *("click", "type", "wait_for", "wait_for_notification", "screenshot"),
    )
)
"""Tools whose every call is recorded."""
ALSO_RECORDED = frozenset(("navigate", "switch_tab", "close_tab", "get_text"))
"""Additional tools to record, because a recipe without them would have gaps."""
OBSERVE_MS = 1_000
MAX_NODES = 150
TARGET = ("a11yRef", "testId", "selector")


class StepRecorder:
    """Records the calls of a toolset with the given prefix of tool names."""

    def __init__(self, store: KnowledgeStore, *, prefix: str, repository: Path, strict: bool) -> None:
        self._store = store
        self._prefix = prefix
        self._repository = repository
        self._names = RECORDED if strict else RECORDED | ALSO_RECORDED
        self._facts = FactsReader(repository)
        self._build: Mapping[str, Any] = {}

    async def observe(self, tool: Tool, call: ToolCall) -> StepObservation | None:
        """Return the observation that the call made itself, or a new one."""
        if self._remove_prefix(tool) not in self._names:
            return None
        running = cast("AppSessions", call.sessions).find_running(caller=call.caller)
        if running is None:
            return None
        return await _observe_app(running)

    async def record(self, recorded: RecordedCall) -> None:
        name = self._remove_prefix(recorded.tool)
        if name == "launch":
            self._learn(recorded)
        if name not in self._names:
            return
        facts = replace(self._facts.facts, build=self._build)
        running = _find_running(recorded)
        observed = cast("StepObservation | None", recorded.observed)
        if observed is None and running is not None and name == "launch":
            observed = await _observe_app(running)
        step = self._step(recorded, name, observed)
        await asyncio.to_thread(self._store.record, step, facts)

    def _remove_prefix(self, tool: Tool) -> str:
        return tool.name.removeprefix(f"{self._prefix}_")

    def _learn(self, recorded: RecordedCall) -> None:
        """Read the facts of the repository and the build, once per session."""
        self._facts.refresh()
        running = _find_running(recorded)
        if running is not None:
            folder, root = running.folder, self._repository.resolve()
            below = folder.relative_to(root).as_posix() if folder.is_relative_to(root) else str(folder)
            is_built = running.profile.build is not None and folder == (root / running.profile.dist).resolve()
            kind = {"buildType": "build:test"} if is_built else {}
            self._build = {**kind, "extensionPathResolved": below}

    def _step(self, recorded: RecordedCall, name: str, observed: StepObservation | None) -> RawStep:
        answer = recorded.answer
        target = {key: value for key, value in recorded.arguments.items() if key in TARGET}
        return RawStep(
            tool=recorded.tool.name,
            session_id=answer.session_id,
            at=recorded.at,
            ok=answer.success,
            duration_ms=answer.duration_ms,
            input=recorded.arguments,
            target={key: value for key, value in target.items() if isinstance(value, str)} or None,
            field=recorded.typed_field,
            error=None if answer.success else self._error(name, answer.content["error"]),
            observation=observed,
            screenshot=_find_screenshot(name, answer.content.get("data") or {}),
        )

    def _error(self, name: str, error: Mapping[str, Any]) -> dict[str, Any]:
        code = f"{self._prefix.upper()}_{document_code(name, error['code'])}"
        return {"code": code, "message": error["message"], "details": error["details"]}


def _find_running(recorded: RecordedCall) -> RunningApp | None:
    call = recorded.call
    return cast("AppSessions", call.sessions).find_running(caller=call.caller)


async def _observe_app(running: RunningApp) -> StepObservation | None:
    """Return the current screen, with the refs that the caller knows from earlier answers."""
    page = running.app.current
    if page is None or page.closed:
        return None
    with contextlib.suppress(FootlightError):
        look = running.take_look()
        if look is None or look.state.current_url != page.url:
            look = await running.look(page, Deadline.after(OBSERVE_MS))
            running.take_look()
        return _make_observation(look, running.refs_of(page))
    return None


def _make_observation(look: AppObservation, refs: RefMap) -> StepObservation:
    nodes = refs.describe_for_record(look.nodes[:MAX_NODES])
    return StepObservation(state=look.state.as_json(), test_ids=look.describe_test_ids(), nodes=nodes)


def _find_screenshot(name: str, data: Mapping[str, Any]) -> dict[str, Any] | None:
    shot = data if name == "screenshot" else data.get("screenshot")
    return {key: shot[key] for key in ("path", "width", "height")} if shot and "path" in shot else None
