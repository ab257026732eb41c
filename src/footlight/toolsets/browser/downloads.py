"""What the pages of a session have downloaded."""

from typing_extensions import TypedDict

from footlight.browser.overview import DownloadInfo, download_info
from footlight.server.tool import ToolCall, tool

__all__ = ["TOOLS"]


class DownloadList(TypedDict):
    """An answer's own `downloads` are those that are new since the last one."""

    entries: list[DownloadInfo]


@tool(scope="session", effect="read")
async def downloads(call: ToolCall) -> DownloadList:
    """List downloads. Newest last."""
    return {"entries": [download_info(each) for each in call.session.downloads.known]}


TOOLS = (downloads,)
