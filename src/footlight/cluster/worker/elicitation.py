"""Ask the person behind a client. The connection to the client is in the server that sent the call."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

from footlight.cluster.worker.messages import HelpInvitation, HelpMessage, HelpQuestion
from footlight.server.help import HelpReply, InputRequired

__all__ = ["RemoteElicitation"]


class RemoteElicitation:
    """Sends the questions of one call to its server. `answer` takes the replies, in their order."""

    def __init__(self, send: Callable[[HelpMessage], None]) -> None:
        self._send = send
        self._replies: asyncio.Queue[Any] = asyncio.Queue()

    def answer(self, reply: Any) -> None:
        self._replies.put_nowait(reply)

    @asynccontextmanager
    async def invite(
        self, session_id: str, *, hand_backs: int, expires: float
    ) -> AsyncGenerator[_RemoteInvitation]:
        seconds = expires - time.monotonic()
        self._send(HelpInvitation(session_id, hand_backs, seconds))
        async with asyncio.timeout(seconds):  # The server may have ended.
            terms = await self._replies.get()
        yield _RemoteInvitation(self._send, self._replies, time.monotonic() + terms.seconds, terms.hand_backs)


class _RemoteInvitation:
    def __init__(
        self,
        send: Callable[[HelpMessage], None],
        replies: asyncio.Queue[Any],
        expires: float,
        hand_backs: int,
    ) -> None:
        self._send = send
        self._replies = replies
        self.expires = expires
        self.hand_backs = hand_backs

    async def ask(self, reason: str) -> HelpReply | None:
        self._send(HelpQuestion(reason))
        try:
            reply = await self._replies.get()
        except asyncio.CancelledError:
            self._send("withdrawn")
            raise
        if reply == "input required":
            raise InputRequired({}, "")  # The server knows the questions and the state.
        return reply

    async def complete(self) -> None:
        self._send("complete")
