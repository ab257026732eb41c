"""Checks of the parameters of the typed Playwright client, before anything is sent.

Each check returns the value, or raises an error that names the parameter and says what is allowed. `tool` is
only used in the error.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from typing import NoReturn, cast

from footlight.browser_client.css_selectors import problem_of
from footlight.protocol.errors import ToolInvocationError

__all__ = [
    "DEFAULT_TIMEOUT_MS",
    "MAX_SCRIPT_LENGTH",
    "MAX_TIMEOUT_MS",
    "MIN_TIMEOUT_MS",
    "is_timeout_ms",
    "is_url",
    "validate_fields",
    "validate_format",
    "validate_host",
    "validate_script",
    "validate_selector",
    "validate_timeout",
    "validate_url",
]

MIN_TIMEOUT_MS = 1_000
DEFAULT_TIMEOUT_MS = 30_000
MAX_TIMEOUT_MS = 300_000
MAX_SCRIPT_LENGTH = 10_000
"""The maximum number of characters of a script."""
RESOLVE_SECONDS = 5.0

_WEB = re.compile(r"https?://", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_FORBIDDEN = re.compile(r"(?<![\w$])(require|import|eval)(?![\w$])")
_ESCAPE = re.compile(r"\\u(?:\{([0-9a-fA-F]{1,6})\}|([0-9a-fA-F]{4}))")


def validate_url(url: object, *, tool: str) -> str:
    """Check a URL with the parser of the WHATWG URL Standard, as browsers have it."""
    if not isinstance(url, str) or not _WEB.match(url):
        _refuse(tool, "url", url, "must start with http:// or https://")
    if _CONTROL.search(url):
        _refuse(tool, "url", url, "has a line break, a tab or another control character; remove it")
    if not is_url(url):
        _refuse(tool, "url", url, "is not valid by the URL Standard; check its host and its port")
    return url


async def validate_host(url: str, *, tool: str) -> None:
    """Check that the host of a valid URL resolves to an address on this machine."""
    import ada_url

    host = ada_url.URL(url).hostname.strip("[]")
    try:
        async with asyncio.timeout(RESOLVE_SECONDS):
            await asyncio.get_running_loop().getaddrinfo(host, None)
    except (OSError, UnicodeError):  # A TimeoutError is an OSError.
        _refuse(tool, "url", url, f"leads to a host that has no address: {host}")


def is_url(url: str) -> bool:
    """Return whether the text is a URL that can be parsed without a base, of any scheme."""
    import ada_url

    try:
        ada_url.URL(url)
    except (ValueError, UnicodeError):
        return False
    return True


def validate_selector(selector: object, *, tool: str, parameter: str = "selector") -> str:
    """Check a CSS selector. A ref of a snapshot (`e12`) passes too: it looks like the name of a tag."""
    problem = problem_of(selector) if isinstance(selector, str) else "must be a string"
    if problem is not None:
        _refuse(tool, parameter, selector, problem)
    return cast("str", selector)


def validate_fields(fields: object, *, tool: str) -> dict[str, str]:
    """Check selectors and their values, at least one. Errors do not contain the values."""
    values = cast("Mapping[object, object]", fields if isinstance(fields, Mapping) else {})
    if not values:
        _refuse(tool, "fields", None, "must map at least one selector to its value")
    for selector, value in values.items():
        validate_selector(selector, tool=tool, parameter="fields")
        if not isinstance(value, str):
            _refuse(tool, "fields", list(values), f"must have a string for {selector}; write true as 'true'")
    return dict(cast("Mapping[str, str]", values))


def validate_format(format: object, *, tool: str) -> None:
    if format not in ("png", "jpeg"):
        _refuse(tool, "format", format, "must be png or jpeg")


def validate_script(script: object, *, tool: str) -> str:
    """Check a script for likely mistakes. This is not a security boundary: pages run scripts anyway."""
    if not isinstance(script, str) or not script.strip():
        _refuse(tool, "script", script, "must not be empty")
    if len(script) > MAX_SCRIPT_LENGTH:
        _refuse(tool, "script", None, f"has {len(script)} characters; the limit is {MAX_SCRIPT_LENGTH}")
    if found := _FORBIDDEN.search(_ESCAPE.sub(_unescape, script)):
        _refuse(tool, "script", script, f"must not use {found[1]}; write what it does in the script itself")
    return script


def _unescape(escape: re.Match[str]) -> str:
    """Return the character of an escape: JavaScript allows escapes in names."""
    code = int(escape[1] or escape[2], 16)
    return chr(code) if code <= 0x10FFFF else escape[0]


def validate_timeout(timeout_ms: object, *, tool: str) -> int:
    if not is_timeout_ms(timeout_ms):
        way_out = f"must be a whole number from {MIN_TIMEOUT_MS} to {MAX_TIMEOUT_MS}"
        _refuse(tool, "timeout_ms", timeout_ms, way_out)
    return cast("int", timeout_ms)


def is_timeout_ms(value: object) -> bool:
    return (
        isinstance(value, int) and not isinstance(value, bool) and MIN_TIMEOUT_MS <= value <= MAX_TIMEOUT_MS
    )


def _refuse(tool: str, parameter: str, value: object, way_out: str) -> NoReturn:
    raise ToolInvocationError(
        f"{tool}: {parameter} {way_out}", tool_name=tool, tool_args={parameter: value}, reason="invalid"
    )
