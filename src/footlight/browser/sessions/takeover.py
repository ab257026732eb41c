"""The takeover of a session: either calls control it, one at a time, or a person does."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from footlight.errors import HumanInControlError

__all__ = ["HelpRequest", "Takeover"]

PERSON_STAGE = "a person controls the session"


@dataclass(eq=False, slots=True)
class HelpRequest:
    """An agent's request for help from a person, who uses the lock of the waiting call until it is done."""

    reason: str
    done: asyncio.Event = field(default_factory=asyncio.Event)
    note: str = ""
    """The person's note for the agent."""


class Takeover:
    """Hands the lock of a session over to a person and back.

    A person waits for the running call and then holds the lock, so that all other calls wait. If a call has
    asked for help, the person uses the lock of that call, which continues when the person is done.
    """

    def __init__(self, session_id: str, lock: asyncio.Lock) -> None:
        self._session_id = session_id
        self._lock = lock
        self._has_lock = False
        self.is_active = False
        self.help: HelpRequest | None = None
        self.hand_backs = 0
        """How many times a person has handed the session back."""
        self.last_note = ""
        """The note of the last hand-back."""
        self._help_asked = asyncio.Event()

    @property
    def stage(self) -> str:
        """The progress message for a call that waits for the lock."""
        return PERSON_STAGE if self.is_active else "waiting for the session"

    def check(self) -> None:
        """Check that a call may continue without waiting for the lock.

        Raises:
            HumanInControlError: a person controls the session.
        """
        if self.is_active:
            raise self.refusal()

    def refusal(self) -> HumanInControlError:
        return HumanInControlError(
            f'A person has taken over session "{self._session_id}"', sessionId=self._session_id
        )

    async def begin(self, *, timeout_s: float) -> bool:
        """Hand the session over to a person.

        Return False if a call keeps it for longer than the time limit.
        """
        if self.is_active:
            return True
        if self.help is None and not await self._wait_for_lock(timeout_s):
            return False
        self.is_active = True
        return True

    async def _wait_for_lock(self, timeout_s: float) -> bool:
        """Take the lock, unless a call asks for help first. Return False if neither happens in time."""
        locking = asyncio.create_task(self._lock.acquire())
        helping = asyncio.create_task(self._help_asked.wait())
        try:
            await asyncio.wait((locking, helping), timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
        finally:
            helping.cancel()
            locking.cancel()
            await asyncio.wait((locking,))
            has_lock = not locking.cancelled() and locking.exception() is None
            if has_lock and (self.is_active or self.help is not None):
                self._lock.release()  # Another person was faster, or a call asks for help and lends the lock.
                has_lock = False
        self._has_lock = self._has_lock or has_lock
        return has_lock or self.is_active or self.help is not None

    def end(self, note: str = "") -> None:
        """Hand the session back to the calls."""
        if self.is_active:
            self.hand_backs += 1
            self.last_note = note
        self.is_active = False
        if self._has_lock:
            self._has_lock = False
            self._lock.release()
        if self.help is not None:
            self.help.note = note
            self.help.done.set()

    async def ask_for_help(self, reason: str) -> str:
        """Wait until a person has taken over and handed the session back, and return their note.

        The calling code holds the lock, so there is only one request at a time.
        """
        request = self.help = HelpRequest(reason)
        self._help_asked.set()
        try:
            await request.done.wait()
            return request.note
        finally:
            self.help = None
            self._help_asked.clear()
            if not self._has_lock:
                self.is_active = False
