"""Ask the user of a client with `elicitation/create`.

The client opens a URL for the user if it supports that, or else shows a form whose message contains the URL.
In revisions with a handshake, the server sends the request while the call runs. In stateless revisions, in
which servers send no requests, the call ends with the question, and the client repeats it with the reply.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

from footlight.protocol.untrusted_json import object_or_none, text
from footlight.protocol.versions import HANDSHAKE_VERSIONS, is_stateless
from footlight.server.help import HelpReply, InputRequired, Ticket, TicketOffice
from footlight.server.requests import ClientRequestError, Request

__all__ = ["RequestElicitation", "find_elicitation"]

logger = logging.getLogger(__name__)

METHOD = "elicitation/create"
COMPLETE = "notifications/elicitation/complete"
KEY = "help"
"""The key of the question in a result that requests input."""
MAX_NOTE = 2_000
COMPLETE_SECONDS = 1.0

Mode = Literal["url", "form"]


def find_elicitation(request: Request, tickets: TicketOffice | None) -> RequestElicitation | None:
    """Return the elicitation for a request, or None if its client does not support it."""
    mode = _find_mode(request)
    if mode is None or tickets is None:
        return None
    if request.send_request is None and not is_stateless(request.version):
        return None
    return RequestElicitation(request, tickets, mode)


def _find_mode(request: Request) -> Mode | None:
    """Return the mode of the question, or None. A client that declares no mode supports only forms."""
    declared = object_or_none(request.client_capabilities.get("elicitation"))
    if declared is None:
        return None
    has_urls = is_stateless(request.version) or request.version == HANDSHAKE_VERSIONS[-1]
    if has_urls and "url" in declared:
        return "url"
    return "form" if "form" in declared or not declared else None


@dataclass(frozen=True, slots=True)
class RequestElicitation:
    """Asks the user of the client of one request."""

    request: Request
    tickets: TicketOffice
    mode: Mode

    @contextlib.asynccontextmanager
    async def invite(
        self, session_id: str, *, hand_backs: int, expires: float
    ) -> AsyncGenerator[_Invitation]:
        """Yield an invitation with a ticket. A repeated call reuses the ticket of its question."""
        ticket = self._find_ticket(session_id) or self.tickets.open(
            session_id, owner=self.request.caller.principal, hand_backs=hand_backs, expires=expires
        )
        is_repeated = False
        try:
            yield _Invitation(self.request, self.mode, ticket, expires)
        except InputRequired:
            is_repeated = True  # The repeated call reuses the ticket.
            raise
        finally:
            if ticket is not None and not is_repeated:
                self.tickets.close(ticket)

    def _find_ticket(self, session_id: str) -> Ticket | None:
        state = self.request.params.get("requestState")
        ticket = self.tickets.find(state) if isinstance(state, str) else None
        return ticket if ticket is not None and ticket.session_id == session_id else None


class _Invitation:
    def __init__(self, request: Request, mode: Mode, ticket: Ticket | None, expires: float) -> None:
        self._request = request
        self._mode: Mode = mode
        self._ticket = ticket
        self._accepted = False
        self.expires = min(expires, ticket.expires) if ticket else expires
        self.hand_backs = ticket.hand_backs if ticket else 0

    async def ask(self, reason: str) -> HelpReply | None:
        ticket = self._ticket
        if ticket is None:
            return None
        params = self._params(reason, ticket)
        if not is_stateless(self._request.version):
            return await self._send(params)
        reply = object_or_none(self._request.object("inputResponses").get(KEY))
        if reply is None or self._request.params.get("requestState") != ticket.token:
            raise InputRequired({KEY: {"method": METHOD, "params": params}}, ticket.token)
        return self._read(reply)

    async def complete(self) -> None:
        """Notify the client that the user is done. Only one revision has this notification."""
        if self._accepted and self._mode == "url" and not is_stateless(self._request.version):
            assert self._ticket is not None
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(COMPLETE_SECONDS):
                    await self._request.notify(COMPLETE, {"elicitationId": self._ticket.id})

    def _params(self, reason: str, ticket: Ticket) -> dict[str, Any]:
        request = f"The agent asks for a person: {reason}"
        if self._mode == "url":
            id = {} if is_stateless(self._request.version) else {"elicitationId": ticket.id}
            steps = "Take over the session on this page, and hand it back when you are done."
            return {"mode": "url", "message": f"{request}\n{steps}", "url": ticket.url, **id}
        mode = {"mode": "form"} if self._request.version not in HANDSHAKE_VERSIONS[:-1] else {}
        steps = (
            f"Open {ticket.url} and take over the session. When you are done, hand it back or send this form."
        )
        note = {"type": "string", "title": "Note for the agent", "maxLength": MAX_NOTE}
        schema = {"type": "object", "properties": {"note": note}}
        return {**mode, "message": f"{request}\n{steps}", "requestedSchema": schema}

    async def _send(self, params: Mapping[str, Any]) -> HelpReply | None:
        send = cast("Callable[[str, Mapping[str, Any]], Awaitable[Any]]", self._request.send_request)
        try:
            answer = object_or_none(await send(METHOD, params))
        except ClientRequestError as error:
            logger.warning("the client did not ask its person: %s", error)
            return None
        return None if answer is None else self._read(answer)

    def _read(self, answer: Mapping[str, Any]) -> HelpReply | None:
        action = answer.get("action")
        if action == "accept":
            self._accepted = True
            content = object_or_none(answer.get("content")) or {}
            is_form = self._mode == "form"
            return HelpReply("accept", is_done=is_form, note=(text(content.get("note")) or "")[:MAX_NOTE])
        if action == "decline" or action == "cancel":
            return HelpReply(action)
        logger.warning("the client answered the question with the unknown action %.40r", action)
        return None
