"""Show a session to a person, and ask a person to act in its page and hand it back."""

import asyncio
from typing import TYPE_CHECKING, Annotated, Any, NotRequired, cast

from pydantic import Field
from typing_extensions import TypedDict

from footlight.errors import DeadlineExceededError, HelpRefusedError, PermissionDeniedError
from footlight.server.answers.answer import Image
from footlight.server.tools import ToolCall, tool
from footlight.toolsets.browser.parameters import ActionResult, action_result

if TYPE_CHECKING:
    from footlight.server.help import HelpReply, Invitation

__all__ = []

HELP_TIMEOUT_MS = 600_000


class HelpResult(ActionResult):
    """`note` is what the person wrote for the agent."""

    note: NotRequired[str]


class LiveViewResult(TypedDict):
    """`frame` and `revision` are what the next call passes as `afterFrame` and `afterCall`."""

    session: dict[str, Any]
    calls: list[dict[str, Any]]
    frame: int
    revision: int


@tool(effect="act", group="handover", default_timeout_ms=HELP_TIMEOUT_MS, app=True)
async def request_help(
    call: ToolCall,
    reason: Annotated[str, Field(min_length=1, max_length=1_000, description="What the person is to do")],
) -> HelpResult:
    """Ask a person for help. Waits until a person has acted in the page and has handed it back."""
    if not call.settings.has_watch_page:
        raise _no_page_error("Nobody can help")
    call.stage("waiting for a person")
    try:
        note = await _get_help(call, reason)
    except TimeoutError:
        raise DeadlineExceededError(
            f"No person handed the page back within {call.deadline.elapsed}",
            suggestion="Look at the page: a person may have begun to act. Then continue without help, or ask "
            "again with a longer timeout.",
            timeout=call.deadline.timeout_ms,
        ) from None
    # They may have opened or closed pages meanwhile.
    call.use_page(await call.session.page_table.get())
    return {**action_result(call), "note": note} if note else {**action_result(call)}


@tool(scope="server", effect="read", group="handover", untrusted=True, app=True, followed=False)
async def watch_session(
    call: ToolCall,
    session_id: str | None = None,
    after_frame: Annotated[int, Field(ge=0, description="Wait for a newer picture than this")] = 0,
    after_call: Annotated[int, Field(ge=0, description="Only calls that changed after this revision")] = 0,
) -> LiveViewResult:
    """Show the session live to the person who uses this client: picture, state and calls."""
    if call.live_view is None:
        raise _no_page_error("Nobody can watch")
    # It neither opens a session nor takes its lock: it neither waits for the session's calls nor delays them.
    session = call.sessions.find(session_id, caller=call.caller)
    call.use_session(session)
    view = await call.live_view.view(session, after_frame=after_frame, after_call=after_call)
    if view.picture is not None:
        call.attach_image(Image(view.picture, "image/jpeg"))
    return cast("LiveViewResult", view.facts)


def _no_page_error(what: str) -> PermissionDeniedError:
    return PermissionDeniedError(
        f"{what}: this server has no page on which a person can watch",
        suggestion="Ask the server operator to start the server with --watch.",
        setting="watch.enabled",
    )


async def _get_help(call: ToolCall, reason: str) -> str:
    """Wait for a person on the watch page, and return their note. Ask through the client where it can.

    Raises:
        TimeoutError: nobody has handed the page back in time.
        HelpRefusedError: the person whom the client asked does not help.
    """
    takeover = call.session.takeover
    if call.elicitation is None:
        async with asyncio.timeout(call.deadline.remaining_ms / 1000):
            return await takeover.ask_for_help(reason)
    inviting = call.elicitation.invite(
        call.session.id, hand_backs=takeover.hand_backs, expires=call.deadline.expires
    )
    async with inviting as invitation:
        if takeover.hand_backs > invitation.hand_backs and not takeover.is_active:
            return takeover.last_note  # They were faster than their client, which repeats the call.
        async with asyncio.timeout_at(invitation.expires):
            note = await _ask_through_client(call, invitation, reason)
        await invitation.complete()
        return note


async def _ask_through_client(call: ToolCall, invitation: "Invitation", reason: str) -> str:
    takeover = call.session.takeover
    helping = asyncio.create_task(takeover.ask_for_help(reason))
    asking = asyncio.create_task(invitation.ask(call.mask(reason)))
    try:
        await asyncio.wait((helping, asking), return_when=asyncio.FIRST_COMPLETED)
        if not helping.done():
            reply = await asking
            _check_reply(reply, has_helper=takeover.is_active)
            if reply is not None and reply.is_done:
                takeover.end(reply.note)
        return await helping
    finally:
        for task in (helping, asking):
            task.cancel()
        await asyncio.gather(helping, asking, return_exceptions=True)


def _check_reply(reply: "HelpReply | None", *, has_helper: bool) -> None:
    """Raise HelpRefusedError if the person does not help, unless another person helps on the watch page."""
    if reply is None or reply.action == "accept" or has_helper:
        return
    if reply.action == "decline":
        raise HelpRefusedError("The person declined to help", action="decline")
    raise HelpRefusedError("The person closed the question without an answer", action="cancel")
