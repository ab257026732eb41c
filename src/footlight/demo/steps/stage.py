"""The context in which a step runs."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from footlight.demo.remote_browser import RemoteBrowser
from footlight.demo.shop.records import Upload
from footlight.demo.shop.site import Site
from footlight.demo.verdict import Check

__all__ = ["DemoStage", "DemoStep"]


@dataclass(frozen=True, kw_only=True)
class DemoStage:
    """The context of a step: a browser, the site, a folder to upload from, and the output folder."""

    browser: RemoteBrowser
    site: Site
    files: Path
    output: Path

    async def visit(self, path: str) -> None:
        """Open a page of the shop."""
        await self.browser.call("navigate", url=f"{self.site.url}{path}")

    def prepare_upload(self, upload: Upload) -> str:
        """Write a file where the browser may upload it from, and return its path."""
        path = self.files / upload.name
        path.write_bytes(upload.content)
        return str(path)

    def save(self, name: str, content: bytes) -> None:
        """Save a file in the output folder."""
        (self.output / name).write_bytes(content)

    def save_json(self, name: str, value: object) -> None:
        """Save a value as JSON in the output folder."""
        self.save(name, f"{json.dumps(value, ensure_ascii=False, indent=2)}\n".encode())


class DemoStep(NamedTuple):
    """A step with its name."""

    name: str
    run: Callable[[DemoStage], Awaitable[Check]]
