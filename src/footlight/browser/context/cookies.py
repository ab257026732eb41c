"""Say which of several cookies a browser refuses. The browser only says that one of them is wrong."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from footlight.browser.driver.playwright_api import Error, is_closed, protocol_reason
from footlight.errors import InvalidParameter

if TYPE_CHECKING:
    from playwright.async_api import Browser

__all__ = ["make_refused_cookie_error"]


async def make_refused_cookie_error(
    browser: Browser, cookies: Sequence[Mapping[str, Any]], error: Error, *, of: str = ""
) -> InvalidParameter | None:
    """Return the error that names the first cookie which the browser refuses, or None if it takes each.

    The cookies are tried in a separate context. `of` precedes the name of the field.
    """
    if not cookies or is_closed(error):
        return None
    trial = await browser.new_context()
    try:
        for index, cookie in enumerate(cookies):
            try:
                await trial.add_cookies([cast("Any", cookie)])
            except Error as refusal:
                if is_closed(refusal):
                    return None
                reason = protocol_reason(refusal)
                inner = re.match(r"cookies\[0\]\.(\w{1,40}): ", reason)
                field = f"{of}cookies.{index}" + (f".{inner[1]}" if inner else "")
                text = reason[inner.end() :] if inner else reason
                return InvalidParameter(f"{field}: {text}", parameter=field)
    finally:
        with suppress(Error):
            await trial.close()
    return None
