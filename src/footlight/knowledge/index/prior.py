"""What earlier steps tell of a screen: what worked there, what to leave alone, what to look for.

A screen without a name is known again by what is on it: its test ids, roles and names.

All sessions count, the one that asks too: what it did a minute ago on the same screen is knowledge as good as
any. A ref means nothing any more, so elements are named by test id, selector, or role and name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from footlight.knowledge.index.index import Index
from footlight.knowledge.rows import UNKNOWN, RecordedView, StepRow, plain_tool_name

__all__ = [
    "WINDOW",
    "FailedAction",
    "PriorKnowledge",
    "RelatedSession",
    "WorkedAction",
    "find_prior",
    "summarize_screen",
]

WINDOW = timedelta(hours=48)
"""What is older is of another build, as likely as not."""

MOST_ROWS, MOST_LOOKS = 1000, 60
MOST_WORKED, MOST_AVOIDED, MOST_SEEN, MOST_RELATED = 5, 10, 5, 5
ENOUGH_FAILURES = 2
_WAITING = "wait_for"
_MOVING = frozenset(
    "cleanup close_page close_tab go_back go_forward launch navigate new_page reload switch_tab".split()  # noqa: SIM905
)
"""Tools that leave a screen whatever was done there before."""
ALIKE = 0.5
"""The share of what two screens have together of what either has, from which on they are the same."""

Action = tuple[str, str]
"""Tool and target."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkedAction:
    """An action that was followed by progress, another screen: `lead_to`, if this action led there.

    `times` counts the visits of the screen in which it was.
    """

    tool: str
    target: str
    lead_to: str
    times: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedAction:
    """What failed twice or more there, and not once succeeded after that."""

    tool: str
    target: str
    failures: int
    last_error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RelatedSession:
    """A session that was on the screen: when last, for how many steps, and how many of them failed."""

    session_id: str
    timestamp: str
    steps: int
    failed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorKnowledge:
    """The best of each first; `worked` in the order in which it is to be done, the latest visit first.

    Test ids that were acted on come before those that were only there.
    """

    screen: str
    worked: tuple[WorkedAction, ...] = ()
    avoid: tuple[FailedAction, ...] = ()
    seen: tuple[str, ...] = ()
    sessions: tuple[RelatedSession, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The lists are there even when empty."""
        return {
            "screen": self.screen,
            "worked": [
                _without_empty(tool=w.tool, target=w.target, leadTo=w.lead_to, times=w.times)
                for w in self.worked
            ],
            "avoid": [
                _without_empty(tool=a.tool, target=a.target, failures=a.failures, lastError=a.last_error)
                for a in self.avoid
            ],
            "seen": [*self.seen],
            "relatedSessions": [
                _without_empty(sessionId=r.session_id, timestamp=r.timestamp, steps=r.steps, failed=r.failed)
                for r in self.sessions
            ],
        }


def find_prior(
    index: Index, screen: str, *, now: datetime, window: timedelta = WINDOW, look: RecordedView | None = None
) -> PriorKnowledge:
    """Return what the steps in the window before `now` tell of a screen.

    `look` is what is on it now: without that nothing is known of one that has no name.
    """
    if screen == UNKNOWN and not _features(look or RecordedView()):
        return PriorKnowledge(screen=screen)
    since_ms, until_ms = (round(at.timestamp() * 1000) for at in (now - window, now))
    rows = index.around(screen, since_ms=max(0, since_ms), most=MOST_ROWS, looks=MOST_LOOKS)
    return summarize_screen([row for row in rows if row.at_ms <= until_ms], screen, look)


def summarize_screen(
    rows: Sequence[StepRow], screen: str, look: RecordedView | None = None
) -> PriorKnowledge:
    """Return what steps tell that began or ended on the screen, the latest first."""
    place = _ScreenMatcher(screen, look)
    there = [row for row in rows if place.began(row)]
    acted = [row for row in there if row.target and row.target.lasting]
    return PriorKnowledge(
        screen=screen,
        worked=tuple(_find_worked(there, place))[:MOST_WORKED],
        avoid=tuple(_find_failed(acted))[:MOST_AVOIDED],
        seen=tuple(_rank_test_ids([row for row in rows if place.ended(row)], acted))[:MOST_SEEN],
        sessions=tuple(_find_related([row for row in rows if place.began(row) or place.ended(row)]))[
            :MOST_RELATED
        ],
    )


class _ScreenMatcher:
    """A screen by its name, or where it has none by what is on it."""

    def __init__(self, screen: str, look: RecordedView | None) -> None:
        self._screen = screen
        self._features = _features(look or RecordedView())

    def began(self, row: StepRow) -> bool:
        """Return whether the step began here. One without another before it is where it says."""
        return self._is(row.before, row.seen_before) if row.before else self.ended(row)

    def ended(self, row: StepRow) -> bool:
        return self._is(row.screen, row.look)

    def left(self, row: StepRow) -> bool:
        """Return whether another screen was seen after the step: one that shows nothing is none."""
        return not self.ended(row) and (row.screen != UNKNOWN or bool(_features(row.look)))

    def _is(self, screen: str, look: RecordedView) -> bool:
        if screen != self._screen:
            return False
        return screen != UNKNOWN or _are_alike(self._features, _features(look))


def _features(look: RecordedView) -> frozenset[str]:
    """Return what a screen is known by: its test ids where it has some, else roles with names.

    Numbers change from one time to the next, so they are left out.
    """
    if look.test_ids:
        return frozenset(seen.test_id for seen in look.test_ids)
    return frozenset(
        f"{node.role} {''.join(each for each in node.name if not each.isdigit())}" for node in look.nodes
    )


def _are_alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return bool(one) and len(one & other) >= ALIKE * len(one | other)


def _find_worked(there: Sequence[StepRow], place: _ScreenMatcher) -> list[WorkedAction]:
    """Return the actions of the visits that led on, those of the latest visit first, in the order as done."""
    found: dict[Action, WorkedAction] = {}
    for visit in _visits_with_progress(there, place):
        done = {_action_of(row): row for row in visit if _is_action(row)}  # The last time counts.
        in_order = sorted(done.items(), key=lambda each: each[1].at_ms)
        for (tool, target), row in in_order[-MOST_WORKED:]:
            known = found.get((tool, target))
            lead_to = visit[-1].screen if row is in_order[-1][1] and visit[-1].screen != UNKNOWN else ""
            found[tool, target] = WorkedAction(
                tool=tool,
                target=target,
                lead_to=(known.lead_to if known else "") or lead_to,
                times=1 + (known.times if known else 0),
            )
    return [*found.values()]


def _visits_with_progress(there: Sequence[StepRow], place: _ScreenMatcher) -> list[list[StepRow]]:
    """Return the runs of steps on the screen, each to the one that led on, the latest first.

    Not those that ended because the caller went elsewhere, or that have not ended.
    """
    found: list[list[StepRow]] = []
    visits: dict[str, list[StepRow]] = {}
    for row in reversed(there):
        visit = visits.setdefault(row.session_id, [])
        visit.append(row)
        if place.left(row):
            if plain_tool_name(row.tool) not in _MOVING:
                found.append(visit)
            visits[row.session_id] = []
    return found[::-1]


def _is_action(row: StepRow) -> bool:
    return (
        row.ok
        and not row.is_observation
        and not plain_tool_name(row.tool).startswith(_WAITING)
        and bool(row.target and row.target.lasting)
    )


def _find_failed(acted: Iterable[StepRow]) -> list[FailedAction]:
    failed: dict[Action, list[StepRow]] = {}
    mended: set[Action] = set()
    for row in acted:
        if row.ok:
            mended.add(_action_of(row))  # What failed before that is no reason any more.
        elif _action_of(row) not in mended:
            failed.setdefault(_action_of(row), []).append(row)
    found = [
        FailedAction(tool=tool, target=target, failures=len(rows), last_error=rows[0].code)
        for (tool, target), rows in failed.items()
        if len(rows) >= ENOUGH_FAILURES
    ]
    return sorted(found, key=lambda each: -each.failures)


def _rank_test_ids(rows: Iterable[StepRow], acted: Iterable[StepRow]) -> list[str]:
    used = Counter(row.target.test_id for row in acted if row.ok and row.target and row.target.test_id)
    there = Counter(id for row in rows for id in {seen.test_id: None for seen in row.look.test_ids})
    return sorted(there, key=lambda id: (-used[id], -there[id]))


def _find_related(rows: Iterable[StepRow]) -> list[RelatedSession]:
    sessions: dict[str, list[StepRow]] = {}
    for row in rows:
        sessions.setdefault(row.session_id, []).append(row)
    return [
        RelatedSession(
            session_id=name,
            timestamp=its[0].timestamp,
            steps=len(its),
            failed=sum(1 for row in its if not row.ok),
        )
        for name, its in sessions.items()
    ]


def _action_of(row: StepRow) -> Action:
    return row.tool, row.target.lasting if row.target else ""


def _without_empty(**facts: object) -> dict[str, Any]:
    return {name: fact for name, fact in facts.items() if fact != ""}
