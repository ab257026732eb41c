"""Which server an audit sees pages by: our own, or one that is named. Neither knows the audit's secrets."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

from footlight.client.errors import SECRET_NAME
from footlight.client.target import transport_for
from footlight.client.transports.stdio import Stdio

if TYPE_CHECKING:
    from footlight.client.channel import Transport

__all__ = ["minimal_environment", "own_server", "server_of", "unpinned"]

_NEEDED = (
    {"PATH", "HOME", "USER", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TMP", "TEMP", "LD_LIBRARY_PATH"}
    | {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "NODE_PATH", "NODE_EXTRA_CA_CERTS"}
    | {"DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS"}
    | {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"}
    | {"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "USERPROFILE", "APPDATA", "LOCALAPPDATA"}
    | {"PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)", "PROGRAMW6432"}
)
"""By programs, Python, Node and browsers of any system."""
_FAMILIES = ("FOOTLIGHT_", "PLAYWRIGHT_", "LC_", "XDG_", "NPM_CONFIG_")
_HAS_USER = re.compile(r"://[^/\s]*@")
"""A proxy, or a registry, with a password."""

_FETCHING = ("npx", "bunx", "pnpx", "uvx")
_PINNED = re.compile(r".(@|==)v?\d")


def minimal_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """What of it a server and its browsers need to run, and nothing that looks like a secret."""
    return {
        name: value
        for name, value in environ.items()
        if (name.upper() in _NEEDED or name.upper().startswith(_FAMILIES))
        and not SECRET_NAME.search(name)
        and not name.upper().endswith("KEY")
        and not _HAS_USER.search(value)
    }


def own_server(flags: Sequence[str] = (), *, environ: Mapping[str, str]) -> Transport:
    """`footlight serve` of this Python, with one browser. `flags` come last, and so win."""
    command = ("-m", "footlight", "serve", "--transport", "stdio", "--toolset", "browser")
    offers = ("--tools", "default", "--enable-script-evaluation", "--headless")
    log = ("--log-level", "warn", "--log-format", "text")
    env = {"FOOTLIGHT_POOL_MIN_BROWSERS": "1", **minimal_environment(environ)}
    return Stdio(sys.executable, (*command, *offers, *log, *flags), env=env)


def server_of(
    target: str, *, headers: Mapping[str, str] | None = None, environ: Mapping[str, str]
) -> Transport:
    """Of a URL, which the headers are for, or a command.

    Raises:
        MCPError: it names nothing, or headers are given to a command (`invalid`).
    """
    if "://" in target.strip().partition(" ")[0]:
        return transport_for(target, headers=headers)
    return transport_for(target, headers=headers, env=minimal_environment(environ))


def unpinned(target: str) -> str | None:
    """The package that a command fetches in whatever version is the newest that day."""
    try:
        first, *words = shlex.split(target) or [""]
    except ValueError:
        return None
    package = next((word for word in words if not word.startswith("-")), None)
    if PurePath(first).stem not in _FETCHING or package is None or _PINNED.search(package):
        return None
    return package
