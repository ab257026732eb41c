"""Lists of a server with all their pages, its resources, prompts and completions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from footlight.protocol.connection import Result
from footlight.protocol.errors import MCPError
from footlight.protocol.listings import (
    Completion,
    Prompt,
    PromptResult,
    Resource,
    ResourceContents,
    ResourceTemplate,
    read_completion,
    read_contents,
    read_prompt,
    read_prompt_result,
    read_resource,
    read_template,
)
from footlight.protocol.untrusted_json import estimate_size, items, text

if TYPE_CHECKING:
    from footlight.client.client_session import ClientSession
    from footlight.protocol.deadline import CallDeadline

__all__ = ["ServerListings", "request_pages"]

MAX_PAGES = 1_000
MAX_CHARS = 64 << 20
"""The maximum size of all pages. It is that of one message, which a server without pages may send."""

Value = TypeVar("Value")


class ServerListings:
    """Lists and reads what a server offers besides tools."""

    def __init__(self, session: ClientSession) -> None:
        self._session = session

    async def list_resources(self, deadline: CallDeadline) -> tuple[Resource, ...]:
        return await self._list("resources/list", "resources", read_resource, deadline)

    async def list_resource_templates(self, deadline: CallDeadline) -> tuple[ResourceTemplate, ...]:
        return await self._list("resources/templates/list", "resourceTemplates", read_template, deadline)

    async def read_resource(self, uri: str, deadline: CallDeadline) -> tuple[ResourceContents, ...]:
        result = await self._session.request("resources/read", {"uri": uri}, deadline=deadline)
        return tuple(read_contents(entry) for entry in items(result.get("contents")))

    async def list_prompts(self, deadline: CallDeadline) -> tuple[Prompt, ...]:
        return await self._list("prompts/list", "prompts", read_prompt, deadline)

    async def get_prompt(
        self, name: str, arguments: Mapping[str, str] | None, deadline: CallDeadline
    ) -> PromptResult:
        params = {"name": name, "arguments": arguments or {}}
        return read_prompt_result(await self._session.request("prompts/get", params, deadline=deadline))

    async def complete(
        self,
        reference: Mapping[str, str],
        argument: str,
        value: str,
        context: Mapping[str, str] | None,
        deadline: CallDeadline,
    ) -> Completion:
        params: dict[str, Any] = {"ref": reference, "argument": {"name": argument, "value": value}}
        if context:
            params["context"] = {"arguments": context}
        return read_completion(await self._session.request("completion/complete", params, deadline=deadline))

    async def _list(
        self, method: str, key: str, read: Callable[[object], Value], deadline: CallDeadline
    ) -> tuple[Value, ...]:
        """Return the entries of all pages."""
        pages = await request_pages(self._session, method, deadline=deadline)
        return tuple(read(entry) for page in pages for entry in items(page.get(key)))


async def request_pages(session: ClientSession, method: str, *, deadline: CallDeadline) -> list[Result]:
    """Request all pages of a list.

    An empty cursor is valid, but many servers mark the last page with it. If it is sent to them, they refuse
    it or return the first page again.

    Raises:
        MCPError: the pages have no end or are too large (`protocol`), or the request failed.
    """
    pages: list[Result] = []
    cursors: set[str] = set()
    cursor: str | None = None
    size = 0
    while True:
        params = {} if cursor is None else {"cursor": cursor}
        try:
            page = await session.request(method, params, deadline=deadline)
        except MCPError as error:
            if cursor == "" and error.reason == "peer":
                return pages
            raise
        if cursor == "" and page in pages:
            return pages
        pages.append(page)
        cursor = text(page.get("nextCursor"))
        if cursor is None:
            return pages
        size += estimate_size(page)
        if cursor in cursors or len(pages) >= MAX_PAGES or size > MAX_CHARS:
            raise MCPError(f"{method} returns pages without end", reason="protocol")
        cursors.add(cursor)
