"""Fixtures for tests without `async`: wrapped objects whose calls wait for their results."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine
from typing import Any

from footlight.testing.bridge import Bridge

__all__ = ["Blocking", "BlockingCall"]

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
            return BlockingCall(self._bridge, member)
        return member if _is_plain(member) else Blocking(self._bridge, member)


class BlockingCall:
    """A call that waits for the result of an asynchronous method."""

    def __init__(self, bridge: Bridge, method: Callable[..., Coroutine[Any, Any, Any]]) -> None:
        self.bridge = bridge
        self.method = method
        self.__name__ = getattr(method, "__name__", "call")
        self.__doc__ = method.__doc__

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self.bridge.run(self.method(*arguments, **keywords))


def _is_plain(value: object) -> bool:
    return isinstance(value, PLAIN) or inspect.isroutine(value)
