"""Which tools `footlight call` can name, without asking a server that may not run."""

from __future__ import annotations

import os
from pathlib import Path

from footlight.daemon.state import Tools, read_state, read_tools

__all__ = ["offered"]


def offered(folder: Path) -> Tools:
    """Those of the server in the background; where none runs, those that one would have."""
    state = read_state(folder)
    listed = read_tools(folder, state) if state else None
    return listed or _built_in()


def _built_in() -> Tools:
    from footlight.app import offered_tools
    from footlight.config import load_settings
    from footlight.server.handlers.tools import listed_tool

    tools = offered_tools(load_settings(environment=os.environ))
    return [listed_tool(tool).model_dump(by_alias=True, exclude_none=True) for tool in tools]
