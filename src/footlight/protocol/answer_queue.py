"""The answers that wait to be sent to a server, as those to its pings do."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from footlight.protocol.messages import Message

__all__ = ["MOST_ANSWERS", "MOST_SENDERS", "AnswerQueue"]

logger = logging.getLogger(__name__)

MOST_ANSWERS = 10_000
"""A server that asks for more does not read its answers."""
MOST_SENDERS = 4
"""Tasks that send. One for each answer would hold up the event loop when many are asked for at once."""
ANSWERS_IN_A_TURN = 20


class AnswerQueue:
    """`send` sends one answer and does not fail, and `start` starts a task."""

    def __init__(
        self,
        send: Callable[[Message], Awaitable[None]],
        start: Callable[[Coroutine[Any, Any, None]], object],
    ) -> None:
        self._send = send
        self._start = start
        self._answers: deque[Message] = deque()
        self._senders = 0

    def add(self, answer: Message) -> None:
        """Send an answer as soon as the ones before it are sent. Beyond `MOST_ANSWERS` it is dropped."""
        if len(self._answers) >= MOST_ANSWERS:
            logger.debug("dropped an answer, as %d are not sent yet", MOST_ANSWERS)
            return
        self._answers.append(answer)
        if self._senders < MOST_SENDERS:
            self._senders += 1
            self._start(self._send_all())

    async def _send_all(self) -> None:
        sent = 0
        try:
            while self._answers:
                await self._send(self._answers.popleft())
                sent += 1
                if sent % ANSWERS_IN_A_TURN == 0:
                    await asyncio.sleep(0)
        finally:
            self._senders -= 1
