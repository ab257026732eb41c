"""Prior knowledge of a screen from earlier steps: what worked, what to avoid, and what was seen.

A screen without a name is identified by its test ids, roles and names.

The steps of all sessions are used, including the current session. Refs are not valid in later snapshots, so
elements are identified by test id, selector, or role and name.
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
"""Maximum age of steps. Older steps often belong to another build."""

MAX_ROWS, MAX_LOOKS = 1000, 60
MAX_WORKED, MAX_AVOIDED, MAX_SEEN, MAX_RELATED = 5, 10, 5, 5
ENOUGH_FAILURES = 2
_WAITING = "wait_for"
_MOVING = frozenset(
    "cleanup close_page close_tab go_back go_forward launch navigate new_page reload switch_tab".split()  # noqa: SIM905
)
"""Tools that leave a screen regardless of earlier actions there."""
ALIKE = 0.5
"""The share of common features above which two screens count as the same (Jaccard index)."""

Action = tuple[str, str]
"""A tool and a target."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkedAction:
    """An action that was followed by another screen. `lead_to` is that screen if this action led to it.

    `times` is the number of visits to the screen that included the action.
    """

    tool: str
    target: str
    lead_to: str
    times: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedAction:
    """An action that failed at least twice on the screen and has not succeeded since."""

    tool: str
    target: str
    failures: int
    last_error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RelatedSession:
    """A session that was on the screen: the time of its last step there, and its steps and failures."""

    session_id: str
    timestamp: str
    steps: int
    failed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorKnowledge:
    """Prior knowledge of a screen. Each list has its best entries first.

    `worked` has the actions of the latest visit first, in the order in which to repeat them. In `seen`, test
    ids that were used come before those that were only visible.
    """

    screen: str
    worked: tuple[WorkedAction, ...] = ()
    avoid: tuple[FailedAction, ...] = ()
    seen: tuple[str, ...] = ()
    sessions: tuple[RelatedSession, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the knowledge as JSON. Empty lists are included."""
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
    """Return the prior knowledge of a screen from the steps in the window before `now`.

    `look` is the current content of the screen, which is required for a screen without a name.
    """
    if screen == UNKNOWN and not _features(look or RecordedView()):
        return PriorKnowledge(screen=screen)
    since_ms, until_ms = (round(at.timestamp() * 1000) for at in (now - window, now))
    rows = index.list_around(screen, since_ms=max(0, since_ms), most=MAX_ROWS, looks=MAX_LOOKS)
    return summarize_screen([row for row in rows if row.at_ms <= until_ms], screen, look)


def summarize_screen(
    rows: Sequence[StepRow], screen: str, look: RecordedView | None = None
) -> PriorKnowledge:
    """Return the prior knowledge from steps that began or ended on the screen. Pass them latest first."""
    place = _ScreenMatcher(screen, look)
    screen_rows = [row for row in rows if place.begins_here(row)]
    acted = [row for row in screen_rows if row.target and row.target.stable_name]
    return PriorKnowledge(
        screen=screen,
        worked=tuple(_find_worked(screen_rows, place))[:MAX_WORKED],
        avoid=tuple(_find_failed(acted))[:MAX_AVOIDED],
        seen=tuple(_rank_test_ids([row for row in rows if place.ends_here(row)], acted))[:MAX_SEEN],
        sessions=tuple(
            _find_related([row for row in rows if place.begins_here(row) or place.ends_here(row)])
        )[:MAX_RELATED],
    )


class _ScreenMatcher:
    """Identifies a screen by its name, or by its content if it has no name."""

    def __init__(self, screen: str, look: RecordedView | None) -> None:
        self._screen = screen
        self._features = _features(look or RecordedView())

    def begins_here(self, row: StepRow) -> bool:
        """Return whether the step began on the screen. The first step of a session counts by its end."""
        return self._is(row.before, row.seen_before) if row.before else self.ends_here(row)

    def ends_here(self, row: StepRow) -> bool:
        return self._is(row.screen, row.look)

    def leaves(self, row: StepRow) -> bool:
        """Return whether the step led to another screen. An unknown screen without content does not count."""
        return not self.ends_here(row) and (row.screen != UNKNOWN or bool(_features(row.look)))

    def _is(self, screen: str, look: RecordedView) -> bool:
        if screen != self._screen:
            return False
        return screen != UNKNOWN or _are_alike(self._features, _features(look))


def _features(look: RecordedView) -> frozenset[str]:
    """Return the features of a screen: its test ids, or otherwise its roles with names.

    Digits are removed from names, because numbers change between visits.
    """
    if look.test_ids:
        return frozenset(seen.test_id for seen in look.test_ids)
    return frozenset(
        f"{node.role} {''.join(each for each in node.name if not each.isdigit())}" for node in look.nodes
    )


def _are_alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return bool(one) and len(one & other) >= ALIKE * len(one | other)


def _find_worked(screen_rows: Sequence[StepRow], place: _ScreenMatcher) -> list[WorkedAction]:
    """Return the actions of visits that led to another screen, latest visit first, in chronological order."""
    found: dict[Action, WorkedAction] = {}
    for visit in _visits_with_progress(screen_rows, place):
        done = {_action_of(row): row for row in visit if _is_action(row)}  # The last occurrence counts.
        in_order = sorted(done.items(), key=lambda each: each[1].at_ms)
        for (tool, target), row in in_order[-MAX_WORKED:]:
            known = found.get((tool, target))
            lead_to = visit[-1].screen if row is in_order[-1][1] and visit[-1].screen != UNKNOWN else ""
            found[tool, target] = WorkedAction(
                tool=tool,
                target=target,
                lead_to=(known.lead_to if known else "") or lead_to,
                times=1 + (known.times if known else 0),
            )
    return [*found.values()]


def _visits_with_progress(screen_rows: Sequence[StepRow], place: _ScreenMatcher) -> list[list[StepRow]]:
    """Return the visits of the screen, each with its steps up to the one that led to another screen.

    The latest visit comes first. Visits that have not ended, or that ended because the caller navigated away,
    are left out.
    """
    found: list[list[StepRow]] = []
    visits: dict[str, list[StepRow]] = {}
    for row in reversed(screen_rows):
        visit = visits.setdefault(row.session_id, [])
        visit.append(row)
        if place.leaves(row):
            if plain_tool_name(row.tool) not in _MOVING:
                found.append(visit)
            visits[row.session_id] = []
    return found[::-1]


def _is_action(row: StepRow) -> bool:
    return (
        row.ok
        and not row.is_observation
        and not plain_tool_name(row.tool).startswith(_WAITING)
        and bool(row.target and row.target.stable_name)
    )


def _find_failed(acted: Iterable[StepRow]) -> list[FailedAction]:
    failed: dict[Action, list[StepRow]] = {}
    succeeded: set[Action] = set()
    for row in acted:
        if row.ok:
            succeeded.add(_action_of(row))  # Earlier failures of the action no longer count.
        elif _action_of(row) not in succeeded:
            failed.setdefault(_action_of(row), []).append(row)
    found = [
        FailedAction(tool=tool, target=target, failures=len(rows), last_error=rows[0].code)
        for (tool, target), rows in failed.items()
        if len(rows) >= ENOUGH_FAILURES
    ]
    return sorted(found, key=lambda each: -each.failures)


def _rank_test_ids(rows: Iterable[StepRow], acted: Iterable[StepRow]) -> list[str]:
    used = Counter(row.target.test_id for row in acted if row.ok and row.target and row.target.test_id)
    seen_counts = Counter(id for row in rows for id in {seen.test_id: None for seen in row.look.test_ids})
    return sorted(seen_counts, key=lambda id: (-used[id], -seen_counts[id]))


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
    return row.tool, row.target.stable_name if row.target else ""


def _without_empty(**facts: object) -> dict[str, Any]:
    return {name: fact for name, fact in facts.items() if fact != ""}
