"""The earlier steps that are reported for a screen."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

from footlight.knowledge.index.index import Index
from footlight.knowledge.index.prior import PriorKnowledge, find_prior
from footlight.knowledge.rows import PageNode, RecordedTestId, RecordedView
from tests.knowledge.recorded import START, record, space_by_seconds, write

NOW = START + timedelta(hours=47)
NOTHING = ((), ())


def session(name: str, *records: dict[str, object]) -> list[dict[str, object]]:
    """On the home screen, where it begins with a look."""
    all = [record("mm_describe_screen"), *records]
    return space_by_seconds([{**each, "sessionId": name} for each in all])


def find_known(root: Path, *records: dict[str, object]) -> PriorKnowledge:
    write(root, *records)
    return find_prior(Index(root), "home", now=NOW)


def test_worked_failed_and_seen_targets_are_reported(tmp_path: Path) -> None:
    reported = find_known(
        tmp_path,
        *session(
            "mm-one",
            record("mm_click", screen="settings", a11yRef="e1"),
            record("mm_click", screen="home", selector=".close"),
            record("mm_click", screen="home", testId="stays-where-it-is"),
            record("mm_click", screen="home", ok=False, testId="send-button"),
            record("mm_click", screen="home", ok=False, testId="send-button", code="MM_CLICK_FAILED"),
            record("mm_click", screen="home", ok=False, testId="once"),
            record("mm_wait_for", screen="home", testId="account-menu-icon"),
        ),
        *session("mm-two", record("mm_click", screen="settings", a11yRef="e1")),
    )

    assert reported.as_json() == {
        "screen": "home",
        "worked": [
            {"tool": "mm_click", "target": 'button "Account 1"', "leadTo": "settings", "times": 2},
        ],
        "avoid": [
            {
                "tool": "mm_click",
                "target": "testId=send-button",
                "failures": 2,
                "lastError": "MM_CLICK_FAILED",
            }
        ],
        "seen": ["account-menu-icon", "eth-overview-send", "token-list-item"],
        "relatedSessions": [
            {"sessionId": "mm-one", "timestamp": "2026-01-15T12:00:07.000Z", "steps": 8, "failed": 3},
            {"sessionId": "mm-two", "timestamp": "2026-01-15T12:00:01.000Z", "steps": 2, "failed": 0},
        ],
    }


def test_step_that_worked_after_failing_is_not_listed_to_avoid(tmp_path: Path) -> None:
    """And what failed twice after it had worked is."""
    good, bad = ({"screen": "home", "testId": "x", "ok": ok} for ok in (True, False))

    assert (
        find_known(
            tmp_path / "a", *session("mm-one", *(record("mm_click", **each) for each in (bad, bad, good)))
        ).avoid
        == ()
    )  # type: ignore[arg-type]
    assert [
        (each.target, each.failures)
        for each in find_known(
            tmp_path / "b",
            *session("mm-one", *(record("mm_click", **each) for each in (bad, good, bad, bad))),  # type: ignore[arg-type]
        ).avoid
    ] == [("testId=x", 2)]


def test_refs_are_never_reported(tmp_path: Path) -> None:
    """It means something else by now: role and name do, and where they are not known it is left out."""
    reported = find_known(
        tmp_path,
        *session(
            "mm-one",
            *(record("mm_click", ok=False, a11yRef="e98") for _ in range(2)),
            record("mm_click", a11yRef="e99"),
            record("mm_click", screen="settings", a11yRef="e2"),
        ),
    )

    assert [each.target for each in reported.worked] == ['button "Send"']
    assert reported.avoid == ()
    assert '"e' not in json.dumps(reported.as_json()).replace('"eth-', "")


def test_only_steps_of_the_last_two_days_count(tmp_path: Path) -> None:
    write(tmp_path, *session("mm-one", record("mm_click", screen="settings", testId="x")))
    index = Index(tmp_path)

    def count_seen(hours: int, window_hours: int = 48) -> int:
        return len(
            find_prior(
                index, "home", now=START + timedelta(hours=hours), window=timedelta(hours=window_hours)
            ).worked
        )

    assert [count_seen(47), count_seen(49), count_seen(49, 72), count_seen(-1)] == [1, 0, 1, 0]


def test_prior_knowledge_is_bounded(tmp_path: Path) -> None:
    """At most 5 that worked, 10 to avoid, 5 test ids, 5 sessions."""
    many = [
        each
        for number in range(12)
        for each in session(
            f"mm-{number:03}",
            *(
                record("mm_click", ok=False, testId=f"bad-{number}", seen=([(f"id-{number}", "")], []))
                for _ in range(2)
            ),
            record("mm_click", screen="settings", testId=f"good-{number}"),
        )
    ]
    reported = find_known(tmp_path, *many)

    assert [len(each) for each in (reported.worked, reported.avoid, reported.seen, reported.sessions)] == [
        5,
        10,
        5,
        5,
    ]


def make_unlock_records(password_is_right: bool) -> list[dict[str, object]]:
    typed = record("mm_type", screen="unlock", testId="unlock-password")
    clicked = record("mm_click", screen="unlock", testId="unlock-submit")
    after = record(
        "mm_wait_for", screen="home" if password_is_right else "unlock", testId="account-menu-icon"
    )
    return [typed, clicked, {**after, "outcome": {"ok": password_is_right}}]


def find_at_unlock(root: Path, *sessions: tuple[str, list[dict[str, object]]]) -> list[dict[str, object]]:
    for name, steps in sessions:
        looked = record("mm_describe_screen", screen="unlock")
        write(root, *space_by_seconds([{**each, "sessionId": name} for each in (looked, *steps)]))
    return find_prior(Index(root), "unlock", now=NOW).as_json()["worked"]


def test_working_steps_are_reported_in_execution_order(tmp_path: Path) -> None:
    """So that it can be followed. The last of it is what led on, though that was seen only later."""
    assert find_at_unlock(tmp_path, ("mm-one", make_unlock_records(True))) == [
        {"tool": "mm_type", "target": "testId=unlock-password", "times": 1},
        {"tool": "mm_click", "target": "testId=unlock-submit", "leadTo": "home", "times": 1},
    ]


def test_steps_that_led_nowhere_are_not_reported_as_working(tmp_path: Path) -> None:
    """As with a wrong password: given up, mended, or left for another place."""
    gone_elsewhere = record("mm_navigate", screen="settings")
    unlocked = [
        {"tool": "mm_type", "target": "testId=unlock-password", "times": 1},
        {"tool": "mm_click", "target": "testId=unlock-submit", "leadTo": "home", "times": 1},
    ]

    assert find_at_unlock(tmp_path / "a", ("mm-one", make_unlock_records(False))) == []
    assert find_at_unlock(tmp_path / "b", ("mm-one", [*make_unlock_records(False), gone_elsewhere])) == []
    assert (
        find_at_unlock(tmp_path / "c", ("mm-one", [*make_unlock_records(False), *make_unlock_records(True)]))
        == unlocked
    )
    assert (
        find_at_unlock(
            tmp_path / "d", ("mm-one", make_unlock_records(True)), ("mm-two", make_unlock_records(False))
        )
        == unlocked
    )


CONNECT = ([("connect-page", ""), ("confirm-btn", "Connect"), ("cancel-btn", "Cancel")], [])
CONFIRM = (
    [("confirm-page", ""), ("confirm-footer-button", "Confirm"), ("amount", "1 ETH"), ("gas", "")],
    [("heading", "Transfer request")],
)
NO_TEST_IDS = ([], [("heading", "Order 17"), ("button", "Pay")])


def make_view(seen: tuple[list[tuple[str, str]], list[tuple[str, str]]]) -> RecordedView:
    ids, nodes = seen
    return RecordedView(
        tuple(RecordedTestId(*each) for each in ids), tuple(PageNode("", *each) for each in nodes)
    )


def test_unnamed_screens_are_recognized_by_their_elements(tmp_path: Path) -> None:
    def make_unnamed(tool: str, seen: object, **target: str) -> dict[str, object]:
        return record(tool, screen="unknown", seen=seen, **target)  # type: ignore[arg-type]

    steps = [
        make_unnamed("mm_wait_for_notification", CONNECT),
        make_unnamed("mm_click", CONFIRM, testId="confirm-btn"),
        make_unnamed("mm_click", NO_TEST_IDS, testId="confirm-footer-button"),
        record("mm_click", screen="home", selector="text=Pay"),
    ]
    write(tmp_path, *space_by_seconds(steps))
    index = Index(tmp_path)

    def find_worked(seen: object) -> list[dict[str, object]]:
        look = make_view(seen)  # type: ignore[arg-type]
        return find_prior(index, "unknown", now=NOW, look=look).as_json()["worked"]

    click = {"tool": "mm_click", "times": 1}
    assert find_worked(CONNECT) == [{**click, "target": "testId=confirm-btn"}]
    more = ([*CONFIRM[0][1:], ("fiat", "2 USD")], [])
    assert find_worked(more) == [{**click, "target": "testId=confirm-footer-button"}]
    another = ([], [("heading", "Order 2041"), ("button", "Pay")])
    assert find_worked(another) == [{**click, "target": 'selector="text=Pay"', "leadTo": "home"}]
    assert find_worked(([("connect-page", "")], [])) == []
    assert find_worked(NOTHING) == []


def test_unknown_or_new_screen_has_no_prior_knowledge(tmp_path: Path) -> None:
    write(tmp_path, *session("mm-one", record("mm_click", screen="unknown", testId="x", seen=NOTHING)))
    index = Index(tmp_path)
    nothing = {"worked": [], "avoid": [], "seen": [], "relatedSessions": []}

    assert find_prior(index, "unknown", now=NOW).as_json() == {"screen": "unknown", **nothing}
    assert find_prior(index, "swap", now=NOW).as_json() == {"screen": "swap", **nothing}
