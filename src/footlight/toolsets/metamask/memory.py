"""What was done before: the knowledge tools (002 §7.16 to §7.18), and what they give to others."""

from __future__ import annotations

import asyncio
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field
from typing_extensions import TypedDict

from footlight.errors import InvalidParameter, PermissionDenied
from footlight.knowledge.naming import moment_in_words
from footlight.knowledge.search import Query
from footlight.server.tool import ToolCall, tool
from footlight.toolsets.metamask.parameters import Maybe, app_sessions

if TYPE_CHECKING:
    from footlight.apps.sessions import AppSessions
    from footlight.knowledge.store import KnowledgeStore

__all__ = ["TOOLS", "prior_knowledge_of", "screenshot_path"]


class Steps(TypedDict):
    steps: list[dict[str, Any]]


class Matches(TypedDict):
    matches: list[dict[str, Any]]


class Recipe(TypedDict):
    """`steps` have a number, a tool and notes."""

    sessionId: str | None
    steps: list[dict[str, Any]]


@tool(scope="server", effect="read", untrusted=True)
async def knowledge_last(
    call: ToolCall,
    n: Annotated[int, Field(ge=1, le=200)] = 20,
    session_id: Maybe[str] = None,
) -> Steps:
    """List the latest steps that were recorded, in a line each, the latest first."""
    store = _store(call)
    return {"steps": await asyncio.to_thread(store.last, n, session_id=session_id)}


@tool(scope="server", effect="read", untrusted=True)
async def knowledge_search(
    call: ToolCall,
    query: Annotated[str, Field(min_length=1, max_length=200)],
    limit: Annotated[int, Field(ge=1, le=100)] = 20,
    screen: Maybe[Annotated[str, Field(min_length=1)]] = None,
    tool: Maybe[Annotated[str, Field(min_length=1)]] = None,
    outcome: Maybe[Literal["ok", "failed"]] = None,
    session_id: Maybe[str] = None,
    since: Maybe[Annotated[str, Field(min_length=1)]] = None,
) -> Matches:
    """Search the steps of all sessions, by words: what was done, on which screen, to what, what was seen."""
    asked = Query(
        text=query,
        limit=limit,
        screen=screen,
        tool=tool,
        outcome=outcome,
        session_id=session_id,
        since=_since(since) if since else None,
    )
    hits = await asyncio.to_thread(_store(call).search, asked)
    return {"matches": [hit.as_json() for hit in hits]}


@tool(scope="server", effect="read", untrusted=True)
async def knowledge_summarize(call: ToolCall, session_id: Maybe[str] = None) -> Recipe:
    """Sum up a session as a recipe, step by step. Without sessionId the one that runs, or the latest."""
    sessions = app_sessions(call)
    session_id = session_id or sessions.active_id(caller=call.caller)
    recipe = await asyncio.to_thread(_store(call).summarize, session_id)
    return {"sessionId": recipe.get("sessionId"), "steps": recipe["steps"]}


def _store(call: ToolCall) -> KnowledgeStore:
    store = app_sessions(call).knowledge
    if store is None:
        raise PermissionDenied(
            "Steps are not written down on this server",
            suggestion="Whoever runs the server can set knowledge.keep to true.",
        )
    return store


def _since(text: str) -> datetime:
    try:
        return moment_in_words(text, now=datetime.now(UTC))
    except ValueError as error:
        raise InvalidParameter(f"since: {error}", parameter="since") from None


async def prior_knowledge_of(sessions: AppSessions, screen: str) -> dict[str, Any] | None:
    """What worked on the screen before, and what to avoid; None where nothing is known."""
    store = sessions.knowledge
    return (await asyncio.to_thread(store.prior, screen)).as_json() if store else None


def screenshot_path(call: ToolCall, name: str, at: datetime) -> Path:
    """Where it belongs (R002-71). The file is not there yet."""
    store = app_sessions(call).knowledge
    if store is not None:
        return store.screenshot_path(call.session.id, name, at)
    safe = re.sub(r"[^\w.\-]+", "-", name).strip(".-")[:80] or "screenshot"
    return call.session.output.reserve(safe, ".png")


TOOLS = (knowledge_last, knowledge_search, knowledge_summarize)
