"""Select a sample of many similar cases for `make test`; `make test-all` runs all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

__all__ = ["examples", "mark_sampled", "register_profiles", "sample_parameters"]

FAST_SHARE = 5
"""The share of the examples of `make test-all` that `make test` tries."""
SEARCH_FACTOR = 20
"""The factor by which the profile `search` tries more examples than `make test-all`."""


def register_profiles() -> None:
    """Register `fast`, which is loaded, and `thorough` and `search`, which `--hypothesis-profile` names.

    `fast` and `thorough` try the same examples on each run, so that a change decides the result and
    not chance. `search` tries other examples on each run. No example has a time limit, because its duration
    depends on the machine as much as on the code.
    """
    for name, count in (("fast", 20), ("thorough", 100), ("search", 100 * SEARCH_FACTOR)):
        settings.register_profile(
            name,
            max_examples=count,
            deadline=None,
            derandomize=name != "search",
            suppress_health_check=[HealthCheck.too_slow],
        )
    settings.load_profile("fast")


def examples(count: int, **options: Any) -> settings:
    """Return settings with `count` examples in the profile `thorough`; other profiles have their share."""
    match settings.get_current_profile_name():
        case "thorough":
            share = count
        case "search":
            share = count * SEARCH_FACTOR
        case _:
            share = max(5, count // FAST_SHARE)
    return settings(max_examples=share, **options)


def mark_sampled(items: Iterable[pytest.Item]) -> None:
    """Mark as slow all but one in N of the parameters of each test that is marked `sampled(N)`."""
    counts = Counter[str]()
    for item in items:
        sampled = item.get_closest_marker("sampled")
        if sampled is None or item.get_closest_marker("slow"):
            continue
        test = item.nodeid.partition("[")[0]
        if counts[test] % sampled.args[0]:
            item.add_marker(pytest.mark.slow)
        counts[test] += 1


def sample_parameters(values: Iterable[Any], *fast: Any) -> list[Any]:
    """Return the values as parameters of a test; those that are not among `fast` are slow."""
    return [value if value in fast else _slow(value) for value in values]


def _slow(value: Any) -> Any:
    values = value if isinstance(value, tuple) else (value,)
    return pytest.param(*values, marks=pytest.mark.slow)
