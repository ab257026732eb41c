"""Writing the steps down: which calls, what was seen after them, and where they ran (002 §6)."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from footlight.browser.deadline import Deadline
from footlight.errors import FootlightError
from footlight.knowledge.facts import LearntFacts
from footlight.knowledge.records import Observation, Step
from footlight.server.masking import Mask, unmasked
from footlight.server.typed_field import field_of
from footlight.toolsets.metamask.envelope import code_of

if TYPE_CHECKING:
    from pathlib import Path

    from footlight.apps.observing import Look
    from footlight.apps.ref_map import RefMap
    from footlight.apps.sessions import AppSessions, RunningApp
    from footlight.knowledge.store import KnowledgeStore
    from footlight.server.recording import Recorded
    from footlight.server.tool import Tool, ToolCall

__all__ = ["RECORDED", "StepRecorder"]

logger = logging.getLogger(__name__)

RECORDED = frozenset(
    (
        *("launch", "get_state", "describe_screen", "list_testids", "accessibility_snapshot"),
        *("click", "type", "wait_for", "wait_for_notification", "screenshot"),
    )
)
"""On every call (R002-22)."""
BEYOND = frozenset(("navigate", "switch_tab", "close_tab", "get_text"))
"""Those that the document does not name: without them a recipe would have gaps."""
LOOK_MS = 1_000
SHOWN_NODES = 150
TARGET = ("a11yRef", "testId", "selector")


class StepRecorder:
    """`prefix` is that of the tools' names."""

    def __init__(self, store: KnowledgeStore, *, prefix: str, repository: Path, strict: bool) -> None:
        self._store = store
        self._prefix = prefix
        self._repository = repository
        self._names = RECORDED if strict else RECORDED | BEYOND
        self._facts = LearntFacts(repository)
        self._build: Mapping[str, Any] = {}

    async def observe(self, tool: Tool, call: ToolCall) -> Observation | None:
        """What the call has looked at itself, else a look of ours."""
        if self._plain(tool) not in self._names:
            return None
        running = cast("AppSessions", call.sessions).find_running(caller=call.caller)
        if running is None:
            return None
        return await _seen(running, cast("Mask", call.mask))

    async def record(self, recorded: Recorded) -> None:
        name = self._plain(recorded.tool)
        if name == "launch":
            self._learn(recorded)
        if name not in self._names:
            return
        facts = replace(self._facts.known, build=self._build)
        running = _running(recorded)
        observed = cast("Observation | None", recorded.observed)
        if observed is None and running is not None and name == "launch":
            observed = await _seen(running, cast("Mask", recorded.call.mask) if recorded.call else unmasked)
        step = self._step(recorded, name, observed)
        await asyncio.to_thread(self._store.record, step, facts)

    def _plain(self, tool: Tool) -> str:
        return tool.name.removeprefix(f"{self._prefix}_")

    def _learn(self, recorded: Recorded) -> None:
        """Once for each session: asking git and node takes its time."""
        self._facts.ask()
        running = _running(recorded)
        if running is not None:
            folder, root = running.folder, self._repository.resolve()
            below = folder.relative_to(root).as_posix() if folder.is_relative_to(root) else str(folder)
            self._build = {"buildType": "build:test", "extensionPathResolved": below}

    def _step(self, recorded: Recorded, name: str, observed: Observation | None) -> Step:
        answer = recorded.answer
        typed = recorded.call.typed_into if recorded.call else None
        given = {key: value for key, value in recorded.arguments.items() if key in TARGET}
        return Step(
            tool=recorded.tool.name,
            session_id=answer.session_id,
            at=recorded.at,
            ok=answer.success,
            duration_ms=answer.duration_ms,
            input=recorded.arguments,
            target={key: value for key, value in given.items() if isinstance(value, str)} or None,
            field=field_of(typed) if typed else None,
            error=None if answer.success else self._error(name, answer.content["error"]),
            observation=observed,
            screenshot=_screenshot(name, answer.content.get("data") or {}),
        )

    def _error(self, name: str, error: Mapping[str, Any]) -> dict[str, Any]:
        code = f"{self._prefix.upper()}_{code_of(name, error['code'])}"
        return {"code": code, "message": error["message"], "details": error["details"]}


def _running(recorded: Recorded) -> RunningApp | None:
    call = recorded.call
    return cast("AppSessions", call.sessions).find_running(caller=call.caller) if call else None


async def _seen(running: RunningApp, mask: Mask) -> Observation | None:
    """With the refs that a caller was told, so that they mean something in the next step's target."""
    page = running.app.current
    if page is None or page.closed:
        return None
    with contextlib.suppress(FootlightError):
        look = running.take_look()
        if look is None or look.state.current_url != page.url:
            look = await running.look(page, Deadline.after(LOOK_MS))
            running.take_look()
        return _observation(look, running.refs_of(page), mask)
    return None


def _observation(look: Look, refs: RefMap, mask: Mask) -> Observation:
    """What a page shows may be a secret that was typed into it."""
    nodes = refs.recorded(look.nodes[:SHOWN_NODES])
    return Observation(state=mask(look.state.told()), test_ids=mask(look.told_test_ids()), nodes=mask(nodes))


def _screenshot(name: str, data: Mapping[str, Any]) -> dict[str, Any] | None:
    shot = data if name == "screenshot" else data.get("screenshot")
    return {key: shot[key] for key in ("path", "width", "height")} if shot and "path" in shot else None
