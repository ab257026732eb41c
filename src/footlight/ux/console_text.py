"""The console as `@playwright/mcp` writes it: a text, of messages that may have several lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from footlight.ux.page import ConsoleMessage

__all__ = ["read_console"]

_LEVEL = re.compile(r"\[(ERROR|WARNING)\] (.*)")
_PLACE = re.compile(r" @ (\S+:\d+)$")
_FRAME = re.compile(r"\s+at (?:.*\()?([^\s()]+:\d+:\d+)\)?$")


def read_console(answer: str) -> Sequence[ConsoleMessage]:
    """Uncaught exceptions have no level there: they are errors, and tell of their place in a trace."""
    _, _, body = answer.partition("\n\n")
    return [_message(lines) for lines in _grouped(body.splitlines())]


def _grouped(lines: Sequence[str]) -> Iterator[list[str]]:
    """What belongs together: a message goes on until its place, an exception until its trace ends."""
    group: list[str] = []
    for line in lines:
        begins = _LEVEL.match(line) or (_is_over(group) and not _FRAME.match(line))
        if begins and group:
            yield group
            group = []
        if group or line.strip():
            group.append(line)
    if group:
        yield group


def _is_over(group: Sequence[str]) -> bool:
    return not group or bool(_PLACE.search(group[-1]) or _FRAME.match(group[-1]))


def _message(lines: Sequence[str]) -> ConsoleMessage:
    said = "\n".join(line for line in lines if not _FRAME.match(line))
    told = _LEVEL.match(lines[0])
    place = _PLACE.search(said)
    frames = [found[1] for line in lines if (found := _FRAME.match(line))]
    text = _PLACE.sub("", said)
    return ConsoleMessage(
        level=told[1].lower() if told else "error",
        text=text[len(told[1]) + 3 :] if told else text,
        source=place[1] if place else next(iter(frames), ""),
    )
