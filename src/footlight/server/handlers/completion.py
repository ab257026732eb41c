"""`completion/complete`: what an argument of a prompt, or a part of a resource's URI, may be."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import mcp_types as types
from mcp import MCPError

from footlight.caller import Caller, caller_of

if TYPE_CHECKING:
    from footlight.server.handlers.paging import Context
    from footlight.server.prompts import PromptArgument, PromptLibrary
    from footlight.server.resources import Resources

__all__ = ["Completion"]

MOST_VALUES = 100
"""The protocol's own limit."""


class Completion:
    """Suggestions are the caller's own: nobody is told of another's sessions."""

    def __init__(self, library: Callable[[], PromptLibrary], resources: Resources) -> None:
        self._library = library
        self._resources = resources

    async def complete(self, context: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
        caller = caller_of(context.request)
        known = (params.context.arguments if params.context else None) or {}
        name, prefix = params.argument.name, params.argument.value
        if isinstance(params.ref, types.PromptReference):
            found = self._for_prompt(params.ref.name, name, prefix, caller)
        else:
            found = self._resources.complete(params.ref.uri, name, prefix, known, caller)
        return types.CompleteResult(
            completion=types.Completion(
                values=list(found[:MOST_VALUES]), total=len(found), has_more=len(found) > MOST_VALUES
            )
        )

    def _for_prompt(self, prompt_name: str, name: str, prefix: str, caller: Caller) -> tuple[str, ...]:
        prompt = self._library().get(prompt_name)
        if prompt is None:
            raise MCPError(types.INVALID_PARAMS, f"Prompt not found: {prompt_name}")
        argument = next((each for each in prompt.arguments if each.name == name), None)
        if argument is None or argument.secret:
            return ()
        # A set would not keep the order: what the prompt suggests comes first.
        values = dict.fromkeys(self._suggested(argument, caller))
        return tuple(each for each in values if each.lower().startswith(prefix.lower()))

    def _suggested(self, argument: PromptArgument, caller: Caller) -> Iterator[str]:
        yield from argument.values
        if argument.default is not None:
            yield argument.default
        if argument.name == "url" or argument.name.endswith("_url"):
            yield from self._resources.open_urls(caller)
