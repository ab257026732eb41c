"""Reading the manifests of extensions in every form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from footlight.app_errors import InvalidConfigError
from footlight.browser.launch.extensions import LoadedExtension, UnpackedExtension, read_extension
from tests.apps.wallet_folder import READER, WALLET

NAMED = {"name": "Lamp", "version": "1.2"}


def extension(folder: Path, manifest: object) -> Path:
    (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    return folder


def test_extension_is_read_from_its_manifest() -> None:
    assert read_extension(READER) == UnpackedExtension(
        folder=READER.resolve(),
        name="Reading list",
        version="1.0.0",
        permissions=("sidePanel", "storage"),
        pages={"options": "options.html", "popup": "popup.html", "side-panel": "panel.html"},
    )
    assert read_extension(WALLET).permissions == ("storage", "http://localhost/*", "http://127.0.0.1/*")


def test_pages_of_a_version_2_manifest_are_found(tmp_path: Path) -> None:
    manifest = {
        **NAMED,
        "manifest_version": 2,
        "browser_action": {"default_popup": "up.html"},
        "options_ui": {"page": "ui.html"},
        "options_page": "page.html",
    }

    read = read_extension(extension(tmp_path, manifest))

    assert read.pages == {"options": "ui.html", "popup": "up.html"}


@pytest.mark.parametrize(
    "strange",
    [
        {"permissions": None, "host_permissions": 7},
        {"permissions": "storage", "host_permissions": {"a": 1}},
        {"permissions": [["storage"], 3, None]},
        {"manifest_version": "three"},
        {"manifest_version": None, "action": "popup.html", "side_panel": ["x"]},
        {"action": {"default_popup": 3}, "options_page": {}, "options_ui": None},
        {"action": {"default_popup": ""}, "options_page": ""},
        {"default_locale": ["en"]},
    ],
)
def test_malformed_manifest_fields_are_ignored(tmp_path: Path, strange: dict[str, Any]) -> None:
    read = read_extension(extension(tmp_path, {**NAMED, **strange}))

    assert read == UnpackedExtension(folder=tmp_path.resolve(), name="Lamp", version="1.2")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is not valid JSON: Expecting value"),
        ("{", "is not valid JSON: Expecting property name"),
        ("[" * 100_000, "is not valid JSON: "),
        ("[]", "is not the manifest of an extension: it has no name"),
        ("null", "is not the manifest of an extension: it has no name"),
        ('{"version": "1"}', "it has no name"),
        ('{"name": {"a": 1}, "version": "1"}', "it has no name"),
        ('{"name": "", "version": "1"}', "it has no name"),
        ('{"name": "Lamp"}', "it has no version"),
        ('{"name": "Lamp", "version": 1}', "it has no version"),
    ],
)
def test_invalid_manifest_is_refused(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "manifest.json").write_text(text)

    with pytest.raises(InvalidConfigError) as refused:
        read_extension(tmp_path)

    assert refused.value.message.startswith(f"{tmp_path / 'manifest.json'} is not ")
    assert why in refused.value.message
    assert refused.value.details == {"folder": str(tmp_path)}


def test_non_utf8_manifest_is_refused(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_bytes(b'{"name": "\xff\xfe"}')

    with pytest.raises(InvalidConfigError, match="is not valid JSON"):
        read_extension(tmp_path)


@pytest.mark.parametrize("folder", ["none", "file", "empty"])
def test_a_folder_without_a_manifest_is_refused(tmp_path: Path, folder: str) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "empty").mkdir()

    with pytest.raises(InvalidConfigError) as refused:
        read_extension(tmp_path / folder)

    assert refused.value.message.startswith(
        f"{tmp_path / folder} is not an unpacked extension: manifest.json cannot be read: "
    )
    assert refused.value.suggestion == "Give the folder that has the extension's manifest.json."


def test_comma_in_the_extension_path_is_refused(tmp_path: Path) -> None:
    """Chromium takes a list of folders, with commas between them."""
    folder = tmp_path / "lamp, lit"
    folder.mkdir()

    with pytest.raises(InvalidConfigError, match="has a comma in its path"):
        read_extension(extension(folder, NAMED))


def test_byte_order_mark_and_comments_are_accepted(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(
        '{ // The name:\n"name": "Lamp // \\"lit\\" /* all night */",\n/* and\nthis */ "version": "1"}',
        "utf-8-sig",
    )

    assert read_extension(tmp_path).name == 'Lamp // "lit" /* all night */'


@pytest.mark.parametrize(
    ("messages", "name"),
    [
        ({"appName": {"message": "Laterne"}}, "Laterne"),
        ({"APPNAME": {"message": "Laterne"}}, "Laterne"),
        ({"appName": {"description": "none"}}, "__MSG_appName__"),
        ({"appName": "Laterne"}, "__MSG_appName__"),
        (["Laterne"], "__MSG_appName__"),
        (None, "__MSG_appName__"),
    ],
)
def test_name_is_localised_by_the_default_locale(tmp_path: Path, messages: object, name: str) -> None:
    language = tmp_path / "_locales/de"
    language.mkdir(parents=True)
    if messages is not None:
        (language / "messages.json").write_text(json.dumps(messages))
    manifest = {**NAMED, "name": "__MSG_appName__", "default_locale": "de"}

    assert read_extension(extension(tmp_path, manifest)).name == name


def test_default_locale_path_traversal_is_ignored(tmp_path: Path) -> None:
    (tmp_path / "messages.json").write_text('{"appName": {"message": "stolen"}}')
    folder = tmp_path / "lamp"
    folder.mkdir()
    manifest = {**NAMED, "name": "__MSG_appName__", "default_locale": "../.."}

    assert read_extension(extension(folder, manifest)).name == "__MSG_appName__"


def test_extension_pages_are_recognised_by_origin() -> None:
    loaded = LoadedExtension(id="abc", extension=read_extension(READER))

    assert loaded.url("popup.html") == loaded.url("/popup.html") == "chrome-extension://abc/popup.html"
    assert loaded.has("chrome-extension://abc/list.html#top")
    assert not loaded.has("chrome-extension://abcd/list.html")
    assert not loaded.has("https://example.com/chrome-extension://abc/")
