"""Files that tools write: PDFs, traces, HARs, videos."""

from __future__ import annotations

import base64
import contextlib
import json
import shutil
import subprocess
import time
import zipfile
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from tests.conftest import SessionBrowser, connect_browser
from tests.site import Site

pytestmark = pytest.mark.anyio


def content(path: str) -> bytes:
    return Path(path).read_bytes()


def is_file(path: str) -> bool:
    return Path(path).is_file()


async def read_linked(browser: SessionBrowser, uri: str) -> bytes:
    """Return the contents behind a file's link."""
    (content,) = (await browser.client.read_resource(uri)).contents
    return content.text.encode() if hasattr(content, "text") else base64.b64decode(content.blob)


# Snapshots


@pytest.mark.parametrize(
    ("options", "name", "expected"),
    [
        ({}, "orders.txt", 'e1 h1 "Orders"\ne2 button "Save"\n'),
        ({"rootSelector": "button"}, "orders.txt", 'e2 button "Save"\n'),
        (
            {"format": "yaml"},
            "orders.yaml",
            '- heading "Orders" [level=1] [ref=e1]\n- button "Save" [ref=e2]\n',
        ),
        (
            {"format": "json", "interactive": True, "rootSelector": "button"},
            "orders.json",
            '[{"role": "button", "ref": "e2", "name": "Save"}]\n',
        ),
    ],
    ids=str,
)
async def test_snapshot_is_written_to_a_file(
    browser: SessionBrowser, options: dict[str, Any], name: str, expected: str
) -> None:
    await browser.show("<title>Shop</title><h1>Orders</h1><button>Save</button>")
    whole = await browser.call("snapshot")

    written = await browser.call("snapshot", file="orders", budget=200, **options)

    path = Path(written["path"])
    assert path.name.partition(".")[2] == name.partition(".")[2]
    assert path.name.startswith("orders")
    assert content(written["path"]).decode() == expected
    assert await read_linked(browser, written["uri"]) == expected.encode()
    assert written == {
        "url": whole["url"],
        "title": "Shop",
        "path": written["path"],
        "bytes": len(expected),
        "uri": written["uri"],
    }


async def test_snapshot_file_outside_the_output_folder_is_refused(browser: SessionBrowser) -> None:
    await browser.show("<h1>Orders</h1>")

    error = await browser.refused("snapshot", file="../orders")

    assert (error["code"], error["details"]["parameter"]) == ("INVALID_PARAMETER", "file")


# Prints


async def test_page_is_printed_to_a_pdf_file(browser: SessionBrowser) -> None:
    await browser.show("<h1>Invoice</h1>")

    result = await browser.answer("pdf", name="invoice")

    assert result.structured_content is not None
    written = result.structured_content["data"]
    data = content(written["path"])
    assert data.startswith(b"%PDF-")
    assert (Path(written["path"]).name, written["bytes"]) == ("invoice.pdf", len(data))
    _, link = result.content
    assert (link.type, link.uri, link.name, link.mime_type, link.size) == (
        *("resource_link", written["uri"], "invoice.pdf", "application/pdf"),
        len(data),
    )
    assert await read_linked(browser, written["uri"]) == data


@pytest.mark.parametrize(
    ("options", "size", "count"),
    [
        ({}, (595, 842), 3),
        ({"format": "Letter", "landscape": True}, (792, 612), 3),
        ({"pages": "1, 3"}, (595, 842), 2),
        ({"scale": 0.5, "background": False}, (595, 842), 3),
    ],
)
async def test_pdf_has_the_requested_paper_size_and_pages(
    browser: SessionBrowser, options: dict[str, Any], size: tuple[int, int], count: int
) -> None:
    await browser.show("<p>one<p style='break-before: page'>two<p style='break-before: page'>three")

    data = content((await browser.call("pdf", **options))["path"])

    width, height = (round(float(each)) for each in data.split(b"/MediaBox [0 0 ")[1].split(b"]")[0].split())
    assert ((width, height), data.count(b"/Type /Page\n")) == (pytest.approx(size, abs=1), count)


async def test_printing_a_missing_page_range_is_refused(browser: SessionBrowser) -> None:
    await browser.show("<p>one")
    before = Path((await browser.call("pdf", name="before"))["path"])

    error = await browser.refused("pdf", pages="7-9", name="none")

    assert (error["code"], error["details"]) == (
        "INVALID_PARAMETER",
        {"parameter": "pages", "pages": "7-9"},
    )
    assert "pages must name existing pages" in error["suggestion"]
    assert not before.with_name("none.pdf").exists()


@pytest.mark.parametrize("pages", ["one", "1,,2", "-3"])
async def test_invalid_page_range_is_refused(browser: SessionBrowser, pages: str) -> None:
    error = await browser.refused("pdf", pages=pages)

    assert (error["code"], error["details"]["parameter"]) == ("INVALID_PARAMETER", "pages")


# Names


async def test_output_files_are_never_overwritten(browser: SessionBrowser) -> None:
    await browser.show("<p>one")

    names = [Path((await browser.call("pdf", name="twice.pdf"))["path"]).name for _ in range(3)]

    assert names == ["twice.pdf", "twice-1.pdf", "twice-2.pdf"]


@pytest.mark.parametrize(
    "name", ["../out", "/tmp/out", "a/b", "..", ".hidden", "a\\b", "c:d", "x" * 101, "a\0b"]
)
async def test_output_name_that_is_a_path_is_refused(browser: SessionBrowser, name: str) -> None:
    for tool, arguments in (("pdf", {}), ("trace", {"action": "start"}), ("har", {"action": "start"})):
        error = await browser.refused(tool, name=name, **arguments)

        assert (error["code"], error["details"]) == ("INVALID_PARAMETER", {"parameter": "name"})
        assert error["message"].startswith("name: ")


async def test_files_go_to_the_configured_folder_and_follow_no_symlink(site: Site, tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "deep" / "output", tmp_path / "elsewhere.pdf"
    folder.mkdir(parents=True)
    (folder / "linked.pdf").symlink_to(elsewhere)
    async with connect_browser(site, "--tools", "all", "--output-path", str(folder)) as browser:
        written = await browser.call("pdf", name="linked")

    assert written["path"] == str(folder / "linked-1.pdf")
    assert not elsewhere.exists()


@pytest.mark.slow
async def test_output_folder_that_cannot_be_created_is_reported(site: Site, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    async with connect_browser(
        site, "--tools", "all", "--output-path", str(tmp_path / "file" / "output")
    ) as browser:
        error = await browser.refused("pdf")

    assert (error["code"], error["message"]) == (
        "PERMISSION_DENIED",
        "The output folder cannot be written to: Not a directory",
    )


@pytest.fixture
def small_disk(tmp_path: Path) -> Generator[Path]:
    """A folder on a disk of its own, with room for little."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounting = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(mounting, capture_output=True).returncode:
        pytest.skip("a file system can be mounted here by nobody, or by root alone")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def use_up(folder: Path) -> None:
    with contextlib.suppress(OSError), (folder / "full").open("wb", buffering=0) as file:
        while file.write(b"x" * 512):
            pass


def files_in(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.rglob("*") if each.is_file())


LONG = "<h1>Long</h1><a href=URL download>get</a>" + "<p>lorem ipsum</p>" * 5_000


@pytest.mark.slow
async def test_full_disk_is_reported_and_partial_files_are_removed(site: Site, small_disk: Path) -> None:
    folders = [
        *("--output-path", str(small_disk / "output"), "--state-directory", str(small_disk / "states")),
        *("--download-path", str(small_disk / "downloads")),
    ]

    async def bulk(_: Request) -> Response:
        return Response(b"x" * 300_000, media_type="application/octet-stream")

    async with connect_browser(site, "--tools", "all", "--observe", "none", *folders) as browser:
        for tool in ("har", "trace", "video"):
            await browser.call(tool, action="start", **({"bodies": True} if tool == "har" else {}))
        await browser.show(LONG.replace("URL", site.route(bulk)))
        use_up(small_disk)
        refused = [await browser.refused(tool, action="stop") for tool in ("har", "trace", "video")]
        refused.append(await browser.refused("pdf"))
        refused.append(await browser.refused("visual_diff", save="first"))
        refused.append(await browser.refused("save_state", name="mine", sessionId="default"))
        downloads = (await browser.call("click", selector="a"))["downloads"]
        (small_disk / "full").unlink()

        assert {error["code"] for error in refused} == {"RESOURCE_EXHAUSTED"}
        assert all("has no space left: No space left on device" in error["message"] for error in refused)
        assert [each["failure"] for each in downloads] == [
            "The download folder has no space left: No space left on device"
        ]
        assert files_in(small_disk) == []
        await browser.call("save_state", name="mine", sessionId="default")
        assert files_in(small_disk) == ["mine.json"]
        for tool, error in zip(("har", "trace", "video"), refused, strict=False):
            assert f"then call {tool} with action stop again" in error["suggestion"]
        har = json.loads(content((await browser.call("har", action="stop"))["path"]))
        assert har["log"]["entries"][0]["response"]["status"] == 200
        assert read_trace((await browser.call("trace", action="stop"))["path"])
        assert content((await browser.call("video", action="stop"))["path"]).startswith(b"\x1a\x45\xdf\xa3")


@pytest.mark.slow
async def test_folder_that_becomes_unwritable_is_reported(site: Site, tmp_path: Path) -> None:
    """Whatever the reason is: a recording whose folder goes meanwhile, and one that begins afterwards."""
    output, states = tmp_path / "output", tmp_path / "states"
    states.write_text("in the way")
    folders = ("--output-path", str(output), "--state-directory", str(states))
    async with connect_browser(site, "--tools", "all", "--observe", "none", *folders) as browser:
        await browser.show("<p>one")
        await browser.call("har", action="start")
        await browser.call("trace", action="start")
        shutil.rmtree(output)
        output.write_text("in the way")
        refused = [await browser.refused(tool, action="stop") for tool in ("har", "trace")]
        refused.append(await browser.refused("video", action="start"))
        refused.append(await browser.refused("pdf"))
        refused.append(await browser.refused("save_state", name="mine", sessionId="default"))
        output.unlink()
        har = Path((await browser.call("har", action="stop"))["path"])
        assert har.parent == output
        assert await browser.call("har", action="start")

    assert {error["code"] for error in refused} == {"PERMISSION_DENIED"}
    assert all("cannot be written to: " in error["message"] for error in refused)
    assert {"--output-path" in error["suggestion"] for error in refused[:-1]} == {True}


@pytest.mark.slow
async def test_output_in_the_temporary_folder_is_removed_at_the_end(site: Site) -> None:
    async with connect_browser(site, "--tools", "all") as browser:
        path = (await browser.call("pdf"))["path"]
        assert is_file(path)

    assert not is_file(path)


# Traces


def read_trace(path: str) -> list[dict[str, Any]]:
    """Return the events of a trace."""
    with zipfile.ZipFile(path) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".trace"))
        return [json.loads(line) for line in archive.read(name).splitlines()]


async def test_trace_contains_only_recorded_actions(browser: SessionBrowser) -> None:
    await browser.show("<button id=before>Before</button><button id=during>Buy</button>")
    await browser.call("click", selector="#before")

    started = await browser.call("trace", action="start", name="buying")
    await browser.call("click", selector="#during")
    stopped = await browser.call("trace", action="stop")

    assert started == {"recording": True, "path": stopped["path"]}
    assert Path(stopped["path"]).name == "buying.zip"
    assert stopped["bytes"] == len(content(stopped["path"]))
    events = read_trace(stopped["path"])
    clicked = [each["params"]["selector"] for each in events if each.get("method") == "click"]
    assert [selector.partition(" ")[0] for selector in clicked] == ["#during"]
    assert any(each["type"] == "frame-snapshot" for each in events)


async def test_double_start_and_stop_without_start_are_refused(browser: SessionBrowser) -> None:
    for tool in ("trace", "har", "video"):
        error = await browser.refused(tool, action="stop")
        assert (error["code"], error["details"]) == ("INVALID_PARAMETER", {"parameter": "action"})
        assert "is being recorded" in error["message"]
        assert f"Call {tool} with action start first" in error["suggestion"]

        path = (await browser.call(tool, action="start"))["path"]
        error = await browser.refused(tool, action="start")
        assert (error["code"], error["details"]) == (
            "INVALID_PARAMETER",
            {"parameter": "action", "path": path},
        )
        assert error["suggestion"] == f"Call {tool} with action stop first."
        assert (await browser.call(tool, action="stop"))["path"] == path


async def test_running_recordings_are_saved_when_the_session_closes(
    browser: SessionBrowser, shared_browser: SessionBrowser
) -> None:
    paths = [(await browser.call(tool, action="start"))["path"] for tool in ("trace", "har", "video")]
    during = (await browser.show("<h1>During</h1>"))["url"]

    await shared_browser.call("close_session", sessionId=browser.session_id)

    trace, har, video = paths
    assert [each["params"]["url"] for each in read_trace(trace) if each.get("method") == "goto"] == [during]
    assert len(json.loads(content(har))["log"]["entries"]) == 1
    assert content(video).startswith(b"\x1a\x45\xdf\xa3")


@pytest.mark.slow
async def test_running_recordings_are_saved_when_the_server_ends(site: Site, tmp_path: Path) -> None:
    async with connect_browser(site, "--tools", "all", "--output-path", str(tmp_path)) as browser:
        for tool in ("trace", "har", "video"):
            await browser.call(tool, action="start")
        url = (await browser.show("<h1>During</h1>"))["url"]

    assert [
        each["params"]["url"]
        for each in read_trace(str(tmp_path / "trace.zip"))
        if each.get("method") == "goto"
    ]
    (entry,) = json.loads(content(str(tmp_path / "requests.har")))["log"]["entries"]
    assert entry["request"]["url"] == url
    assert content(str(tmp_path / "page-1.webm")).startswith(b"\x1a\x45\xdf\xa3")


# HARs


@pytest.fixture
def secrets(site: Site) -> str:
    """A page that sends and sets what nobody else should read."""

    async def answer(_: Request) -> Response:
        return PlainTextResponse("answer-body", headers={"set-cookie": "sid=cookie-secret; HttpOnly"})

    site.route(answer, path="/har/answer")
    return """<script>
      document.cookie = 'own=own-secret';
      const headers = {Authorization: 'Bearer token-secret'};
      fetch('/har/answer', {method: 'POST', body: 'sent-body', headers})
        .then(() => fetch('/har/answer?again')).then(() => document.body.append('done'));
    </script>"""


@pytest.mark.parametrize("bodies", [False, True])
async def test_har_contains_requests_with_masked_secrets(
    browser: SessionBrowser, secrets: str, bodies: bool
) -> None:
    await browser.call("har", action="start", bodies=bodies)
    await browser.show(secrets)
    await browser.call("find_element", selector="body:text('done')")
    stopped = await browser.call("har", action="stop")

    text = content(stopped["path"]).decode()
    assert await read_linked(browser, stopped["uri"]) == text.encode()
    log = json.loads(text)["log"]
    page, post, get = log["entries"]
    assert (log["version"], page["response"]["status"]) == ("1.2", 200)
    assert [
        (each["request"]["method"], each["request"]["url"].partition("/har")[2]) for each in (post, get)
    ] == [
        ("POST", "/answer"),
        ("GET", "/answer?again"),
    ]
    headers = {header["name"].lower(): header["value"] for header in post["request"]["headers"]}
    assert (headers["authorization"], headers["cookie"]) == ("[REDACTED]", "[REDACTED]")
    assert {"name": "own", "value": "[REDACTED]"} in post["request"]["cookies"]
    assert [cookie["value"] for cookie in post["response"]["cookies"]] == ["[REDACTED]"]
    assert "-secret" not in "".join(json.dumps([each["request"], each["response"]]) for each in (post, get))
    assert ("sent-body" in text, "answer-body" in text) == (bodies, bodies)


# Videos


async def play(browser: SessionBrowser, path: str) -> dict[str, Any]:
    """Return the properties of a video in a browser: length in seconds, size, a corner at both ends."""
    data = base64.b64encode(content(path)).decode()
    await browser.show(f"<video muted src='data:video/webm;base64,{data}'></video>")
    return (await browser.call("evaluate", script=_PLAY))["result"]


_PLAY = """async () => {
  const video = document.querySelector('video');
  await new Promise((resolve, reject) => {
    if (video.readyState >= 2) resolve();
    video.onloadeddata = resolve;
    video.onerror = () => reject(new Error(video.error.message));
  });
  const pen = new OffscreenCanvas(1, 1).getContext('2d', {willReadFrequently: true});
  const corner = async at => {
    await new Promise(resolve => { video.onseeked = resolve; video.currentTime = at; });
    pen.drawImage(video, 0, 0, 1, 1, 0, 0, 1, 1);
    return [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3).map(value => Math.round(value / 85) * 85);
  };
  const {duration, videoWidth: width, videoHeight: height} = video;
  return {duration, size: [width, height], first: await corner(0.001), last: await corner(duration - 0.001)};
}"""

CHANGES = """<body style="margin: 0; background: rgb(255, 0, 0)"><script>
  let began;
  const turn = () => {
    if (performance.now() - began < 400) return requestAnimationFrame(turn);
    document.body.style.background = 'rgb(0, 0, 255)';
    requestAnimationFrame(() => requestAnimationFrame(() => document.body.append('blue')));
  };
  onclick = () => { began = performance.now(); turn(); };
</script>"""


@pytest.mark.slow
async def test_a_video_shows_what_the_page_showed(browser: SessionBrowser) -> None:
    await browser.show(CHANGES)
    began = time.monotonic()

    started = await browser.call("video", action="start", name="colours")
    await browser.call("click", selector="body")
    await browser.call("find_element", selector="body:text('blue')")
    stopped = await browser.call("video", action="stop")
    elapsed = time.monotonic() - began

    assert started == {"recording": True, "path": stopped["path"]}
    assert Path(stopped["path"]).name == "colours.webm"
    video = await play(browser, stopped["path"])
    assert 0.4 < video.pop("duration") < elapsed
    assert video == {"size": [1280, 720], "first": [255, 0, 0], "last": [0, 0, 255]}


@pytest.mark.slow
async def test_video_of_a_static_page_shows_that_page(browser: SessionBrowser) -> None:
    await browser.show("<body style='background: rgb(0, 255, 0)'>")

    await browser.call("video", action="start")
    stopped = await browser.call("video", action="stop")

    video = await play(browser, stopped["path"])
    assert (video["first"], video["last"]) == ([0, 255, 0], [0, 255, 0])


async def test_closing_a_page_ends_its_video(browser: SessionBrowser) -> None:
    opened = browser.site.page("<body style='background: rgb(0, 0, 255)' onclick='window.close()'>")
    await browser.show(f"<a href={opened} target=_blank>open</a>")
    popup = (await browser.call("click", selector="a"))["newPages"][0]["pageId"]
    path = (await browser.call("video", action="start", pageId=popup))["path"]

    await browser.call("click", selector="body", pageId=popup)
    error = await browser.refused("video", action="stop")

    assert error["message"] == (
        f"action: no video of page-1 is being recorded; there is one of {popup}, which was closed, in {path}"
    )
    video = await play(browser, path)
    assert (video["first"], video["last"]) == ([0, 0, 255], [0, 0, 255])
