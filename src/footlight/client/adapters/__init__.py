"""How a server names its sessions. A handle asks; only an adapter knows the key (R000-14, R000-15).

An adapter of one's own is an object with what `Adapter` has.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from footlight.client.adapters.adapter import Adapter, ToolCaller
from footlight.client.adapters.browser_session import BrowserSession
from footlight.client.adapters.no_session import NoSession
from footlight.client.adapters.szkrabok_session import SzkrabokSession
from footlight.client.results import Tool

__all__ = [
    "ADAPTERS",
    "Adapter",
    "BrowserSession",
    "NoSession",
    "SzkrabokSession",
    "ToolCaller",
    "browser_session",
    "choose_adapter",
    "no_session",
    "szkrabok_session",
]

szkrabok_session = SzkrabokSession()
browser_session = BrowserSession()
no_session = NoSession()

ADAPTERS: Mapping[str, Adapter] = {
    "szkrabok": szkrabok_session,
    "browser": browser_session,
    "none": no_session,
}


def choose_adapter(tools: Iterable[Tool]) -> str:
    """The name of the one whose way of opening a session the server has; `none` where it has neither."""
    offered = {tool.name for tool in tools}
    fits = (name for name, adapter in ADAPTERS.items() if adapter.opens in offered)
    return next(fits, "none")
