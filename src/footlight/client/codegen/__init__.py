"""Generate a Python module with types for the tools of a server, for completion and type checkers."""

from footlight.client.codegen.render_tools import Source, render_tools
from footlight.client.codegen.render_types import schema_to_type

__all__ = ["Source", "render_tools", "schema_to_type"]
