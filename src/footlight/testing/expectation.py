"""Assertions on the answer of a tool, which is called again until the assertion holds or a deadline passes.

```python
from footlight.testing import expect


async def test_the_order_is_confirmed(mcp):
    await mcp.root.click(selector="#order")
    await expect(mcp.root.get_text, selector="#status")["data"]["text"].to_equal("Order 12 is confirmed")
```
"""

from __future__ import annotations

import asyncio
import difflib
import inspect
import pprint
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from footlight.protocol.errors import MCPError
from footlight.testing.bridge import BlockingCall
from footlight.testing.tracebacks import AnswerMismatchError

__all__ = ["AnswerExpectation", "expect"]

DEADLINE_SECONDS = 5.0
FIRST_PAUSE_SECONDS = 0.02
LAST_PAUSE_SECONDS = 0.5
MAX_DIFF_LINES = 60


def expect(call: Callable[..., Any], /, **arguments: Any) -> AnswerExpectation:
    """Return assertions on the answer of a call, such as a tool of the fixture `mcp` or `sync_mcp`.

    Await the assertions of an asynchronous call. Assertions of a blocking call block as well.

    Raises:
        TypeError: the call is neither a coroutine function nor a method of a blocking fixture.
    """
    if isinstance(call, BlockingCall) or inspect.iscoroutinefunction(call):
        return AnswerExpectation(call, arguments)
    raise TypeError(f"expect() needs a tool of a fixture, or a coroutine function, not {call!r}")


@dataclass(frozen=True, slots=True)
class AnswerExpectation:
    """Assertions on the answer of a call. `[key]` selects a part of the answer."""

    _call: Any
    _arguments: Mapping[str, Any]
    _path: tuple[str | int, ...] = ()
    _deadline_s: float = DEADLINE_SECONDS

    def __getitem__(self, key: str | int) -> AnswerExpectation:
        return replace(self, _path=(*self._path, key))

    def within(self, seconds: float) -> AnswerExpectation:
        """Return the same assertions with another deadline. The default is 5 seconds."""
        return replace(self, _deadline_s=seconds)

    def to_equal(self, expected: object) -> Any:
        """Assert that the answer equals this value.

        Raises:
            AnswerMismatchError: the deadline passed before the answer was equal. The message has a diff.
        """
        return self._assert(_Condition("to equal", expected, lambda answer: answer == expected))

    def to_include(self, expected: object) -> Any:
        """Assert that the answer has these keys with these values, these items, or this text.

        Raises:
            AnswerMismatchError: the deadline passed before the answer included it. The message has a diff.
        """
        return self._assert(_Condition("to include", expected, lambda answer: _includes(answer, expected)))

    def not_to_include(self, expected: object) -> Any:
        """Assert that the answer does not have these keys with these values, these items, or this text.

        Raises:
            AnswerMismatchError: the answer still included it at the deadline.
        """
        return self._assert(
            _Condition("not to include", expected, lambda answer: not _includes(answer, expected))
        )

    def _assert(self, condition: _Condition) -> Any:
        if isinstance(self._call, BlockingCall):
            return self._call.bridge.run(self._retry(self._call.method, condition))
        return self._retry(self._call, condition)

    async def _retry(self, call: Callable[..., Awaitable[Any]], condition: _Condition) -> None:
        deadline = time.monotonic() + self._deadline_s
        pause, last = FIRST_PAUSE_SECONDS, "There was no answer."
        while (left := deadline - time.monotonic()) > 0:
            try:
                async with asyncio.timeout(left):
                    answer = self._select(await call(**self._arguments))
                if condition.is_met(answer):
                    return
                last = condition.describe(answer)
            except MCPError as error:
                last = f"The call failed: {error}"
            except TimeoutError:
                break
            except _PartMissingError as error:
                last = str(error)
            await asyncio.sleep(min(pause, max(deadline - time.monotonic(), 0)))
            pause = min(pause * 2, LAST_PAUSE_SECONDS)
        raise AnswerMismatchError(
            f"Expected {self._describe()} {condition.verb} within {self._deadline_s:g} s:\n{last}"
        )

    def _select(self, answer: Any) -> Any:
        for key in self._path:
            try:
                answer = answer[key]
            except (KeyError, IndexError, TypeError):
                raise _PartMissingError(f"There is no {key!r} in the answer:\n{_format(answer)}") from None
        return answer

    def _describe(self) -> str:
        name = getattr(self._call, "__name__", "the call")
        arguments = ", ".join(f"{key}={value!r}" for key, value in self._arguments.items())
        return f"{name}({arguments}){''.join(f'[{key!r}]' for key in self._path)}"


class _PartMissingError(Exception):
    """The answer does not have the selected part."""


@dataclass(frozen=True, slots=True)
class _Condition:
    verb: str
    expected: object
    is_met: Callable[[Any], bool]

    def describe(self, answer: object) -> str:
        """Return the lines that differ between the expected value and the answer."""
        if self.verb == "not to include":
            return f"{_format(self.expected)}\nThe answer is:\n{_format(answer)}"
        lines = difflib.unified_diff(
            _format(self.expected).splitlines(),
            _format(_part_like(answer, self.expected) if self.verb == "to include" else answer).splitlines(),
            "expected",
            "answer",
            lineterm="",
            n=2,
        )
        shown = [*lines]
        more = len(shown) - MAX_DIFF_LINES
        return "\n".join([*shown[:MAX_DIFF_LINES], *([f"… {more} more lines"] if more > 0 else [])])


def _includes(answer: Any, expected: Any) -> bool:
    if isinstance(expected, str) and isinstance(answer, str):
        return expected in answer
    if isinstance(expected, dict) and isinstance(answer, dict):
        fields, wanted = cast("dict[str, Any]", answer), cast("dict[str, Any]", expected)
        return all(
            key in fields and (fields[key] == value or _includes_within(fields[key], value))
            for key, value in wanted.items()
        )
    if isinstance(answer, list):
        entries = cast("list[Any]", answer)
        parts = cast("list[Any]", expected if isinstance(expected, list) else [expected])
        return all(any(part == entry or _includes_within(entry, part) for entry in entries) for part in parts)
    return answer == expected


def _includes_within(answer: Any, expected: Any) -> bool:
    """Return whether a nested value includes the expected one. Nested strings must be equal."""
    return not isinstance(expected, str) and _includes(answer, expected)


def _part_like(answer: Any, expected: Any) -> Any:
    """Return only the expected fields of the answer, so that a diff does not list all others."""
    if not isinstance(answer, dict) or not isinstance(expected, dict):
        return cast("Any", answer)
    fields, wanted = cast("dict[str, Any]", answer), cast("dict[str, Any]", expected)
    return {key: _part_like(fields[key], value) for key, value in wanted.items() if key in fields}


def _format(value: object) -> str:
    return value if isinstance(value, str) else pprint.pformat(value, width=100, sort_dicts=True)
