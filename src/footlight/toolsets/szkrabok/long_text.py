"""A text that is an answer by itself; one that is too long for one is cut, and kept whole to be read."""

from __future__ import annotations

from footlight.server.answer import PageText
from footlight.server.keeping import keep_text
from footlight.server.tool import ToolCall
from footlight.toolsets.szkrabok.parameters import PlainText

__all__ = ["plain"]


def plain(call: ToolCall, text: str, *, tool: str) -> PlainText:
    """Masked before it is cut: half a secret would not be found."""
    text = call.mask(text)
    longest = call.settings.resources.max_inline_text
    if not longest or len(text) <= longest:
        return {"text": PageText(text)}
    uri = keep_text(call, text, tool=tool)
    whole = f", the whole is at {uri}" if uri else ""
    return {"text": PageText(f"{text[:longest]}\n… [cut, {len(text)} characters{whole}]")}
