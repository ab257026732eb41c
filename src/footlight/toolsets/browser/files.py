"""Give files to a page (upload, drop), and get files from it (download, PDF, trace, HAR, video)."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal, NotRequired

from pydantic import Field, WithJsonSchema
from typing_extensions import TypedDict

from footlight.browser.actions.drop import drop_onto_element
from footlight.browser.actions.forms.controls import upload_files
from footlight.browser.driver.output_folder import OutputFolder, write_new
from footlight.browser.network.policy import upload_paths
from footlight.browser.reading.screenshots import PaperFormat, PrintOptions, print_pdf
from footlight.errors import MissingParameterError, PermissionDeniedError
from footlight.server.answers.overview import DownloadInfo, download_info
from footlight.server.answers.secrets import SecretText
from footlight.server.calls.attachments import attach_file
from footlight.server.tools import Number, ToolCall, tool
from footlight.toolsets.browser.parameters import ActionResult, Selector, action_result

__all__ = ["describe_file", "output_of"]


class UploadResult(ActionResult):
    """`files` are the file names that the page was given; `notice` says that its input holds none."""

    files: list[str]
    notice: NotRequired[str]


@tool(effect="act", destructive=True, permission="upload")
async def upload_file(
    call: ToolCall,
    selector: Selector,
    files: Annotated[
        list[Annotated[str, Field(min_length=1)]],
        Field(max_length=100, description="Paths below the upload roots"),
    ],
) -> UploadResult:
    """Upload files. Into a file input or a control that opens a file chooser."""
    paths = await _find_uploads(call, files)
    call.stage(f"uploading {len(paths)} file{'s' * (len(paths) != 1)} into {selector}")
    notice = await upload_files(call.page, selector, paths, call.deadline)
    if paths and not notice:
        call.note_effect()  # The page is not told about files that its input has already.
    result: UploadResult = {**action_result(call), "files": [path.name for path in paths]}
    return {**result, "notice": notice} if notice else result


class DropResult(ActionResult):
    """The page accepted the drop. `files` are the file names that it sees.

    `synthetic`: outside Chromium a script dispatched the events, and the page can tell them from real ones.
    """

    files: list[str]
    synthetic: NotRequired[bool]


@tool(effect="act", destructive=True)
async def drop(
    call: ToolCall,
    selector: Selector,
    files: Annotated[list[Annotated[str, Field(min_length=1)]] | None, Field(max_length=100)] = None,
    data: Annotated[
        dict[Annotated[str, Field(min_length=1)], SecretText] | None,
        WithJsonSchema({"type": "object", "description": '{"text/plain": "…", "text/uri-list": "…"}'}),
    ] = None,
) -> DropResult:
    """Drop files or data onto element. Files below the upload roots."""
    if not files and not data:
        raise MissingParameterError("drop needs files or data", parameter="files", missing=["files", "data"])
    security = call.settings.security
    if files and not security.enable_file_upload:
        raise PermissionDeniedError(
            "files: uploading is disabled on this server",
            suggestion="Ask the server operator to enable security.enableFileUpload.",
            setting="security.enableFileUpload",
            parameter="files",
        )
    paths = await _find_uploads(call, files or [])
    call.stage(f"dropping onto {selector}")
    dragged = await drop_onto_element(call.page, selector, paths, data or {}, call.deadline)
    dropped: DropResult = {**action_result(call), "files": [path.name for path in paths]}
    return dropped if dragged else {**dropped, "synthetic": True}


async def _find_uploads(call: ToolCall, files: Sequence[str]) -> list[Path]:
    """Return the real paths of the files, which may be on a slow file system."""
    settings = call.settings
    return await asyncio.to_thread(
        upload_paths, files, settings.security.upload_roots, forbidden=settings.private_paths
    )


class DownloadList(TypedDict):
    """All downloads of the session; an answer's own `downloads` are the new ones since the last answer."""

    entries: list[DownloadInfo]


@tool(scope="session", effect="read")
async def downloads(call: ToolCall) -> DownloadList:
    """List downloads. Newest last."""
    return {"entries": [download_info(each) for each in call.session.downloads.known]}


Action = Literal["start", "stop"]

FileName = Annotated[str | None, Field(description="File name; numbered if taken")]

PageRanges = Annotated[
    str, Field(pattern=r"^\s*\d+(\s*-\s*\d*)?(\s*,\s*\d+(\s*-\s*\d*)?)*\s*$", description="Such as 1-3, 5")
]


class WrittenFile(TypedDict):
    """The file can also be read at `uri`, unless it is large.

    In a cluster there is no `path`, and a large file has a `downloadUrl`.
    """

    path: NotRequired[str]
    bytes: int
    uri: NotRequired[str]
    downloadUrl: NotRequired[str]


class RecordingStatus(TypedDict):
    """The file is at `path` once the recording stops or the session ends; then `bytes` and `uri` are set.

    In a cluster there is no `path`, and a large file has a `downloadUrl`.
    """

    recording: bool
    path: NotRequired[str]
    bytes: NotRequired[int]
    uri: NotRequired[str]
    downloadUrl: NotRequired[str]


@tool(effect="configure", group="devtools", untrusted=False)
async def pdf(
    call: ToolCall,
    format: PaperFormat = "A4",
    landscape: bool = False,
    background: bool = True,
    scale: Annotated[Number, Field(ge=0.1, le=2)] = 1,
    pages: PageRanges | None = None,
    name: FileName = None,
) -> WrittenFile:
    """Print the page to PDF. Headless Chromium only."""
    options = PrintOptions(
        format=format, landscape=landscape, background=background, scale=scale, pages=pages or ""
    )
    folder = output_of(call)
    with folder.fill(folder.reserve(name or call.page.id, ".pdf")) as path:
        write_new(path, await print_pdf(call.page, options, call.deadline))
    return describe_file(call, path, "application/pdf")


@tool(scope="session", effect="configure", group="devtools", untrusted=False)
async def trace(call: ToolCall, action: Action, name: FileName = None) -> RecordingStatus:
    """Record a Playwright trace. A zip file for the trace viewer."""
    recordings = call.session.recordings
    if action == "stop":
        return _describe_end(call, await recordings.stop_trace(), "application/zip")
    return _describe_start(
        await recordings.start_trace(lambda: output_of(call).reserve(name or "trace", ".zip"))
    )


@tool(scope="session", effect="configure", group="network", untrusted=False)
async def har(
    call: ToolCall,
    action: Action,
    bodies: Annotated[bool, Field(description="Include request and response bodies")] = False,
    name: FileName = None,
) -> RecordingStatus:
    """Record requests as HAR. Credentials in headers are masked."""
    recordings = call.session.recordings
    if action == "stop":
        return _describe_end(call, await recordings.stop_har(), "application/json")
    return _describe_start(
        await recordings.start_har(lambda: output_of(call).reserve(name or "requests", ".har"), bodies=bodies)
    )


@tool(effect="configure", group="devtools", untrusted=False)
async def video(call: ToolCall, action: Action, name: FileName = None) -> RecordingStatus:
    """Record a video of the page. WebM."""
    recordings, page = call.session.recordings, call.page
    if action == "stop":
        return _describe_end(call, await recordings.stop_video(page.id), "video/webm")
    return _describe_start(
        await recordings.start_video(
            page, lambda: output_of(call).reserve(name or page.id, ".webm"), call.deadline
        )
    )


def output_of(call: ToolCall) -> OutputFolder:
    """Return the output folder of the session; each named principal has its own subfolder."""
    return call.session.output.below(call.caller.scope_name(""))


def describe_file(call: ToolCall, path: Path, mime_type: str) -> WrittenFile:
    """Return where a written file is, with a link to it in the answer."""
    written: WrittenFile = {"path": str(path), "bytes": path.stat().st_size}
    uri = attach_file(call, path, mime_type)
    return {**written, "uri": uri} if uri else written


def _describe_start(path: Path) -> RecordingStatus:
    return {"recording": True, "path": str(path)}


def _describe_end(call: ToolCall, path: Path, mime_type: str) -> RecordingStatus:
    return {"recording": False, **describe_file(call, path, mime_type)}
