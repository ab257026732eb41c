"""Open the page of tests that `browser.run_test` starts, read their parameters, and stop with the server."""

from __future__ import annotations

import contextlib
import functools
import inspect
import json
import os
import signal
import threading
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

__all__ = ["FIXTURE", "LIFELINE", "hold_lifeline", "open_attached_page", "read_parameters", "with_own_page"]

FIXTURE = "attached_page"
ENDPOINT = "FOOTLIGHT_CDP_ENDPOINT"
TARGET = "FOOTLIGHT_CDP_TARGET"
PARAMETER = "FOOTLIGHT_PARAM_"
NAMES = "FOOTLIGHT_PARAMS"
"""A JSON object that maps the name of each parameter to its environment variable."""


@dataclass(frozen=True, slots=True)
class _PendingPage:
    """A placeholder for the page of an async test. The page must be opened in the event loop of the test."""

    endpoint: str
    target: str | None

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"{name}: {FIXTURE} of an async test can only be used in the test itself, not in another fixture"
        )


@contextmanager
def open_attached_page(function: Callable[..., object]) -> Generator[object]:
    """Yield Playwright's synchronous page for a `def` test.

    For an `async def` test, yield a placeholder that `with_own_page` replaces.
    """
    endpoint, target = os.environ.get(ENDPOINT), os.environ.get(TARGET)
    if not endpoint:
        pytest.fail(
            f"{FIXTURE}: there is no browser to attach to. Start the test with browser.run_test, or set "
            f"{ENDPOINT} to the debugging address of a Chromium, such as http://127.0.0.1:9222",
            pytrace=False,
        )
    if inspect.iscoroutinefunction(function):
        yield _PendingPage(endpoint, target)
        return
    from footlight.browser.launch.attached import attached_page

    with attached_page(endpoint, target=target) as page:
        yield page


def with_own_page(
    function: Callable[..., Awaitable[object]], value: object
) -> Callable[..., Awaitable[object]]:
    """Return the test with its page as an argument. The page is opened in the event loop of the test.

    A test whose page is already open is returned unchanged.
    """
    if not isinstance(value, _PendingPage):
        return function

    @functools.wraps(function)
    async def run_attached(*arguments: Any, **keywords: Any) -> object:
        from footlight.browser.launch.attached import attached_page_async

        async with attached_page_async(value.endpoint, target=value.target) as page:
            return await function(*arguments, **{**keywords, FIXTURE: page})

    return run_attached


def read_parameters() -> dict[str, str]:
    """Return the `params` of `run_test`.

    If the tests were started without `run_test`, return the environment variables that begin with
    `FOOTLIGHT_PARAM_`, by their names in lower case without this prefix.
    """
    if names := os.environ.get(NAMES):
        variables: dict[str, str] = json.loads(names)
        return {name: os.environ[variable] for name, variable in variables.items()}
    return {
        name.removeprefix(PARAMETER).lower(): value
        for name, value in os.environ.items()
        if name.startswith(PARAMETER)
    }


LIFELINE = "FOOTLIGHT_LIFELINE"
"""Set if standard input is a pipe that only the server keeps open. No data is written to it."""


def hold_lifeline() -> None:
    """Stop this process and its children when the server ends. The tests get an empty standard input."""
    if os.environ.pop(LIFELINE, None) is None:
        return
    line = os.dup(0)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    threading.Thread(target=_end_with, args=(line,), name="footlight-lifeline", daemon=True).start()


def _end_with(line: int) -> None:
    while os.read(line, 1):
        pass
    if hasattr(os, "killpg"):  # The server started this process in its own group.
        os.killpg(0, signal.SIGKILL)
    _end_children()
    os._exit(1)


def _end_children() -> None:
    """Kill the children one by one, because Windows has no process groups."""
    import psutil

    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            child.kill()
