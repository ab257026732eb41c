"""Dropping files and texts onto a page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.conftest import SessionBrowser, connected
from tests.site import Site

pytestmark = pytest.mark.anyio

ZONE = """<div id=zone style="width: 200px; height: 100px">here</div><div id=wall>not here</div><script>
  const log = [];
  for (const type of ['dragenter', 'dragover', 'dragleave', 'drop'])
    zone.addEventListener(type, async event => {
      event.preventDefault();
      log.push(type);
      if (type !== 'drop') return;
      const {x, y} = zone.getBoundingClientRect(), transfer = event.dataTransfer;
      window.at = [event.clientX - x, event.clientY - y];
      window.texts = Object.fromEntries(Array.from(transfer.types, it => [it, transfer.getData(it)]));
      window.files = Promise.all(Array.from(transfer.files, async it => [it.name, it.type, await it.text()]));
    });
</script>"""


async def value_of(browser: SessionBrowser, script: str) -> Any:
    return (await browser.call("evaluate", script=script))["result"]


async def test_files_are_dropped_onto_the_middle(browser: SessionBrowser) -> None:
    (browser.uploads / "lamp.txt").write_text("lit")
    (browser.uploads / "ключ.json").write_text("{}")
    url = (await browser.show(ZONE))["url"]

    dropped = await browser.call("drop", selector="#zone", files=["lamp.txt", "ключ.json"])

    assert dropped == {"url": url, "files": ["lamp.txt", "ключ.json"]}
    assert await value_of(browser, "log") == ["dragenter", "dragover", "drop"]
    assert await value_of(browser, "at") == [100, 50]
    assert await value_of(browser, "files") == [
        ["lamp.txt", "text/plain", "lit"],
        ["ключ.json", "application/json", "{}"],
    ]


async def test_texts_are_dropped_by_their_types(browser: SessionBrowser) -> None:
    await browser.show(ZONE)
    data = {"text/plain": "lamp", "text/uri-list": "http://lamp.test/", "text/html": "<b>lamp</b>"}

    assert (await browser.call("drop", selector="#zone", data=data))["files"] == []

    assert await value_of(browser, "texts") == data


async def test_where_the_page_does_not_take_it_nothing_is_dropped(browser: SessionBrowser) -> None:
    await browser.show(ZONE)

    error = await browser.refused("drop", selector="#wall", data={"text/plain": "lamp"})

    assert error["code"] == "ELEMENT_NOT_INTERACTIVE"
    assert error["message"].startswith('"#wall": Drop target did not accept the drop')


async def test_only_files_below_the_roots_are_dropped(browser: SessionBrowser) -> None:
    await browser.show(ZONE)

    error = await browser.refused("drop", selector="#zone", files=["/etc/passwd"])
    missing = await browser.refused("drop", selector="#zone", files=["no-such-file"])

    assert error["code"] == "PERMISSION_DENIED"
    assert missing["code"] == "INVALID_PARAMETER"
    assert await value_of(browser, "log") == []


async def test_too_much_to_drop_is_refused_with_the_way_out(browser: SessionBrowser) -> None:
    with (browser.uploads / "large").open("wb") as file:
        file.truncate(50_000_001)
    await browser.show(ZONE)

    error = await browser.refused("drop", selector="#zone", files=["large"])

    assert error["message"] == "files: 50000001 bytes are more than the 50000000 that can be dropped"
    assert error["suggestion"].startswith("Use upload_file")


async def test_something_has_to_be_dropped(browser: SessionBrowser) -> None:
    for nothing in ({}, {"files": [], "data": {}}):
        error = await browser.refused("drop", selector="#zone", **nothing)
        assert error["code"] == "MISSING_PARAMETER"
        assert error["details"]["missing"] == ["files", "data"]


async def test_an_element_that_is_not_there_is_told(browser: SessionBrowser) -> None:
    await browser.show(ZONE)

    error = await browser.refused("drop", selector="#nowhere", data={"text/plain": "lamp"}, timeout=500)

    assert error["code"] == "ELEMENT_NOT_FOUND"


async def test_where_uploads_are_off_only_texts_are_dropped(site: Site, tmp_path: Path) -> None:
    (tmp_path / "lamp.txt").write_text("lit")
    off = {"FOOTLIGHT_SECURITY_ENABLE_FILE_UPLOAD": "false"}
    flags = ("--upload-root", str(tmp_path), "--observe", "none")
    async with connected(site, *flags, cwd=tmp_path, **off) as browser:
        await browser.show(ZONE)
        error = await browser.refused("drop", selector="#zone", files=["lamp.txt"])
        await browser.call("drop", selector="#zone", data={"text/plain": "lamp"})

    assert error["code"] == "PERMISSION_DENIED"
    assert error["details"] == {"setting": "security.enableFileUpload", "parameter": "files"}
