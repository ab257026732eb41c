"""The seam to Playwright: it is started here, and its exceptions become ours here.

Playwright has three exception types and tells the rest in the message, so the table below is the only
place that reads one.
"""

from __future__ import annotations

import os
import re
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from playwright.async_api import Error, Playwright, async_playwright
from playwright.async_api import TimeoutError as PlaywrightTimeout

from footlight.errors import (
    FootlightError,
    InvalidParameter,
    InvalidSelector,
    InvalidUrl,
    NetworkFailed,
)

__all__ = [
    "CONTEXT_LOST",
    "Error",
    "PlaywrightTimeout",
    "cause",
    "is_closed",
    "is_syntax_error",
    "is_taken",
    "is_wrong_kind",
    "network_cause",
    "refused_option",
    "start_playwright",
    "translated",
    "was_aborted",
    "was_crossed",
    "was_dispatched",
    "was_editing",
]


@asynccontextmanager
async def start_playwright(temporary: Path) -> AsyncGenerator[Playwright]:
    """Start the driver process. It keeps its browser profiles below `temporary`."""
    # The driver copies our environment when it starts and has no option for this.
    before = os.environ.get("TMPDIR")
    os.environ["TMPDIR"] = str(temporary)
    starting = async_playwright()
    try:
        playwright = await starting.start()
    finally:
        if before is None:
            del os.environ["TMPDIR"]
        else:
            os.environ["TMPDIR"] = before
    try:
        yield playwright
    finally:
        await playwright.stop()


CONTEXT_LOST = re.compile(r"Execution context was destroyed|Cannot find context with specified id")
"""The page navigated while a script ran in it."""

_NETWORK = re.compile(r"(net::ERR_\w+|NS_ERROR_\w+|Could not connect[^\n]*|Connection refused)")
_WRONG_KIND = re.compile(
    r"Element is not an? |Not a checkbox|Cannot uncheck radio|Node is not an? |Clicking the checkbox did not|"
    r"Non-multiple file input|Input of type|Cannot set input files|can only accept|"
    r"did not find some options|Element is outside of the viewport|did not accept the drop"
)
_SELECTOR = re.compile(
    r"while parsing (?:css )?selector|is not a valid (?:selector|XPath)|Unknown engine|Malformed selector|"
    r"Invalid regular expression|Unsupported token|Only one of the selectors can capture|Selector cannot"
)
_VALUE = re.compile(r"Malformed value|Cannot type text into")
_URL = re.compile(r"invalid URL|Invalid url", re.IGNORECASE)
_OPTIONS = (
    ("permissions", re.compile(r"(Unknown permission: .*)")),
    ("timezone", re.compile(r"(Invalid timezone(?: ID: .*)?)")),
    ("locale", re.compile(r"(Invalid locale name)")),
    ("geolocation", re.compile(r"geolocation\.(\w+: .*)")),
    ("extraHeaders", re.compile(r"((?:Invalid|Unsafe|Forbidden) header.*)", re.IGNORECASE)),
    ("proxy", re.compile(r"(Browser does not support socks5 proxy authentication)|Invalid URL")),
    ("state", re.compile(r"((?:Cookie should have|Invalid cookie|storageState|Error setting storage).*)")),
)
_TAKEN = re.compile(r"override is already in effect")
_KEY = re.compile(r'Unknown key: "([^"]*)"|Unknown modifier (\S+)|Unknown button: (\S+)')


def cause(error: Error) -> str:
    """What went wrong in a line: no method prefix, no stack, no call log."""
    first = error.message.split("\n", 1)[0]
    return re.sub(r"^(?:\w+\.\w+: )?(?:Error: )?", "", first).strip()


def network_cause(error: Error) -> str | None:
    """The browser's name for a network failure, such as `net::ERR_CONNECTION_REFUSED`."""
    found = _NETWORK.search(error.message)
    return found.group(1) if found else None


def is_closed(error: Error) -> bool:
    """Whether the page, its context or its browser is gone."""
    return error.name == "TargetClosedError"


def was_aborted(error: Error) -> bool:
    """Whether a navigation came to nothing: its answer was a file, or empty."""
    return bool(re.search(r"ERR_ABORTED|NS_BINDING_ABORTED|Download is starting", error.message))


def was_crossed(error: Error, url: str | None) -> bool:
    """Whether a navigation was ended by one that nobody else asked for.

    That is the browser's own page about an earlier failure, or what is left of the same navigation.
    """
    by = re.search(r'interrupted by another navigation to "([^"]*)"', error.message)
    return bool(by) and (by[1].startswith("chrome-error:") or by[1] == url)


def refused_option(error: Error) -> tuple[str, str] | None:
    """The option of a context, or of an emulation, that the browser does not take, and why."""
    for option, pattern in _OPTIONS:
        if found := pattern.search(cause(error)):
            return option, found[1] or found[0]
    return None


def is_taken(error: Error) -> bool:
    """Whether a page of the same process has the emulation already; there is one for them all."""
    return bool(_TAKEN.search(error.message))


def is_syntax_error(error: Error) -> bool:
    """Whether a script could not be compiled, so that nothing of it ran."""
    return cause(error).startswith("SyntaxError")


def is_wrong_kind(error: Error) -> bool:
    """Whether the element exists and cannot take this action."""
    return bool(_WRONG_KIND.search(error.message))


def was_dispatched(error: Error) -> bool:
    """Whether the input reached the page before time ran out; Playwright says so in its call log."""
    return bool(re.search(r"performing \w+(?: \w+)* action|navigating to", error.message))


def was_editing(error: Error) -> bool:
    """Whether the action waited for a field to be editable."""
    return "editable" in error.message


def translated(error: Error, *, selector: str | None = None) -> FootlightError | None:
    """The error in our terms where the message alone decides; None where the page must be asked."""
    message = error.message
    for pattern, make in _TABLE:
        if pattern.search(message):
            return make(cause(error), selector)
    return None


def _invalid_selector(reason: str, selector: str | None) -> FootlightError:
    return InvalidSelector(f'The selector "{selector}" cannot be parsed: {reason}', selector=selector)


_TABLE: tuple[tuple[re.Pattern[str], Callable[[str, str | None], FootlightError]], ...] = (
    (_SELECTOR, _invalid_selector),
    (_VALUE, lambda reason, _: InvalidParameter(f"value: {reason}", parameter="value")),
    (
        _KEY,
        lambda reason, _: InvalidParameter(
            f"key: {reason}. Use a name such as Enter, Tab, ArrowDown or a", parameter="key"
        ),
    ),
    (_URL, lambda reason, _: InvalidUrl(reason)),
    (_NETWORK, lambda reason, _: NetworkFailed(reason)),
)
