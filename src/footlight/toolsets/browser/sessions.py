"""Create, list and close sessions, save and restore their state, and emulate devices."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired, cast

from pydantic import Field
from typing_extensions import TypedDict

from footlight.browser.context.options import (
    ColorScheme,
    Contrast,
    ForcedColors,
    ReducedMotion,
    SessionOptions,
)
from footlight.browser.context.storage_state import SessionState
from footlight.browser.sessions.emulation import Emulation, Media
from footlight.browser.sessions.tables.session_state import apply_state, capture_state
from footlight.errors import InvalidParameterError, PermissionDeniedError
from footlight.server.answers.overview import ExtensionInfo, SessionInfo, extension_info, session_info
from footlight.server.answers.overview import Viewport as Size
from footlight.server.tools import Number, ToolCall, tool
from footlight.toolsets.browser.parameters import (
    DialogPolicy,
    ExtraHeaders,
    Geolocation,
    HttpCredentials,
    Permissions,
    Proxy,
    UserAgent,
    ViewportInput,
)

if TYPE_CHECKING:
    from footlight.browser.sessions.tables.pooled_sessions import PooledSessions

__all__ = []


class SessionCreated(TypedDict):
    sessionId: str
    extensions: NotRequired[list[ExtensionInfo]]


class SessionClosed(TypedDict):
    sessionId: str
    closed: Literal[True]


class SessionList(TypedDict):
    """`savedStates` are names for restore_state. Sessions in `kept` survived a restart of the server.

    A kept session is opened again when a call names it. `unanswered` are workers of a cluster that did not
    answer in time, so their sessions are missing.
    """

    sessions: list[SessionInfo]
    savedStates: list[str]
    kept: NotRequired[list[str]]
    unanswered: NotRequired[list[str]]


class StateSaved(TypedDict):
    """Pass `state` to restore_state. For a state stored under a name it is `{name}`."""

    state: dict[str, Any]
    cookieCount: NotRequired[int]
    origins: NotRequired[list[str]]


class StateRestored(TypedDict):
    """`notice` says that the browser did not keep all cookies."""

    url: str
    cookieCount: int
    notice: NotRequired[str]


@tool(scope="server", effect="configure")
async def create_session(
    call: ToolCall,
    user_agent: UserAgent | None = None,
    viewport: Annotated[ViewportInput | None, Field(description="{width, height} in CSS pixels")] = None,
    device: Annotated[str | None, Field(min_length=1, description="iPhone 15, Pixel 7, …")] = None,
    locale: Annotated[str | None, Field(min_length=1, description="de-DE, …")] = None,
    timezone: Annotated[str | None, Field(min_length=1, description="Europe/Berlin, …")] = None,
    geolocation: Geolocation | None = None,
    permissions: Annotated[Permissions | None, Field(description="geolocation, …")] = None,
    color_scheme: ColorScheme | None = None,
    reduced_motion: ReducedMotion | None = None,
    extra_headers: ExtraHeaders | None = None,
    http_credentials: HttpCredentials | None = None,
    proxy: Proxy | None = None,
    state: Annotated[str | None, Field(description="Name from save_state")] = None,
    init_scripts: Annotated[list[str] | None, Field(description="JS to run before page scripts")] = None,
    dialogs: DialogPolicy | None = None,
    offline: bool = False,
    ignore_https_errors: bool = False,
) -> SessionCreated:
    """Create new session. Isolated; pass its id as sessionId to other calls."""
    if init_scripts and not call.settings.security.enable_script_evaluation:
        raise PermissionDeniedError(
            "initScripts: script evaluation is disabled on this server",
            suggestion="Leave it out, or ask the server operator to enable security.enableScriptEvaluation.",
            setting="security.enableScriptEvaluation",
            parameter="initScripts",
        )
    options = SessionOptions(
        user_agent=user_agent,
        viewport=viewport.size if viewport else None,
        device=device,
        locale=locale,
        timezone=timezone,
        geolocation=geolocation.option if geolocation else None,
        permissions=None if permissions is None else tuple(permissions),
        color_scheme=color_scheme,
        reduced_motion=reduced_motion,
        extra_headers=extra_headers.option if extra_headers else {},
        http_credentials=http_credentials.option if http_credentials else None,
        proxy=proxy.option if proxy else None,
        state=_get_saved_state(call, state) if state is not None else None,
        init_scripts=tuple(init_scripts or ()),
        dialogs=dialogs or {},
        offline=offline,
        ignore_https_errors=ignore_https_errors,
    )
    session = await cast("PooledSessions", call.sessions).create(options, caller=call.caller)
    call.on_abandoned(lambda: call.sessions.close(session.id, caller=call.caller))
    created: SessionCreated = {"sessionId": session.id}
    if session.extensions:
        created["extensions"] = [extension_info(each) for each in session.extensions]
    return created


@tool(scope="server", effect="configure", destructive=True, idempotent=False)
async def close_session(call: ToolCall, session_id: str) -> SessionClosed:
    """Close session. Closes its pages."""
    await call.sessions.close(session_id, caller=call.caller)
    return {"sessionId": session_id, "closed": True}


@tool(scope="server", effect="read", untrusted=True)
async def list_sessions(call: ToolCall) -> SessionList:
    """List all sessions. Also kept sessions and saved states."""
    listed: SessionList = {
        "sessions": [session_info(session) for session in call.sessions.list(caller=call.caller)],
        "savedStates": list(call.states.names()),
    }
    if kept_ids := call.sessions.list_kept_ids(caller=call.caller):
        listed["kept"] = list(kept_ids)
    return listed


@tool(scope="session", effect="read", names_session=True)
async def save_state(
    call: ToolCall,
    name: Annotated[str | None, Field(description="Store it under this name instead of returning it")] = None,
) -> StateSaved:
    """Save session state. Cookies, localStorage, sessionStorage and the URL."""
    state = await capture_state(call.session)
    if name is None:
        return {"state": state.to_json()}
    call.states.save(name, state)
    return {
        "state": {"name": name},
        "cookieCount": len(state.cookies),
        "origins": sorted({*state.local_storage, *state.session_storage}),
    }


@tool(scope="session", effect="act", destructive=True, idempotent=True, names_session=True)
async def restore_state(
    call: ToolCall,
    state: Annotated[dict[str, Any], Field(description="From save_state, or {name} of a stored state")],
) -> StateRestored:
    """Restore session state. Replaces the current state and opens the saved URL."""
    restored = _get_named_state(call, state) if "name" in state else SessionState.from_json(state)
    await apply_state(call.session, restored, call.deadline)
    given, stored = len(restored.cookies), sum(await call.session.cookies.are_stored(restored.cookies))
    result: StateRestored = {"url": (await call.session.page_table.get()).url, "cookieCount": stored}
    if stored < given:
        result["notice"] = (
            f"The browser kept {stored} of {given} cookies. The others have expired, were replaced by the"
            " page or are more than it keeps of a site."
        )
    return result


def _get_saved_state(call: ToolCall, name: str) -> SessionState:
    if name in (known := call.states.names()):
        return call.states.get(name)
    raise InvalidParameterError(
        f"state: no state named {name!r} is saved; saved: {', '.join(known) or 'none'}", parameter="state"
    )


def _get_named_state(call: ToolCall, state: dict[str, Any]) -> SessionState:
    name = state["name"]
    if len(state) > 1 or not isinstance(name, str):
        raise InvalidParameterError("state: {name} must be a string and the only key", parameter="state")
    return call.states.get(name)


class EmulatedLocation(TypedDict):
    latitude: float
    longitude: float
    accuracy: float


class EmulationStatus(TypedDict, total=False):
    """The emulation in force, beyond the options that the session was created with."""

    viewport: Size
    device: str
    colorScheme: ColorScheme
    reducedMotion: ReducedMotion
    forcedColors: ForcedColors
    contrast: Contrast
    media: Media
    geolocation: EmulatedLocation
    permissions: list[str]
    locale: str
    timezone: str
    cpuRate: float
    userAgent: str


@tool(scope="session", effect="configure", idempotent=True, group="devtools", untrusted=False)
async def emulate(
    call: ToolCall,
    viewport: Annotated[ViewportInput | None, Field(description="{width, height} in CSS pixels")] = None,
    device: Annotated[str | None, Field(description="Such as iPhone 15; reload to apply it fully")] = None,
    color_scheme: ColorScheme | None = None,
    reduced_motion: ReducedMotion | None = None,
    forced_colors: ForcedColors | None = None,
    contrast: Contrast | None = None,
    media: Media | None = None,
    geolocation: Geolocation | None = None,
    permissions: Annotated[Permissions | None, Field(description="Replaces all granted permissions")] = None,
    locale: Annotated[str | None, Field(min_length=1)] = None,
    timezone: Annotated[str | None, Field(min_length=1)] = None,
    cpu_rate: Annotated[Number | None, Field(ge=1, le=100, description="4 is four times slower")] = None,
    user_agent: UserAgent | None = None,
    reset: Annotated[bool, Field(description="First undo all earlier emulation")] = False,
) -> EmulationStatus:
    """Emulate device, place or media. In all pages of the session, also future ones."""
    emulator = call.session.emulator
    changes = Emulation(
        viewport=viewport.size if viewport else None,
        device=emulator.devices.get(device) if device is not None else None,
        color_scheme=color_scheme,
        reduced_motion=reduced_motion,
        forced_colors=forced_colors,
        contrast=contrast,
        media=media,
        geolocation=geolocation.option if geolocation else None,
        permissions=None if permissions is None else tuple(permissions),
        locale=locale,
        timezone=timezone,
        cpu_rate=cpu_rate,
        user_agent=user_agent,
    )
    before = Emulation() if reset else emulator.in_force
    if device is not None:  # The size and user agent of the device apply, unless the call sets others.
        before = replace(before, viewport=None, user_agent=None)
    emulation = before.merge(changes)
    if emulation != emulator.in_force:
        await emulator.change(emulation)
    return _describe_emulation(emulation)


def _describe_emulation(emulation: Emulation) -> EmulationStatus:
    place = emulation.geolocation
    described = {
        "viewport": emulation.size and {"width": emulation.size[0], "height": emulation.size[1]},
        "device": emulation.device and emulation.device.name,
        "colorScheme": emulation.color_scheme,
        "reducedMotion": emulation.reduced_motion,
        "forcedColors": emulation.forced_colors,
        "contrast": emulation.contrast,
        "media": emulation.media,
        "geolocation": place
        and {"latitude": place.latitude, "longitude": place.longitude, "accuracy": place.accuracy},
        "permissions": None if emulation.permissions is None else list(emulation.permissions),
        "locale": emulation.locale,
        "timezone": emulation.timezone,
        "cpuRate": emulation.cpu_rate,
        "userAgent": emulation.agent,
    }
    return cast("EmulationStatus", {name: value for name, value in described.items() if value is not None})
