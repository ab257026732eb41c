"""`footlight codegen`: ask a server for its tools, and write the module if it would be another (R000-49)."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from footlight.client.codegen.differences import differences
from footlight.client.codegen.render_tools import FIRST_LINE, GENERATED, Source, render_tools
from footlight.client.errors import MCPError
from footlight.client.results import Tool
from footlight.client.runtime.transport import spawn_client
from footlight.client.target import transport_for

__all__ = ["Generated", "command_line", "generate"]


@dataclass(frozen=True, slots=True)
class Generated:
    """What became of it: the number of tools, and by what the module differs from the one that was there."""

    tools: int
    differences: Sequence[str]
    command: str
    """That writes the module anew."""


async def generate(
    server: str,
    out: Path,
    *,
    headers: Mapping[str, str] | None = None,
    adapter: str | None = None,
    check: bool = False,
    force: bool = False,
) -> Generated:
    """One server is started, and is gone when the module is written. With `check` nothing is written.

    `headers` are sent to a server with a URL, and are not in the module: they may have a token.

    Raises:
        MCPError: there is no such server, or no place for the module (`invalid`): its folder is missing, or
            what is there was not generated and is not to be overwritten by `force`.
    """
    command = command_line(server, out, adapter=adapter)
    before = _existing(out, force=force or check)
    tools, server_name = await _listed(server, headers)
    text = render_tools(
        tools,
        Source(
            server=server,
            regenerate=command,
            server_name=server_name,
            adapter=adapter,
            generated=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        ),
    )
    if before is not None and _timeless(before) == _timeless(text):
        return Generated(len(tools), (), command)
    if not check:
        _write(out, text)
    told = ["there is no such file"] if before is None else differences(before, text)
    return Generated(len(tools), told or ["how it is written"], command)


def command_line(server: str, out: Path, *, adapter: str | None = None) -> str:
    """To be pasted into a shell: everything as it was typed."""
    words = ["footlight", "codegen", "--server", server, "--out", str(out)]
    return " ".join(map(_quoted, [*words, *(("--adapter", adapter) if adapter else ())]))


async def _listed(server: str, headers: Mapping[str, str] | None) -> tuple[Sequence[Tool], str]:
    """Its tools and its name."""
    client = await spawn_client(transport_for(server, headers=headers))
    try:
        # Not its version: a new one with the same tools needs no new module.
        return await client.list_tools(), str(client.get_server_info().get("name") or "")
    finally:
        await client.close()


def _existing(out: Path, *, force: bool) -> str | None:
    """The module that is there. Asked before a server is started."""
    if out.is_dir():
        raise MCPError(
            f"{out} is a folder: name a file in it, such as {out / 'mcp_tools.py'}", reason="invalid"
        )
    if not out.parent.is_dir():
        raise MCPError(f"There is no folder {out.parent}: make it, or give another --out", reason="invalid")
    if not out.exists():
        return None
    try:
        text = out.read_text("utf-8")
    except UnicodeDecodeError:
        text = ""
    except OSError as error:
        raise MCPError(f"{out} cannot be read: {error.strerror}", reason="invalid") from None
    if not text.startswith(FIRST_LINE) and not force:
        raise MCPError(
            f"{out} was not generated: give another --out, or --force to overwrite it", reason="invalid"
        )
    return text


def _timeless(text: str) -> str:
    """Without the time in its header, which alone would make it another one each time (R000-54)."""
    return re.sub(f"(?m)^{re.escape(GENERATED)}.*$", GENERATED, text, count=1)


def _write(out: Path, text: str) -> None:
    """Whole, or not at all; where it is a link, what that leads to."""
    path = out.resolve()
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        unfinished.write_text(text, "utf-8", newline="\n")
        if path.exists():
            shutil.copymode(path, unfinished)
        unfinished.replace(path)
    except OSError as error:
        raise MCPError(f"{out} cannot be written: {error.strerror}", reason="invalid") from None
    finally:
        with contextlib.suppress(OSError):
            unfinished.unlink()


def _quoted(word: str) -> str:
    """In double quotes, which every shell knows, unless something in it is special within those."""
    if not word.isprintable():
        inner = "".join(
            each if each.isprintable() else _escaped(each) for each in re.sub(r"[\\']", r"\\\g<0>", word)
        )
        return f"$'{inner}'"
    if re.search(r'["\\$`!]', word) or re.fullmatch(r"[\w@%+=:,./~-]+", word, re.ASCII):
        return shlex.quote(word)
    return f'"{word}"'


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
