"""Choosing the adapter for a server."""

from __future__ import annotations

import pytest

from footlight.client.handles.adapters import (
    ADAPTERS,
    SzkrabokSession,
    browser_session,
    choose_adapter,
    choose_fitting_adapter,
    no_session,
    szkrabok_session,
    without_traces,
)
from footlight.protocol.tools import Tool


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
def test_adapter_is_chosen_by_the_session_tools(tools: tuple[str, ...], chosen: str) -> None:
    assert choose_adapter(Tool(name) for name in tools) == chosen
    assert choose_fitting_adapter(Tool(name) for name in tools) is ADAPTERS[chosen]


def test_each_adapter_has_a_name() -> None:
    assert dict(ADAPTERS) == {
        "szkrabok": szkrabok_session,
        "browser": browser_session,
        "none": no_session,
    }


def test_without_traces_changes_only_the_session_keeping_adapter() -> None:
    given = (SzkrabokSession(url="https://a.test/"), browser_session, no_session)

    assert [without_traces(adapter) for adapter in given] == [
        SzkrabokSession(url="https://a.test/", keep=False),
        browser_session,
        no_session,
    ]
