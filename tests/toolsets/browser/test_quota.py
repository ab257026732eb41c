"""The quota on the files that sessions write: downloads and output."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from tests.conftest import ENGINE, Browser, connect_browser
from tests.site import Site

pytestmark = pytest.mark.anyio

SESSION_QUOTA = 200_000
QUOTA = 300_000


@pytest.fixture(scope="module")
async def limited(site: Site, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Browser]:
    """One server with a small quota; each test works in a session of its own."""
    root = tmp_path_factory.mktemp("quota")
    flags = (
        *("--enable-script-evaluation", "--observe", "none", "--tools", "all"),
        *("--download-path", str(root / "downloads"), "--output-path", str(root / "output")),
    )
    quotas = {
        "FOOTLIGHT_BROWSER_SESSION_FILE_QUOTA": str(SESSION_QUOTA),
        "FOOTLIGHT_BROWSER_FILE_QUOTA": str(QUOTA),
    }
    async with connect_browser(site, *flags, **quotas) as browser:
        browser.root = root
        yield browser


@pytest.fixture
async def session(limited: Browser) -> AsyncGenerator[str]:
    """The id of a new session. The files of the tests before are gone."""
    for folder in ("downloads", "output"):
        for path in (limited.root / folder).glob("*"):
            path.unlink()
    session_id = (await limited.call("create_session"))["sessionId"]
    yield session_id
    await limited.call("close_session", sessionId=session_id)


def list_files(root: Path) -> list[str]:
    return sorted(path.name for path in root.rglob("*") if path.is_file())


async def download(browser: Browser, session: str, *chunks: bytes, name: str = "a.bin") -> dict[str, object]:
    """Download a file of these chunks, and return what the answer says of it."""

    async def handler(_: Request) -> Response:
        async def content() -> AsyncGenerator[bytes]:
            for chunk in chunks:
                yield chunk
                await asyncio.sleep(0)

        return StreamingResponse(
            content(),
            media_type="application/octet-stream",
            headers={"Content-Disposition": f"attachment; filename={name}"},
        )

    await browser.call(
        "navigate", sessionId=session, url=browser.site.page(f"<a href={browser.site.route(handler)}>get</a>")
    )
    [found] = (await browser.call("click", sessionId=session, selector="a"))["downloads"]
    return found


async def test_a_download_within_the_quota_is_kept_once(limited: Browser, session: str) -> None:
    found = await download(limited, session, b"x" * 1_000)

    assert "failure" not in found
    assert list_files(limited.root) == ["a.bin"]


async def test_download_above_the_quota_fails_and_leaves_no_file(limited: Browser, session: str) -> None:
    found = await download(limited, session, *([os.urandom(50_000)] * 5))

    assert found["failure"] == (
        "QUOTA_EXCEEDED: The files of this session would have 250,000 bytes, and it may write 200,000. "
        "Delete files of this session that are not needed, or continue in a new session. The server operator "
        "can raise browser.sessionFileQuota."
    )
    assert list_files(limited.root) == []
    [entry] = (await limited.call("downloads", sessionId=session))["entries"]
    assert entry["state"] == "failed"


async def test_endless_download_is_cancelled_at_the_quota(limited: Browser, session: str) -> None:
    """It would fill the disk otherwise, because a download is complete only when its server says so."""
    gone = asyncio.Event()

    async def handler(_: Request) -> Response:
        async def content() -> AsyncGenerator[bytes]:
            try:
                while True:
                    yield b"x" * 50_000
                    await asyncio.sleep(0.01)
            finally:
                gone.set()

        return StreamingResponse(content(), headers={"Content-Disposition": "attachment; filename=e.bin"})

    await limited.call(
        "navigate", sessionId=session, url=limited.site.page(f"<a href={limited.site.route(handler)}>get</a>")
    )
    [found] = (await limited.call("click", sessionId=session, selector="a", timeout=20_000))["downloads"]

    assert str(found["failure"]).startswith("QUOTA_EXCEEDED: The files of this session would have ")
    assert list_files(limited.root) == []
    async with asyncio.timeout(10):
        await gone.wait()


async def test_total_quota_counts_the_files_of_all_sessions(limited: Browser, session: str) -> None:
    other = (await limited.call("create_session"))["sessionId"]
    await download(limited, session, b"x" * 190_000)
    refused = await download(limited, other, b"x" * 190_000, name="b.bin")

    assert "The files of all sessions would have 380,000 bytes" in str(refused["failure"])
    assert "browser.fileQuota" in str(refused["failure"])

    (limited.root / "downloads" / "a.bin").unlink()
    accepted = await download(limited, other, b"x" * 190_000, name="b.bin")

    assert "failure" not in accepted
    await limited.call("close_session", sessionId=other)


@pytest.mark.skipif(ENGINE != "chromium", reason="only Chromium prints")
async def test_an_output_file_above_the_quota_is_refused_and_removed(limited: Browser, session: str) -> None:
    await download(limited, session, b"x" * 199_000)

    error = await limited.refused("pdf", sessionId=session)

    assert error["code"] == "QUOTA_EXCEEDED"
    assert error["details"] == {
        "used": error["details"]["used"],
        "limit": SESSION_QUOTA,
        "setting": "browser.sessionFileQuota",
    }
    assert error["details"]["used"] > SESSION_QUOTA
    assert list_files(limited.root) == ["a.bin"]
    (limited.root / "downloads" / "a.bin").unlink()
    assert (await limited.call("pdf", sessionId=session))["bytes"] > 1_000


async def test_a_recording_above_the_quota_is_refused_and_removed(limited: Browser, session: str) -> None:
    await download(limited, session, b"x" * 199_990)
    await limited.call("har", sessionId=session, action="start")
    await limited.call("reload", sessionId=session)

    error = await limited.refused("har", sessionId=session, action="stop")

    assert error["code"] == "QUOTA_EXCEEDED"
    assert list_files(limited.root) == ["a.bin"]
