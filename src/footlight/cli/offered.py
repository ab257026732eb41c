"""Which tools `footlight call` can name, without asking a server that may not run."""

from __future__ import annotations

import os
from pathlib import Path

from footlight.cli.arguments import BadUsage
from footlight.daemon.errors import DaemonError
from footlight.daemon.state import Tools, read_state, read_tools

__all__ = ["offered"]


def offered(folder: Path) -> Tools:
    """Those of the server in the background; where none runs, those that one would have.

    Raises:
        BadUsage: the settings are such that none could.
    """
    try:
        state = read_state(folder)
    except DaemonError:
        state = None  # Nothing there is this user's.
    listed = read_tools(folder, state) if state else None
    return listed or _built_in()


def _built_in() -> Tools:
    from footlight.app import offered_tools, toolset_of
    from footlight.config import load_settings
    from footlight.errors import ConfigurationError
    from footlight.server.handlers.tools import listed_tool

    try:
        settings = load_settings(environment=os.environ)
        tools = offered_tools(settings)
    except ConfigurationError as error:
        raise BadUsage(f"{error.message}\n{error.suggestion}") from None
    envelope = toolset_of(settings).make_envelope()
    listed = [listed_tool(tool, envelope) for tool in tools]
    return [tool.model_dump(by_alias=True, exclude_none=True) for tool in listed]
