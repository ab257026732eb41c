"""What is typed after `footlight call`, and what of it are a tool's arguments: by the tool's own schema."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, cast

__all__ = [
    "OPTIONS",
    "BadUsage",
    "Given",
    "Option",
    "Typed",
    "find_parameter",
    "find_tool",
    "read_words",
    "tool_arguments",
]

Schema = Mapping[str, Any]
Tool = Mapping[str, Any]


class BadUsage(Exception):
    """What was typed cannot be meant. The message says what can."""


class Option(NamedTuple):
    """`value` is what it takes, None if nothing. One that `yields` is the tool's where that has it too."""

    name: str
    value: str | None
    help: str
    yields: bool = False


OPTIONS = (
    Option("--server", "COMMAND|URL", "This server, instead of the one in the background."),
    Option("--header", "NAME:VALUE", "Send it to a server with a URL. Repeatable."),
    Option(
        "--json", "JSON|@FILE|-", "Arguments as a JSON object, from a file or standard input.", yields=True
    ),
    Option("--output", "FILE", "Where an image goes, or else the text.", yields=True),
    Option(
        "--format", "text|json", "What is printed: text, or the whole result. Default: text.", yields=True
    ),
    Option("--no-start", None, "Start no server in the background if none runs."),
)
HELP = ("--help", "-h")


class Given(NamedTuple):
    """A flag as it was typed, without `--`; None is no value."""

    name: str
    value: str | None


class Typed(NamedTuple):
    """All that was typed, before it is known what the tool takes."""

    tool: str | None
    flags: list[Given]
    help: bool

    def ours(self, name: str, tool: Tool | None = None) -> list[str | None]:
        """What was given for an option of the command's own."""
        (option,) = (each for each in OPTIONS if each.name == f"--{name}")
        if option.yields and tool and find_parameter(name, _properties(tool)):
            return []
        return [flag.value for flag in self.flags if flag.name == name]


def read_words(words: Sequence[str]) -> Typed:
    """A word that begins with `--` is a flag; a flag takes the next word, unless that is one too.

    Raises:
        BadUsage: there is a word too many.
    """
    tools: list[str] = []
    flags: list[Given] = []
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
        takes = not any(option.name == f"--{name}" and option.value is None for option in OPTIONS)
        if not equals and takes and rest and not rest[0].startswith("--"):
            flags.append(Given(name, rest.pop(0)))
        else:
            flags.append(Given(name, value if equals else None))
    if len(tools) > 1:
        raise BadUsage(f"{tools[1]!r} belongs to no flag. Quote a value that has spaces.")
    return Typed(tools[0] if tools else None, flags, asks_for_help)


def find_tool(name: str, tools: Sequence[Tool]) -> Tool:
    """Raises BadUsage."""
    for tool in tools:
        if tool["name"] == name:
            return tool
    raise BadUsage(
        f"there is no tool {name!r}{_closest(name, [each['name'] for each in tools])}. "
        "`footlight tools` lists them."
    )


def tool_arguments(typed: Typed, tool: Tool, *, read: Callable[[str], str]) -> dict[str, Any]:
    """The arguments of the call. `read` gives the text of `@FILE` and `-`.

    Raises:
        BadUsage: a flag that the tool does not have, or a value that is not of its type.
    """
    properties = _properties(tool)
    arguments: dict[str, Any] = {}
    for text in typed.ours("json", tool):
        arguments |= _object(text, read)
    lists: dict[str, list[Any]] = {}
    for flag in typed.flags:
        if _is_ours(flag.name, properties):
            continue
        name, value = _value(flag, tool)
        if isinstance(value, list) and _kind(properties[name]) == "array":
            lists.setdefault(name, []).extend(cast("list[Any]", value))
        else:
            arguments[name] = value
    return arguments | lists


def _is_ours(name: str, properties: Mapping[str, Schema]) -> bool:
    return any(
        option.name == f"--{name}" and not (option.yields and find_parameter(name, properties))
        for option in OPTIONS
    )


def _value(flag: Given, tool: Tool) -> tuple[str, Any]:
    properties = _properties(tool)
    name = find_parameter(flag.name, properties)
    if name and _kind(properties[name]) == "boolean":
        return name, _switch(flag)
    if name and flag.value is None:
        raise BadUsage(f"--{flag.name} needs a value")
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
    raise BadUsage(
        f"{tool['name']} has no parameter --{flag.name}{_closest(flag.name, list(properties), '--')}. "
        f"`footlight call {tool['name']} --help` lists them."
    )


def _properties(tool: Tool) -> dict[str, Schema]:
    return tool.get("inputSchema", {}).get("properties", {})


def find_parameter(flag: str, properties: Mapping[str, Schema]) -> str | None:
    """`full-page` is fullPage, and full_page."""
    wanted = _plain(flag)
    return next((name for name in properties if _plain(name) == wanted), None)


def _plain(name: str) -> str:
    return name.replace("-", "").replace("_", "").lower()


def _kind(schema: Schema) -> str | None:
    """The one type that it has beside null; None where it may be of several."""
    kinds = _kinds(schema) - {"null"}
    return kinds.pop() if len(kinds) == 1 else None


def _kinds(schema: Schema) -> set[str]:
    given: Any = schema.get("type", ())
    kinds: set[str] = {given} if isinstance(given, str) else {*given}
    return kinds.union(*(_kinds(each) for each in schema.get("anyOf", ())))


def _parse(flag: Given, schema: Schema) -> Any:
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
    beside: list[Schema] = schema.get("anyOf", [])
    nothing: Schema = {}
    return next((each["items"] for each in (schema, *beside) if "items" in each), nothing)


def _switch(flag: Given) -> bool:
    if flag.value not in (None, "true", "false"):
        raise BadUsage(f"--{flag.name} is a switch: true or false, not {flag.value!r}")
    return flag.value != "false"


def _number(flag: Given) -> int | float:
    with suppress(ValueError):
        return int(flag.value or "")  # Not by way of a float, which has 53 bits.
    try:
        number = float(flag.value or "")
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise BadUsage(f"--{flag.name} is a number, not {flag.value!r}")
    return int(number) if number.is_integer() else number


def _json(flag: Given) -> Any:
    try:
        return json.loads(flag.value or "")
    except (ValueError, RecursionError) as error:
        raise BadUsage(f"--{flag.name} is JSON: {error}") from None


def _object(text: str | None, read: Callable[[str], str]) -> dict[str, Any]:
    if text is None:
        raise BadUsage("--json needs a value: an object, @FILE, or - for standard input")
    if text == "-" or text.startswith("@"):
        text = read(text.removeprefix("@"))
    value = _json(Given("json", text))
    if not isinstance(value, dict):
        raise BadUsage("--json is an object, with a parameter for each key")
    return cast("dict[str, Any]", value)


def _closest(name: str, names: Sequence[str], prefix: str = "") -> str:
    import difflib

    near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    return f"; closest: {prefix}{near[0]}" if near else ""
