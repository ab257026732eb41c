"""Use the app: navigate, click, type and wait."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from footlight.apps.nodes import trim_nodes
from footlight.apps.observation import wait_until_drawn
from footlight.browser.actions import navigation
from footlight.browser.actions.click import click_element
from footlight.browser.actions.forms.text_input import replace_text
from footlight.browser.actions.waiting.elements import wait_for_element
from footlight.browser.page.capture import look
from footlight.browser.reading import reads as reading
from footlight.errors import FootlightError, InvalidParameterError, MissingParameterError
from footlight.server.answers.secrets import SecretText, SecretValue
from footlight.server.tools import ToolCall, tool
from footlight.toolsets.metamask.observation import ActionObserver
from footlight.toolsets.metamask.parameters import (
    A11yRef,
    AppTarget,
    Maybe,
    Observe,
    Selector,
    TestId,
    TimeoutMs,
    Within,
    running_app,
    time_limits,
)

if TYPE_CHECKING:
    from footlight.apps.extension import ExtensionApp
    from footlight.browser.page.page import Page

__all__ = ["TOOLS"]

DIALOG = ":is([role=dialog], [role=alertdialog], dialog[open], [aria-modal=true]):visible"
MAX_TYPED_CHARS = 400
"""A longer text cannot be a seed phrase and is inserted at once."""
KEY_MS = 10
"""Delay between keys. MetaMask's fields that split a text at its spaces lose faster keys."""


class AppNavigated(TypedDict):
    """`notes` name the dialogs that the app opened over the page."""

    navigated: bool
    currentUrl: str
    notes: NotRequired[list[str]]
    observation: NotRequired[dict[str, Any]]


class NotificationFound(TypedDict):
    found: bool
    pageUrl: str


class AppClicked(TypedDict):
    """`pageClosed`: the click closed its page, as confirmations do.

    `notice` says that the click went to another element than the pressed one, or to none.
    """

    clicked: bool
    target: str
    notice: NotRequired[str]
    pageClosed: NotRequired[bool]
    observation: NotRequired[dict[str, Any]]


class AppTyped(TypedDict):
    """`notice` says that the field holds another text than the one that was given."""

    typed: bool
    target: str
    notice: NotRequired[str]
    observation: NotRequired[dict[str, Any]]


class AppElementFound(TypedDict):
    found: bool
    target: str


@tool(effect="act", shared={}, observed=False, untrusted=True)
async def navigate(
    call: ToolCall,
    screen: Literal["home", "settings", "notification", "url"],
    url: Maybe[Annotated[str, Field(min_length=1)]] = None,
    observe: Observe = "diff",
) -> AppNavigated:
    """Go to a screen of the app, or with screen url to a URL. A site opens in its own tab."""
    app = running_app(call).app
    if screen == "url" and url is None:
        raise MissingParameterError("url: required with screen url", parameter="url")
    if screen != "url" and url is not None:
        raise InvalidParameterError(f"url: only with screen url, not with {screen}", parameter="url")
    before = app.session.pages
    try:
        page = await (_open_screen(call, app, screen) if url is None else _open_url(call, app, url))
    except FootlightError:
        for opened in (each for each in app.pages_of("other") if each not in before):
            await opened.close()
        raise
    await app.select(page)
    call.use_page(page)
    await wait_until_drawn(app, page, call.deadline)
    answer: AppNavigated = {"navigated": True, "currentUrl": page.url}
    if (
        screen != "notification"
        and app.role_of(page) == "extension"
        and (open_ones := await _list_dialogs(call, page))
    ):
        answer["notes"] = [f"The dialog {name} is open over the page." for name in open_ones]
    observing = ActionObserver(call, observe)
    return {**answer, **await observing.report()}


async def _open_url(call: ToolCall, app: ExtensionApp, url: str) -> Page:
    page = await _page_for(app, url)
    if app.extension.has(url):
        await _go_within(call, page, url)
    else:
        await navigation.navigate(page, url, "load", call.deadline)
    return page


async def _go_within(call: ToolCall, page: Page, url: str) -> None:
    """Go to a page of the app, and reload it if a dialog stays open because only the hash changed."""
    same_document = page.url.partition("#")[0] == url.partition("#")[0] and "#" in url
    await navigation.navigate(page, url, "domcontentloaded", call.deadline)
    if same_document and await _list_dialogs(call, page):
        await navigation.reload(page, call.deadline, ignore_cache=False)


async def _list_dialogs(call: ToolCall, page: Page) -> list[str]:
    """Return the quoted names of the open dialogs of a page."""
    if not await reading.is_first_visible(page, DIALOG, call.deadline):
        return []
    nodes = trim_nodes((await look(page, call.deadline)).nodes)
    return [f'"{node.name}"' for node in nodes if node.role in ("dialog", "alertdialog")]


async def _page_for(app: ExtensionApp, url: str) -> Page:
    """Return a page of the same kind, so that opening a site does not replace the app's own page."""
    if app.extension.has(url):
        return next(iter(app.pages_of("extension")), None) or await app.session.page_table.open()
    current = app.current
    if current is not None and app.role_of(current) in ("dapp", "other"):
        return current
    pages = [*app.pages_of("dapp"), *(page for page in app.pages_of("other") if page.url == "about:blank")]
    return pages[0] if pages else await app.session.page_table.open()


async def _open_screen(call: ToolCall, app: ExtensionApp, screen: str) -> Page:
    profile = running_app(call).profile
    paths = {"home": profile.home, "settings": profile.settings, "notification": profile.notification}
    path = paths[screen]
    if path is None:
        raise InvalidParameterError(f"screen: {profile.name} has no page for {screen}", parameter="screen")
    if screen == "notification" and (open_ones := app.pages_of("notification")):
        return open_ones[-1]
    if screen == "notification":
        page = await app.session.page_table.open()
    else:
        page = next(iter(app.pages_of("extension")), None) or await app.session.page_table.open()
    target = app.extension.url(path)
    if "#" not in target and page.url.partition("#")[0] == target and "#" in page.url:
        target += "#"  # With a hash, the browser navigates within the loaded document.
    await _go_within(call, page, target)
    return page


@tool(scope="session", effect="read", shared={}, limits=time_limits)
async def wait_for_notification(
    call: ToolCall, timeout_ms: Annotated[int, Field(ge=1_000, le=60_000)] = 15_000
) -> NotificationFound:
    """Wait for a window that the app opens, such as a confirmation. Calls then work in it."""
    app = running_app(call).app
    page = await app.wait_for_notification(call.deadline.limit_to(timeout_ms))
    await wait_until_drawn(app, page, call.deadline)
    return {"found": True, "pageUrl": page.url}


@tool(effect="act", destructive=True, shared={}, observed=False, untrusted=True, limits=time_limits)
async def click(
    call: ToolCall,
    a11y_ref: A11yRef = None,
    test_id: TestId = None,
    selector: Selector = None,
    timeout_ms: TimeoutMs = 30_000,
    within: Maybe[Within] = None,
    observe: Observe = "diff",
) -> AppClicked:
    """Click an element: exactly one of a11yRef, testId and selector. timeoutMs 0 does not wait."""
    target = AppTarget(a11y_ref, test_id, selector, within)
    found = await target.find(call, at_once=timeout_ms == 0)
    page = call.page
    observing = ActionObserver(call, observe)
    await observing.begin()
    app = running_app(call).app
    await app.ensure_front(page)
    showed = page.url
    call.stage(f"clicking {target}")
    with target.translate_refs(call):
        notice = await click_element(page, found, call.deadline, button="left", count=1)
    await app.wait_until_left(page, showed, call.deadline)
    answer: AppClicked = {"clicked": True, "target": str(target), **await observing.report()}
    if notice:
        answer["notice"] = notice
    return {**answer, "pageClosed": True} if page.closed else answer


@tool(
    name="type", effect="act", destructive=True, shared={}, observed=False, untrusted=True, limits=time_limits
)
async def type_(
    call: ToolCall,
    text: SecretText,
    a11y_ref: A11yRef = None,
    test_id: TestId = None,
    selector: Selector = None,
    timeout_ms: TimeoutMs = 30_000,
    within: Maybe[Within] = None,
    observe: Observe = "diff",
) -> AppTyped:
    """Replace the text of a field: exactly one of a11yRef, testId and selector."""
    target = AppTarget(a11y_ref, test_id, selector, within)
    found = await target.find(call, at_once=timeout_ms == 0)
    observing = ActionObserver(call, observe)
    try:
        await call.note_field(found)
        await observing.begin()
        await running_app(call).app.ensure_front(call.page)
        call.stage(f"typing into {target}")
        with target.translate_refs(call):
            notice = await _type_text(call, found, text)
    except FootlightError as error:
        _remove_text(error, text)
        raise
    answer: AppTyped = {"typed": True, "target": str(target), **await observing.report()}
    return {**answer, "notice": notice} if notice else answer


async def _type_text(call: ToolCall, found: str, text: str) -> str | None:
    delay_ms = KEY_MS if 0 < len(text) <= MAX_TYPED_CHARS else 0
    at_once = isinstance(text, SecretValue)
    return await replace_text(call.page, found, text, call.deadline, delay_ms=delay_ms, at_once=at_once)


def _remove_text(error: FootlightError, text: str) -> None:
    """Remove the typed text from an error."""
    if len(text) < 2:
        return
    error.message = error.message.replace(text, "[text]")
    error.args = (error.message,)
    error.details = {
        name: value.replace(text, "[text]") if isinstance(value, str) else value
        for name, value in error.details.items()
    }


@tool(effect="read", shared={}, untrusted=False, limits=time_limits)
async def wait_for(
    call: ToolCall,
    a11y_ref: A11yRef = None,
    test_id: TestId = None,
    selector: Selector = None,
    timeout_ms: Annotated[int, Field(ge=100, le=120_000)] = 30_000,
    within: Maybe[Within] = None,
) -> AppElementFound:
    """Wait until an element is visible: exactly one of a11yRef, testId and selector."""
    target = AppTarget(a11y_ref, test_id, selector, within)
    limit = call.deadline.limit_to(timeout_ms).without_patience()
    while True:
        found = target.build_selector(call)
        is_notification = running_app(call).app.role_of(call.page) == "notification"
        try:
            with target.translate_refs(call):
                await wait_for_element(call.page, found, "visible", limit)
            return {"found": True, "target": str(target)}
        except FootlightError:
            if a11y_ref is not None or not is_notification or not _use_current_page(call):
                raise


def _use_current_page(call: ToolCall) -> bool:
    """Use the current page if a window of the app closed itself, and return whether there is one."""
    current = running_app(call).app.current if call.page.closed and call.session.alive else None
    if current is None or current.closed:
        return False
    call.use_page(current)
    return True


TOOLS = (navigate, wait_for_notification, click, type_, wait_for)
