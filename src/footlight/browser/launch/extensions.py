"""Unpacked Chrome extensions: their manifests, and their state in a browser."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from footlight.app_errors import InvalidConfigError
from footlight.browser.driver.playwright_api import Error, is_closed, protocol_reason
from footlight.errors import LaunchFailedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from playwright.async_api import CDPSession

__all__ = [
    "LoadedExtension",
    "UnpackedExtension",
    "check_path",
    "find_loaded",
    "load_extension",
    "read_extension",
]

SCHEME = "chrome-extension"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnpackedExtension:
    """A folder with a manifest, and the manifest's data."""

    folder: Path
    name: str
    version: str
    permissions: tuple[str, ...] = ()
    pages: Mapping[str, str] = field(default_factory=dict[str, str])
    """The pages in the manifest: paths in the extension by role (popup, options, side-panel)."""
    key: str | None = None
    """The key that the id is derived from. Without a key it is derived from the folder."""
    modified_ns: int = field(default=0, compare=False)
    """When the manifest was written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedExtension:
    """An extension that runs in a browser."""

    id: str
    extension: UnpackedExtension

    @property
    def origin(self) -> str:
        return f"{SCHEME}://{self.id}"

    def url(self, path: str) -> str:
        return f"{self.origin}/{path.lstrip('/')}"

    def has(self, url: str) -> bool:
        """Return whether the URL belongs to the extension."""
        return url.startswith(f"{self.origin}/")


def read_extension(folder: Path) -> UnpackedExtension:
    """Read the manifest in `folder`. Malformed fields are ignored.

    Raises:
        InvalidConfigError: the manifest is missing, or would be refused by every browser.
    """
    folder = check_path(folder)
    path = folder / "manifest.json"
    try:
        manifest = _section(_read(path))
    except OSError as error:
        raise InvalidConfigError(
            f"{folder} is not an unpacked extension: {path.name} cannot be read: {error.strerror or error}",
            suggestion="Give the folder that has the extension's manifest.json.",
            folder=str(folder),
        ) from None
    except (ValueError, RecursionError) as error:
        raise InvalidConfigError(f"{path} is not valid JSON: {error}", folder=str(folder)) from None
    name, version = manifest.get("name"), manifest.get("version")
    for key, value in (("name", name), ("version", version)):
        if not isinstance(value, str) or not value:
            raise InvalidConfigError(
                f"{path} is not the manifest of an extension: it has no {key}", folder=str(folder)
            )
    return _extension(folder, manifest)


def check_path(folder: Path) -> Path:
    """Return the absolute path of an extension.

    Raises:
        InvalidConfigError: no browser would accept it.
    """
    folder = folder.resolve()
    if "," in str(folder):
        raise InvalidConfigError(
            f"{folder} has a comma in its path, which Chromium takes for the end of it",
            suggestion="Move the extension, or give a copy of it elsewhere.",
            folder=str(folder),
        )
    return folder


_COMMENT = re.compile(r'("(?:[^"\\\n]++|\\.)*+"?)|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)


def _read(path: Path) -> Any:
    """Read a JSON file like Chromium, which allows comments."""
    text = path.read_text("utf-8-sig")
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return json.loads(_COMMENT.sub(lambda found: found[1] or " ", text))


def _extension(folder: Path, manifest: Mapping[str, Any]) -> UnpackedExtension:
    asked = [*_list(manifest.get("permissions")), *_list(manifest.get("host_permissions"))]
    return UnpackedExtension(
        folder=folder,
        name=_name(folder, manifest),
        version=manifest["version"],
        permissions=tuple(each for each in asked if isinstance(each, str)),
        pages=dict(_pages(manifest)),
        key=key if isinstance(key := manifest.get("key"), str) else None,
        modified_ns=(folder / "manifest.json").stat().st_mtime_ns,
    )


def _name(folder: Path, manifest: Mapping[str, Any]) -> str:
    """Return the name of the extension.

    A name such as `__MSG_appName__` is replaced by the message of the default language.
    """
    name = str(manifest["name"])
    key, language = re.fullmatch(r"__MSG_(\w+)__", name), manifest.get("default_locale")
    if key is None or not isinstance(language, str) or not re.fullmatch(r"\w+", language):
        return name
    try:
        messages = _section(_read(folder / "_locales" / language / "messages.json"))
    except (OSError, ValueError, RecursionError):
        return name
    texts = {each.lower(): _section(value).get("message") for each, value in messages.items()}
    found = texts.get(key[1].lower())
    return found if isinstance(found, str) and found else name


_PAGES = (
    ("popup", "action", "default_popup"),
    ("popup", "browser_action", "default_popup"),
    ("options", "options_ui", "page"),
    ("side-panel", "side_panel", "default_path"),
)


def _pages(manifest: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    if isinstance(path := manifest.get("options_page"), str) and path:
        yield "options", path
    for role, section, key in _PAGES:
        if isinstance(path := _section(manifest.get(section)).get(key), str) and path:
            yield role, path


def _section(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def _list(value: Any) -> Sequence[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else ()


async def find_loaded(
    cdp: CDPSession, extensions: Sequence[UnpackedExtension]
) -> list[LoadedExtension | None]:
    """Return the extensions as the browser runs them, with None for those that do not run."""
    ids = _parse_ids(await cdp.send(cast("Any", "Extensions.getExtensions")))
    return [
        LoadedExtension(id=ids[each.folder], extension=each) if each.folder in ids else None
        for each in extensions
    ]


async def load_extension(cdp: CDPSession, folder: Path) -> str:
    """Load or reload the extension in a folder, and return its id.

    Raises:
        LaunchFailedError: the browser rejects it; the error has the reason.
    """
    try:
        reply = cast(
            "dict[str, str]", await cdp.send(cast("Any", "Extensions.loadUnpacked"), {"path": str(folder)})
        )
    except Error as error:
        if is_closed(error):
            raise
        raise LaunchFailedError(
            f"The browser rejects the extension in {folder}: {protocol_reason(error)}",
            suggestion="Correct its manifest or the file that is named, then try again.",
            folder=str(folder),
        ) from error
    return reply["id"]


def _parse_ids(reply: Any) -> dict[Path, str]:
    return {Path(each["path"]).resolve(): str(each["id"]) for each in reply["extensions"] if each["enabled"]}
