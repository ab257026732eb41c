"""Print text without control sequences, and print or write the results of tools."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TextIO

from footlight.atomic_files import write_atomically
from footlight.cli.usage import FAILED, OK, OutputNotWrittenError, RequestRefusedError
from footlight.protocol.untrusted_json import an_object, items
from footlight.safe_text import escape_control_characters

__all__ = [
    "ignore_broken_pipe",
    "print_result",
    "print_tool",
    "say",
    "summarize_tool",
    "warn",
]

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

MAX_TYPE_DEPTH = 5
"""How deep the type of a parameter is described. Servers may nest schemas without end."""
MAX_CHOICES = 20

Part = Mapping[str, Any]


def print_result(tool: str, result: Mapping[str, Any], *, form: str, output: Path | None) -> int:
    """Print the result and return the exit status.

    The text of a failed call is printed to standard error, and is not written to a file.

    Raises:
        OutputNotWrittenError: a file or standard output cannot be written.
    """
    try:
        return _print_result(tool, result, form=form, output=output)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputNotWrittenError(f"the output could not be written: {error.strerror}") from None


def _print_result(tool: str, result: Mapping[str, Any], *, form: str, output: Path | None) -> int:
    failed = result.get("isError") is True
    if form == "json":
        say(json.dumps(result, ensure_ascii=False))
        if output and not failed:
            _write_files(tool, result, output)
    elif failed:
        for text in _texts(result):
            warn("\n".join(_describe_failure(text)), prefix="")
        match result.get("_meta"):
            case {"footlight/documentation": str(link)}:
                warn(f"More: {link}", prefix="")
            case _:
                pass
    else:
        files = _write_files(tool, result, output)
        texts = _texts(result)
        if output and not files:
            written = "".join(f"{text}\n" for text in texts)
            _write_file(output, written.encode("utf-8", "backslashreplace"))
            texts, files = [], [output]
        for line in (*texts, *map(str, files)):
            say(line)
    return FAILED if failed else OK


def summarize_tool(tool: Mapping[str, Any]) -> str:
    """Return the first sentence of the tool's description."""
    return str(tool.get("description") or tool.get("title") or "").partition("\n")[0].partition(". ")[0]


def print_tool(tool: Mapping[str, Any]) -> None:
    """Print the tool's description and its parameters, with required ones first."""
    schema: Mapping[str, Any] = tool.get("inputSchema", {})
    properties: Mapping[str, object] = schema.get("properties", {})
    required = items(schema.get("required"))  # In old schemas it may be a boolean.
    say(f"{tool['name']}: {tool.get('description') or ''}".rstrip(": "))
    width = max((len(name) for name in properties), default=0)
    for name in sorted(properties, key=lambda name: name not in required):
        mark = "required. " if name in required else ""
        description = str(an_object(properties[name]).get("description") or "")
        say(f"  --{name:{width}}  {_describe_type(properties[name])}. {mark}{description}".rstrip())


def say(text: str) -> None:
    """Print a line. On a terminal, control characters are escaped, because the text may come from a page."""
    _write(sys.stdout, text)


def warn(text: str, *, prefix: str = "footlight: ") -> None:
    _write(sys.stderr, f"{prefix}{text}")


def escape_surrogates() -> None:
    """Print lone surrogates, which cannot be encoded, as escapes. Texts of servers may contain them."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # pyright: ignore[reportAttributeAccessIssue]


def ignore_broken_pipe() -> None:
    """Discard further standard output after a BrokenPipeError, so that the flush on exit cannot fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _write(stream: TextIO, text: str) -> None:
    stream.write(f"{escape_control_characters(text) if stream.isatty() else text}\n")
    stream.flush()


def _describe_type(value: object, depth: int = 0) -> str:
    schema = an_object(value)  # A schema may be a boolean.
    if depth > MAX_TYPE_DEPTH:
        return "any"
    if choices := items(schema.get("enum")):
        return " | ".join(map(str, choices[:MAX_CHOICES]))
    if choices := items(schema.get("anyOf")):
        return " or ".join(_describe_type(each, depth + 1) for each in choices[:MAX_CHOICES])
    if schema.get("type") == "array":
        return f"list of {_describe_type(schema.get('items', {}), depth + 1)}"
    types: object = schema.get("type", "any")
    return " or ".join(map(str, items(types))) or str(types)


def _texts(result: Mapping[str, Any]) -> list[str]:
    return [text for part in _parts(result) if (text := _find_text(part)) is not None]


def _describe_failure(text: str) -> list[str]:
    """Return the error of a failed call as lines: code and message, details, and suggestion.

    Text in another format is returned unchanged.
    """
    try:
        error: dict[str, Any] = json.loads(text)["error"]
        details: dict[str, Any] = error.get("details") or {}
        head = f"{error.get('code') or 'error'}: {error['message']}"
        facts = [f"  {name}: {_plain_value(value)}" for name, value in details.items()]
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        return [text]
    suggestion = error.get("suggestion")
    return [head, *facts, *([str(suggestion)] if suggestion else [])]


def _plain_value(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _find_text(part: Part) -> str | None:
    match part.get("type"):
        case "text":
            return str(part.get("text", ""))
        case "resource_link":
            return f"{part.get('name')}: {part.get('uri')}"
        case "resource" if "text" in (resource := an_object(part.get("resource"))):
            return str(resource["text"])
        case _:
            return None


def _write_files(tool: str, result: Mapping[str, Any], output: Path | None) -> list[Path]:
    """Write a file for each image and each other part with binary data.

    Raises:
        RequestRefusedError: data of the server is not base64.
        OutputNotWrittenError: a file cannot be written.
    """
    import base64

    first = output
    files: list[Path] = []
    for part in _parts(result):
        inner = an_object(part.get("resource")) if part.get("type") == "resource" else part
        data = inner.get("data") or inner.get("blob")
        if not isinstance(data, str):
            continue
        ending = ENDINGS.get(str(inner.get("mimeType")), ".bin")
        path = _free_path(first) if files and first else first or _free_path(Path(_file_name(tool) + ending))
        try:
            content = base64.b64decode("".join(data.split()), validate=True)
        except ValueError:
            raise RequestRefusedError(
                f"the answer of {tool} contains data that is not base64", None
            ) from None
        _write_file(path, content)
        files.append(path)
    return files


def _write_file(path: Path, content: bytes) -> None:
    try:
        write_atomically(path, content)
    except OSError as error:
        raise OutputNotWrittenError(f"{path} could not be written: {error.strerror}") from None


def _parts(result: Mapping[str, Any]) -> list[Part]:
    content: Any = result.get("content", [])
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []  # pyright: ignore[reportUnknownVariableType]


def _file_name(tool: str) -> str:
    plain = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in tool).lstrip(".")
    return f"{plain}-{time.strftime('%Y%m%d-%H%M%S')}"


def _free_path(path: Path) -> Path:
    """Return the path, with a number appended if the file exists."""
    number = 1
    free = path
    while free.exists():
        number += 1
        free = path.with_name(f"{path.stem}-{number}{path.suffix}")
    return free
