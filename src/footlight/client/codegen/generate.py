"""Generate a module from a server's list of tools, and write it if it has changed."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from footlight.atomic_files import write_atomically
from footlight.client.codegen.differences import constant, differences
from footlight.client.codegen.render_tools import FIRST_LINE, GENERATED, Source, render_tools
from footlight.client.handles.connect import spawn_client
from footlight.client.server_address import RedactedAddress, without_secrets
from footlight.client.target import transport_for
from footlight.protocol.errors import MCPError
from footlight.protocol.tools import Tool

__all__ = ["Generated", "command_line", "generate"]


@dataclass(frozen=True, slots=True)
class Generated:
    """The number of tools, and the differences between the new module and the existing one."""

    tools: int
    differences: Sequence[str]
    command: str
    """The command that generates the module again."""
    variables: Sequence[str]
    """The environment variables from which the module reads the secrets in the server's address."""


async def generate(
    server: str,
    out: Path,
    *,
    headers: Mapping[str, str] | None = None,
    adapter: str | None = None,
    check: bool = False,
    force: bool = False,
) -> Generated:
    """Connect to a server, list its tools, and write the module. With `check`, only compare it.

    `headers` are sent to a server with a URL. They are not written to the module, because they may contain a
    token. A secret in `server` is replaced by an environment variable that the module reads.

    Raises:
        MCPError: the server cannot be reached; or the module cannot be written (`invalid`), because its
            folder is missing, or because the existing file was not generated and `force` is not set.
    """
    address = _without_secrets(server)
    command = command_line(address.address, out, adapter=adapter)
    before = _read_existing_module(out, force=force or check)
    filled = address.server.expand({**os.environ, **address.values})
    tools, server_name = await _list_tools(filled if address.names else server, headers)
    source = Source(
        server=address.address,
        variables=tuple(address.names),
        regenerate=command,
        server_name=server_name,
        adapter=adapter,
        generated=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    )
    text = render_tools(tools, source)
    if before is not None and _is_same(before, tools, source):
        return Generated(len(tools), (), command, source.variables)
    if not check:
        try:
            write_atomically(out, text.encode())
        except OSError as error:
            raise MCPError(f"{out} cannot be written: {error.strerror}", reason="invalid") from None
    changes = ["there is no such file"] if before is None else differences(before, text)
    return Generated(len(tools), changes or ["how it is written"], command, source.variables)


def command_line(server: str, out: Path, *, adapter: str | None = None) -> str:
    """Return the codegen command, quoted for a shell."""
    words = ["footlight", "codegen", "--server", server, "--out", str(out)]
    return " ".join(map(_quote_word, [*words, *(("--adapter", adapter) if adapter else ())]))


async def _list_tools(server: object, headers: Mapping[str, str] | None) -> tuple[Sequence[Tool], str]:
    """Return the tools of the server and its name."""
    client = await spawn_client(transport_for(server, headers=headers))
    try:
        # The server's version is left out, because a new version with the same tools needs no new module.
        return await client.list_tools(), str(client.get_server_info().get("name") or "")
    finally:
        await client.close()


def _read_existing_module(out: Path, *, force: bool) -> str | None:
    """Return the text of the existing module, or None. Errors are raised before a server is started."""
    if out.is_dir():
        raise MCPError(
            f"{out} is a folder: name a file in it, such as {out / 'mcp_tools.py'}", reason="invalid"
        )
    if not out.parent.is_dir():
        raise MCPError(f"There is no folder {out.parent}: make it, or give another --out", reason="invalid")
    if not out.exists():
        return None
    if not out.is_file():  # Reading a device or a pipe may never end, and it must not be replaced.
        raise MCPError(f"{out} is a device or a pipe: give another --out", reason="invalid")
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


def _is_same(before: str, tools: Sequence[Tool], source: Source) -> bool:
    """Return whether the existing module equals the new one, except for its date and its command.

    The command depends on the working directory (`--out tools.py` or `--out tests/tools.py`). Its other
    options, such as the server, are compared because they are also elsewhere in the module.
    """
    generated = re.search(f"(?m)^{re.escape(GENERATED)}(.*)$", before)
    command = constant(before, "REGENERATE")
    if generated is None or command is None:
        return False
    return before == render_tools(tools, replace(source, regenerate=command, generated=generated[1]))


def _without_secrets(server: str) -> RedactedAddress:
    try:
        return without_secrets(server)
    except ValueError as error:
        raise MCPError(f"target: {error} in the command line", reason="invalid") from None


def _quote_word(word: str) -> str:
    """Quote a word for a shell, in double quotes if possible, because every shell supports these."""
    if not word.isprintable():
        inner = "".join(
            each if each.isprintable() else _escape_character(each)
            for each in re.sub(r"[\\']", r"\\\g<0>", word)
        )
        return f"$'{inner}'"
    if re.search(r'["\\$`!]', word) or re.fullmatch(r"[\w@%+=:,./~-]+", word, re.ASCII):
        return shlex.quote(word)
    return f'"{word}"'


def _escape_character(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
