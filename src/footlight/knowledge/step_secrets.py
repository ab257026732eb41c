"""The secrets of a step: typed texts, values under secret names, and seed phrases on the page."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from footlight.knowledge.naming import session_name
from footlight.knowledge.redaction_rules import RedactionRules, TypedField
from footlight.knowledge.sanitiser import MIN_NAMED_SECRET_CHARS, find_named_secrets
from footlight.knowledge.secret_shapes import find_phrase
from footlight.knowledge.secret_texts import SecretTexts
from footlight.knowledge.steps import RawStep, StepObservation, find_target

__all__ = [
    "CheckedObservation",
    "check_observation",
    "is_revealing",
    "is_secret_input",
    "learn_secrets",
    "list_typed_texts",
    "secrets_of_call",
]

MAX_ITEMS = 500
"""Maximum number of test ids, and of nodes."""
MIN_CHIPS = 12
"""The number of single-word elements from which a screen is assumed to show a seed phrase."""

_CHIP = re.compile(r"(?:[0-9]{1,2}[.):]?\s*)?([a-z]{3,8})")
MAX_CHIP_CHARS = 14


@dataclass(frozen=True, slots=True)
class CheckedObservation:
    """An observation whose parts have the expected types."""

    state: Mapping[str, Any]
    test_ids: list[Mapping[str, Any]]
    nodes: list[Mapping[str, Any]]
    texts: list[str]
    """The texts of the test ids, and the names of the nodes."""

    chips: list[str]
    """Elements that contain a single lower-case word, with or without a number."""

    is_ruled_secret: bool
    """True if the rules make the screen secret, by its name or by a test id."""

    @property
    def is_secret(self) -> bool:
        return self.is_ruled_secret or len(self.chips) >= MIN_CHIPS


def check_observation(observation: StepObservation | None, rules: RedactionRules) -> CheckedObservation:
    """Return the parts of the observation that have the expected types. Empty for None."""
    if observation is None:
        return CheckedObservation({}, [], [], [], [], is_ruled_secret=False)
    test_ids = [item for item in _keep_mappings(observation.test_ids) if isinstance(item.get("testId"), str)]
    nodes = _keep_mappings(observation.nodes)
    pairs = [*((item, "text") for item in test_ids), *((node, "name") for node in nodes)]
    texts = [text for item, key in pairs if isinstance(text := item.get(key), str)]
    chips = (
        _CHIP.fullmatch(text.strip()) for text in texts if len(text) <= MAX_CHIP_CHARS and text.islower()
    )
    screen = observation.state.get("currentScreen")
    return CheckedObservation(
        observation.state,
        test_ids,
        nodes,
        texts,
        list(dict.fromkeys(chip[1] for chip in chips if chip)),
        rules.is_secret_screen(
            screen if isinstance(screen, str) else "", (item["testId"] for item in test_ids)
        ),
    )


def is_revealing(step: RawStep, seen: CheckedObservation, revealing: set[str]) -> bool:
    """Return whether the step begins or ends on a secret screen."""
    session = session_name(step.session_id or None)
    began = session in revealing
    if step.observation is not None and seen.is_secret:
        revealing.add(session)
    elif step.observation is not None:
        revealing.discard(session)
    return began or seen.is_secret


def learn_secrets(
    step: RawStep, seen: CheckedObservation, rules: RedactionRules, secrets: SecretTexts
) -> None:
    """Store texts typed into a secret field, found under a secret key, or shown as a seed phrase."""
    for text, into in _list_typed(step, rules):
        _learn_typed(text, into, step, rules, secrets)
    for text in find_named_secrets((step.input, step.error), rules):
        secrets.remember(text)
    if not seen.is_ruled_secret:
        return
    if len(seen.chips) >= MIN_CHIPS:
        secrets.remember_words(seen.chips)
    for text in seen.texts:
        if (phrase := find_phrase(text)) is not None:
            secrets.remember(phrase)


def list_typed_texts(step: RawStep, rules: RedactionRules) -> list[str]:
    """Return the texts that the call has typed."""
    return [text for text, _ in _list_typed(step, rules)]


def _list_typed(step: RawStep, rules: RedactionRules) -> list[tuple[str, TypedField | None]]:
    """Return the typed texts, by the keys of the rules and in `typed`, each with its field if it is known."""
    texts = (value for key, value in step.input.items() if key in rules.typed_keys and isinstance(value, str))
    return [*((text, step.field) for text in texts), *step.typed]


def secrets_of_call(typed: Sequence[str]) -> SecretTexts | None:
    """Return the typed texts as secrets of this step, including short and public ones."""
    texts = SecretTexts()
    for text in typed:
        texts.remember(text, min_word_chars=1, also_public=True)
    return texts if typed else None


def is_secret_input(step: RawStep, rules: RedactionRules) -> bool | None:
    """Return whether a field or the target makes a typed text secret. None if that is not known of a text."""
    found = [_is_secret(into, step, rules) for _, into in _list_typed(step, rules)]
    return True if True in found else None if None in found else False


def _is_secret(into: TypedField | None, step: RawStep, rules: RedactionRules) -> bool | None:
    target = find_target(step)
    if any(map(rules.is_secret_name, target.values())):
        return True
    if into is None:
        return False if "testId" in target else None
    return rules.is_secret_field(into)


def _learn_typed(
    text: str, into: TypedField | None, step: RawStep, rules: RedactionRules, secrets: SecretTexts
) -> None:
    is_secret = _is_secret(into, step, rules)
    if is_secret and _CHIP.fullmatch(text.strip().lower()) and _takes_phrase(into, step, rules):
        secrets.remember_words([text.strip()])
    elif is_secret or find_phrase(text) is not None or (is_secret is None and _may_be_secret(text)):
        secrets.remember(text)


def _may_be_secret(text: str) -> bool:
    return len(text) >= MIN_NAMED_SECRET_CHARS and not re.fullmatch(r"[\s\d.,]*", text)


def _takes_phrase(into: TypedField | None, step: RawStep, rules: RedactionRules) -> bool:
    """Return whether the field accepts one word of a seed phrase.

    Such a word is stored as a word, because as a text it would be found inside many other words.
    """
    names = () if into is None else (into.test_id, into.name, into.hint)
    return any(map(rules.is_phrase_name, (*find_target(step).values(), *names)))


def _keep_mappings(items: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the items that are mappings."""
    return [item for item in items[:MAX_ITEMS] if _is_mapping(item)]


def _is_mapping(item: object) -> bool:
    return isinstance(item, Mapping)
