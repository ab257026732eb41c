"""Measure the knowledge store: recording a step, and searching among many. No browser is used."""

from __future__ import annotations

import random
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from footlight.knowledge.index.index import Index
from footlight.knowledge.index.search import SearchQuery
from footlight.knowledge.steps import RawStep, StepObservation
from footlight.knowledge.store import KnowledgeStore

__all__ = ["measure_knowledge"]

START = datetime(2026, 1, 1, tzinfo=UTC)
SESSION = 200
REPEATS = 15
SEARCHES = (
    "unlock",
    "click unlock password",
    "how do I confirm a transaction",
    "sign in with recovery phrase",
    "send token to address on home",
    "xylophone",
)

_WORDS = (
    "unlock password submit send token list item confirm footer button cancel account menu icon network swap "
    "bridge settings header amount recipient address gas fee nft tab overview activity import srp"
)
_SCREENS = ("unlock", "home", "onboarding-import", "settings", "unknown")
_TOOLS = (*("mm_click",) * 3, "mm_type", "mm_describe_screen", "mm_get_state", "mm_wait_for")


def measure_knowledge(records: int) -> None:
    """Print the times. Every record has a different observation, which is the worst case."""
    folder = Path(tempfile.mkdtemp())
    try:
        store = KnowledgeStore(folder)
        times = [_measure_ms(lambda step=step: store.record(step)) for step in _steps(records)]
        print(f"{f'knowledge store with {records:,} steps':<44} {'median':>9} {'p95':>9}  ms")
        _row("recording a step", times)
        for text in SEARCHES:
            _row(
                f"search: {text}", _measure_repeatedly(lambda text=text: store.search(SearchQuery(text=text)))
            )
        now = START + timedelta(seconds=13 * records)
        _row("search: unlock, in the last 48 h", _measure_repeatedly(lambda: _search_recent(store, now)))
        _row("the last 20 steps", _measure_repeatedly(lambda: store.list_last(20)))
        _row("summary of a session", _measure_repeatedly(store.summarize))
        _row("prior knowledge of a screen", _measure_repeatedly(lambda: store.prior("home", now=now)))
        store.close()
        _row("open the store and search", [_measure_ms(lambda: _search_cold(folder)) for _ in range(5)])
        for file in folder.glob("index.sqlite*"):
            file.unlink()
        _row("rebuild the index from the files", [_measure_ms(lambda: Index(folder).refresh())])
        print()
    finally:
        shutil.rmtree(folder)


def _search_recent(store: KnowledgeStore, now: datetime) -> None:
    store.search(SearchQuery(text="unlock", since=timedelta(hours=48)), now=now)


def _search_cold(folder: Path) -> None:
    store = KnowledgeStore(folder)
    store.search(SearchQuery(text="click unlock password"))
    store.close()


def _steps(records: int) -> Iterator[RawStep]:
    """Yield the steps of sessions on five screens. A screen has 60 test ids, of which 25 are visible."""
    rng = random.Random(2)
    words = [*_WORDS.split(), *(f"w{number}" for number in range(300))]
    ids = {screen: ["-".join(rng.sample(words, 3)) for _ in range(60)] for screen in _SCREENS}
    for number in range(records):
        screen, tool = rng.choice(_SCREENS), rng.choice(_TOOLS)
        seen = rng.sample(ids[screen], 25)
        acts = tool in ("mm_click", "mm_type")
        target = {"testId": rng.choice(seen)} if acts else None
        yield RawStep(
            tool=tool,
            session_id=f"mm-{number // SESSION:06}",
            at=START + timedelta(seconds=13 * number),
            input=target or {},
            target=target,
            duration_ms=rng.randrange(20, 2000),
            ok=rng.random() > 0.1,
            observation=StepObservation(
                state={
                    "isLoaded": True,
                    "currentUrl": "chrome-extension://abc/home.html",
                    "extensionId": "abc",
                    "isUnlocked": True,
                    "currentScreen": screen,
                    "balance": f"{number} ETH",
                },
                test_ids=[{"testId": id, "tag": "div", "visible": True} for id in seen],
                nodes=[
                    {
                        "ref": f"e{place}",
                        "role": "button",
                        "name": f"{id.replace('-', ' ')} {number if place < 2 else ''}",
                        "path": [],
                    }
                    for place, id in enumerate(seen, 1)
                ],
            ),
        )


def _measure_repeatedly(query: Callable[[], object]) -> list[float]:
    query()
    return [_measure_ms(query) for _ in range(REPEATS)]


def _measure_ms(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def _row(name: str, times: list[float]) -> None:
    ordered = sorted(times)
    p95 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]
    print(f"{name:<44} {statistics.median(times):9.2f} {p95:9.2f}")
