"""Asking a process whether it responds."""

from __future__ import annotations

import asyncio

import pytest

from footlight.browser.driver.probe import Probe

pytestmark = pytest.mark.anyio


async def test_answered_request_counts_although_another_caller_has_sent_the_next() -> None:
    answers = [asyncio.Event(), asyncio.Event()]
    requests = iter(answers)
    asked = asyncio.Event()

    async def ask() -> None:
        asked.set()
        await next(requests).wait()

    async def ask_twice(probe: Probe) -> tuple[bool, bool]:
        return await probe.is_answered(60), await probe.is_answered(60)

    probe = Probe(ask)
    twice, once = asyncio.create_task(ask_twice(probe)), asyncio.create_task(probe.is_answered(60))
    await asked.wait()
    answers[0].set()

    assert await once
    answers[1].set()
    assert await twice == (True, True)


async def test_request_without_answer_is_silence() -> None:
    probe = Probe(asyncio.Event().wait)

    assert not await probe.is_answered(0.01)
    assert not await probe.is_answered(0.0)
    assert probe.silent_since is not None
