"""Replace the paths of a worker's files in its answers by links: its clients are on other machines."""

from __future__ import annotations

import asyncio
import contextlib
import mimetypes
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from footlight.browser.recording.artifact_store import StoredFile
from footlight.server.calls.attachments import MAX_FILE_BYTES
from footlight.server.resources.links import link_to

if TYPE_CHECKING:
    from footlight.browser.sessions.session import Session
    from footlight.server.answers.answer import Answer, AnswerLink

__all__ = ["link_files"]

UNKNOWN_TYPE = "application/octet-stream"


async def link_files(answer: Answer, session: Session) -> Answer:
    """Return the answer without paths of this machine, and with links to the downloads in it.

    A large download has no link.
    """
    found: set[str] = set()
    _find_paths(answer.content, found)
    if not found:
        return answer
    names = {str(each.path): f"{each.id}-{each.path.name}" for each in session.downloads.known if each.path}
    output = str(session.output.path.resolve())
    own = {path for path in found if path in names or Path(path).is_relative_to(output)}
    if not own:
        return answer
    stored = [(path, await _store(session, Path(path), names[path])) for path in own if path in names]
    links = {path: link for path, link in stored if link is not None}
    content = _replace_paths(answer.content, own, {path: link.uri for path, link in links.items()})
    return replace(answer, content=content, links=(*answer.links, *links.values()))


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


def _find_paths(value: Any, found: set[str]) -> None:
    """Add the texts that are called `path` and look like an absolute path."""
    if isinstance(value, Mapping):
        fields = cast("Mapping[str, Any]", value)
        path = fields.get("path")
        if isinstance(path, Path | str) and Path(path).is_absolute():
            found.add(str(path))
        for item in fields.values():
            _find_paths(item, found)
    elif isinstance(value, list | tuple):
        for item in cast("list[Any]", value):
            _find_paths(item, found)


def _replace_paths(value: Any, own: set[str], uris: Mapping[str, str]) -> Any:
    if isinstance(value, Mapping):
        fields = cast("Mapping[str, Any]", value)
        path = str(fields.get("path"))
        if path in own:
            link = {"uri": uris[path]} if path in uris else {}
            fields = {key: item for key, item in fields.items() if key != "path"} | link
        return {key: _replace_paths(item, own, uris) for key, item in fields.items()}
    if isinstance(value, list | tuple):
        return [_replace_paths(item, own, uris) for item in cast("list[Any]", value)]
    return value
