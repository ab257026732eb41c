"""Shared parameters and results, and the decorator of this toolset's tools."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, cast

from pydantic import Field
from typing_extensions import TypedDict

from footlight.browser.page.page_operations import evaluate
from footlight.server.tools import Effect, Function, Observe, Permission, Scope, Timeout, Tool, ToolCall, tool

if TYPE_CHECKING:
    from footlight.browser.sessions.tables.named_sessions import NamedSessions

__all__ = [
    "PlainText",
    "Selector",
    "SessionName",
    "get_named_sessions",
    "get_title",
    "named_tool",
    "open_names",
]

SessionName = Annotated[str, Field(description="Name of the stored browser session to operate on")]
"""The name of the profile's folder. The debugging port is derived from it."""

Selector = Annotated[str, Field(min_length=1)]
"""CSS, a ref of browser.snapshot, XPath starting with //, or testid=NAME. The first match is used."""


class PlainText(TypedDict):
    """A result that is sent as plain text, not as JSON."""

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
    """Declare a tool whose first parameter is `sessionName`, unless its scope is the server."""
    observed = scope == "page" and effect == "act"
    page = {"page_id": (str | None, None)} if scope == "page" else {}
    return tool(
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
    """Remove the default, which the instructions state once for all tools."""
    del schema["default"]


_Observe = Annotated[Observe, Field(json_schema_extra=_without_default)]


async def get_title(call: ToolCall) -> str:
    return str(await evaluate(call.page, "() => document.title", None, call.deadline))


def get_named_sessions(call: ToolCall) -> NamedSessions:
    """Return the table of sessions, which is always a `NamedSessions` with this toolset."""
    return cast("NamedSessions", call.sessions)


def open_names(call: ToolCall) -> list[str]:
    """Return the names of the caller's open sessions."""
    sessions, caller = get_named_sessions(call), call.caller
    ids = {session.id for session in sessions.list(caller=caller)}
    names = [profile.name for profile in sessions.profiles(caller=caller)]
    return [name for name in names if sessions.own_id(name, caller) in ids]
