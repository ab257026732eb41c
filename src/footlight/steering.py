"""Text of others on a terminal, which it must not steer."""

from __future__ import annotations

__all__ = ["harmless"]

_STEERING = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\t\n"}
"""What a terminal obeys instead of showing it."""


def harmless(text: str) -> str:
    """With that spelt out. Lines and tabs stay."""
    return text.translate(_STEERING)
