"""Start the server for an audit: our own, or a named one. Neither gets the audit's secrets."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

from footlight.client.target import transport_for
from footlight.client.transports.stdio import Stdio
from footlight.protocol.errors import SECRET_NAME

if TYPE_CHECKING:
    from footlight.protocol.channel import Transport

__all__ = ["find_unpinned_package", "minimal_environment", "own_server", "server_of"]

_NEEDED = (
    {"PATH", "HOME", "USER", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TMP", "TEMP", "LD_LIBRARY_PATH"}
    | {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "NODE_PATH", "NODE_EXTRA_CA_CERTS"}
    | {"DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS"}
    | {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"}
    | {"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "USERPROFILE", "APPDATA", "LOCALAPPDATA"}
    | {"PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)", "PROGRAMW6432"}
)
"""What programs, Python, Node and browsers need on any system."""
_FAMILIES = ("FOOTLIGHT_", "PLAYWRIGHT_", "LC_", "XDG_", "NPM_CONFIG_")
_HAS_USER = re.compile(r"://[^/\s]*@")
"""Matches the URL of a proxy or registry with a user name."""

_FETCHING = ("npx", "bunx", "pnpx", "uvx")
_PINNED = re.compile(r".(@|==)v?\d")


def minimal_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that a server and its browsers need, without any that look like secrets."""
    return {
        name: value
        for name, value in environ.items()
        if (name.upper() in _NEEDED or name.upper().startswith(_FAMILIES))
        and not SECRET_NAME.search(name)
        and not name.upper().endswith("KEY")
        and not _HAS_USER.search(value)
    }


def own_server(flags: Sequence[str] = (), *, environ: Mapping[str, str]) -> Transport:
    """Return the transport that starts `footlight serve` with one browser. `flags` override the defaults."""
    command = ("-m", "footlight", "serve", "--transport", "stdio", "--toolset", "browser")
    offers = ("--tools", "default", "--enable-script-evaluation", "--headless")
    log = ("--log-level", "warn", "--log-format", "text")
    env = {"FOOTLIGHT_POOL_MIN_BROWSERS": "1", **minimal_environment(environ)}
    return Stdio(sys.executable, (*command, *offers, *log, *flags), env=env)


def server_of(
    target: str, *, headers: Mapping[str, str] | None = None, environ: Mapping[str, str]
) -> Transport:
    """Return the transport for a URL, with these headers, or for a command.

    Raises:
        MCPError: the target is empty, or headers are given with a command (`invalid`).
    """
    if "://" in target.strip().partition(" ")[0]:
        return transport_for(target, headers=headers)
    return transport_for(target, headers=headers, env=minimal_environment(environ))


def find_unpinned_package(target: str) -> str | None:
    """Return the package that a command installs without a fixed version, or None."""
    try:
        first, *words = shlex.split(target) or [""]
    except ValueError:
        return None
    package = next((word for word in words if not word.startswith("-")), None)
    if PurePath(first).stem not in _FETCHING or package is None or _PINNED.search(package):
        return None
    return package
