"""The journal, which keeps the latest calls of a server, masked, for the watch page and reports."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakValueDictionary

from footlight.browser.driver.offload import CHARACTERS_A_NODE, offload
from footlight.browser.page.refs import leading_ref
from footlight.browser.snapshot.text.quoting import shorten
from footlight.server.answers.json_values import count_work
from footlight.watch.entry import Box, Entry
from footlight.watch.report_content import collect_traffic

if TYPE_CHECKING:
    from footlight.browser.page.page import Page
    from footlight.browser.sessions.change_events import SessionChange
    from footlight.browser.sessions.session import Session
    from footlight.caller import Caller
    from footlight.server.answers.answer import Answer
    from footlight.server.tools.declaration import Tool
    from footlight.server.tools.tool_call import ToolCall
    from footlight.watch.redaction import Redactor
    from footlight.watch.report_content import SessionTraffic

__all__ = ["Journal", "PastSession", "TakePicture"]

logger = logging.getLogger(__name__)

MAX_ENTRIES = 2_000
MAX_SIZE = 16 << 20
"""The maximum number of values and characters in all entries. The oldest entries are dropped."""
MAX_PICTURE_BYTES = 32 << 20
MAX_ENDED = 200
MAX_ENDED_WHOLE = 20
"""The maximum number of ended sessions whose requests and messages are kept."""
MAX_URL = 500
MAX_TARGET = 300
MAX_TITLE = 500
MAX_PATH = 1_000
MAX_CANDIDATES = 10
CHARACTERS_PER_TOKEN = 4
"""A common estimate for English text and JSON."""

TakePicture = Callable[["Page"], Awaitable[bytes | None]]
FindBox = Callable[["Page", str], Awaitable[Box | None]]


@dataclass(frozen=True, slots=True)
class PastSession:
    """An ended session. Only the latest ones keep the requests and messages of their pages."""

    id: str
    owner: str
    reason: str
    at_ms: float
    traffic: SessionTraffic | None = None


class Journal:
    """Keeps the latest calls of all sessions, including ended ones.

    `revision` is incremented by every change, and `wait` waits for that. Functions that take time in the page
    are only called on demand: `find_box` while the session is watched, and `take_picture` after actions.
    """

    def __init__(
        self,
        redactor: Redactor,
        *,
        find_box: FindBox | None = None,
        take_picture: TakePicture | None = None,
        why_ended: Callable[[str], str | None] = lambda _: None,
        is_watched: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self.redactor = redactor
        self.revision = 0
        self.is_watched = is_watched
        self._find_box = find_box
        self._take_picture = take_picture
        self._why_ended = why_ended
        self._entries: deque[Entry] = deque()
        self._number = 0
        self._size = 0
        self._picture_bytes = 0
        self._ended: OrderedDict[str, PastSession] = OrderedDict()
        self._sessions: WeakValueDictionary[str, Session] = WeakValueDictionary()
        self._changed = asyncio.Event()

    # Called by the dispatcher

    def begin(self, tool: Tool, arguments: Mapping[str, Any], caller: Caller) -> _FollowedCall:
        entry = self._new_entry(tool.name, owner=caller.principal)
        with _log_failures(tool.name):
            entry.arguments = self.redactor.arguments(tool.name, arguments)
        self._add(entry)
        return _FollowedCall(self, entry, tool, arguments)

    def on_change(self, change: SessionChange) -> None:
        """Note that a session or a page has changed."""
        if change.kind == "closed" and change.page_id is None:
            self._note_end(change.session_id, change.owner)
            while len(self._ended) > MAX_ENDED:
                self._ended.popitem(last=False)
        elif change.kind == "opened" and change.page_id is None:
            self._ended.pop(change.session_id, None)
        self.touch()

    def _note_end(self, id: str, owner: str) -> None:
        reason = self._why_ended(id) or "ended"
        session = self._sessions.get(id)
        traffic = collect_traffic(session, self.redactor) if session else None
        self._ended[id] = PastSession(id, owner, reason, time.time() * 1000, traffic)
        whole = [each for each in self._ended.values() if each.traffic]
        for each in whole[:-MAX_ENDED_WHOLE]:
            self._ended[each.id] = replace(each, traffic=None)

    # Read by people

    def find_traffic(self, id: str) -> SessionTraffic | None:
        """Return the requests and messages of a session that is open or has ended, if they are known."""
        session, ended = self._sessions.get(id), self._ended.get(id)
        if ended is not None:
            return ended.traffic
        return collect_traffic(session, self.redactor) if session else None

    def entries(self, *, session_id: str | None = None, after: int = 0) -> list[Entry]:
        """Return the calls that have changed after a revision, oldest first."""
        return [
            entry
            for entry in self._entries
            if entry.revision > after and (session_id is None or entry.session_id == session_id)
        ]

    def list_ended(self) -> Sequence[PastSession]:
        """Return the remembered ended sessions, oldest first."""
        return [*self._ended.values()]

    def find_ended(self, session_id: str) -> PastSession | None:
        return self._ended.get(session_id)

    async def wait(self, after: int, seconds: float) -> None:
        """Wait until `revision` is greater than `after`, or the time limit has passed."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self.revision <= after:
                    self._changed.clear()
                    await self._changed.wait()

    def touch(self) -> None:
        """Increment the revision and wake all waiters."""
        self.revision += 1
        self._changed.set()

    # Steps of a person

    def note_step(
        self,
        session: Session,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        target: str = "",
        page: Page | None = None,
    ) -> None:
        """Record a step of a person in a session. The arguments must not contain typed text."""
        entry = self._new_entry(tool, owner=session.owner)
        entry.source = "person"
        entry.arguments = self.redactor.data(dict(arguments))
        entry.target = self.redactor.text(target, MAX_TARGET) if target else ""
        entry.session_id, entry.outcome, entry.duration_ms = session.id, "ok", 0
        if page is not None:
            entry.page_id, entry.url = page.id, self.redactor.text(shorten(page.url, MAX_URL))
        self._add(entry)

    # Storage

    def remember(self, session: Session) -> None:
        """Remember a session for its report."""
        self._sessions[session.id] = session

    def _new_entry(self, tool: str, *, owner: str) -> Entry:
        self._number += 1
        return Entry(number=self._number, tool=tool, arguments={}, at_ms=time.time() * 1000, owner=owner)

    def _add(self, entry: Entry) -> None:
        self._entries.append(entry)
        self.update(entry)

    def update(self, entry: Entry) -> None:
        """Mark an entry as changed and wake all waiters."""
        self.touch()
        entry.revision = self.revision
        if self._has(entry):
            self._size -= entry.size
            entry.size = _count_size(entry)
            self._size += entry.size
        while len(self._entries) > MAX_ENTRIES or self._size > MAX_SIZE:
            oldest = self._entries.popleft()
            self._size -= oldest.size
            self._forget_picture(oldest)

    def _has(self, entry: Entry) -> bool:
        """Return whether an entry, whose call may have run for long, has not been dropped."""
        return bool(self._entries) and entry.number >= self._entries[0].number

    def keep_picture(self, entry: Entry, picture: bytes) -> None:
        """Store a picture of the page after a call. The oldest pictures are dropped if there are too many."""
        if not self._has(entry):
            return
        entry.picture = picture
        self._picture_bytes += len(picture)
        for old in self._entries:
            if self._picture_bytes <= MAX_PICTURE_BYTES:
                break
            self._forget_picture(old)

    def _forget_picture(self, entry: Entry) -> None:
        if entry.picture is not None:
            self._picture_bytes -= len(entry.picture)
            entry.picture = None

    async def find_box(self, page: Page, selector: str) -> Box | None:
        return await self._find_box(page, selector) if self._find_box else None

    async def take_picture(self, page: Page) -> bytes | None:
        return await self._take_picture(page) if self._take_picture else None


class _FollowedCall:
    """Writes the entry of one call. Errors are logged and do not affect the call."""

    def __init__(self, journal: Journal, entry: Entry, tool: Tool, arguments: Mapping[str, Any]) -> None:
        self._journal = journal
        self._entry = entry
        self._tool = tool
        self._arguments = arguments

    def wait_for(self, session: Session) -> None:
        self._entry.session_id, self._entry.owner = session.id, session.owner
        self._journal.remember(session)
        self._journal.update(self._entry)

    async def before(self, call: ToolCall) -> None:
        with _log_failures(self._tool.name):
            journal, entry, session = self._journal, self._entry, call.session
            page = call.maybe_page
            selector = self._arguments.get("selector")
            if page is not None:
                entry.page_id = page.id
            field = _describe_target(page, selector) if isinstance(selector, str) else None
            name, arguments, redactor = self._tool.name, self._arguments, journal.redactor
            secrets = await offload(
                count_work(arguments, characters=CHARACTERS_A_NODE),
                lambda: redactor.find_secrets(name, arguments, field=field),
            )
            redactor.remember(secrets)
            if page is not None and isinstance(selector, str) and journal.is_watched(session.id):
                entry.box = await journal.find_box(page, selector)
            journal.update(entry)

    async def after(self, call: ToolCall) -> None:
        with _log_failures(self._tool.name):
            page = call.maybe_page
            if page is None or page.closed:
                return
            self._entry.url = self._journal.redactor.text(shorten(page.url, MAX_URL))
            if self._tool.effect == "act" and (picture := await self._journal.take_picture(page)):
                self._journal.keep_picture(self._entry, picture)

    def end(self, answer: Answer | None, outcome: str, session: Session | None) -> None:
        entry, journal = self._entry, self._journal
        entry.duration_ms = round(time.time() * 1000 - entry.at_ms)
        entry.outcome = outcome
        with _log_failures(self._tool.name):
            if session is not None:
                entry.session_id, entry.owner = session.id, session.owner
            if answer is not None:
                self._note_answer(answer)
                entry.trace = _find_trace(self._tool, answer, session)
        journal.update(entry)

    def _note_answer(self, answer: Answer) -> None:
        entry, redactor = self._entry, self._journal.redactor
        entry.session_id = entry.session_id or answer.session_id
        written = len(answer.text) + sum(len(text) for text in answer.page_texts)
        entry.tokens = -(-written // CHARACTERS_PER_TOKEN)
        observation: Mapping[str, Any] = answer.content.get("observation") or {}
        entry.change = str(observation.get("kind") or "")
        entry.changes = redactor.lines(str(observation.get("text") or ""))
        entry.title = redactor.text(str(observation.get("title") or ""), MAX_TITLE)
        if answer.locator is not None:
            entry.target = redactor.text(_locator_text(answer.locator), MAX_TARGET)
        console = [str(each) for each in observation.get("console") or ()]
        error: dict[str, Any] | None = None
        if answer.success:
            data = cast("Mapping[str, Any]", answer.content.get("data") or {})
            entry.files = [redactor.text(data["path"], MAX_PATH)] if isinstance(data.get("path"), str) else []
            events = dict(answer.events)
        else:
            given = cast("Mapping[str, Any]", answer.content["error"])
            details = cast("Mapping[str, Any]", given.get("details") or {})
            names = ("newPages", "closedPages", "dialogs", "downloads")
            events = {name: details[name] for name in names if name in details}
            error = {
                "code": given["code"],
                "message": str(given["message"]),
                "suggestion": str(given.get("suggestion") or ""),
                "candidates": _candidates(details),
            }
        masked = redactor.data({"events": events, "console": console, "error": error})
        entry.events, entry.console, entry.error = masked["events"], masked["console"], masked["error"]


def _count_size(entry: Entry) -> int:
    values = (entry.arguments, entry.target, entry.url, entry.changes, entry.title, entry.console)
    return count_work((*values, entry.events, entry.files, entry.error), characters=1, most=MAX_SIZE)


def _find_trace(tool: Tool, answer: Answer, session: Session | None) -> Path | None:
    """Return the trace that a call has written to the output folder of the session, or None."""
    if tool.name != "trace" or session is None or not answer.success:
        return None
    data = cast("Mapping[str, Any]", answer.content.get("data") or {})
    if not isinstance(data.get("path"), str) or "bytes" not in data:
        return None  # The recording has begun, but not ended.
    path = Path(data["path"])
    return path if path.is_relative_to(session.output.path.resolve()) else None


def _candidates(details: Mapping[str, Any]) -> list[str]:
    """Return the candidate elements that an error names."""
    found: list[str] = []
    for name in ("candidates", "closest"):
        for each in cast("Sequence[object]", details.get(name) or ()):
            found.append(each if isinstance(each, str) else str(each))
    return found[:MAX_CANDIDATES]


def _locator_text(locator: Any) -> str:
    if isinstance(locator, str):
        return locator
    if isinstance(locator, Mapping):
        return ", ".join(str(each) for each in cast("Mapping[str, Any]", locator).values())
    if isinstance(locator, list):
        return ", ".join(_locator_text(each) for each in cast("list[Any]", locator) if each)
    return ""


def _describe_target(page: Page | None, selector: str) -> str | None:
    """Return all names of the target element from the last snapshot, or None if the element is unknown."""
    ref = leading_ref(selector)
    if ref is None:
        return selector if selector.startswith("testid=") else None
    seen = page.view.last_reported if page is not None else None
    node = next((node for node in seen.nodes if node.ref == ref[0]), None) if seen else None
    if node is None:
        return None
    states = " ".join(node.states)
    return " ".join((node.known_name, node.testid, node.description, node.placeholder, states, ref[1]))


@contextlib.contextmanager
def _log_failures(tool: str) -> Generator[None]:
    try:
        yield
    except Exception:
        logger.exception("a call of %s could not be recorded in the journal", tool)
