"""What is kept to be read later, and what has to go for it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from footlight.browser.shelf import LongAnswer, Screenshot, Shelf, timestamp

SIZES = st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 12)), max_size=30)


def answer(session_id: str, id: str, data: bytes) -> LongAnswer:
    return LongAnswer(session_id=session_id, id=id, tool="get_text", data=data)


def shot(session_id: str, captured_at: int, data: bytes = b"image") -> Screenshot:
    return Screenshot(
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
def test_the_last_that_fit_are_kept(sizes: list[tuple[str, int]], room: int) -> None:
    shelf = Shelf(room)
    items = [answer(session, str(index), b"x" * size) for index, (session, size) in enumerate(sizes)]

    taken = [item for item in items if shelf.put(item)]

    assert taken == [item for item in items if len(item.data) <= room]
    while sum(len(item.data) for item in taken) > room:
        del taken[0]
    for session in "ab":
        assert shelf.of(session, LongAnswer) == [item for item in taken if item.session_id == session]


def test_what_does_not_fit_at_all_makes_nothing_go() -> None:
    shelf = Shelf(10)
    small = answer("a", "1", b"x" * 10)

    assert shelf.put(small)
    assert not shelf.put(answer("a", "2", b"x" * 11))

    assert shelf.of("a", LongAnswer) == [small]


def test_a_session_takes_what_it_has_with_it() -> None:
    """R003-57"""
    shelf = Shelf(10)
    others = answer("b", "1", b"12345")
    shelf.put(answer("a", "1", b"12345"))
    shelf.put(others)

    shelf.drop("a")
    taken = shot("b", 0, b"54321")
    shelf.put(taken)

    assert shelf.of("a", LongAnswer) == []
    assert (shelf.of("b", LongAnswer), shelf.of("b", Screenshot)) == ([others], [taken])


def test_two_moments_are_never_the_same() -> None:
    """R003-55: also where the clock stands still, or goes back."""
    now = iter([1764239400.0, 1764239400.0, 1764239400.0004, 1764239399.0, 1764239401.5])
    shelf = Shelf(0, clock=lambda: next(now))

    assert [timestamp(shelf.moment()) for _ in range(5)] == [
        "2025-11-27T10:30:00.000Z",
        "2025-11-27T10:30:00.001Z",
        "2025-11-27T10:30:00.002Z",
        "2025-11-27T10:30:00.003Z",
        "2025-11-27T10:30:01.500Z",
    ]


def test_however_small_they_are_there_is_a_limit() -> None:
    shelf = Shelf(10)
    for number in range(10_001):
        shelf.put(answer("a", str(number), b""))

    kept = shelf.of("a", LongAnswer)

    assert (len(kept), kept[0].id, kept[-1].id) == (10_000, "1", "10000")
