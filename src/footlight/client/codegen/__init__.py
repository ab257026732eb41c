"""A server's tools as a Python module with types, for completion and for checkers (document 000)."""

from footlight.client.codegen.render_tools import Source, render_tools
from footlight.client.codegen.schema_to_type import schema_to_type

__all__ = ["Source", "render_tools", "schema_to_type"]
