"""What earlier steps tell of a screen: what worked there, what to leave alone, what to look for.

All sessions count, the one that asks too: what it did a minute ago on the same screen is knowledge as good as
any. A ref means nothing any more, so elements are named by test id, selector, or role and name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from footlight.knowledge.index import Index
from footlight.knowledge.rows import UNKNOWN, Row, verb

__all__ = ["WINDOW", "Avoided", "Prior", "Related", "Worked", "prior", "prior_of"]

WINDOW = timedelta(hours=48)
"""What is older is of another build, as likely as not."""

MOST_ROWS, MOST_LOOKS = 1000, 60
MOST_WORKED, MOST_AVOIDED, MOST_SEEN, MOST_RELATED = 5, 10, 5, 5
ENOUGH_FAILURES = 2
_WAITING = "wait_for"

Deed = tuple[str, str]
"""Tool and target."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Worked:
    """An action that succeeded there, the screen that it led to last, "" for none, and how often."""

    tool: str
    target: str
    lead_to: str
    times: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Avoided:
    """What failed twice or more there, and not once succeeded after that."""

    tool: str
    target: str
    failures: int
    last_error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Related:
    """A session that was on the screen: when last, for how many steps, and how many of them failed."""

    session_id: str
    timestamp: str
    steps: int
    failed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Prior:
    """The best of each first. Test ids that were acted on come before those that were only there."""

    screen: str
    worked: tuple[Worked, ...] = ()
    avoid: tuple[Avoided, ...] = ()
    seen: tuple[str, ...] = ()
    sessions: tuple[Related, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The lists are there even when empty."""
        return {
            "screen": self.screen,
            "worked": [
                _told(tool=w.tool, target=w.target, leadTo=w.lead_to, times=w.times) for w in self.worked
            ],
            "avoid": [
                _told(tool=a.tool, target=a.target, failures=a.failures, lastError=a.last_error)
                for a in self.avoid
            ],
            "seen": [*self.seen],
            "relatedSessions": [
                _told(sessionId=r.session_id, timestamp=r.timestamp, steps=r.steps, failed=r.failed)
                for r in self.sessions
            ],
        }


def prior(index: Index, screen: str, *, now: datetime, window: timedelta = WINDOW) -> Prior:
    """Of the steps in the window before `now`. Of an unknown screen nothing is known."""
    if screen == UNKNOWN:
        return Prior(screen=screen)
    since_ms, until_ms = (round(at.timestamp() * 1000) for at in (now - window, now))
    rows = index.around(screen, since_ms=max(0, since_ms), most=MOST_ROWS, looks=MOST_LOOKS)
    return prior_of([row for row in rows if row.at_ms <= until_ms], screen)


def prior_of(rows: Sequence[Row], screen: str) -> Prior:
    """Of steps that began or ended on the screen, the latest first."""
    there = [row for row in rows if _began_on(row, screen)]
    acted = [row for row in there if row.target and row.target.lasting]
    return Prior(
        screen=screen,
        worked=tuple(_worked(acted))[:MOST_WORKED],
        avoid=tuple(_avoided(acted))[:MOST_AVOIDED],
        seen=tuple(_seen([row for row in rows if row.screen == screen], acted))[:MOST_SEEN],
        sessions=tuple(_related([row for row in rows if screen in (row.screen, row.before)]))[:MOST_RELATED],
    )


def _began_on(row: Row, screen: str) -> bool:
    """A step without one before it is where it says."""
    return (row.before or row.screen) == screen


def _worked(acted: Iterable[Row]) -> list[Worked]:
    """What led elsewhere first, then what was done most."""
    done: dict[Deed, list[Row]] = {}
    for row in acted:
        if row.ok and not row.is_observation and not verb(row.tool).startswith(_WAITING):
            done.setdefault(_deed(row), []).append(row)
    found = [
        Worked(
            tool=tool,
            target=target,
            lead_to=next((row.led_to for row in rows if row.led_to), ""),
            times=len(rows),
        )
        for (tool, target), rows in done.items()
    ]
    return sorted(found, key=lambda each: (not each.lead_to, -each.times))


def _avoided(acted: Iterable[Row]) -> list[Avoided]:
    failed: dict[Deed, list[Row]] = {}
    mended: set[Deed] = set()
    for row in acted:
        if row.ok:
            mended.add(_deed(row))  # What failed before that is no reason any more.
        elif _deed(row) not in mended:
            failed.setdefault(_deed(row), []).append(row)
    found = [
        Avoided(tool=tool, target=target, failures=len(rows), last_error=rows[0].code)
        for (tool, target), rows in failed.items()
        if len(rows) >= ENOUGH_FAILURES
    ]
    return sorted(found, key=lambda each: -each.failures)


def _seen(rows: Iterable[Row], acted: Iterable[Row]) -> list[str]:
    used = Counter(row.target.test_id for row in acted if row.ok and row.target and row.target.test_id)
    there = Counter(id for row in rows for id in {seen.test_id: None for seen in row.look.test_ids})
    return sorted(there, key=lambda id: (-used[id], -there[id]))


def _related(rows: Iterable[Row]) -> list[Related]:
    sessions: dict[str, list[Row]] = {}
    for row in rows:
        sessions.setdefault(row.session_id, []).append(row)
    return [
        Related(
            session_id=name,
            timestamp=its[0].timestamp,
            steps=len(its),
            failed=sum(1 for row in its if not row.ok),
        )
        for name, its in sessions.items()
    ]


def _deed(row: Row) -> Deed:
    return row.tool, row.target.lasting if row.target else ""


def _told(**facts: object) -> dict[str, Any]:
    return {name: fact for name, fact in facts.items() if fact != ""}
