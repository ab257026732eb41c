"""Wait until a page shows or does one thing, or report what it shows instead.

A wait for a text, a URL or a response ends with the patience of its deadline.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Mapping
from typing import TYPE_CHECKING, Any

from footlight.browser.driver.offload import offload
from footlight.browser.driver.playwright_api import (
    Error,
    PlaywrightTimeout,
    cause,
    is_context_lost,
    is_syntax_error,
)
from footlight.browser.driver.scripts import run
from footlight.browser.network.request_log import LogFilter
from footlight.browser.page import inspection
from footlight.browser.page.capture import glance
from footlight.browser.page.diagnosis import explain_closed_page, explain_page_failure, explain_timeout
from footlight.browser.page.element_diagnosis import explain_element_failure
from footlight.browser.page.inspection import INSPECT
from footlight.browser.page.page_operations import report_stages
from footlight.browser.page.refs import locate, locate_now
from footlight.browser.page.selectors import find_text
from footlight.browser.snapshot.finding import Likeness
from footlight.errors import FootlightError, InvalidParameter, StaleRef
from footlight.patterns import LinearPattern, PatternError, matches_wildcard

if TYPE_CHECKING:
    from playwright.async_api import Frame

    from footlight.browser.driver.deadline import Deadline
    from footlight.browser.network.downloads import KnownDownload
    from footlight.browser.network.request_log import LogEntry
    from footlight.browser.page.page import Page
    from footlight.browser.reading.reads import ElementState

__all__ = [
    "POLL_SECONDS",
    "UrlPattern",
    "find_state",
    "wait_for_download",
    "wait_for_entry",
    "wait_for_function",
    "wait_for_response",
    "wait_for_selector",
    "wait_for_text",
    "wait_for_text_gone",
    "wait_for_url",
]

STATE_SECONDS = 2.0
"""How long a failed wait may look for what the page shows instead."""
POLL_SECONDS = 0.1
"""The time between two questions to a page that cannot report by itself."""
MAX_QUOTE = 100
MAX_QUOTES = 3
LEAST_LIKENESS = 0.4


class UrlPattern:
    """A pattern of URLs: `/a regular expression/`, a pattern with `*`, or a part of the URL."""

    def __init__(self, text: str, *, parameter: str) -> None:
        self.text = text
        self._expression: LinearPattern | None = None
        if len(text) > 2 and text.startswith("/") and text.endswith("/"):
            try:
                self._expression = LinearPattern(text[1:-1], dot_matches_newline=True)
            except PatternError as error:
                raise InvalidParameter(
                    f"{parameter}: {_shorten(text)} is not a regular expression: {error}. Without slashes "
                    "around it, it is a part of the URL",
                    parameter=parameter,
                ) from None

    def matches(self, url: str) -> bool:
        if self._expression:
            return self._expression.is_in(url)
        return matches_wildcard(self.text, url) if "*" in self.text else self.text in url


# Text


async def wait_for_text(page: Page, text: str, deadline: Deadline) -> None:
    """Wait until a frame shows the text. Case and white space do not matter."""
    deadline.stage(f"waiting for the text {_shorten(text)}")
    try:
        await _wait_for_any_frame(page, text, deadline.element_ms)
    except PlaywrightTimeout as error:
        elapsed = deadline.elapsed
        closest = await _find_closest_texts(page, text)
        quotes = "; ".join(f'"{each}"' for each in closest)
        raise await explain_timeout(
            page,
            f'The text "{_shorten(text)}" did not appear within {elapsed}'
            + (f". Closest on the page: {quotes}" if quotes else ""),
            deadline,
            text=text,
            page=page.url,
            closest=closest or None,
        ) from error
    except Error as error:
        raise await explain_page_failure(page, error) from error


async def wait_for_text_gone(page: Page, text: str, deadline: Deadline) -> None:
    """Wait until no frame shows the text."""
    deadline.stage(f"waiting for the text {_shorten(text)} to go")
    try:
        async with asyncio.timeout(deadline.element_ms / 1000):
            await _wait_until_in_no_frame(page, text)
    except TimeoutError as error:
        elapsed = deadline.elapsed
        around = await _find_text_around(page, text)
        raise await explain_timeout(
            page,
            f'The text "{_shorten(text)}" was still there after {elapsed}'
            + (f', in "{around}"' if around else ""),
            deadline,
            text=text,
            shown=around,
            page=page.url,
        ) from error
    except Error as error:
        raise await explain_page_failure(page, error) from error


async def _wait_for_any_frame(page: Page, text: str, timeout_ms: float) -> None:
    """Wait until a frame shows the text, including frames that are added meanwhile."""
    ended: asyncio.Queue[Error | None] = asyncio.Queue()

    async def wait_in(frame: Frame) -> None:
        try:
            await find_text(frame, text).wait_for(state="attached", timeout=timeout_ms)
            ended.put_nowait(None)
        except Error as error:
            if frame == page.playwright.main_frame:  # It exists until the page is closed.
                ended.put_nowait(error)

    async with _watch_frames(page, wait_in):
        if error := await ended.get():
            raise error


@contextlib.asynccontextmanager
async def _watch_frames(
    page: Page, watch: Callable[[Frame], Coroutine[Any, Any, None]]
) -> AsyncGenerator[None]:
    """Watch every frame that there is or that is added, until the end of the block."""
    tasks: list[asyncio.Task[None]] = []

    def begin(frame: Frame) -> None:
        tasks.append(asyncio.create_task(watch(frame)))

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


async def _wait_until_in_no_frame(page: Page, text: str) -> None:
    while showing := [frame for frame in page.playwright.frames if await _shows(frame, text)]:
        for frame in showing:
            with _ignore_lost_document(frame):
                await find_text(frame, text).wait_for(state="detached", timeout=0)


async def _shows(frame: Frame, text: str) -> bool:
    with _ignore_lost_document(frame):
        return await find_text(frame, text).count() > 0
    return False


@contextlib.contextmanager
def _ignore_lost_document(frame: Frame) -> Generator[None]:
    """Ignore the errors of a frame that is removed, or gets another document."""
    try:
        yield
    except Error as error:
        if not frame.is_detached() and not is_context_lost(error):
            raise


async def _find_closest_texts(page: Page, text: str) -> list[str]:
    snapshot = await glance(page, STATE_SECONDS)
    by_folded: dict[str, tuple[str, str]] = {}
    for node in snapshot.nodes if snapshot else ():
        for words in filter(None, (node.value, node.name, node.text)):
            by_folded[words.casefold()] = (
                words,
                f"value of {node.role}" if words is node.value else node.role,
            )
    return await offload(len(by_folded), lambda: _rank_by_likeness(text.casefold(), by_folded))


def _rank_by_likeness(folded_text: str, by_folded: Mapping[str, tuple[str, str]]) -> list[str]:
    """Return the texts that contain the text, each with what has it, then those that are most like it."""
    # What contains the text is not visible as a text: it is the value or label of a control, or an option.
    containing = [folded for folded in by_folded if folded_text in folded]
    found = {folded: f"{_shorten(by_folded[folded][0])} ({by_folded[folded][1]})" for folded in containing}
    likeness = Likeness(folded_text)
    ranked = sorted(((likeness.to(folded), folded) for folded in by_folded), reverse=True)
    for share, folded in ranked[:MAX_QUOTES]:
        if share >= LEAST_LIKENESS:
            found.setdefault(folded, _shorten(by_folded[folded][0]))
    return [*found.values()][:MAX_QUOTES]


async def _find_text_around(page: Page, text: str) -> str | None:
    with contextlib.suppress(Error, TimeoutError):
        async with asyncio.timeout(STATE_SECONDS):
            for frame in page.playwright.frames:
                if await _shows(frame, text):
                    return _shorten(await find_text(frame, text).inner_text(timeout=0))
    return None


# Elements and scripts


async def wait_for_selector(page: Page, selector: str, state: ElementState, deadline: Deadline) -> None:
    """Wait until an element is in a state."""
    deadline.stage(f"waiting for {selector} to be {state}")
    unwatched = deadline.without_patience()
    to_leave = state in ("hidden", "detached")
    try:
        found = await (locate_now if to_leave else locate)(page, selector, unwatched)
        if state == "visible":
            found = found.filter(visible=True)
        await found.first.wait_for(state=state, timeout=deadline.remaining_ms)
    except StaleRef as error:
        if not (to_leave and error.is_gone):
            raise
    except PlaywrightTimeout as error:
        elapsed = deadline.elapsed
        now, closest = await find_state(page, selector, unwatched)
        raise await explain_timeout(
            page,
            f'"{selector}" was not {state} after {elapsed}'
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
        raise await explain_element_failure(page, error, selector) from error


async def find_state(page: Page, selector: str, deadline: Deadline) -> tuple[ElementState | None, list[str]]:
    """Return the state of an element now, and where it is missing the elements that come closest."""
    with contextlib.suppress(Error, FootlightError, TimeoutError, ValueError):
        async with asyncio.timeout(STATE_SECONDS):
            found = await locate_now(page, selector, deadline)
            if await found.count():
                return "visible" if await found.first.is_visible() else "hidden", []
            reply = await run(page.playwright, INSPECT, inspection.closest_request(selector))
            return "detached", inspection.read_closest(reply)
    return None, []


async def wait_for_function(page: Page, expression: str, deadline: Deadline) -> Any:
    """Return the value of an expression or function once it is true. An exception counts as false."""
    deadline.stage("waiting for the function")
    script = expression.strip().rstrip(";")
    try:
        found = await page.playwright.wait_for_function(
            _WAIT_SCRIPT.replace("SCRIPT", script), arg={}, timeout=deadline.remaining_ms
        )
        return await found.json_value()
    except PlaywrightTimeout as error:
        elapsed = deadline.elapsed
        now = await _describe_value(page, script)
        raise await explain_timeout(
            page,
            f"The function was not true after {elapsed}" + (f"; it {now}" if now else ""),
            deadline,
            function=_shorten(expression),
            page=page.url,
        ) from error
    except Error as error:
        if is_syntax_error(error):
            raise InvalidParameter(
                f"function: {cause(error)}; it takes an expression, or a function to call",
                parameter="function",
            ) from error
        raise await explain_page_failure(page, error) from error


async def _describe_value(page: Page, script: str) -> str | None:
    with contextlib.suppress(Error, TimeoutError):
        async with asyncio.timeout(STATE_SECONDS):
            return _shorten(await page.playwright.evaluate(_VALUE_SCRIPT.replace("SCRIPT", script)))
    return None


# Playwright calls a function again until it returns something true, which a promise is from the start.
_WAIT_SCRIPT = """state => {
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
_VALUE_SCRIPT = """async () => {
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
    """Wait until the page is at a URL, and its document has been read."""
    deadline.stage(f"waiting for the URL {_shorten(pattern.text)}")
    try:
        with report_stages(page, deadline.stage):
            await page.playwright.wait_for_url(
                pattern.matches, wait_until="domcontentloaded", timeout=deadline.element_ms
            )
    except PlaywrightTimeout as error:
        within = f"within {deadline.elapsed}"
        message = (
            f"The document at {_shorten(page.url)} was not there {within}"
            if pattern.matches(page.url)
            else f'The URL did not become "{_shorten(pattern.text)}" {within}; it is {_shorten(page.url)}'
        )
        raise await explain_timeout(page, message, deadline, url=page.url) from error
    except Error as error:
        raise await explain_page_failure(page, error) from error


async def wait_for_response(page: Page, pattern: UrlPattern, deadline: Deadline) -> LogEntry:
    """Return the first response of this page that arrives, or has arrived since the last action."""
    deadline.stage(f"waiting for a response from {_shorten(pattern.text)}")
    log, since = page.session.log, page.session.last_action.began_at

    def requests() -> list[LogEntry]:
        return [entry for entry in log.select(LogFilter(page=page.id)) if _end_time(entry) >= since]

    def find() -> LogEntry | None:
        return next((each for each in requests() if each.status and pattern.matches(each.url)), None)

    if entry := await wait_for_entry(page, find, deadline):
        return entry
    urls = [_shorten(entry.url) for entry in requests()[-MAX_QUOTES:]]
    raise await explain_timeout(
        page,
        f'No response from "{_shorten(pattern.text)}" arrived within {deadline.elapsed}. '
        f"Requested since the last action: {', '.join(urls) or 'nothing'}",
        deadline,
        page=page.url,
    )


async def wait_for_entry(
    page: Page, find: Callable[[], LogEntry | None], deadline: Deadline
) -> LogEntry | None:
    """Return the entry of the request log that `find` returns after some response, or None if it is late."""
    arrived = asyncio.Event()

    def wake(_: object) -> None:
        arrived.set()

    page.playwright.on("response", wake)
    page.playwright.on("close", wake)
    try:
        async with asyncio.timeout(deadline.element_ms / 1000):
            while not page.closed:
                arrived.clear()
                if entry := find():
                    return entry
                await arrived.wait()
    except TimeoutError:
        return None
    finally:
        page.playwright.remove_listener("response", wake)
        page.playwright.remove_listener("close", wake)
    raise await explain_closed_page(page)


def _end_time(entry: LogEntry) -> float:
    return float("inf") if entry.duration is None else entry.began + entry.duration / 1000


async def wait_for_download(page: Page, deadline: Deadline) -> KnownDownload:
    """Return the first download that ends: one that is running, begins, or was begun by the last action."""
    deadline.stage("waiting for a download")
    downloads, begun_before = page.session.downloads, page.session.last_action.downloads_before
    before = downloads.known[: max(0, len(downloads.known) - downloads.count + begun_before)]
    over_before = {each.id for each in before if each.state != "running"}
    try:
        async with asyncio.timeout(deadline.remaining_ms / 1000):
            while True:
                for each in downloads.known:
                    if each.state != "running" and each.id not in over_before:
                        return each
                await downloads.wait_for_change()
    except TimeoutError:
        goes_on = [each.suggested_filename for each in downloads.known if each.state == "running"]
        raise await explain_timeout(
            page,
            f"No download was over within {deadline.elapsed}; "
            + (f"{', '.join(map(_shorten, goes_on))} goes on" if goes_on else "none began"),
            deadline,
            page=page.url,
        ) from None


def _shorten(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= MAX_QUOTE else f"{text[:MAX_QUOTE]}…"
