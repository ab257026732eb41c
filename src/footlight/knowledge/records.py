"""A step of a session, and the StepRecord v1 that is kept of it (R002-59 to R002-68).

Whatever a step is made of, its record fits the schema: what does not is left out. So nothing needs to be
validated when it is written, which would take longer than writing it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, cast

from footlight.knowledge.naming import in_milliseconds, session_name, spelled_out
from footlight.knowledge.sanitising import (
    LARGEST_NUMBER,
    SHORTEST_NAMED,
    Field,
    Rules,
    Sanitiser,
    cleaned,
    texts_named_secret,
)
from footlight.knowledge.schema import SCHEMA_VERSION, SCREENS, UNKNOWN_SCREEN
from footlight.knowledge.secret_shapes import find_phrase
from footlight.knowledge.secret_texts import SecretTexts

__all__ = ["LARGEST_RECORD", "Facts", "Field", "Observation", "Step", "encoded", "record_of"]

LARGEST_RECORD = 256 << 10
"""Bytes of the file."""
MOST_ITEMS = 500
"""Of test ids, and of nodes."""
LONGEST_ID = 200
LONGEST_TEXT = 300
LONGEST_TAG = 60
LONGEST_URL = 2_000
LONGEST_SELECTOR = 1_000
LONGEST_MESSAGE = 4_000
LONGEST_PATH = 8
"""Ancestors that are told of a node."""
NO_REF = "e0"
"""Of a node whose ref has another form than the schema's. No snapshot counts from zero."""
FEWEST_CHIPS = 12
"""Words that stand alone on a secret screen: then they are a phrase."""

_REF = re.compile(r"e[0-9]{1,9}")
_CHIP = re.compile(r"(?:[0-9]{1,2}[.):]?\s*)?([a-z]{3,8})")
LONGEST_CHIP = 14
_FLAGS = ("disabled", "checked", "expanded")

_Told = Callable[[object, int], str]
"""Cleans a text of the page, and cuts it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """The page after the step, in the document's words: ExtensionState, TestIdItem and A11yNodeTrimmed."""

    state: Mapping[str, Any]
    test_ids: Sequence[Mapping[str, Any]] = ()
    nodes: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A call of a tool as it was: nothing of it is clean yet."""

    tool: str
    session_id: str | None
    at: datetime
    """In UTC."""

    ok: bool
    duration_ms: int = 0
    input: Mapping[str, Any] = field(default_factory=dict[str, Any])
    target: Mapping[str, Any] | None = None
    field: Field | None = None
    """What was typed into; None where nothing was, or it was not found."""

    error: Mapping[str, Any] | None = None
    """`code`, `message` and `details`."""

    observation: Observation | None = None
    """None where there is no page."""

    screenshot: Mapping[str, Any] | None = None
    """`path`, `width` and `height`: never the image itself (R002-23)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What all steps of a session have in common, by the schema's names."""

    environment: Mapping[str, Any] = field(default_factory=dict[str, Any])
    git: Mapping[str, Any] = field(default_factory=dict[str, Any])
    build: Mapping[str, Any] = field(default_factory=dict[str, Any])


def record_of(
    step: Step,
    facts: Facts,
    rules: Rules,
    *,
    secrets: SecretTexts | None = None,
    screens: Sequence[str] | None = SCREENS,
) -> dict[str, Any]:
    """The step as it is kept. `secrets` are those of earlier steps, and learn those of this one.

    Without them, there are the rules' own. With `screens` None or empty, a screen may have any name.
    """
    known = SecretTexts(rules.known_texts) if secrets is None else secrets
    seen = _seen(step.observation, rules)
    _learn(step, seen, rules, known)
    typed = _typed(step, rules)
    in_call = Sanitiser(rules, known, also=_only(typed))
    record: dict[str, Any] = {
        "schemaVersion": SCHEMA_VERSION,
        "timestamp": spelled_out(in_milliseconds(step.at)),
        "sessionId": session_name(step.session_id),
        "environment": _texts(facts.environment, ("platform", "nodeVersion", "yarnVersion"), in_call),
        "git": {**_texts(facts.git, ("branch", "commit"), in_call), **_booleans(facts.git, ("dirty",))},
        "build": _build(facts.build, in_call),
        "tool": _tool(step, rules, typed, in_call),
        "timing": _counts({"durationMs": step.duration_ms}, least=0),
        "outcome": _outcome(step, in_call),
        "observation": _observation(seen, Sanitiser(rules, known), screens),
        "artifacts": _artifacts(step.screenshot, in_call),
    }
    optional = ("environment", "git", "build", "timing", "artifacts")
    return {key: value for key, value in record.items() if value or key not in optional}


def encoded(record: dict[str, Any]) -> bytes:
    """Its file. A record that is too large loses the end of its lists: a page is known by its beginning."""
    data = _json(record)
    observation = record["observation"]
    while len(data) > LARGEST_RECORD and (observation["testIds"] or observation["a11y"]["nodes"]):
        longer = max(
            observation["testIds"], observation["a11y"]["nodes"], key=lambda items: len(_json(items))
        )
        del longer[len(longer) // 2 :]
        data = _json(record)
    if len(data) <= LARGEST_RECORD:
        return data
    record["tool"]["input"] = {}
    record["outcome"].get("error", {}).pop("details", None)
    return _json(record)


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


@dataclass(frozen=True, slots=True)
class _Seen:
    """An observation of which every part is what it should be."""

    state: Mapping[str, Any]
    test_ids: list[Mapping[str, Any]]
    nodes: list[Mapping[str, Any]]
    texts: list[str]
    """Of test ids, and names of nodes."""

    chips: list[str]
    """Words that stand alone, and small, with or without their number."""

    is_ruled_secret: bool
    """By its name, or by a test id."""

    @property
    def is_secret(self) -> bool:
        return self.is_ruled_secret or len(self.chips) >= FEWEST_CHIPS


def _seen(observation: Observation | None, rules: Rules) -> _Seen:
    if observation is None:
        return _Seen({}, [], [], [], [], is_ruled_secret=False)
    test_ids = [item for item in _mappings(observation.test_ids) if isinstance(item.get("testId"), str)]
    nodes = _mappings(observation.nodes)
    pairs = [*((item, "text") for item in test_ids), *((node, "name") for node in nodes)]
    texts = [text for item, key in pairs if isinstance(text := item.get(key), str)]
    chips = (_CHIP.fullmatch(text.strip()) for text in texts if len(text) <= LONGEST_CHIP and text.islower())
    screen = observation.state.get("currentScreen")
    return _Seen(
        observation.state,
        test_ids,
        nodes,
        texts,
        list(dict.fromkeys(chip[1] for chip in chips if chip)),
        rules.is_secret_screen(
            screen if isinstance(screen, str) else "", (item["testId"] for item in test_ids)
        ),
    )


def _learn(step: Step, seen: _Seen, rules: Rules, secrets: SecretTexts) -> None:
    """Remember what is typed into a secret field, named so, or shown as a seed phrase."""
    for text in _typed(step, rules):
        _learn_typed(text, step, rules, secrets)
    for text in texts_named_secret((step.input, step.error), rules):
        secrets.remember(text)
    if not seen.is_ruled_secret:
        return
    if len(seen.chips) >= FEWEST_CHIPS:
        secrets.remember_words(seen.chips)
    for text in seen.texts:
        if (phrase := find_phrase(text)) is not None:
            secrets.remember(phrase)


def _typed(step: Step, rules: Rules) -> list[str]:
    return [value for key, value in step.input.items() if key in rules.typed_keys and isinstance(value, str)]


def _only(typed: Sequence[str]) -> SecretTexts | None:
    """What was typed, for the step itself, however short or public it is."""
    texts = SecretTexts()
    for text in typed:
        texts.remember(text, shortest_word=1, also_public=True)
    return texts if typed else None


def _is_secret_input(step: Step, rules: Rules) -> bool | None:
    """By the field itself, and by how the call names it. None: there is nothing to tell it by."""
    target = _target(step)
    if any(map(rules.names_secret, target.values())):
        return True
    if step.field is None:
        return False if "testId" in target else None
    return rules.is_secret_field(step.field)


def _learn_typed(text: str, step: Step, rules: Rules, secrets: SecretTexts) -> None:
    is_secret = _is_secret_input(step, rules)
    if is_secret and _CHIP.fullmatch(text.strip().lower()) and _takes_phrase(step, rules):
        secrets.remember_words([text.strip()])
    elif is_secret or find_phrase(text) is not None or (is_secret is None and _may_be_secret(text)):
        secrets.remember(text)


def _may_be_secret(text: str) -> bool:
    return len(text) >= SHORTEST_NAMED and not re.fullmatch(r"[\s\d.,]*", text)


def _takes_phrase(step: Step, rules: Rules) -> bool:
    """A word of a phrase, in a field of its own, is secret as a word: as a text it is part of many others."""
    into = step.field or Field()
    return any(map(rules.names_phrase, (*_target(step).values(), into.test_id, into.name, into.hint)))


def _tool(step: Step, rules: Rules, typed: Sequence[str], sanitiser: Sanitiser) -> dict[str, Any]:
    kept = {key: value for key, value in step.input.items() if key not in rules.typed_keys}
    told: dict[str, Any] = {
        "name": cleaned(step.tool)[:LONGEST_ID] or "unnamed",
        "input": sanitiser.data(kept),
    }
    target = {
        key: sanitiser.text(value, LONGEST_SELECTOR) if key != "a11yRef" else value
        for key, value in _target(step).items()
        if key != "a11yRef" or _REF.fullmatch(value)
    }
    if target:
        told["target"] = target
    if len(kept) < len(step.input):
        told["textRedacted"] = True
        # How long a secret is helps whoever guesses it.
        if typed and _is_secret_input(step, rules) is False:
            told["textLength"] = sum(map(len, typed))
    return told


def _target(step: Step) -> dict[str, str]:
    """As the schema has it, from the call's own input if need be."""
    given = step.input if step.target is None else step.target
    return {
        key: value for key in ("a11yRef", "testId", "selector") if isinstance(value := given.get(key), str)
    }


def _outcome(step: Step, sanitiser: Sanitiser) -> dict[str, Any]:
    if step.error is None:
        return {"ok": bool(step.ok)}
    error: dict[str, Any] = {**_texts(step.error, ("code", "message"), sanitiser, longest=LONGEST_MESSAGE)}
    if isinstance(step.error.get("details"), Mapping):
        error["details"] = sanitiser.data(step.error["details"])
    return {"ok": bool(step.ok), "error": error}


def _artifacts(screenshot: Mapping[str, Any] | None, sanitiser: Sanitiser) -> dict[str, Any]:
    if not screenshot:
        return {}
    return {
        "screenshot": {
            **_texts(screenshot, ("path",), sanitiser, longest=LONGEST_MESSAGE),
            **_counts({key: screenshot.get(key) for key in ("width", "height")}, least=1),
        }
    }


def _build(build: Mapping[str, Any], sanitiser: Sanitiser) -> dict[str, Any]:
    kind = {"buildType": "build:test"} if build.get("buildType") == "build:test" else {}
    return {**kind, **_texts(build, ("extensionPathResolved",), sanitiser)}


def _observation(seen: _Seen, sanitiser: Sanitiser, screens: Sequence[str] | None) -> dict[str, Any]:
    paths = [_path(node) for node in seen.nodes]
    ancestors = {item: item.partition(":") for path in paths for item in path}
    sanitiser.screen(_free_texts(seen, ancestors.values()))
    told = sanitiser.interface if seen.is_secret else sanitiser.shown
    # Few ancestors have many descendants.
    shown = {item: _ancestor(parts, sanitiser, told) for item, parts in ancestors.items()}
    return {
        "state": _state(seen.state, sanitiser, screens),
        "testIds": [_test_id(item, sanitiser, told) for item in seen.test_ids],
        "a11y": {
            "nodes": [
                _node(node, [shown[item] for item in path], sanitiser, told)
                for node, path in zip(seen.nodes, paths, strict=True)
            ]
        },
    }


def _free_texts(seen: _Seen, ancestors: Iterable[tuple[str, str, str]]) -> Iterator[str]:
    yield from seen.texts
    for items, keys in ((seen.test_ids, ("testId", "tag")), (seen.nodes, ("role",))):
        yield from (text for item in items for key in keys if isinstance(text := item.get(key), str))
    for role, _, name in ancestors:
        yield from (role, name)


def _state(state: Mapping[str, Any], sanitiser: Sanitiser, screens: Sequence[str] | None) -> dict[str, Any]:
    """Without a page there is a placeholder (R002-64)."""
    screen = sanitiser.text(state.get("currentScreen"), LONGEST_ID)
    chain_id = state.get("chainId")
    return {
        "isLoaded": state.get("isLoaded") is True,
        "currentUrl": sanitiser.text(state.get("currentUrl"), LONGEST_URL),
        "extensionId": sanitiser.text(state.get("extensionId"), LONGEST_ID),
        "isUnlocked": state.get("isUnlocked") is True,
        "currentScreen": screen if screen and (not screens or screen in screens) else UNKNOWN_SCREEN,
        **{
            key: sanitiser.text(value, LONGEST_TEXT) if isinstance(value, str) else None
            for key in ("accountAddress", "networkName", "balance")
            if (value := state.get(key, state)) is not state
        },
        **({"chainId": chain_id if _is_count(chain_id) else None} if "chainId" in state else {}),
    }


def _test_id(item: Mapping[str, Any], sanitiser: Sanitiser, told: _Told) -> dict[str, Any]:
    """The id stays, also on a secret screen: it is what people and searches know the element by."""
    visible = item.get("visible")
    found: dict[str, Any] = {
        "testId": sanitiser.text(item.get("testId"), LONGEST_ID),
        "tag": sanitiser.text(item.get("tag"), LONGEST_TAG),
        "visible": visible if isinstance(visible, bool) else True,
    }
    if isinstance(text := item.get("text"), str):
        found["text"] = told(text, LONGEST_TEXT)
    return found


def _node(node: Mapping[str, Any], path: list[str], sanitiser: Sanitiser, told: _Told) -> dict[str, Any]:
    """A state that is neither on nor off, such as `mixed`, has no place in the schema (R002-12)."""
    ref = node.get("ref")
    return {
        "ref": ref if isinstance(ref, str) and _REF.fullmatch(ref) else NO_REF,
        "role": sanitiser.text(node.get("role"), LONGEST_TAG),
        "name": told(node.get("name"), LONGEST_TEXT),
        **_booleans(node, _FLAGS),
        "path": path,
    }


def _path(node: Mapping[str, Any]) -> list[str]:
    path = node.get("path")
    items = cast("Sequence[object]", path) if isinstance(path, list | tuple) else ()
    return [item for item in items[-LONGEST_PATH:] if isinstance(item, str)]


def _ancestor(parts: tuple[str, str, str], sanitiser: Sanitiser, told: _Told) -> str:
    """`dialog:Confirm`: the role stays, whatever the screen."""
    role, colon, name = parts
    if not colon:
        return told(role, LONGEST_TEXT)
    return f"{sanitiser.text(role, LONGEST_TAG)}:{told(name, LONGEST_TEXT)}"


def _mappings(items: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Those that are."""
    return [item for item in items[:MOST_ITEMS] if isinstance(item, dict) or _is_mapping(item)]


def _is_mapping(item: object) -> bool:
    return isinstance(item, Mapping)


def _texts(
    values: Mapping[str, Any], keys: Sequence[str], sanitiser: Sanitiser, *, longest: int = LONGEST_TEXT
) -> dict[str, str]:
    return {key: sanitiser.text(text, longest) for key in keys if isinstance(text := values.get(key), str)}


def _booleans(values: Mapping[str, Any], keys: Sequence[str]) -> dict[str, bool]:
    return {key: value for key in keys if isinstance(value := values.get(key), bool)}


def _counts(values: Mapping[str, Any], *, least: int) -> dict[str, int]:
    return {key: int(value) for key, value in values.items() if _is_count(value) and value >= least}


def _is_count(value: object) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and abs(cast("float", value)) < LARGEST_NUMBER and value == int(cast("float", value))
