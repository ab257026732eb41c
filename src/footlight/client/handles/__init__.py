"""Typed handles, which call the tools of a server in order, in one session, and log the calls.

A handle belongs to one tool session at the server, such as a browser session. Adapters define how a
particular server's sessions are opened, closed and named. All other modules are independent of the server.
"""

from footlight.client.handles.call_log import CallLog, create_logger
from footlight.client.handles.connect import PendingConnection, Registry, connect, spawn_client
from footlight.client.handles.handle import CallOptions, Handle, Namespace, SessionBinding
from footlight.client.handles.invoker import create_call_invoker
from footlight.client.handles.registry import RegistryDriftError, registry_hash
from footlight.client.server_address import ServerFromEnvironment
from footlight.protocol.results import value_of

__all__ = [
    "CallLog",
    "CallOptions",
    "Handle",
    "Namespace",
    "PendingConnection",
    "Registry",
    "RegistryDriftError",
    "ServerFromEnvironment",
    "SessionBinding",
    "connect",
    "create_call_invoker",
    "create_logger",
    "registry_hash",
    "spawn_client",
    "value_of",
]
