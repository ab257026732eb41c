"""What a handle's method returns of a result (R000-76)."""

from __future__ import annotations

import json
from typing import Any

from footlight.client.results import ToolResult

__all__ = ["value_of"]


def value_of(result: ToolResult) -> Any:
    """The structured content, or what the text says as JSON, or the text.

    Where there is neither, only pictures or links, it is the result itself. The structured content comes
    first because the tool's output schema, and with it the generated type, is about that.
    """
    if result.structured_content is not None:
        return result.structured_content
    if result.content and all(part.type != "text" for part in result.content):
        return result
    text = result.text
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return text


def _refuse(word: str) -> Any:
    """Python reads NaN and Infinity, which are words like others in JSON's eyes."""
    raise ValueError(word)
