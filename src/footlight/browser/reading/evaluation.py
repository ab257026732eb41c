"""Run the scripts of callers in a page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from footlight.browser.driver.playwright_api import Error, cause, is_closed, is_context_lost, is_syntax_error
from footlight.browser.page.diagnosis import explain_closed_page
from footlight.browser.page.page_operations import limit_reading
from footlight.errors import FootlightError, InvalidParameter

if TYPE_CHECKING:
    from footlight.browser.driver.deadline import Deadline
    from footlight.browser.page.page import Page

__all__ = ["run_script"]


async def run_script(page: Page, script: str, args: Sequence[Any], deadline: Deadline) -> Any:
    """Return the value of an expression, of a function called with `args`, or of a body with `return`.

    The script runs once. Its exceptions are caught in the page. If the evaluation fails nevertheless, the
    text is only run as a body if it cannot be compiled as an expression, so that none of it has run before.
    """
    expression = _AS_EXPRESSION.replace("SCRIPT", script.strip().rstrip(";"))
    async with limit_reading(page, deadline):
        try:
            outcome = await page.playwright.evaluate(expression, list(args))
        except Error as error:
            if not is_syntax_error(error) or await _compiles(page, expression):
                raise await _script_error(page, error) from error
            try:
                outcome = await page.playwright.evaluate(_AS_BODY.replace("SCRIPT", script), list(args))
            except Error as error:
                raise await _script_error(page, error) from error
    if "thrown" in outcome:
        message = str(outcome["thrown"]).partition("\n")[0]
        raise InvalidParameter(f"script: {message}", parameter="script", page=page.url)
    return _as_data(outcome["value"])


async def _compiles(page: Page, function: str) -> bool:
    try:
        await page.playwright.evaluate(f"() => {{ const compiled = {function}; }}")
    except Error as error:
        return not is_syntax_error(error)
    return True


async def _script_error(page: Page, error: Error) -> FootlightError:
    if is_closed(error) or page.crashed:
        return await explain_closed_page(page)
    if is_context_lost(error):
        return InvalidParameter(
            "script: the page navigated before the script ended", parameter="script", page=page.url
        )
    return InvalidParameter(f"script: {cause(error)}", parameter="script", page=page.url)


def _as_data(value: Any, above: tuple[int, ...] = ()) -> Any:
    """Return the result of a script as a tree. A reference to an ancestor is replaced by a note."""
    if isinstance(value, re.Pattern):
        return f"/{cast('re.Pattern[str]', value).pattern}/"
    if not isinstance(value, (dict, list)):
        return value
    if id(cast("object", value)) in above:
        return "[circular]"
    inside = (*above, id(cast("object", value)))
    if isinstance(value, list):
        return [_as_data(item, inside) for item in cast("list[Any]", value)]
    return {key: _as_data(item, inside) for key, item in cast("dict[str, Any]", value).items()}


_CAUGHT = """async args => {
  const run = async () => { BODY };
  try {
    return {value: await run()};
  } catch (error) {
    try {
      return {thrown: String(error).replace(/^Error: /, '')};
    } catch {
      return {thrown: 'the thrown value cannot be described'};
    }
  }
}"""
_AS_EXPRESSION = _CAUGHT.replace(
    "BODY", "const it = (SCRIPT\n); return typeof it === 'function' ? it(...args) : it;"
)
_AS_BODY = _CAUGHT.replace("BODY", "SCRIPT\n")
