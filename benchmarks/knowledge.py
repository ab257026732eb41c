"""The memory of steps: what recording one costs, and a search over very many. No browser, and no peer."""

from __future__ import annotations

import random
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from footlight.knowledge.index import Index
from footlight.knowledge.records import Observation, Step
from footlight.knowledge.search import Query
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
    """Each of the records has a look of its own, which is the worst: apps show the same again and again."""
    folder = Path(tempfile.mkdtemp())
    try:
        store = KnowledgeStore(folder)
        times = [_timed(lambda step=step: store.record(step)) for step in _steps(records)]
        print(f"{f'the memory of steps, {records:,} of them':<44} {'median':>9} {'p95':>9}  ms")
        _row("recording a step", times)
        for text in SEARCHES:
            _row(f"search: {text}", _repeated(lambda text=text: store.search(Query(text=text))))
        now = START + timedelta(seconds=13 * records)
        _row("search: unlock, of the last 48 h", _repeated(lambda: _recent(store, now)))
        _row("the latest 20", _repeated(lambda: store.last(20)))
        _row("a recipe", _repeated(store.summarize))
        _row("prior knowledge of a screen", _repeated(lambda: store.prior("home", now=now)))
        store.close()
        _row("search in a new process: opened cold", [_timed(lambda: _cold(folder)) for _ in range(5)])
        for file in folder.glob("index.sqlite*"):
            file.unlink()
        _row("the index, made anew of the files", [_timed(lambda: Index(folder).refresh())])
        print()
    finally:
        shutil.rmtree(folder)


def _recent(store: KnowledgeStore, now: datetime) -> None:
    store.search(Query(text="unlock", since=timedelta(hours=48)), now=now)


def _cold(folder: Path) -> None:
    store = KnowledgeStore(folder)
    store.search(Query(text="click unlock password"))
    store.close()


def _steps(records: int) -> Iterator[Step]:
    """Sessions over five screens with 60 test ids each, of which 25 are to be seen at a time."""
    made = random.Random(2)
    words = [*_WORDS.split(), *(f"w{number}" for number in range(300))]
    ids = {screen: ["-".join(made.sample(words, 3)) for _ in range(60)] for screen in _SCREENS}
    for number in range(records):
        screen, tool = made.choice(_SCREENS), made.choice(_TOOLS)
        seen = made.sample(ids[screen], 25)
        acts = tool in ("mm_click", "mm_type")
        target = {"testId": made.choice(seen)} if acts else None
        yield Step(
            tool=tool,
            session_id=f"mm-{number // SESSION:06}",
            at=START + timedelta(seconds=13 * number),
            input=target or {},
            target=target,
            duration_ms=made.randrange(20, 2000),
            ok=made.random() > 0.1,
            observation=Observation(
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


def _repeated(question: Callable[[], object]) -> list[float]:
    question()
    return [_timed(question) for _ in range(REPEATS)]


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def _row(name: str, times: list[float]) -> None:
    ordered = sorted(times)
    p95 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]
    print(f"{name:<44} {statistics.median(times):9.2f} {p95:9.2f}")
