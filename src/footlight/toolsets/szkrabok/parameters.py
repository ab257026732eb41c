"""Parameters and results that several namespaces share, and how a tool of this toolset is declared."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, cast

from pydantic import Field
from typing_extensions import TypedDict

from footlight.server import tool as declaring
from footlight.server.tool import Effect, Function, Observe, Permission, Scope, Timeout, Tool, ToolCall

if TYPE_CHECKING:
    from footlight.browser.named_sessions import NamedSessions

__all__ = [
    "Acted",
    "PlainText",
    "Selector",
    "SessionName",
    "acted",
    "named_sessions",
    "named_tool",
    "open_names",
    "title_of",
]

SessionName = Annotated[str, Field(description="Name of the stored browser session to operate on")]
"""Of the user's choosing: a folder of that name, and a debugging port that follows from it (R000-86)."""

Selector = Annotated[str, Field(min_length=1)]
"""CSS, a ref of browser.snapshot, XPath that starts with //, or testid=NAME. The first match counts."""


class Acted(TypedDict):
    """`url` is where the page is after the action."""

    url: str


class PlainText(TypedDict):
    """What leaves as text, not as JSON."""

    text: str


def named_tool(
    name: str,
    *,
    scope: Scope = "page",
    effect: Effect,
    destructive: bool = False,
    idempotent: bool | None = None,
    open_world: bool | None = None,
    permission: Permission | None = None,
    untrusted: bool | None = None,
    timeout: Any = None,
    default_timeout_ms: float | None = None,
) -> Callable[[Function], Tool]:
    """Declare a tool whose first parameter is `sessionName`, unless it works in no session (R000-85)."""
    observed = scope == "page" and effect == "act"
    page = {"page_id": (str | None, None)} if scope == "page" else {}
    return declaring.tool(
        name=name,
        scope=scope,
        effect=effect,
        destructive=destructive,
        idempotent=idempotent,
        open_world=open_world,
        permission=permission,
        untrusted=untrusted,
        observed=observed,
        leading={} if scope == "server" else {"session_name": (SessionName, ...)},
        shared={}
        if scope == "server"
        else {
            **page,
            "timeout": (timeout or Timeout, None),
            **({"observe": (_Observe, "none")} if observed else {}),
        },
        default_timeout_ms=default_timeout_ms,
    )


def _without_default(schema: dict[str, Any]) -> None:
    """The server's instructions tell it once."""
    del schema["default"]


_Observe = Annotated[Observe, Field(json_schema_extra=_without_default)]


def acted(call: ToolCall) -> Acted:
    return {"url": call.page.url}


async def title_of(call: ToolCall) -> str:
    return str(await call.page.evaluate("() => document.title", None, call.deadline))


def named_sessions(call: ToolCall) -> NamedSessions:
    """The table of the sessions: with this toolset it is this one."""
    return cast("NamedSessions", call.sessions)


def open_names(call: ToolCall) -> list[str]:
    """Of the caller's sessions. Their ids say whose they are, too."""
    sessions, caller = named_sessions(call), call.caller
    ids = {session.id for session in sessions.list(caller=caller)}
    names = [profile.name for profile in sessions.profiles(caller=caller)]
    return [name for name in names if sessions.own_id(name, caller) in ids]
