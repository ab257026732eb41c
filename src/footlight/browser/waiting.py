"""Waiting for one thing that a page is to show or do, and saying what it shows instead."""

from __future__ import annotations

import asyncio
import contextlib
import difflib
import re
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from footlight.browser import inspection
from footlight.browser._playwright import CONTEXT_LOST, Error, PlaywrightTimeout, cause, is_syntax_error
from footlight.browser.diagnosis import explained, gone, overdue
from footlight.browser.inspection import INSPECT
from footlight.browser.looking import glance
from footlight.browser.network import LogFilter
from footlight.browser.scripts import run
from footlight.errors import FootlightError, InvalidParameter, StaleRef

if TYPE_CHECKING:
    from playwright.async_api import Frame, Locator

    from footlight.browser.deadline import Deadline
    from footlight.browser.downloads import KnownDownload
    from footlight.browser.network import LogEntry
    from footlight.browser.page import Page
    from footlight.browser.reading import ElementState

__all__ = [
    "UrlPattern",
    "wait_for_download",
    "wait_for_function",
    "wait_for_response",
    "wait_for_selector",
    "wait_for_text",
    "wait_for_text_gone",
    "wait_for_url",
]

STATE_SECONDS = 2.0
"""How long a wait that came to nothing may look for what is there instead."""
LOOK_SECONDS = 0.1
"""Between two looks into a page that cannot be told to say when."""
LONGEST_SHOWN = 100
MOST_SHOWN = 3


class UrlPattern:
    """`/a regular expression/`, a pattern with `*`, or a part of the URL."""

    def __init__(self, text: str, *, parameter: str) -> None:
        self.text = text
        try:
            self._expression = re.compile(_expression(text), re.DOTALL)
        except re.error as error:
            raise InvalidParameter(
                f"{parameter}: {text} is no regular expression: {error}; without slashes around it, it is a "
                "part of the URL",
                parameter=parameter,
            ) from None

    def matches(self, url: str) -> bool:
        return self._expression.search(url) is not None


def _expression(text: str) -> str:
    if len(text) > 2 and text.startswith("/") and text.endswith("/"):
        return text[1:-1]
    if "*" in text:
        return rf"\A{'.*'.join(map(re.escape, re.split(r'[*]+', text)))}\Z"
    return re.escape(text)


# Text


async def wait_for_text(page: Page, text: str, deadline: Deadline) -> None:
    """Until it is seen in some frame, in any case and with any white space."""
    deadline.stage(f"waiting for the text {_short(text)}")
    try:
        await _seen_in_any_frame(page, text, deadline.remaining_ms)
    except PlaywrightTimeout as error:
        closest = await _closest_texts(page, text)
        shown = "; ".join(f'"{each}"' for each in closest)
        raise await overdue(
            page,
            f'The text "{_short(text)}" did not appear within {deadline.timeout_ms:.0f}ms'
            + (f". Closest on the page: {shown}" if shown else ""),
            deadline,
            text=text,
            page=page.url,
            closest=closest or None,
        ) from error
    except Error as error:
        raise await explained(page, error) from error


async def wait_for_text_gone(page: Page, text: str, deadline: Deadline) -> None:
    """Until it is seen in no frame."""
    deadline.stage(f"waiting for the text {_short(text)} to go")
    try:
        async with asyncio.timeout(deadline.remaining_ms / 1000):
            await _gone_from_all_frames(page, text)
    except TimeoutError as error:
        around = await _text_around(page, text)
        raise await overdue(
            page,
            f'The text "{_short(text)}" was still there after {deadline.timeout_ms:.0f}ms'
            + (f', in "{around}"' if around else ""),
            deadline,
            text=text,
            page=page.url,
        ) from error
    except Error as error:
        raise await explained(page, error) from error


async def _seen_in_any_frame(page: Page, text: str, timeout_ms: float) -> None:
    """In frames that come meanwhile too. The main frame is there until the page is gone."""
    ended: asyncio.Queue[Error | None] = asyncio.Queue()

    async def in_elements(frame: Frame) -> None:
        try:
            await _elements_with(frame, text).wait_for(state="visible", timeout=timeout_ms)
            ended.put_nowait(None)
        except Error as error:
            if frame == page.playwright.main_frame:
                ended.put_nowait(error)

    async def in_shadow_roots(frame: Frame) -> None:
        with contextlib.suppress(Error, TimeoutError):
            await _shadow_roots_are(frame, text, True, timeout_ms=timeout_ms)
            ended.put_nowait(None)

    async with _each_frame(page, in_elements, in_shadow_roots):
        if error := await ended.get():
            raise error


@contextlib.asynccontextmanager
async def _each_frame(
    page: Page, *watches: Callable[[Frame], Coroutine[Any, Any, None]]
) -> AsyncGenerator[None]:
    """Watch every frame that is there or comes, until the end of the block."""
    tasks: list[asyncio.Task[None]] = []

    def begin(frame: Frame) -> None:
        tasks.extend(asyncio.create_task(watch(frame)) for watch in watches)

    page.playwright.on("frameattached", begin)
    try:
        for frame in page.playwright.frames:
            begin(frame)
        yield
    finally:
        page.playwright.remove_listener("frameattached", begin)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _gone_from_all_frames(page: Page, text: str) -> None:
    while seen := [frame for frame in page.playwright.frames if await _sees(frame, text)]:
        for frame in seen:
            with _unless_detached(frame):
                await _elements_with(frame, text).wait_for(state="hidden", timeout=0)
                await _shadow_roots_are(frame, text, False, timeout_ms=0)


async def _shadow_roots_are(frame: Frame, text: str, having: bool, *, timeout_ms: float) -> None:
    """Wait until some has the text, or none has; for ever where the limit is 0."""
    try:
        await frame.wait_for_function(_IN_SHADOW_ROOTS, arg=[text, having], timeout=timeout_ms)
    except PlaywrightTimeout:
        raise
    except Error:
        # The page lets no script of Playwright's run in its world.
        async with asyncio.timeout(timeout_ms / 1000 or None):
            while not await run(frame, _IN_SHADOW_ROOTS, [text, having]):  # noqa: ASYNC110 - no event
                await asyncio.sleep(LOOK_SECONDS)


async def _sees(frame: Frame, text: str) -> bool:
    with _unless_detached(frame):
        in_elements = await _elements_with(frame, text).count() > 0
        return in_elements or bool(await run(frame, _IN_SHADOW_ROOTS, [text, True]))
    return False


@contextlib.contextmanager
def _unless_detached(frame: Frame) -> Generator[None]:
    """A frame that goes, or gets another document, shows nothing of what it did."""
    try:
        yield
    except Error as error:
        if not frame.is_detached() and not CONTEXT_LOST.search(error.message):
            raise


def _elements_with(frame: Frame, text: str) -> Locator:
    """The innermost visible one. Playwright looks into open shadow roots, but for text right below them."""
    return frame.get_by_text(text).filter(visible=True).first


_IN_SHADOW_ROOTS = """([text, wanted]) => {
  const folded = words => words.replace(/\\s+/g, ' ').trim().toLowerCase();
  const shown = node => node.nodeType === Node.TEXT_NODE ? node.data
    : /^(STYLE|SCRIPT|TEMPLATE)$/.test(node.tagName) ? '' : node.innerText ?? '';
  const has = host => host.checkVisibility({visibilityProperty: true})
    && folded(Array.from(host.shadowRoot.childNodes, shown).join('')).includes(folded(text));
  const within = root => Array.from(root.querySelectorAll('*')).some(
    element => element.shadowRoot && (has(element) || within(element.shadowRoot)));
  try {
    return within(document) === wanted;
  } catch {
    return !wanted;
  }
}"""
"""Whether some shadow root shows the text, or whether none does."""


async def _closest_texts(page: Page, text: str) -> list[str]:
    snapshot = await glance(page, STATE_SECONDS)
    said = [words for node in snapshot.nodes for words in (node.name, node.text) if words] if snapshot else []
    by_folded = {each.casefold(): each for each in said}
    wanted = text.casefold()
    having = [each for folded, each in by_folded.items() if wanted in folded]
    alike = difflib.get_close_matches(wanted, by_folded, n=MOST_SHOWN, cutoff=0.5)
    found = dict.fromkeys([*having, *(by_folded[each] for each in alike)])
    return [_short(each) for each in found][:MOST_SHOWN]


async def _text_around(page: Page, text: str) -> str | None:
    with contextlib.suppress(Error, TimeoutError):
        async with asyncio.timeout(STATE_SECONDS):
            for frame in page.playwright.frames:
                if await _sees(frame, text):
                    return _short(await _elements_with(frame, text).inner_text(timeout=0))
    return None


# Elements and scripts


async def wait_for_selector(page: Page, selector: str, state: ElementState, deadline: Deadline) -> None:
    deadline.stage(f"waiting for {selector} to be {state}")
    whole = replace(deadline, patience=deadline.expires)
    to_go = state in ("hidden", "detached")
    try:
        found = await (page.locate_now if to_go else page.locate)(selector, whole)
        if state == "visible":
            found = found.filter(visible=True)
        await found.first.wait_for(state=state, timeout=deadline.remaining_ms)
    except StaleRef as error:
        if not (to_go and error.is_gone):
            raise
    except PlaywrightTimeout as error:
        now, closest = await _state(page, selector, whole)
        raise await overdue(
            page,
            f'"{selector}" was not {state} after {deadline.timeout_ms:.0f}ms'
            + (f"; it is {now}" if now else "")
            + (f". Closest on the page: {'; '.join(closest)}" if closest else ""),
            deadline,
            selector=selector,
            state=state,
            now=now,
            page=page.url,
            closest=closest or None,
        ) from error
    except Error as error:
        raise await explained(page, error, selector) from error


async def _state(page: Page, selector: str, deadline: Deadline) -> tuple[ElementState | None, list[str]]:
    """As it is now, and what else there is where it is not."""
    with contextlib.suppress(Error, FootlightError, TimeoutError, ValueError):
        async with asyncio.timeout(STATE_SECONDS):
            found = await page.locate_now(selector, deadline)
            if await found.count():
                return "visible" if await found.first.is_visible() else "hidden", []
            reply = await run(page.playwright, INSPECT, inspection.closest_request(selector))
            return "detached", inspection.closest(reply)
    return None, []


async def wait_for_function(page: Page, expression: str, deadline: Deadline) -> Any:
    """Its value, when that is true. What it throws before is taken for false."""
    deadline.stage("waiting for the function")
    script = expression.strip().rstrip(";")
    try:
        found = await page.playwright.wait_for_function(
            _TRUE.replace("SCRIPT", script), arg={}, timeout=deadline.remaining_ms
        )
        return await found.json_value()
    except PlaywrightTimeout as error:
        now = await _value_now(page, script)
        raise await overdue(
            page,
            f"The function was not true after {deadline.timeout_ms:.0f}ms" + (f"; it {now}" if now else ""),
            deadline,
            function=_short(expression),
            page=page.url,
        ) from error
    except Error as error:
        if is_syntax_error(error):
            raise InvalidParameter(
                f"function: {cause(error)}; it takes an expression, or a function to call",
                parameter="function",
            ) from error
        raise await explained(page, error) from error


async def _value_now(page: Page, script: str) -> str | None:
    with contextlib.suppress(Error, TimeoutError):
        async with asyncio.timeout(STATE_SECONDS):
            return _short(await page.playwright.evaluate(_VALUE.replace("SCRIPT", script)))
    return None


# Playwright calls a function again until it gives something true, which a promise is from the first.
_TRUE = """state => {
  if (!state.value && !state.runs) {
    state.runs = true;
    (async () => {
      const it = (SCRIPT
      );
      return typeof it === 'function' ? it() : it;
    })().then(value => { state.value = value; }, () => {}).finally(() => { state.runs = false; });
  }
  return state.value;
}"""
_VALUE = """async () => {
  try {
    const it = (SCRIPT
    );
    const value = await (typeof it === 'function' ? it() : it);
    return `is ${typeof value === 'string' ? JSON.stringify(value) : value}`;
  } catch (error) {
    return `throws ${error}`;
  }
}"""


# Addresses and the network


async def wait_for_url(page: Page, pattern: UrlPattern, deadline: Deadline) -> None:
    """Until the page is there, and its document has been read."""
    deadline.stage(f"waiting for the URL {_short(pattern.text)}")
    try:
        with page.telling(deadline.stage):
            await page.playwright.wait_for_url(
                pattern.matches, wait_until="domcontentloaded", timeout=deadline.remaining_ms
            )
    except PlaywrightTimeout as error:
        within = f"within {deadline.timeout_ms:.0f}ms"
        message = (
            f"The document at {_short(page.url)} was not there {within}"
            if pattern.matches(page.url)
            else f'The URL did not become "{_short(pattern.text)}" {within}; it is {_short(page.url)}'
        )
        raise await overdue(page, message, deadline, url=page.url) from error
    except Error as error:
        raise await explained(page, error) from error


async def wait_for_response(page: Page, pattern: UrlPattern, deadline: Deadline) -> LogEntry:
    """The first of this page that arrives, or has arrived since the last action."""
    deadline.stage(f"waiting for a response from {_short(pattern.text)}")
    log, since = page.session.log, page.session.acted_at
    arrived = asyncio.Event()

    def requests() -> list[LogEntry]:
        return [entry for entry in log.matching(LogFilter(page=page.id)) if _ended_at(entry) >= since]

    def tell(_: object) -> None:
        arrived.set()

    page.playwright.on("response", tell)
    page.playwright.on("close", tell)
    try:
        async with asyncio.timeout(deadline.remaining_ms / 1000):
            while not page.closed:
                arrived.clear()
                for entry in requests():
                    if entry.status and pattern.matches(entry.url):
                        return entry
                await arrived.wait()
    except TimeoutError:
        shown = [_short(entry.url) for entry in requests()[-MOST_SHOWN:]]
        raise await overdue(
            page,
            f'No response from "{_short(pattern.text)}" arrived within {deadline.timeout_ms:.0f}ms. '
            f"Requested since the last action: {', '.join(shown) or 'nothing'}",
            deadline,
            page=page.url,
        ) from None
    finally:
        page.playwright.remove_listener("response", tell)
        page.playwright.remove_listener("close", tell)
    raise await gone(page)


def _ended_at(entry: LogEntry) -> float:
    return float("inf") if entry.duration is None else entry.began + entry.duration / 1000


async def wait_for_download(page: Page, deadline: Deadline) -> KnownDownload:
    """The first that is over of those that run, were begun by the last action, or begin."""
    deadline.stage("waiting for a download")
    downloads, begun_before = page.session.downloads, page.session.downloads_before
    before = downloads.known[: max(0, len(downloads.known) - downloads.count + begun_before)]
    over_before = {each.id for each in before if each.state != "running"}
    try:
        async with asyncio.timeout(deadline.remaining_ms / 1000):
            while True:
                for each in downloads.known:
                    if each.state != "running" and each.id not in over_before:
                        return each
                await downloads.change()
    except TimeoutError:
        goes_on = [each.suggested_filename for each in downloads.known if each.state == "running"]
        raise await overdue(
            page,
            f"No download was over within {deadline.timeout_ms:.0f}ms; "
            + (f"{', '.join(map(_short, goes_on))} goes on" if goes_on else "none began"),
            deadline,
            page=page.url,
        ) from None


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"
