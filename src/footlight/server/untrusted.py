"""What comes from a page is told apart from what the server says: a page may hold text for a model."""

from __future__ import annotations

import re
import secrets
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from footlight.server.answer import Answer
    from footlight.server.tool import Tool

__all__ = ["META", "marked", "parts_from_page"]

META = "footlight/untrusted"
"""The key in `_meta` of a JSON answer: where in it stands what comes from a page, as JSON pointers."""

LONGEST_SOURCE = 200
_EVENTS = ("newPages", "dialogs", "downloads")
"""What a page says beside the answer to a call that only acts."""


def marked(text: str, *, source: str) -> str:
    """A page's text between two marks. No page can write the second: it has a number of its own."""
    number = secrets.token_hex(4)
    return f"<page-content {number} from={_told(source)}>\n{text}\n</page-content {number}>"


def _told(source: str) -> str:
    """Its origin. A page's own URL cannot end the mark that it stands in."""
    origin = re.match(r"[a-z][\w+.-]*://[^/?#]+", source)
    told = re.sub(r"[\s<>]", "", origin[0] if origin else source)
    return told if len(told) <= LONGEST_SOURCE else f"{told[:LONGEST_SOURCE]}…"


def parts_from_page(tool: Tool, answer: Answer) -> list[str]:
    """JSON pointers into an answer's content."""
    content = answer.content
    if tool.scope == "server" and not tool.untrusted:
        return []
    if not answer.success:
        return ["/error/message", "/error/details"]
    observed = ["/observation"] if "observation" in content else []
    if "data" not in content:
        return ["/preview", *(f"/{name}" for name in _EVENTS if name in content), *observed]
    if tool.untrusted:
        return ["/data", *observed]
    return [*(f"/data/{name}" for name in _EVENTS if name in content["data"]), *observed]
