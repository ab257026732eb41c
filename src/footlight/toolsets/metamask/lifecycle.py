"""Build the extension, launch it, and clean up."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel
from typing_extensions import TypedDict

from footlight.apps.profile import LaunchRequest
from footlight.apps.starter import AppLaunch
from footlight.browser.driver.deadline import Deadline
from footlight.server.tools import ToolCall, tool
from footlight.toolsets.metamask.knowledge import find_prior_knowledge
from footlight.toolsets.metamask.parameters import Maybe, app_sessions

__all__ = ["TOOLS"]

BUILD_MS = 630_000
LAUNCH_MS = 720_000
CLEAN_UP_MS = 60_000
LOOK_MS = 30_000

Port = Annotated[int, Field(ge=1, le=65_535)]


class Ports(BaseModel):
    """Ports of the services; the default is the app's own port."""

    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", strict=True, frozen=True)

    anvil: Maybe[Port] = None
    fixture_server: Maybe[Port] = None

    @property
    def as_mapping(self) -> dict[str, int]:
        """The ports that the caller gave, by service."""
        return self.model_dump(by_alias=True, exclude_none=True)


class BuildResult(TypedDict):
    """`buildType` is missing for an app whose profile has no build."""

    buildType: NotRequired[str]
    extensionPathResolved: str


class LaunchResult(TypedDict):
    sessionId: str
    extensionId: str
    state: dict[str, Any]
    priorKnowledge: NotRequired[dict[str, Any] | None]
    notes: NotRequired[list[str]]


class CleanUpResult(TypedDict):
    cleanedUp: bool


@tool(scope="server", effect="configure", idempotent=True, default_timeout_ms=BUILD_MS)
async def build(
    call: ToolCall, build_type: Literal["build:test"] = "build:test", force: bool = False
) -> BuildResult:
    """Build the extension. Keeps an existing build unless force is true; takes minutes."""
    sessions = app_sessions(call)
    folder = await sessions.build(build_type, force=force, stage=call.stage)
    built: BuildResult = {"extensionPathResolved": _relative_path(folder, sessions.repository)}
    return {"buildType": build_type, **built} if sessions.profile.build else built


def _relative_path(folder: Path, repository: Path) -> str:
    """Return the folder relative to the repository, with slashes."""
    return folder.relative_to(repository).as_posix() if folder.is_relative_to(repository) else str(folder)


@tool(scope="server", effect="configure", open_world=True, untrusted=True, default_timeout_ms=LAUNCH_MS)
async def launch(
    call: ToolCall,
    auto_build: bool = True,
    state_mode: Literal["default", "onboarding", "custom"] = "default",
    fixture_preset: Maybe[Annotated[str, Field(min_length=1)]] = None,
    fixture: Maybe[dict[str, Any]] = None,
    ports: Maybe[Ports] = None,
    slow_mo: Annotated[int, Field(ge=0, le=10_000)] = 0,
    extension_path: Maybe[str] = None,
    prior_knowledge: bool = False,
) -> LaunchResult:
    """Launch the extension in a browser with its services. One session at a time."""
    sessions = app_sessions(call)
    request = LaunchRequest(
        repository=sessions.repository,
        state_mode=state_mode,
        fixture_preset=fixture_preset,
        fixture=fixture,
        ports=ports.as_mapping if ports else {},
    )
    options = AppLaunch(
        request=request,
        extension_path=Path(extension_path) if extension_path else None,
        auto_build=auto_build,
        slow_mo_ms=slow_mo,
    )
    running = await sessions.launch(options, caller=call.caller, stage=call.stage)
    call.use_session(running.session)
    page = await running.session.page_table.get()
    look = await running.look(page, Deadline.after(LOOK_MS))
    launched: LaunchResult = {
        "sessionId": running.session.id,
        "extensionId": running.app.id,
        "state": look.state.as_json(),
    }
    notes = [*running.services.notes()]
    if running.browser.window == "none" and not sessions.headless:
        notes.append("There is no display and no Xvfb, so the browser runs without a window.")
    if notes:
        launched["notes"] = notes
    if prior_knowledge:
        launched["priorKnowledge"] = await find_prior_knowledge(sessions, look)
    return launched


@tool(
    scope="server",
    effect="configure",
    destructive=True,
    idempotent=True,
    default_timeout_ms=CLEAN_UP_MS,
)
async def cleanup(call: ToolCall, session_id: Maybe[str] = None) -> CleanUpResult:
    """End the session with its browser and services. Safe at any time, also during a launch."""
    sessions = app_sessions(call)
    ended = await asyncio.shield(sessions.clean_up(session_id, caller=call.caller))
    call.use_session(ended.session)
    return {"cleanedUp": ended.any}


TOOLS = (build, launch, cleanup)
