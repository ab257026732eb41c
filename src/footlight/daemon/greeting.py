"""The first lines on the local stream: each end proves that it knows the nonce, which is never sent.

The server sends a challenge; the client answers it, with a challenge of its own and what it comes as; the
server answers that. After this the stream carries MCP as stdio does, one message a line.
"""

from __future__ import annotations

import hmac
import json
import os
from collections.abc import Mapping
from typing import Any, Literal, cast

__all__ = [
    "LIMIT_SECONDS",
    "LONGEST_LINE",
    "Role",
    "line_of",
    "new_challenge",
    "proof",
    "proves",
    "read_line",
]

Role = Literal["call", "shared", "status", "stop"]
"""What a client comes as:

- `call`: a command of the user's. All of them are one caller, over many short connections.
- `shared`: an MCP client, which is a caller of its own and whose sessions end with the connection.
- `status`, `stop`: to ask and to tell the server itself.
"""

LONGEST_LINE = 4096
LIMIT_SECONDS = 5.0
"""For the whole greeting."""


def new_challenge() -> str:
    return os.urandom(16).hex()


def proof(nonce: str, challenge: str, *, of: Literal["client", "server"]) -> str:
    """Return the proof of one end. It proves nothing for the other end."""
    return hmac.digest(nonce.encode(), f"{of}:{challenge}".encode(), "sha256").hex()


def proves(given: object, nonce: str, challenge: str, *, of: Literal["client", "server"]) -> bool:
    return isinstance(given, str) and hmac.compare_digest(
        given.encode("utf-8", "replace"), proof(nonce, challenge, of=of).encode()
    )


def line_of(fields: Mapping[str, Any]) -> bytes:
    return json.dumps(fields).encode() + b"\n"


def read_line(line: bytes) -> dict[str, Any]:
    """Return the content of a line, or an empty mapping if it is not one of ours."""
    try:
        fields: object = json.loads(line) if line.endswith(b"\n") else None
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", fields) if isinstance(fields, dict) else {}
