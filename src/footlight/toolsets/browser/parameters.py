"""Parameters, results and text excerpts that several families of tools share."""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from footlight.errors import InvalidParameter
from footlight.server.tools import ToolCall, Whole

__all__ = ["ActionResult", "Excerpt", "Offset", "Selector", "WaitUntil", "action_result", "cut", "excerpt"]

Selector = str
"""A ref, CSS, XPath starting with //, or testid=NAME; `>>` goes into a frame. The first match is used."""


class ActionResult(TypedDict):
    """`url` is the URL of the page after the action."""

    url: str


def action_result(call: ToolCall) -> ActionResult:
    return {"url": call.page.url}


WaitUntil = Literal["load", "domcontentloaded", "networkidle"]

MAX_EXCERPT_CHARS = 10_000

Offset = Annotated[Whole, Field(ge=0, description="nextOffset of the previous answer")]


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A piece of a text of `length` characters; `next_offset` is None for the last piece."""

    text: str
    length: int
    next_offset: int | None


def excerpt(text: str, offset: int, *, longest: int = MAX_EXCERPT_CHARS) -> Excerpt:
    """Return the piece of `text` that begins at `offset`.

    Raises:
        InvalidParameter: The text ends before `offset`.
    """
    if offset > len(text):
        raise InvalidParameter(
            f"offset: {offset} is beyond the end; the text has {len(text)} characters", parameter="offset"
        )
    end = offset + longest
    return Excerpt(text[offset:end], len(text), end if end < len(text) else None)


def cut(text: str, longest: int) -> str:
    """Return `text`, cut to `longest` characters with a note of its full length."""
    return text if len(text) <= longest else f"{text[:longest]}… [cut, {len(text)} characters]"
