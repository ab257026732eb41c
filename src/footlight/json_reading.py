"""Parse JSON texts with many values."""

from __future__ import annotations

import gc
import json

__all__ = ["load_json"]


def load_json(data: bytes | str) -> object:
    """Parse JSON without garbage collections, which take longer than the parsing of many small values.

    Raises:
        ValueError: the data is not JSON.
        RecursionError: the data is nested too deeply.
    """
    if not gc.isenabled():
        return json.loads(data)
    gc.disable()
    try:
        return json.loads(data)
    finally:
        gc.enable()
