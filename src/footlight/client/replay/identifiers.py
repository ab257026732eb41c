"""Ids that a server makes up, and makes up anew when the calls are made again.

A string of the logged result that is another in the live one, at the same place, is such an id where it has
at least 8 characters and is the whole of a string in the arguments of a later call. There, and where results
are compared, the live one takes its place.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from footlight.client.replay.calls import LoggedCall
from footlight.client.replay.leaves import leaves
from footlight.client.replay.variables import mapped_strings, replaced, strings_of

__all__ = ["Identifiers"]

SHORTEST = 8


class Identifiers:
    """What the log's ids are by now."""

    def __init__(self, calls: Iterable[LoggedCall]) -> None:
        self._live: dict[str, str] = {}
        self._needed: dict[str, int] = {}
        """The line of the last call that has the string."""
        for call in calls:
            self._needed |= dict.fromkeys(strings_of(call.arguments), call.line)

    def note(self, logged: str, live: str) -> None:
        """This is what a session is called now, where results tell of it."""
        self._live[logged] = live

    def learn(self, call: LoggedCall, logged: Any, live: Any) -> None:
        """From a call's result, as it was and as it is."""
        now = dict(leaves(live))
        for path, was in leaves(logged):
            new = now.get(path)
            if isinstance(was, str) and isinstance(new, str) and was != new and self._is_id(was, call.line):
                self._live[was] = new

    def _is_id(self, text: str, line: int) -> bool:
        return len(text) >= SHORTEST and self._needed.get(text, 0) > line

    def in_arguments(self, arguments: Any) -> Any:
        """A copy in which whole strings are the live ones. A session's short name may be a word as well: it
        stays."""
        return mapped_strings(
            arguments, lambda text: self._live.get(text, text) if len(text) >= SHORTEST else text
        )

    def in_text(self, text: str) -> str:
        """A text of the log with the live ids, also within it."""
        return self._live.get(text) or replaced(text, self._live)
