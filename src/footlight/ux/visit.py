"""A visit of the page under audit: the tools that a model has there, and where they have led it."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from footlight.client.errors import MCPError
from footlight.ux.browser_tools import Address, Text
from footlight.ux.model.ai_tool import AITool, ToolAnswer
from footlight.ux.page import DESKTOP, AuditedPage
from footlight.ux.tools import AIToolDefinition, ai_tool_from_mcp

if TYPE_CHECKING:
    from pydantic import BaseModel

    from footlight.client.mcp_client import MCPClient
    from footlight.ux.looking import Looking
    from footlight.ux.untrusted import PageMarks

__all__ = ["Visit", "origin_of", "secrets_in"]

HIDDEN = "••••••••"


class Visit:
    """`start` is where it begins, `url` where it is. `lost` is why the server is gone, should it be.

    Whatever a page tells a model: it may name addresses of `origins` only, though it may follow any link, and
    of the server's secrets (`secret:NAME`) only those that are in `secrets`.
    """

    def __init__(
        self,
        page: AuditedPage,
        client: MCPClient,
        looking: Looking,
        *,
        url: str,
        marks: PageMarks,
        origins: Collection[str],
        secrets: Collection[str] = (),
        more: Sequence[AIToolDefinition | AITool] = (),
    ) -> None:
        self.marks = marks
        self.start = url
        self.url: str = url
        self.lost: MCPError | None = None
        self._gist = ""
        self._page = page
        self._client = client
        self._looking = looking
        self._origins = origins
        self._secrets = secrets
        self._passwords: set[str] = set()
        self.tools = self._offered(more)

    async def begin(self) -> None:
        """Open the page anew, with nothing left of what was done before.

        Raises:
            MCPError: it cannot be opened.
        """
        self._looking.forget()
        self.lost = None
        self.url = self.start
        self.url = (await self._page.open(self.start, DESKTOP)).url

    def take_gist(self) -> str:
        """Of the last answer that came from the page; none of it twice."""
        gist, self._gist = self._gist, ""
        return gist

    def masked(self, text: str) -> str:
        """Without what was typed into fields for passwords: for whatever is kept."""
        for password in self._passwords:
            text = text.replace(password, HIDDEN)
        return text

    def _offered(self, more: Sequence[AIToolDefinition | AITool]) -> Sequence[AITool]:
        known = [each for each in self._looking.definitions if each.mcp_tool_name in self._looking.tools]
        tools = [each if isinstance(each, AITool) else self._bridged(each) for each in (*known, *more)]
        return [self._guarded(tool) for tool in tools]

    def _bridged(self, definition: AIToolDefinition) -> AITool:
        return ai_tool_from_mcp(definition, self._client, call=self._call)

    async def _call(self, tool: str, arguments: Mapping[str, Any]) -> ToolAnswer:
        """All that is told is the page's, errors too: they say what is on it."""
        try:
            seen = await self._looking.call(tool, arguments)
        except MCPError as error:
            if isinstance(error, ConnectionError):
                self.lost = error
            return ToolAnswer(text=self.marks.around(error.message), is_error=True)
        if not seen.whole and seen.url == self.url:
            seen = replace(seen, url=None, title=None)  # It was told before.
        self.url, self._gist = seen.url or self.url, seen.gist
        return ToolAnswer(text=self.marks.around(seen.told), picture=seen.picture, replaces=seen.whole)

    def _guarded(self, tool: AITool) -> AITool:
        async def run(given: BaseModel) -> ToolAnswer:
            if (refusal := self._refusal(given)) is not None:
                return ToolAnswer(text=f"Refused: {refusal}", is_error=True)
            answer = await tool.run(given)
            if isinstance(given, Text) and await self._is_for_password(given.target):
                self._passwords.add(given.text)
            return answer

        return replace(tool, run=run)

    def _refusal(self, given: BaseModel) -> str | None:
        if isinstance(given, Address) and origin_of(str(given.url)) not in self._origins:
            return (
                f"only addresses of {', '.join(sorted(self._origins))} may be opened. "
                "What leads elsewhere can be followed by a click."
            )
        texts = (value for value in given.model_dump().values() if isinstance(value, str))
        unnamed = next(
            (name for text in texts for name in secrets_in(text) if name not in self._secrets), None
        )
        return None if unnamed is None else f"no goal names {unnamed}."

    async def _is_for_password(self, target: str) -> bool:
        """Where that cannot be said, it is taken for one."""
        try:
            return await self._looking.takes_password(target)
        except MCPError:
            return True


def secrets_in(text: str) -> Collection[str]:
    """Names in whose place our server would put a secret of its own."""
    return re.findall(r"secret:[A-Za-z_]\w*", text, re.ASCII)


def origin_of(url: str) -> str:
    """Scheme, host and port, as browsers compare them."""
    import ada_url

    return ada_url.URL(url).origin
