"""No file of the store contains a secret, wherever the secret was entered."""

from __future__ import annotations

import base64
import functools
import json
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from footlight.knowledge.records import make_record
from footlight.knowledge.redaction_rules import RedactionRules
from footlight.knowledge.sanitiser import Sanitiser
from footlight.knowledge.secret_shapes import MARK, find_phrase, redact_shapes
from footlight.knowledge.secret_texts import SecretTexts
from footlight.knowledge.steps import RawStep, RepositoryFacts, StepObservation, TypedField
from footlight.knowledge.store import KnowledgeStore
from tests.processor_time import limit_processor_time
from tests.tiers import examples

AT = datetime(2026, 1, 15, 12, 34, 56, 789_000, tzinfo=UTC)
PHRASE = "spread raise short crane omit tent fringe mandate neglect detail suspect cradle"
ADDRESS = "0x5CfE73b6021E818B776b421B1c4Db2474086a7e1"
HASH = "0x" + "4f3c" * 16
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"
VAULT = json.dumps({"data": "q83vEjRWeJA=", "iv": "EjRWeJCrze8=", "salt": "3q2+7wAAAAA="})
PASSWORD_FIELD = TypedField(tag="input", type="password")


def step(tool: str = "mm_type", **given: Any) -> RawStep:
    return RawStep(**{"tool": tool, "session_id": "mm-abcdef", "at": AT, "ok": True, **given})


def record_step(*, secrets: SecretTexts | None = None, **given: Any) -> dict[str, Any]:
    return make_record(step(**given), RepositoryFacts(), RedactionRules(), secrets=secrets)


def make_observation(
    screen: str = "home", url: str = "", ids: dict[str, str] | None = None, names: list[str] | None = None
) -> StepObservation:
    return StepObservation(
        state={"currentScreen": screen, "currentUrl": url},
        test_ids=[{"testId": id, "tag": "p", "text": text} for id, text in (ids or {}).items()],
        nodes=[
            {"ref": f"e{number}", "role": "button", "name": name}
            for number, name in enumerate(names or [], 1)
        ],
    )


def names_of(record: dict[str, Any]) -> list[str]:
    return [node["name"] for node in record["observation"]["a11y"]["nodes"]]


def texts_of(record: dict[str, Any]) -> dict[str, str]:
    return {item["testId"]: item["text"] for item in record["observation"]["testIds"]}


def message(text: str) -> str:
    """Return what an error's message keeps of a text."""
    return record_step(error={"message": text})["outcome"]["error"]["message"]


# What is typed


def test_typed_text_is_never_recorded() -> None:
    """The length of what is harmless is."""
    record = record_step(
        input={"testId": "amount", "text": "0.5"}, field=TypedField(tag="input", test_id="amount")
    )

    assert record["tool"] == {
        "name": "mm_type",
        "input": {"testId": "amount"},
        "target": {"testId": "amount"},
        "textRedacted": True,
        "textLength": 3,
    }


@pytest.mark.parametrize(
    "field",
    [
        TypedField(type="password"),
        TypedField(type="PASSWORD"),
        TypedField(autocomplete="section-x current-password"),
        TypedField(autocomplete="one-time-code"),
        TypedField(autocomplete="cc-number"),
        TypedField(test_id="unlock-password"),
        TypedField(test_id="import-srp__srp-word-0"),
        TypedField(name="Secret Recovery Phrase"),
        TypedField(hint="userPIN"),
        TypedField(hint="otp_code"),
        TypedField(hint="private_key"),
        TypedField(hint="apiToken"),
        TypedField(name="Mnemonic"),
    ],
)
@pytest.mark.parametrize("target", [{"a11yRef": "e3"}, {"selector": "form input"}, {"testId": "it"}])
def test_secret_field_is_recognized_by_its_attributes(field: TypedField, target: dict[str, str]) -> None:
    """By ref, too; and how long the secret is helps whoever guesses it."""
    record = record_step(input={**target, "text": "correct horse battery"}, field=field)

    assert record["tool"] == {"name": "mm_type", "input": target, "target": target, "textRedacted": True}


@pytest.mark.parametrize(
    "field",
    [
        TypedField(test_id="import-tokens-modal-custom-address"),
        TypedField(test_id="token-search"),
        TypedField(hint="shipping"),
        TypedField(hint="spinner"),
        TypedField(name="Compass"),
        TypedField(type="text", autocomplete="off"),
    ],
)
def test_length_of_text_typed_into_a_harmless_field_is_recorded(field: TypedField) -> None:
    assert record_step(input={"a11yRef": "e1", "text": "abc"}, field=field)["tool"]["textLength"] == 3


@pytest.mark.parametrize(
    "target", [{"selector": "input[type=password]"}, {"testId": "create-password-new-input"}]
)
def test_missing_field_is_judged_by_its_name(target: dict[str, str]) -> None:
    assert "textLength" not in record_step(input={**target, "text": "abc"})["tool"]


def test_typed_text_is_redacted_from_the_error_of_its_step() -> None:
    record = record_step(
        input={"testId": "amount", "text": "7"},
        field=TypedField(test_id="amount"),
        error={"message": "cannot type '7' within 17 s", "details": {"args": ["7", 7]}},
    )

    assert record["outcome"]["error"] == {
        "message": f"cannot type '{MARK}' within 17 s",
        "details": {"args": [MARK, MARK]},
    }


def test_typed_secret_is_redacted_from_later_steps() -> None:
    secrets = SecretTexts()
    record_step(secrets=secrets, input={"a11yRef": "e1", "text": "hunter2!"}, field=PASSWORD_FIELD)

    later = record_step(
        secrets=secrets,
        tool="mm_wait_for",
        input={"selector": "text=hunter2!"},
        error={"message": "no HUNTER2! at https://x.test/?q=hunter2%21"},
        observation=make_observation(
            url="https://x.test/#/hunter2!/b", ids={"echo": "It is hunter2!."}, names=["hunter2!"]
        ),
    )

    assert later["tool"]["input"] == {"selector": f"text={MARK}"}
    assert later["outcome"]["error"] == {"message": f"no {MARK} at https://x.test/?q={MARK}"}
    assert later["observation"]["state"]["currentUrl"] == f"https://x.test/#/{MARK}/b"
    assert (texts_of(later), names_of(later)) == ({"echo": f"It is {MARK}."}, [MARK])


def test_account_address_is_not_a_secret() -> None:
    secrets = SecretTexts()
    record_step(secrets=secrets, input={"a11yRef": "e1", "text": ADDRESS}, field=PASSWORD_FIELD)

    assert names_of(record_step(secrets=secrets, observation=make_observation(names=[ADDRESS]))) == [ADDRESS]


def test_phrase_words_are_redacted_only_when_they_stand_alone() -> None:
    """But not as a part of other words, nor of what names an element."""
    secrets = SecretTexts([PHRASE])

    record = record_step(
        secrets=secrets,
        observation=make_observation(names=["tent", "1. Tent", "Content", "omit!", "Raise the limit"]),
        error={"message": "expected crane omit tent, found detail"},
    )

    assert names_of(record) == [MARK, f"1. {MARK}", "Content", f"{MARK}!", f"{MARK} the limit"]
    assert record["outcome"]["error"]["message"] == f"expected {MARK}, found {MARK}"


def test_percent_encoded_words_of_a_phrase_are_redacted() -> None:
    encoded = [f"%{ord(word[0]):02x}{word[1:]}" for word in PHRASE.split()]
    known = SecretTexts([PHRASE])

    assert known.redact_words(f"/find?q={encoded[0]}&page=2") == f"/find?q={MARK}&page=2"
    assert known.redact(" ".join(encoded[2:6])) == MARK
    assert redact_shapes("%20".join(encoded), lambda _: False) == MARK
    assert redact_shapes("%2520".join(each.replace("%", "%25") for each in encoded), lambda _: False) == MARK


def test_encoded_secrets_are_redacted_at_every_alignment() -> None:
    secret = "pass?>wörd~~12"
    encode = base64.b64encode
    texts = SecretTexts([secret])

    def spellings(text: str) -> list[str]:
        data = text.encode()
        standard, url_safe = encode(data).decode(), base64.urlsafe_b64encode(data).decode()
        return [
            standard,
            url_safe,
            quote(standard, safe=""),
            standard.rstrip("="),
            data.hex(),
            data.hex().upper(),
        ]

    for around in ("", "x", "xy"):
        for spelling in spellings(f"{around}{secret}{around}"):
            redacted = texts.redact(f"sent {spelling} to it")
            assert redacted.startswith("sent ")
            assert redacted.endswith(" to it")
            assert MARK in redacted
            assert len(redacted) <= len(f"sent {MARK} to it") + 16, spelling
    record = record_step(
        input={"testId": "password", "text": secret},
        field=PASSWORD_FIELD,
        observation=make_observation(
            names=[f"Basic {encode(secret.encode()).decode()}", secret.encode().hex(" ")]
        ),
    )
    assert names_of(record) == [f"Basic {MARK}", MARK]


@pytest.mark.parametrize("first", [0xFF21, 0x1D400, 0x24B6], ids=["full width", "bold", "circled"])
def test_secrets_in_other_unicode_letter_forms_are_redacted(first: int) -> None:
    def spell(text: str) -> str:
        forms = {65 + at: first + at for at in range(26)}
        small = 0x20 if first == 0xFF21 else 26
        return text.translate(forms | {97 + at: first + small + at for at in range(26)})

    words = [spell(word) for word in PHRASE.split()]

    assert redact_shapes(" ".join(words), lambda _: False) == MARK
    assert redact_shapes("\u3000".join(words), lambda _: False) == MARK
    assert redact_shapes(" ".join("\u200b".join(word) for word in words), lambda _: False) == MARK
    assert redact_shapes(f"key {spell('ab' * 32)}", lambda _: False) == f"key {MARK}"
    assert SecretTexts([PHRASE]).redact_words(f"the word is {words[0]}!") == f"the word is {MARK}!"
    assert redact_shapes(" ".join(words[:4]), lambda _: False) == " ".join(words[:4])


def test_phrase_words_are_redacted_from_selectors_and_candidates() -> None:
    """A page names what comes closest to a selector, and a call names what it looks for."""
    said = 'No element found matching selector "text=omit". Closest on the page: button "tent" (#tent-1)'
    record = record_step(
        secrets=SecretTexts([PHRASE]),
        input={"selector": "text=omit", "within": {"selector": ".crane >> text=Cradle"}},
        error={"message": said, "details": {"closest": ['button "tent" (#tent-1)'], "selector": "text=omit"}},
    )

    assert record["tool"]["input"] == {
        "selector": f"text={MARK}",
        "within": {"selector": f".crane >> text={MARK}"},
    }
    assert record["tool"]["target"] == {"selector": f"text={MARK}"}
    assert record["outcome"]["error"] == {
        "message": f'No element found matching selector "text={MARK}". Closest on the page: '
        f'button "{MARK}" (#tent-1)',
        "details": {"closest": [f'button "{MARK}" (#tent-1)'], "selector": f"text={MARK}"},
    }


SHOWN = {f"seed-chip-{number}": word for number, word in enumerate(("ocean", "harbor", "velvet"))}


def test_errors_about_a_secret_screen_keep_interface_words_only() -> None:
    """Also in the step that comes from it, and where the page was not seen."""
    secrets, revealing = SecretTexts(), set[str]()
    missing = 'No element found matching selector "[data-testid="nothing"]". Closest on the page: '
    closest = (
        'button "Next" (#go); text "harbor" (.chips > :nth-child(2)); listitem "3. velvet"; link "Ocean"'
    )

    def record_after(observation: StepObservation | None, **given: Any) -> dict[str, Any]:
        return make_record(
            step("mm_click", ok=False, observation=observation, **given),
            RepositoryFacts(),
            RedactionRules(),
            secrets=secrets,
            revealing=revealing,
        )

    there = record_after(
        make_observation(screen="onboarding-srp", ids=SHOWN),
        input={"testId": "nothing"},
        error={"code": "X", "message": missing + closest, "details": {"closest": closest.split("; ")}},
    )
    failed = record_after(None, input={"selector": "text=meadow"}, error={"code": "X", "message": closest})
    left = record_after(
        make_observation(screen="home"),
        input={"selector": ':has-text("meadow")', "within": "li >> text=meadow"},
    )
    elsewhere = record_after(make_observation(screen="home"), input={"selector": "text=meadow"})

    assert there["outcome"]["error"]["message"] == (
        f'No element found matching selector "{MARK}"{MARK}"]". Closest on the page: '
        f'button "Next" (#go); text "{MARK}" (.chips > :nth-child(2)); listitem "{MARK}"; link "{MARK}"'
    )
    assert there["tool"]["target"] == {"testId": "nothing"}
    assert failed["outcome"]["error"]["message"].count(MARK) == 3
    written = json.dumps([there, failed, left])
    assert [word for word in ("ocean", "harbor", "velvet", "meadow") if word in written.lower()] == []
    assert elsewhere["tool"]["target"] == {"selector": "text=meadow"}


def test_phrase_word_in_a_test_id_is_redacted() -> None:
    ids = {"seed-ocean": "ocean", "seed-harbor": "harbor", "seed-next": "Next"}

    record = record_step(
        observation=make_observation(screen="onboarding-srp", ids=ids), input={"testId": "seed-ocean"}
    )

    assert [*texts_of(record)] == [f"seed-{MARK}", "seed-next"]
    assert record["tool"]["target"] == {"testId": f"seed-{MARK}"}


def test_screenshot_path_is_not_redacted_as_a_token() -> None:
    path = (
        "/home/ada/Work4Wallets/extension/test-artifacts/llm-knowledge/mm-0f3a9c/screenshots/20260115T1.png"
    )

    record = record_step(screenshot={"path": path, "width": 1, "height": 1})

    assert record["artifacts"]["screenshot"]["path"] == path


def test_phrase_typed_word_by_word_is_redacted() -> None:
    secrets = SecretTexts()
    for number, word in enumerate(PHRASE.split()):
        record_step(secrets=secrets, input={"testId": f"import-srp__srp-word-{number}", "text": word})

    record = record_step(
        secrets=secrets,
        observation=make_observation(ids={"account-list-item-content": "Short list"}, names=["tent"]),
        error={"message": PHRASE},
    )

    assert (names_of(record), texts_of(record)) == ([MARK], {"account-list-item-content": f"{MARK} list"})
    assert record["outcome"]["error"]["message"] == MARK


def test_number_of_remembered_secrets_is_limited() -> None:
    secrets = SecretTexts(f"secret number {number}" for number in range(1_000))

    assert len(secrets.search_hints) == 64 * 5  # Each is also encoded in four ways.
    assert "secret number 999" in secrets
    assert "secret number 1," not in secrets
    assert "999" not in repr(secrets)


# What is shown


@pytest.mark.parametrize(
    "mark", ["recovery-phrase-chips", "srp_stage", "reveal-seed-words", "srpChips", "privateKey"]
)
def test_a_screen_that_shows_a_phrase_keeps_interface_words_only(mark: str) -> None:
    """Test ids, roles and refs stay, so that it can be found."""
    words = PHRASE.split()
    record = record_step(
        tool="mm_describe_screen",
        observation=StepObservation(
            state={"currentScreen": "unknown"},
            test_ids=[
                {"testId": mark, "tag": "div", "text": PHRASE},
                {"testId": "next", "tag": "button", "text": "Next"},
            ],
            nodes=[
                {
                    "ref": "e1",
                    "role": "heading",
                    "name": "Write down your Secret Recovery Phrase",
                    "path": [],
                },
                {
                    "ref": "e2",
                    "role": "button",
                    "name": words[0],
                    "path": ["dialog:Reveal", f"heading:{words[1]}"],
                },
                {"ref": "e3", "role": "button", "name": "Step 2 of 3", "path": []},
                {"ref": "e4", "role": "button", "name": "next", "path": []},
            ],
        ),
    )

    assert record["observation"]["testIds"] == [
        {"testId": mark, "tag": "div", "visible": True, "text": MARK},
        {"testId": "next", "tag": "button", "visible": True, "text": "Next"},
    ]
    assert record["observation"]["a11y"]["nodes"] == [
        {"ref": "e1", "role": "heading", "name": "Write down your Secret Recovery Phrase", "path": []},
        {"ref": "e2", "role": "button", "name": MARK, "path": ["dialog:Reveal", f"heading:{MARK}"]},
        {"ref": "e3", "role": "button", "name": "Step 2 of 3", "path": []},
        {"ref": "e4", "role": "button", "name": MARK, "path": []},
    ]


def test_secret_screen_is_recognized_by_its_name() -> None:
    assert names_of(record_step(observation=make_observation(screen="onboarding-srp", names=["zebra"]))) == [
        MARK
    ]
    assert names_of(
        record_step(observation=make_observation(screen="onboarding-welcome", names=["zebra"]))
    ) == ["zebra"]


def test_screens_without_secrets_keep_their_texts() -> None:
    """Where a password is asked for, or tokens are listed, nothing is shown that is secret."""
    record = record_step(
        observation=make_observation(ids={"unlock-password": "Your MetaMask", "token-list": "DAI"})
    )

    assert texts_of(record) == {"unlock-password": "Your MetaMask", "token-list": "DAI"}


def test_phrase_shown_in_chips_is_redacted_on_any_screen() -> None:
    record = record_step(observation=make_observation(names=[*PHRASE.split(), "Continue", "Zebra crossing"]))

    assert names_of(record) == [*[MARK] * 12, "Continue", MARK]


def test_displayed_phrase_is_redacted_from_later_steps() -> None:
    secrets = SecretTexts()
    chips = {
        f"recovery-phrase-chip-{number}": f"{number}. {word}" for number, word in enumerate(PHRASE.split(), 1)
    }
    record_step(secrets=secrets, observation=make_observation(ids=chips))

    assert names_of(record_step(secrets=secrets, observation=make_observation(names=["tent", "Send"]))) == [
        MARK,
        "Send",
    ]


# What is secret by its form


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (f"key {HASH}!", f"key {MARK}!"),
        (f"from {ADDRESS}", f"from {ADDRESS}"),
        (f"it is {PHRASE}.", f"it is {MARK}."),
        (PHRASE.replace(" ", "\n"), MARK),
        (" ".join(f"{number}. {word}" for number, word in enumerate(PHRASE.split(), 1)), f"1. {MARK}"),
        (json.dumps(PHRASE.split()), f'["{MARK}"]'),
        (PHRASE.upper(), MARK),
        (f"jwt {JWT} end", f"jwt {MARK} end"),
        ("Authorization: Bearer abc.def", f"Authorization: {MARK}"),
        ("curl -H 'X: bearer abc'", f"curl -H 'X: bearer {MARK}'"),
        (f"vault: {VAULT} end", f"vault: {MARK} end"),
        (f"escaped: {json.dumps(VAULT)}", f'escaped: "{MARK}"'),
        ('{"password": "a\\"b", "n": 1}', f'{{"password": "{MARK}", "n": 1}}'),
        ('{"pin":4821}', f'{{"pin":{MARK}}}'),
        ("PASSWORD=hunter2", f"PASSWORD={MARK}"),
        ("https://user:pass@host.test/x", f"https://{MARK}@host.test/x"),
        ("https://user:pa/ss@host.test/x", f"https://{MARK}@host.test/x"),
        ("http://localhost:8545/@scope/x", "http://localhost:8545/@scope/x"),
        (
            "https://h.test/?token=a&b=c#access_token=d&e=f",
            f"https://h.test/?token={MARK}&b=c#access_token={MARK}&e=f",
        ),
        ("https://h.test/cb?code=ab&to%6Ben=x", f"https://h.test/cb?code={MARK}&to%6Ben={MARK}"),
        ("https://h.test/?id=9f86d081884c7d659a2f", f"https://h.test/?id={MARK}"),
        ("https://h.test/v3/9f86d081884c7d659a2feaa0c55ad015", f"https://h.test/v3/{MARK}"),
        (f"https://h.test/?a={ADDRESS}", f"https://h.test/?a={ADDRESS}"),
        (f"https://h.test/?a={quote(PHRASE)}", f"https://h.test/?a={MARK}"),
        (f"https://h.test/#{quote(VAULT)}", f"https://h.test/#{MARK}"),
        (
            "chrome-extension://abcdefghijklmnopabcdefghijklmnop/home.html#onboarding/create-password-and-more",
            "chrome-extension://abcdefghijklmnopabcdefghijklmnop/home.html#onboarding/create-password-and-more",
        ),
        (
            "https://h.test/articles/how-to-write-part-2-of-2024",
            "https://h.test/articles/how-to-write-part-2-of-2024",
        ),
        ('[data-testid="confirm-footer-button"]', '[data-testid="confirm-footer-button"]'),
        ("-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----", MARK),
        (
            "Timeout 30000ms exceeded waiting for locator('#a')",
            "Timeout 30000ms exceeded waiting for locator('#a')",
        ),
    ],
)
def test_secrets_are_recognized_by_their_format(text: str, kept: str) -> None:
    assert message(text) == kept


@pytest.mark.parametrize(
    ("each", "between"),
    [
        ("- {word}", "\n"),
        ("• {word}", " "),
        ("({number}) {word}", " "),
        ("#{number} {word}", " "),
        ("[{number}] {word}", "\n"),
        ("{number} - {word}", "\n"),
        ("{number}={word}", " "),
        ("{number}{word}", " "),
        ("①②③④⑤⑥⑦⑧⑨⑩⑪⑫ {word}", " "),
        ("{word}", " / "),
        ("{word}", " → "),
        ("{word}", "、"),
        ("“{word}”", " "),
        ("`{word}`", " "),
        *(("{word}", joiner) for joiner in "-_./:=&#"),
    ],
)
def test_phrase_that_nobody_typed_is_recognized_in_any_list(each: str, between: str) -> None:
    words = enumerate(PHRASE.split(), 1)
    text = between.join(each.format(number=number, word=word) for number, word in words)
    secrets = SecretTexts()

    record = record_step(
        secrets=secrets, error={"message": text}, observation=make_observation(names=[text], ids={"a": text})
    )

    kept = json.dumps([record["outcome"]["error"]["message"], names_of(record), texts_of(record)])
    assert [word for word in PHRASE.split() if word in kept] == []
    assert PHRASE in secrets


def test_words_of_an_identifier_are_no_phrase() -> None:
    selector = ".account-list_item.menu:hover/header-title=button&small-icon.left-side .first-child"

    assert message(selector) == selector


def test_secrets_are_redacted_from_every_part_of_a_record() -> None:
    record = record_step(
        tool="mm_navigate",
        input={"screen": "url", "url": f"https://h.test/?t={JWT}", "selector": HASH},
        error={"message": HASH, "details": {"at": [{"url": f"https://h.test/?token={JWT}"}]}},
        observation=make_observation(
            url=f"https://h.test/?x={JWT}", ids={"tx": HASH}, names=[f"Link https://u:p@h.test {HASH}"]
        ),
    )

    text = json.dumps(record)
    assert JWT not in text
    assert HASH not in text
    assert "u:p@" not in text


# Inputs


def test_only_top_level_fixture_keys_are_recorded() -> None:
    fixture = {"data": {"KeyringController": {"vault": VAULT}}, "meta": {"version": 74}}

    record = record_step(
        tool="mm_launch", input={"stateMode": "custom", "fixture": fixture, "ports": {"anvil": 8545}}
    )

    assert record["tool"]["input"] == {
        "stateMode": "custom",
        "fixture": {"data": MARK, "meta": MARK},
        "ports": {"anvil": 8545},
    }


def test_value_under_a_secret_key_is_redacted_at_any_depth() -> None:
    given = {
        "a": [
            {"userPassword": {"x": "y"}, "seed_phrase": ["z"], "PIN": 4821, "tokenSymbol": "DAI", "pin": None}
        ]
    }

    assert record_step(tool="x", input=given)["tool"]["input"] == {
        "a": [{"userPassword": MARK, "seed_phrase": MARK, "PIN": MARK, "tokenSymbol": "DAI", "pin": None}]
    }


def test_value_under_a_secret_key_is_redacted_elsewhere_too() -> None:
    record = record_step(
        tool="x", input={"a": {"password": "hunter2!"}}, error={"message": "hunter2! is wrong"}
    )

    assert record["outcome"]["error"]["message"] == f"{MARK} is wrong"


def test_secret_truncated_in_the_middle_is_redacted() -> None:
    secrets = SecretTexts(["hunter2hunter2"])

    assert names_of(
        record_step(secrets=secrets, observation=make_observation(names=["It is hunter2hunt…"]))
    ) == [f"It is {MARK}…"]


# All doors


Door = Callable[[str], RawStep]
DOORS: dict[str, Door] = {
    "typed by ref": lambda secret: step(input={"a11yRef": "e1", "text": secret}, field=PASSWORD_FIELD),
    "typed by selector": lambda secret: step(input={"selector": "#x", "text": secret}, field=PASSWORD_FIELD),
    "typed by test id": lambda secret: step(input={"testId": "unlock-password", "text": secret}),
    "typed somewhere unknown": lambda secret: step(input={"a11yRef": "e9", "text": secret}),
    "nested": lambda secret: step("x", input={"a": [{"password": secret}]}),
    "a fixture": lambda secret: step("mm_launch", input={"fixture": {"data": {"k": {"mnemonic": secret}}}}),
}
"""By which the store learns of a secret."""

WINDOWS: dict[str, Door] = {
    "a URL": lambda text: step(
        "x", observation=make_observation(url=f"https://h.test/p/{text}?a={text}#{text}")
    ),
    "an encoded URL": lambda text: step(
        "x", observation=make_observation(url=f"https://h.test/?a={quote(text)}")
    ),
    "a selector": lambda text: step("x", input={"selector": f"text={text}"}),
    "an input": lambda text: step("x", input={"a": {"b": [f"<{text}>"], text: 1}}),
    "an error": lambda text: step(
        "x", error={"code": "X", "message": f"no “{text}” in it", "details": {"d": text}}
    ),
    "its JSON": lambda text: step("x", error={"code": "X", "message": json.dumps({"a": text})}),
    "a test id's text": lambda text: step(
        "x", observation=make_observation(ids={"a": f"You typed {text} here"})
    ),
    "a name": lambda text: step("x", observation=make_observation(names=[text, f"Copy {text}"])),
    "a path": lambda text: step(
        "x",
        observation=StepObservation(state={}, nodes=[{"ref": "e1", "role": "a", "path": [f"dialog:{text}"]}]),
    ),
    "a secret screen": lambda text: step(
        "x", observation=make_observation(screen="onboarding-srp", ids={"srp": text})
    ),
    "the account": lambda text: step(
        "x", observation=StepObservation(state={"networkName": text, "balance": text})
    ),
    "a screenshot": lambda text: step("x", screenshot={"path": f"shots/{text}.png", "width": 1, "height": 1}),
    "typed again": lambda text: step(
        input={"testId": "note", "text": text}, field=TypedField(test_id="note")
    ),
}
"""Where it may show up."""

CHANGES: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "capitals": str.upper,
    "small": str.lower,
    "quoted": quote,
    "quoted twice": lambda text: quote(quote(text, safe=""), safe=""),
    "plus": quote_plus,
    "JSON": lambda text: json.dumps(text)[1:-1],
    "spaces": lambda text: text.replace(" ", "\u00a0"),
}

TYPED = st.text(
    alphabet=st.characters(categories=["Lu", "Ll", "Nd", "Po", "Sm", "Zs"], exclude_characters="…."),
    min_size=8,
    max_size=40,
).filter(
    lambda text: len("".join(text.split())) >= 8 and not set(text.lower()) <= set("redacted [].0123456789,")
)
SECRETS = st.one_of(
    TYPED, st.sampled_from([PHRASE, JWT, HASH, VAULT, 'p4ss "wörd" & <more>/\\+💡', "a%41b%2541c\\n"])
)


def spellings(secret: str) -> set[str]:
    plain = {change(secret) for name, change in CHANGES.items() if name not in ("capitals", "small")}
    return {text.strip().casefold() for text in plain | {json.dumps(each)[1:-1] for each in plain}}


@functools.cache
def words_of_the_files() -> str:
    """Return what the files say themselves: names of columns and fields, which a secret may happen to be."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "knowledge"
        store = KnowledgeStore(root)
        store.record(DOORS["typed by ref"]("@"))
        store.list_last(10)
        store.close()
        files = [path for path in root.rglob("*") if path.is_file()]
        return "\n".join(path.read_bytes().decode("utf-8", "replace") for path in files).casefold()


@examples(100)
@given(
    secret=SECRETS,
    door=st.sampled_from([*DOORS]),
    screens=st.lists(
        st.tuples(st.sampled_from([*WINDOWS]), st.sampled_from([*CHANGES])), min_size=1, max_size=4
    ),
)
@example(secret=PHRASE, door="typed by ref", screens=[(window, "as it is") for window in WINDOWS])
@example(secret="hunter2 & co", door="a fixture", screens=[(window, "quoted") for window in WINDOWS])
@example(secret="0000000\u1fd2", door="typed by ref", screens=[(window, "capitals") for window in WINDOWS])
def test_planted_secret_is_written_to_no_file(secret: str, door: str, screens: list[tuple[str, str]]) -> None:
    assume(not any(spelling in words_of_the_files() for spelling in spellings(secret)))
    with tempfile.TemporaryDirectory() as folder:
        store = KnowledgeStore(Path(folder) / "knowledge")
        store.record(DOORS[door](secret))
        for window, change in screens:
            store.record(WINDOWS[window](CHANGES[change](secret)))
        store.screenshot_path("mm-abcdef", secret, AT)
        store.list_last(10)
        store.close()
        files = [path for path in (Path(folder) / "knowledge").rglob("*") if path.is_file()]
        written = "\n".join(
            [*map(str, files), *(path.read_bytes().decode("utf-8", "replace") for path in files)]
        )

    assert [spelling for spelling in spellings(secret) if spelling in written.casefold()] == []


@examples(100)
@given(
    window=st.sampled_from([*WINDOWS]),
    secret=st.sampled_from([PHRASE, JWT, HASH]),
    change=st.sampled_from([*CHANGES]),
)
def test_secret_recognized_by_format_is_always_redacted(window: str, secret: str, change: str) -> None:
    if change == "quoted twice" or (window, change) == ("a name", "plus"):
        change = "as it is"

    record = make_record(WINDOWS[window](CHANGES[change](secret)), RepositoryFacts(), RedactionRules())

    text = json.dumps(record).casefold()
    assert [spelling for spelling in spellings(secret) if spelling in text] == []


def test_texts_beyond_the_limit_of_values_are_left_out() -> None:
    kept = json.dumps(Sanitiser(RedactionRules(), SecretTexts()).clean_data([["text"] * 60] * 60))

    assert 300 < kept.count("text") < 400


def test_long_text_that_begins_with_white_space_is_cut() -> None:
    kept = Sanitiser(RedactionRules(), SecretTexts()).clean_data({"script": "\n" * 100_000 + "end"})

    assert kept == {"script": "…"}


def test_long_texts_are_not_decoded_in_search_of_a_phrase() -> None:
    with limit_processor_time(0.2):
        assert find_phrase("%61" * 2_000_000) is None


def test_many_encoded_secrets_are_redacted_together() -> None:
    secrets = [f"secret-{at:02}" for at in range(64)]
    encoded = " ".join("".join(f"%{ord(char):02x}" for char in secret) for secret in secrets)
    texts = SecretTexts(secrets)

    with limit_processor_time(0.5):
        redacted = {texts.redact(encoded) for _ in range(20)}

    assert redacted == {" ".join([MARK] * 64)}


def test_of_overlapping_secrets_nothing_is_left() -> None:
    texts = SecretTexts(["alpha-bravo-12", "bravo-12-charlie", "a" * 150, "a" * 149 + "b"])
    with limit_processor_time(0.5):
        redacted = texts.redact(f"ALPHA-bravo-12-charlie bravo-12-charlie {'a' * 4_000}b")

    assert redacted.startswith(f"{MARK} {MARK} {MARK}")
