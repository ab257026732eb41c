"""The first lines on the local stream. Each end proves that it knows the nonce, which is never sent.

The server sends a challenge. The client sends its proof, its own challenge and its role, and the server sends
its proof. After this the stream carries MCP as stdio does, with one message per line.
"""

from __future__ import annotations

import hmac
import json
import os
from collections.abc import Mapping
from typing import Any, Literal, cast

__all__ = [
    "LIMIT_SECONDS",
    "MAX_LINE_LENGTH",
    "Role",
    "check_proof",
    "encode_line",
    "make_proof",
    "new_challenge",
    "read_line",
]

Role = Literal["call", "shared", "status", "stop"]
"""The role of a client:

- `call`: a command of the user. All commands are one caller over many short connections.
- `shared`: an MCP client. Each one is a separate caller, whose sessions end with the connection.
- `status`, `stop`: a request to the server itself.
"""

MAX_LINE_LENGTH = 4096
LIMIT_SECONDS = 5.0
"""Time limit of the whole greeting."""


def new_challenge() -> str:
    return os.urandom(16).hex()


def make_proof(nonce: str, challenge: str, *, of: Literal["client", "server"]) -> str:
    """Return the proof of one end. It is not valid for the other end."""
    return hmac.digest(nonce.encode(), f"{of}:{challenge}".encode(), "sha256").hex()


def check_proof(proof: object, nonce: str, challenge: str, *, of: Literal["client", "server"]) -> bool:
    return isinstance(proof, str) and hmac.compare_digest(
        proof.encode("utf-8", "replace"), make_proof(nonce, challenge, of=of).encode()
    )


def encode_line(fields: Mapping[str, Any]) -> bytes:
    return json.dumps(fields).encode() + b"\n"


def read_line(line: bytes) -> dict[str, Any]:
    """Return the content of a line, or an empty mapping if it is not a valid line of the greeting."""
    try:
        fields: object = json.loads(line) if line.endswith(b"\n") else None
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", fields) if isinstance(fields, dict) else {}
