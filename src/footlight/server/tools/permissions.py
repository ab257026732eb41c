"""Check that the settings of the server permit a tool."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footlight.errors import PermissionDenied

if TYPE_CHECKING:
    from footlight.config import SecuritySettings
    from footlight.server.tools.declaration import Tool

__all__ = ["check_permission"]


def check_permission(tool: Tool, security: SecuritySettings) -> None:
    """Check that the tool may be called.

    Raises:
        PermissionDenied: a setting disables it.
    """
    if tool.permission == "evaluation" and not security.enable_script_evaluation:
        raise _disabled_error(tool, "security.enableScriptEvaluation")
    if tool.permission == "upload" and not security.enable_file_upload:
        raise _disabled_error(tool, "security.enableFileUpload")
    if tool.permission == "page tools" and not security.enable_page_tools:
        raise _disabled_error(tool, "security.enablePageTools")


def _disabled_error(tool: Tool, setting: str) -> PermissionDenied:
    return PermissionDenied(
        f"{tool.name} is disabled on this server",
        suggestion=f"Ask the server operator to enable `{setting}`.",
        setting=setting,
    )
