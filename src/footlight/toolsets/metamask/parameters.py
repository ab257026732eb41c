"""Shared parameters: the target element, time limits, and access to the running app."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

from footlight.browser.page.refs import leading_ref
from footlight.browser.reading import reads as reading
from footlight.errors import ElementNotFoundError, FootlightError, InvalidParameterError, StaleRefError

if TYPE_CHECKING:
    from footlight.apps.nodes import RefMap
    from footlight.apps.sessions import AppSessions
    from footlight.apps.starter import RunningApp
    from footlight.server.tools import ToolCall

__all__ = [
    "A11yRef",
    "AppTarget",
    "Maybe",
    "Observe",
    "Selector",
    "TestId",
    "TimeoutMs",
    "Within",
    "app_sessions",
    "running_app",
    "time_limits",
]

MARGIN_MS = 10_000
"""Time of a call in addition to the wait for its element: for settling and the observation."""
AT_ONCE_MS = 1_000
"""Time to act on an element in a call that does not wait for it."""

_ENGINE_REF = re.compile(r"(?<![\w#.-])e[1-9]\d{0,8}\b")

T = TypeVar("T")


def _refuse_null(value: object) -> object:
    if value is None:
        raise ValueError("may be left out, but not be null")
    return value


Maybe = Annotated[T | None, BeforeValidator(_refuse_null)]
"""A parameter that may be left out, but not be null."""

A11yRef = Annotated[Maybe[Annotated[str, Field(pattern=r"^e[0-9]+$")]], Field(alias="a11yRef")]
TestId = Maybe[Annotated[str, Field(min_length=1)]]
Selector = Maybe[Annotated[str, Field(min_length=1)]]
TimeoutMs = Annotated[int, Field(ge=0, le=60_000)]
Observe = Literal["none", "diff"]


class Within(BaseModel):
    """An ancestor of the target element, named in one of the same three ways."""

    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", strict=True, frozen=True)

    a11y_ref: A11yRef = None
    test_id: TestId = None
    selector: Selector = None


def app_sessions(call: ToolCall) -> AppSessions:
    """Return the table of sessions, which is always an `AppSessions` with this toolset."""
    return cast("AppSessions", call.sessions)


def running_app(call: ToolCall) -> RunningApp:
    """Return the running app.

    Raises:
        NoActiveSessionError: No app is running.
    """
    return app_sessions(call).running(caller=call.caller)


def time_limits(parsed: BaseModel) -> tuple[float, float]:
    """Return the time limits of a call with `timeoutMs`, where 0 means one immediate attempt."""
    timeout_ms: int = getattr(parsed, "timeout_ms")  # noqa: B009 - the model is made from the tool's signature
    return float(timeout_ms + MARGIN_MS), float(timeout_ms or AT_ONCE_MS)


@dataclass(frozen=True, slots=True)
class AppTarget:
    """The element that the parameters of a call name, in one of three ways."""

    a11y_ref: str | None
    test_id: str | None
    selector: str | None
    within: Within | None

    def __str__(self) -> str:
        """Return the target as answers show it: `testId:confirm-btn`."""
        targets = {"a11yRef": self.a11y_ref, "testId": self.test_id, "selector": self.selector}
        return ", ".join(f"{name}:{value}" for name, value in targets.items() if value is not None)

    def build_selector(self, call: ToolCall) -> str:
        """Return the engine's selector for the element.

        Raises:
            InvalidParameterError: Not exactly one of a11yRef, testId and selector was given.
            StaleRefError: The ref is not from the last snapshot of this page.
        """
        own = _build_one(call, "", self.a11y_ref, self.test_id, self.selector)
        within = self.within
        if within is None:
            return own
        if self.a11y_ref is not None:
            raise InvalidParameterError(
                "within: cannot be combined with a11yRef; leave one of them out", parameter="within"
            )
        around = _build_one(call, "within.", within.a11y_ref, within.test_id, within.selector)
        return f"{around} >> {own}"

    async def find(self, call: ToolCall, *, at_once: bool) -> str:
        """Return the selector for an action. If several elements have the test id, use the first visible one.

        Raises:
            InvalidParameterError, StaleRefError: See `build_selector`.
            ElementNotFoundError: No element matches, and the call does not wait.
        """
        found = self.build_selector(call)
        if self.test_id is not None and await reading.is_first_visible(
            call.page, f"{found}:visible", call.deadline
        ):
            return f"{found}:visible"
        if at_once and not await reading.count(call.page, found, call.deadline):
            raise ElementNotFoundError.at(found, page=call.page.url, closest=[])
        return found

    @contextlib.contextmanager
    def translate_refs(self, call: ToolCall) -> Generator[None]:
        """Make errors of this block name elements by the caller's refs instead of the engine's."""
        refs = running_app(call).refs_of(call.page)
        try:
            yield
        except FootlightError as error:
            if self.a11y_ref is not None:
                error.message = _translate(error.message, refs)
                error.suggestion = _translate(error.suggestion, refs)
                error.details = {name: _translate_value(value, refs) for name, value in error.details.items()}
                error.args = (error.message,)
            raise


def _build_one(
    call: ToolCall, of: str, a11y_ref: str | None, test_id: str | None, selector: str | None
) -> str:
    targets = {"a11yRef": a11y_ref, "testId": test_id, "selector": selector}
    names = [name for name, value in targets.items() if value is not None]
    if len(names) != 1:
        received = f"got {' and '.join(names)}" if names else "got none of them"
        raise InvalidParameterError(
            f"{of or ''}target: give exactly one of a11yRef, testId and selector; {received}",
            parameter=f"{of}{names[1]}" if names else of.rstrip(".") or "testId",
        )
    if a11y_ref is not None:
        return _get_element(call, a11y_ref)
    if test_id is not None:
        return f"[data-testid={_quote_css(test_id)}]"
    assert selector is not None
    if leading_ref(selector):
        raise InvalidParameterError(
            f"{of}selector: {selector} looks like a ref; give it as a11yRef", parameter=f"{of}selector"
        )
    return selector


def _get_element(call: ToolCall, ref: str) -> str:
    app, page = running_app(call), call.page
    found = app.refs_of(page).find(ref)
    if found is not None:
        return found
    others = [other for other in call.session.pages if other is not page and app.refs_of(other).find(ref)]
    where = f"; it belongs to {others[0].url}, but calls use {page.url}" if others else ""
    raise StaleRefError(
        f"{ref} is not a ref of the last snapshot of this page{where}", ref=ref, page=page.url
    )


def _quote_css(text: str) -> str:
    """Return a text as a CSS string."""
    escaped = "".join(
        f"\\{ord(each):x} " if each in '"\\\n\r\f\0' or ord(each) < 0x20 else each for each in text
    )
    return f'"{escaped}"'


def _translate_value(value: Any, refs: RefMap) -> Any:
    if isinstance(value, list):
        return [_translate_value(item, refs) for item in cast("list[Any]", value)]
    return _translate(value, refs) if isinstance(value, str) else value


def _translate(text: str, refs: RefMap) -> str:
    return _ENGINE_REF.sub(lambda found: refs.ref_of(found[0]) or "an element without a ref", text)
