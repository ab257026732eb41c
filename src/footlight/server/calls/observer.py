"""Create the observation in an action's answer: the changes on the page since the client last saw it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from footlight.browser.driver.offload import call_in_loop, offload
from footlight.browser.page.capture import EarlyLook, glance
from footlight.browser.page.settling import LATE_RECORD_MS, read_records, settle
from footlight.browser.snapshot.blankness import BLANK_NOTICE, is_blank
from footlight.browser.snapshot.nodes import find_changed_range
from footlight.browser.snapshot.observation import find_change, observe
from footlight.browser.snapshot.text.quoting import shorten
from footlight.server.answers.json_values import PageText, PageTitle
from footlight.server.calls.act_trace import SENT_BY_SCRIPTS, ActTrace, SentRequest, split_address
from footlight.server.calls.attachments import attach_text
from footlight.server.calls.effects import take_records

if TYPE_CHECKING:
    from pydantic import BaseModel

    from footlight.browser.network.console import Message
    from footlight.browser.network.request_log import LogEntry
    from footlight.browser.page.events import Events
    from footlight.browser.page.page import Page
    from footlight.browser.page.settling import ActRecord
    from footlight.browser.snapshot.nodes import Snapshot
    from footlight.browser.snapshot.observation import Change, Observation
    from footlight.config import ObservationSettings
    from footlight.server.tools.declaration import Tool
    from footlight.server.tools.tool_call import ToolCall

__all__ = ["Observer"]

MAX_URL = 500
MAX_ERROR = 300
"""The maximum length of a console error in characters."""
LOOK_SECONDS = 5.0
"""The time limit for a snapshot of a page, after it has settled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservationOptions:
    """The options for observing a call, from its parameters, or else from the settings."""

    mode: Literal["none", "diff", "full"]
    settles: bool
    budget: int
    settle_limit_ms: float

    @classmethod
    def of(cls, arguments: BaseModel, settings: ObservationSettings) -> ObservationOptions:
        return cls(
            mode=getattr(arguments, "observe", None) or settings.mode,
            settles=(getattr(arguments, "settle", None) or settings.settle) == "auto",
            budget=getattr(arguments, "budget", None) or settings.budget,
            settle_limit_ms=settings.settle_timeout,
        )


class Observer:
    """Observes the page of one call. Call `begin` before the tool runs, then `settle`, then `describe`."""

    def __init__(self, tool: Tool, options: ObservationOptions) -> None:
        self._tool = tool
        self._options = options
        self._acted_since = 0.0
        self._records: list[ActRecord] = []
        self._early: EarlyLook | None = None
        self._change: Change | None = None
        self._error: str | None = None
        self._has_failed_script = False

    async def begin(self, call: ToolCall) -> None:
        """Note the state before the call. Take a snapshot of a page that the client has not seen yet."""
        self._console = call.session.console.mark()
        self._earlier = call.session.events.copy()
        page = call.maybe_page
        if (
            page
            and self._options.mode == "diff"
            and page.view.last_reported is None
            and page.url != "about:blank"
        ):
            page.view.last_reported = await glance(page, call.deadline.limit_reading(LOOK_SECONDS))
        self._urls = {each.id: each.url for each in call.session.pages}
        self._began = self._acted_since = time.monotonic()

    async def settle(self, call: ToolCall) -> None:
        """Wait for the requests and rendering that began since `begin`, or since the last `settle`."""
        page = call.maybe_page
        if page and self._options.settles and not page.closed:
            limit_ms = self._options.settle_limit_ms
            if self._options.mode != "none" and not self._tool.batch:
                self._early = EarlyLook(page)
            read = self._early and self._early.read
            records = await settle(page, self._began, call.deadline, limit_ms=limit_ms, read=read)
            if records is None:
                records = await read_records(page, LATE_RECORD_MS)
            self._records += take_records(page, records)
        self._began = time.monotonic()

    async def describe(self, call: ToolCall) -> dict[str, Any] | None:
        """Return the observation, or None if the call does not request one or its page is gone."""
        page, mode = call.maybe_page, self._options.mode
        if mode == "none" or page is None or page.closed or page.crashed:
            return None
        before = page.view.last_reported
        after, errors = await asyncio.gather(
            glance(page, call.deadline.limit_reading(LOOK_SECONDS), self._early),
            call.session.console.errors_since(self._console, page_id=page.id),
        )
        facts = self._facts(page, before, after, errors)
        if after is None:
            return {"kind": "unknown", "reason": "The page did not respond", **facts}
        view, shown = page.view, [*reversed(page.view.shown.values())]
        is_known = before is not None and any(before is each for each in shown)
        texts = [error.text.strip() for error in errors]
        self._error = _describe_cause(texts)
        self._has_failed_script = any(map(_is_uncaught, texts))
        link = call_in_loop(lambda text: attach_text(call, text, tool=self._tool.name))

        def compare() -> tuple[Change | None, Observation]:
            budget = self._options.budget
            found = observe(before, after, mode=mode, budget=budget, link=link, shown=shown)
            if before is None:
                return None, found
            is_replaced = page.navigated_at >= self._acted_since
            return find_change(
                before.nodes, after.nodes, successors=found.successors, is_replaced=is_replaced
            ), found

        self._change, observation = await offload(_count_work(before, after, mode), compare)
        view.last_reported = after
        view.note_successors(observation.successors)
        if not observation.cut and (observation.kind == "full" or is_known):
            view.note_shown(after)
        return {
            "kind": observation.kind,
            **facts,
            **({"cut": True} if observation.cut else {}),
            **({"text": PageText(observation.text)} if observation.text else {}),
        }

    def trace(self, call: ToolCall, events: Events) -> ActTrace:
        """Return the facts about the action since `begin`. Call this after `settle` and `describe`."""
        page, since = call.maybe_page, self._acted_since
        # The answer also reports earlier events, which are not an effect of this call.
        events = events.after(self._earlier)
        trace = ActTrace(
            events=events,
            has_acted=call.report.has_acted,
            change=self._change,
            records=self._records,
            error=self._error,
            has_failed_script=self._has_failed_script,
        )
        if page is None:
            return trace
        return replace(
            trace,
            requests=self._requests(call, page),
            navigated=page.navigated_at >= since,
            moved=page.url != self._urls.get(page.id),
            frame_reloaded=page.frame_reloaded_at >= since,
        )

    def _requests(self, call: ToolCall, page: Page) -> list[SentRequest]:
        """Return the requests of scripts and forms, without polls and without those of the next document.

        A request that failed and was sent again, as with a new token, has the result of its repetition.
        """
        log, actions = call.session.log, call.session.actions
        found: list[LogEntry] = []
        for entry in log.since(self._acted_since, page=page.id):
            is_later = self._acted_since <= page.traffic.replaced_at < entry.began
            is_effect = entry.resource_type in SENT_BY_SCRIPTS and entry.url.startswith("http")
            if is_effect and not is_later and not log.is_poll(entry, actions.was_acting):
                found.append(entry)
        last = {(each.method, each.url): each for each in found}
        repeated = [last[each.method, each.url] if each.status >= 400 else each for each in found]
        results = [
            again if log.have_same_body(each, again) else each
            for each, again in zip(found, repeated, strict=True)
        ]
        hosts = {split_address(url)[0] for url in (page.url, self._urls.get(page.id, ""))}
        return [SentRequest.of(each, call.mask, hosts, log.find_redirection(each)) for each in results]

    def _facts(
        self, page: Page, before: Snapshot | None, after: Snapshot | None, errors: Sequence[Message]
    ) -> dict[str, Any]:
        """Return the page's URL and title if they have changed, and the errors in its console."""
        facts: dict[str, Any] = {}
        if page.url != self._urls.get(page.id):
            facts["url"] = shorten(page.url, MAX_URL)
        known = before.title if before else ""
        if after is not None and after.title != known:
            facts["title"] = PageTitle.of(after.title, known)
        if after is not None and page.navigated_at >= self._acted_since and is_blank(after):
            facts["notice"] = BLANK_NOTICE
        if errors:
            facts["console"] = [_describe_error(error) for error in errors]
        return facts


_SANDBOXED = "Blocked script execution in "
_WORK_OF_CHANGE = 100
_EQUAL_NODES = 20
"""As much work as a node: comparing this many nodes with themselves. A changed node is much more work."""


def _count_work(before: Snapshot | None, after: Snapshot, mode: str) -> int:
    """Return the work to compare two snapshots, as a number of nodes."""
    if before is None or mode == "full":
        return len(after.nodes)
    start, end_before, end = find_changed_range(before.nodes, after.nodes) or (0, 0, 0)
    changed = end_before + end - 2 * start
    return _WORK_OF_CHANGE * changed + (len(before.nodes) + len(after.nodes)) // _EQUAL_NODES


def _is_uncaught(text: str) -> bool:
    return text.startswith("Uncaught")


def _describe_cause(texts: Sequence[str]) -> str | None:
    """Return the reason that the errors in the console give for an action without effect.

    A message that begins with `_SANDBOXED` may be about a script of Playwright.
    """
    uncaught = next(filter(_is_uncaught, texts), None)
    if uncaught:
        return f"a script failed: {uncaught}"
    logged = next((each for each in texts if not each.startswith(_SANDBOXED)), None)
    return f"console error: {logged}" if logged else None


def _describe_error(error: Message) -> str:
    """Return an error's text, with its source unless the text contains it."""
    text = shorten(error.text, MAX_ERROR)
    return text if not error.source or error.source in text else f"{text} ({error.source})"
