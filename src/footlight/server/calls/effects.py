"""Describe the effect of an action briefly in its answer, or the reason why it had no effect.

`judge` derives the effect from an `ActTrace`, whose facts are known from the page, the log of requests and
the observation. The page is queried again only if an action seems to have no effect.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from footlight.browser.page.settling import has_scrolled, read_records
from footlight.browser.reading.hovering import HoverReaction, find_hover_reaction
from footlight.browser.reading.listeners import Reaction, find_reaction
from footlight.browser.snapshot.text.quoting import shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from footlight.browser.network.request_log import LogEntry
    from footlight.browser.page.events import Events
    from footlight.browser.page.page import Page
    from footlight.browser.page.settling import ActRecord
    from footlight.browser.snapshot.observation import Change
    from footlight.server.tools.tool_call import ToolCall

__all__ = [
    "MAX_EFFECT",
    "SENT_BY_SCRIPTS",
    "ActTrace",
    "Effect",
    "SentRequest",
    "find_effect",
    "judge",
    "note_repeat",
    "split_address",
    "take_records",
]

MAX_EFFECT = 40
"""The maximum length of an effect in characters."""
MAX_REASON = 200
MAX_MASKED = 10_000
"""The maximum length of a text that is masked. Longer texts are cut first."""
ASK_SECONDS = 5.0
"""The time limit for querying a page on which an action seems to have had no effect."""
REPEATS = 3
"""The number of repetitions without a change after which an action's answer contains advice."""
MAX_PATH = 60
"""The maximum length of a path in a reason."""
MIN_PATH = 8
"""The minimum length of a path in an effect. Other parts are removed to make room for it."""

MAX_REPORTED = 1_000
"""The maximum number of ids of records that a page remembers."""
SENT_BY_SCRIPTS = frozenset({"document", "xhr", "fetch", "ping", "beacon"})
"""The types of requests that are effects. Requests for images, styles and scripts are consequences."""
_ABORTED = ("ERR_ABORTED", "NS_BINDING_ABORTED", "cancelled", "canceled")


_ABOUT_THE_ANSWER = frozenset({"sessionId", "pageId", "timeout", "observe", "settle", "expect", "budget"})
_CLICKING = "screenshot to see what is there, a click on what is inside or around it, or Enter with press"
_TYPING = "a click on the field first, or the other one of fill and type"
_USUAL_ADVICE = "screenshot or snapshot to see what is there, or another way"
_ADVICE = {
    **dict.fromkeys(("click", "check", "uncheck", "mouse_click", "tap"), _CLICKING),
    **dict.fromkeys(("fill", "fill_form", "type"), _TYPING),
    "press": "a click on the element that should receive the key first, or a click in place of the key",
    "select": "a click on the list, and then on the option",
    "hover": "a click in place of hover, or waiting with wait_for",
    "scroll": "snapshot: the end may be reached, or the selector of the box that scrolls",
    "drag_and_drop": "mouse_drag (group vision), or the keys that the page offers",
}
"""Alternatives that the model could try, by tool."""

_SAME = "the page shows the same as before"
_MAYBE_OTHERS = "a script of the page ran; what has changed on the page may have another cause"
_ON_HOVER = "the page changed when the mouse moved there"
_REACTIONS: Mapping[Reaction, str] = {
    "disabled": "it is in a disabled part of the page",
    "no listener": "nothing on the page listens for {} there",
    "double click": "the page listens only for double clicks there",
    "no change": "listeners of the page received it and changed nothing",
    "only around": "only listeners around it received it, and the page shows nothing of what they did",
    "hidden change": "a script of the page ran, and the page does not show what it did",
    "closed shadow tree": "it has a closed shadow tree, and the page does not show what happens there",
}

_HOVER_REACTIONS: Mapping[HoverReaction | None, str] = {
    "appeared": "styles for :hover show something that the page had before, but out of sight",
    "restyled": "styles for :hover changed only the look",
    "hidden change": "listeners of the page received it, and the page shows nothing of what they did",
    "no listener": "nothing on the page reacts to the mouse there",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SentRequest:
    """A request that an action sent. `path` has no query and no secrets."""

    method: str
    path: str
    status: int = 0
    """The HTTP status, or 0 before the answer."""
    failure: str | None = None
    host: str = ""
    """The host and port, if they are not those of the page."""
    is_ping: bool = False
    """Whether the page does not receive the response."""
    target: str = ""
    """The path to which the request was redirected."""

    @classmethod
    def of(
        cls, entry: LogEntry, mask: Callable[[str], str], own_hosts: Collection[str], target: str
    ) -> SentRequest:
        host, path = split_address(entry.url)
        # The browser still sends the ping of a page that it leaves, but reports it as aborted.
        is_left = entry.resource_type == "ping" and _is_aborted(entry.failure)
        failure = None if is_left else entry.failure
        return cls(
            method=entry.method,
            path=mask(path[:MAX_MASKED]) or "/",
            status=entry.status,
            failure=failure,
            host="" if host in own_hosts else mask(host[:MAX_MASKED]),
            is_ping=entry.resource_type in ("ping", "beacon"),
            target=mask(split_address(target)[1][:MAX_MASKED]),
        )

    @property
    def is_aside(self) -> bool:
        """Return whether the request failed in a way that an action often does not depend on.

        Many pages send statistics to other hosts, which do not answer behind a filter.
        """
        return _has_failed(self) and (self.is_ping or bool(self.host and not self.status))

    def describe(self, result: str) -> str:
        """Return a reason with the method, the path and the result, and with the host of another one."""
        host = f" (at {self.host})" if self.host else ""
        return f"{self.method} {shorten(self.path, MAX_PATH)} {result}{host}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ActTrace:
    """The facts about a completed action, from which `judge` derives its effect.

    `change` is None if no snapshots were compared. `requests` are those of scripts and forms, without polls.
    """

    events: Events | None = None
    requests: Sequence[SentRequest] = ()
    navigated: bool = False
    moved: bool = True
    """Whether the URL of the page has changed."""
    has_acted: bool = False
    """Whether the tool has reported that it changed the page."""
    frame_reloaded: bool = False
    change: Change | None = None
    records: Sequence[ActRecord] = ()
    error: str | None = None
    """An error in the console of the page, as a reason."""
    has_failed_script: bool = False
    """Whether that error is an uncaught exception of a script."""


@dataclass(frozen=True, slots=True)
class Effect:
    """The effect of an action. `text` has at most 40 characters.

    `reason` explains why there was no effect, or what failed.
    """

    text: str
    reason: str | None = None
    advice: str | None = None
    """An alternative that the model could try."""

    @property
    def is_idle(self) -> bool:
        """Return whether the action changed nothing on the page, though it may have sent a request."""
        return all(
            part in ("none", "script") or part.startswith("request ") for part in self.text.split(", ")
        )

    def as_json(self, mask: Callable[[str], str]) -> dict[str, str]:
        """Return the fields for the answer.

        The reason is masked before it is cut, because a part of a secret would not be found.
        """
        reason = shorten(mask(self.reason[:MAX_MASKED]), MAX_REASON) if self.reason else ""
        reasons = "; ".join(filter(None, (reason, self.advice)))
        return {"effect": self.text, **({"reason": reasons} if reasons else {})}


def split_address(url: str) -> tuple[str, str]:
    """Return the host with its port, and the path of a URL, or "" for those of a malformed one."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "", ""
    return parts.netloc, parts.path


def judge(trace: ActTrace) -> Effect:
    """Return the effect of an action, and a reason if the trace contains one."""
    events, request = trace.events, _find_request(trace)
    kinds = [
        *(["dialog"] if events and events.dialogs else []),
        *(["popup"] if events and (events.pages or events.refused) else []),
        *(["download"] if events and events.downloads else []),
    ]
    blocked = next((each for each in trace.records if each.kind == "blocked"), None)
    if trace.navigated:
        kinds.append("navigation")
    elif _has_page_changed(trace) or (events and _closed_earlier_pages(events)):
        kinds.append("page")
    if kinds and request and request.is_ping and request.is_aside:
        request = None
    text = _join(kinds, request)
    reason = blocked.reason if blocked else _find_reason(trace, text, request, kinds)
    failed = [each.failure for each in events.downloads if each.failure] if events else []
    if failed and reason is None:
        reason = f"the download failed: {failed[0]}"
    if reason is None and events and any(each.page_id in events.closed for each in events.pages):
        reason = "the popup was closed again at once"
    if reason is None and events and events.refused:
        reason = f"{events.refused} popups above the limit of pages were closed"
    return Effect(text, reason)


def _closed_earlier_pages(events: Events) -> bool:
    return not {each.page_id for each in events.pages}.issuperset(events.closed)


def _has_page_changed(trace: ActTrace) -> bool:
    if trace.has_acted or any(each.acted for each in trace.records):
        return True
    if any(each.kind == "blocked" for each in trace.records):
        return False
    if trace.records and (trace.change == "focus" or any(each.stale for each in trace.records)):
        return False
    return trace.change in ("some", "focus")


def _find_request(trace: ActTrace) -> SentRequest | None:
    """Return the most relevant request: a failed one, or else one that is not GET, or else the first."""
    found = [
        each for each in trace.requests if not trace.navigated or each.method != "GET" or _has_failed(each)
    ]

    def rank(each: SentRequest) -> int:
        if _has_failed(each):
            return 2 if each.is_aside else 0
        return 3 if each.method == "GET" else 1

    return min(found, key=rank, default=None)


def _has_failed(sent: SentRequest) -> bool:
    return sent.status >= 400 or (
        sent.failure is not None and not _is_aborted(sent.failure) and not sent.status
    )


def _is_aborted(failure: str | None) -> bool:
    return failure is not None and any(each in failure for each in _ABORTED)


def _join(kinds: Sequence[str], request: SentRequest | None) -> str:
    """Join the names of effects and the request, within `MAX_EFFECT` characters."""
    rest = [*kinds]
    if request is None:
        return ", ".join(rest) if rest else "none"
    state = str(request.status or ("failed" if request.failure else "pending"))
    while True:
        room = MAX_EFFECT - len(", ".join(["", *rest])) - len(f"request {request.method}  {state}")
        if room >= min(MIN_PATH, len(request.path)) or not rest:
            break
        rest.pop()
    path = shorten(request.path, max(2, room))
    request_text = f"request {request.method} {path} {state}"
    before = [each for each in rest if each not in ("navigation", "page")]
    after = [each for each in rest if each not in before]
    return shorten(", ".join([*before, request_text, *after]), MAX_EFFECT)


def _find_reason(trace: ActTrace, text: str, request: SentRequest | None, kinds: Sequence[str]) -> str | None:
    failed = request if request and _has_failed(request) else None
    if request and not kinds:
        failed = failed or next((each for each in trace.requests if each.is_aside), None)
    if failed:
        result = f"answered {failed.status}" if failed.status else f"failed: {failed.failure}"
        return failed.describe(result)
    refused = next((each.reason for each in trace.records if each.kind == "refused"), None)
    if refused and request is None and kinds in ([], ["page"]):
        return refused
    partial = next((each.reason for each in trace.records if each.kind == "part"), None)
    if partial and not trace.has_acted:
        return partial
    if trace.frame_reloaded and not any(each.is_main for each in trace.records):
        return "a frame loaded its document again meanwhile, so the action may have been lost"
    late = {"page": "lost", "navigation": "nowhere"}.get(text)
    if late and (lost := next((each.reason for each in trace.records if each.kind == late), None)):
        return None if late == "nowhere" and any(each.acted for each in trace.records) else lost
    if text == "none":
        why = next((each.reason for each in trace.records if each.reason), None)
        return trace.error or why
    is_same = trace.change in ("none", "focus")
    has_records = any(each.is_main for each in trace.records)  # They belong to the current document.
    if trace.has_failed_script and is_same and (has_records or not trace.navigated):
        return trace.error
    if trace.navigated and request is not None and request.method != "GET" and is_same:
        return _SAME
    if trace.navigated and not trace.moved and is_same and has_records:
        return None if any(each.acted for each in trace.records) else _SAME
    if request is None or trace.change is None or kinds:
        return None
    if not request.status and request.failure:
        return request.describe("was cancelled before it was answered")
    if not request.status:
        return request.describe("is not answered yet")
    if request.target:
        target = shorten(request.target, MAX_PATH)
        return f"{request.describe(f'was redirected to {target}')}; {_SAME}"
    return _SAME


async def find_effect(call: ToolCall, trace: ActTrace) -> Effect:
    """Return the effect of an action. If it seems to have no effect, query the page's listeners."""
    if call.report.has_no_effect:
        return Effect("none", call.report.idle_reason or None)
    page, effect = call.maybe_page, judge(trace)
    if effect.text != "none" or page is None or page.closed:
        return effect
    try:
        async with asyncio.timeout(call.deadline.limit_reading(ASK_SECONDS)):
            return await _ask_page(call, page, trace, effect)
    except TimeoutError:
        return replace(effect, text="unknown", reason=effect.reason or "the page did not respond")


async def _ask_page(call: ToolCall, page: Page, trace: ActTrace, effect: Effect) -> Effect:
    """Return the effect of an action that seems to have no effect, after querying the page."""
    if not trace.records:  # The page may have handled the input later, as with the wheel.
        trace = replace(trace, records=take_records(page, await read_records(page)))
        effect = judge(trace)
    if effect.text == "none" and not (call.report.idle_reason and not effect.reason):
        effect = await _ask_listeners(page, trace, effect)
    if effect.text == "none" and not effect.reason and call.report.has_hovered:
        reaction = await find_hover_reaction(page)
        return Effect("page" if reaction == "appeared" else "none", _HOVER_REACTIONS.get(reaction, _SAME))
    if effect.text == "none" and trace.change == "some" and any(each.hovered for each in trace.records):
        return Effect("page", "; ".join(filter(None, (_ON_HOVER, effect.reason))))
    if effect.text == "none" and not effect.reason:
        is_same = trace.records and trace.change in ("none", "focus")
        return replace(effect, reason=call.report.idle_reason or (_SAME if is_same else None))
    return effect


def note_repeat(call: ToolCall, tool: str, arguments: Mapping[str, Any], effect: Effect) -> Effect:
    """Count repetitions of an action without effect. Return its effect, with advice from the third one on.

    A repetition has the same tool and arguments. Arguments that only affect the answer are ignored.
    """
    page = call.maybe_page
    if page is None or tool == "evaluate":  # A script often reads the same thing again.
        return effect
    if not effect.is_idle:
        page.last_act = ("", 0)
        return effect
    own = {name: value for name, value in arguments.items() if name not in _ABOUT_THE_ANSWER}
    # Only a digest is stored, because the arguments may contain typed text.
    key = sha256(json.dumps([tool, own], sort_keys=True, default=str).encode()).hexdigest()
    last, count = page.last_act
    count = count + 1 if key == last else 1
    page.last_act = (key, count)
    if count < REPEATS:
        return effect
    advice = _ADVICE.get(tool, _USUAL_ADVICE)
    return replace(effect, advice=f"done {count} times in a row without a change to the page; try {advice}")


async def _ask_listeners(page: Page, trace: ActTrace, effect: Effect) -> Effect:
    """Return the effect with the reaction of the page's listeners, unless there is another reason."""
    record = next((each for each in reversed(trace.records) if each.path), None)
    if record is None or record.path is None or (record.reason is not None and record.kind != "taken"):
        return effect
    reaction = await find_reaction(
        page,
        record.path,
        record.point,
        None if record.point else record.key,
        types=record.types,
        root=record.root,
    )
    if record.drawn and reaction not in ("disabled", "no listener", "double click", "no change"):
        return Effect("page", effect.reason)
    if reaction in ("hidden change", "closed shadow tree"):
        if await has_scrolled(page):
            return Effect("page", effect.reason)  # It scrolls smoothly, and has just begun to.
        reason = _MAYBE_OTHERS if trace.change == "some" else _REACTIONS[reaction]
        return Effect("script", effect.reason if trace.error else reason)
    if effect.reason or not reaction:
        return effect
    return Effect("none", _REACTIONS[reaction].format("clicks" if record.point else "keys"))


def take_records(page: Page, known: Sequence[ActRecord]) -> list[ActRecord]:
    """Return the records that were not returned for an earlier call, and remember them.

    If a pointer was pressed, scroll records are left out, because the scroll only brought the target into
    view.
    """
    fresh = [each for each in known if each.id not in page.reported_records]
    if any(each.by == "pointerdown" for each in fresh):
        fresh = [each for each in fresh if each.by != "scroll"]
    reported = page.reported_records if len(page.reported_records) < MAX_REPORTED else set[int]()
    page.reported_records = reported | {each.id for each in known}
    return fresh
