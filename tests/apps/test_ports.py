"""Ports that must be free before an app is launched."""

import os
import socket

import psutil
import pytest

from footlight.app_errors import PortInUseError
from footlight.apps.ports import check_port_free


def test_free_port_passes_the_check() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

    check_port_free(port, what="the chain")


@pytest.mark.parametrize(
    ("family", "host"),
    [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::1")],
)
def test_port_in_use_error_names_purpose_and_process(family: socket.AddressFamily, host: str) -> None:
    """The extension asks `localhost`, which is ::1 too."""
    if family == socket.AF_INET6 and not _has_ipv6():
        pytest.skip("this machine has no IPv6 on loopback")
    with socket.create_server((host, 0), family=family) as listener:
        port = listener.getsockname()[1]

        with pytest.raises(PortInUseError) as raised:
            check_port_free(port, what="the chain")

    me = f"process {os.getpid()} ({psutil.Process().name()})"
    assert raised.value.message == f"port {port}, which the chain needs, is taken by {me}"
    assert raised.value.details == {"port": port}


def test_a_port_whose_connections_were_just_closed_is_free() -> None:
    """They linger for a minute, and are no reason to wait."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)) as client:
            accepted, _ = listener.accept()
            accepted.close()  # Who closes first has the rest of the connection.
            assert client.recv(1) == b""

    check_port_free(port, what="the chain")


def _has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as trial:
            trial.bind(("::1", 0))
    except OSError:
        return False
    return True
