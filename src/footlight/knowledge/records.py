"""StepRecord v1: the schema of step records, and the creation of records: redacted, limited and encoded.

A record always conforms to the schema, because parts that do not conform are left out. So records are not
validated when they are written: validation would take longer than writing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any, Final, cast

from footlight.knowledge.naming import format_timestamp, session_name, to_milliseconds
from footlight.knowledge.redaction_rules import RedactionRules
from footlight.knowledge.sanitiser import (
    NUMBER_LIMIT,
    Sanitiser,
    remove_control_characters,
)
from footlight.knowledge.secret_texts import SecretTexts
from footlight.knowledge.step_secrets import (
    CheckedObservation,
    check_observation,
    is_revealing,
    is_secret_input,
    learn_secrets,
    list_typed_texts,
    secrets_of_call,
)
from footlight.knowledge.steps import RawStep, RepositoryFacts, find_target

__all__ = ["MAX_RECORD_BYTES", "SCREENS", "encode_record", "make_record", "step_schema"]

SCHEMA_VERSION: Final = 1
UNKNOWN_SCREEN: Final = "unknown"
SCREENS: Final = (
    "unlock",
    "home",
    "onboarding-welcome",
    "onboarding-import",
    "onboarding-create",
    "onboarding-srp",
    "onboarding-password",
    "onboarding-complete",
    "onboarding-metametrics",
    "settings",
    UNKNOWN_SCREEN,
)
"""The screen names of the schema."""

MAX_RECORD_BYTES = 256 << 10
"""Maximum size of the file."""
MAX_ID_CHARS = 200
MAX_TEXT_CHARS = 300
MAX_TAG_CHARS = 60
MAX_URL_CHARS = 2_000
MAX_SELECTOR_CHARS = 1_000
MAX_MESSAGE_CHARS = 4_000
MAX_PATH_ITEMS = 8
"""Maximum number of ancestors that are recorded for a node."""
NO_REF = "e0"
"""The ref of a node whose own ref does not match the schema. Snapshots number their refs from one."""

_REF = re.compile(r"e[0-9]{1,9}")
_FLAGS = ("disabled", "checked", "expanded")

_CleanText = Callable[[object, int], str]
"""A function that redacts a text of the page and shortens it to a maximum length."""


def step_schema(screens: Sequence[str] | None = None) -> dict[str, Any]:
    """Return the schema, with the screen names of another app if given. An empty list allows any name.

    `unknown` is always allowed: it is the screen of a step without a page.
    """
    text = files("footlight.knowledge").joinpath("StepRecord.v1.schema.json").read_text("utf-8")
    schema: dict[str, Any] = json.loads(text)
    if screens is not None:
        names = list(dict.fromkeys([*screens, UNKNOWN_SCREEN]))
        schema["definitions"]["ScreenName"] = {"type": "string", **({"enum": names} if screens else {})}
    return schema


def make_record(
    step: RawStep,
    facts: RepositoryFacts,
    rules: RedactionRules,
    *,
    secrets: SecretTexts | None = None,
    screens: Sequence[str] | None = SCREENS,
    revealing: set[str] | None = None,
) -> dict[str, Any]:
    """Return the redacted record of a step.

    `secrets` has the secrets of earlier steps; those of this step are added. By default only the known texts
    of the rules are secret. If `screens` is None or empty, any screen name is accepted. `revealing` has the
    sessions whose last observation was of a secret screen, and is updated.
    """
    all_secrets = SecretTexts(rules.known_texts) if secrets is None else secrets
    seen = check_observation(step.observation, rules)
    learn_secrets(step, seen, rules, all_secrets)
    typed = list_typed_texts(step, rules)
    reveals = is_revealing(step, seen, set() if revealing is None else revealing)
    chips = frozenset(seen.chips) - rules.interface_words if reveals else frozenset[str]()
    in_call = Sanitiser(rules, all_secrets, also=secrets_of_call(typed), reveals=reveals, chips=chips)
    in_page = Sanitiser(rules, all_secrets, reveals=seen.is_secret, chips=chips)
    record: dict[str, Any] = {
        "schemaVersion": SCHEMA_VERSION,
        "timestamp": format_timestamp(to_milliseconds(step.at)),
        "sessionId": session_name(step.session_id or None),
        "environment": _clean_texts(facts.environment, ("platform", "nodeVersion", "yarnVersion"), in_call),
        "git": {
            **_clean_texts(facts.git, ("branch", "commit"), in_call),
            **_keep_booleans(facts.git, ("dirty",)),
        },
        "build": _build_part(facts.build, in_call),
        "tool": _tool_part(step, rules, typed, in_call),
        "timing": _keep_counts({"durationMs": step.duration_ms}, minimum=0),
        "outcome": _outcome_part(step, in_call),
        "observation": _observation_part(seen, in_page, screens),
        "artifacts": _artifacts_part(step.screenshot, in_call),
    }
    optional = ("environment", "git", "build", "timing", "artifacts")
    return {key: value for key, value in record.items() if value or key not in optional}


def encode_record(record: dict[str, Any]) -> bytes:
    """Encode a record as JSON. If it is too large, its longer lists are shortened."""
    data = _to_json(record)
    observation = record["observation"]
    while len(data) > MAX_RECORD_BYTES and (observation["testIds"] or observation["a11y"]["nodes"]):
        longer = max(
            observation["testIds"], observation["a11y"]["nodes"], key=lambda items: len(_to_json(items))
        )
        del longer[len(longer) // 2 :]
        data = _to_json(record)
    if len(data) <= MAX_RECORD_BYTES:
        return data
    record["tool"]["input"] = {}
    record["outcome"].get("error", {}).pop("details", None)
    return _to_json(record)


def _to_json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def _tool_part(
    step: RawStep, rules: RedactionRules, typed: Sequence[str], sanitiser: Sanitiser
) -> dict[str, Any]:
    recorded = {key: value for key, value in step.input.items() if key not in rules.typed_keys}
    part: dict[str, Any] = {
        "name": remove_control_characters(step.tool)[:MAX_ID_CHARS] or "unnamed",
        "input": sanitiser.clean_data(recorded),
    }
    target = {
        key: value if key == "a11yRef" else _clean_target(key, value, sanitiser)
        for key, value in find_target(step).items()
        if key != "a11yRef" or _REF.fullmatch(value)
    }
    if target:
        part["target"] = target
    if len(recorded) < len(step.input) or step.typed:
        part["textRedacted"] = True
        # The length of a secret would help to guess it.
        if typed and is_secret_input(step, rules) is False:
            part["textLength"] = sum(map(len, typed))
    return part


def _clean_target(key: str, value: str, sanitiser: Sanitiser) -> str:
    clean = sanitiser.clean_identifier if key == "testId" else sanitiser.clean_call_text
    return clean(value, MAX_SELECTOR_CHARS)


def _outcome_part(step: RawStep, sanitiser: Sanitiser) -> dict[str, Any]:
    if step.error is None:
        return {"ok": bool(step.ok)}
    error: dict[str, Any] = {**_clean_texts(step.error, ("code",), sanitiser)}
    if isinstance(message := step.error.get("message"), str):
        error["message"] = sanitiser.clean_call_text(message, MAX_MESSAGE_CHARS)
    if isinstance(step.error.get("details"), Mapping):
        error["details"] = sanitiser.clean_data(step.error["details"])
    return {"ok": bool(step.ok), "error": error}


def _artifacts_part(screenshot: Mapping[str, Any] | None, sanitiser: Sanitiser) -> dict[str, Any]:
    if not screenshot:
        return {}
    path = screenshot.get("path")
    return {
        "screenshot": {
            **({"path": sanitiser.clean_path(path)} if isinstance(path, str) else {}),
            **_keep_counts({key: screenshot.get(key) for key in ("width", "height")}, minimum=1),
        }
    }


def _build_part(build: Mapping[str, Any], sanitiser: Sanitiser) -> dict[str, Any]:
    kind = {"buildType": "build:test"} if build.get("buildType") == "build:test" else {}
    return {**kind, **_clean_texts(build, ("extensionPathResolved",), sanitiser)}


def _observation_part(
    seen: CheckedObservation, sanitiser: Sanitiser, screens: Sequence[str] | None
) -> dict[str, Any]:
    paths = [_find_path(node) for node in seen.nodes]
    ancestors = {item: item.partition(":") for path in paths for item in path}
    sanitiser.remember_plain(_free_texts(seen, ancestors.values()))
    clean = sanitiser.clean_secret_page_text if seen.is_secret else sanitiser.clean_page_text
    # Nodes share ancestors, so each ancestor is cleaned once.
    cleaned = {item: _clean_ancestor(parts, sanitiser, clean) for item, parts in ancestors.items()}
    return {
        "state": _state_part(seen.state, sanitiser, screens),
        "testIds": [_test_id_part(item, sanitiser, clean) for item in seen.test_ids],
        "a11y": {
            "nodes": [
                _node_part(node, [cleaned[item] for item in path], sanitiser, clean)
                for node, path in zip(seen.nodes, paths, strict=True)
            ]
        },
    }


def _free_texts(seen: CheckedObservation, ancestors: Iterable[tuple[str, str, str]]) -> Iterator[str]:
    yield from seen.texts
    for items, keys in ((seen.test_ids, ("testId", "tag")), (seen.nodes, ("role",))):
        yield from (text for item in items for key in keys if isinstance(text := item.get(key), str))
    for role, _, name in ancestors:
        yield from (role, name)


def _state_part(
    state: Mapping[str, Any], sanitiser: Sanitiser, screens: Sequence[str] | None
) -> dict[str, Any]:
    """Return the state part, with placeholder values if there is no page."""
    screen = sanitiser.clean_text(state.get("currentScreen"), MAX_ID_CHARS)
    chain_id = state.get("chainId")
    return {
        "isLoaded": state.get("isLoaded") is True,
        "currentUrl": sanitiser.clean_identifier(state.get("currentUrl"), MAX_URL_CHARS),
        "extensionId": sanitiser.clean_text(state.get("extensionId"), MAX_ID_CHARS),
        "isUnlocked": state.get("isUnlocked") is True,
        "currentScreen": screen if screen and (not screens or screen in screens) else UNKNOWN_SCREEN,
        **{
            key: sanitiser.clean_text(value, MAX_TEXT_CHARS) if isinstance(value, str) else None
            for key in ("accountAddress", "networkName", "balance")
            if (value := state.get(key, state)) is not state
        },
        **({"chainId": chain_id if _is_count(chain_id) else None} if "chainId" in state else {}),
    }


def _test_id_part(item: Mapping[str, Any], sanitiser: Sanitiser, clean: _CleanText) -> dict[str, Any]:
    """Return a test id part. The id is also kept on a secret screen, because it identifies the element."""
    visible = item.get("visible")
    found: dict[str, Any] = {
        "testId": sanitiser.clean_identifier(item.get("testId"), MAX_ID_CHARS),
        "tag": sanitiser.clean_text(item.get("tag"), MAX_TAG_CHARS),
        "visible": visible if isinstance(visible, bool) else True,
    }
    if isinstance(text := item.get("text"), str):
        found["text"] = clean(text, MAX_TEXT_CHARS)
    return found


def _node_part(
    node: Mapping[str, Any], path: list[str], sanitiser: Sanitiser, clean: _CleanText
) -> dict[str, Any]:
    """Return a node part. A mixed state is left out, because the schema has no value for it."""
    ref = node.get("ref")
    return {
        "ref": ref if isinstance(ref, str) and _REF.fullmatch(ref) else NO_REF,
        "role": sanitiser.clean_text(node.get("role"), MAX_TAG_CHARS),
        "name": clean(node.get("name"), MAX_TEXT_CHARS),
        **_keep_booleans(node, _FLAGS),
        "path": path,
    }


def _find_path(node: Mapping[str, Any]) -> list[str]:
    path = node.get("path")
    items = cast("Sequence[object]", path) if isinstance(path, list | tuple) else ()
    return [item for item in items[-MAX_PATH_ITEMS:] if isinstance(item, str)]


def _clean_ancestor(parts: tuple[str, str, str], sanitiser: Sanitiser, clean: _CleanText) -> str:
    """Clean an ancestor such as `dialog:Confirm`. The role is kept on every screen."""
    role, colon, name = parts
    if not colon:
        return clean(role, MAX_TEXT_CHARS)
    return f"{sanitiser.clean_text(role, MAX_TAG_CHARS)}:{clean(name, MAX_TEXT_CHARS)}"


def _clean_texts(values: Mapping[str, Any], keys: Sequence[str], sanitiser: Sanitiser) -> dict[str, str]:
    return {
        key: sanitiser.clean_text(text, MAX_TEXT_CHARS)
        for key in keys
        if isinstance(text := values.get(key), str)
    }


def _keep_booleans(values: Mapping[str, Any], keys: Sequence[str]) -> dict[str, bool]:
    return {key: value for key in keys if isinstance(value := values.get(key), bool)}


def _keep_counts(values: Mapping[str, Any], *, minimum: int) -> dict[str, int]:
    return {key: int(value) for key, value in values.items() if _is_count(value) and value >= minimum}


def _is_count(value: object) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and abs(cast("float", value)) < NUMBER_LIMIT and value == int(cast("float", value))
