"""The answer of any call is JSON."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footlight.browser.network.downloads import DownloadSeen
from footlight.browser.page.events import DialogSeen, Events, PageOpened
from footlight.errors import FootlightError
from footlight.server.answers import json_values
from footlight.server.answers.answer import AnswerLink, failure, link_to_whole, success
from footlight.server.answers.json_values import PageText, PageTitle, clean

TEXT = st.text(st.characters(categories=["Cs", "Cc", "Lu", "So"]), max_size=8)
"""With halves of surrogate pairs, and control characters."""

SCALARS: st.SearchStrategy[Any] = (
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT | st.datetimes() | st.binary(max_size=4)
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT | st.integers(), inner, max_size=3),
    max_leaves=8,
)


@given(VALUES)
def test_any_value_becomes_valid_utf8_json(value: Any) -> None:
    cleaned = clean(value)

    text = json.dumps(cleaned, ensure_ascii=False, allow_nan=False)

    assert json.loads(text.encode("utf-8")) == cleaned


@given(VALUES)
def test_cleaning_twice_changes_nothing(value: Any) -> None:
    cleaned = clean(value)

    assert clean(cleaned) == cleaned


@given(TEXT, st.dictionaries(st.sampled_from(["page", "path"]), SCALARS))
def test_any_error_becomes_valid_utf8_json(text: str, details: dict[str, Any]) -> None:
    answer = failure(FootlightError(text, suggestion=text, **details))

    assert json.loads(answer.text.encode("utf-8")) == answer.content
    assert not answer.success


@pytest.mark.parametrize(
    ("value", "cleaned"),
    [
        ("\ud83d\ude00", "😀"),
        ("a\ud800b", "a�b"),
        ("\udc00", "�"),
        ({"\ud800": 1}, {"�": 1}),
        (math.inf, None),
        (math.nan, None),
        (-0.0, -0.0),
        (2**80, 2**80),
        ((1, "a"), [1, "a"]),
        ({1: True}, {"1": True}),
        (datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), "2026-01-02T03:04:05+00:00"),
        (date(2026, 1, 2), "2026-01-02"),
        (Path("a/b"), "a/b"),
        ("\x00\x1b", "\x00\x1b"),
    ],
)
def test_values_without_json_form_are_converted(value: Any, cleaned: Any) -> None:
    assert clean(value) == cleaned


def test_circular_reference_is_cut() -> None:
    knot: dict[str, Any] = {"a": 1}
    knot["self"] = [knot]
    part = ["shared"]

    assert clean(knot) == {"a": 1, "self": ["[circular]"]}
    assert clean([part, part]) == [["shared"], ["shared"]]


def test_exponentially_expanding_value_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_values, "MAX_VALUES", 1000)
    value: Any = [1]
    for _ in range(100):
        value = [value, value]

    text = json.dumps(clean(value))

    assert "[cut]" in text
    assert len(text) < 20_000


def test_success_result_includes_events() -> None:
    events = Events()
    events.pages.append(PageOpened("page-2", "http://a.test/"))
    events.dialogs.append(DialogSeen("page-1", "prompt", "Name?", "you", "dismissed"))
    events.dialogs.append(DialogSeen("page-1", "alert", "Hello", "", "accepted"))
    events.downloads.append(DownloadSeen("a.txt", "http://a.test/a", Path("/tmp/a.txt"), None))
    events.downloads.append(DownloadSeen("b.txt", "http://a.test/b", None, "canceled"))

    answer = success({"url": "http://a.test/"}, events=events.take())

    assert answer.content == {
        "success": True,
        "data": {
            "url": "http://a.test/",
            "newPages": [{"pageId": "page-2", "url": "http://a.test/"}],
            "dialogs": [
                {
                    "pageId": "page-1",
                    "type": "prompt",
                    "message": "Name?",
                    "defaultValue": "you",
                    "handled": "dismissed",
                },
                {"pageId": "page-1", "type": "alert", "message": "Hello", "handled": "accepted"},
            ],
            "downloads": [
                {"suggestedFilename": "a.txt", "url": "http://a.test/a", "path": "/tmp/a.txt"},
                {"suggestedFilename": "b.txt", "url": "http://a.test/b", "failure": "canceled"},
            ],
        },
    }
    assert success({}, events=events.take()).content == {"success": True, "data": {}}


def test_long_url_is_whole_only_in_structured_content() -> None:
    url = f"https://site.example/?{'q' * 70_000}"
    answer = success({"entries": [{"url": url, "status": 200}], "url": url, "result": {"url": url}})

    text = json.loads(answer.text)["data"]
    assert text["url"] == text["entries"][0]["url"] == f"{url[:2_000]}…"
    assert text["result"] == {"url": url}
    assert answer.content["data"]["entries"] == [{"url": url, "status": 200}]


def test_link_replaces_the_data_of_a_large_result() -> None:
    events = Events()
    events.dialogs.append(DialogSeen("page-1", "alert", "m" * 2000, "", "accepted"))
    answer = success({"text": "ä" * 3000}, events=events.take())
    link = AnswerLink("playwright:///answer/s/1", "Answer of get_text", "application/json", 9000)

    shortened = link_to_whole(answer, link)

    assert shortened.links == (link,)
    assert shortened.content == {
        "success": True,
        "resource": {"uri": "playwright:///answer/s/1", "mimeType": "application/json", "bytes": 9000},
        "preview": '{"text": "' + "ä" * 1990,
        "dialogs": [
            {
                "pageId": "page-1",
                "type": "alert",
                "message": "m" * 1000 + "… [cut, 2000 characters]",
                "handled": "accepted",
            }
        ],
    }


def test_too_large_error_is_cut() -> None:
    error = FootlightError("m" * 60_000, url="u" * 2_000, candidates=[*range(60)], deep={"a": ["x"]})

    assert failure(error).content["error"] == {
        "code": error.code,
        "message": "m" * 1_000 + "… [cut, 60000 characters]",
        "details": {
            "url": "u" * 1_000 + "… [cut, 2000 characters]",
            "candidates": [*range(50), "[cut, 60 items]"],
            "deep": {"a": ["x"]},
        },
        "retryable": error.retryable,
        "suggestion": error.suggestion,
    }
    short = FootlightError("m" * 2_000, url="u" * 2_000)
    assert failure(short).content["error"]["message"] == "m" * 2_000


@pytest.mark.parametrize(
    ("before", "title", "is_written"),
    [
        ("Log in | Library", "Add author | Library", False),
        ("Library: log in", "Library: Add author", False),
        ("", "Add author | Library", True),
        ("Log in | Library", "Add author | Shop", True),
        ("Add author", "Add author – edited", True),
        ("Book 1 – edited", "Add author – edited", False),
    ],
)
def test_title_is_left_out_where_only_the_site_is_no_heading(
    before: str, title: str, *, is_written: bool
) -> None:
    """The name of the site is what the title of the page before has as well."""
    text = PageText('e1 h1 "Add author"')

    answer = success({}, observation={"text": text, "title": PageTitle.of(title, before)})

    assert ('"title"' in answer.text) == is_written
    assert answer.content["observation"]["title"] == title


@pytest.mark.parametrize(
    ("title", "is_written"),
    [
        ("Add author", False),
        ("Add author – Shop", False),
        ("Add author – edited", True),
        ("Shop", True),
        ("(3) Add author", True),
        ("Library", True),
    ],
)
def test_title_is_left_out_where_the_page_has_it_as_a_heading(title: str, *, is_written: bool) -> None:
    text = PageText('e1 h1 "Add author"\ne2 link "Shop"')

    answer = success({}, observation={"kind": "full", "text": text, "title": title})

    assert ('"title"' in answer.text) == is_written
    assert answer.content["observation"]["title"] == title


HERE = "http://a.test/b"


@pytest.mark.parametrize(
    ("data", "observation", "told"),
    [
        ({"url": HERE}, {"kind": "diff"}, {"data": {"url": HERE}, "observation": {"kind": "diff"}}),
        ({"url": HERE}, {"kind": "full", "url": HERE}, {"data": {"url": HERE}}),
        ({"url": HERE, "finalUrl": HERE, "redirected": False, "status": 200}, {"kind": "full"}, {}),
        (
            {"url": HERE, "finalUrl": HERE, "redirected": True, "status": 404},
            {"kind": "full"},
            {"data": {"url": HERE, "status": 404}},
        ),
        (
            {"url": HERE, "finalUrl": f"{HERE}/c", "redirected": True, "status": 200},
            {"kind": "full"},
            {"data": {"url": HERE, "finalUrl": f"{HERE}/c", "redirected": True}},
        ),
    ],
)
def test_text_of_an_action_leaves_out_what_its_call_says(
    data: dict[str, Any], observation: dict[str, Any], told: dict[str, Any]
) -> None:
    answer = success(data, observation=observation, effect={"effect": "page"})

    assert json.loads(answer.text) == {"success": True, "effect": "page", **told}
    assert answer.content["data"] == data


@pytest.mark.parametrize("observation", [{"kind": "full"}, {"kind": "full", "url": HERE}])
def test_text_of_an_action_leaves_out_a_url_that_the_last_answer_has(observation: dict[str, Any]) -> None:
    answer = success({"url": HERE, "more": 1}, observation=observation, effect={"effect": "page"})
    known = replace(answer, is_url_known=True)

    assert json.loads(known.text) == {"success": True, "data": {"more": 1}, "effect": "page"}
    assert known.content["data"]["url"] == HERE
