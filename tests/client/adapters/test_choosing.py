"""Which adapter fits a server."""

from __future__ import annotations

import pytest

from footlight.client.adapters import (
    ADAPTERS,
    browser_session,
    choose_adapter,
    no_session,
    szkrabok_session,
)
from footlight.client.results import Tool


@pytest.mark.parametrize(
    ("tools", "chosen"),
    [
        (("session.open", "session.close", "nav.goto"), "szkrabok"),
        (("create_session", "close_session", "navigate"), "browser"),
        (("create_session", "session.open"), "szkrabok"),
        (("browser_navigate", "browser_close"), "none"),
        (("session.close", "close_session"), "none"),
        ((), "none"),
    ],
)
def test_a_server_is_known_by_how_it_opens_a_session(tools: tuple[str, ...], chosen: str) -> None:
    """R000-14"""
    assert choose_adapter(Tool(name) for name in tools) == chosen


def test_each_has_a_name() -> None:
    assert dict(ADAPTERS) == {
        "szkrabok": szkrabok_session,
        "browser": browser_session,
        "none": no_session,
    }
