"""Using the app: going somewhere in it, clicking, typing, waiting (002 §7.7, §7.8, §7.13 to §7.15)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from footlight.apps.observing import wait_until_drawn
from footlight.browser import actions, navigation, waiting
from footlight.errors import FootlightError, InvalidParameter, MissingParameter
from footlight.server.secrets import SecretText
from footlight.server.tool import ToolCall, tool
from footlight.toolsets.metamask.observing import Observing
from footlight.toolsets.metamask.parameters import (
    A11yRef,
    Maybe,
    Observe,
    Selector,
    TestId,
    TimeoutMs,
    Within,
    in_time,
    running_app,
    selector_of,
    target_in_words,
    target_of,
)

if TYPE_CHECKING:
    from footlight.apps.extension import ExtensionApp
    from footlight.browser.page import Page

__all__ = ["TOOLS"]

LONGEST_BY_KEYS = 400
"""Characters. A longer text is put in at once: it is no seed phrase."""
KEY_MS = 10
"""Between keys. Fields that part a text at its spaces lose keys that come faster (seen in MetaMask)."""


class Navigated(TypedDict):
    navigated: bool
    currentUrl: str
    observation: NotRequired[dict[str, Any]]


class Notified(TypedDict):
    found: bool
    pageUrl: str


class Clicked(TypedDict):
    """`pageClosed`: the click closed the page that it was on, as confirmations do."""

    clicked: bool
    target: str
    pageClosed: NotRequired[bool]
    observation: NotRequired[dict[str, Any]]


class Typed(TypedDict):
    typed: bool
    target: str
    observation: NotRequired[dict[str, Any]]


class Found(TypedDict):
    found: bool
    target: str


@tool(effect="act", shared={}, observed=False, untrusted=True)
async def navigate(
    call: ToolCall,
    screen: Literal["home", "settings", "notification", "url"],
    url: Maybe[Annotated[str, Field(min_length=1)]] = None,
    observe: Observe = "diff",
) -> Navigated:
    """Go to a screen of the app, or with screen url to an address: a site opens in a tab of its own."""
    app = running_app(call).app
    if screen == "url" and url is None:
        raise MissingParameter("url: required with screen url", parameter="url")
    if screen != "url" and url is not None:
        raise InvalidParameter(f"url: only with screen url, not with {screen}", parameter="url")
    before = app.session.pages
    try:
        page = await (_show(call, app, screen) if url is None else _go(call, app, url))
    except FootlightError:
        for opened in (each for each in app.pages_of("other") if each not in before):
            await opened.close()
        raise
    await app.select(page)
    call.maybe_page = page
    await wait_until_drawn(app, page, call.deadline)
    observing = Observing(call, observe)
    return {"navigated": True, "currentUrl": page.url, **await observing.told()}


async def _go(call: ToolCall, app: ExtensionApp, url: str) -> Page:
    page = await _page_for(app, url)
    await navigation.navigate(page, url, "load", call.deadline)
    return page


async def _page_for(app: ExtensionApp, url: str) -> Page:
    """One of the same kind, so that going to a site does not take the app's own page away."""
    if app.extension.has(url):
        return next(iter(app.pages_of("extension")), None) or await app.session.open_page()
    current = app.current
    if current is not None and app.role_of(current) in ("dapp", "other"):
        return current
    there = [*app.pages_of("dapp"), *(page for page in app.pages_of("other") if page.url == "about:blank")]
    return there[0] if there else await app.session.open_page()


async def _show(call: ToolCall, app: ExtensionApp, screen: str) -> Page:
    profile = running_app(call).profile
    paths = {"home": profile.home, "settings": profile.settings, "notification": profile.notification}
    path = paths[screen]
    if path is None:
        raise InvalidParameter(f"screen: {profile.name} has no page for {screen}", parameter="screen")
    if screen == "notification" and (open_ones := app.pages_of("notification")):
        return open_ones[-1]
    if screen == "notification":
        page = await app.session.open_page()
    else:
        page = next(iter(app.pages_of("extension")), None) or await app.session.open_page()
    target = app.extension.url(path)
    if "#" not in target and page.url.partition("#")[0] == target and "#" in page.url:
        target += "#"  # Within the document that is there: it is not loaded again.
    await navigation.navigate(page, target, "domcontentloaded", call.deadline)
    return page


@tool(scope="session", effect="read", shared={}, limits=in_time)
async def wait_for_notification(
    call: ToolCall, timeout_ms: Annotated[int, Field(ge=1_000, le=60_000)] = 15_000
) -> Notified:
    """Wait for a window that the app opens by itself, such as a confirmation. Calls then work in it."""
    app = running_app(call).app
    page = await app.wait_for_notification(call.deadline.within(timeout_ms))
    await wait_until_drawn(app, page, call.deadline)
    return {"found": True, "pageUrl": page.url}


@tool(effect="act", destructive=True, shared={}, observed=False, untrusted=True, limits=in_time)
async def click(
    call: ToolCall,
    a11y_ref: A11yRef = None,
    test_id: TestId = None,
    selector: Selector = None,
    timeout_ms: TimeoutMs = 30_000,
    within: Maybe[Within] = None,
    observe: Observe = "diff",
) -> Clicked:
    """Click an element: exactly one of a11yRef, testId and selector. timeoutMs 0 tries once, now."""
    words = target_in_words(a11y_ref, test_id, selector)
    found = await target_of(
        call, a11y_ref=a11y_ref, test_id=test_id, selector=selector, within=within, at_once=timeout_ms == 0
    )
    page = call.page
    observing = Observing(call, observe)
    await observing.begin()
    app = running_app(call).app
    await app.ensure_front(page)
    showed = page.url
    call.stage(f"clicking {words}")
    await actions.click(page, found, call.deadline, button="left", count=1)
    await app.wait_until_left(page, showed, call.deadline)
    told: Clicked = {"clicked": True, "target": words, **await observing.told()}
    return {**told, "pageClosed": True} if page.closed else told


@tool(name="type", effect="act", destructive=True, shared={}, observed=False, untrusted=True, limits=in_time)
async def type_(
    call: ToolCall,
    text: SecretText,
    a11y_ref: A11yRef = None,
    test_id: TestId = None,
    selector: Selector = None,
    timeout_ms: TimeoutMs = 30_000,
    within: Maybe[Within] = None,
    observe: Observe = "diff",
) -> Typed:
    """Type a text into a field, in place of what it holds: exactly one of a11yRef, testId and selector."""
    words = target_in_words(a11y_ref, test_id, selector)
    found = await target_of(
        call, a11y_ref=a11y_ref, test_id=test_id, selector=selector, within=within, at_once=timeout_ms == 0
    )
    observing = Observing(call, observe)
    try:
        await call.note_field(found)
        await observing.begin()
        await running_app(call).app.ensure_front(call.page)
        call.stage(f"typing into {words}")
        await _type(call, found, text)
    except FootlightError as error:
        _unsay(error, text)
        raise
    return {"typed": True, "target": words, **await observing.told()}


async def _type(call: ToolCall, found: str, text: str) -> None:
    delay_ms = KEY_MS if 0 < len(text) <= LONGEST_BY_KEYS else 0
    await actions.retype(call.page, found, text, call.deadline, delay_ms=delay_ms)


def _unsay(error: FootlightError, text: str) -> None:
    """No answer tells what was typed (R002-52)."""
    if len(text) < 2:
        return
    error.message = error.message.replace(text, "[text]")
    error.args = (error.message,)
    error.details = {
        name: value.replace(text, "[text]") if isinstance(value, str) else value
        for name, value in error.details.items()
    }


@tool(effect="read", shared={}, untrusted=False, limits=in_time)
async def wait_for(
    call: ToolCall,
    a11y_ref: A11yRef = None,
    test_id: TestId = None,
    selector: Selector = None,
    timeout_ms: Annotated[int, Field(ge=100, le=120_000)] = 30_000,
    within: Maybe[Within] = None,
) -> Found:
    """Wait until an element can be seen: exactly one of a11yRef, testId and selector."""
    words = target_in_words(a11y_ref, test_id, selector)
    found = selector_of(call, a11y_ref=a11y_ref, test_id=test_id, selector=selector, within=within)
    await waiting.wait_for_selector(call.page, found, "visible", call.deadline.within(timeout_ms))
    return {"found": True, "target": words}


TOOLS = (navigate, wait_for_notification, click, type_, wait_for)
