"""What tools write into files: a print of a page, a trace, a HAR, a video."""

from pathlib import Path
from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from footlight.browser import printing
from footlight.browser.output import OutputFolder, write_new
from footlight.browser.printing import PaperFormat, PrintOptions
from footlight.server.keeping import attach_file
from footlight.server.tool import Number, ToolCall, tool

__all__ = ["TOOLS", "FileName", "output_of"]

Action = Literal["start", "stop"]
FileName = Annotated[str | None, Field(description="File name; a number is added if it is taken")]
Pages = Annotated[
    str, Field(pattern=r"^\s*\d+(\s*-\s*\d*)?(\s*,\s*\d+(\s*-\s*\d*)?)*\s*$", description="Such as 1-3, 5")
]


class Written(TypedDict):
    """It can be read at `uri` too, unless it is large."""

    path: str
    bytes: int
    uri: NotRequired[str]


class Recording(TypedDict):
    """`path` is where it will be when it is stopped, or the session ends; `bytes` and `uri` come then."""

    recording: bool
    path: str
    bytes: NotRequired[int]
    uri: NotRequired[str]


@tool(effect="configure", group="devtools")
async def pdf(
    call: ToolCall,
    format: PaperFormat = "A4",
    landscape: bool = False,
    background: bool = True,
    scale: Annotated[Number, Field(ge=0.1, le=2)] = 1,
    pages: Pages | None = None,
    name: FileName = None,
) -> Written:
    """Print the page to PDF. Headless Chromium only."""
    options = PrintOptions(
        format=format, landscape=landscape, background=background, scale=scale, pages=pages or ""
    )
    path = output_of(call).reserve(name or call.page.id, ".pdf")
    try:
        write_new(path, await printing.pdf(call.page, options, call.deadline))
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return _written(call, path, "application/pdf")


@tool(scope="session", effect="configure", group="devtools")
async def trace(call: ToolCall, action: Action, name: FileName = None) -> Recording:
    """Record a Playwright trace. Into a zip for its trace viewer."""
    recordings = call.session.recordings
    if action == "stop":
        return _stopped(call, await recordings.stop_trace(), "application/zip")
    return _started(await recordings.start_trace(lambda: output_of(call).reserve(name or "trace", ".zip")))


@tool(scope="session", effect="configure", group="network")
async def har(
    call: ToolCall,
    action: Action,
    bodies: Annotated[bool, Field(description="With what was sent and received")] = False,
    name: FileName = None,
) -> Recording:
    """Record requests as HAR. Cookies and logins in headers are masked."""
    recordings = call.session.recordings
    if action == "stop":
        return _stopped(call, await recordings.stop_har(), "application/json")
    return _started(
        await recordings.start_har(lambda: output_of(call).reserve(name or "requests", ".har"), bodies=bodies)
    )


@tool(effect="configure", group="devtools")
async def video(call: ToolCall, action: Action, name: FileName = None) -> Recording:
    """Record a video of the page. WebM."""
    recordings, page = call.session.recordings, call.page
    if action == "stop":
        return _stopped(call, await recordings.stop_video(page.id), "video/webm")
    return _started(
        await recordings.start_video(
            page, lambda: output_of(call).reserve(name or page.id, ".webm"), call.deadline
        )
    )


def output_of(call: ToolCall) -> OutputFolder:
    """Named principals have a folder each."""
    return call.session.output.below(call.caller.scoped(""))


def _written(call: ToolCall, path: Path, mime_type: str) -> Written:
    written: Written = {"path": str(path), "bytes": path.stat().st_size}
    uri = attach_file(call, path, mime_type)
    return {**written, "uri": uri} if uri else written


def _started(path: Path) -> Recording:
    return {"recording": True, "path": str(path)}


def _stopped(call: ToolCall, path: Path, mime_type: str) -> Recording:
    return {"recording": False, **_written(call, path, mime_type)}


TOOLS = (pdf, trace, har, video)
