"""Ports that a service of an app needs, on this machine alone."""

from __future__ import annotations

import errno
import socket

from footlight.browser.listening import listener_on
from footlight.errors import PortInUse

__all__ = ["check_port_free", "port_taken"]

_LOOPBACK = ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"))
"""Browsers take `localhost` for both."""


def check_port_free(port: int, *, what: str) -> None:
    """Raises PortInUse where it is taken, which says what needs it and who has it."""
    for family, host in _LOOPBACK:
        if _is_taken(family, host, port):
            raise port_taken(port, what=what)


def port_taken(port: int, *, what: str) -> PortInUse:
    """By whom, if the system tells."""
    return PortInUse(f"port {port}, which {what} needs, is taken by {listener_on(port)}", port=port)


def _is_taken(family: socket.AddressFamily, host: str, port: int) -> bool:
    try:
        with socket.socket(family) as trial:
            # What is left of connections that were closed is no matter.
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind((host, port))
    except OSError as error:
        return error.errno not in (errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL)  # Without IPv6 it is nobody's.
    return False
