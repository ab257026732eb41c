"""`@tool` on a typed function is the whole declaration of a tool.

Its name, docstring and signature give the name, description and input schema; the return type gives the
output schema; the decorator says what the call does to the world and what it needs. Everything else that
must know a tool (the MCP list, the dispatcher, the reference page) reads it from here.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, create_model
from pydantic.alias_generators import to_camel

from footlight.caller import LOCAL, Caller
from footlight.errors import FootlightError, InvalidParameter, MissingParameter
from footlight.server.secrets import Secrets, SecretText

if TYPE_CHECKING:
    from footlight.browser.deadline import Deadline
    from footlight.browser.page import Page
    from footlight.browser.session import Session
    from footlight.browser.session_table import SessionTable
    from footlight.browser.storage import StateStore
    from footlight.browser.test_ids import FieldKind
    from footlight.config import Settings
    from footlight.server.answer import Image, Link
    from footlight.server.steps import Outcome

__all__ = [
    "ERROR_SCHEMA",
    "EVENTS_SCHEMA",
    "GROUPS",
    "OBSERVATION_SCHEMA",
    "Count",
    "Group",
    "MaybeBudget",
    "Milliseconds",
    "Number",
    "Observe",
    "Scope",
    "Timeout",
    "Tool",
    "ToolCall",
    "Whole",
    "tool",
]

Scope = Literal["page", "session", "server"]
"""What a call works on: it gets that from the dispatcher, under the session's lock."""

Effect = Literal["read", "act", "configure"]
"""`read` changes nothing, `act` does something in a page, `configure` changes the session itself."""

Permission = Literal["evaluation", "upload"]
"""A switch in the settings that the tool needs."""

Group = Literal["core", "network", "storage", "devtools", "vision"]
"""Which tools a server offers is chosen by these (`--tools`)."""

GROUPS: tuple[Group, ...] = typing.get_args(Group)

Number = Annotated[float, Field(allow_inf_nan=False)]
Whole = Annotated[int, Field(json_schema_extra={"type": "number"})]
Count = Annotated[Whole, Field(ge=1)]
Milliseconds = Annotated[Number, Field(ge=1)]


def _unbounded(schema: dict[str, Any]) -> None:
    """Every tool of a page has it: that it is more than nothing need not be said each time."""
    del schema["minimum"]
    schema["type"] = "number"


Timeout = Annotated[Milliseconds, Field(json_schema_extra=_unbounded)] | None
Observe = Literal["none", "diff", "full"]
Settle = Literal["auto", "none"]
MaybeBudget = Annotated[int, Field(ge=200, json_schema_extra=_unbounded)] | None
"""Characters of page content in an answer."""


@dataclass(slots=True)
class ToolCall:
    """What a tool's function gets: where it works, and until when."""

    settings: Settings
    deadline: Deadline
    sessions: SessionTable
    states: StateStore
    caller: Caller = LOCAL
    maybe_session: Session | None = None
    maybe_page: Page | None = None
    images: list[Image] = field(default_factory=list["Image"])
    undo: list[Callable[[], Awaitable[object]]] = field(default_factory=list[Callable[[], Awaitable[object]]])
    """Takes back what nobody will hear of, where the call is cancelled before its answer is out."""
    links: list[Link] = field(default_factory=list["Link"])

    mask: Callable[[str], str] = str
    """Takes the secrets out of a text. What is cut is masked before: half a secret would not be found."""
    locator: Any = None
    """What `Answer.locator` will be, where it is not the page's that knows it."""
    typed_into: FieldKind | None = None
    """What the call has typed into: whoever writes the call down must know whether the text is a secret."""
    written_down: bool = False
    """Whether a recorder wants to know `typed_into`."""
    steps: RunSteps | None = None
    """Runs other tools inside this call; the dispatcher's."""

    async def run_steps(self, steps: Sequence[Mapping[str, Any]], *, stop_on_error: bool) -> list[Outcome]:
        """Each step names a `tool` and its `arguments`. Raises what a step raises, if that ends them."""
        assert self.steps is not None
        return await self.steps(steps, stop_on_error)

    async def note_field(self, selector: str) -> None:
        """What is about to be typed into, for whoever writes the call down. Raises as acting on it would."""
        if self.written_down:
            from footlight.browser.test_ids import describe_field

            self.typed_into = await describe_field(self.page, selector, self.deadline)

    def stage(self, stage: str) -> None:
        """Say what the call is doing now, to whoever waits for it."""
        self.deadline.stage(stage)

    @property
    def session(self) -> Session:
        """For tools of the scopes `page` and `session`."""
        assert self.maybe_session is not None
        return self.maybe_session

    @property
    def page(self) -> Page:
        """For tools of the scope `page`."""
        assert self.maybe_page is not None
        return self.maybe_page


RunSteps = Callable[[Sequence[Mapping[str, Any]], bool], Awaitable["list[Outcome]"]]
Function = Callable[..., Awaitable[Mapping[str, Any]]]
Limits = Callable[[BaseModel], tuple[float, float]]
"""Milliseconds for a whole call, and for an element to appear in it."""


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A declared tool. What is derived from the signature is derived when it is first asked for."""

    name: str
    title: str
    description: str
    function: Function
    scope: Scope
    effect: Effect
    destructive: bool
    idempotent: bool
    open_world: bool
    permission: Permission | None
    group: Group
    untrusted: bool
    """Whether its `data` comes from a page."""
    queued: bool
    """Whether it waits for the session's other calls."""
    observed: bool
    """Whether its answer tells what changed on its page."""
    shared: Mapping[str, Any]
    """Parameters that come with the scope, beside the function's own."""
    leading: Mapping[str, Any]
    """Those that stand before the function's own."""
    default_timeout_ms: float | None
    """The deadline of a call that gives no `timeout`, where that is not the one of the settings."""
    limits: Limits | None = None
    """Where a call says its time in another way."""
    schema: Mapping[str, Any] | None = None
    """The input schema of a document, which is listed as it is; the signature takes at least as much."""
    whole: bool = False
    """Whether its answer is sent whole, however long it is."""
    batch: bool = False
    """Whether it runs other tools, each as a step of its own."""

    @cached_property
    def arguments(self) -> type[BaseModel]:
        """Validates what comes in."""
        return _arguments(self.function, self.shared, self.leading)

    @cached_property
    def input_schema(self) -> dict[str, Any]:
        """JSON Schema, as MCP lists it."""
        return _input_schema(self.arguments) if self.schema is None else dict(self.schema)

    @property
    def returned_schema(self) -> dict[str, Any]:
        """JSON Schema of what the function returns, without what an envelope adds."""
        returned = typing.get_type_hints(self.function, include_extras=True)["return"]
        return _plain(TypeAdapter(returned).json_schema(mode="serialization"), nulls=True)

    @cached_property
    def output_schema(self) -> dict[str, Any]:
        """JSON Schema of the structured content, in the envelope of document 003."""
        return _output_schema(self)

    def keeps_secret(self, path: str) -> bool:
        """Whether that parameter is one of those that take secrets: what was given is not told then."""
        hints = typing.get_type_hints(self.function, include_extras=True)
        return any(to_camel(name) == path and hint == SecretText for name, hint in hints.items())

    @property
    def read_only(self) -> bool:
        return self.effect == "read"

    def parse(self, arguments: Mapping[str, Any], secrets: Secrets | None = None) -> BaseModel:
        """The arguments, validated, with the values of the secrets that they name.

        Raises:
            MissingParameter, InvalidParameter: name the field and say what was expected.
        """
        try:
            given = _with_whole_numbers(self._given(arguments))
            self._check_known(given)
            return self.arguments.model_validate(given, context=secrets)
        except ValidationError as error:
            raise _explained(error, self) from None

    def _given(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Null for an optional parameter is the same as nothing, unless a document's schema has no null."""
        if self.schema is not None:
            return dict(arguments)
        optional = self.input_schema["properties"].keys() - self.input_schema.get("required", ())
        return {key: value for key, value in arguments.items() if value is not None or key not in optional}

    def _check_known(self, given: Mapping[str, Any]) -> None:
        """The signature may take more than is listed. Raises InvalidParameter."""
        known = self.input_schema["properties"]
        unknown = next((name for name in given if name not in known), None)
        if self.schema is not None and unknown is not None:
            raise InvalidParameter(
                _unknown(unknown, self.name, known),
                parameter=unknown,
                tool=self.name,
                expected=_expected(known),
            )

    async def run(self, call: ToolCall, arguments: BaseModel) -> Mapping[str, Any]:
        own = inspect.signature(self.function).parameters
        values = {name: getattr(arguments, name) for name in own if name != "call"}
        return await self.function(call, **values)


def tool(
    *,
    scope: Scope = "page",
    effect: Effect,
    destructive: bool = False,
    idempotent: bool | None = None,
    open_world: bool | None = None,
    permission: Permission | None = None,
    name: str | None = None,
    names_session: bool = False,
    timeout: Any = None,
    group: Group = "core",
    untrusted: bool | None = None,
    queued: bool = True,
    observed: bool | None = None,
    shared: Mapping[str, Any] | None = None,
    leading: Mapping[str, Any] | None = None,
    default_timeout_ms: float | None = None,
    limits: Limits | None = None,
    schema: Mapping[str, Any] | None = None,
    whole: bool = False,
    batch: bool = False,
) -> Callable[[Function], Tool]:
    """Declare a tool.

    `destructive`: it may do what cannot be undone. `idempotent`: a second call changes nothing more
    (reading always is). `names_session`: `sessionId` must be given. `timeout` replaces the annotation
    of the shared parameter of that name. `untrusted`: its `data` comes from a page (what is read does).
    `queued`: it waits for the session's other calls. `observed`: its answer tells what changed on its page
    (what acts in one does; a tool of a session says which page by `call.maybe_page`). `shared` replaces
    the parameters that come with the scope, `leading` are others that stand before the function's own.
    """

    def declare(function: Function) -> Tool:
        title, description = _texts(function)
        observes = scope == "page" and effect == "act" if observed is None else observed
        return Tool(
            name=name or function.__name__,
            title=title,
            description=description,
            function=function,
            scope=scope,
            effect=effect,
            destructive=destructive,
            idempotent=effect == "read" if idempotent is None else idempotent,
            open_world=scope == "page" if open_world is None else open_world,
            permission=permission,
            group=group,
            untrusted=effect == "read" and scope != "server" if untrusted is None else untrusted,
            queued=queued,
            observed=observes,
            shared=_shared(scope, effect, names_session=names_session, observed=observes, timeout=timeout)
            if shared is None
            else shared,
            leading=leading or {},
            default_timeout_ms=default_timeout_ms,
            limits=limits,
            schema=schema,
            whole=whole,
            batch=batch,
        )

    return declare


def _texts(function: Function) -> tuple[str, str]:
    """The first line is the title; the whole, on one line, is the description."""
    paragraphs = inspect.cleandoc(function.__doc__ or "").split("\n\n")
    description = " ".join(" ".join(paragraph.split()) for paragraph in paragraphs)
    return paragraphs[0].partition("\n")[0].split(". ")[0].rstrip("."), description


def _arguments(function: Function, shared: Mapping[str, Any], leading: Mapping[str, Any]) -> type[BaseModel]:
    hints = typing.get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = dict(leading)
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name != "call":
            default = ... if parameter.default is parameter.empty else parameter.default
            fields[parameter.name] = (hints[parameter.name], default)
    for name, field_ in shared.items():
        fields.setdefault(name, field_)
    return create_model(
        function.__name__,
        __config__=ConfigDict(
            alias_generator=to_camel, extra="forbid", strict=True, frozen=True, validate_by_name=False
        ),
        **fields,
    )


def _shared(
    scope: Scope, effect: Effect, *, names_session: bool, observed: bool, timeout: Any
) -> dict[str, Any]:
    """What every tool of a scope takes; the server's instructions explain it once."""
    if scope == "server":
        return {}
    session = {"session_id": (str, ...) if names_session else (str | None, None)}
    page = {"page_id": (str | None, None), "timeout": (timeout or Timeout, None)}
    observing = {
        "observe": (Observe | None, None),
        **({"settle": (Settle | None, None)} if effect == "act" else {}),
        "budget": (MaybeBudget, None),
    }
    return {**session, **(page if scope == "page" else {}), **(observing if observed else {})}


def _input_schema(arguments: type[BaseModel]) -> dict[str, Any]:
    schema = _plain(arguments.model_json_schema(by_alias=True, mode="validation"))
    return {
        "type": "object",
        "properties": schema.get("properties", {}),
        **({"required": schema["required"]} if schema.get("required") else {}),
        "additionalProperties": False,
    }


EVENTS_SCHEMA: dict[str, Any] = {
    "newPages": {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {"pageId": {"type": "string"}, "url": {"type": "string"}},
            "required": ["pageId", "url"],
        },
    },
    "closedPages": {"type": "array", "items": {"type": "string"}},
    "dialogs": {"type": "array", "items": {"type": "object"}},
    "downloads": {"type": "array", "items": {"type": "object"}},
}

ERROR_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "code": {"type": "string"},
        "message": {"type": "string"},
        "details": {"type": "object"},
        "retryable": {"type": "boolean"},
        "suggestion": {"type": "string"},
    },
    "required": ["code", "message", "retryable"],
}


OBSERVATION_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "kind": {"type": "string", "enum": ["same", "diff", "full", "unknown"]},
        "url": {"type": "string"},
        "title": {"type": "string"},
        "console": {"type": "array"},
        "text": {"type": "string"},
        "cut": {"type": "boolean"},
        "resource": {"type": "string"},
    },
    "required": ["kind"],
}

_LIST: dict[str, Any] = {"type": "array"}
_LINKED: dict[str, Any] = {
    "resource": {
        "type": "object",
        "properties": {
            "uri": {"type": "string"},
            "mimeType": {"type": "string"},
            "bytes": {"type": "integer"},
        },
    },
    "preview": {"type": "string"},
}
"""In place of `data` that would be too large; what happened beside it is then next to these."""


def _output_schema(declared: Tool) -> dict[str, Any]:
    """The envelope: `{success: true, data}`, or `resource` and `preview`, or `{success: false, error}`."""
    effect, scope = declared.effect, declared.scope
    data = declared.returned_schema
    if effect != "configure":
        data["properties"] = {**data.get("properties", {}), **EVENTS_SCHEMA}
    if effect == "act" and scope != "server":
        data = _or_cut_short(data)
    instead = (
        {}
        if scope == "server"
        else _LINKED
        if effect == "configure"
        else _LINKED | dict.fromkeys(EVENTS_SCHEMA, _LIST)
    )
    observed = {"observation": OBSERVATION_SCHEMA} if declared.observed else {}
    return {
        "type": "object",
        "properties": {
            "success": {"type": "boolean"},
            "data": data,
            **observed,
            "error": ERROR_SCHEMA,
            **instead,
        },
        "required": ["success"],
    }


def _or_cut_short(data: dict[str, Any]) -> dict[str, Any]:
    """An action that a dialog stopped answers with the dialog and where the page is, not with its result."""
    required = data.get("required", [])
    if set(required) <= {"url"}:
        return data
    data = {key: value for key, value in data.items() if key != "required"}
    data["properties"] = {"url": {"type": "string"}, **data["properties"]}
    return {**data, "anyOf": [{"required": required}, {"required": ["url", "dialogs"]}]}


def _plain(schema: Any, definitions: Mapping[str, Any] | None = None, *, nulls: bool = False) -> Any:
    """Without pydantic's noise: no titles, and no references to definitions.

    Without `nulls` an optional parameter is its type, not a union with null that defaults to it.
    """
    if isinstance(schema, list):
        return [_plain(item, definitions, nulls=nulls) for item in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    typed = cast("dict[str, Any]", schema)
    definitions = typed.get("$defs", definitions)
    if (reference := typed.get("$ref")) is not None:
        definition = dict((definitions or {})[reference.removeprefix("#/$defs/")])
        definition.pop("description", None)
        typed = {**definition, **{key: value for key, value in typed.items() if key != "$ref"}}
    plain: dict[str, Any] = {
        key: {name: _plain(item, definitions, nulls=nulls) for name, item in value.items()}
        if key == "properties"
        else _plain(value, definitions, nulls=nulls)
        for key, value in typed.items()
        if key not in ("title", "$defs")
    }
    return plain if nulls else _without_null(plain)


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    if schema.get("default", ...) is None:
        del schema["default"]
    real = [choice for choice in schema.get("anyOf", ()) if choice != {"type": "null"}]
    if len(real) == 1:
        del schema["anyOf"]
        schema = {**real[0], **schema}
    return schema


def _with_whole_numbers(value: Any) -> Any:
    """JSON does not tell 2.0 from 2, and not every client writes the second."""
    if isinstance(value, dict):
        return {key: _with_whole_numbers(item) for key, item in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [_with_whole_numbers(item) for item in cast("list[Any]", value)]
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    return value


def _explained(error: ValidationError, declared: Tool) -> FootlightError:
    """The first problem as an error of ours; the rest go into its details."""
    problems = [_problem(problem, declared) for problem in error.errors(include_url=False)]
    missing = [field for field, kind, _ in problems if kind == "missing"]
    expected = _expected(declared.input_schema["properties"])
    details: dict[str, Any] = {"tool": declared.name, "expected": expected}
    if missing:
        names = ", ".join(missing)
        return MissingParameter(
            f"{declared.name} needs the parameter{'s' * (len(missing) > 1)} {names}",
            parameter=missing[0],
            missing=missing,
            **details,
        )
    message = "; ".join(text for _, _, text in problems[:5])
    return InvalidParameter(message, parameter=problems[0][0], **details)


def _expected(properties: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    return {name: _brief(schema) for name, schema in properties.items()}


def _unknown(path: str, tool: str, known: Iterable[str]) -> str:
    return f"{path}: unknown parameter; {tool} takes {', '.join(known) or 'none'}"


def _problem(problem: Any, declared: Tool) -> tuple[str, str, str]:
    path = ".".join(str(part) for part in problem["loc"]) or "arguments"
    if problem["type"] == "extra_forbidden":
        return path, "extra", _unknown(path, declared.name, declared.input_schema["properties"])
    text = str(problem["msg"]).replace("Input should be", "must be").removeprefix("Value error, ")
    shown = "" if declared.keeps_secret(path) else f", got {_shown(problem['input'])}"
    return path, str(problem["type"]), f"{path}: {text}{shown}"


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 100 else f"{text[:100]}…"


def _brief(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    kind = str(schema.get("type", "any"))
    return f"array of {_brief(schema.get('items', {}))}" if kind == "array" else kind
