"""`prompts/list` and `prompts/get`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from footlight.server.answers.masking import Mask, keep_unmasked
from footlight.server.prompt_library import PromptDefinition, PromptError, PromptLibrary
from footlight.server.protocol.paging import page_of
from footlight.server.requests import INVALID_PARAMS, ProtocolError, Request

__all__ = ["PromptHandlers"]


class PromptHandlers:
    """Handles `prompts/*`. `library` loads the prompts on first use, because reading them takes a while."""

    def __init__(self, library: Callable[[], PromptLibrary], *, mask: Mask = keep_unmasked) -> None:
        self._library = library
        self._mask = mask

    async def list(self, request: Request) -> dict[str, Any]:
        prompts, following = page_of(self._library().list(), request)
        return {"prompts": [_list_entry(prompt) for prompt in prompts], **following}

    async def get(self, request: Request) -> dict[str, Any]:
        name, arguments = request.text("name"), request.texts_by_name("arguments")
        library = self._library()
        try:
            text = library.render(name, arguments)
        except PromptError as error:
            raise ProtocolError(INVALID_PARAMS, self._mask(str(error))) from None
        prompt = library.get(name)
        assert prompt is not None
        content = {"type": "text", "text": self._mask(text)}
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
