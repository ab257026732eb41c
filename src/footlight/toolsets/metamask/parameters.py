"""What several tools take: the element that is meant, how long a call may take, the app that runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

from footlight.browser import reading
from footlight.browser.refs import leading_ref
from footlight.errors import ElementNotFound, InvalidParameter, StaleRef

if TYPE_CHECKING:
    from footlight.apps.sessions import AppSessions, RunningApp
    from footlight.server.tool import ToolCall

__all__ = [
    "A11yRef",
    "Maybe",
    "Observe",
    "Selector",
    "TestId",
    "TimeoutMs",
    "Within",
    "app_sessions",
    "in_time",
    "running_app",
    "selector_of",
    "target_in_words",
    "target_of",
]

MARGIN_MS = 10_000
"""What a call may take beside the wait for its element: to settle, and to be looked at."""
AT_ONCE_MS = 1_000
"""How long an element may take to be acted on by a call that does not wait for it."""

T = TypeVar("T")


def _not_null(value: object) -> object:
    if value is None:
        raise ValueError("may be left out, but not be null")
    return value


Maybe = Annotated[T | None, BeforeValidator(_not_null)]
"""What may be left out. The document's schemas know no null (R002-32)."""

A11yRef = Annotated[Maybe[Annotated[str, Field(pattern=r"^e[0-9]+$")]], Field(alias="a11yRef")]
TestId = Maybe[Annotated[str, Field(min_length=1)]]
Selector = Maybe[Annotated[str, Field(min_length=1)]]
TimeoutMs = Annotated[int, Field(ge=0, le=60_000)]
Observe = Literal["none", "diff"]


class Within(BaseModel):
    """An element around the one that is meant, named in one of the same three ways."""

    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", strict=True, frozen=True)

    a11y_ref: A11yRef = None
    test_id: TestId = None
    selector: Selector = None


def app_sessions(call: ToolCall) -> AppSessions:
    """The table of the sessions: with this toolset it is this one."""
    return cast("AppSessions", call.sessions)


def running_app(call: ToolCall) -> RunningApp:
    """Raises NoActiveSession."""
    return app_sessions(call).running(caller=call.caller)


def in_time(parsed: BaseModel) -> tuple[float, float]:
    """Of a call with `timeoutMs`: 0 is one attempt, now (requirements §2, row 14)."""
    timeout_ms: int = getattr(parsed, "timeout_ms")  # noqa: B009 - the model is made from the tool's signature
    return float(timeout_ms + MARGIN_MS), float(timeout_ms or AT_ONCE_MS)


def selector_of(
    call: ToolCall,
    *,
    a11y_ref: str | None,
    test_id: str | None,
    selector: str | None,
    within: Within | None = None,
) -> str:
    """What leads the engine to the element.

    Raises:
        InvalidParameter: none of the three was given, or more than one (R002-34).
        StaleRef: the ref is not one of the last look at this page (R002-16).
    """
    own = _one(call, "", a11y_ref, test_id, selector)
    if within is None:
        return own
    if a11y_ref is not None:
        raise InvalidParameter(
            "within: a ref needs nothing around it; leave one of them out", parameter="within"
        )
    around = _one(call, "within.", within.a11y_ref, within.test_id, within.selector)
    return f"{around} >> {own}"


async def target_of(
    call: ToolCall,
    *,
    a11y_ref: str | None,
    test_id: str | None,
    selector: str | None,
    within: Within | None,
    at_once: bool,
) -> str:
    """The same, of an element that is used. Of several with one test id the first that can be seen is meant.

    Raises:
        InvalidParameter, StaleRef: as `selector_of`.
        ElementNotFound: there is none, and the call does not wait.
    """
    found = selector_of(call, a11y_ref=a11y_ref, test_id=test_id, selector=selector, within=within)
    if test_id is not None and await reading.is_seen(call.page, f"{found}:visible", call.deadline):
        return f"{found}:visible"
    if at_once and not await reading.count(call.page, found, call.deadline):
        raise ElementNotFound.at(found, page=call.page.url, closest=[])
    return found


def _one(call: ToolCall, of: str, a11y_ref: str | None, test_id: str | None, selector: str | None) -> str:
    given = {"a11yRef": a11y_ref, "testId": test_id, "selector": selector}
    names = [name for name, value in given.items() if value is not None]
    if len(names) != 1:
        said = f"got {' and '.join(names)}" if names else "got none of them"
        raise InvalidParameter(
            f"{of or ''}target: give exactly one of a11yRef, testId and selector; {said}",
            parameter=f"{of}{names[1]}" if names else of.rstrip(".") or "testId",
        )
    if a11y_ref is not None:
        return _element(call, a11y_ref)
    if test_id is not None:
        return f"[data-testid={_quoted(test_id)}]"
    assert selector is not None
    if leading_ref(selector):
        raise InvalidParameter(
            f"{of}selector: {selector} looks like a ref; give it as a11yRef", parameter=f"{of}selector"
        )
    return selector


def _element(call: ToolCall, ref: str) -> str:
    app, page = running_app(call), call.page
    found = app.refs_of(page).find(ref)
    if found is not None:
        return found
    others = [other for other in call.session.pages if other is not page and app.refs_of(other).find(ref)]
    where = f"; it is one of {others[0].url}, and calls work in {page.url}" if others else ""
    raise StaleRef(f"{ref} is no ref of the last look at this page{where}", ref=ref, page=page.url)


def _quoted(text: str) -> str:
    """As CSS writes a string."""
    escaped = "".join(
        f"\\{ord(each):x} " if each in '"\\\n\r\f\0' or ord(each) < 0x20 else each for each in text
    )
    return f'"{escaped}"'


def target_in_words(a11y_ref: str | None, test_id: str | None, selector: str | None) -> str:
    """As answers say it: `testId:confirm-btn`."""
    given: dict[str, Any] = {"a11yRef": a11y_ref, "testId": test_id, "selector": selector}
    return ", ".join(f"{name}:{value}" for name, value in given.items() if value is not None)
