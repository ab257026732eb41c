"""Where a step works."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from footlight.demo.remote_browser import RemoteBrowser
from footlight.demo.shop import Upload
from footlight.demo.site import Site
from footlight.demo.verdict import Check

__all__ = ["Stage", "Step"]


@dataclass(frozen=True, kw_only=True)
class Stage:
    """A browser, the site, the folder it may upload from, and the folder for what it brings home."""

    browser: RemoteBrowser
    site: Site
    files: Path
    output: Path

    async def visit(self, path: str) -> None:
        """Open a page of the shop."""
        await self.browser.call("navigate", url=f"{self.site.url}{path}")

    def lay_out(self, upload: Upload) -> str:
        """Put a file where the browser may take it; its path."""
        path = self.files / upload.name
        path.write_bytes(upload.content)
        return str(path)

    def bring_home(self, name: str, content: bytes) -> None:
        """Keep a file in the output folder."""
        (self.output / name).write_bytes(content)

    def bring_home_json(self, name: str, value: object) -> None:
        """Keep a value in the output folder."""
        self.bring_home(name, f"{json.dumps(value, ensure_ascii=False, indent=2)}\n".encode())


class Step(NamedTuple):
    """A step and its name."""

    name: str
    run: Callable[[Stage], Awaitable[Check]]
