"""A handle that needs no generated module. It has the same calls, without types and completion."""

from __future__ import annotations

from typing import Any

from footlight.client.handles.adapters import Adapter, AdapterChoice, choose_fitting_adapter
from footlight.client.handles.call_log import CallLog
from footlight.client.handles.connect import PendingConnection, connect
from footlight.client.handles.handle import ROOT, Handle, Method, Namespace

__all__ = ["DynamicHandle", "connect_dynamic"]


class DynamicNamespace(Namespace):
    """A namespace in which every attribute is a method. The server checks whether the tool exists."""

    def __getattr__(self, method: str) -> Method:
        if method.startswith("_"):  # Python and shells probe for such names. `nav["_x"]` calls a tool.
            raise AttributeError(method)
        return self[method]


class DynamicHandle(Handle):
    """A handle on which every attribute is a namespace. `root` is another name of `_root`."""

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
) -> PendingConnection[DynamicHandle]:
    """Connect like a generated `mcp_connect`, but do not compare the tools.

    `adapter` may be a function that chooses one by the server's tools, which is also the default. Raises what
    `connect` raises.
    """
    return connect(
        DynamicHandle,
        session_name,
        adapter=adapter or choose_fitting_adapter,
        server=server,
        log=log,
        timeout_ms=timeout_ms,
    )
