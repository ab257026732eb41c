"""`session.*`: browsers that have a name, each over a profile that stays on disk."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, NotRequired

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel
from typing_extensions import TypedDict

from footlight.browser import launch_options
from footlight.browser.launch_options import PRESETS
from footlight.errors import FootlightError
from footlight.server.tool import ToolCall
from footlight.toolsets.browser.session_options import Viewport
from footlight.toolsets.szkrabok.nav import go_to
from footlight.toolsets.szkrabok.parameters import SessionName, named_sessions, named_tool, open_names

if TYPE_CHECKING:
    from footlight.browser.profiles import ProfileInfo
    from footlight.browser.session import Session

__all__ = ["TOOLS"]


class LaunchOptions(BaseModel):
    """As Playwright calls them (R000-87)."""

    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", strict=True, frozen=True)

    preset: Annotated[
        str | None,
        Field(description=f"{', '.join(PRESETS)}. Not with viewport, userAgent, locale or timezone"),
    ] = None
    stealth: Annotated[
        bool | None,
        Field(description="No trace of a headless browser in what it says of itself. Nothing is forged"),
    ] = None
    headless: Annotated[bool | None, Field(description="Without a window")] = None
    viewport: Annotated[Viewport | None, Field(description="{width, height} in CSS pixels")] = None
    user_agent: Annotated[str | None, Field(description="Default: the browser's own")] = None
    locale: Annotated[str | None, Field(description="Such as de-DE")] = None
    timezone: Annotated[str | None, Field(description="Such as Europe/Berlin")] = None
    disable_webgl: Annotated[bool | None, Field(alias="disableWebGL", description="Pages get no WebGL")] = (
        None
    )

    @property
    def options(self) -> launch_options.LaunchOptions:
        return launch_options.LaunchOptions(
            preset=self.preset,
            stealth=self.stealth,
            headless=self.headless,
            viewport=self.viewport.size if self.viewport else None,
            user_agent=self.user_agent,
            locale=self.locale,
            timezone=self.timezone,
            disable_webgl=self.disable_webgl,
        )


class Measure(TypedDict):
    """What tells browsers apart: whether it was set, and to what or why not."""

    name: str
    on: bool
    detail: str


class Opened(TypedDict):
    """`measures` only with stealth, `alreadyOpen` only where there was a browser of that name."""

    opened: bool
    alreadyOpen: NotRequired[bool]
    measures: NotRequired[list[Measure]]


class Closed(TypedDict):
    closed: bool


class Deleted(TypedDict):
    deleted: bool


class ProfileTold(TypedDict):
    """Times are UTC, ISO 8601. `usedBy` is another process that has the profile open."""

    name: str
    open: bool
    created: str
    lastUsed: str
    launchOptions: dict[str, Any]
    usedBy: NotRequired[str]


class ProfileList(TypedDict):
    sessions: list[ProfileTold]


class EndpointTold(TypedDict):
    """For `connect_over_cdp`; on this machine alone."""

    port: int
    http: str
    ws: str


@named_tool("session.open", scope="server", effect="configure", idempotent=True, open_world=True)
async def open_(
    call: ToolCall,
    session_name: SessionName,
    url: Annotated[str | None, Field(description="Go there")] = None,
    launch_options: Annotated[
        LaunchOptions | None,
        Field(
            description="Browser launch options — preset, stealth, headless, viewport, userAgent, locale, "
            "timezone, disableWebGL"
        ),
    ] = None,
) -> Opened:
    """Open a named session. Its browser keeps logins from one time to the next."""
    wanted = (launch_options or LaunchOptions()).options
    sessions = named_sessions(call)
    call.stage("opening the browser")
    opened = await sessions.open(session_name, wanted, caller=call.caller)
    if not opened.already_open:
        call.undo.append(lambda: sessions.close(session_name, caller=call.caller))
    if url is not None:
        await _go(call, opened.session, url)
    told: Opened = {"opened": True}
    if opened.already_open:
        told["alreadyOpen"] = True
    if opened.measures:
        told["measures"] = [
            {"name": each.name, "on": each.on, "detail": each.detail} for each in opened.measures
        ]
    return told


@named_tool("session.close", scope="server", effect="configure", destructive=True, idempotent=False)
async def close(call: ToolCall, session_name: SessionName) -> Closed:
    """Close a session's browser. What it is logged in to stays on disk."""
    await named_sessions(call).close(session_name, caller=call.caller)
    return {"closed": True}


@named_tool("session.list", scope="server", effect="read")
async def list_(call: ToolCall) -> ProfileList:
    """List the stored sessions, open or not"""
    sessions = named_sessions(call)
    open_ones = open_names(call)
    return {
        "sessions": [
            _told(profile, is_open=profile.name in open_ones)
            for profile in sessions.profiles(caller=call.caller)
        ]
    }


@named_tool("session.delete", scope="server", effect="configure", destructive=True, idempotent=False)
async def delete(call: ToolCall, session_name: SessionName) -> Deleted:
    """Delete a stored session. Closes it, and removes its logins from the disk for good."""
    await named_sessions(call).delete(session_name, caller=call.caller)
    return {"deleted": True}


@named_tool("session.endpoint", scope="server", effect="read")
async def endpoint(call: ToolCall, session_name: SessionName) -> EndpointTold:
    """Say where the browser of an open session listens. For another program to attach over CDP."""
    at = named_sessions(call).endpoint(session_name, caller=call.caller)
    return {"port": at.port, "http": at.http, "ws": at.ws}


async def _go(call: ToolCall, session: Session, url: str) -> None:
    """Raises FootlightError: the session is open, but not there."""
    async with session.lock:
        page = await session.page()
        session.begin_action(acts=True)
        try:
            await go_to(replace(call, maybe_session=session, maybe_page=page), url, "load")
        except FootlightError as error:
            error.details = {**error.details, "opened": True}
            error.suggestion = f"The session is open. {error.suggestion}"
            raise


def _told(profile: ProfileInfo, *, is_open: bool) -> ProfileTold:
    told: ProfileTold = {
        "name": profile.name,
        "open": is_open,
        "created": profile.created.isoformat(),
        "lastUsed": profile.last_used.isoformat(),
        "launchOptions": profile.options.to_json(),
    }
    if profile.held_by and not is_open:
        told["usedBy"] = (
            f"process {profile.held_by.pid} ({profile.held_by.command}) on {profile.held_by.host}"
        )
    return told


TOOLS = (open_, close, list_, delete, endpoint)
