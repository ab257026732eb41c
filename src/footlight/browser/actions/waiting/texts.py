"""Wait until a page shows a text, or no longer shows it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Mapping
from typing import TYPE_CHECKING, Any

from footlight.browser.actions.waiting.quotes import MAX_QUOTES, STATE_SECONDS, shorten_quote
from footlight.browser.driver.offload import offload
from footlight.browser.driver.playwright_api import Error, PlaywrightTimeout, is_context_lost
from footlight.browser.page.capture import glance
from footlight.browser.page.diagnosis import explain_page_failure, explain_timeout
from footlight.browser.page.selectors import find_hidden_reason, find_text
from footlight.browser.snapshot.finding import Likeness

if TYPE_CHECKING:
    from playwright.async_api import Frame

    from footlight.browser.driver.deadline import Deadline
    from footlight.browser.page.page import Page

__all__ = ["wait_for_text", "wait_for_text_gone"]

MIN_LIKENESS = 0.4


async def wait_for_text(page: Page, text: str, deadline: Deadline) -> None:
    """Wait until a frame shows the text. Case and white space are ignored."""
    deadline.stage(f"waiting for the text {shorten_quote(text)}")
    try:
        await _wait_for_any_frame(page, text, deadline.element_ms)
    except PlaywrightTimeout as error:
        elapsed = deadline.elapsed
        hidden, closest = await asyncio.gather(
            _find_hidden_reason(page, text), _find_closest_texts(page, text)
        )
        quotes = "; ".join(f'"{each}"' for each in closest)
        raise await explain_timeout(
            page,
            f'The text "{shorten_quote(text)}" did not appear within {elapsed}'
            + (f". It is {hidden}" if hidden else "")
            + (f". Closest on the page: {quotes}" if quotes else ""),
            deadline,
            text=text,
            page=page.url,
            hidden=hidden,
            closest=closest or None,
        ) from error
    except Error as error:
        raise await explain_page_failure(page, error) from error


async def wait_for_text_gone(page: Page, text: str, deadline: Deadline) -> None:
    """Wait until no frame shows the text."""
    deadline.stage(f"waiting for the text {shorten_quote(text)} to go")
    try:
        async with asyncio.timeout(deadline.element_ms / 1000):
            await _wait_until_in_no_frame(page, text)
    except TimeoutError as error:
        elapsed = deadline.elapsed
        around = await _find_text_around(page, text)
        raise await explain_timeout(
            page,
            f'The text "{shorten_quote(text)}" was still there after {elapsed}'
            + (f', in "{around}"' if around else ""),
            deadline,
            text=text,
            shown=around,
            page=page.url,
        ) from error
    except Error as error:
        raise await explain_page_failure(page, error) from error


async def _wait_for_any_frame(page: Page, text: str, timeout_ms: float) -> None:
    """Wait until a frame shows the text, including frames that are attached later."""
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
    """Run `watch` for every frame, including those that are attached later, until the end of the block."""
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
    """Ignore the errors of a frame that is detached or gets another document."""
    try:
        yield
    except Error as error:
        if not frame.is_detached() and not is_context_lost(error):
            raise


async def _find_hidden_reason(page: Page, text: str) -> str | None:
    """Return why the text is not visible, if the page contains it, and how it may become visible."""
    with contextlib.suppress(Error, TimeoutError):
        async with asyncio.timeout(STATE_SECONDS):
            for frame in page.playwright.frames:
                if reason := await find_hidden_reason(frame, text):
                    is_far = reason.endswith("out of view")
                    advice = "; scroll to it (selector text=…) if it appears then" if is_far else ""
                    return f"on the page, but not visible: {reason}{advice}"
    return None


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
    """Return the texts that contain the text, each with its role, then the texts most similar to it."""
    # A text that contains it is not visible text: it is the value or label of a control, or an option.
    containing = [folded for folded in by_folded if folded_text in folded]
    found = {
        folded: f"{shorten_quote(by_folded[folded][0])} ({by_folded[folded][1]})" for folded in containing
    }
    likeness = Likeness(folded_text)
    ranked = sorted(((likeness.to(folded), folded) for folded in by_folded), reverse=True)
    for share, folded in ranked[:MAX_QUOTES]:
        if share >= MIN_LIKENESS:
            found.setdefault(folded, shorten_quote(by_folded[folded][0]))
    return [*found.values()][:MAX_QUOTES]


async def _find_text_around(page: Page, text: str) -> str | None:
    with contextlib.suppress(Error, TimeoutError):
        async with asyncio.timeout(STATE_SECONDS):
            for frame in page.playwright.frames:
                if await _shows(frame, text):
                    return shorten_quote(await find_text(frame, text).inner_text(timeout=0))
    return None
