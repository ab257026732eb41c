"""Translate the exceptions of Playwright.

Playwright has three exception types and puts all details into messages. The tables below are the only place
that parses them.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable

from playwright.async_api import Error
from playwright.async_api import TimeoutError as PlaywrightTimeout

from footlight.errors import (
    ElementNotInteractiveError,
    FootlightError,
    InvalidParameterError,
    InvalidSelectorError,
    InvalidUrlError,
    NetworkFailedError,
    ResourceExhaustedError,
)

__all__ = [
    "Error",
    "PlaywrightTimeout",
    "cause",
    "file_error",
    "find_interceptor",
    "find_refused_option",
    "is_between_documents",
    "is_closed",
    "is_context_lost",
    "is_detached",
    "is_error_page",
    "is_not_ready",
    "is_override_taken",
    "is_syntax_error",
    "is_too_large",
    "is_wrong_kind",
    "network_cause",
    "protocol_reason",
    "translate_error",
    "was_aborted",
    "was_dispatched",
    "was_editing",
    "was_interrupted",
    "was_missing",
    "was_unstable",
]

MAX_LINES = 5
"""The number of lines of a message that are parsed. A call log may follow them."""

_PREFIX = re.compile(r"^(?:\w{1,40}\.\w{1,40}: )?(?:Error: )?")
_FILE = re.compile(r"\b(E[A-Z]{2,14}): ")
_NETWORK = re.compile(r"(net::ERR_\w+|NS_ERROR_\w+|Could not connect[^\n]*|Connection refused)")
_CROSSED = re.compile(r'interrupted by another navigation to "([^"]*)"')
_TOO_LARGE = re.compile(r"The page returned more than \d+ (?:bytes|values)")
_SHADOWED = re.compile(
    r"TypeError: (?:\w+\.){1,3}(addEventListener|closest|contains|dispatchEvent|getAttribute|getRootNode|"
    r"getBoundingClientRect|hasAttribute|matches|querySelector(?:All)?|toLowerCase) is not a function"
)
"""Matches if a field of a form has the name of a DOM member that Playwright's own script uses."""
_INTERCEPTED = " intercepts pointer events"
MAX_ELEMENT_CHARACTERS = 200

_KINDS = {
    "aborted": re.compile(r"ERR_ABORTED|NS_BINDING_ABORTED|Download is starting"),
    "between documents": re.compile(r"Not attached to an active page"),
    "context lost": re.compile(r"Execution context was destroyed|Cannot find context with specified id"),
    "detached": re.compile(r"Element is not attached to the DOM"),
    "dispatched": re.compile(r"performing \w+(?: \w+){0,3} action|navigating to"),
    "editing": re.compile(r"(?:and|not) editable"),  # The call log has selectors with this word.
    "not ready": re.compile(r"Element is not visible|Element is outside of the viewport"),
    "taken": re.compile(r"override is already in effect"),
    "wrong kind": re.compile(
        r"Element is not an? |Not a checkbox|Cannot uncheck radio|Node is not an? |"
        r"Clicking the checkbox did not|Non-multiple file input|Input of type|Cannot set input files|"
        r"can only accept|did not find some options|Element is outside of the viewport|"
        r"did not accept the drop"
    ),
}
"""Patterns for messages by kind of error. The functions below describe the kinds."""

_OPTIONS = (
    ("permissions", re.compile(r"(Unknown permission:.*)")),
    ("timezone", re.compile(r"(Invalid timezone(?: ID: .*)?)")),
    ("locale", re.compile(r"(Invalid locale name|Invalid characters found in acceptLanguage)")),
    ("geolocation", re.compile(r"geolocation\.(\w+: .*)")),
    ("extraHeaders", re.compile(r"((?:Invalid|Unsafe|Forbidden) header.*)", re.IGNORECASE)),
    ("proxy", re.compile(r"(Browser does not support socks5 proxy authentication)|Invalid URL")),
    ("state", re.compile(r"((?:Cookie should have|Invalid cookie|storageState|Error setting storage).*)")),
)
"""Patterns for messages by the context option that the browser refuses."""


def _is(kind: str, text: str) -> bool:
    return bool(_KINDS[kind].search(text))


def cause(error: Error) -> str:
    """Return the cause of the error on one line, without method name, stack and call log.

    The line after a line that ends with a colon is appended.
    """
    lines = error.message.splitlines()[:MAX_LINES]
    parts = list[str]()
    for line in lines:
        parts.append(_PREFIX.sub("", line.strip()))
        if parts[-1] and not parts[-1].endswith(":"):
            break
    return " ".join(filter(None, parts))


def file_error(error: Error) -> OSError | None:
    """Return the file system error that the driver reported when it wrote a file, or None."""
    found = _FILE.search(cause(error))
    number = getattr(errno, found[1], None) if found else None
    return None if number is None else OSError(number, os.strerror(number))


def protocol_reason(error: Error) -> str:
    """Return the browser's message about a command of the DevTools protocol."""
    return re.sub(r"^Protocol error \([\w.]{1,80}\): ", "", cause(error))


def network_cause(error: Error) -> str | None:
    """Return the browser's name of a network failure, such as `net::ERR_CONNECTION_REFUSED`, or None."""
    found = _NETWORK.search(error.message)
    return found.group(1) if found else None


def is_closed(error: Error) -> bool:
    """Return whether the page, its context or its browser is closed."""
    # An error that Playwright raises itself after the driver has ended has this type but no name.
    return "TargetClosedError" in (error.name, type(error).__name__)


def was_aborted(error: Error) -> bool:
    """Return whether a navigation was aborted because its response was a file or empty."""
    return _is("aborted", error.message)


def was_interrupted(error: Error, *urls: str | None) -> bool:
    """Return whether a navigation was interrupted by one that no caller has requested.

    That is the browser's error page about an earlier failure, or an earlier navigation to one of `urls`.
    """
    by = _CROSSED.search(error.message)
    return bool(by) and (is_error_page(by[1]) or by[1] in urls)


def is_between_documents(error: Error) -> bool:
    """Return whether the page is currently replacing its document and cannot execute commands."""
    return _is("between documents", error.message)


def is_context_lost(error: Error) -> bool:
    """Return whether the page navigated while a script ran in it."""
    return _is("context lost", error.message)


def is_detached(error: Error) -> bool:
    """Return whether the page had removed the element before an action reached it."""
    return _is("detached", cause(error)) and not was_dispatched(error)


def is_error_page(url: str) -> bool:
    """Return whether the URL is that of the browser's error page."""
    return url.startswith(("chrome-error:", "about:neterror", "about:certerror"))


def find_refused_option(error: Error) -> tuple[str, str] | None:
    """Return the context or emulation option that the browser refuses, and the reason, or None."""
    for option, pattern in _OPTIONS:
        if found := pattern.search(cause(error)):
            return option, found[1] or found[0]
    return None


def is_override_taken(error: Error) -> bool:
    """Return whether another page of the same process has the emulation, which only one page can have."""
    return _is("taken", error.message)


def is_syntax_error(error: Error) -> bool:
    """Return whether a script could not be compiled, which means that no part of it has run."""
    return cause(error).startswith("SyntaxError")


def is_too_large(error: Error) -> bool:
    """Return whether the page returned a value above the limits of `event_limits.js`."""
    return bool(_TOO_LARGE.search(error.message))


def is_wrong_kind(error: Error) -> bool:
    """Return whether the element exists but does not support this action."""
    return _is("wrong kind", error.message)


def is_not_ready(error: Error) -> bool:
    """Return whether a forced action did nothing because its element was hidden or out of the viewport."""
    return _is("not ready", error.message)


def was_dispatched(error: Error) -> bool:
    """Return whether the page had received the input before the timeout, according to the call log.

    Input that would have hit another element was not delivered.
    """
    _, _, since = error.message.rpartition(_INTERCEPTED)
    return _is("dispatched", since)


def was_unstable(error: Error) -> bool:
    """Return whether the element of an action still moved at the last attempt, according to the call log."""
    checks = [line for line in error.message.splitlines() if line.strip(" -").startswith("element is ")]
    return bool(checks) and checks[-1].strip(" -") == "element is not stable"


def was_missing(error: Error) -> bool:
    """Return whether an action ended before its element was found, according to the call log."""
    return "waiting for " in error.message and "resolved to" not in error.message


def find_interceptor(error: Error) -> str | None:
    """Return the element that the last attempt hit instead of the target, as `<p id="x">…</p>`."""
    lines = [line for line in error.message.splitlines() if line.endswith(_INTERCEPTED)]
    return lines[-1].removesuffix(_INTERCEPTED).strip(" -")[:MAX_ELEMENT_CHARACTERS] if lines else None


def was_editing(error: Error) -> bool:
    """Return whether the action was waiting for a field to become editable."""
    return _is("editing", error.message)


def translate_error(error: Error, *, selector: str | None = None) -> FootlightError | None:
    """Return the error if the message alone determines it, or None if the page must be inspected."""
    message = error.message
    for pattern, make in _TRANSLATIONS:
        if pattern.search(message):
            return make(cause(error), selector)
    return None


def _invalid_selector(reason: str, selector: str | None) -> FootlightError:
    return InvalidSelectorError(f'The selector "{selector}" cannot be parsed: {reason}', selector=selector)


_TRANSLATIONS: tuple[tuple[re.Pattern[str], Callable[[str, str | None], FootlightError]], ...] = (
    (
        re.compile(
            r"while parsing (?:css )?selector|is not a valid (?:selector|XPath)|Unknown engine|"
            r"Malformed selector|Invalid regular expression|Unsupported token|"
            r"Only one of the selectors can capture|Selector cannot"
        ),
        _invalid_selector,
    ),
    (
        re.compile(r"Malformed value|Cannot type text into"),
        lambda reason, _: InvalidParameterError(f"value: {reason}", parameter="value"),
    ),
    (
        re.compile(r'Unknown key: "([^"]*)"|Unknown modifier (\S+)|Unknown button: (\S+)'),
        lambda reason, _: InvalidParameterError(
            f"key: {reason}. Use a name such as Enter, Tab, ArrowDown or a", parameter="key"
        ),
    ),
    (
        _SHADOWED,
        lambda reason, selector: ElementNotInteractiveError(
            "A form of the page has a field whose name hides a member of the form from Playwright: "
            f"{reason.partition('TypeError: ')[2]}",
            suggestion="Name a field inside the form, click with mouse_click (group vision), "
            "or use evaluate.",
            selector=selector,
        ),
    ),
    (
        _TOO_LARGE,
        lambda reason, _: ResourceExhaustedError(
            f"{reason.rpartition(': ')[2]}, which is the limit of one call",
            retryable=False,
            suggestion="Read a part: a smaller element, a slice, or JSON.stringify of many values.",
        ),
    ),
    (
        re.compile("Unable to capture screenshot"),
        lambda _, __: ResourceExhaustedError(
            "The browser could not draw the picture",
            suggestion="Call again: the machine may be busy. If it fails again, take a smaller part of it.",
        ),
    ),
    (re.compile(r"invalid URL", re.IGNORECASE), lambda reason, _: InvalidUrlError(reason)),
    (_NETWORK, lambda reason, _: NetworkFailedError(reason)),
)
"""Patterns for messages, and the errors to which they are translated."""
