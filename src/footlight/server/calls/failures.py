"""Convert an unexpected exception of a call to the error of its answer, and log bugs."""

from __future__ import annotations

import logging
import secrets
from typing import TYPE_CHECKING

from footlight.browser.driver.output_folder import disk_full_error
from footlight.errors import FootlightError, InternalError

if TYPE_CHECKING:
    from footlight.server.calls.call_state import CallState
    from footlight.server.tools.declaration import Tool

__all__ = ["log_if_bug", "translate_exception"]

logger = logging.getLogger(__name__)


async def translate_exception(error: Exception, state: CallState) -> FootlightError:
    """Return the error for an unexpected exception: the session's end, a full disk, or a bug."""
    if state.session and (ended := await state.session.explain_end()):
        return ended
    if full := disk_full_error(error):
        return full
    return log_if_bug(InternalError(f"Unexpected {type(error).__name__}"), state.tool, error)


def log_if_bug(error: FootlightError, tool: Tool, cause: Exception | None = None) -> FootlightError:
    """Log the traceback of a bug, with an id that the answer contains. Return the error."""
    if isinstance(error, InternalError):
        error.details["errorId"] = error_id = secrets.token_hex(6)
        logger.error("%s failed [%s]", tool.name, error_id, exc_info=cause or error)
    return error
