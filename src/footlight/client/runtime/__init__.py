"""Calls through a typed handle: connected, checked against what was generated, in order, logged.

Nothing in here knows a particular server; an adapter knows how its sessions are named.
"""

from footlight.client.runtime.connecting import Connecting, Registry, connect
from footlight.client.runtime.handle import Bound, CallOptions, Handle, Namespace
from footlight.client.runtime.invoker import create_call_invoker
from footlight.client.runtime.logger import CallLog, create_logger
from footlight.client.runtime.registry import RegistryDriftError, registry_hash
from footlight.client.runtime.sequence import run_sequence
from footlight.client.runtime.transport import spawn_client

__all__ = [
    "Bound",
    "CallLog",
    "CallOptions",
    "Connecting",
    "Handle",
    "Namespace",
    "Registry",
    "RegistryDriftError",
    "connect",
    "create_call_invoker",
    "create_logger",
    "registry_hash",
    "run_sequence",
    "spawn_client",
]
