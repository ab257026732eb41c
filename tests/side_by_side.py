"""Run drills that spend their time on waiting at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

__all__ = ["side_by_side"]


async def side_by_side(*drills: Awaitable[None]) -> None:
    """Run all drills to their end, and report all that failed."""
    ended = await asyncio.gather(*drills, return_exceptions=True)
    if failures := [each for each in ended if isinstance(each, Exception)]:
        raise ExceptionGroup("drills failed", failures)
