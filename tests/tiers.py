"""What `make test` tries of many alike cases, and `make test-all` tries all of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

__all__ = ["examples", "register_profiles", "sampled"]

THOROUGH = "thorough"
FAST_SHARE = 5


def register_profiles() -> None:
    """Register `fast`, which is loaded, and `thorough`, which `--hypothesis-profile` names.

    No example has a time limit: how long it takes is told by the machine as much as by the code.
    """
    for name, count in (("fast", 20), (THOROUGH, 100)):
        settings.register_profile(
            name, max_examples=count, deadline=None, suppress_health_check=[HealthCheck.too_slow]
        )
    settings.load_profile("fast")


def examples(count: int, **options: Any) -> settings:
    """Return settings with `count` examples in the thorough profile, and a fifth of them in the fast one."""
    thorough = settings.get_current_profile_name() == THOROUGH
    return settings(max_examples=count if thorough else max(5, count // FAST_SHARE), **options)


def sampled(values: Iterable[Any], *fast: Any) -> list[Any]:
    """Return the values as parameters of a test; those that are not among `fast` are slow."""
    return [value if value in fast else _slow(value) for value in values]


def _slow(value: Any) -> Any:
    values = value if isinstance(value, tuple) else (value,)
    return pytest.param(*values, marks=pytest.mark.slow)
