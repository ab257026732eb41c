"""Write a WebM file with one video track while its frames arrive.

EBML is RFC 8794, and the elements are those of Matroska (RFC 9559) that WebM allows. Room for the duration
and the position of the index is reserved at the beginning, because they are only known at the end.
"""

from __future__ import annotations

import struct
from typing import BinaryIO, Literal

__all__ = ["Codec", "WebmWriter"]

Codec = Literal["VP8", "VP9"]

EBML = 0x1A45DFA3
SEGMENT = 0x18538067
SEEK_HEAD, SEEK, SEEK_ID, SEEK_POSITION = 0x114D9B74, 0x4DBB, 0x53AB, 0x53AC
INFO, TIMESTAMP_SCALE, MUXING_APP, WRITING_APP, DURATION = 0x1549A966, 0x2AD7B1, 0x4D80, 0x5741, 0x4489
TRACKS, TRACK_ENTRY, TRACK_NUMBER, TRACK_UID, TRACK_TYPE = 0x1654AE6B, 0xAE, 0xD7, 0x73C5, 0x83
FLAG_LACING, CODEC_ID, VIDEO, PIXEL_WIDTH, PIXEL_HEIGHT = 0x9C, 0x86, 0xE0, 0xB0, 0xBA
CLUSTER, TIMESTAMP, SIMPLE_BLOCK = 0x1F43B675, 0xE7, 0xA3
CUES, CUE_POINT, CUE_TIME, CUE_TRACK_POSITIONS, CUE_TRACK, CUE_CLUSTER_POSITION = (
    *(0x1C53BB6B, 0xBB, 0xB3, 0xB7),
    *(0xF7, 0xF1),
)

UNKNOWN_SIZE = b"\x01\xff\xff\xff\xff\xff\xff\xff"
NANOSECONDS = 1_000_000
"""The unit of times in the file, in nanoseconds: one millisecond."""


class WebmWriter:
    """Writes frames with their milliseconds since the first frame. A cluster begins with each key frame.

    As a context manager, it also completes the file after an exception.
    """

    def __init__(self, file: BinaryIO, *, codec: Codec, width: int, height: int) -> None:
        self._file = file
        self._duration_ms = 0
        self._cluster_ms = 0
        self._cluster = b""
        self._cues: list[tuple[int, int]] = []
        """The start time of each cluster, and its position in the segment."""
        self._file.write(_element(EBML, _EBML_HEADER) + _id(SEGMENT) + UNKNOWN_SIZE)
        self._segment = self._file.tell()
        self._file.write(_seek_head(0) + _info(0) + _element(TRACKS, _track(codec, width, height)))

    def __enter__(self) -> WebmWriter:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def add(self, data: bytes, *, at_ms: int, key: bool) -> None:
        """Write an encoded frame. Times must not decrease."""
        if key or at_ms - self._cluster_ms > 0x7FFF:  # The maximum time of a block since its cluster.
            self._end_cluster()
            self._cluster_ms = at_ms
            self._cues.append((at_ms, self._file.tell() - self._segment))
        self._duration_ms = at_ms
        flags = 0x80 if key else 0
        header = b"\x81" + struct.pack(">hB", at_ms - self._cluster_ms, flags)
        self._cluster += _element(SIMPLE_BLOCK, header + data)

    def close(self) -> None:
        """Write the last cluster, the index, and the values that were reserved."""
        self._end_cluster()
        cues_at = self._file.tell() - self._segment
        points = b"".join(_cue_point(at_ms, position) for at_ms, position in self._cues)
        self._file.write(_element(CUES, points))
        end = self._file.tell()
        self._file.seek(self._segment - len(UNKNOWN_SIZE))
        self._file.write(struct.pack(">Q", 1 << 56 | end - self._segment))
        self._file.write(_seek_head(cues_at) + _info(self._duration_ms))
        self._file.seek(end)

    def _end_cluster(self) -> None:
        if self._cluster:
            timestamp = _element(TIMESTAMP, _number(self._cluster_ms))
            self._file.write(_element(CLUSTER, timestamp + self._cluster))
            self._cluster = b""


def _element(id: int, data: bytes) -> bytes:
    """Return an element with its size in the fewest possible bytes."""
    length = next(count for count in range(1, 9) if len(data) < (1 << 7 * count) - 1)
    size = (1 << 7 * length | len(data)).to_bytes(length, "big")
    return _id(id) + size + data


def _id(id: int) -> bytes:
    return id.to_bytes((id.bit_length() + 7) // 8, "big")


def _number(value: int) -> bytes:
    return value.to_bytes(max(1, (value.bit_length() + 7) // 8), "big")


_EBML_HEADER = (
    _element(0x4286, _number(1))  # EBMLVersion
    + _element(0x42F7, _number(1))  # EBMLReadVersion
    + _element(0x42F2, _number(4))  # EBMLMaxIDLength
    + _element(0x42F3, _number(8))  # EBMLMaxSizeLength
    + _element(0x4282, b"webm")  # DocType
    + _element(0x4287, _number(4))  # DocTypeVersion
    + _element(0x4285, _number(2))  # DocTypeReadVersion
)


def _seek_head(cues_at: int) -> bytes:
    """Return the seek head. Its length does not depend on the position."""
    position = _element(SEEK_POSITION, struct.pack(">Q", cues_at))
    return _element(SEEK_HEAD, _element(SEEK, _element(SEEK_ID, _id(CUES)) + position))


def _info(duration_ms: int) -> bytes:
    """Return the segment info. Its length does not depend on the duration."""
    app = b"footlight"
    return _element(
        INFO,
        _element(TIMESTAMP_SCALE, _number(NANOSECONDS))
        + _element(MUXING_APP, app)
        + _element(WRITING_APP, app)
        + _element(DURATION, struct.pack(">d", duration_ms)),
    )


def _track(codec: Codec, width: int, height: int) -> bytes:
    size = _element(PIXEL_WIDTH, _number(width)) + _element(PIXEL_HEIGHT, _number(height))
    return _element(
        TRACK_ENTRY,
        _element(TRACK_NUMBER, _number(1))
        + _element(TRACK_UID, _number(1))
        + _element(TRACK_TYPE, _number(1))
        + _element(FLAG_LACING, _number(0))
        + _element(CODEC_ID, f"V_{codec}".encode())
        + _element(VIDEO, size),
    )


def _cue_point(at_ms: int, position: int) -> bytes:
    where = _element(CUE_TRACK, _number(1)) + _element(CUE_CLUSTER_POSITION, _number(position))
    return _element(CUE_POINT, _element(CUE_TIME, _number(at_ms)) + _element(CUE_TRACK_POSITIONS, where))
