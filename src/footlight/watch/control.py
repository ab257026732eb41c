"""Let a person take over a session and act in the live picture. The journal records each step."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from footlight.browser.actions import mouse
from footlight.browser.actions.dialogs import answer_dialog
from footlight.browser.actions.mouse import Point
from footlight.browser.driver.deadline import Deadline
from footlight.browser.driver.playwright_api import Error
from footlight.browser.page.page_operations import limit_reading
from footlight.browser.page.region_capture import look_at
from footlight.browser.snapshot.locators import stable_locator
from footlight.browser.snapshot.nodes import Node
from footlight.errors import FootlightError, HumanInControlError, InvalidParameterError

if TYPE_CHECKING:
    from footlight.browser.page.page import Page
    from footlight.browser.sessions.session import Session
    from footlight.watch.journal import Journal

__all__ = ["Control"]

logger = logging.getLogger(__name__)

TAKE_SECONDS = 10.0
"""The time limit for the running call to end before a person takes over."""
ABSENT_SECONDS = 20.0
"""The time without a request from a person's watch page after which the session is handed back."""
CHECK_SECONDS = 1.0
INPUT_MS = 10_000
LOOK_MS = 1_500
MAX_EVENTS = 50
MAX_TEXT = 2_000
MAX_KEYS = 100
MAX_KEY = 30
MAX_NOTE = 2_000
MODIFIERS = ("Alt", "Control", "Meta", "Shift")


@dataclass(eq=False, slots=True)
class _Person:
    """A watcher who controls a session, and when the watcher was last heard of."""

    session: Session
    watcher: str
    heard_at: float
    acting: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while events are replayed."""


class Control:
    """Manages the sessions that people control, and their input. One person at a time controls a session."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._persons: dict[str, _Person] = {}
        """The persons who control sessions, by session id."""
        self._checking: asyncio.Task[None] | None = None
        self._typed: dict[str, int] = {}

    def has(self, session: Session, watcher: str) -> bool:
        return self._find(session, watcher) is not None and session.takeover.is_active

    def _find(self, session: Session, watcher: str) -> _Person | None:
        found = self._persons.get(session.id)
        return found if found is not None and found.session is session and found.watcher == watcher else None

    def find_person(self, session: Session) -> str:
        """Return the watcher that controls the session, or ""."""
        found = self._persons.get(session.id)
        return found.watcher if found and self.has(session, found.watcher) else ""

    def note_watcher(self, watcher: str, *, seconds_ago: float = 0.0) -> None:
        """Note that a watcher is present, or was present `seconds_ago`."""
        heard_at = time.monotonic() - seconds_ago
        for person in self._persons.values():
            if person.watcher == watcher:
                person.heard_at = max(heard_at, person.heard_at)

    async def take(self, session: Session, watcher: str) -> str | None:
        """Give a watcher control of a session. Return None, or the reason if that is not possible."""
        if session.takeover.is_active:
            return None if self.has(session, watcher) else "Another person controls the session."
        self._persons.pop(session.id, None)
        if not await session.takeover.begin(timeout_s=TAKE_SECONDS):
            return f"A call has been running for {TAKE_SECONDS:.0f} seconds. Try again when it is over."
        if session.id in self._persons:  # Another person waited for the same call.
            return None if self.has(session, watcher) else "Another person controls the session."
        self._persons[session.id] = _Person(session, watcher, time.monotonic())
        self._journal.note_step(session, "take_over", {}, page=session.page_table.current)
        if self._checking is None or self._checking.done():
            self._checking = asyncio.create_task(self._release_absent())
        return None

    async def give_back(self, session: Session, watcher: str, note: str = "") -> None:
        """Hand a session back to its calls, if this watcher controls it."""
        if (person := self._find(session, watcher)) is not None:
            await self._release(person, note[:MAX_NOTE])

    async def act(self, session: Session, watcher: str, events: Sequence[Any]) -> None:
        """Replay the input events of a person in the page, in order.

        Raises:
            HumanInControlError: This watcher does not control the session, or has handed it back before the
                last event.
            InvalidParameterError: An event is not valid.
            FootlightError: The page does not answer.
        """
        person = self._get(session, watcher)
        self.note_watcher(watcher)
        session.touch()
        async with person.acting:
            page = None
            for event in events[:MAX_EVENTS]:
                if self._get(session, watcher) is not person:
                    raise HumanInControlError("The session was handed back before this input.")
                if not isinstance(event, Mapping):
                    raise _input_error("each event must be an object with a type")
                page = page or await session.page_table.get()
                await self._act(session, page, cast("Mapping[str, Any]", event))

    def _get(self, session: Session, watcher: str) -> _Person:
        person = self._find(session, watcher)
        if person is None or not session.takeover.is_active:
            raise HumanInControlError("Take over the session first.")
        return person

    async def close(self) -> None:
        persons = [*self._persons.values()]
        self._persons.clear()
        for person in persons:
            self._hand_back(person, "")
        if self._checking is not None:
            self._checking.cancel()

    async def _release_absent(self) -> None:
        """Hand back the sessions of people who have left the watch page."""
        while self._persons:
            await asyncio.sleep(CHECK_SECONDS)
            for person in [*self._persons.values()]:
                session, absent = person.session, time.monotonic() - person.heard_at > ABSENT_SECONDS
                if absent or session.has_ended or not session.takeover.is_active:
                    await self._release(person, "")

    async def _release(self, person: _Person, note: str) -> None:
        """Hand back a session when the event that is being replayed is over. Later ones are refused."""
        if self._persons.get(person.session.id) is not person:
            return
        del self._persons[person.session.id]
        try:
            async with person.acting:
                pass
        finally:
            self._hand_back(person, note)

    def _hand_back(self, person: _Person, note: str) -> None:
        session = person.session
        self._flush_typed(session)
        if session.takeover.is_active:
            session.takeover.end(note)
        self._journal.note_step(session, "hand_back", {"note": note} if note else {})

    async def _act(self, session: Session, page: Page, event: Mapping[str, Any]) -> None:
        deadline = Deadline.after(INPUT_MS)
        text = _find_typed_text(event)
        if text is not None:
            await self._type(session, page, text, deadline)
            return
        self._flush_typed(session)
        match event.get("type"):
            case "key":
                await self._press_key(session, page, _key(event), deadline)
            case "click":
                await self._click(session, page, event, deadline)
            case "wheel":
                await mouse.wheel(page, _point(event), _number(event, "dx"), _number(event, "dy"), deadline)
            case "dialog":
                await self._answer_dialog(session, page, accept=event.get("accept") is True)
            case "back":
                self._note(session, page, "go_back", {})
                await page.playwright.go_back(timeout=INPUT_MS, wait_until="commit")
            case "reload":
                self._note(session, page, "reload", {})
                await page.playwright.reload(timeout=INPUT_MS, wait_until="commit")
            case _:
                raise _input_error("type must be text, key, click, wheel, dialog, back or reload")

    async def _press_key(self, session: Session, page: Page, key: str, deadline: Deadline) -> None:
        self._note(session, page, "press", {"key": key})
        async with limit_reading(page, deadline):
            await page.act_through_dialog(page.playwright.keyboard.press(key))

    async def _answer_dialog(self, session: Session, page: Page, *, accept: bool) -> None:
        self._note(session, page, "handle_dialog", {"accept": accept})
        dialog = session.dialogs.get(None)
        await answer_dialog(await session.page_table.get(dialog.page_id), dialog, accept=accept)

    async def _type(self, session: Session, page: Page, text: str, deadline: Deadline) -> None:
        """Type a text key by key, because some fields, such as those for codes, require it.

        A long text is inserted as if it was pasted.
        """
        keyboard = page.playwright.keyboard
        self._typed[session.id] = self._typed.get(session.id, 0) + len(text)
        async with limit_reading(page, deadline):
            await (keyboard.type(text) if len(text) <= MAX_KEYS else keyboard.insert_text(text))

    async def _click(
        self, session: Session, page: Page, event: Mapping[str, Any], deadline: Deadline
    ) -> None:
        at, button, count = _point(event), event.get("button", "left"), event.get("count", 1)
        if type(count) is not int or button not in ("left", "middle", "right") or count not in (1, 2, 3):
            raise _input_error("button must be left, middle or right, and count 1, 2 or 3")
        node, target = await _find_at(page, at)
        name = f"{node.role} {node.name}".strip() if node is not None else ""
        arguments: dict[str, Any] = {"element": name} if name else {"x": round(at.x), "y": round(at.y)}
        if button != "left":
            arguments["button"] = button
        if count != 1:
            arguments["clickCount"] = count
        self._note(session, page, "click", arguments, target)
        await mouse.click(page, at, deadline, button=button, count=count)

    def _note(
        self, session: Session, page: Page, tool: str, arguments: Mapping[str, Any], target: str = ""
    ) -> None:
        self._journal.note_step(session, tool, arguments, target=target, page=page)

    def _flush_typed(self, session: Session) -> None:
        """Record that a person has typed, but never the text, because it may be secret."""
        if self._typed.pop(session.id, 0):
            page = session.page_table.current
            self._journal.note_step(session, "type", {"text": "[typed by a person]"}, page=page)


async def _find_at(page: Page, at: Point) -> tuple[Node | None, str]:
    """Return the innermost element at a point, and a locator for it that also works in other runs."""
    with contextlib.suppress(FootlightError, Error, TimeoutError):
        async with asyncio.timeout(LOOK_MS / 1000):
            snapshot = await look_at(page, Deadline.after(LOOK_MS), boxes=True)
            inside = [node for node in snapshot.nodes if node.ref and _contains(node, at)]
            node = min(inside, key=_area, default=None)
            if node is not None and node.ref is not None:
                return node, stable_locator(snapshot.nodes, node.ref) or ""
    return None, ""


def _contains(node: Node, at: Point) -> bool:
    box = node.box
    return box is not None and box.x <= at.x < box.x + box.width and box.y <= at.y < box.y + box.height


def _area(node: Node) -> float:
    return node.box.width * node.box.height if node.box else 0.0


def _find_typed_text(event: Mapping[str, Any]) -> str | None:
    """Return the text that the event types, including that of a single key, or None for other events."""
    match event.get("type"):
        case "text":
            text = event.get("text")
            if not isinstance(text, str) or len(text) > MAX_TEXT:
                raise _input_error(f"text must be a string of at most {MAX_TEXT} characters")
            return text
        case "key" if len(key := _key(event)) == 1:
            return key
        case _:
            return None


def _point(event: Mapping[str, Any]) -> Point:
    return Point(_number(event, "x"), _number(event, "y"))


def _number(event: Mapping[str, Any], name: str) -> float:
    value = event.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e5:
        raise _input_error(f"{name} must be a number between -100000 and 100000")
    return float(value)


def _key(event: Mapping[str, Any]) -> str:
    key, modifiers = event.get("key"), cast("object", event.get("modifiers", []))
    if not isinstance(key, str) or not 0 < len(key) <= MAX_KEY:
        raise _input_error(f"key must be the name of a key, with at most {MAX_KEY} characters")
    if not isinstance(modifiers, list) or any(each not in MODIFIERS for each in cast("list[Any]", modifiers)):
        raise _input_error(f"modifiers must be a list of {', '.join(MODIFIERS)}")
    return "+".join((*cast("list[str]", modifiers), key))


def _input_error(problem: str) -> InvalidParameterError:
    return InvalidParameterError(f"events: {problem}", parameter="events")
