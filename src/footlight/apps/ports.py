"""Check the local ports that the services of an app need."""

from __future__ import annotations

import errno
import socket

from footlight.app_errors import PortInUseError
from footlight.browser.launch.browser_process import listener_on

__all__ = ["check_port_free", "port_taken"]

_LOOPBACK = ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"))
"""Browsers resolve `localhost` to both addresses."""


def check_port_free(port: int, *, what: str) -> None:
    """Check that no process listens on a port.

    Raises:
        PortInUseError: The port is taken. The message names the service that needs it and the listening
            process.
    """
    for family, host in _LOOPBACK:
        if _is_taken(family, host, port):
            raise port_taken(port, what=what)


def port_taken(port: int, *, what: str) -> PortInUseError:
    """Return the error for a taken port. It names the process that listens there, if that is known."""
    return PortInUseError(f"port {port}, which {what} needs, is taken by {listener_on(port)}", port=port)


def _is_taken(family: socket.AddressFamily, host: str, port: int) -> bool:
    try:
        with socket.socket(family) as trial:
            # Ignore closed connections in TIME_WAIT.
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind((host, port))
    except OSError as error:
        return error.errno not in (
            errno.EAFNOSUPPORT,
            errno.EADDRNOTAVAIL,
        )  # Not taken if the machine has no IPv6.
    return False
