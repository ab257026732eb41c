"""The client's end of the local stream, with blocking calls."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from typing import Any

from footlight.daemon.errors import DaemonNotRunningError
from footlight.daemon.greeting import (
    LIMIT_SECONDS,
    MAX_LINE_LENGTH,
    Role,
    check_proof,
    encode_line,
    make_proof,
    new_challenge,
    read_line,
)
from footlight.daemon.state import State

__all__ = ["DaemonLink", "connect"]


class DaemonLink:
    """A connection whose ends have proved their identity. `facts` is what the server reported about
    itself.
    """

    def __init__(self, connection: socket.socket) -> None:
        self.facts: Mapping[str, Any] = {}
        self._socket = connection
        self._incoming = connection.makefile("rb")

    def greet(self, nonce: str, role: Role) -> None:
        """Greet the server.

        Raises:
            DaemonNotRunningError: The server does not answer, or it is another program.
        """
        hello = read_line(self._incoming.readline(MAX_LINE_LENGTH))
        mine = new_challenge()
        answer = make_proof(nonce, str(hello.get("challenge")), of="client")
        self.send(encode_line({"as": role, "proof": answer, "challenge": mine}))
        self.facts = read_line(self._incoming.readline(MAX_LINE_LENGTH))
        if not check_proof(self.facts.get("proof"), nonce, mine, of="server"):
            raise DaemonNotRunningError(
                self.facts.get("error")
                or "The program that answers there is not the server of the state file"
            )
        self._socket.settimeout(None)

    def send(self, data: bytes) -> None:
        self._socket.sendall(data)

    def end_input(self) -> None:
        """Tell the server that no more data will follow."""
        self._socket.shutdown(socket.SHUT_WR)

    def line(self) -> bytes:
        """Return the next line, or b"" at the end."""
        return self._incoming.readline()

    def some(self) -> bytes:
        """Wait for data and return it, or b"" at the end."""
        return self._incoming.read1(1 << 16)

    def fileno(self) -> int:
        return self._socket.fileno()

    def limit(self, seconds: float) -> None:
        """Set the time limit of each later wait, which then raises TimeoutError."""
        self._socket.settimeout(seconds)

    def close(self) -> None:
        self._incoming.close()
        self._socket.close()

    def __enter__(self) -> DaemonLink:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def connect(state: State, role: Role) -> DaemonLink:
    """Connect to the server of this state.

    Raises:
        DaemonNotRunningError: No server listens there, it does not answer, or it is a different server.
    """
    connection = socket.socket(socket.AF_UNIX)
    link = DaemonLink(connection)
    try:
        connection.settimeout(LIMIT_SECONDS)
        connection.connect(state.socket)
        link.greet(state.nonce, role)
    except (ConnectionRefusedError, FileNotFoundError):
        link.close()
        raise DaemonNotRunningError(
            "no background server is running, the last one was killed",
            suggestion="Start one with `footlight daemon start`.",
        ) from None
    except OSError as error:  # This includes TimeoutError.
        link.close()
        raise DaemonNotRunningError(f"The server does not answer on {state.socket}: {error}") from None
    except BaseException:
        link.close()
        raise
    return link
