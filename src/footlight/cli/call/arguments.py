"""Parse the words after `footlight call`: options of the command, and arguments of the tool."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, cast

from footlight.cli.usage import InvalidUsageError
from footlight.protocol.untrusted_json import an_object, items

__all__ = [
    "OPTIONS",
    "Flag",
    "Option",
    "RawArguments",
    "asks_for_command_help",
    "choose_format",
    "choose_output",
    "find_parameter",
    "find_tool",
    "read_text",
    "read_words",
    "tool_arguments",
]

Schema = Mapping[str, Any]
Tool = Mapping[str, Any]


class Option(NamedTuple):
    """An option of the command itself.

    `value` describes its value, or is None for a switch. An option that `yields` is passed to the tool if
    that has a parameter with the same name.
    """

    name: str
    value: str | None
    help: str
    yields: bool = False


OPTIONS = (
    Option("--server", "COMMAND|URL", "Call this server instead of the background server."),
    Option("--header", "NAME:VALUE", "Send this header to a server with a URL. Repeatable."),
    Option(
        "--json",
        "JSON|@FILE|-",
        "Take arguments from a JSON object, a file or standard input. Without a value: --format json.",
        yields=True,
    ),
    Option("--output", "FILE", "Write the image, or else the text, to this file.", yields=True),
    Option("--format", "text|json", "Print the text or the whole result. Default: text.", yields=True),
    Option("--no-start", None, "Do not start a background server if none is running."),
)
HELP = ("--help", "-h")


class Flag(NamedTuple):
    """A flag from the command line, without `--`. `value` is None if it has no value."""

    name: str
    value: str | None


class RawArguments(NamedTuple):
    """The words after `call`, parsed before the schema of the tool is known."""

    tool: str | None
    flags: list[Flag]
    help: bool

    def own_values(self, name: str, tool: Tool | None = None) -> list[str | None]:
        """Return the values of an option of the command itself."""
        (option,) = (each for each in OPTIONS if each.name == f"--{name}")
        if option.yields and tool and find_parameter(name, _properties(tool)):
            return []
        return [flag.value for flag in self.flags if flag.name == name]


def read_words(words: Sequence[str]) -> RawArguments:
    """Parse the words into a tool and flags.

    A word that begins with `--` is a flag. The next word is its value, unless that is a flag too.

    Raises:
        InvalidUsageError: a word is neither the tool, nor a flag, nor the value of a flag.
    """
    tools: list[str] = []
    flags: list[Flag] = []
    asks_for_help = False
    rest = [*words]
    while rest:
        word = rest.pop(0)
        if word in HELP:
            asks_for_help = True
            continue
        if not word.startswith("--"):
            tools.append(word)
            continue
        name, equals, value = word.removeprefix("--").partition("=")
        takes_value = not any(option.name == f"--{name}" and option.value is None for option in OPTIONS)
        if not equals and takes_value and rest and not rest[0].startswith("--"):
            flags.append(Flag(name, rest.pop(0)))
        else:
            flags.append(Flag(name, value if equals else None))
    if len(tools) > 1:
        raise InvalidUsageError(f"{tools[1]!r} belongs to no flag. Quote a value that has spaces.")
    return RawArguments(tools[0] if tools else None, flags, asks_for_help)


def asks_for_command_help(words: Sequence[str]) -> bool:
    """Return whether the words contain `--help` and no tool. Return False if they are not valid."""
    try:
        typed = read_words(words)
    except InvalidUsageError:
        return False
    return typed.help and typed.tool is None


def find_tool(name: str, tools: Sequence[Tool]) -> Tool:
    """Return the tool with this name.

    Raises:
        InvalidUsageError: there is no such tool. The message names the closest one.
    """
    for tool in tools:
        if tool["name"] == name:
            return tool
    raise InvalidUsageError(
        f"there is no tool {name!r}{_suggest(name, [each['name'] for each in tools])}. "
        "`footlight tools` lists them."
    )


def tool_arguments(typed: RawArguments, tool: Tool, *, read: Callable[[str], str]) -> dict[str, Any]:
    """Return the arguments of the call. `read` returns the content of `@FILE` and `-`.

    Raises:
        InvalidUsageError: a parameter is unknown or missing, or a value has the wrong type.
    """
    properties = _properties(tool)
    arguments: dict[str, Any] = {}
    for text in filter(None, typed.own_values("json", tool)):
        arguments |= _object(text, read)
    lists: dict[str, list[Any]] = {}
    for flag in typed.flags:
        if _is_own(flag.name, properties):
            continue
        name, value = _value(flag, tool)
        if isinstance(value, list) and _kind(properties[name]) == "array":
            lists.setdefault(name, []).extend(cast("list[Any]", value))
        else:
            arguments[name] = value
    arguments |= lists
    required = items(tool.get("inputSchema", {}).get("required"))  # In old schemas it may be a boolean.
    if missing := [f"--{name}" for name in required if name not in arguments]:
        raise InvalidUsageError(
            f"{tool['name']} needs {', '.join(missing)}. "
            f"`footlight call {tool['name']} --help` lists its parameters."
        )
    return arguments


def _is_own(name: str, properties: Mapping[str, Schema]) -> bool:
    return any(
        option.name == f"--{name}" and not (option.yields and find_parameter(name, properties))
        for option in OPTIONS
    )


def _value(flag: Flag, tool: Tool) -> tuple[str, Any]:
    properties = _properties(tool)
    name = find_parameter(flag.name, properties)
    if name and _kind(properties[name]) == "boolean":
        return name, _switch(flag)
    if name and flag.value is None:
        raise InvalidUsageError(f"--{flag.name} needs a value")
    if name:
        return name, _parse(flag, properties[name])
    switch = find_parameter(flag.name.removeprefix("no-"), properties)
    if (
        flag.name.startswith("no-")
        and flag.value is None
        and switch
        and _kind(properties[switch]) == "boolean"
    ):
        return switch, False
    raise InvalidUsageError(
        f"{tool['name']} has no parameter --{flag.name}{_suggest(flag.name, list(properties), '--')}. "
        f"`footlight call {tool['name']} --help` lists them."
    )


def _properties(tool: Tool) -> dict[str, Schema]:
    """Return the schemas of the parameters. A schema that is a boolean becomes an empty one."""
    properties: Mapping[str, object] = tool.get("inputSchema", {}).get("properties", {})
    return {name: an_object(schema) for name, schema in properties.items()}


def find_parameter(flag: str, properties: Mapping[str, Schema]) -> str | None:
    """Return the parameter for a flag, or None. The flag `full-page` matches `fullPage` and `full_page`."""
    plain = _normalize_name(flag)
    return next((name for name in properties if _normalize_name(name) == plain), None)


def _normalize_name(name: str) -> str:
    return name.replace("-", "").replace("_", "").lower()


def _kind(schema: Schema) -> str | None:
    """Return the only type except null, or None if there are several or none."""
    kinds = _kinds(schema) - {"null"}
    return kinds.pop() if len(kinds) == 1 else None


def _kinds(value: object) -> set[str]:
    schema = an_object(value)  # A schema may be a boolean.
    types: Any = schema.get("type", ())
    kinds: set[str] = {types} if isinstance(types, str) else {*types}
    return kinds.union(*(_kinds(each) for each in schema.get("anyOf", ())))


def _parse(flag: Flag, schema: Schema) -> Any:
    text = flag.value or ""
    match _kind(schema):
        case "string":
            return text
        case "number" | "integer":
            return _number(flag)
        case "array":
            if text.lstrip().startswith("["):
                return _json(flag)
            return [_parse(flag, _items(schema))]
        case "object":
            return _json(flag)
        case _:
            try:
                return json.loads(text)
            except ValueError:
                return text


def _items(schema: Schema) -> Schema:
    alternatives = map(an_object, items(schema.get("anyOf")))
    nothing: Schema = {}
    return next((an_object(each["items"]) for each in (schema, *alternatives) if "items" in each), nothing)


def _switch(flag: Flag) -> bool:
    if flag.value not in (None, "true", "false"):
        raise InvalidUsageError(f"--{flag.name} is a switch: write true or false, not {flag.value!r}")
    return flag.value != "false"


def _number(flag: Flag) -> int | float:
    with suppress(ValueError):
        return int(flag.value or "")  # A float would be less precise.
    try:
        number = float(flag.value or "")
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InvalidUsageError(f"--{flag.name} must be a number, not {flag.value!r}")
    return int(number) if number.is_integer() else number


def _json(flag: Flag) -> Any:
    try:
        return json.loads(flag.value or "")
    except (ValueError, RecursionError) as error:
        raise InvalidUsageError(f"--{flag.name} must be JSON: {error}") from None


def _object(text: str, read: Callable[[str], str]) -> dict[str, Any]:
    if text == "-" or text.startswith("@"):
        text = read(text.removeprefix("@"))
    value = _json(Flag("json", text))
    if not isinstance(value, dict):
        raise InvalidUsageError("--json must be an object with a parameter for each key")
    return cast("dict[str, Any]", value)


def _suggest(name: str, names: Sequence[str], prefix: str = "") -> str:
    import difflib

    closest = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    return f"; closest: {prefix}{closest[0]}" if closest else ""


def choose_format(typed: RawArguments, tool: Tool) -> str:
    """Return the value of `--format`. `--json` without a value is equivalent to `--format json`.

    Raises:
        InvalidUsageError: the format is neither text nor json.
    """
    formats = typed.own_values("format", tool)
    if formats and formats[-1] not in ("text", "json"):
        raise InvalidUsageError(f"--format must be text or json, not {formats[-1]!r}")
    if None in typed.own_values("json", tool):
        return "json"
    return str(formats[-1]) if formats else "text"


def choose_output(typed: RawArguments, tool: Tool) -> Path | None:
    """Return the file of `--output`, or None. It is checked before the tool runs.

    Raises:
        InvalidUsageError: the path cannot be written.
    """
    files = typed.own_values("output", tool)
    if not files:
        return None
    if not files[-1]:
        raise InvalidUsageError("--output needs a value")
    file = Path(files[-1])
    if file.is_dir() or not file.parent.is_dir():
        raise InvalidUsageError(f"--output must be a file in a folder that exists, not {files[-1]!r}")
    return file


def read_text(file: str) -> str:
    """Return the text of a file, or of standard input for `-`.

    Raises:
        InvalidUsageError: the content is not UTF-8.
    """
    data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidUsageError(f"--json {file}: the content is not UTF-8") from None
