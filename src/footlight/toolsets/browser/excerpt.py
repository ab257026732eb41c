"""A long text is read in pieces: each says where the next one begins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from footlight.errors import InvalidParameter
from footlight.server.tool import Whole

__all__ = ["Excerpt", "Offset", "cut", "excerpt"]

LONGEST = 10_000
"""Characters of a piece."""

Offset = Annotated[Whole, Field(ge=0, description="Where to go on: an answer's nextOffset")]


@dataclass(frozen=True, slots=True)
class Excerpt:
    """`length` is that of the whole; `next_offset` is None where this is the last piece."""

    text: str
    length: int
    next_offset: int | None


def excerpt(text: str, offset: int, *, longest: int = LONGEST) -> Excerpt:
    """Raises InvalidParameter: the text ends before `offset`."""
    if offset > len(text):
        raise InvalidParameter(
            f"offset: {offset} is beyond the end; there are {len(text)} characters", parameter="offset"
        )
    end = offset + longest
    return Excerpt(text[offset:end], len(text), end if end < len(text) else None)


def cut(text: str, longest: int) -> str:
    """The beginning, with a mark that says how much there is."""
    return text if len(text) <= longest else f"{text[:longest]}… [cut, {len(text)} characters]"
