"""What the first bytes of an image say: its format, and its size in pixels."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Literal

__all__ = ["ImageFormat", "ImageHeader", "read_header"]

ImageFormat = Literal["png", "jpeg"]

_PNG = b"\x89PNG\r\n\x1a\n"
_JPEG = b"\xff\xd8\xff"


@dataclass(frozen=True, slots=True)
class ImageHeader:
    format: ImageFormat
    width: int
    height: int


def read_header(data: bytes) -> ImageHeader:
    """
    Raises:
        ValueError: these bytes are neither a PNG nor a JPEG.
    """
    # Not Image.open: that loads every format it knows, and warns of large images although no pixel is read.
    from PIL.JpegImagePlugin import JpegImageFile
    from PIL.PngImagePlugin import PngImageFile

    if data.startswith(_PNG):
        kind, read = "png", PngImageFile
    elif data.startswith(_JPEG):
        kind, read = "jpeg", JpegImageFile
    else:
        raise ValueError("it is neither a PNG nor a JPEG")
    try:
        with read(io.BytesIO(data)) as image:
            return ImageHeader(kind, *image.size)
    except (OSError, SyntaxError, ValueError, IndexError) as error:
        raise ValueError(f"its {kind.upper()} header is broken") from error
