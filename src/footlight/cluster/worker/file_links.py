"""Replace the paths of files in a worker's answers by links, because its clients are on other machines.

A small file is an MCP resource. A large file has a link, through which the front reads it in parts.
"""

from __future__ import annotations

import asyncio
import contextlib
import mimetypes
import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

from footlight.browser.recording.artifact_store import StoredFile
from footlight.server.answers.answer import AnswerLink
from footlight.server.answers.json_values import PageText
from footlight.server.calls.attachments import MAX_FILE_BYTES
from footlight.server.resources.links import link_to

if TYPE_CHECKING:
    from footlight.browser.sessions.session import Session
    from footlight.caller import Caller
    from footlight.server.answers.answer import Answer

__all__ = ["FileFacts", "FileLinks", "read_part"]

UNKNOWN_TYPE = "application/octet-stream"
MAX_FILES = 10_000


@dataclass(frozen=True, slots=True)
class FileFacts:
    """The facts about a file that precede its contents in a response."""

    name: str
    mime_type: str
    bytes: int


@dataclass(frozen=True, slots=True)
class _LinkedFile:
    session: Session
    path: Path
    mime_type: str


class FileLinks:
    """Links the files of a worker's sessions, and reads those that are too large for a resource.

    A link is valid until its session ends. The id of a linked file begins with the name of the worker.
    """

    def __init__(self, worker: str) -> None:
        self._worker = worker
        self._files: dict[str, _LinkedFile] = {}

    async def link(self, answer: Answer, session: Session, caller: Caller, address: str | None) -> Answer:
        """Return the answer without paths of this machine, and with links to its files.

        `address` is the URL below which the front serves large files. Without it, they have no link.
        """
        folder = f"{session.output.below(caller.scope_name('')).path.resolve()}/"
        names = {
            str(each.path): f"{each.id}-{each.path.name}" for each in session.downloads.known if each.path
        }
        paths = _Paths(folder, names)
        paths.find(answer.content)
        if not paths.found and not paths.are_in_texts:
            return answer
        links: dict[str, AnswerLink] = {}
        for path, has_link in paths.found.items():
            link = None if has_link else await self._link(session, path, names.get(path), address)
            if link is not None:
                links[path] = link
        content = paths.replace(answer.content, links)
        return replace(answer, content=content, links=(*answer.links, *links.values()))

    async def _link(
        self, session: Session, path: str, name: str | None, address: str | None
    ) -> AnswerLink | None:
        """Return a link to a file, or None if it is gone or not written yet. A download has a `name`."""
        if name is not None and (stored := await _store(session, Path(path), name)):
            return stored
        size = await asyncio.to_thread(_measure_file, Path(path))
        if address is None or not size:
            return None
        file = _LinkedFile(session, Path(path), mimetypes.guess_type(path)[0] or UNKNOWN_TYPE)
        url = f"{address}/{self._add(file)}/{quote(file.path.name)}"
        return AnswerLink(url, file.path.name, file.mime_type, size)

    def _add(self, file: _LinkedFile) -> str:
        self._files = {id: each for id, each in self._files.items() if not each.session.has_ended}
        for id, each in self._files.items():
            if each == file:
                return id
        while len(self._files) >= MAX_FILES:
            del self._files[next(iter(self._files))]
        id = f"{self._worker}.{secrets.token_hex(16)}"
        self._files[id] = file
        return id

    async def describe(self, id: str, caller: Caller) -> FileFacts | None:
        """Return the facts of a linked file, or None if the caller has no such file."""
        file = self._find(id, caller)
        size = None if file is None else await asyncio.to_thread(_measure_file, file.path)
        return None if file is None or size is None else FileFacts(file.path.name, file.mime_type, size)

    async def read(self, id: str, caller: Caller, start: int, size: int) -> bytes | None:
        """Return a part of a linked file, or None if the caller has no such file."""
        file = self._find(id, caller)
        return None if file is None else await asyncio.to_thread(read_part, file.path, start, size)

    def _find(self, id: str, caller: Caller) -> _LinkedFile | None:
        file = self._files.get(id)
        if file is None or file.session.has_ended or file.session.owner != caller.principal:
            return None
        return file


async def _store(session: Session, path: Path, name: str) -> AnswerLink | None:
    """Store a download to be read later, once. Return None where it is too large or gone."""
    for file in session.artifacts.items(session.id, StoredFile):
        if file.name == name:
            return link_to(file)
    data = await asyncio.to_thread(_read_small_file, path)
    if data is None:
        return None
    guessed = mimetypes.guess_type(name)[0]
    # JSON would be read as text, and a download may be anything.
    kind = UNKNOWN_TYPE if guessed in (None, "application/json") else guessed
    file = StoredFile(session_id=session.id, name=name, mime_type=kind, data=data)
    return link_to(file) if session.store_artifact(file) else None


def _read_small_file(path: Path) -> bytes | None:
    with contextlib.suppress(OSError):
        if path.stat().st_size <= MAX_FILE_BYTES:
            return path.read_bytes()
    return None


def _measure_file(path: Path) -> int | None:
    with contextlib.suppress(OSError):
        return path.stat().st_size
    return None


def read_part(path: Path, start: int, size: int) -> bytes | None:
    """Return a part of a file, or None if it is gone."""
    with contextlib.suppress(OSError), path.open("rb") as file:
        file.seek(start)
        return file.read(size)
    return None


class _Paths:
    """The paths of a session's files in an answer: its downloads, and what is in its output folder."""

    def __init__(self, folder: str, downloads: Collection[str]) -> None:
        """Create it for the output folder, which ends with a slash, and the paths of the downloads."""
        self._folder = folder
        self._downloads = downloads
        self.found: dict[str, bool] = {}
        """The values of fields called `path`, and whether a link is beside them."""
        self.are_in_texts = False

    def find(self, value: Any) -> None:
        if isinstance(value, Mapping):
            fields = cast("Mapping[str, Any]", value)
            if (path := self._own_path(fields)) is not None:
                self.found[path] = self.found.get(path, False) or "uri" in fields
            for item in fields.values():
                self.find(item)
        elif isinstance(value, list | tuple):
            for item in cast("list[Any]", value):
                self.find(item)
        elif isinstance(value, str):
            self.are_in_texts |= self._is_named_in(value)

    def replace(self, value: Any, links: Mapping[str, AnswerLink]) -> Any:
        """Return the value with links in place of the paths, and without the folder in other texts."""
        if isinstance(value, Mapping):
            fields = cast("Mapping[str, Any]", value)
            if (path := self._own_path(fields)) is not None:
                fields = {key: item for key, item in fields.items() if key != "path"}
                if path in links:
                    uri = links[path].uri
                    fields["downloadUrl" if uri.startswith("http") else "uri"] = uri
            return {key: self.replace(item, links) for key, item in fields.items()}
        if isinstance(value, list | tuple):
            return [self.replace(item, links) for item in cast("list[Any]", value)]
        if isinstance(value, str) and self._is_named_in(value):
            return value.replace(self._folder, "")
        return value

    def _own_path(self, fields: Mapping[str, Any]) -> str | None:
        path = fields.get("path")
        if isinstance(path, Path | str):
            text = str(path)
            if text in self._downloads or text.startswith(self._folder):
                return text
        return None

    def _is_named_in(self, text: str) -> bool:
        return self._folder in text and not isinstance(text, PageText)
