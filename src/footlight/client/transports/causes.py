"""Why a connection could not be made or broke, in the system's words: the same ones from every library."""

from __future__ import annotations

import os
import re
import ssl

__all__ = ["cause"]

_PLACE = re.compile(r"^\[[^\]]*\] | \(_ssl\.c:\d+\)$")


def cause(error: OSError) -> str:
    """Without addresses, which the caller has already told, and places in somebody's source."""
    if isinstance(error, ssl.SSLError):
        no_tls = error.reason in ("WRONG_VERSION_NUMBER", "HTTP_REQUEST")
        return "what answers does not speak TLS" if no_tls else _PLACE.sub("", error.strerror or "no TLS")
    if isinstance(error, ConnectionError) and error.errno:
        return os.strerror(error.errno)
    return error.strerror or str(error) or "the connection broke"
