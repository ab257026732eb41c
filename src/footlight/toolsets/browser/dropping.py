"""Dropping files and texts onto a page."""

from typing import Annotated

from pydantic import Field, WithJsonSchema

from footlight.browser.dropping import drop as drop_onto
from footlight.browser.policy import upload_paths
from footlight.errors import MissingParameter, PermissionDenied
from footlight.server.tool import ToolCall, tool
from footlight.toolsets.browser.parameters import Acted, Selector, acted

__all__ = ["TOOLS"]


class Dropped(Acted):
    """The page took it. `files` are the names that it sees."""

    files: list[str]


@tool(effect="act", destructive=True)
async def drop(
    call: ToolCall,
    selector: Selector,
    files: Annotated[list[Annotated[str, Field(min_length=1)]] | None, Field(max_length=100)] = None,
    data: Annotated[
        dict[Annotated[str, Field(min_length=1)], str] | None,
        WithJsonSchema({"type": "object", "description": '{"text/plain": "…", "text/uri-list": "…"}'}),
    ] = None,
) -> Dropped:
    """Drop files or data onto element. Files are below the upload roots."""
    if not files and not data:
        raise MissingParameter("drop needs files or data", parameter="files", missing=["files", "data"])
    security = call.settings.security
    if files and not security.enable_file_upload:
        raise PermissionDenied(
            "files: uploading is switched off on this server",
            suggestion="Whoever runs the server can switch it on: security.enableFileUpload = true.",
            setting="security.enableFileUpload",
            parameter="files",
        )
    paths = upload_paths(files or [], security.upload_roots, never=call.settings.private_paths)
    call.stage(f"dropping onto {selector}")
    await drop_onto(call.page, selector, paths, data or {}, call.deadline)
    return {**acted(call), "files": [path.name for path in paths]}


TOOLS = (drop,)
