"""Sessions, their cookies and their state (003 §2.1, R003-31 to R003-37)."""

from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired, cast

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel
from typing_extensions import TypedDict

from footlight.browser import storage
from footlight.browser.options import ColorScheme, ReducedMotion
from footlight.browser.overview import ExtensionInfo, SessionInfo, extension_info, session_info
from footlight.browser.session import SessionOptions
from footlight.browser.storage import SessionState
from footlight.errors import InvalidParameter, PermissionDenied
from footlight.server.secrets import SecretText
from footlight.server.tool import Number, ToolCall, tool
from footlight.toolsets.browser.session_options import (
    DialogPolicy,
    ExtraHeaders,
    Geolocation,
    HttpCredentials,
    Proxy,
    Viewport,
)

if TYPE_CHECKING:
    from footlight.browser.sessions import Sessions

__all__ = ["TOOLS"]


class Cookie(BaseModel):
    """A cookie needs a url, or a domain and a path."""

    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", strict=True)

    name: Annotated[str, Field(min_length=1)]
    value: SecretText
    url: str | None = None
    domain: str | None = None
    path: str | None = None
    expires: Annotated[
        Number | None, Field(description="Seconds since the epoch; -1 for a session cookie")
    ] = None
    http_only: bool | None = None
    secure: bool | None = None
    same_site: Literal["Strict", "Lax", "None"] | None = None
    partition_key: str | None = None


class Created(TypedDict):
    sessionId: str
    extensions: NotRequired[list[ExtensionInfo]]


class Closed(TypedDict):
    sessionId: str
    closed: Literal[True]


class SessionList(TypedDict):
    """`savedStates` are the names that restore_state takes."""

    sessions: list[SessionInfo]
    savedStates: list[str]


class Cookies(TypedDict):
    cookies: list[dict[str, Any]]


class CookiesSet(TypedDict):
    count: int


class Saved(TypedDict):
    """Give `state` back to restore_state. With a name it is only that name."""

    state: dict[str, Any]
    cookieCount: NotRequired[int]
    origins: NotRequired[list[str]]


class Restored(TypedDict):
    url: str
    cookieCount: int


@tool(scope="server", effect="configure")
async def create_session(
    call: ToolCall,
    user_agent: Annotated[str | None, Field(min_length=1)] = None,
    viewport: Annotated[Viewport | None, Field(description="{width, height} in CSS pixels")] = None,
    device: Annotated[str | None, Field(description="Such as iPhone 15 or Pixel 7")] = None,
    locale: str | None = None,
    timezone: str | None = None,
    geolocation: Geolocation | None = None,
    permissions: list[str] | None = None,
    color_scheme: ColorScheme | None = None,
    reduced_motion: ReducedMotion | None = None,
    extra_headers: ExtraHeaders | None = None,
    http_credentials: HttpCredentials | None = None,
    proxy: Proxy | None = None,
    state: Annotated[str | None, Field(description="Name from save_state")] = None,
    init_scripts: Annotated[list[str] | None, Field(description="Run before every page's own")] = None,
    dialogs: DialogPolicy | None = None,
    offline: bool = False,
    ignore_https_errors: bool = False,
) -> Created:
    """Create new session. Isolated from the others; its id is the sessionId of other calls."""
    if init_scripts and not call.settings.security.enable_script_evaluation:
        raise PermissionDenied(
            "initScripts: running scripts is switched off on this server",
            suggestion="Leave it out, or start the server with security.enableScriptEvaluation = true.",
            setting="security.enableScriptEvaluation",
            parameter="initScripts",
        )
    wanted = SessionOptions(
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
        state=_saved(call, state) if state is not None else None,
        init_scripts=tuple(init_scripts or ()),
        dialogs=dialogs or {},
        offline=offline,
        ignore_https_errors=ignore_https_errors,
    )
    session = await cast("Sessions", call.sessions).create(wanted, caller=call.caller)
    call.undo.append(lambda: call.sessions.close(session.id, caller=call.caller))
    created: Created = {"sessionId": session.id}
    if session.extensions:
        created["extensions"] = [extension_info(each) for each in session.extensions]
    return created


@tool(scope="server", effect="configure", destructive=True, idempotent=False)
async def close_session(call: ToolCall, session_id: str) -> Closed:
    """Close session. With all its pages, at once."""
    await call.sessions.close(session_id, caller=call.caller)
    return {"sessionId": session_id, "closed": True}


@tool(scope="server", effect="read", untrusted=True)
async def list_sessions(call: ToolCall) -> SessionList:
    """List all sessions. With their pages, and the saved states."""
    return {
        "sessions": [session_info(session) for session in call.sessions.list(caller=call.caller)],
        "savedStates": list(call.states.names()),
    }


@tool(scope="session", effect="read")
async def get_cookies(
    call: ToolCall,
    urls: Annotated[list[str] | None, Field(description="Only those sent to these URLs")] = None,
) -> Cookies:
    """Get cookies"""
    return {"cookies": await call.session.cookies(urls or [])}


@tool(scope="session", effect="configure", idempotent=True)
async def set_cookies(call: ToolCall, cookies: Annotated[list[Cookie], Field(max_length=1000)]) -> CookiesSet:
    """Set cookies. Each with a url, or with a domain and a path."""
    given = [cookie.model_dump(by_alias=True, exclude_none=True) for cookie in cookies]
    for index, cookie in enumerate(given):
        if "url" not in cookie and "domain" not in cookie:
            raise InvalidParameter(
                f"cookies.{index}: needs a url, or a domain and a path", parameter=f"cookies.{index}"
            )
        if "domain" in cookie:
            cookie.setdefault("path", "/")
    await call.session.add_cookies(given)
    return {"count": len(given)}


@tool(scope="session", effect="read", names_session=True)
async def save_state(
    call: ToolCall,
    name: Annotated[
        str | None, Field(description="Keep it on the server under this name instead of returning it")
    ] = None,
) -> Saved:
    """Save session state. Cookies, localStorage, sessionStorage and the URL."""
    state = await storage.take(call.session)
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
    state: Annotated[
        dict[str, Any], Field(description="From save_state, or {name} for one that was kept under a name")
    ],
) -> Restored:
    """Restore session state. Replaces what the session has, and goes back to the saved URL."""
    wanted = _named(call, state) if "name" in state else SessionState.from_json(state)
    await storage.restore(call.session, wanted, call.deadline)
    return {"url": (await call.session.page()).url, "cookieCount": len(wanted.cookies)}


def _saved(call: ToolCall, name: str) -> SessionState:
    if name in (known := call.states.names()):
        return call.states.get(name)
    raise InvalidParameter(
        f"state: no state named {name!r} is saved; saved: {', '.join(known) or 'none'}", parameter="state"
    )


def _named(call: ToolCall, state: dict[str, Any]) -> SessionState:
    name = state["name"]
    if len(state) > 1 or not isinstance(name, str):
        raise InvalidParameter("state: {name} takes a string and nothing beside it", parameter="state")
    return call.states.get(name)


TOOLS = (create_session, close_session, list_sessions, get_cookies, set_cookies, save_state, restore_state)
