"""Dropping files and texts onto a page."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import SessionBrowser, connect_browser
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


async def test_files_are_dropped_onto_the_element_center(browser: SessionBrowser) -> None:
    (browser.uploads / "lamp.txt").write_text("lit")
    (browser.uploads / "ключ.json").write_text("{}")
    url = (await browser.show(ZONE))["url"]

    dropped = await browser.call("drop", selector="#zone", files=["lamp.txt", "ключ.json"])

    assert dropped == {"url": url, "files": ["lamp.txt", "ключ.json"]}
    assert sorted(set(await browser.evaluate("log"))) == ["dragenter", "dragover", "drop"]
    assert await browser.evaluate("at") == [100, 50]
    assert await browser.evaluate("files") == [
        ["lamp.txt", "text/plain", "lit"],
        ["ключ.json", "application/json", "{}"],
    ]


async def test_texts_are_dropped_with_their_mime_types(browser: SessionBrowser) -> None:
    await browser.show(ZONE)
    data = {"text/plain": "lamp", "text/uri-list": "http://lamp.test/", "text/html": "<b>lamp</b>"}

    assert (await browser.call("drop", selector="#zone", data=data))["files"] == []

    assert await browser.evaluate("texts") == data


async def test_drop_on_an_element_that_rejects_drops_is_refused(browser: SessionBrowser) -> None:
    await browser.show(ZONE)

    error = await browser.refused("drop", selector="#wall", data={"text/plain": "lamp"})

    assert error["code"] == "ELEMENT_NOT_INTERACTIVE"
    assert error["message"] == '"#wall": the page does not take what is dropped there'
    assert await browser.evaluate("log") == []


async def test_files_outside_the_upload_roots_are_not_dropped(browser: SessionBrowser) -> None:
    await browser.show(ZONE)

    error = await browser.refused("drop", selector="#zone", files=["/etc/passwd"])
    missing = await browser.refused("drop", selector="#zone", files=["no-such-file"])

    assert error["code"] == "PERMISSION_DENIED"
    assert missing["code"] == "INVALID_PARAMETER"
    assert await browser.evaluate("log") == []


async def test_drop_is_a_trusted_browser_event(browser: SessionBrowser) -> None:
    """Pages that store what is dropped ask for entries, which only a person's drag has."""
    (browser.uploads / "lamp.txt").write_text("lit")
    with (browser.uploads / "large").open("wb") as file:
        file.truncate(60_000_000)
    await browser.show(
        """<div style="height: 3000px"></div><div id=zone style="height: 100px">here</div><script>
        zone.ondragover = event => event.preventDefault();
        zone.ondrop = event => {
          event.preventDefault();
          window.dropped = [event.isTrusted, ...Array.from(event.dataTransfer.items, item => {
            const entry = item.webkitGetAsEntry();
            return [item.kind, entry.name, entry.isFile];
          }), ...Array.from(event.dataTransfer.files, file => file.size)];
        };</script>"""
    )

    await browser.call("drop", selector="#zone", files=["lamp.txt", "large"])

    assert await browser.evaluate("dropped") == [
        True,
        ["file", "lamp.txt", True],
        ["file", "large", True],
        3,
        60_000_000,
    ]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("html", "held"),
    [
        ("<input type=file id=field multiple>", "field.files[0].name"),
        ("<textarea id=field rows=4></textarea>", "field.value"),
        ("<p contenteditable id=field>&nbsp;</p>", "field.textContent.trim()"),
    ],
)
async def test_native_fields_accept_dropped_data(browser: SessionBrowser, html: str, held: str) -> None:
    (browser.uploads / "lamp.txt").write_text("lit")
    await browser.show(html)
    what = {"files": ["lamp.txt"]} if "file" in html else {"data": {"text/plain": "lamp.txt"}}

    await browser.call("drop", selector="#field", **what)

    assert await browser.evaluate(held) == "lamp.txt"


async def test_drop_reaches_elements_in_frames(browser: SessionBrowser) -> None:
    (browser.uploads / "lamp.txt").write_text("lit")
    inner = browser.site.page(ZONE)
    await browser.show(f"<p>above</p><iframe src={inner} height=300></iframe>")

    await browser.call("drop", selector="iframe >> #zone", files=["lamp.txt"])

    frame = "document.querySelector('iframe').contentWindow"
    assert await browser.evaluate(f"{frame}.files") == [["lamp.txt", "text/plain", "lit"]]


async def test_drop_without_files_or_data_is_refused(browser: SessionBrowser) -> None:
    for nothing in ({}, {"files": [], "data": {}}):
        error = await browser.refused("drop", selector="#zone", **nothing)
        assert error["code"] == "MISSING_PARAMETER"
        assert error["details"]["missing"] == ["files", "data"]


async def test_missing_drop_target_is_reported(browser: SessionBrowser) -> None:
    await browser.show(ZONE)

    error = await browser.refused("drop", selector="#nowhere", data={"text/plain": "lamp"}, timeout=2_000)

    assert error["code"] == "ELEMENT_NOT_FOUND"


@pytest.mark.slow
async def test_only_texts_can_be_dropped_when_uploads_are_disabled(site: Site, tmp_path: Path) -> None:
    (tmp_path / "lamp.txt").write_text("lit")
    off = {"FOOTLIGHT_SECURITY_ENABLE_FILE_UPLOAD": "false"}
    flags = ("--upload-root", str(tmp_path), "--observe", "none")
    async with connect_browser(site, *flags, cwd=tmp_path, **off) as browser:
        await browser.show(ZONE)
        error = await browser.refused("drop", selector="#zone", files=["lamp.txt"])
        await browser.call("drop", selector="#zone", data={"text/plain": "lamp"})

    assert error["code"] == "PERMISSION_DENIED"
    assert error["details"] == {"setting": "security.enableFileUpload", "parameter": "files"}
