"""A model's visit to the page under audit: its tools and its current page."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from footlight.audit.model.tools import AITool, AIToolDefinition, ToolAnswer, ai_tool_from_mcp
from footlight.audit.page.model_tools import NavigateInput, TypeTextInput
from footlight.audit.page.page import DESKTOP, AuditedPage
from footlight.protocol.errors import MCPError

if TYPE_CHECKING:
    from pydantic import BaseModel

    from footlight.audit.page.observer import PageObserver
    from footlight.audit.page.page_text import PageMarks
    from footlight.client.mcp_client import MCPClient

__all__ = ["Visit", "origin_of", "secrets_in"]

HIDDEN = "••••••••"


class Visit:
    """A visit from `start`, now at `url`. `lost` is the error if the server was lost.

    The model may open URLs of `origins` only, though it may follow any link, and may use only those of the
    server's secrets (`secret:NAME`) that are in `secrets`, so that a page cannot persuade it to do more.
    """

    def __init__(
        self,
        page: AuditedPage,
        client: MCPClient,
        observer: PageObserver,
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
        self._summary = ""
        self._page = page
        self._client = client
        self._observer = observer
        self._origins = origins
        self._secrets = secrets
        self._passwords: set[str] = set()
        self.tools = self._make_tools(more)

    async def begin(self) -> None:
        """Open the page in a new session.

        Raises:
            MCPError: the page cannot be opened.
        """
        self._observer.forget()
        self.lost = None
        self.url = self.start
        self.url = (await self._page.open(self.start, DESKTOP)).url

    def take_summary(self) -> str:
        """Return a summary of the last answer from the page, once."""
        summary, self._summary = self._summary, ""
        return summary

    def mask(self, text: str) -> str:
        """Return the text with passwords masked that were typed into password fields."""
        for password in self._passwords:
            text = text.replace(password, HIDDEN)
        return text

    def _make_tools(self, more: Sequence[AIToolDefinition | AITool]) -> Sequence[AITool]:
        known = [each for each in self._observer.definitions if each.mcp_tool_name in self._observer.tools]
        tools = [
            each if isinstance(each, AITool) else self._make_server_tool(each) for each in (*known, *more)
        ]
        return [self._guard(tool) for tool in tools]

    def _make_server_tool(self, definition: AIToolDefinition) -> AITool:
        return ai_tool_from_mcp(definition, self._client, call=self._call)

    async def _call(self, tool: str, arguments: Mapping[str, Any]) -> ToolAnswer:
        """Call a tool. Answers and errors are marked as page content, because errors quote the page."""
        try:
            observed = await self._observer.call(tool, arguments)
        except MCPError as error:
            if isinstance(error, ConnectionError):
                self.lost = error
            return ToolAnswer(text=self.marks.wrap_text(error.message), is_error=True)
        if not observed.whole and observed.url == self.url:
            observed = replace(observed, url=None, title=None)  # The model knows it already.
        self.url, self._summary = observed.url or self.url, observed.summary
        return ToolAnswer(
            text=self.marks.wrap_text(observed.text_for_model),
            picture=observed.picture,
            replaces=observed.whole and not observed.refers_back,
        )

    def _guard(self, tool: AITool) -> AITool:
        async def run(arguments: BaseModel) -> ToolAnswer:
            if (refusal := self._refusal(arguments)) is not None:
                return ToolAnswer(text=f"Refused: {refusal}", is_error=True)
            answer = await tool.run(arguments)
            if isinstance(arguments, TypeTextInput) and await self._is_for_password(arguments.target):
                self._passwords.add(arguments.text)
            return answer

        return replace(tool, run=run)

    def _refusal(self, arguments: BaseModel) -> str | None:
        if isinstance(arguments, NavigateInput) and origin_of(str(arguments.url)) not in self._origins:
            return (
                f"only addresses of {', '.join(sorted(self._origins))} may be opened. "
                "Links to other sites can be followed by a click."
            )
        texts = (value for value in arguments.model_dump().values() if isinstance(value, str))
        unnamed = next(
            (name for text in texts for name in secrets_in(text) if name not in self._secrets), None
        )
        return None if unnamed is None else f"no goal names {unnamed}."

    async def _is_for_password(self, target: str) -> bool:
        """Return whether the target is a password field; True where the server cannot say."""
        try:
            return await self._observer.takes_password(target)
        except MCPError:
            return True


def secrets_in(text: str) -> Collection[str]:
    """Return the names that the server would replace by its secrets."""
    return re.findall(r"secret:[A-Za-z_]\w*", text, re.ASCII)


def origin_of(url: str) -> str:
    """Return scheme, host and port, as browsers compare them."""
    import ada_url

    return ada_url.URL(url).origin
