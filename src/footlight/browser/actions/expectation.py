"""Wait until a page meets an expectation, or report its actual state.

All conditions of an expectation are waited for at the same time. The conditions that are not met in time are
reported together.
"""

from __future__ import annotations

import asyncio
import itertools
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast

from footlight.browser.actions.waiting.elements import find_state
from footlight.browser.actions.waiting.network import wait_for_entry, wait_for_url
from footlight.browser.actions.waiting.texts import wait_for_text, wait_for_text_gone
from footlight.browser.actions.waiting.url_pattern import UrlPattern
from footlight.browser.page.diagnosis import explain_timeout
from footlight.browser.reading import reads
from footlight.browser.snapshot.text.quoting import shorten
from footlight.errors import (
    BrowserCrashedError,
    DeadlineExceededError,
    ElementNotFoundError,
    ExpectationFailedError,
    FootlightError,
    InvalidParameterError,
    SessionNotFoundError,
)

if TYPE_CHECKING:
    from footlight.browser.driver.deadline import Deadline
    from footlight.browser.network.request_log import LogEntry
    from footlight.browser.page.page import Page

__all__ = ["PAGE_CLOSED", "Expectation", "RequestPattern", "meet_expectation"]

POLL_SECONDS = 0.1
"""The time between two reads of a state that the page does not report by itself."""

T = TypeVar("T")
Condition = Callable[[], Awaitable[object]]
"""A function that waits until a condition is met, and raises ExpectationFailedError if it is not."""

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
MAX_ACTUAL = 300
"""The maximum length of a text in a report, in characters."""
MAX_MASKED = 10_000
"""The maximum length to which a text is masked before it is shortened for a report."""
MAX_REQUESTS = 5
PAGE_CLOSED = "the page is closed"


class RequestPattern:
    """A pattern for requests with a response: `POST /orders 201`. The method and the status are optional.

    Without a status, every status below 400 matches.

    Raises:
        InvalidParameterError: the URL is missing or not a pattern.
    """

    def __init__(self, text: str) -> None:
        words = text.split()
        self.text = text
        self._method = words.pop(0).upper() if words and words[0].upper() in METHODS else None
        has_status = len(words) > 1 and len(words[-1]) == 3 and words[-1].isdecimal()
        self._status = int(words.pop()) if has_status else None
        url = " ".join(words)
        # A URL contains no white space, but a regular expression may.
        if not url or (len(words) > 1 and not (url.startswith("/") and url.endswith("/"))):
            raise InvalidParameterError(
                "request: takes a URL, with a method before it or a status after it: POST /orders 201",
                parameter="request",
            )
        self._url = UrlPattern(url, parameter="request")

    async def find_first(self, entries: Iterable[LogEntry]) -> LogEntry | None:
        return await self._url.find_first(entries, self._accepts)

    def has_matched_url(self, entry: LogEntry) -> bool:
        return self._url.has_matched(entry)

    def _accepts(self, entry: LogEntry) -> bool:
        is_status = entry.status == self._status if self._status else 0 < entry.status < 400
        return is_status and self._method in (None, entry.method)


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """The conditions that a page must meet. The keys of `value` and `count` are selectors."""

    text: str | None = None
    gone: str | None = None
    url: UrlPattern | None = None
    request: RequestPattern | None = None
    value: Mapping[str, str | bool] | None = None
    """By selector: the value of a field or label of a selected option, or whether a box is checked."""
    count: Mapping[str, int] | None = None
    """By selector: the number of matching elements."""


@dataclass(frozen=True, slots=True)
class _FailureReporter:
    """Reports a condition that is not met.

    `deadline` has the patience of the expectation. `mask` masks secrets in a text before it is shortened.
    """

    page: Page
    deadline: Deadline
    mask: Callable[[str], str]

    def fail(self, message: str, expected: Any, actual: Any, closest: Any = None, **details: Any) -> NoReturn:
        raise ExpectationFailedError(
            message,
            expected=expected,
            actual=actual,
            closest=closest or None,
            page=self.cut(self.page.url),
            **details,
        )

    async def fail_late(
        self, message: str, expected: Any, actual: Any, closest: Any = None, *, instead: str = ""
    ) -> NoReturn:
        """Report a condition that was not met in time, with the actual state."""
        text = "; ".join(filter(None, (f"{message} within {self.deadline.elapsed}", instead)))
        late = await explain_timeout(self.page, text, self.deadline)
        self.fail(late.message, expected, actual, closest, closedPages=late.details.get("closedPages"))

    def cut(self, text: str) -> str:
        return shorten(self.mask(text[:MAX_MASKED]), MAX_ACTUAL)


async def meet_expectation(
    page: Page,
    expectation: Expectation,
    deadline: Deadline,
    *,
    since: float,
    mask: Callable[[str], str] = str,
) -> None:
    """Wait until the page meets the expectation, until the patience of the deadline ends.

    A request matches only if it was sent after `since` (`time.monotonic()`).

    Raises:
        ExpectationFailedError: has the expected state, the actual state and the closest matches on the page.
        BrowserCrashedError: the page or its browser crashed.
    """
    reporter = _FailureReporter(page, deadline, mask)
    conditions = list(_make_conditions(reporter, expectation, since))
    # A condition that was met early may fail later, such as a text of the previous page after a navigation.
    for _ in range(min(len(conditions), 2)):
        if failures := await _judge_together(conditions):
            raise _join_failures(failures, len(conditions))


def _make_conditions(
    reporter: _FailureReporter, expectation: Expectation, since: float
) -> Iterator[Condition]:
    page, deadline = reporter.page, reporter.deadline
    if url := expectation.url:
        yield lambda: _judge(reporter, {"url": url.text}, wait_for_url(page, url, deadline))
    if request := expectation.request:
        yield lambda: _meet_request(reporter, request, since)
    if text := expectation.text:
        yield lambda: _judge(reporter, {"text": text}, wait_for_text(page, text, deadline))
    if gone := expectation.gone:
        yield lambda: _judge(reporter, {"gone": gone}, wait_for_text_gone(page, gone, deadline))
    for selector, value in (expectation.value or {}).items():
        yield partial(_meet_value, reporter, selector, value)
    for selector, count in (expectation.count or {}).items():
        yield partial(_meet_count, reporter, selector, count)


async def _judge_together(conditions: Sequence[Condition]) -> list[ExpectationFailedError]:
    """Return the failures of all conditions, in their order."""

    async def judge(condition: Condition) -> ExpectationFailedError | None:
        try:
            await condition()
        except ExpectationFailedError as error:
            return error
        return None

    tasks = [asyncio.create_task(judge(condition)) for condition in conditions]
    try:
        return [error for error in await asyncio.gather(*tasks) if error]
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _join_failures(failures: Sequence[ExpectationFailedError], total: int) -> ExpectationFailedError:
    """Combine failures. For several conditions, `actual` and `closest` have the keys of `expected`."""
    if len(failures) == 1:
        return failures[0]
    expected: dict[str, Any] = {}
    actual: dict[str, Any] = {}
    closest: dict[str, Any] = {}
    closed: dict[str, None] = {}
    for failure in failures:
        details = failure.details
        _merge(expected, details["expected"])
        _merge(actual, _replace_value(details["expected"], details["actual"]))
        if "closest" in details:
            _merge(closest, _replace_value(details["expected"], details["closest"]))
        closed |= dict.fromkeys(details.get("closedPages") or ())
    messages = dict.fromkeys(failure.message for failure in failures)
    return ExpectationFailedError(
        f"{len(failures)} of {total} expectations failed: {'; '.join(messages)}",
        expected=expected,
        actual=actual,
        closest=closest or None,
        page=failures[0].details["page"],
        closedPages=list(closed) or None,
    )


def _replace_value(expected: Mapping[str, Any], value: Any) -> dict[str, Any]:
    """Return the value under the key of the only condition, and under its selector if it has one."""
    kind, condition = next(iter(expected.items()))
    return {
        kind: dict.fromkeys(cast("dict[str, Any]", condition), value)
        if isinstance(condition, dict)
        else value
    }


def _merge(into: dict[str, Any], more: Mapping[str, Any]) -> None:
    for kind, value in more.items():
        into[kind] = {**into[kind], **value} if isinstance(into.get(kind), dict) else value


async def _judge(reporter: _FailureReporter, expected: Mapping[str, Any], waiting: Awaitable[T]) -> T:
    """Return the result of a wait, or translate its error to a failed expectation."""
    try:
        return await waiting
    except (BrowserCrashedError, SessionNotFoundError):
        raise
    except FootlightError as error:
        if reporter.page.closed:
            reporter.fail(f"The expectation cannot be checked: {PAGE_CLOSED}", expected, PAGE_CLOSED)
        is_late = isinstance(error, DeadlineExceededError)
        actual = error.details.get("shown") or error.details.get("hidden")
        if "url" in expected:
            actual = reporter.cut(reporter.page.url)
        if isinstance(error, ElementNotFoundError):
            actual = "no such element"
        unknown = "not on the page" if "text" in expected else "not known: the page did not answer in time"
        reporter.fail(
            error.message,
            expected,
            actual or (unknown if is_late else error.code),
            error.details.get("closest") or error.details.get("candidates"),
            closedPages=error.details.get("closedPages"),
        )


async def _meet_request(reporter: _FailureReporter, pattern: RequestPattern, since: float) -> None:
    page, log = reporter.page, reporter.page.session.log
    reporter.deadline.stage(f"waiting for the request {shorten(pattern.text, 100)}")
    expected = {"request": pattern.text}

    async def find() -> LogEntry | None:
        return await pattern.find_first(log.since(since, page=page.id))

    if await _judge(reporter, expected, wait_for_entry(page, find, reporter.deadline)):
        return
    sent = log.since(since, page=page.id)
    same = _describe_last(reporter, filter(pattern.has_matched_url, sent))
    others = _describe_last(reporter, itertools.filterfalse(pattern.has_matched_url, sent))
    await reporter.fail_late(
        f'The request "{shorten(pattern.text, 100)}" was not answered{" as expected" if same else ""}',
        expected,
        same or "no such request",
        others,
        instead=f"there was {', '.join(same)}" if same else "",
    )


def _describe_last(reporter: _FailureReporter, entries: Iterable[LogEntry]) -> list[str]:
    return [reporter.cut(_describe_request(each)) for each in deque(entries, maxlen=MAX_REQUESTS)]


def _describe_request(entry: LogEntry) -> str:
    return f"{entry.method} {entry.url} {entry.status or entry.failure or 'pending'}"


async def _meet_value(reporter: _FailureReporter, selector: str, expected_value: str | bool) -> None:
    page, deadline, expected = reporter.page, reporter.deadline, {"value": {selector: expected_value}}
    deadline.stage(f"waiting for the value of {selector}")

    async def read() -> list[str | bool]:
        if isinstance(expected_value, bool):
            return [await reads.is_checked(page, selector, deadline)]
        return [*await reads.values(page, selector, deadline)]

    found = await _judge(reporter, expected, _poll(read, lambda found: expected_value in found, deadline))
    if expected_value not in found:
        actual = reporter.cut(found[0]) if isinstance(found[0], str) else found[0]
        await reporter.fail_late(
            f'The value of "{selector}" did not become what was expected', expected, actual
        )


async def _meet_count(reporter: _FailureReporter, selector: str, expected_count: int) -> None:
    page, deadline, expected = reporter.page, reporter.deadline, {"count": {selector: expected_count}}
    deadline.stage(f"waiting for {expected_count} of {selector}")

    async def read() -> int:
        return await reads.count(page, selector, deadline)

    found = await _judge(reporter, expected, _poll(read, lambda found: found == expected_count, deadline))
    if found != expected_count:
        closest = [] if found else (await find_state(page, selector, deadline.without_patience()))[1]
        noun = "element" if found == 1 else "elements"
        message = f'"{selector}" matched {found} {noun} and not {expected_count}'
        await reporter.fail_late(message, expected, found, closest)


async def _poll(read: Callable[[], Awaitable[T]], is_met: Callable[[T], bool], deadline: Deadline) -> T:
    """Read until the value meets the condition or the patience ends, and return the last value."""
    found = await read()
    while not is_met(found) and deadline.element_ms > POLL_SECONDS * 1000:
        await asyncio.sleep(POLL_SECONDS)
        try:
            found = await read()
        except DeadlineExceededError:  # This read began too late.
            break
    return found
