"""Unpacked Chrome extensions: what their manifests say, and what a browser has made of them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from footlight.errors import InvalidConfig

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from playwright.async_api import CDPSession

__all__ = ["LoadedExtension", "UnpackedExtension", "find_loaded", "read_extension"]

SCHEME = "chrome-extension"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnpackedExtension:
    """A folder with a manifest, before any browser has it. `pages` are those that the manifest names."""

    folder: Path
    name: str
    version: str
    manifest_version: int
    permissions: tuple[str, ...] = ()
    has_background: bool = False
    pages: Mapping[str, str] = field(default_factory=dict[str, str])
    """By role (popup, options, side-panel): paths in the extension."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedExtension:
    """One that runs in a browser, under an id."""

    id: str
    extension: UnpackedExtension

    @property
    def origin(self) -> str:
        return f"{SCHEME}://{self.id}"

    def url(self, path: str) -> str:
        return f"{self.origin}/{path.lstrip('/')}"

    def has(self, url: str) -> bool:
        """Whether that is one of its pages."""
        return url.startswith(f"{self.origin}/")


def read_extension(folder: Path) -> UnpackedExtension:
    """What the manifest in `folder` says.

    Raises:
        InvalidConfig: there is none, or no browser would take it.
    """
    path = folder / "manifest.json"
    try:
        manifest: Any = json.loads(path.read_text("utf-8-sig"))
    except OSError as error:
        raise InvalidConfig(
            f"{folder} is no unpacked extension: {path.name} cannot be read: {error.strerror or error}",
            suggestion="Give the folder that has the extension's manifest.json.",
            folder=str(folder),
        ) from None
    except (ValueError, RecursionError) as error:
        raise InvalidConfig(f"{path} is not valid JSON: {error}", folder=str(folder)) from None
    if not isinstance(manifest, dict) or not isinstance(cast("Any", manifest).get("name"), str):
        raise InvalidConfig(f"{path} is not the manifest of an extension: it has no name", folder=str(folder))
    return _extension(folder, cast("dict[str, Any]", manifest))


def _extension(folder: Path, manifest: dict[str, Any]) -> UnpackedExtension:
    permissions = (
        *manifest.get("permissions", ()),
        *manifest.get("host_permissions", ()),
    )
    return UnpackedExtension(
        folder=folder.resolve(),
        name=manifest["name"],
        version=str(manifest.get("version", "")),
        manifest_version=int(manifest.get("manifest_version", 0)),
        permissions=tuple(each for each in permissions if isinstance(each, str)),
        has_background="background" in manifest,
        pages=dict(_pages(manifest)),
    )


_PAGES = (
    ("popup", "action", "default_popup"),
    ("popup", "browser_action", "default_popup"),
    ("options", "options_ui", "page"),
    ("side-panel", "side_panel", "default_path"),
)


def _pages(manifest: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    if isinstance(path := manifest.get("options_page"), str):
        yield "options", path
    for role, section, key in _PAGES:
        if isinstance(path := cast("Any", manifest.get(section) or {}).get(key), str):
            yield role, path


async def find_loaded(
    cdp: CDPSession, extensions: Sequence[UnpackedExtension]
) -> list[LoadedExtension | None]:
    """Those that the browser runs; None where it does not run one."""
    ids = _ids(await cdp.send(cast("Any", "Extensions.getExtensions")))
    return [
        LoadedExtension(id=ids[each.folder], extension=each) if each.folder in ids else None
        for each in extensions
    ]


def _ids(told: Any) -> dict[Path, str]:
    return {Path(each["path"]).resolve(): str(each["id"]) for each in told["extensions"] if each["enabled"]}
