"""Artifacts that are kept for later calls, and which are dropped when there are too many."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from footlight.browser.recording.artifact_store import (
    ArtifactStore,
    LongAnswer,
    ScreenshotArtifact,
    timestamp,
)

SIZES = st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 12)), max_size=30)


def answer(session_id: str, id: str, data: bytes) -> LongAnswer:
    return LongAnswer(session_id=session_id, id=id, tool="get_text", data=data)


def make_screenshot(session_id: str, captured_at: int, data: bytes = b"image") -> ScreenshotArtifact:
    return ScreenshotArtifact(
        session_id=session_id,
        page_id="page-1",
        captured_at=captured_at,
        type="png",
        width=1,
        height=1,
        full_page=False,
        data=data,
    )


@given(SIZES, st.integers(0, 40))
def test_latest_artifacts_that_fit_are_kept(sizes: list[tuple[str, int]], room: int) -> None:
    store = ArtifactStore(room)
    items = [answer(session, str(index), b"x" * size) for index, (session, size) in enumerate(sizes)]

    taken = [item for item in items if store.add(item)]

    assert taken == [item for item in items if len(item.data) <= room]
    while sum(len(item.data) for item in taken) > room:
        del taken[0]
    for session in "ab":
        assert store.items(session, LongAnswer) == [item for item in taken if item.session_id == session]


def test_oversized_artifact_evicts_nothing() -> None:
    store = ArtifactStore(10)
    small = answer("a", "1", b"x" * 10)

    assert store.add(small)
    assert not store.add(answer("a", "2", b"x" * 11))

    assert store.items("a", LongAnswer) == [small]


def test_removed_session_frees_its_artifacts() -> None:
    store = ArtifactStore(10)
    others = answer("b", "1", b"12345")
    store.add(answer("a", "1", b"12345"))
    store.add(others)

    store.remove_session("a")
    taken = make_screenshot("b", 0, b"54321")
    store.add(taken)

    assert store.items("a", LongAnswer) == []
    assert (store.items("b", LongAnswer), store.items("b", ScreenshotArtifact)) == ([others], [taken])


def test_timestamps_are_unique_and_increasing() -> None:
    """This holds when the clock stands still or goes back."""
    now = iter([1764239400.0, 1764239400.0, 1764239400.0004, 1764239399.0, 1764239401.5])
    store = ArtifactStore(0, clock=lambda: next(now))

    assert [timestamp(store.next_timestamp()) for _ in range(5)] == [
        "2025-11-27T10:30:00.000Z",
        "2025-11-27T10:30:00.001Z",
        "2025-11-27T10:30:00.002Z",
        "2025-11-27T10:30:00.003Z",
        "2025-11-27T10:30:01.500Z",
    ]


def test_number_of_artifacts_is_limited_regardless_of_size() -> None:
    store = ArtifactStore(10)
    for number in range(10_001):
        store.add(answer("a", str(number), b""))

    kept = store.items("a", LongAnswer)

    assert (len(kept), kept[0].id, kept[-1].id) == (10_000, "1", "10000")
