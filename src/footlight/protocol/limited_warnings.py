"""Log warnings that a server can cause any number of times."""

from __future__ import annotations

import logging

__all__ = ["MAX_WARNINGS", "LimitedWarnings"]

MAX_WARNINGS = 20


class LimitedWarnings:
    """Logs the first warnings, and all later ones only at level DEBUG."""

    def __init__(self, logger: logging.Logger, *, most: int = MAX_WARNINGS) -> None:
        self._logger = logger
        self._left = most

    def log(self, message: str, *arguments: object) -> None:
        self._logger.log(logging.WARNING if self._left > 0 else logging.DEBUG, message, *arguments)
        self._left -= 1
