"""The facts about a completed action, and the effect that follows from them: `judge` derives it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from footlight.browser.snapshot.text.quoting import shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from footlight.browser.network.request_log import LogEntry
    from footlight.browser.page.events import Events
    from footlight.browser.page.settling import ActRecord
    from footlight.browser.snapshot.observation import Change

__all__ = [
    "SAME",
    "SENT_BY_SCRIPTS",
    "ActTrace",
    "Effect",
    "SentRequest",
    "judge",
    "split_address",
]

MAX_EFFECT = 40
"""The maximum length of an effect in characters."""
MAX_REASON = 200
MAX_MASKED = 10_000
"""The maximum length of a text that is masked. Longer texts are cut first."""
MAX_PATH = 60
"""The maximum length of a path in a reason."""
MIN_PATH = 8
"""The minimum length of a path in an effect. Other parts are removed to make room for it."""

SENT_BY_SCRIPTS = frozenset({"document", "xhr", "fetch", "ping", "beacon"})
"""The types of requests that are effects. Requests for images, styles and scripts are consequences."""
_ABORTED = ("ERR_ABORTED", "NS_BINDING_ABORTED", "cancelled", "canceled")
SAME = "the page shows the same as before"


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
    """The page does not receive the response."""
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
    """The URL of the page has changed."""
    has_acted: bool = False
    """The tool has reported that it changed the page."""
    frame_reloaded: bool = False
    change: Change | None = None
    records: Sequence[ActRecord] = ()
    error: str | None = None
    """An error in the console of the page, as a reason."""
    has_failed_script: bool = False
    """The error is an uncaught exception of a script."""

    def may_be_chance(self) -> bool:
        """Return whether the page may have changed at the time of the action without being changed by it."""
        acted = [each for each in self.records if each.acted]
        is_known = self.has_acted or any(each.hovered for each in acted)
        has_closed = self.events is not None and self.events.closed
        return bool(acted) and all(each.later for each in acted) and not (is_known or has_closed)

    def find_reason(self, kind: str | None = None) -> str | None:
        """Return the reason in the first record of this kind, or of any kind."""
        found = (each.reason for each in self.records if each.reason and kind in (None, each.kind))
        return next(found, None)


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
    """Return why an action with this effect did not do what it was for, if the trace contains that."""
    return next(filter(None, _find_reasons(trace, text, request, kinds)), None)


def _find_reasons(
    trace: ActTrace, text: str, request: SentRequest | None, kinds: Sequence[str]
) -> Iterator[str | None]:
    """Yield the reasons, the most relevant first."""
    yield _describe_failure(trace, request, kinds)
    if request is None and kinds in ([], ["page"]):
        yield trace.find_reason("refused")
    if not trace.has_acted:
        yield trace.find_reason("part")
    has_records = any(each.is_main for each in trace.records)  # They belong to the current document.
    if trace.frame_reloaded and not has_records:
        yield "a frame loaded its document again meanwhile, so the action may have been lost"
    if text == "none":
        yield trace.error
        yield trace.find_reason()
        return
    has_acted = any(each.acted for each in trace.records)
    if text == "page":
        yield trace.find_reason("lost")
    if text == "navigation" and not has_acted:
        yield trace.find_reason("nowhere")
    if trace.change in ("none", "focus"):
        if trace.has_failed_script and (has_records or not trace.navigated):
            yield trace.error
        if trace.navigated and request is not None and request.method != "GET":
            yield SAME
        if trace.navigated and not trace.moved and has_records and not has_acted:
            yield SAME
    if request is not None and trace.change is not None and not kinds:
        yield _describe_unseen(request)


def _describe_failure(trace: ActTrace, request: SentRequest | None, kinds: Sequence[str]) -> str | None:
    """Return how the request of the effect failed, or another one if the request is the only effect."""
    failed = request if request and _has_failed(request) else None
    if request and not kinds:
        failed = failed or next((each for each in trace.requests if each.is_aside), None)
    if failed is None:
        return None
    return failed.describe(f"answered {failed.status}" if failed.status else f"failed: {failed.failure}")


def _describe_unseen(request: SentRequest) -> str:
    """Return what happened to a request after which the page shows the same as before."""
    if not request.status:
        is_cancelled = bool(request.failure)
        return request.describe(
            "was cancelled before it was answered" if is_cancelled else "is not answered yet"
        )
    if request.target:
        return f"{request.describe(f'was redirected to {shorten(request.target, MAX_PATH)}')}; {SAME}"
    return SAME
