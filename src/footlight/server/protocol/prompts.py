"""Handle `prompts/list`, `prompts/get`, and `completion/complete`, which suggests values for arguments."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any

from footlight.browser.driver.offload import CHARACTERS_A_NODE, offload
from footlight.caller import Caller
from footlight.server.answers.masking import Mask, keep_unmasked
from footlight.server.answers.untrusted import META
from footlight.server.prompt_library import PromptArgument, PromptDefinition, PromptError, PromptLibrary
from footlight.server.protocol.paging import page_of
from footlight.server.requests import INVALID_PARAMS, ProtocolError, Request, invalid_params

if TYPE_CHECKING:
    from footlight.server.resources.resources import ResourceReader

__all__ = ["CompletionHandler", "PromptHandlers"]

MAX_VALUES = 100
"""The maximum number of suggested values, which the protocol defines."""


class PromptHandlers:
    """Handles `prompts/*`. `library` loads the prompts on first use, in a thread, because that is slow."""

    def __init__(self, library: Callable[[], PromptLibrary], *, mask: Mask = keep_unmasked) -> None:
        self._library = library
        self._mask = mask

    async def list(self, request: Request) -> dict[str, Any]:
        prompts, following = page_of((await asyncio.to_thread(self._library)).list(), request)
        return {"prompts": [_list_entry(prompt) for prompt in prompts], **following}

    async def get(self, request: Request) -> dict[str, Any]:
        name, arguments = request.text("name"), request.texts_by_name("arguments")
        library = await asyncio.to_thread(self._library)
        length = len(name) + sum(len(key) + len(value) for key, value in arguments.items())
        try:
            text = await offload(
                length // CHARACTERS_A_NODE, lambda: self._mask(library.render(name, arguments))
            )
        except PromptError as error:
            raise ProtocolError(INVALID_PARAMS, str(error)) from None
        prompt = library.get(name)
        assert prompt is not None
        content = {"type": "text", "text": text}
        return {"description": prompt.description, "messages": [{"role": "user", "content": content}]}


def _list_entry(prompt: PromptDefinition) -> dict[str, Any]:
    return {
        "name": prompt.name,
        "description": prompt.description,
        "arguments": [
            {"name": each.name, "description": each.description, "required": each.required}
            for each in prompt.arguments
        ],
    }


class CompletionHandler:
    """Suggests values for an argument of a prompt, or for a part of a resource's URI.

    A caller gets suggestions only from its sessions.
    """

    def __init__(self, library: Callable[[], PromptLibrary], resources: ResourceReader) -> None:
        self._library = library
        self._resources = resources

    async def complete(self, request: Request) -> dict[str, Any]:
        known = request.texts_by_name("context", "arguments")
        name, prefix = request.text("argument", "name"), request.text("argument", "value")
        kind = request.text("ref", "type")
        if kind == "ref/prompt":
            found = await self._for_prompt(request.text("ref", "name"), name, prefix, request.caller)
        elif kind == "ref/resource":
            uri = request.text("ref", "uri")
            found = await self._resources.complete(uri, name, prefix, known, request.caller)
        else:
            raise invalid_params()
        return {
            "completion": {
                "values": list(found[:MAX_VALUES]),
                "total": len(found),
                "hasMore": len(found) > MAX_VALUES,
            },
            "_meta": {META: ["/completion/values"]},  # The values may include URLs of pages.
        }

    async def _for_prompt(self, prompt_name: str, name: str, prefix: str, caller: Caller) -> tuple[str, ...]:
        prompt = (await asyncio.to_thread(self._library)).get(prompt_name)
        if prompt is None:
            raise ProtocolError(INVALID_PARAMS, f"Prompt not found: {prompt_name}")
        argument = next((each for each in prompt.arguments if each.name == name), None)
        if argument is None or argument.secret:
            return ()
        # Unlike a set, this keeps the order: the values that the prompt suggests come first.
        values = dict.fromkeys([each async for each in self._suggest_values(argument, caller)])
        return tuple(each for each in values if each.lower().startswith(prefix.lower()))

    async def _suggest_values(self, argument: PromptArgument, caller: Caller) -> AsyncIterator[str]:
        for value in argument.values:
            yield value
        if argument.default is not None:
            yield argument.default
        if argument.name == "url" or argument.name.endswith("_url"):
            for url in await self._resources.open_urls(caller):
                yield url
