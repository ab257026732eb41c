"""Fixtures for tests without `async`: wrapped objects whose calls wait for their results."""

from __future__ import annotations

import functools
import inspect
from typing import Any

from footlight.testing.bridge import Bridge

__all__ = ["Blocking"]

PLAIN = (str, bytes, int, float, bool, type(None), list, tuple, dict, set, frozenset)


class Blocking:
    """Wraps an object. Its asynchronous methods block, and so do those of the objects in its attributes."""

    def __init__(self, bridge: Bridge, wrapped: object) -> None:
        self._bridge = bridge
        self._wrapped = wrapped

    def __repr__(self) -> str:
        return repr(self._wrapped)

    def __getattr__(self, name: str) -> Any:
        member: Any = getattr(self._wrapped, name)
        if inspect.iscoroutinefunction(member):

            @functools.wraps(member)
            def call(*arguments: Any, **keywords: Any) -> Any:
                return self._bridge.run(member(*arguments, **keywords))

            return call
        return member if _is_plain(member) else Blocking(self._bridge, member)


def _is_plain(value: object) -> bool:
    return isinstance(value, PLAIN) or inspect.isroutine(value)
