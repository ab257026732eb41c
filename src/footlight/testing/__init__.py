"""Assertions for tests with the pytest plugin, whose entry point is `footlight.pytest_plugin`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from footlight.testing.expectation import AnswerExpectation, expect

__all__ = ["AnswerExpectation", "expect"]


def __getattr__(name: str) -> Any:
    """Import a name on first use, because pytest also loads this package for tests that do not use it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from footlight.testing import expectation

    return getattr(expectation, name)
