"""A tool's result, for people: its text as it is, and its images as files."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TextIO

from footlight.steering import harmless

__all__ = ["OK", "TOOL_FAILED", "describe", "nobody_reads", "print_result", "print_tool", "say", "warn"]

OK = 0
TOOL_FAILED = 1

ENDINGS = {
    "application/json": ".json",
    "application/pdf": ".pdf",
    "audio/mpeg": ".mp3",
    "audio/wav": ".wav",
    "image/gif": ".gif",
    "image/jpeg": ".jpg",
    "image/png": ".png",
    "image/svg+xml": ".svg",
    "image/webp": ".webp",
}

Part = Mapping[str, Any]


def print_result(tool: str, result: Mapping[str, Any], *, form: str, output: Path | None) -> int:
    """The exit status. What a tool says of its failure goes to stderr, and no file is written of it."""
    failed = result.get("isError") is True
    if form == "json":
        say(json.dumps(result, ensure_ascii=False))
        if output and not failed:
            _write_files(tool, result, output)
    elif failed:
        for line in _texts(result):
            warn(line, prefix="")
    else:
        files = _write_files(tool, result, output)
        texts = _texts(result)
        if output and not files:
            output.write_text("".join(f"{text}\n" for text in texts), "utf-8")
            texts, files = [], [output]
        for line in (*texts, *map(str, files)):
            say(line)
    return TOOL_FAILED if failed else OK


def describe(tool: Mapping[str, Any]) -> str:
    """What it is for, in a line."""
    return str(tool.get("description") or tool.get("title") or "").partition("\n")[0].partition(". ")[0]


def print_tool(tool: Mapping[str, Any]) -> None:
    """What it is for, and what it takes."""
    schema: Mapping[str, Any] = tool.get("inputSchema", {})
    properties: Mapping[str, Mapping[str, Any]] = schema.get("properties", {})
    required: list[str] = schema.get("required", [])
    say(f"{tool['name']}: {tool.get('description') or ''}".rstrip(": "))
    width = max((len(name) for name in properties), default=0)
    for name in sorted(properties, key=lambda name: name not in required):
        needed = "needed. " if name in required else ""
        told = str(properties[name].get("description") or "")
        say(f"  --{name:{width}}  {_type(properties[name])}. {needed}{told}".rstrip())


def say(text: str) -> None:
    """A terminal does not get what would steer it, which a page may have written; a file gets all."""
    _write(sys.stdout, text)


def warn(text: str, *, prefix: str = "footlight: ") -> None:
    _write(sys.stderr, f"{prefix}{text}")


def nobody_reads() -> None:
    """After a BrokenPipeError on standard output: what is left in it must not fail at the end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _write(stream: TextIO, text: str) -> None:
    stream.write(f"{harmless(text) if stream.isatty() else text}\n")
    stream.flush()


def _type(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    if "anyOf" in schema:
        return " or ".join(_type(each) for each in schema["anyOf"])
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return str(schema.get("type", "any"))


def _texts(result: Mapping[str, Any]) -> list[str]:
    return [text for part in _parts(result) if (text := _text(part)) is not None]


def _text(part: Part) -> str | None:
    match part.get("type"):
        case "text":
            return str(part.get("text", ""))
        case "resource_link":
            return f"{part.get('name')}: {part.get('uri')}"
        case "resource" if "text" in part.get("resource", {}):
            return str(part["resource"]["text"])
        case _:
            return None


def _write_files(tool: str, result: Mapping[str, Any], output: Path | None) -> list[Path]:
    """One for each image, and for what else is no text."""
    import base64

    first = output
    files: list[Path] = []
    for part in _parts(result):
        inner: Part = part.get("resource", {}) if part.get("type") == "resource" else part
        data = inner.get("data") or inner.get("blob")
        if not isinstance(data, str):
            continue
        ending = ENDINGS.get(str(inner.get("mimeType")), ".bin")
        path = _free(first) if files and first else first or _free(Path(_name(tool) + ending))
        path.write_bytes(base64.b64decode(data))
        files.append(path)
    return files


def _parts(result: Mapping[str, Any]) -> list[Part]:
    content: Any = result.get("content", [])
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []  # pyright: ignore[reportUnknownVariableType]


def _name(tool: str) -> str:
    plain = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in tool).lstrip(".")
    return f"{plain}-{time.strftime('%Y%m%d-%H%M%S')}"


def _free(path: Path) -> Path:
    """The path, with a number where there is a file already."""
    number = 1
    free = path
    while free.exists():
        number += 1
        free = path.with_name(f"{path.stem}-{number}{path.suffix}")
    return free
