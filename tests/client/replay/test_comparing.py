"""Comparing two results, and showing the differences."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footlight.client.replay.calls import LoggedCall
from footlight.client.replay.comparison import (
    MISSING,
    Identifiers,
    ReplayDifference,
    compare_results,
    format_differences,
)
from footlight.client.replay.volatile import IgnoredValues
from footlight.protocol.errors import MCPError


def differences(was: Any, now: Any, *ignore: str, ids: Identifiers | None = None) -> list[ReplayDifference]:
    return compare_results(was, now, ids=ids or Identifiers([]), ignored=IgnoredValues.of(ignore))


def test_each_changed_added_or_missing_value_is_a_difference() -> None:
    was = {"a": 1, "b": [1, {"c": "x"}], "gone": None, "same": {"d": [True]}, "kind": [1]}
    now = {"a": 2, "b": [1, {"c": "y"}, 3], "new": 0, "same": {"d": [True]}, "kind": {"0": 1}}

    assert differences(was, now) == [
        ReplayDifference(("a",), 1, 2),
        ReplayDifference(("b", 1, "c"), "x", "y"),
        ReplayDifference(("b", 2), MISSING, 3),
        ReplayDifference(("gone",), None, MISSING),
        ReplayDifference(("kind",), [1], {"0": 1}),
        ReplayDifference(("new",), MISSING, 0),
    ]


@pytest.mark.parametrize(
    ("was", "now"), [(True, 1), (False, 0), (None, False), ("1", 1), ([], {}), ("", None)]
)
def test_similar_values_of_different_types_are_different(was: Any, now: Any) -> None:
    assert differences(was, now) == [ReplayDifference((), was, now)]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=15,
)


@given(json_values)
def test_value_does_not_differ_from_itself(value: Any) -> None:
    assert differences(value, value) == []


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ({"durationMs": 1.5}, {"durationMs": 312}),
        ({"took_ms": 1}, {"took_ms": 2}),
        ({"createdAt": "2026-01-01T10:00:00Z"}, {"createdAt": "yesterday"}),
        ({"timing": {"dns": 1, "tls": [2]}}, {"timing": {"dns": 5}}),
        ({"startTime": 1795349505648}, {"startTime": 1795349519673}),
        ({"port": 9222}, {"port": 9333}),
        ({"sessionId": "0f8e21c4a9"}, {"sessionId": "99aa01c4b1"}),
        ("at http://127.0.0.1:8080/a", "at http://127.0.0.1:9090/a"),
        ("http://localhost:1/", "http://localhost:2/"),
        ("http://[::1]:8080/", "http://[::1]:9090/"),
        ("2026-11-22T12:00:01Z: done", "2026-11-23T01:02:03.5+01:00: done"),
        ("page-2026-11-22T12-00-01-123Z.png", "page-2026-11-23T06-31-47-204Z.png"),
        ("shot_2026-11-22_12.00.01.png", "shot_2026-11-23_06.31.47.png"),
        ("trace-20261122-120001.zip", "trace-20261123-063147.zip"),
        ("out/20261122T120001Z/a", "out/20261123T063147Z/a"),
        ("video-1795349505648.webm", "video-1795349519673.webm"),
        ("run_1795349505/log", "run_1795349519/log"),
        ("saved to /tmp/tmpab12cd_3/x.pdf", "saved to /tmp/tmpzz99_abc/x.pdf"),
        ("timed out after 300ms", "timed out after 301 ms".replace(" ms", "ms")),
        ("took 1.25s", "took 13.5s"),
        ("25/11/2026, 21:59:19", "26/11/2026, 07:01:02"),
        ("on 11/25/2026 9:59:19 PM.", "on 11/26/2026 10:01:02 AM."),
        ("Date: Wed, 25 Nov 2026 21:59:19 GMT", "Date: Thu, 26 Nov 2026 07:01:02 GMT"),
        (
            "Wed Nov 25 2026 21:59:19 GMT+0000 (Coordinated Universal Time)",
            "Thu Nov 26 2026 08:01:02 GMT+0100 (Central European Standard Time)",
        ),
        ("Wed Nov  5 21:59:19 2026", "Thu Nov 26 07:01:02 2026"),
        ("[21:59:19] done at 21:59:20", "[07:01:02] done at 07:01:03"),
        ("21:59:19,123 INFO", "07:01:02,004 INFO"),
        ("report_20261125_215919_554686.pdf", "report_20261126_070102_000001.pdf"),
        ({"epoch": 1795643959}, {"epoch": 1795643960}),
        ({"when": [1795643959.55]}, {"when": [1795643960.12]}),
        ({"seen": 1795349505648}, {"seen": 1795349519673}),
        ("<Page object at 0x7f1fe3c3>", "<Page object at 0x7fd0df67>"),
        ("id 6f1d6a52-3f0e-4c9b-9d57-0a0c3f1d2e4b", "id 0a0c3f1d-3f0e-4c9b-9d57-6f1d6a522e4b"),
    ],
)
def test_volatile_values_are_not_compared(was: Any, now: Any) -> None:
    assert differences(was, now) == []


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ({"durationMs": 1}, {"durationMs": "long"}),
        ({"format": 1}, {"format": 2}),
        ({"time": "08:30"}, {"time": "08:45"}),
        ({"viewport": 1}, {"viewport": 2}),
        ({"id": "e12"}, {"id": "e13"}),
        ({"paid": "a long text"}, {"paid": "another text"}),
        ("http://example.org:80/", "http://example.org:81/"),
        ("3 s", "4 s"),
        ("page-2026-11-22T12-00-01-123Z.png", "page-2026-11-22T12-00-01-123Z.jpg"),
        ("order 20991322-120001", "order 20991322-120002"),
        ("call 1795349505", "call 1795349506"),
        ("12-00-01", "12-00-02"),
        ("2031-05-17T19:30", "2031-05-18T19:30"),
        ("10 items", "12 items"),
        ("show 19:30:00", "show 19:45:00"),
        ("25/11/2026", "26/11/2026"),
        ("25 Nov 2026", "26 Nov 2026"),
        ("1/2/3456 7", "1/2/3456 8"),
        ({"price": 1600000000.0}, {"price": 1600000001.0}),
        ("pays 0xa9059cbb", "pays 0x23b872dd"),
    ],
)
def test_values_that_only_look_volatile_are_compared(was: Any, now: Any) -> None:
    assert len(differences(was, now)) == 1


@pytest.mark.parametrize(
    ("path", "left"),
    [
        ("$", []),
        ("$.rows", ["$.price", '$["a.b"]']),
        ("$.rows[0]", ["$.rows[1].price", "$.rows[1].n", "$.price", '$["a.b"]']),
        ("$.rows[*].price", ["$.rows[0].n", "$.rows[1].n", "$.price", '$["a.b"]']),
        ("$.rows[*]", ["$.price", '$["a.b"]']),
        ('$["a.b"]', ["$.rows[0].price", "$.rows[0].n", "$.rows[1].price", "$.rows[1].n", "$.price"]),
        ("price", ["$.rows[0].n", "$.rows[1].n", '$["a.b"]']),
        ("rows", ["$.price", '$["a.b"]']),
    ],
)
def test_values_under_an_ignored_path_are_not_compared(path: str, left: list[str]) -> None:
    was = {"rows": [{"price": 1, "n": 1}, {"price": 2, "n": 2}], "price": 3, "a.b": 4}
    now = {"rows": [{"price": 5, "n": 5}, {"price": 6, "n": 6}], "price": 7, "a.b": 8}

    reported = [line for line in format_differences(differences(was, now, path)) if line.startswith("$")]

    assert reported == left


@pytest.mark.parametrize("path", ["$a", "$.", "$..a", "$[a]", "$.a[", '$["a]', "$[-1]"])
def test_invalid_ignore_path_is_refused(path: str) -> None:
    with pytest.raises(MCPError, match=r"no path; one is written \$\.data"):
        IgnoredValues.of([path])


def test_new_ids_replace_recorded_ids_also_within_text() -> None:
    calls = [LoggedCall(1, "make", {}), LoggedCall(2, "use", {"id": "note-11111111", "same": "short"})]
    ids = Identifiers(calls)

    ids.learn(
        calls[0],
        {"id": "note-11111111", "unused": "note-33333333", "s": "short", "n": 1, "gone": "note-11111111"},
        {"id": "note-22222222", "unused": "note-44444444", "s": "other", "n": 2},
    )

    assert ids.translate_arguments(
        {"id": "note-11111111", "in": ["note-11111111", "<note-11111111>", "short"]}
    ) == {
        "id": "note-22222222",
        "in": ["note-22222222", "<note-11111111>", "short"],
    }
    assert differences("see /note-11111111/1", "see /note-22222222/1", ids=ids) == []


def test_recorded_id_may_equal_another_new_id() -> None:
    """A server that counts, and that counted before: what was the second is the first now."""
    ids = Identifiers([])
    ids.note("note-0001", "note-0002")
    ids.note("note-0002", "note-0003")

    assert ids.translate_text("note-0001") == "note-0002"
    assert ids.translate_text("note-0002 after note-0001") == "note-0003 after note-0002"
    assert differences(["note-0001", "note-0002."], ["note-0002", "note-0003."], ids=ids) == []


def test_session_name_like_a_word_is_unchanged_in_arguments() -> None:
    ids = Identifiers([])
    ids.note("shop", "replay")

    assert differences("shop opened in 12 ms", "shop opened in 13 ms", ids=ids) == []
    assert differences("shop: opened in 12 ms", "replay: opened in 13 ms", ids=ids) == []
    assert ids.translate_arguments({"text": "shop"}) == {"text": "shop"}


def test_id_not_used_by_later_calls_is_not_translated() -> None:
    calls = [LoggedCall(1, "use", {"id": "note-11111111"}), LoggedCall(2, "make", {})]
    ids = Identifiers(calls)

    ids.learn(calls[1], "note-11111111", "note-22222222")

    assert ids.translate_arguments("note-11111111") == "note-11111111"


def test_long_differences_are_shortened() -> None:
    found = [
        ReplayDifference(("a",), "x" * 500, None),
        ReplayDifference(("text",), "one\ntwo\nthree\n", "one\n2\nthree\n"),
        ReplayDifference(("new",), MISSING, {"b": "ä"}),
    ]

    assert format_differences(found) == [
        "$.a",
        f'  - "{"x" * 159}… [502 chars]',
        "  + null",
        "$.text",
        "  line 1:",
        "    one",
        "  - two",
        "  + 2",
        "    three",
        "$.new",
        '  + {"b": "ä"}',
    ]
    assert format_differences([ReplayDifference((n,), 1, 2) for n in range(13)])[-1] == "… and 3 more"
    long = "".join(f"{n}\n" for n in range(100_000))
    assert len(format_differences([ReplayDifference((), long, long.replace("5", "6"))])) < 20
