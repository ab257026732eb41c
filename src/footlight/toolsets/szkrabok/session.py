"""`session.*` and `health`: named browsers, each with a profile that stays on disk."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel
from typing_extensions import TypedDict

from footlight.browser.launch import launch_options
from footlight.browser.launch.launch_options import PRESETS
from footlight.errors import FootlightError
from footlight.server.tools import ToolCall
from footlight.toolsets.browser.parameters import ViewportInput
from footlight.toolsets.szkrabok.nav import go_to
from footlight.toolsets.szkrabok.parameters import SessionName, get_named_sessions, named_tool, open_names

if TYPE_CHECKING:
    from footlight.browser.launch.profiles import ProfileInfo
    from footlight.browser.sessions.session import Session

__all__ = ["TOOLS"]


class LaunchOptionsInput(BaseModel):
    """Launch options, under Playwright's names."""

    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", strict=True, frozen=True)

    preset: Annotated[
        str | None,
        Field(description=f"{', '.join(PRESETS)}. Not with viewport, userAgent, locale or timezone"),
    ] = None
    stealth: Annotated[
        bool | None,
        Field(description="Report no headless browser in user agent and hints; forge nothing"),
    ] = None
    headless: Annotated[bool | None, Field(description="Without a window")] = None
    viewport: Annotated[ViewportInput | None, Field(description="{width, height} in CSS pixels")] = None
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


class MeasureInfo(TypedDict):
    """A stealth measure: whether it is on, and its value or the reason why not."""

    name: str
    on: bool
    detail: str


class SessionOpened(TypedDict):
    """`measures` is set with stealth, `alreadyOpen` if the browser was already open."""

    opened: bool
    alreadyOpen: NotRequired[bool]
    measures: NotRequired[list[MeasureInfo]]


class NamedSessionClosed(TypedDict):
    closed: bool


class SessionDeleted(TypedDict):
    deleted: bool


class StoredSession(TypedDict):
    """Times are UTC in ISO 8601. `usedBy` is another process that has the profile open."""

    name: str
    open: bool
    created: str
    lastUsed: str
    launchOptions: dict[str, Any]
    usedBy: NotRequired[str]


class StoredSessionList(TypedDict):
    sessions: list[StoredSession]


class EndpointInfo(TypedDict):
    """Endpoint for `connect_over_cdp`, reachable from this machine only."""

    port: int
    http: str
    ws: str


@named_tool("session.open", scope="server", effect="configure", idempotent=True, open_world=True)
async def open_(
    call: ToolCall,
    session_name: SessionName,
    url: Annotated[str | None, Field(description="URL to open")] = None,
    launch_options: Annotated[
        LaunchOptionsInput | None,
        Field(
            description="Browser launch options — preset, stealth, headless, viewport, userAgent, locale, "
            "timezone, disableWebGL"
        ),
    ] = None,
) -> SessionOpened:
    """Open a named session. Its browser keeps logins between sessions."""
    options = (launch_options or LaunchOptionsInput()).options
    sessions = get_named_sessions(call)
    call.stage("opening the browser")
    opened = await sessions.open(session_name, options, caller=call.caller)
    if not opened.already_open:
        call.on_abandoned(lambda: sessions.close(session_name, caller=call.caller))
    if url is not None:
        await _open_url(call, opened.session, url)
    answer: SessionOpened = {"opened": True}
    if opened.already_open:
        answer["alreadyOpen"] = True
    if opened.measures:
        answer["measures"] = [
            {"name": each.name, "on": each.on, "detail": each.detail} for each in opened.measures
        ]
    return answer


@named_tool("session.close", scope="server", effect="configure", destructive=True, idempotent=False)
async def close(call: ToolCall, session_name: SessionName) -> NamedSessionClosed:
    """Close a session's browser. Logins stay on disk."""
    await get_named_sessions(call).close(session_name, caller=call.caller)
    return {"closed": True}


@named_tool("session.list", scope="server", effect="read")
async def list_(call: ToolCall) -> StoredSessionList:
    """List the stored sessions, open or not"""
    sessions = get_named_sessions(call)
    open_ones = open_names(call)
    return {
        "sessions": [
            _describe_session(profile, is_open=profile.name in open_ones)
            for profile in sessions.profiles(caller=call.caller)
        ]
    }


@named_tool("session.delete", scope="server", effect="configure", destructive=True, idempotent=False)
async def delete(call: ToolCall, session_name: SessionName) -> SessionDeleted:
    """Delete a stored session. Closes it and deletes its logins from disk for good."""
    await get_named_sessions(call).delete(session_name, caller=call.caller)
    return {"deleted": True}


@named_tool("session.endpoint", scope="server", effect="read")
async def endpoint(call: ToolCall, session_name: SessionName) -> EndpointInfo:
    """Get the debugging endpoint of an open session. For programs that attach over CDP."""
    at = get_named_sessions(call).endpoint(session_name, caller=call.caller)
    return {"port": at.port, "http": at.http, "ws": at.ws}


async def _open_url(call: ToolCall, session: Session, url: str) -> None:
    """Open a URL in a session. An error says that the session is open nevertheless."""
    async with session.lock:
        page = await session.page_table.get()
        session.actions.begin(acts=True)
        try:
            report = replace(call.report, session=session, page=page)
            await go_to(replace(call, report=report), url, "load")
        except FootlightError as error:
            error.details = {**error.details, "opened": True}
            error.suggestion = f"The session is open. {error.suggestion}"
            raise


def _describe_session(profile: ProfileInfo, *, is_open: bool) -> StoredSession:
    described: StoredSession = {
        "name": profile.name,
        "open": is_open,
        "created": profile.created.isoformat(),
        "lastUsed": profile.last_used.isoformat(),
        "launchOptions": profile.options.to_json(),
    }
    if profile.held_by and not is_open:
        described["usedBy"] = (
            f"process {profile.held_by.pid} ({profile.held_by.command}) on {profile.held_by.host}"
        )
    return described


class Health(TypedDict):
    """`openSessions` are the names of the caller's open sessions."""

    status: Literal["ok"]
    version: str
    openSessions: list[str]


@named_tool("health", scope="server", effect="read")
async def health(call: ToolCall) -> Health:
    """Check that the server is well"""
    return {
        "status": "ok",
        "version": call.settings.version,
        "openSessions": open_names(call),
    }


TOOLS = (open_, close, list_, delete, endpoint)
