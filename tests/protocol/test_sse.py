"""The decoder of server-sent events."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footlight.protocol.errors import MCPError
from footlight.protocol.sse import MAX_ID_SIZE, ServerSentEvent, SseDecoder
from tests.processor_time import limit_processor_time


def decode(*chunks: bytes) -> list[ServerSentEvent]:
    decoder = SseDecoder()
    return [event for chunk in chunks for event in decoder.feed(chunk)] + decoder.end()


def one(data: str, *, event: str = "message", id: str | None = None) -> list[ServerSentEvent]:
    return [ServerSentEvent(data, event, id)]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"], ids=["LF", "CRLF", "CR"])
def test_all_line_endings_are_accepted(end: bytes) -> None:
    lines = [b"id: 1", b"data: one", b"", b"data: two", b"data:three", b"", b""]

    assert decode(end.join(lines)) == [
        ServerSentEvent("one", id="1"),
        ServerSentEvent("two\nthree"),
    ]


@pytest.mark.parametrize(
    ("stream", "events"),
    [
        pytest.param(b"data: a\n\n", one("a"), id="a space after the colon is left out"),
        pytest.param(b"data:a\n\n", one("a"), id="and need not be there"),
        pytest.param(b"data:  a \n\n", one(" a "), id="only one"),
        pytest.param(b"data: {}: x\n\n", one("{}: x"), id="only the first colon counts"),
        pytest.param(b"data\n\n", one(""), id="a name alone has an empty value"),
        pytest.param(b"data:\ndata:\n\n", one("\n"), id="lines of data are joined"),
        pytest.param(b": ping\n:\n\ndata: a\n: in between\n\n", one("a"), id="comments are left out"),
        pytest.param(b"\xef\xbb\xbfdata: a\n\n", one("a"), id="a byte order mark is left out"),
        pytest.param(b"event: ping\ndata: a\n\n", one("a", event="ping"), id="an event has a name"),
        pytest.param(b"event:\ndata: a\n\n", one("a"), id="or the usual one"),
        pytest.param(b"event: ping\n\ndata: a\n\n", one("a"), id="the name goes with its event"),
        pytest.param(b"id: 1\n\ndata: a\n\n", one("a"), id="so does the id"),
        pytest.param(b"other: 1\nDATA: b\ndata: a\n\n", one("a"), id="unknown fields are left out"),
        pytest.param(b"\n\n\r\n", [], id="blank lines are no events"),
        pytest.param(b"", [], id="nothing is no event"),
        pytest.param(b"data: \xff\n\n", one("�"), id="what is not UTF-8 is replaced"),
        pytest.param(b"data: a", one("a"), id="the last line needs no end"),
        pytest.param(b"data: a\n", one("a"), id="the last event needs no blank line"),
        pytest.param(b"data: a\n\nid: 2", one("a"), id="a last id is no event"),
    ],
)
def test_event_stream_fields_are_parsed(stream: bytes, events: list[ServerSentEvent]) -> None:
    assert decode(stream) == events


def test_chunks_may_be_split_at_any_byte() -> None:
    """The text is cut within a character, within a mark, and between CR and LF."""
    stream = "\ufeffid: 1\r\ndata: Füße €🎭\r\n\r\ndata: b\r\n\r\n".encode()

    events = [ServerSentEvent("Füße €🎭", id="1"), ServerSentEvent("b")]
    assert decode(*(stream[i : i + 1] for i in range(len(stream)))) == events
    assert all(decode(stream[:i], stream[i:]) == events for i in range(len(stream)))


def test_event_is_returned_with_the_line_end_that_completes_it() -> None:
    """This holds after the CR of a CRLF whose LF has not arrived."""
    decoder = SseDecoder()

    outcome = [decoder.feed(chunk) for chunk in (b"data: a\r\n", b"\r", b"\ndata: b", b"\n\n")]

    assert outcome == [[], one("a"), [], one("b")]


def test_last_event_id_is_updated_by_complete_events() -> None:
    """An event without data counts; an incomplete one and one with a NUL do not."""
    decoder = SseDecoder(last_event_id="0")
    ids = [decoder.last_event_id]
    for chunk in (b"id: 1\n", b"\n", b"data: a\n\n", b"id: x\0y\n\n", b"id: 2\n\n", b"id\n\n"):
        decoder.feed(chunk)
        ids.append(decoder.last_event_id)

    assert ids == ["0", "0", "1", "1", "1", "2", None]


@pytest.mark.parametrize(
    "rest",
    [
        b"id: 2",
        b"id: 2\n",
        b"id: 2\ndata: {",
        b"id: 2\ndata: {}\n",
        b"data: {}\nid: 2\n",
        b"id\n",
        b"id: 2\r",
    ],
)
def test_incomplete_event_does_not_change_the_last_event_id(rest: bytes) -> None:
    """Its id takes effect with its blank line, or the answer in it would be skipped."""
    decoder = SseDecoder()
    decoder.feed(b"id: 1\ndata: a\n\n" + rest)
    decoder.end()

    assert decoder.last_event_id == "1"


def test_incomplete_retry_field_is_ignored() -> None:
    """Its first digit is another time."""
    decoder = SseDecoder()
    decoder.feed(b"retry: 3000\n\nretry: 3")
    decoder.end()

    assert decoder.retry_ms == 3000


@pytest.mark.parametrize(
    ("value", "retry_ms"),
    [("250", 250), ("  250", None), ("2.5", None), ("-1", None), ("", None), ("٣", None), ("9" * 5000, None)],
)
def test_retry_must_consist_of_digits(value: str, retry_ms: int | None) -> None:
    decoder = SseDecoder()
    decoder.feed(f"retry:{value}\n".encode())

    assert decoder.retry_ms == retry_ms


@pytest.mark.parametrize(
    "chunks",
    [
        pytest.param([b"data: " + b"x" * 95 + b"\n"], id="in a line"),
        pytest.param([b"data: ", b"x" * 50, b"x" * 50], id="in a line without end"),
        pytest.param([b"data: 12345\n"] * 10, id="in many lines"),
    ],
)
def test_too_large_event_is_refused(chunks: list[bytes]) -> None:
    decoder = SseDecoder(max_event_size=100)
    *fitting, last = chunks
    assert [decoder.feed(chunk) for chunk in fitting] == [[]] * len(fitting)

    with pytest.raises(MCPError) as refused:
        decoder.feed(last)

    assert refused.value.to_dict() == {
        "name": "MCPError",
        "code": "MCP_ERROR",
        "message": "The server sent an event of more than 100 bytes",
        "reason": "protocol",
        "rpcCode": -32600,
    }


def test_size_limit_applies_to_each_event() -> None:
    decoder = SseDecoder(max_event_size=20)

    events = [decoder.feed(b"data: 1234567\n: a comment\n\n") for _ in range(10)]

    assert events == [one("1234567")] * 10


def test_long_id_is_ignored() -> None:
    """A stream stores the ids of its last thousand events."""
    decoder = SseDecoder()
    stream = f"id: {'x' * MAX_ID_SIZE}\ndata: a\n\nid: {'y' * (MAX_ID_SIZE + 1)}\ndata: b\n\n"

    events = decoder.feed(stream.encode())

    assert [(event.data, event.id and len(event.id)) for event in events] == [("a", MAX_ID_SIZE), ("b", None)]
    assert decoder.last_event_id == "x" * MAX_ID_SIZE


def test_long_line_in_many_chunks_is_decoded_in_linear_time() -> None:
    """Joined with each chunk, this one would take minutes."""
    decoder, line = SseDecoder(), b"data: " + b"x" * (32 << 20) + b"\n\n"

    with limit_processor_time(50):
        events = [event for i in range(0, len(line), 1024) for event in decoder.feed(line[i : i + 1024])]

    assert [len(event.data) for event in events] == [32 << 20]


TEXT = st.text(st.characters(exclude_characters="\r\n\0", exclude_categories=["Cs"]), max_size=20)
FIELDS = st.one_of(
    st.tuples(st.sampled_from(["data", "id", "event", "retry", "", "other"]), TEXT),
    st.just(("", None)),
)


@given(
    st.lists(FIELDS, max_size=20),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.booleans(),
    st.data(),
)
def test_chunk_boundaries_do_not_change_the_events(
    fields: list[tuple[str, str | None]], end: str, mark: bool, data: st.DataObject
) -> None:
    lines = ["" if value is None else f"{name}: {value}" for name, value in fields]
    stream = ("\ufeff" if mark else "").encode() + end.join(lines).encode()
    cuts = sorted(data.draw(st.sets(st.integers(0, len(stream)), max_size=12)))
    chunks = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]

    whole, cut = SseDecoder(), SseDecoder()
    expected = whole.feed(stream) + whole.end()
    found = [event for chunk in chunks for event in cut.feed(chunk)] + cut.end()

    assert (found, cut.last_event_id, cut.retry_ms) == (expected, whole.last_event_id, whole.retry_ms)
