"""Text of others: on a terminal, which it must not steer, and where text has to be whole."""

from __future__ import annotations

__all__ = ["clean", "harmless"]

_STEERING = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\t\n"}
"""What a terminal obeys instead of showing it."""


def harmless(text: str) -> str:
    """With that spelt out. Lines and tabs stay."""
    return text.translate(_STEERING)


def clean(text: str) -> str:
    """Halves of characters, which JSON can have and neither a file nor a database can, are replaced."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
