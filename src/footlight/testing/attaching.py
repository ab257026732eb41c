"""The page of the session for which `browser.run_test` started these tests."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

__all__ = ["FIXTURE", "in_test", "page_for", "parameters"]

FIXTURE = "attached_page"
ENDPOINT = "FOOTLIGHT_CDP_ENDPOINT"
TARGET = "FOOTLIGHT_CDP_TARGET"
PARAMETER = "FOOTLIGHT_PARAM_"


@dataclass(frozen=True, slots=True)
class _InTest:
    """Stands for the page until the test's own loop runs: a page belongs to the loop that opened it."""

    endpoint: str
    target: str | None

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"{name}: the {FIXTURE} of an async test is there when the test runs; let the test itself take it"
        )


@contextmanager
def page_for(function: Callable[..., object]) -> Generator[object]:
    """Playwright's synchronous page for `def`. For `async def`, what `in_test` makes the other one of."""
    endpoint, target = os.environ.get(ENDPOINT), os.environ.get(TARGET)
    if not endpoint:
        pytest.fail(
            f"{FIXTURE}: there is no browser to attach to. browser.run_test starts such tests; to run it "
            f"without, set {ENDPOINT} to that of a Chromium, e.g. http://127.0.0.1:9222",
            pytrace=False,
        )
    if inspect.iscoroutinefunction(function):
        yield _InTest(endpoint, target)
        return
    from footlight.browser.attached import attached_page

    with attached_page(endpoint, target=target) as page:
        yield page


def in_test(function: Callable[..., Awaitable[object]], value: object) -> Callable[..., Awaitable[object]]:
    """The test with its page, where it is to have one. Whatever runs it, this is in its loop."""
    if not isinstance(value, _InTest):
        return function

    @functools.wraps(function)
    async def attached(*arguments: Any, **keywords: Any) -> object:
        from footlight.browser.attached import attached_page_async

        async with attached_page_async(value.endpoint, target=value.target) as page:
            return await function(*arguments, **{**keywords, FIXTURE: page})

    return attached


def parameters() -> dict[str, str]:
    """By their names in lower case: those of variables have no case everywhere."""
    return {
        name.removeprefix(PARAMETER).lower(): value
        for name, value in os.environ.items()
        if name.startswith(PARAMETER)
    }
