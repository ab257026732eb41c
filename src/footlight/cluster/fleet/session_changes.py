"""Follow the changes of the sessions on a worker, also over its end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from footlight.cluster.ray_api import ActorLostError
from footlight.cluster.worker import Worker

if TYPE_CHECKING:
    from footlight.browser.sessions.change_events import OnChange, SessionChange
    from footlight.cluster.fleet.known_worker import KnownWorker

__all__ = ["follow_sessions"]

logger = logging.getLogger(__name__)

RETRY_SECONDS = 1.0


async def follow_sessions(worker: KnownWorker, is_known: Callable[[], bool], on_change: OnChange) -> None:
    """Pass on the changes of the worker's sessions for as long as it is known, and their end with it."""
    after: int | None = None
    opened: dict[str, SessionChange] = {}
    has_failed = False
    while is_known():
        try:
            last, changes = await worker.actor.call(Worker.changes, after)
        except Exception as error:
            if not isinstance(error, ActorLostError):
                level = logging.DEBUG if worker.failure or has_failed else logging.ERROR
                message = "the changes of worker %s cannot be followed"
                logger.log(level, message, worker.name, exc_info=True)
                has_failed = True
            after = None
            await asyncio.sleep(RETRY_SECONDS)
            continue
        has_failed = False
        if after is None or last < after:
            changes = _compare(opened, changes)  # All sessions that are open now.
        after = last
        for change in changes:
            if change.page_id is None:
                opened.pop(change.session_id, None)
                if change.kind == "opened":
                    opened[change.session_id] = change
            on_change(change)
    for change in opened.values():
        on_change(replace(change, kind="closed"))


def _compare(opened: Mapping[str, SessionChange], now: Sequence[SessionChange]) -> list[SessionChange]:
    """Return the changes from the known open sessions to those that are open now."""
    ids = {each.session_id for each in now}
    ended = [replace(each, kind="closed") for id, each in opened.items() if id not in ids]
    return [*ended, *(each for each in now if each.session_id not in opened)]
