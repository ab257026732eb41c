"""Wait until an expression or a function in a page is true."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from footlight.browser.actions.waiting.quotes import STATE_SECONDS, shorten_quote
from footlight.browser.driver.playwright_api import Error, PlaywrightTimeout, cause, is_syntax_error
from footlight.browser.page.diagnosis import explain_page_failure, explain_timeout
from footlight.errors import InvalidParameterError
from footlight.javascript import join_modules

if TYPE_CHECKING:
    from footlight.browser.driver.deadline import Deadline
    from footlight.browser.page.page import Page

__all__ = ["wait_for_function"]


async def wait_for_function(page: Page, expression: str, deadline: Deadline) -> Any:
    """Return the value of an expression or function once it is true. An exception counts as false."""
    deadline.stage("waiting for the function")
    script = expression.strip().rstrip(";")
    try:
        found = await page.playwright.wait_for_function(
            _write_script("pollUntilTrue(footlightState, caller)", script),
            arg={},
            timeout=deadline.remaining_ms,
        )
        return await found.json_value()
    except PlaywrightTimeout as error:
        elapsed = deadline.elapsed
        now = await _describe_value(page, script)
        raise await explain_timeout(
            page,
            f"The function was not true after {elapsed}" + (f"; it {now}" if now else ""),
            deadline,
            function=shorten_quote(expression),
            page=page.url,
        ) from error
    except Error as error:
        # Deeply nested brackets exceed the stack while they are compiled.
        if is_syntax_error(error) or cause(error).startswith("RangeError"):
            raise InvalidParameterError(
                f"function: {cause(error)}; it takes an expression, or a function to call",
                parameter="function",
            ) from error
        raise await explain_page_failure(page, error) from error


async def _describe_value(page: Page, script: str) -> str | None:
    with contextlib.suppress(Error, TimeoutError):
        async with asyncio.timeout(STATE_SECONDS):
            return shorten_quote(
                await page.playwright.evaluate(_write_script("describeValue(caller)", script))
            )
    return None


def _write_script(call: str, script: str) -> str:
    """Return a function that evaluates `call`, in which `caller` evaluates the script.

    The script is outside the scope of our code, so our names are not visible to it, and it is not strict.
    """
    return f"footlightState => (caller => {{\n{_MODULE}return {call};\n}})(async () => [({script}\n)])"


_MODULE = join_modules(Path(__file__).parent, ["condition"])
