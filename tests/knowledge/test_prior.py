"""What earlier steps tell of a screen."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

from footlight.knowledge.index import Index
from footlight.knowledge.prior import Prior, prior
from tests.knowledge.recorded import START, in_seconds, record, write

NOW = START + timedelta(hours=47)
NOTHING = ((), ())


def session(name: str, *records: dict[str, object]) -> list[dict[str, object]]:
    """On the home screen, where it begins with a look."""
    all = [record("mm_describe_screen"), *records]
    return in_seconds([{**each, "sessionId": name} for each in all])


def known(root: Path, *records: dict[str, object]) -> Prior:
    write(root, *records)
    return prior(Index(root), "home", now=NOW)


def test_what_worked_what_failed_and_what_was_there(tmp_path: Path) -> None:
    told = known(
        tmp_path,
        *session(
            "mm-one",
            record("mm_click", screen="settings", a11yRef="e1"),
            record("mm_click", screen="home", selector=".close"),
            record("mm_click", screen="home", testId="token-list-item"),
            record("mm_click", screen="home", ok=False, testId="send-button"),
            record("mm_click", screen="home", ok=False, testId="send-button", code="MM_CLICK_FAILED"),
            record("mm_click", screen="home", ok=False, testId="once"),
            record("mm_wait_for", screen="home", testId="account-menu-icon"),
        ),
        *session("mm-two", record("mm_click", screen="settings", a11yRef="e1")),
    )

    assert told.as_json() == {
        "screen": "home",
        "worked": [
            {"tool": "mm_click", "target": 'button "Account 1"', "leadTo": "settings", "times": 2},
            {"tool": "mm_click", "target": "testId=token-list-item", "times": 1},
        ],
        "avoid": [
            {
                "tool": "mm_click",
                "target": "testId=send-button",
                "failures": 2,
                "lastError": "MM_CLICK_FAILED",
            }
        ],
        "seen": ["account-menu-icon", "token-list-item", "eth-overview-send"],
        "relatedSessions": [
            {"sessionId": "mm-one", "timestamp": "2026-01-15T12:00:07.000Z", "steps": 8, "failed": 3},
            {"sessionId": "mm-two", "timestamp": "2026-01-15T12:00:01.000Z", "steps": 2, "failed": 0},
        ],
    }


def test_what_worked_after_it_failed_is_not_to_be_avoided(tmp_path: Path) -> None:
    """And what failed twice after it had worked is."""
    good, bad = ({"screen": "home", "testId": "x", "ok": ok} for ok in (True, False))

    assert (
        known(
            tmp_path / "a", *session("mm-one", *(record("mm_click", **each) for each in (bad, bad, good)))
        ).avoid
        == ()
    )  # type: ignore[arg-type]
    assert [
        (each.target, each.failures)
        for each in known(
            tmp_path / "b",
            *session("mm-one", *(record("mm_click", **each) for each in (bad, good, bad, bad))),  # type: ignore[arg-type]
        ).avoid
    ] == [("testId=x", 2)]


def test_a_ref_is_never_told(tmp_path: Path) -> None:
    """It means something else by now: role and name do, and where they are not known it is left out."""
    told = known(
        tmp_path,
        *session(
            "mm-one",
            record("mm_click", a11yRef="e2"),
            record("mm_click", a11yRef="e99"),
            *(record("mm_click", ok=False, a11yRef="e98") for _ in range(2)),
        ),
    )

    assert [each.target for each in told.worked] == ['button "Send"']
    assert told.avoid == ()
    assert '"e' not in json.dumps(told.as_json()).replace('"eth-', "")


def test_only_the_last_two_days_count(tmp_path: Path) -> None:
    write(tmp_path, *session("mm-one", record("mm_click", testId="x")))
    index = Index(tmp_path)

    def seen(hours: int, window_hours: int = 48) -> int:
        return len(
            prior(
                index, "home", now=START + timedelta(hours=hours), window=timedelta(hours=window_hours)
            ).worked
        )

    assert [seen(47), seen(49), seen(49, 72), seen(-1)] == [1, 0, 1, 0]


def test_it_is_bounded(tmp_path: Path) -> None:
    """At most 5 that worked, 10 to avoid, 5 test ids, 5 sessions."""
    many = [
        each
        for number in range(12)
        for each in session(
            f"mm-{number:03}",
            record("mm_click", testId=f"good-{number}", seen=([(f"id-{number}", "")], [])),
            *(record("mm_click", ok=False, testId=f"bad-{number}") for _ in range(2)),
        )
    ]
    told = known(tmp_path, *many)

    assert [len(each) for each in (told.worked, told.avoid, told.seen, told.sessions)] == [5, 10, 5, 5]


def test_of_an_unknown_screen_or_a_new_one_nothing_is_known(tmp_path: Path) -> None:
    write(tmp_path, *session("mm-one", record("mm_click", screen="unknown", testId="x", seen=NOTHING)))
    index = Index(tmp_path)
    nothing = {"worked": [], "avoid": [], "seen": [], "relatedSessions": []}

    assert prior(index, "unknown", now=NOW).as_json() == {"screen": "unknown", **nothing}
    assert prior(index, "swap", now=NOW).as_json() == {"screen": "swap", **nothing}
