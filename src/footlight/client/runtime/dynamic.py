"""A handle without a generated module: the same calls, without types and completion."""

from __future__ import annotations

from typing import Any

from footlight.client.adapters import fitting_adapter
from footlight.client.adapters.adapter import Adapter, AdapterChoice
from footlight.client.runtime.connecting import Connecting, connect
from footlight.client.runtime.handle import ROOT, Handle, Method, Namespace
from footlight.client.runtime.logger import CallLog

__all__ = ["DynamicHandle", "connect_dynamic"]


class DynamicNamespace(Namespace):
    """Every name is a method: whether there is such a tool, the server says."""

    def __getattr__(self, method: str) -> Method:
        if method.startswith("_"):  # What Python and its shells look for; `nav["_x"]` is for tools.
            raise AttributeError(method)
        return self[method]


class DynamicHandle(Handle):
    """Every name is a namespace; `root` is another name of `_root`."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") and name != ROOT:
            raise AttributeError(name)
        return DynamicNamespace(self._bound, ROOT if name == "root" else name)


def connect_dynamic(
    session_name: str,
    adapter: Adapter | AdapterChoice | None = None,
    *,
    server: object,
    log: CallLog | None = None,
    timeout_ms: float | None = None,
) -> Connecting[DynamicHandle]:
    """As a generated `mcp_connect`. Without an adapter, the one that fits the server's tools is taken.

    It may also be a function that chooses one by the tools.

    Raises what `connect` raises, except that nothing is compared.
    """
    return connect(
        DynamicHandle,
        session_name,
        adapter=adapter or fitting_adapter,
        server=server,
        log=log,
        timeout_ms=timeout_ms,
    )
