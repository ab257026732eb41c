"""Write docs/reference/ from the code: tools, resources, prompts, settings, codes, commands, client, audit.

    gen_reference.py [--check]

With `--check` nothing is written; pages that are out of date are named, and the status is 1.
"""

from __future__ import annotations

import argparse
import ast
import dataclasses
import inspect
import itertools
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import click
from mcp_types import INVALID_PARAMS
from pydantic import BaseModel
from typing_extensions import is_protocol

import footlight
import footlight.sync
from footlight import errors, ux
from footlight.cli.commands import cli
from footlight.cli.serve import FLAGS, serve
from footlight.client import (
    adapters,
    connection,
    controllers,
    describe,
    handshake,
    listings,
    mcp_config,
    playwright_client,
    playwright_results,
    results,
    session,
    streams,
)
from footlight.client import errors as client_errors
from footlight.client.adapters import adapter
from footlight.client.errors import LOCAL_CODES, MCPError, Reason
from footlight.client.replay.running import ReplayDiffers
from footlight.client.runtime import logger
from footlight.client.transports import http, memory, stdio, websocket
from footlight.config import ENVIRONMENT_PREFIX, Key, Settings, leaves
from footlight.errors import CODES, FootlightError
from footlight.knowledge.schema import step_schema
from footlight.server.prompt_files import builtin_prompts
from footlight.server.prompts import Prompt, PromptArgument
from footlight.server.resources import Resources
from footlight.server.tool import Tool
from footlight.toolsets.browser import TOOLS, parameters
from footlight.toolsets.metamask import make_toolset
from footlight.toolsets.szkrabok import TOOLS as NAMED_TOOLS
from footlight.toolsets.szkrabok import parameters as named_parameters
from footlight.toolsets.szkrabok.envelope import PlainEnvelope
from footlight.ux import findings

ROOT = Path(__file__).parents[1]
FOLDER = Path("docs/reference")
NOTICE = "<!-- Written by scripts/gen_reference.py from the code: `make gen` writes it anew. -->"

Schema = Mapping[str, Any]
Row = Sequence[str]


def main() -> int:
    parser = argparse.ArgumentParser(description="Write docs/reference/ from the code.")
    parser.add_argument("--check", action="store_true", help="only say which pages are out of date")
    check: bool = parser.parse_args().check
    stale = {path: text for path, text in pages().items() if _read(path) != text}
    if check and stale:
        print(f"Out of date: {', '.join(map(str, stale))}. `make gen` writes them anew.", file=sys.stderr)
        return 1
    for path, text in stale.items():
        (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / path).write_text(text, encoding="utf-8")
        print(f"wrote {path}")
    return 0


def pages() -> dict[Path, str]:
    """Every page of the reference, by its path in the project."""
    texts = {
        "tools.md": tools_page(),
        "tools-szkrabok.md": named_tools_page(),
        "tools-metamask.md": app_tools_page(),
        "resources.md": resources_page(),
        "prompts.md": prompts_page(),
        "configuration.md": configuration_page(),
        "errors.md": errors_page(),
        "cli.md": cli_page(),
        "client.md": client_page(),
        "audit.md": audit_page(),
    }
    return {FOLDER / name: f"{NOTICE}\n\n{text.strip()}\n" for name, text in texts.items()}


def _read(path: Path) -> str | None:
    return (ROOT / path).read_text(encoding="utf-8") if (ROOT / path).exists() else None


# The tools

SHARED = {
    "sessionId": "The session to work in. Left out: `default`, [the caller's own]"
    "(../network.md#whose-session-is-default), which is made at its first use.",
    "pageId": "The tab to work in: `page-1`, `page-2`, … Left out: the oldest that is open, or a new one.",
    "timeout": "The deadline of the whole call, in milliseconds. Left out: `session.defaultTimeout`.",
}
"""What the parameters of a scope are for; the server's instructions tell a model the same."""

PROTOCOL_ERROR = f"a protocol error, {INVALID_PARAMS}"

SELECTORS = ("selector", "source", "target")
"""Parameters that are one."""

SHARED_BY_SCOPE = {"page": tuple(SHARED), "session": ("sessionId",), "server": ()}

EVENTS = {
    "newPages": "`{pageId, url}` of each popup or tab that opened",
    "closedPages": "`pageId` of each page that was closed because a script in it did not end",
    "dialogs": "`{pageId, type, message, defaultValue?, handled}` of each dialog; `handled` is `accepted` or"
    " `dismissed`, `defaultValue` that of a prompt",
    "downloads": "`{suggestedFilename, url, path?, failure?}` of each download: the file it was saved as, or"
    " why it failed",
}
"""Keys that `data` has only when there is something to tell."""

SWITCHES = {"evaluation": "security.enableScriptEvaluation", "upload": "security.enableFileUpload"}

TOOLS_INTRO = """\
A call answers with `{success: true, data}` or `{success: false, error}`, as structured content and, the
same, as JSON text. A screenshot comes as an image and a resource link beside it. An answer that is too long
comes as [a link with a preview](../resources.md#links-instead-of-large-answers). The codes of `error` have
[their own page](errors.md).

`data` below is written as keys and types; a key with `?` may be absent. These keys are there only when there
is something to tell; where an error is the answer, they are in its `details`:
"""


def tools_page() -> str:
    families = [(_family(tools[0]), tools) for tools in _by_family(TOOLS)]
    used = {name for tool in TOOLS for name in _data(tool)["properties"]}
    return "\n\n".join(
        [
            "# Tools",
            TOOLS_INTRO.strip(),
            _bullets(f"`{name}`: {text}" for name, text in EVENTS.items() if name in used),
            "## Shared parameters",
            "A tool that works on a page takes all three, one that works on a session takes `sessionId`.",
            _table(["Parameter", "What it is"], ([f"`{name}`", text] for name, text in SHARED.items())),
            "## Selectors",
            _said(parameters)["Selector"],
            "## Overview",
            _table(
                ["Family", "Tools"],
                (
                    [name, ", ".join(f"[`{tool.name}`](#{tool.name})" for tool in tools)]
                    for name, tools in families
                ),
            ),
            *(part for name, tools in families for part in _family_parts(name, tools)),
        ]
    )


def _by_family(tools: Sequence[Tool]) -> list[list[Tool]]:
    return [list(group) for _, group in itertools.groupby(tools, lambda tool: tool.function.__module__)]


def _family(tool: Tool) -> str:
    return tool.function.__module__.rpartition(".")[2].capitalize()


def _family_parts(name: str, tools: Sequence[Tool]) -> Iterator[str]:
    yield f"## {name}"
    yield _prose(sys.modules[tools[0].function.__module__].__doc__)
    for tool in tools:
        yield from _tool_parts(tool)


def _tool_parts(tool: Tool) -> Iterator[str]:
    rest = tool.description.removeprefix(tool.title).removeprefix(".").strip()
    yield f"### {tool.name}"
    yield f"**{tool.title}.** {rest}".strip()
    own = {name: schema for name, schema in _parameters(tool) if not _is_shared(tool, name, schema)}
    if own:
        yield _table(
            ["Parameter", "Type", "Required", "Default", "What it is"],
            (_parameter_row(tool, name, schema) for name, schema in own.items()),
        )
    if shared := [f"`{name}`" for name, _ in _parameters(tool) if name not in own]:
        yield f"{'And' if own else 'Parameters:'} {', '.join(shared)} ([shared](#shared-parameters))."
    yield from _data_parts(tool)
    yield f"{_hints(tool)} {_permission(tool)}"


def _parameters(tool: Tool) -> Iterable[tuple[str, Schema]]:
    return cast("dict[str, Schema]", tool.input_schema["properties"]).items()


def _is_shared(tool: Tool, name: str, schema: Schema) -> bool:
    """A parameter that has no more to say than the shared table does."""
    plain = name in SHARED_BY_SCOPE[tool.scope] and "description" not in schema
    return plain and name not in tool.input_schema.get("required", ())


def _parameter_row(tool: Tool, name: str, schema: Schema) -> Row:
    required = name in tool.input_schema.get("required", ())
    default = f"`{json.dumps(schema['default'])}`" if "default" in schema else ""
    return [f"`{name}`", _type(schema), _yes(required), default, _parameter_text(name, schema)]


def _parameter_text(name: str, schema: Schema) -> str:
    if said := schema.get("description"):
        return str(said)
    if name in SELECTORS:
        return "A [selector](#selectors)"
    return SHARED["sessionId"].partition(" Left out")[0] if name == "sessionId" else ""


def _data(tool: Tool) -> Schema:
    return cast("Schema", tool.output_schema["properties"]["data"])


def _data_parts(tool: Tool) -> Iterator[str]:
    data = _data(tool)
    keys = {name: schema for name, schema in data["properties"].items() if name not in EVENTS}
    required = data.get("required", ())
    lines = [f"  {name}{'' if name in required else '?'}: {_shape(schema)}" for name, schema in keys.items()]
    yield "\n".join(["```text", "data {", *lines, "}", "```"])
    if said := data.get("description"):
        yield _prose(said)


def _hints(tool: Tool) -> str:
    hints = {
        "read-only": tool.read_only,
        "destructive": tool.destructive,
        "idempotent": tool.idempotent,
        "open world": tool.open_world,
    }
    return f"Annotations: {', '.join(f'{name} {_yes(holds)}' for name, holds in hints.items())}."


def _permission(tool: Tool) -> str:
    return f"Permission: `{SWITCHES[tool.permission]}`." if tool.permission else "Permission: none."


# The tools with dots

NAMED_INTRO = """\
The tools of `footlight serve --toolset szkrabok`. A call answers with the result itself, as structured
content and, the same, as JSON text: `{"opened":true}`. Where the result below is `text` it is plain text, and
nothing else. A screenshot comes as an image beside it. A failure has its message as text, and `{error}` as
structured content, with the codes of [their own page](errors.md).

Keys with `?` may be absent. Tools that act in a page add these where there is something to tell:
"""

NAMED_SHARED = {
    "sessionName": "Name of the stored browser session to operate on: one that `session.open` has opened. It"
    " is a folder in `profiles.directory`, and a debugging port that follows from it. Always required.",
    "pageId": SHARED["pageId"],
    "timeout": SHARED["timeout"],
    "observe": "What an action tells of the page after it: `none`, `diff` or `full`. Left out: `none`.",
}


def named_tools_page() -> str:
    families = [(_family(tools[0]), tools) for tools in _by_family(NAMED_TOOLS)]
    return "\n\n".join(
        [
            "# Tools of the toolset szkrabok",
            NAMED_INTRO.strip(),
            _bullets(f"`{name}`: {text}" for name, text in EVENTS.items()),
            "## Shared parameters",
            _table(["Parameter", "What it is"], ([f"`{name}`", text] for name, text in NAMED_SHARED.items())),
            "## Selectors",
            _said(named_parameters)["Selector"],
            "## Overview",
            _table(
                ["Family", "Tools"],
                (
                    [
                        name,
                        ", ".join(
                            f"[`{tool.name}`](#{tool.name.replace('.', '').lower()})" for tool in tools
                        ),
                    ]
                    for name, tools in families
                ),
            ),
            *(part for name, tools in families for part in _named_family_parts(name, tools)),
        ]
    )


def _named_family_parts(name: str, tools: Sequence[Tool]) -> Iterator[str]:
    yield f"## {name}"
    yield _prose(sys.modules[tools[0].function.__module__].__doc__)
    for tool in tools:
        yield from _named_tool_parts(tool)


def _named_tool_parts(tool: Tool) -> Iterator[str]:
    yield f"### {tool.name}"
    yield f"**{tool.title}.** {tool.description.removeprefix(tool.title).removeprefix('.').strip()}".strip()
    shared = [name for name, schema in _parameters(tool) if _is_named_shared(name, schema)]
    own = [(name, schema) for name, schema in _parameters(tool) if name not in shared]
    if own:
        yield _table(
            ["Parameter", "Type", "Required", "Default", "What it is"],
            (_parameter_row(tool, name, schema) for name, schema in own),
        )
    if shared:
        names = ", ".join(f"`{name}`" for name in shared)
        yield f"{'And' if own else 'Parameters:'} {names} ([shared](#shared-parameters))."
    yield from _result_parts(tool)
    yield f"{_hints(tool)} {_permission(tool)}"


def _is_named_shared(name: str, schema: Schema) -> bool:
    return name in NAMED_SHARED and ("description" not in schema or name == "sessionName")


def _result_parts(tool: Tool) -> Iterator[str]:
    result = tool.returned_schema
    if PlainEnvelope().schema(tool) is None:
        yield "```text\ntext\n```"
        return
    required = result.get("required", ())
    lines = [
        f"  {name}{'' if name in required else '?'}: {_shape(schema)}"
        for name, schema in result["properties"].items()
    ]
    yield "\n".join(["```text", "{", *lines, "}", "```"])
    if said := result.get("description"):
        yield _prose(said)


# The tools for an app under test

APP_INTRO = """\
The tools of `footlight serve --toolset metamask`, under the names that they have for MetaMask; for another
app they have [its own prefix](../extensions.md#an-extension-of-your-own). A call answers with one text, a
JSON object:

```text
{meta: {timestamp: string, sessionId?: string, durationMs: integer}, ok: true, result: {…}}
{error: {code: string, message: string, details: object}, meta: {…}, ok: false}
```

`result` is what is shown for each tool below. The codes are in [the guide](../extensions.md#errors). Types,
defaults and bounds are those of the document; what is marked **ours** is not there with `--strict-002`. Nor
are these keys, which `result` has only when there is something to tell:
"""

APP_EVENTS = EVENTS | {"closedPages": "`pageId` of each page that was closed, such as a confirmation"}

SHAPES = {
    "state": (
        "ExtensionState",
        "What the app says of itself. `currentScreen` is one of its screens, or `unknown`.",
    ),
    "items": ("TestIdItem", "A test id that can be seen. `text` is there where the element says one."),
    "nodes": ("A11yNodeTrimmed", "What can be used, and what matters. `path` is what is around it."),
}
"""What document 002 calls what is in these keys, and what it is."""


def app_tools_page() -> str:
    every = make_toolset(app="MetaMask", prefix="mm", strict=False).tools
    strict = {tool.name: tool for tool in make_toolset(app="MetaMask", prefix="mm", strict=True).tools}
    parts = {
        "The document's": [tool for tool in every if tool.name in strict],
        "Ours": [tool for tool in every if tool.name not in strict],
    }
    return "\n\n".join(
        [
            "# Tools of the toolset metamask",
            APP_INTRO.strip(),
            _bullets(f"`{name}`: {text}" for name, text in APP_EVENTS.items()),
            "## Overview",
            _table(
                ["Origin", "Tools"],
                (
                    [origin, ", ".join(f"[`{tool.name}`](#{tool.name})" for tool in tools)]
                    for origin, tools in parts.items()
                ),
            ),
            *_app_shapes(),
            *(
                part
                for origin, tools in parts.items()
                for part in (f"## {origin}", *_app_parts(tools, strict))
            ),
        ]
    )


def _app_shapes() -> Iterator[str]:
    yield "## Shapes"
    yield "Of the keys `state`, and of each of `items` and `nodes`:"
    definitions = step_schema([])["definitions"]
    for key, (name, said) in SHAPES.items():
        definition = definitions[name]
        lines = [
            f"  {each}{'' if each in definition['required'] else '?'}: {_written(schema)}"
            for each, schema in definition["properties"].items()
        ]
        yield f"`{key}`: {said}"
        yield "\n".join(["```text", "{", *lines, "}", "```"])


def _written(schema: Schema) -> str:
    """As `_shape`, for types that are lists and names of the document's."""
    kind = schema.get("type", "string")
    return (
        " | ".join(map(str, cast("list[object]", kind)))
        if isinstance(kind, list)
        else _shape({**schema, "type": kind})
    )


def _app_parts(tools: Sequence[Tool], strict: Mapping[str, Tool]) -> Iterator[str]:
    for tool in tools:
        rest = tool.description.removeprefix(tool.title).removeprefix(".").strip()
        yield f"### {tool.name}"
        yield f"**{tool.title}.** {rest}".strip()
        of_document = strict[tool.name].input_schema["properties"] if tool.name in strict else None
        if rows := [_app_row(tool, name, schema, of_document) for name, schema in _parameters(tool)]:
            yield _table(["Parameter", "Type", "Required", "Default", "What it is"], rows)
        returned = tool.returned_schema
        lines = [
            f"  {name}{'' if name in returned.get('required', ()) else '?'}: {_shape(schema)}"
            for name, schema in returned["properties"].items()
        ]
        yield "\n".join(["```text", "result {", *lines, "}", "```"])
        if said := returned.get("description"):
            yield _prose(said)
        yield _hints(tool)


def _app_row(tool: Tool, name: str, schema: Schema, of_document: Schema | None) -> Row:
    required = name in tool.input_schema.get("required", ())
    default = f"`{json.dumps(schema['default'])}`" if schema.get("default") is not None else ""
    ours = "**Ours.** " if of_document is not None and name not in of_document else ""
    return [f"`{name}`", _type(schema), _yes(required), default, f"{ours}{schema.get('description', '')}"]


# Types in words, and as shapes


def _type(schema: Schema) -> str:
    """A JSON schema for a table cell."""
    if "enum" in schema:
        return " or ".join(f"`{json.dumps(choice)}`" for choice in schema["enum"])
    if "anyOf" in schema:
        return " or ".join(_type(choice) for choice in schema["anyOf"] if choice != {"type": "null"})
    kind = str(schema.get("type", "any"))
    if schema.get("format") == "path":
        kind = "path"
    elif kind == "array":
        items = _type(schema.get("items", {})).replace(", not empty", " (not empty)")
        return f"array of {items}{_bounds(schema, 'minItems', 'maxItems', ' items')}"
    elif kind == "object" and "properties" in schema:
        return f"`{_shape(schema)}`"
    length = _bounds(schema, "minLength", "maxLength", " characters")
    return f"{kind}{_bounds(schema, 'minimum', 'maximum')}{length}"


def _bounds(schema: Schema, low: str, high: str, unit: str = "") -> str:
    least, most = schema.get(low), schema.get(high)
    if (low, least) == ("minLength", 1) and most is None:
        return ", not empty"
    if least is None and most is None:
        return ""
    if least is None:
        return f", at most {most}{unit}"
    return f", {least} to {most}{unit}" if most is not None else f", at least {least}{unit}"


def _shape(schema: Schema) -> str:
    """A JSON schema as TypeScript would write it."""
    if "enum" in schema or "const" in schema:
        return " | ".join(json.dumps(choice) for choice in schema.get("enum", [schema.get("const")]))
    if "anyOf" in schema:
        return " | ".join(_shape(choice) for choice in schema["anyOf"])
    kind = schema.get("type", "any")
    if kind == "array":
        items = _shape(schema.get("items", {}))
        return f"({items})[]" if " | " in items and not items.startswith("{") else f"{items}[]"
    if kind == "object" and "properties" in schema:
        required = schema.get("required", ())
        keys = (
            f"{key}{'' if key in required else '?'}: {_shape(of)}" for key, of in schema["properties"].items()
        )
        return f"{{{', '.join(keys)}}}"
    if kind == "object" and isinstance(schema.get("additionalProperties"), Mapping):
        return f"{{[key]: {_shape(schema['additionalProperties'])}}}"
    return str(kind)


# The resources

RESOURCES_INTRO = """\
What `resources/templates/list` answers. `resources/list` has every session, page, network log, screenshot and
long answer of the caller; elements are found with [`find_elements`](tools.md#find_elements). What they hold,
for how long, and what there is news of: [Resources](../resources.md).
"""


def resources_page() -> str:
    rows = (
        [f"`{each.uri_template}`", each.name, each.mime_type or "that of the image", f"{each.description}."]
        for each in Resources(lambda: None).templates()
    )
    return "\n\n".join(
        [
            "# Resources",
            RESOURCES_INTRO.strip(),
            _table(["URI template", "Name", "MIME type", "What it is"], rows),
            f"One that is not there is {PROTOCOL_ERROR}, whose `data` has the `uri`.",
        ]
    )


# The prompts

PROMPTS_INTRO = """\
What `prompts/list` has without a folder of one's own. How the texts are written, and how to add others:
[Prompts](../prompts.md). Every argument is a string. One that the text goes over with `{{#each}}` is JSON, an
object or an array.
"""

PROMPTS_ERRORS = f"""\
A prompt that is not there is {PROTOCOL_ERROR}, and so is an argument that is missing, unknown or no JSON.
"""


def prompts_page() -> str:
    parts = [part for prompt in builtin_prompts() for part in _prompt_parts(prompt)]
    return "\n\n".join(["# Prompts", PROMPTS_INTRO.strip(), *parts, "## Errors", PROMPTS_ERRORS])


def _prompt_parts(prompt: Prompt) -> Iterator[str]:
    yield f"## {prompt.name}"
    yield f"{prompt.description}."
    yield _table(
        ["Argument", "Required", "Default", "What it is"],
        (_argument_row(argument) for argument in prompt.arguments),
    )
    yield f"```text\n{prompt.template.rstrip()}\n```"


def _argument_row(argument: PromptArgument) -> Row:
    default = "" if argument.default is None else f"`{argument.default}`"
    secret = " Never shown in the text." if argument.secret else ""
    return [f"`{argument.name}`", _yes(argument.required), default, f"{argument.description}.{secret}"]


# The settings

CONFIGURATION_INTRO = f"""\
Defaults, then the file of `--config`, then environment variables, then flags: later ones win, key by key.
The file is JSON, or TOML where its name ends in `.toml`. Durations are in milliseconds, sizes in bytes. An
unknown key or a wrong type ends the start with a message that names it and where it came from.

A variable is `{ENVIRONMENT_PREFIX}` and the key in capitals. A list may be written with commas or as a JSON
array, a switch is `true` or `false`. Flags are those of [`footlight serve`](cli.md#footlight-serve).
"""


def configuration_page() -> str:
    sections = itertools.groupby(leaves(Settings), lambda key: key[:-1])
    parts = [part for section, keys in sections for part in _section_parts(section, keys)]
    return "\n\n".join(["# Configuration", CONFIGURATION_INTRO.strip(), *parts])


def _section_parts(section: Key, keys: Iterable[Key]) -> Iterator[str]:
    model = _model_at(section)
    yield f"## {'.'.join(section) or 'Top level'}"
    yield "What the server is called, and how it is reached." if not section else _prose(model.__doc__)
    yield _table(
        ["Key", "Type", "Default", "Variable and flag", "What it does"],
        (_setting_row(model, key) for key in keys),
    )


def _model_at(section: Key) -> type[BaseModel]:
    model: type[BaseModel] = Settings
    for name in section:
        field = next(field for field in model.model_fields.values() if field.alias == name)
        model = cast("type[BaseModel]", field.annotation)
    return model


def _setting_row(model: type[BaseModel], key: Key) -> Row:
    schema = model.model_json_schema(by_alias=True)["properties"][key[-1]]
    name = next(name for name, field in model.model_fields.items() if field.alias == key[-1])
    ways = [f"`{_variable(key)}`", *_flags(key)]
    return [
        f"`{'.'.join(key)}`",
        _type(schema),
        _default(key),
        "<br>".join(ways),
        _prose(_said(model).get(name)),
    ]


def _variable(key: Key) -> str:
    return ENVIRONMENT_PREFIX + "_".join(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", part).upper() for part in key)


def _default(key: Key) -> str:
    value: Any = Settings().model_dump(mode="json", by_alias=True)
    for part in key:
        value = value[part]
    return "none" if value is None else f"`{json.dumps(value)}`"


def _flags(key: Key) -> Iterator[str]:
    for name, dotted in FLAGS.items():
        if dotted == ".".join(key):
            flag = f"--{name.replace('_', '-')}"
            yield from (f"`{_spelled(option)}`" for option in _options(serve) if flag in _names(option))


def _said(scope: type | ModuleType) -> dict[str, str]:
    """The docstrings below the names that are assigned in a class or a module."""
    tree = ast.parse(inspect.getsource(scope))
    body = tree.body[0].body if isinstance(tree.body[0], ast.ClassDef) else tree.body
    said: dict[str, str] = {}
    for statement, following in itertools.pairwise(body):
        text = _literal(following)
        if text is None:
            continue
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            said[statement.target.id] = text
        elif isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            said[statement.targets[0].id] = text
    return said


def _literal(statement: ast.stmt) -> str | None:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return statement.value.value if isinstance(statement.value.value, str) else None
    return None


# The errors

ERRORS_INTRO = """\
A tool that fails answers `{success: false, error}`, and the result is marked `isError`. `error` is
`{code, message, details, retryable, suggestion}`:

- `message` says what happened, and what is on the page instead.
- `details` are the same facts as data: the selector, the page, the time limit, the parameter.
- `retryable` is true where the same call may succeed later. An answer can be stricter than its code: a
  `TIMEOUT` of an action that had reached the page (`details.dispatched` is true) is not retryable.
- `suggestion` says what to do. Where more is known than stands below, it says that.

A tool that does not exist, a [resource](resources.md) that is not there, a [prompt](prompts.md) that cannot
be rendered, and a message that is no MCP request, are protocol errors and have no such code.
Origin: the documents that Footlight implements specify some of the codes, the others are its own.
"""


def errors_page() -> str:
    rows = (
        [
            f"`{error.code}`",
            _meaning(error),
            _yes(error.default_retryable),
            error.default_suggestion,
            _origin(error),
        ]
        for error in CODES
    )
    return "\n\n".join(
        [
            "# Errors",
            ERRORS_INTRO.strip(),
            _table(["Code", "What it means", "Retryable", "Suggestion", "Origin"], rows),
            f"A setting that is wrong ends `footlight` with status 2 before there is a server: {_outside()}.",
        ]
    )


OURS = " Ours, not the document's."


def _meaning(error: type[FootlightError]) -> str:
    return _prose((error.__doc__ or "").replace(OURS, ""))


def _origin(error: type[FootlightError]) -> str:
    return "Footlight's own" if OURS in (error.__doc__ or "") else "specified"


def _outside() -> str:
    """The codes that no client sees."""
    every = (value for value in vars(errors).values() if isinstance(value, type))
    ours = [value for value in every if issubclass(value, FootlightError)]
    return ", ".join(f"`{error.code}`" for error in ours if error not in (*CODES, FootlightError))


# The client

CLIENT_INTRO = """\
What a program that drives MCP servers may rely on; how it is used is in [the guide](../client.md). A heading
says where a name is imported from; [errors](#errors) and [questions](#questions) are in `footlight` itself.
"""

SYNC_ONLY = "Its methods are those of [`MCPClient`](#footlightmcpclient), without `await`."

REASONS_INTRO = """\
`reason` says what happened. `rpc_code` is the number that document 001 has for it, unless the server gave
one. A server may mean something else by the same number, so compare reasons.
"""

CLIENT: Mapping[str, Sequence[object]] = {
    "Connections": (footlight.MCPClient, footlight.sync.MCPClient),
    "Targets": (stdio.Stdio, http.StreamableHTTP, websocket.WebSocket, memory.InMemory),
    "Results": (results.ToolResult, results.CallResult, results.Content, results.Tool),
    "Lists": tuple(getattr(listings, name) for name in listings.__all__ if name[0].isupper()),
    "Tools in words": tuple(getattr(describe, name) for name in describe.__all__),
    "A browser": (
        playwright_client.PlaywrightClient,
        mcp_config.MCPConfig,
        playwright_results.NavigateResult,
        playwright_results.ScreenshotResult,
        playwright_results.SnapshotResult,
        controllers.MCPConnectionController,
        controllers.BrowserAutomation,
    ),
    "Handles": (
        footlight.connect_dynamic,
        footlight.Handle,
        footlight.create_logger,
        footlight.CallLog,
        footlight.run_sequence,
        ReplayDiffers,
        footlight.RegistryDriftError,
        adapters.SzkrabokSession,
        adapters.BrowserSession,
        adapters.NoSession,
        adapter.Adapter,
    ),
}

MADE_FOR_YOU = (footlight.Handle, footlight.CallLog, ux.UXAnalysis)
"""Nobody calls their constructors."""


CLIENT_TYPES = (
    (session, ("State",)),
    (handshake, ("Wanted",)),
    (connection, ("Result", "OnProgress", "OnNotification", "Handler")),
    (streams, ("OnMessage", "OnError")),
    (logger, ("Redact",)),
    (adapter, ("AdapterChoice",)),
)


def client_page() -> str:
    parts = [part for heading, things in CLIENT.items() for part in (f"## {heading}", *map(_thing, things))]
    return "\n\n".join(
        ["# The Python client", CLIENT_INTRO.strip(), *parts, *_client_types(), *_client_errors()]
    )


def _thing(thing: Any) -> str:
    heading = f"### {_home(thing)}.{thing.__name__}"
    if not inspect.isclass(thing):
        return "\n\n".join([heading, _code([_signature(thing)]), *_docstring(thing)])
    parts = [heading, *_docstring(thing)]
    if thing is footlight.sync.MCPClient:
        return "\n\n".join([*parts, SYNC_ONLY])
    if thing not in MADE_FOR_YOU and not issubclass(thing, Exception) and not is_protocol(thing):
        parts.append(_code(_fields(thing) if dataclasses.is_dataclass(thing) else [_signature(thing)]))
    members = [(name, each) for name, each in vars(thing).items() if not name.startswith("_")]
    if said := [_property(name, each) for name, each in members if isinstance(each, property)]:
        parts.append("\n".join(said))
    for name, each in members:
        function = getattr(each, "__func__", each)
        told = function.__doc__ or thing not in CLIENT["Handles"]  # An adapter's are those of `Adapter`.
        if inspect.isfunction(function) and told and not _is_its_clients(thing, name):
            parts += [_code([_signature(function)]), *_docstring(function)]
    return "\n\n".join(parts)


def _home(thing: Any) -> str:
    """The package itself, if that is where a program takes it from."""
    for package in (footlight, adapters, ux):
        if thing.__name__ in package.__all__ and getattr(package, thing.__name__) is thing:
            return package.__name__
    return thing.__module__


def _is_its_clients(thing: Any, method: str) -> bool:
    """What a transport has for the client to call."""
    return method == "open" and thing in CLIENT["Targets"]


def _code(lines: Iterable[str]) -> str:
    return "\n".join(["```text", *lines, "```"])


def _signature(thing: Any) -> str:
    """On one line where there is room, otherwise a parameter on each."""
    taken = [
        each for each in inspect.signature(thing).parameters.values() if each.name not in ("self", "cls")
    ]
    shown = [_taken(each) for each in taken]
    named = next((at for at, each in enumerate(taken) if each.kind is each.KEYWORD_ONLY), None)
    if named is not None:
        shown.insert(named, "*")
    result = inspect.signature(thing).return_annotation
    start = "async " if inspect.iscoroutinefunction(thing) else ""
    end = "" if inspect.isclass(thing) else f" -> {result}"
    line = f"{start}{thing.__name__}({', '.join(shown)}){end}"
    if len(line) <= 100:
        return line
    return "\n".join([f"{start}{thing.__name__}(", *(f"    {each}," for each in shown), f"){end}"])


def _taken(parameter: inspect.Parameter) -> str:
    default = "" if parameter.default is parameter.empty else f" = {_shown(parameter.default)}"
    return f"{parameter.name}: {parameter.annotation}{default}"


def _shown(default: object) -> str:
    """A function, or a long value, is in the code for whoever wants to know."""
    shown = repr(default)
    return "…" if callable(default) or len(shown) > 120 else shown


def _fields(thing: Any) -> Iterator[str]:
    yield thing.__name__
    for each in dataclasses.fields(thing):
        if each.default_factory is not dataclasses.MISSING:
            default = f" = {each.default_factory()!r}"
        else:
            default = "" if each.default is dataclasses.MISSING else f" = {_shown(each.default)}"
        if each.name != "_":
            yield f"    {each.name}: {each.type}{default}"


def _property(name: str, each: property) -> str:
    kind = each.fget.__annotations__["return"] if each.fget else "object"
    text = _prose(each.__doc__)
    return f"- `{name}: {kind}`{f': {text}' if text else ''}"


def _docstring(thing: Any) -> Iterator[str]:
    body, _, raised = inspect.cleandoc(thing.__doc__ or "").partition("Raises:\n")
    for part in body.split("\n\n"):
        if part.startswith("Args:\n"):
            yield _bullets(f"`{name}`: {_prose(text)}" for name, text in _entries(part))
        elif part.strip():
            yield _prose(part)
    if entries := _entries(raised):
        yield _bullets(f"Raises `{name}`: {_prose(text)}" for name, text in entries)


def _entries(section: str) -> list[tuple[str, str]]:
    return re.findall(r"^    (\w+): (.*(?:\n     .*)*)", section, re.MULTILINE)


def _client_types() -> Iterator[str]:
    yield "## Types"
    yield "Names that stand in the signatures above, with the modules that have them."
    yield _table(
        ["Name", "Module", "Is", "What it is for"],
        (_type_row(module, name) for module, names in CLIENT_TYPES for name in names),
    )


def _type_row(module: ModuleType, name: str) -> Row:
    assigned = (each for each in ast.parse(inspect.getsource(module)).body if isinstance(each, ast.Assign))
    value = next(ast.unparse(each.value) for each in assigned if ast.unparse(each.targets[0]) == name)
    return [f"`{name}`", f"`{module.__name__}`", f"`{value}`", _prose(_said(module).get(name))]


def _client_errors() -> Iterator[str]:
    yield "## Errors"
    yield _table(
        ["Class", "`code`", "`name`", "Also has", "What it means"],
        (
            _client_error_row(each)
            for each in map(client_errors.__dict__.get, client_errors.__all__)
            if _is_error(each)
        ),
    )
    yield "## Reasons"
    yield REASONS_INTRO.strip()
    reasons = re.findall(r"^- `(\w+)`: (.*)", _said(client_errors)["Reason"], re.MULTILINE)
    yield _table(
        ["`reason`", "What happened", "`rpc_code`"],
        ([f"`{name}`", _prose(text), _number(name)] for name, text in reasons),
    )
    yield "## Questions"
    yield _table(
        ["Function", "True where"],
        (
            [f"`{name}(error)`", _prose(getattr(client_errors, name).__doc__)]
            for name in client_errors.__all__
            if name.startswith("is_")
        ),
    )


def _number(reason: str) -> str:
    others = {"peer": "the server's", "http": "the status"}
    return others.get(reason) or str(LOCAL_CODES[cast("Reason", reason)])


def _is_error(thing: object) -> bool:
    return isinstance(thing, type) and issubclass(thing, MCPError)


def _client_error_row(error: Any) -> Row:
    inherited = inspect.signature(MCPError).parameters
    own = [name for name in inspect.signature(error).parameters if error is MCPError or name not in inherited]
    return [
        f"`{error.__name__}`",
        f"`{error.code}`",
        f"`{error.name}`",
        ", ".join(f"`{name}`" for name in own),
        _prose(error.__doc__),
    ]


# An audit from Python

AUDIT_INTRO = """\
What a program that audits pages may rely on; what is measured and judged is in [the guide](../audit.md). All
of it is imported from `footlight.ux`.
"""

AUDIT: Mapping[str, Sequence[object]] = {
    "Measuring": (
        ux.page_of,
        ux.collect_evidence,
        ux.Evidence,
        findings.Finding,
        findings.Element,
        findings.Fact,
    ),
    "Analysis by a model": (
        ux.analyze_ux,
        ux.UXAnalysisConfig,
        ux.Persona,
        ux.load_personas,
        ux.AnalysisOptions,
        ux.Limits,
        ux.UXAnalysis,
        ux.UXAnalysisResult,
        ux.UXAnalysisController,
    ),
    "Parts of the stream": (
        ux.ToolCallPart,
        ux.ToolResultPart,
        ux.TextDeltaPart,
        ux.FinishPart,
        ux.ErrorPart,
        ux.ToolCallRecord,
    ),
    "Tools and models of one's own": (
        ux.AIToolDefinition,
        ux.ai_tool_from_mcp,
        ux.AITool,
        ux.ToolAnswer,
        ux.chat_model,
        ux.ChatModel,
        ux.ModelError,
    ),
}


def audit_page() -> str:
    parts = [part for heading, things in AUDIT.items() for part in (f"## {heading}", *map(_thing, things))]
    return "\n\n".join(["# Audits from Python", AUDIT_INTRO.strip(), *parts])


# The commands


def cli_page() -> str:
    context = click.Context(cli, info_name="footlight")
    commands = [cli.get_command(context, name) for name in cli.list_commands(context)]
    parts = [part for command in commands if command for part in _command_parts(command)]
    return "\n\n".join(
        [
            "# Commands",
            _prose(cli.help),
            "`footlight COMMAND --help` prints what stands here; `footlight --version` the version. "
            "`python -m footlight` is the same as `footlight`.",
            *parts,
        ]
    )


def _command_parts(command: click.Command, group: str = "") -> Iterator[str]:
    yield f"## footlight {group}{command.name}"
    yield from map(_prose, inspect.cleandoc(command.help or "").split("\n\n"))
    if isinstance(command, click.Group):
        for each in command.commands.values():
            yield from _command_parts(each, f"{group}{command.name} ")
        return
    rows = ([f"`{_spelled(option)}`", _value(option), _help(option)] for option in _options(command))
    yield _table(["Option", "Value", "What it does"], rows)


def _options(command: click.Command) -> list[click.Option]:
    return [parameter for parameter in command.params if isinstance(parameter, click.Option)]


def _names(option: click.Option) -> list[str]:
    return [*option.opts, *option.secondary_opts]


def _spelled(option: click.Option) -> str:
    return " / ".join(_names(option))


def _value(option: click.Option) -> str:
    if option.is_flag:
        return ""
    if isinstance(option.type, click.Choice):
        return " or ".join(f"`{choice}`" for choice in option.type.choices)
    return {"directory": "path", "file": "path"}.get(option.type.name, option.type.name)


def _help(option: click.Option) -> str:
    default = f" Default: {option.show_default}." if isinstance(option.show_default, str) else ""
    return f"{option.help or ''}{default}"


# Text


def _prose(text: str | None) -> str:
    """A docstring for people who have no requirements at hand: on one line, without ids, without `Ours:`."""
    line = " ".join((text or "").split())
    line = re.sub(r"\s*\((?:R?\d{3}\b)[^)]*\)", "", line)
    return line.removeprefix("Ours: ")[:1].upper() + line.removeprefix("Ours: ")[1:]


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _table(heads: Row, rows: Iterable[Row]) -> str:
    return "\n".join(_line(cells) for cells in [heads, ["---"] * len(heads), *rows])


def _line(cells: Row) -> str:
    written = (" ".join(cell.split()).replace("|", "\\|") for cell in cells)
    return "|" + "|".join(f" {cell} " if cell else " " for cell in written) + "|"


if __name__ == "__main__":
    sys.exit(main())
