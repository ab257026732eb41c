"""How a server names its sessions. A handle asks; only an adapter knows the key (R000-14, R000-15).

An adapter of one's own is an object with what `Adapter` has.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from footlight.client.adapters.adapter import Adapter, AdapterChoice, ToolCaller
from footlight.client.adapters.browser_session import BrowserSession
from footlight.client.adapters.no_session import NoSession
from footlight.client.adapters.szkrabok_session import SzkrabokSession
from footlight.client.results import Tool

__all__ = [
    "ADAPTERS",
    "Adapter",
    "AdapterChoice",
    "BrowserSession",
    "NoSession",
    "SzkrabokSession",
    "ToolCaller",
    "browser_session",
    "choose_adapter",
    "fitting_adapter",
    "no_session",
    "passing",
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


def fitting_adapter(tools: Iterable[Tool]) -> Adapter:
    return ADAPTERS[choose_adapter(tools)]


def passing(adapter: Adapter) -> Adapter:
    """The same, for sessions of which nothing is to stay at the server."""
    return replace(adapter, keep=False) if isinstance(adapter, SzkrabokSession) else adapter
