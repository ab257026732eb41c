"""The record of any step is valid under the schema."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footlight.knowledge.records import MAX_RECORD_BYTES, encode_record, make_record
from footlight.knowledge.redaction_rules import RedactionRules
from footlight.knowledge.secret_shapes import MARK
from footlight.knowledge.steps import RawStep, RepositoryFacts, StepObservation, TypedField
from tests.knowledge.schemas import schema_violations
from tests.tiers import examples

AT = datetime(2026, 1, 15, 12, 34, 56, 789_999, tzinfo=UTC)
RULES = RedactionRules()
STATE = {
    "isLoaded": True,
    "currentUrl": "chrome-extension://abcdefghijklmnop/home.html#settings",
    "extensionId": "abcdefghijklmnop",
    "isUnlocked": True,
    "currentScreen": "home",
    "accountAddress": "0x5CfE73b6021E818B776b421B1c4Db2474086a7e1",
    "networkName": "Localhost 8545",
    "chainId": 1337,
    "balance": "25 ETH",
}
PLACEHOLDER = {
    "isLoaded": False,
    "currentUrl": "",
    "extensionId": "",
    "isUnlocked": False,
    "currentScreen": "unknown",
}


def step(tool: str = "mm_click", **given: Any) -> RawStep:
    return RawStep(**{"tool": tool, "session_id": "mm-abcdef", "at": AT, "ok": True, **given})


def record_step(tool: str = "mm_click", **given: Any) -> dict[str, Any]:
    return make_record(step(tool, **given), RepositoryFacts(), RULES)


def test_complete_step_becomes_a_valid_record() -> None:
    record = make_record(
        step(
            duration_ms=12,
            input={"testId": "confirm-footer-button", "timeoutMs": 30_000},
            ok=False,
            error={"code": "MM_CLICK_FAILED", "message": "It is covered", "details": {"by": "dialog"}},
            observation=StepObservation(
                state=STATE,
                test_ids=[
                    {"testId": "confirm-footer-button", "tag": "button", "text": "Confirm", "visible": True}
                ],
                nodes=[
                    {
                        "ref": "e1",
                        "role": "button",
                        "name": "Confirm",
                        "disabled": True,
                        "checked": "mixed",
                        "path": ["dialog:Confirm"],
                    }
                ],
            ),
            screenshot={"path": "shot.png", "width": 1280, "height": 800, "base64": "…"},
        ),
        RepositoryFacts(
            environment={"platform": "linux", "nodeVersion": "v24.0.0", "shell": "sh"},
            git={"branch": "main", "commit": "0" * 40, "dirty": False},
            build={"buildType": "build:test", "extensionPathResolved": "dist/chrome"},
        ),
        RULES,
    )

    assert record == {
        "schemaVersion": 1,
        "timestamp": "2026-01-15T12:34:56.789Z",
        "sessionId": "mm-abcdef",
        "environment": {"platform": "linux", "nodeVersion": "v24.0.0"},
        "git": {"branch": "main", "commit": "0" * 40, "dirty": False},
        "build": {"buildType": "build:test", "extensionPathResolved": "dist/chrome"},
        "tool": {
            "name": "mm_click",
            "input": {"testId": "confirm-footer-button", "timeoutMs": 30_000},
            "target": {"testId": "confirm-footer-button"},
        },
        "timing": {"durationMs": 12},
        "outcome": {
            "ok": False,
            "error": {"code": "MM_CLICK_FAILED", "message": "It is covered", "details": {"by": "dialog"}},
        },
        "observation": {
            "state": STATE,
            "testIds": [
                {"testId": "confirm-footer-button", "tag": "button", "visible": True, "text": "Confirm"}
            ],
            "a11y": {
                "nodes": [
                    {
                        "ref": "e1",
                        "role": "button",
                        "name": "Confirm",
                        "disabled": True,
                        "path": ["dialog:Confirm"],
                    }
                ]
            },
        },
        "artifacts": {"screenshot": {"path": "shot.png", "width": 1280, "height": 800}},
    }
    assert schema_violations(record) == []


def test_record_without_a_page_gets_a_placeholder_observation() -> None:
    record = record_step("mm_launch", session_id=None, ok=False)

    assert record["sessionId"] == "mm-none"
    assert record["observation"] == {"state": PLACEHOLDER, "testIds": [], "a11y": {"nodes": []}}
    assert schema_violations(record) == []


@pytest.mark.parametrize(
    ("given", "id"),
    [
        ("", "mm-none"),
        ("mm", "mm-8fa1dddd"),
        (None, "mm-none"),
        ("mm-1a2b", "mm-1a2b"),
        ("mm-none", "mm-none"),
    ],
)
def test_session_ids_are_normalized(given: str | None, id: str) -> None:
    assert record_step(session_id=given)["sessionId"] == id


@pytest.mark.parametrize(
    "hostile",
    ["../../x", "..\\..\\x", "/etc/passwd", "a/b/c", "index.sqlite", "COM1", "....", "x" * 300, "\0\0\0\0"],
)
def test_hostile_session_id_cannot_leave_the_root_folder(hostile: str) -> None:
    id = record_step(session_id=hostile)["sessionId"]

    assert not set(id) & set('/\\.:*?"<>|\0')
    assert 4 <= len(id) <= 64
    assert id != hostile
    assert record_step(session_id=id)["sessionId"] == id


def test_different_session_ids_stay_different() -> None:
    ids = ["a", "b", "mm", "mm-none", "a/b/c", "a_b_c", "a.b.c", "x" * 300, "x" * 301]

    assert len({record_step(session_id=id)["sessionId"] for id in ids}) == len(ids)


def test_timestamp_is_recorded_in_utc() -> None:
    there = timezone(timedelta(hours=2))

    assert record_step(at=AT.astimezone(there))["timestamp"] == "2026-01-15T12:34:56.789Z"
    assert record_step(at=AT.replace(tzinfo=None))["timestamp"] == "2026-01-15T12:34:56.789Z"


def test_malformed_refs_are_left_out() -> None:
    refs = ["e1", "e12", "f1e2", "e1\n", "E1", "e٣", "", None, 7, "e" + "9" * 5_000]
    record = record_step(
        input={"a11yRef": "f1e2"},
        observation=StepObservation(state=STATE, nodes=[{"ref": ref, "role": "button"} for ref in refs]),
    )

    assert [node["ref"] for node in record["observation"]["a11y"]["nodes"]] == ["e1", "e12", *["e0"] * 8]
    assert "target" not in record["tool"]
    assert record["tool"]["input"] == {"a11yRef": "f1e2"}


def test_non_boolean_state_is_left_out() -> None:
    node = {"ref": "e1", "role": "checkbox", "name": "All", "path": [], "checked": "mixed", "expanded": None}

    assert record_step(observation=StepObservation(state=STATE, nodes=[node]))["observation"]["a11y"][
        "nodes"
    ] == [{"ref": "e1", "role": "checkbox", "name": "All", "path": []}]


def test_unlisted_screen_is_recorded_as_unknown() -> None:
    """Another app's may have any name."""
    looked = step(observation=StepObservation(state={**STATE, "currentScreen": "inbox"}))

    screens = [
        make_record(looked, RepositoryFacts(), RULES, **given)["observation"]["state"]["currentScreen"]
        for given in ({}, {"screens": ["inbox"]}, {"screens": []}, {"screens": None})
    ]

    assert screens == ["unknown", "inbox", "inbox", "inbox"]


def test_long_texts_are_truncated_with_a_mark() -> None:
    record = record_step(
        input={"selector": "x" * 10_000_000, "many": ["x"] * 1_000},
        observation=StepObservation(
            state=STATE,
            test_ids=[
                {"testId": f"id-{number}", "tag": "p", "text": "It is so. " * 300} for number in range(2_000)
            ],
        ),
    )

    assert record["tool"]["input"] == {"selector": "x" * 999 + "…", "many": [*["x"] * 60, "… 940 more"]}
    assert record["tool"]["target"] == {"selector": "x" * 999 + "…"}
    texts = [item["text"] for item in record["observation"]["testIds"]]
    assert texts == [("It is so. " * 60)[:299] + "…"] * 500


@pytest.mark.slow
def test_record_never_exceeds_the_size_limit() -> None:
    big = "💡" * 1_500  # Longer than each text may be.
    record = record_step(
        input={f"{big}{number}": [big] * 100 for number in range(100)},
        error={"code": big, "message": big, "details": {str(number): {big: big} for number in range(100)}},
        observation=StepObservation(
            state={**STATE, "currentUrl": big},
            test_ids=[{"testId": f"{number}{big}", "tag": big, "text": big} for number in range(600)],
            nodes=[{"ref": "e1", "role": big, "name": big, "path": [big] * 50}] * 600,
        ),
    )

    data = encode_record(record)

    assert len(data) <= MAX_RECORD_BYTES
    assert schema_violations(json.loads(data)) == []


def test_nested_values_are_converted_to_plain_json() -> None:
    loop: list[Any] = []
    loop.append(loop)
    given = {
        "a": float("nan"),
        "b": 10**5_000,
        "c": b"bytes",
        "d": {1: {2}},
        "e": (1, 2.5),
        3: None,
        "f": True,
    }

    record = record_step(input={**given, "loop": loop})

    assert record["tool"]["input"] == {
        "a": None,
        "b": None,
        "c": "[bytes]",
        "d": {"1": "[set]"},
        "e": [1, 2.5],
        "3": None,
        "f": True,
        "loop": [[[[[[["…"]]]]]]],
    }


def test_invalid_characters_are_replaced() -> None:
    record = record_step(error={"code": "X", "message": "a\ud800b\x00c\x1b[31md\ne"})

    assert record["outcome"]["error"]["message"] == "a\ufffdb\ufffdc\ufffd[31md\ne"
    assert schema_violations(json.loads(encode_record(record))) == []


HOSTILE = st.one_of(
    st.text(max_size=30),
    st.text(alphabet=st.characters(categories=["Cs", "Cc", "Lu", "Po"]), max_size=30),
    st.sampled_from(
        ["../../x", "mixed", "e1", "f1e2", "https://u:p@h/?token=x#y=z", "x" * 5_000, "{" * 300, "http://["]
    ),
)
VALUES = st.recursive(
    st.one_of(HOSTILE, st.none(), st.booleans(), st.integers(), st.floats(), st.binary(max_size=5)),
    lambda inside: st.lists(inside, max_size=4) | st.dictionaries(HOSTILE, inside, max_size=4),
    max_leaves=8,
)


def mappings(*keys: str) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(st.sampled_from(keys) | HOSTILE, VALUES, max_size=8)


STEPS = st.builds(
    RawStep,
    tool=HOSTILE,
    session_id=st.none() | HOSTILE,
    at=st.datetimes() | st.datetimes(timezones=st.just(UTC)),
    ok=st.booleans(),
    duration_ms=st.integers(),
    input=mappings("text", "value", "testId", "selector", "a11yRef", "fixture", "url"),
    target=st.none() | mappings("testId", "selector", "a11yRef"),
    field=st.none()
    | st.builds(TypedField, type=HOSTILE, autocomplete=HOSTILE, test_id=HOSTILE, hint=HOSTILE),
    error=st.none() | mappings("code", "message", "details"),
    observation=st.none()
    | st.builds(
        StepObservation,
        state=mappings(*STATE),
        test_ids=st.lists(mappings("testId", "tag", "text", "visible"), max_size=5),
        nodes=st.lists(mappings("ref", "role", "name", "path", "checked", "disabled"), max_size=5),
    ),
    screenshot=st.none() | mappings("path", "width", "height"),
)
FACTS = st.builds(
    RepositoryFacts,
    environment=mappings("platform", "nodeVersion", "yarnVersion"),
    git=mappings("branch", "commit", "dirty"),
    build=mappings("buildType", "extensionPathResolved"),
)


@pytest.mark.slow
@examples(100)
@given(step=STEPS, facts=FACTS)
def test_every_step_record_matches_the_schema(step: RawStep, facts: RepositoryFacts) -> None:
    """The same text is read back from its file."""
    record = make_record(step, facts, RULES)

    assert schema_violations(record) == []
    assert json.loads(encode_record(record)) == record


@examples(50)
@given(texts=st.lists(st.text(max_size=60), max_size=5))
def test_sanitizing_a_record_twice_changes_nothing(texts: list[str]) -> None:
    nodes = [{"ref": "e1", "role": "button", "name": text, "path": []} for text in texts]
    once = record_step(observation=StepObservation(state=STATE, nodes=nodes))["observation"]["a11y"]["nodes"]

    assert (
        record_step(observation=StepObservation(state=STATE, nodes=once))["observation"]["a11y"]["nodes"]
        == once
    )
    assert MARK == "[REDACTED]"
