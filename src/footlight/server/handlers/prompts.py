"""`prompts/list` and `prompts/get`."""

from __future__ import annotations

from collections.abc import Callable

import mcp_types as types
from mcp import MCPError

from footlight.server.handlers.paging import Context, page_of
from footlight.server.masking import Mask, unmasked
from footlight.server.prompts import Prompt, PromptError, PromptLibrary

__all__ = ["PromptHandlers"]


class PromptHandlers:
    """`library` gives the prompts when they are first asked for: reading them takes a while."""

    def __init__(self, library: Callable[[], PromptLibrary], *, mask: Mask = unmasked) -> None:
        self._library = library
        self._mask = mask

    async def list(self, _: Context, params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        prompts, following = page_of(self._library().list(), params)
        return types.ListPromptsResult(prompts=[_listed(prompt) for prompt in prompts], next_cursor=following)

    async def get(self, _: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        library = self._library()
        try:
            text = library.render(params.name, params.arguments or {})
        except PromptError as error:
            raise MCPError(types.INVALID_PARAMS, self._mask(str(error))) from None
        prompt = library.get(params.name)
        assert prompt is not None
        content = types.TextContent(type="text", text=self._mask(text))
        return types.GetPromptResult(
            description=prompt.description, messages=[types.PromptMessage(role="user", content=content)]
        )


def _listed(prompt: Prompt) -> types.Prompt:
    return types.Prompt(
        name=prompt.name,
        description=prompt.description,
        arguments=[
            types.PromptArgument(name=each.name, description=each.description, required=each.required)
            for each in prompt.arguments
        ],
    )
