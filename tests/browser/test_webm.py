"""Writing WebM files, whose elements are read back one by one."""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator

from footlight.browser.recording.webm import WebmWriter

MASTERS = {
    *(0x1A45DFA3, 0x18538067, 0x114D9B74, 0x4DBB, 0x1549A966, 0x1654AE6B, 0xAE, 0xE0),
    *(0x1F43B675, 0x1C53BB6B, 0xBB, 0xB7),
}
SEGMENT, CLUSTER, TIMESTAMP, BLOCK, DURATION = 0x18538067, 0x1F43B675, 0xE7, 0xA3, 0x4489
CUES, CUE_TIME, CUE_POSITION, SEEK_POSITION = 0x1C53BB6B, 0xB3, 0xF1, 0x53AC


def elements(data: bytes, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int, bytes]]:
    """Yield the id, the offset and the content of each element, including nested ones."""
    at = start
    end = len(data) if end is None else end
    while at < end:
        length = 9 - data[at].bit_length()
        id = int.from_bytes(data[at : at + length])
        at += length
        length = 9 - data[at].bit_length()
        size = int.from_bytes(data[at : at + length]) & ((1 << 7 * length) - 1)
        at += length
        yield id, at, data[at : at + size]
        if id in MASTERS:
            yield from elements(data, at, at + size)
        at += size
    assert at == end


def write_video(*frames: tuple[bytes, int, bool]) -> bytes:
    file = io.BytesIO()
    with WebmWriter(file, codec="VP9", width=640, height=360) as writer:
        for data, at_ms, key in frames:
            writer.add(data, at_ms=at_ms, key=key)
    return file.getvalue()


def frames(data: bytes) -> list[tuple[bytes, int, bool]]:
    found: list[tuple[bytes, int, bool]] = []
    cluster = 0
    for id, _, content in elements(data):
        if id == TIMESTAMP:
            cluster = int.from_bytes(content)
        elif id == BLOCK:
            track, offset, flags = struct.unpack(">BhB", content[:4])
            assert track == 0x81
            found.append((content[4:], cluster + offset, flags == 0x80))
    return found


FRAMES = [(b"a" * 5, 0, True), (b"b" * 300, 40, False), (b"c" * 70_000, 5_000, True), (b"d", 40_000, False)]


def test_written_frames_are_read_back() -> None:
    assert frames(write_video(*FRAMES)) == FRAMES


def test_duration_is_that_of_the_last_frame() -> None:
    (duration,) = (
        struct.unpack(">d", data)[0] for id, _, data in elements(write_video(*FRAMES)) if id == DURATION
    )

    assert duration == 40_000


def test_index_points_to_the_clusters() -> None:
    data = write_video(*FRAMES)
    found = list(elements(data))
    (segment,) = (at for id, at, _ in found if id == SEGMENT)
    (cues,) = (int.from_bytes(content) for id, _, content in found if id == SEEK_POSITION)

    times = [int.from_bytes(content) for id, _, content in found if id == CUE_TIME]
    positions = [int.from_bytes(content) for id, _, content in found if id == CUE_POSITION]

    assert data[segment + cues :].startswith(CUES.to_bytes(4))
    assert times == [0, 5_000, 40_000]  # A block cannot say more than 32 seconds since its cluster.
    assert [data[segment + at :][:4] for at in positions] == [CLUSTER.to_bytes(4)] * 3


def test_video_without_frames_is_valid() -> None:
    assert frames(write_video()) == []
