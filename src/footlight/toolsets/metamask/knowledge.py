"""The knowledge tools: recorded steps, searched and summarized."""

from __future__ import annotations

import asyncio
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired, cast

from pydantic import Field
from typing_extensions import TypedDict

from footlight.browser.driver.output_folder import cut_to_bytes
from footlight.errors import InvalidParameterError, PermissionDeniedError
from footlight.knowledge import rows
from footlight.knowledge.index.search import SearchQuery
from footlight.knowledge.naming import parse_moment
from footlight.server.tools import ToolCall, tool
from footlight.toolsets.metamask.parameters import Maybe, app_sessions

if TYPE_CHECKING:
    from footlight.apps.observation import AppObservation
    from footlight.apps.sessions import AppSessions
    from footlight.knowledge.store import KnowledgeStore

__all__ = ["TOOLS", "find_prior_knowledge", "screenshot_path"]


class StepList(TypedDict):
    steps: list[dict[str, Any]]


class SearchMatches(TypedDict):
    matches: list[dict[str, Any]]


class SessionRecipe(TypedDict):
    """`steps` have a number, a tool and notes. `omittedBefore` is the number of earlier steps left out."""

    sessionId: str | None
    steps: list[dict[str, Any]]
    omittedBefore: NotRequired[int]


@tool(scope="server", effect="read", untrusted=True)
async def knowledge_last(
    call: ToolCall,
    n: Annotated[int, Field(ge=1, le=200)] = 20,
    session_id: Maybe[str] = None,
) -> StepList:
    """List the latest recorded steps, one line each, latest first."""
    store = _get_store(call)
    return {"steps": await asyncio.to_thread(store.list_last, n, session_id=session_id)}


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
) -> SearchMatches:
    """Search the steps of all sessions by words: tool, screen, target, visible test ids and names."""
    asked = SearchQuery(
        text=query,
        limit=limit,
        screen=screen,
        tool=tool,
        outcome=outcome,
        session_id=session_id,
        since=_parse_since(since) if since else None,
    )
    hits = await asyncio.to_thread(_get_store(call).search, asked)
    return {"matches": [hit.as_json() for hit in hits]}


@tool(scope="server", effect="read", untrusted=True)
async def knowledge_summarize(call: ToolCall, session_id: Maybe[str] = None) -> SessionRecipe:
    """Summarize a session as a recipe. Default: the running session, or the latest."""
    sessions = app_sessions(call)
    session_id = session_id or sessions.active_id(caller=call.caller)
    return cast("SessionRecipe", await asyncio.to_thread(_get_store(call).summarize, session_id))


def _get_store(call: ToolCall) -> KnowledgeStore:
    store = app_sessions(call).knowledge
    if store is None:
        raise PermissionDeniedError(
            "Steps are not recorded on this server",
            suggestion="Ask the server operator to set knowledge.keep to true.",
        )
    return store


def _parse_since(text: str) -> datetime:
    try:
        return parse_moment(text, now=datetime.now(UTC))
    except ValueError as error:
        raise InvalidParameterError(f"since: {error}", parameter="since") from None


async def find_prior_knowledge(sessions: AppSessions, look: AppObservation) -> dict[str, Any] | None:
    """Return which actions worked and failed on the screen before, or None if steps are not recorded."""
    store = sessions.knowledge
    if store is None:
        return None
    seen = rows.RecordedView(
        tuple(rows.RecordedTestId(each.test_id, each.text) for each in look.test_ids),
        tuple(rows.PageNode("", node.role, node.name) for node in look.nodes),
    )
    return (await asyncio.to_thread(store.prior, look.state.screen.name, look=seen)).as_json()


def screenshot_path(call: ToolCall, name: str, at: datetime) -> Path:
    """Return the path for a screenshot. The file does not exist yet."""
    store = app_sessions(call).knowledge
    if store is not None:
        return store.screenshot_path(call.session.id, name, at)
    safe = cut_to_bytes(re.sub(r"[^\w.\-]+", "-", name), 80).strip(".-") or "screenshot"
    return call.session.output.reserve(safe, ".png")


TOOLS = (knowledge_last, knowledge_search, knowledge_summarize)
