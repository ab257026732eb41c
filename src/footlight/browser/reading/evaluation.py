"""Run the callers' scripts in a page."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from footlight.browser.driver.playwright_api import (
    Error,
    cause,
    is_closed,
    is_context_lost,
    is_syntax_error,
    is_too_large,
    translate_error,
)
from footlight.browser.page.diagnosis import explain_closed_page
from footlight.browser.page.page_operations import limit_reading
from footlight.errors import FootlightError, InvalidParameterError
from footlight.javascript import page_function

if TYPE_CHECKING:
    from footlight.browser.driver.deadline import Deadline
    from footlight.browser.page.page import Page

__all__ = ["ScriptOutcome", "run_isolated_script", "run_script"]

PURE_MS = 200
"""How long a script may run in the attempt without side effects. A slower script is run again."""

NO_RETURN = "the script is a body without return, so it has no value"
RAN = "Look at the page before you call again: what the script did before this error has been done."


@dataclass(frozen=True, slots=True)
class ScriptOutcome:
    """The value of a script, and whether the browser has ensured that the script had no side effects.

    `notice` says why there is no value.
    """

    value: Any
    is_pure: bool = False
    notice: str | None = None


async def run_script(page: Page, script: str, args: Sequence[Any], deadline: Deadline) -> ScriptOutcome:
    """Return the value of an expression, of a function called with `args`, or of a body with `return`.

    The script runs once, or has no side effects. Its exceptions are caught in the page. If the evaluation
    fails nevertheless, the text is only run as a body if it cannot be compiled as an expression, which means
    that no part of it has run before.
    """
    async with limit_reading(page, deadline):
        found = await _run_without_effects(page, script, args)
        if found is not None:
            return ScriptOutcome(found[0], is_pure=True)
        return await _run_with_effects(page, script, args)


async def run_isolated_script(
    page: Page, script: str, args: Sequence[Any], deadline: Deadline
) -> ScriptOutcome:
    """Return the value of an expression or a function in the isolated world, as JSON.

    The page can neither read nor change the functions of that world. State that a script leaves there is
    available to later scripts until the document is replaced.

    Raises:
        InvalidParameterError: the script failed, or the browser is not Chromium.
    """
    async with limit_reading(page, deadline):
        if not await page.scripts.wait_for_document():
            engine = page.session.engine
            raise InvalidParameterError(
                f"isolated: this needs Chromium; this session runs {engine}", parameter="isolated"
            )
        function = _with_arguments(_AS_EXPRESSION, json.dumps(list(args)), _trim_expression(script))
        try:
            reply = await page.scripts.run(f"({function})()")
        except Error as error:
            raise await _script_error(page, error) from error
    outcome = reply["result"].get("value")
    if "exceptionDetails" in reply or outcome is None:
        details = reply.get("exceptionDetails", {})
        message = details.get("exception", {}).get("description") or details.get("text") or "no value"
        raise _failure(page, str(message))
    if "thrown" in outcome:
        raise _failure(page, str(outcome["thrown"]))
    return ScriptOutcome(outcome.get("value"), notice=_explain_loss(outcome))


async def _run_without_effects(page: Page, script: str, args: Sequence[Any]) -> list[Any] | None:
    """Return a list with the value of a script if that is plain data, or None if it must be run normally.

    Chromium ends the script before its first side effect. Dates, promises, elements and other values without
    a JSON form are left to Playwright.
    """
    given = json.dumps(list(args))
    if script.lstrip().startswith("async"):  # Its result is a promise.
        return None
    if page.own_cdp is None or page.document_request is not None or "__proto__" in given:
        return None
    before, after = _AS_PLAIN_DATA.split("SCRIPT")
    request = {
        "expression": before + _trim_expression(script) + after.replace("ARGUMENTS", given),
        "throwOnSideEffect": True,
        "returnByValue": True,
        "silent": True,
        "timeout": PURE_MS,
    }
    try:
        async with asyncio.timeout(2 * PURE_MS / 1000):
            reply = cast("dict[str, Any]", await page.own_cdp.send("Runtime.evaluate", request))
    except (Error, TimeoutError):
        return None
    return None if "exceptionDetails" in reply else reply["result"].get("value")


async def _run_with_effects(page: Page, script: str, args: Sequence[Any]) -> ScriptOutcome:
    # Playwright itself serialises large values slowly. In a literal, `__proto__` is not a property name.
    given = _PROTO.sub('["__proto__"]:', json.dumps(list(args)))
    expression = _with_arguments(_AS_EXPRESSION, given, _trim_expression(script))
    may_return = True
    try:
        outcome = await page.playwright.evaluate(expression)
    except Error as error:
        if not is_syntax_error(error) or await _compiles(page, expression):
            raise await _script_error(page, error) from error
        may_return = "return" in script
        try:
            outcome = await page.playwright.evaluate(_with_arguments(_AS_BODY, given, script))
        except Error as error:
            raise await _script_error(page, error) from error
    if outcome is None:  # The page could not even serialise the note that the value has no JSON form.
        raise InvalidParameterError(
            "script: its value is nested too deeply", parameter="script", page=page.url
        )
    if "thrown" in outcome:
        raise _failure(page, str(outcome["thrown"]))
    value = await asyncio.to_thread(_as_data, outcome["value"])
    return ScriptOutcome(value, notice=_explain_loss(outcome) if may_return else NO_RETURN)


def _explain_loss(outcome: Mapping[str, Any]) -> str | None:
    lost = outcome.get("lost")
    return f"the value is {lost}, which JSON cannot represent" if lost else None


_PROTO = re.compile(r'(?<!\\)"__proto__":')


def _with_arguments(function: str, arguments: str, script: str) -> str:
    before, after = function.replace("ARGUMENTS", arguments, 1).rsplit("SCRIPT", 1)
    return f"{before}{script}{after}"


def _trim_expression(script: str) -> str:
    return script.strip().rstrip(";")


async def _compiles(page: Page, function: str) -> bool:
    try:
        await page.playwright.evaluate(f"() => {{ const compiled = {function}; }}")
    except Error as error:
        return not is_syntax_error(error)
    return True


def _failure(page: Page, message: str) -> InvalidParameterError:
    """Return the error for an exception that a script has thrown."""
    first, cut, _ = message.partition("\n")
    return InvalidParameterError(
        f"script: {first}{cut and '…'}", parameter="script", page=page.url, dispatched=True, suggestion=RAN
    )


async def _script_error(page: Page, error: Error) -> FootlightError:
    if is_closed(error) or page.crashed:
        return await explain_closed_page(page)
    if is_context_lost(error):
        return InvalidParameterError(
            "script: the page navigated before the script ended",
            parameter="script",
            page=page.url,
            dispatched=True,
            suggestion=RAN,
        )
    too_large = is_too_large(error) and translate_error(error)
    return too_large or InvalidParameterError(f"script: {cause(error)}", parameter="script", page=page.url)


def _as_data(value: Any, above: tuple[int, ...] = ()) -> Any:
    """Return the result of a script as a tree. Replace a reference to an ancestor by a note."""
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


_SCRIPTS = Path(__file__).parent / "scripts"
_CATCH = page_function(_SCRIPTS, ["caught"], "catchThrown")
_CALL = "(it => typeof it === 'function' ? it(...args) : it)((SCRIPT\n))"
# The script is outside of the functions above, whose names would shadow those of the page.
# Engines parse an arrow function again for each function around it, but a function in parentheses only once.
_RUN = f"({_CATCH})((async function () {{ return {_CALL}; }}))"
_AS_EXPRESSION = f"(async function () {{ const args = ARGUMENTS; return {_RUN}; }})"
_AS_BODY = f"async () => {{ const args = ARGUMENTS; return ({_CATCH})(async () => {{ SCRIPT\n }}); }}"
_AS_PLAIN_DATA = f"({page_function(_SCRIPTS, ['plain_data'], 'wrapPlainData')})((args => {_CALL})(ARGUMENTS))"
"""A script whose result is a list with a value that JSON can represent, or null for any other value."""
