"""The envelope of the toolset `browser`: `{success: true, data}` or `{success: false, error}`.

The data of a tool is treated as text from a page, unless the tool is declared to return no data from pages.
Data that is added to a tool later is therefore marked as well.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from footlight.server.answers.answer import ABOUT_PAGE
from footlight.server.answers.untrusted import META, mark_page_content

if TYPE_CHECKING:
    from footlight.server.answers.answer import Answer, AnswerLink, Image
    from footlight.server.tools.declaration import Tool

__all__ = ["SuccessEnvelope", "image_parts", "link_parts", "page_parts", "pointers_to_page_text", "text_part"]

_PAGE_EVENTS = ("newPages", "dialogs", "downloads")
"""The events of an answer that may contain text from a page."""
_SERVER_EVENTS = ("closedPages",)
"""The events of an answer that contain text, but not from a page."""


class SuccessEnvelope:
    """Sends an answer as structured content, and as JSON text followed by the page's text."""

    def schema(self, tool: Tool) -> dict[str, Any]:
        return tool.output_schema

    def result(self, tool: Tool, answer: Answer) -> dict[str, Any]:
        return {
            "content": [
                text_part(answer.text, pointers_to_page_text(tool, answer)),
                *page_parts(answer),
                *image_parts(answer.images),
                *link_parts(answer.links),
            ],
            "structuredContent": dict(answer.content),
            "isError": not answer.success,
        }


def text_part(text: str, from_page: Sequence[str] = ()) -> dict[str, Any]:
    """Return a text part. `from_page` are JSON pointers to its values from a page."""
    return {"type": "text", "text": text, **({"_meta": {META: from_page}} if from_page else {})}


def page_parts(answer: Answer) -> list[dict[str, Any]]:
    """Return the page's texts as parts, each between markers."""
    return [
        text_part(mark_page_content(text, source="" if answer.is_origin_known else answer.source or "page"))
        for text in answer.page_texts
        if text
    ]


def image_parts(images: Iterable[Image]) -> list[dict[str, Any]]:
    return [
        {
            "type": "image",
            "data": base64.b64encode(image.data).decode("ascii"),
            "mimeType": image.mime_type,
        }
        for image in images
    ]


def link_parts(links: Iterable[AnswerLink]) -> list[dict[str, Any]]:
    return [
        {
            "type": "resource_link",
            "uri": link.uri,
            "name": link.name,
            "mimeType": link.mime_type,
            "size": link.bytes,
        }
        for link in links
    ]


def pointers_to_page_text(tool: Tool, answer: Answer) -> list[str]:
    """Return JSON pointers to the parts of an answer's content that may contain text from a page."""
    content = answer.content
    if tool.scope == "server" and not tool.untrusted:
        return []
    observed = [f"/{name}" for name in ABOUT_PAGE if name in content]
    if not answer.success:
        return ["/error/message", "/error/details", *observed]
    if "data" not in content:
        return ["/preview", *(f"/{name}" for name in _PAGE_EVENTS if name in content), *observed]
    if tool.untrusted:
        return ["/data", *observed]
    return [
        *(f"/data/{name}" for name, value in content["data"].items() if _may_be_of_page(tool, name, value)),
        *observed,
    ]


def _may_be_of_page(tool: Tool, name: str, value: object) -> bool:
    """Return whether this part of the data may contain text that a page has chosen, such as its URL."""
    if name in _PAGE_EVENTS:
        return True
    return tool.untrusted is None and name not in _SERVER_EVENTS and _has_text(value)


def _has_text(value: object) -> bool:
    if isinstance(value, Mapping):
        return any(map(_has_text, cast("Mapping[str, object]", value).values()))
    if isinstance(value, (list, tuple)):
        return any(map(_has_text, cast("Sequence[object]", value)))
    return isinstance(value, str)
