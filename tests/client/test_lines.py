"""Splitting bytes into lines."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from footlight.client.transports.process import LineBuffer


@given(st.lists(st.binary(max_size=12).map(lambda data: data.replace(b"x", b"\n")), max_size=20))
def test_lines_do_not_depend_on_chunk_boundaries(pieces: list[bytes]) -> None:
    lines = LineBuffer(limit=1_000)
    whole = [line for piece in pieces for line in lines.feed(piece)]

    assert [*whole, lines.take()] == b"".join(pieces).split(b"\n")
    assert not lines.truncated


def test_line_beyond_the_limit_is_dropped() -> None:
    lines = LineBuffer(limit=4)

    assert lines.feed(b"12345\n1234\n12") == [b"1234", b"1234"]
    assert lines.feed(b"34567") == []
    assert lines.feed(b"89\nab\n") == [b"1234", b"ab"]
    assert lines.take() == b""
    assert lines.truncated


def test_line_of_exactly_the_limit_is_kept() -> None:
    lines = LineBuffer(limit=4)

    assert lines.feed(b"12") == []
    assert lines.feed(b"34\n") == [b"1234"]
    assert not lines.truncated
