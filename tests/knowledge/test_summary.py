"""The latest steps, one line each, and the recipe of a session."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from footlight.knowledge.index.index import Index
from footlight.knowledge.index.summary import MAX_STEPS, list_last, summarize
from footlight.knowledge.naming import NO_SESSION
from tests.knowledge.recorded import START, record, space_by_seconds, write

SESSION = space_by_seconds(
    [
        record("mm_launch", screen="unlock", input={"stateMode": "default"}),
        record("mm_describe_screen", screen="unlock"),
        record("mm_get_state", screen="unlock"),
        record("mm_get_state", screen="unlock"),
        record("mm_get_state", screen="unlock"),
        record("mm_type", screen="unlock", a11yRef="e2"),
        record("mm_click", screen="home", testId="unlock-submit"),
        record("mm_click", screen="home", ok=False, a11yRef="e77", message="There is\nno e77"),
        record("mm_click", screen="settings", a11yRef="e1"),
        record("mm_screenshot", screen="settings", input={"name": "settings"}),
    ]
)


def test_session_is_summarized_as_a_repeatable_recipe(tmp_path: Path) -> None:
    """Step, tool and notes, in the order of time, from targets, test ids and names.

    A ref is told by the role and name that it had in the observation before: alone it means nothing.
    """
    write(tmp_path, *SESSION)

    assert summarize(Index(tmp_path)) == {
        "sessionId": "mm-one",
        "steps": [
            {"step": 1, "tool": "mm_launch", "notes": "launch stateMode=default → unlock"},
            {
                "step": 2,
                "tool": "mm_describe_screen",
                "notes": "describe_screen on unlock: test ids unlock-page, unlock-password, unlock-submit; "
                'elements textbox "Password", button "Unlock", link "Forgot password?", 1 more',
            },
            {"step": 3, "tool": "mm_get_state", "notes": "get_state on unlock (3 times)"},
            {
                "step": 4,
                "tool": "mm_type",
                "notes": 'type textbox "Password" (24 characters, not kept) on unlock',
            },
            {
                "step": 5,
                "tool": "mm_click",
                "notes": 'click testId=unlock-submit ("Unlock") on unlock → home',
            },
            {
                "step": 6,
                "tool": "mm_click",
                "notes": 'FAILED click e77 (not seen before) on home: MM_TARGET_NOT_FOUND "There is no e77"',
                "failed": True,
            },
            {"step": 7, "tool": "mm_click", "notes": 'click button "Account 1" on home → settings'},
            {
                "step": 8,
                "tool": "mm_screenshot",
                "notes": "screenshot name=settings on settings: test ids settings-page, settings-search, "
                'tab-advanced; elements textbox "Search", button "Advanced", switch "Show test networks", '
                "1 more",
            },
        ],
    }


def test_default_summary_is_of_the_latest_session(tmp_path: Path) -> None:
    """The one whose last step is the latest, whatever the names are."""
    write(tmp_path, record("mm_launch", session_id="mm-zzz"))
    write(tmp_path, record("mm_launch", session_id="mm-aaa", at=START + timedelta(hours=1)))
    index = Index(tmp_path)

    assert summarize(index)["sessionId"] == "mm-aaa"
    assert summarize(index, session_id="mm-zzz")["sessionId"] == "mm-zzz"
    assert summarize(index, session_id="mm-none") == {"sessionId": "mm-none", "steps": []}


def test_empty_store_has_no_recipe(tmp_path: Path) -> None:
    index = Index(tmp_path / "nowhere")

    assert (summarize(index), list_last(index, 5)) == ({"sessionId": None, "steps": []}, [])


def test_long_session_summary_keeps_the_last_steps(tmp_path: Path) -> None:
    """The first steps are those that nobody asks for, and their number is said."""
    records = space_by_seconds(
        [record("mm_click", testId=f"item-{number}") for number in range(MAX_STEPS + 50)]
    )
    write(tmp_path, *records)

    reported = summarize(Index(tmp_path))

    assert (reported["omittedBefore"], len(reported["steps"])) == (50, MAX_STEPS)
    assert (reported["steps"][0]["step"], reported["steps"][-1]["notes"]) == (
        51,
        "click testId=item-149 on home",
    )


def test_long_page_texts_are_truncated_to_one_line(tmp_path: Path) -> None:
    write(tmp_path, record("mm_click", screen="a", seen=([("go", "Line\n" * 100)], []), testId="go"))

    note = summarize(Index(tmp_path))["steps"][0]["notes"]

    assert note == f'click testId=go ("{("Line " * 12)[:59]}…") on a'


def test_latest_steps_are_listed_without_observations(tmp_path: Path) -> None:
    """Timestamp, tool, screen and snippet, the latest first."""
    write(tmp_path, *SESSION[5:9])
    write(tmp_path, record("mm_launch", screen="unlock", session_id="mm-two"))
    index = Index(tmp_path)

    assert list_last(index, 3) == [
        {
            "timestamp": "2026-01-15T12:00:08.000Z",
            "tool": "mm_click",
            "screen": "settings",
            "snippet": 'button "Account 1"',
            "ok": True,
            "sessionId": "mm-one",
        },
        {
            "timestamp": "2026-01-15T12:00:07.000Z",
            "tool": "mm_click",
            "screen": "home",
            "snippet": 'e77 (not seen before) failed: MM_TARGET_NOT_FOUND "There is no e77"',
            "ok": False,
            "sessionId": "mm-one",
        },
        {
            "timestamp": "2026-01-15T12:00:06.000Z",
            "tool": "mm_click",
            "screen": "home",
            "snippet": 'testId=unlock-submit ("Unlock")',
            "ok": True,
            "sessionId": "mm-one",
        },
    ]
    assert [step["sessionId"] for step in list_last(index, 3, session_id="mm-two")] == ["mm-two"]


def test_default_summary_prefers_a_launched_session(tmp_path: Path) -> None:
    """A call that is refused before there is a session has no recipe, unless there is nothing else."""
    refused = record("mm_get_state", session_id=NO_SESSION, at=START + timedelta(days=1), ok=False)
    write(tmp_path, refused)
    alone = summarize(Index(tmp_path))
    write(tmp_path, *SESSION)

    assert (alone["sessionId"], summarize(Index(tmp_path))["sessionId"]) == (NO_SESSION, "mm-one")
