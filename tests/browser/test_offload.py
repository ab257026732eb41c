"""Work on large pages runs outside of the event loop."""

from __future__ import annotations

import asyncio
import threading

import pytest

from footlight.browser.driver.offload import call_in_loop, offload
from footlight.browser.snapshot.nodes import Node, Snapshot
from footlight.browser.snapshot.observation import observe
from tests.loop_watch import watch_loops

pytestmark = pytest.mark.anyio

NODES = 80_000


@pytest.mark.slow
async def test_large_diff_does_not_block_the_event_loop() -> None:
    before, after = (
        Snapshot("", "", [Node(0, "button", f"{word} {at}", f"e{first + at}") for at in range(NODES)])
        for word, first in (("one", 1), ("two", 1 + NODES))
    )
    kept: list[str] = []
    link = call_in_loop(lambda text: kept.append(text))
    await asyncio.sleep(0)  # What was made above is no turn of those that are measured.
    with watch_loops() as gaps:
        observed = await offload(NODES, lambda: observe(before, after, mode="diff", budget=2_000, link=link))

    assert (observed.kind, observed.cut, observed.lines, len(kept)) == ("full", True, NODES, 1)
    assert gaps.too_long == []


async def test_call_in_loop_runs_in_the_loop_thread() -> None:
    thread = call_in_loop(lambda _: threading.current_thread())
    here = threading.current_thread()

    assert thread("") is here
    assert await offload(10_000, threading.current_thread) is not here
    assert await offload(10_000, lambda: thread("")) is here
