"""Typing: it replaces the text key by key, and no answer contains it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from footlight.apps.metamask.fixtures import PASSWORD, SEED_PHRASE
from tests.tiers import sample_parameters
from tests.toolsets.metamask.conftest import PIN, Server, log_of

pytestmark = pytest.mark.anyio

SECRET = "zebra-umbrella-1234"
FIELDS = """
    <input data-testid=plain value=before oninput="shown.textContent = this.value">
    <textarea data-testid=area oninput="shown.textContent = this.value.length"></textarea>
    <div contenteditable data-testid=rich role=textbox aria-label=Rich
      oninput="shown.textContent = this.textContent">old</div>
    <input data-testid=off disabled><input data-testid=fixed readonly>
    <button data-testid=button>Button</button>
    <input data-testid=hidden hidden><input type=password data-testid=password aria-label=Password
      oninput="shown.textContent = this.value.length + ' dots'">
    <p id=shown data-testid=shown>-</p>"""


@pytest.fixture
async def fields(app: Server) -> Server:
    await app.show(FIELDS)
    return app


@pytest.mark.sampled(3)
@pytest.mark.parametrize("text", ["after", "é 漢字 🎉", ""])
async def test_typed_text_replaces_the_previous_text(fields: Server, text: str) -> None:
    answer = await fields.call("mm_type", testId="plain", text=text, observe="none")

    assert answer == {"typed": True, "target": "testId:plain"}
    assert await fields.text("shown") == text


async def test_text_is_typed_by_ref_into_a_contenteditable(fields: Server) -> None:
    await fields.call("mm_type", a11yRef=(await fields.refs())["textbox:Rich"], text="new", observe="none")

    assert await fields.text("shown") == "new"


async def test_long_text_is_typed_completely(fields: Server) -> None:
    await fields.call("mm_type", testId="area", text="x" * 20_000, observe="none")

    assert await fields.text("shown") == "20000"


@pytest.mark.sampled(4)
@pytest.mark.parametrize("timeout_ms", sample_parameters([0, 300], 0))
@pytest.mark.parametrize("test_id", ["off", "fixed", "button", "hidden"])
async def test_typing_error_for_a_readonly_element_hides_the_text(
    fields: Server, test_id: str, timeout_ms: int
) -> None:
    reported = await fields.envelope("mm_type", testId=test_id, text=SECRET, timeoutMs=timeout_ms)

    assert reported["error"]["code"] == "MM_TYPE_FAILED"
    assert SECRET not in str(reported)


REFUSED: list[dict[str, Any]] = [
    {"testId": "nowhere", "timeoutMs": 0},
    {"testId": "nowhere", "timeoutMs": 200},
    {"testId": "plain", "selector": "input"},
    {"testId": "plain", "bogus": 1},
    {},
    {"a11yRef": "e999"},
    {"selector": ":::"},
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("arguments", REFUSED, ids=str)
async def test_no_error_contains_the_typed_text(fields: Server, arguments: dict[str, Any]) -> None:
    reported = await fields.envelope("mm_type", text=SECRET, **arguments)

    assert not reported["ok"]
    assert SECRET not in str(reported)


@pytest.mark.slow
async def test_answers_log_and_knowledge_contain_no_password(fields: Server) -> None:
    ref = (await fields.refs())["textbox:Password"]
    reported = [
        await fields.envelope("mm_type", testId="password", text=SECRET),
        await fields.envelope("mm_type", a11yRef=ref, text=SECRET),
        await fields.envelope("mm_type", selector="[type=password]", text=SECRET),
        await fields.envelope("mm_type", selector="[type=password]", text=SECRET, bogus=True),
        await fields.envelope("mm_type", testId="button", text=SECRET, timeoutMs=0),
    ]

    assert [each["ok"] for each in reported] == [True, True, True, False, False]
    assert await fields.text("shown") == f"{len(SECRET)} dots"
    assert SECRET not in str(reported) + log_of(fields)
    assert [
        path for path in fields.root.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()
    ] == []


async def test_a_secret_is_typed_by_its_name_and_never_shown(fields: Server) -> None:
    """Secrets are given by name and masked everywhere."""
    reported = await fields.envelope("mm_type", testId="plain", text="secret:PIN")
    displayed = await fields.text("shown")
    described = await fields.envelope("mm_describe_screen")

    assert reported["ok"]
    assert displayed == "[secret PIN]"
    assert PIN not in str(reported) + str(described) + log_of(fields)
    assert [path for path in fields.root.rglob("*.json") if PIN in path.read_text("utf-8")] == []
    error = await fields.refused("mm_type", testId="plain", text="secret:NOBODYS")
    assert (error["code"], "PIN" in error["message"]) == ("MM_INVALID_INPUT", True)


@pytest.mark.slow
async def test_phrase_field_that_moves_focus_receives_every_word(app: Server) -> None:
    """Like MetaMask's field, it moves the focus with each space."""
    await app.show("""<div id=words></div><p data-testid=shown id=shown>-</p><script>
        const add = first => {
          const field = document.createElement("input");
          if (first) field.dataset.testid = "srp";
          field.oninput = () => {
            if (field.value.endsWith(" ")) {
              field.value = field.value.trim();
              setTimeout(() => add().focus());
            }
            shown.textContent = [...document.querySelectorAll("input")].map(each => each.value).join("|");
          };
          words.append(field);
          return field;
        };
        add(true)</script>""")

    await app.call("mm_type", testId="srp", text=SEED_PHRASE, observe="none")

    assert await app.text("shown") == SEED_PHRASE.replace(" ", "|")


@pytest.mark.slow
async def test_correct_password_is_accepted_after_a_wrong_one(app: Server) -> None:
    await app.call("mm_click", testId="account-options-menu-button", observe="none")
    await app.call("mm_click", testId="global-menu-lock", observe="none")
    await app.call("mm_wait_for", testId="unlock-password")
    await app.call("mm_type", testId="unlock-password", text="wrong password", observe="none")
    await app.call("mm_click", testId="unlock-submit", observe="none")
    await app.call("mm_wait_for", selector="[role=alert]")
    await app.call("mm_type", testId="unlock-password", text=PASSWORD, observe="none")
    await app.call("mm_click", testId="unlock-submit", observe="none")
    await app.call("mm_wait_for", testId="account-menu-icon")

    assert (await app.call("mm_get_state"))["state"]["currentScreen"] == "home"


async def test_non_string_text_is_refused_without_being_quoted(app: Server) -> None:
    error = await app.refused("mm_type", testId="unlock-password", text=12345678)

    assert (error["code"], error["message"]) == ("MM_INVALID_INPUT", "text: must be a valid string")
    assert "12345678" not in json.dumps(error)
