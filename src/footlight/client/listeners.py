"""Whoever listens is told. A listener's mistakes are its own: they are logged, and end nothing."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

__all__ = ["Told", "tell"]

logger = logging.getLogger(__name__)

Told = Awaitable[None] | None
"""What a listener gives back: an async one is still to be waited for."""


def tell(listener: Callable[..., Told], *news: Any) -> Coroutine[Any, Any, None] | None:
    """Call it. What is given back, if anything, is for the caller to run as a task, and raises nothing."""
    try:
        told = listener(*news)
    except Exception:
        logger.exception("a listener failed")
        return None
    return _heard(told) if inspect.isawaitable(told) else None


async def _heard(told: Awaitable[None]) -> None:
    try:
        await told
    except Exception:
        logger.exception("a listener failed")
