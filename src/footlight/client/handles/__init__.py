"""Typed handles: calls in order, checked against the generated module, logged, and with their browser
session.

A handle belongs to one session of tools at the server, such as a browser session. Nothing in this package
knows a particular server: an adapter knows how its sessions are opened, closed and named.
"""

from footlight.client.handles.call_log import CallLog, create_logger
from footlight.client.handles.connect import Connecting, Registry, connect, spawn_client
from footlight.client.handles.handle import Bound, CallOptions, Handle, Namespace
from footlight.client.handles.invoker import create_call_invoker
from footlight.client.handles.registry import RegistryDriftError, registry_hash
from footlight.client.server_address import ServerFromEnvironment
from footlight.protocol.results import value_of

__all__ = [
    "Bound",
    "CallLog",
    "CallOptions",
    "Connecting",
    "Handle",
    "Namespace",
    "Registry",
    "RegistryDriftError",
    "ServerFromEnvironment",
    "connect",
    "create_call_invoker",
    "create_logger",
    "registry_hash",
    "spawn_client",
    "value_of",
]
