"""Find the tools for `footlight call` without starting a server."""

from __future__ import annotations

import os
from pathlib import Path

from footlight.cli.usage import InvalidUsageError
from footlight.daemon.errors import DaemonError
from footlight.daemon.state import Tools, read_state, read_tools

__all__ = ["find_known_tools"]


def find_known_tools(folder: Path) -> Tools:
    """Return the tools of the background server, or those that it would offer if it is not running.

    Raises:
        InvalidUsageError: the settings are not valid, so that no server could start.
    """
    try:
        state = read_state(folder)
    except DaemonError:
        state = None  # The folder belongs to another user.
    listed = read_tools(folder, state) if state else None
    return listed or _list_configured_tools()


def _list_configured_tools() -> Tools:
    from footlight.config.loading import load_settings
    from footlight.errors import ConfigurationError
    from footlight.server.protocol.tools import list_tools
    from footlight.toolsets import make_toolset

    try:
        return list_tools(make_toolset(load_settings(environment=os.environ)))
    except ConfigurationError as error:
        raise InvalidUsageError(f"{error.message}\n{error.suggestion}") from None
