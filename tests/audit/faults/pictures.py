"""Large image files: noise, which no format compresses."""

from __future__ import annotations

import io
import random

from PIL import Image

__all__ = ["noise"]


def noise(width: int, height: int) -> bytes:
    """Return a PNG with three bytes for each pixel, the same on every call."""
    out = io.BytesIO()
    data = random.Random(1).randbytes(width * height * 3)
    Image.frombytes("RGB", (width, height), data).save(out, "PNG", compress_level=0)
    return out.getvalue()
