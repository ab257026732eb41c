"""Assertions for tests with the pytest plugin; `footlight.pytest_plugin` is its entry point."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from footlight.testing.expectation import AnswerExpectation, expect

__all__ = ["AnswerExpectation", "expect"]


def __getattr__(name: str) -> Any:
    """Import a name on first use: pytest loads this package also for tests that use no fixture of it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from footlight.testing import expectation

    return getattr(expectation, name)
