"""Recognise values that differ in every run: times, durations, loopback ports and ids."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass

from footlight.client.replay.json_paths import Path
from footlight.protocol.errors import MCPError

__all__ = ["CHANGES", "IgnoredValues", "is_volatile_field", "normalize_text"]

_LAST_WORD = re.compile(r"([A-Z][a-z]+|(?<![a-z])[a-z]+|(?<![A-Z])[A-Z]++)[\d_]*\Z")
_FIELDS = frozenset(
    ("ms", "at", "timestamp", "timestamps", "duration", "elapsed", "uptime", "port", "pid", "epoch")
)
_TIMINGS = ("timing", "timings")
_IDS = frozenset(("id", "uuid", "guid", "nonce", "cursor"))
MIN_ID_LENGTH = 8

CHANGES = "\0"
"""The replacement for a part of a text that differs in every run."""

_DAY = "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
_MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_CLOCK = r"(?<![\d:])\d{1,2}:[0-5]\d:[0-5]\d(?:[.,]\d{1,9})?(?![\d:])"
_CLOCK_OF_A_LOG = r"(?<![\d:])[0-2]\d:[0-5]\d:[0-5]\d[.,]\d{3,9}(?![\d:])"
"""A time of day with a fraction of a second. Without the fraction, it may be content, such as a show time."""

_TEXTS = (
    (re.compile(r"(\b127\.0\.0\.1|\blocalhost|\[::1\]):\d{1,5}\b"), rf"\1:{CHANGES}"),
    (  # ISO 8601, also with other separators, as in file names.
        re.compile(
            r"(?<!\d)\d{4}-\d\d-\d\d[T _-]\d\d(?P<mark>[:.-])\d\d(?P=mark)\d\d(?:[.,-]\d{1,9})?"
            r"(?:Z|[+-]\d\d:?\d\d)?(?!\d)"
        ),
        CHANGES,
    ),
    (
        re.compile(
            r"(?<!\d)20\d\d(?:0[1-9]|1[0-2])[0-3]\d[T_-]?[0-2]\d[0-5]\d[0-5]\d(?:[._-]?\d{3}(?:\d{3})?)?Z?(?!\d)"
        ),
        CHANGES,
    ),
    (  # Localised: 25/11/2026, 21:59:19 and 11/25/2026 9:59:19 PM.
        re.compile(rf"(?<![\d/.])\d{{1,2}}([/.-])\d{{1,2}}\1\d{{4}},? {_CLOCK}(?: ?[AaPp]\.?[Mm]\b\.?)?"),
        CHANGES,
    ),
    (  # HTTP and mail headers, JavaScript's `String(date)`, and C's `asctime`.
        re.compile(
            rf"\b(?:{_DAY},? )?(?:\d{{1,2}} {_MONTH}|{_MONTH} {{1,2}}\d{{1,2}}),? "
            rf"(?:\d{{4}},? {_CLOCK}(?: (?:GMT|UTC|Z)?(?:[+-]\d{{4}})?(?: \([\w ]{{1,40}}\))?)?"
            rf"|{_CLOCK} \d{{4}}(?!\d))"
        ),
        CHANGES,
    ),
    (re.compile(rf"(?<=\bat ){_CLOCK}|(?<=\[){_CLOCK}(?=\])|{_CLOCK_OF_A_LOG}"), CHANGES),
    (re.compile(r"(?<=\bat )0x[0-9a-fA-F]{6,16}\b"), CHANGES),  # The address of an object.
    (re.compile(r"(?<![\d.])1\d{12}(?!\d|\.\d)|(?<=[-_/])1[5-9]\d{8}(?=[-_./])"), CHANGES),  # Unix time.
    (re.compile(r"(?<![\d.])\d+(?:\.\d+)?(\s?)(?:ms|µs|milliseconds)\b"), rf"{CHANGES}\1ms"),
    (re.compile(r"(?<![\d.])\d+\.\d+(\s?)(?:s|seconds)\b"), rf"{CHANGES}\1s"),
    (re.compile(r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b"), CHANGES),
    (re.compile(r"(?<=/)tmp[a-z0-9_]{8}\b"), CHANGES),
    (re.compile(r"(</?page-content )[0-9a-f]{3,16}\b"), rf"\1{CHANGES}"),
)
"""Patterns of volatile parts of texts, and their replacements."""


def normalize_text(text: str) -> str:
    """Replace the parts of a text that differ in each run by `CHANGES`."""
    for pattern, same in _TEXTS:
        text = pattern.sub(same, text)
    return text


def is_volatile_field(path: Path, was: object, now: object) -> bool:
    """Return whether a field differs in each run.

    The last word of the field's name decides: `durationMs`, `created_at`, `port`. All fields below `timing`
    are volatile. A `startTime` is volatile only if it is a number, and a `pageId` only if it looks generated.
    """
    names = [step for step in path if isinstance(step, str)]
    if any(name in _TIMINGS for name in names):
        return True
    found = _LAST_WORD.search(names[-1]) if names else None
    word = found[1].lower() if found else ""
    if word in _FIELDS:
        return type(was) is type(now) or (_is_number(was) and _is_number(now))
    if word == "time" or (_is_moment(was) and _is_moment(now)):
        return _is_number(was) and _is_number(now)
    return word in _IDS and _looks_generated(was) and _looks_generated(now)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_moment(value: object) -> bool:
    """Return whether a number looks like milliseconds since 1970, or like seconds with a fraction."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return False
    return 1.5e12 <= value < 2e12 or (isinstance(value, float) and 1.5e9 <= value < 2e9 and value % 1 != 0)


def _looks_generated(id: object) -> bool:
    return isinstance(id, str) and len(id) >= MIN_ID_LENGTH and not re.search(r"\s", id)


_STEP = re.compile(r"\.(?P<key>[^.\[\]]+)|\[(?P<index>\d+|\*)\]|\[(?P<quoted>\"(?:[^\"\\]|\\.)*\")\]")
ANY = "*"


@dataclass(frozen=True, slots=True)
class IgnoredValues:
    """Values that are not compared, including nested ones: paths (`$.rows[*].price`) and field names."""

    paths: frozenset[Path] = frozenset()
    fields: frozenset[str] = frozenset()

    @classmethod
    def of(cls, paths_and_names: Iterable[str]) -> IgnoredValues:
        """Parse paths and field names. A text that begins with `$` is a path, any other is a field name.

        Raises:
            MCPError: a path is not valid.
        """
        entries = list(paths_and_names)
        paths = frozenset(_path(each) for each in entries if each.startswith("$"))
        return cls(paths, frozenset(each for each in entries if not each.startswith("$")))

    def has(self, path: Path) -> bool:
        if path and path[-1] in self.fields:
            return True
        return any(_matches_path(each, path) for each in self.paths if len(each) == len(path))


def _matches_path(pattern: Path, path: Path) -> bool:
    return all(step in (ANY, at) for step, at in zip(pattern, path, strict=True))


def _path(text: str) -> Path:
    steps: list[str | int] = []
    at = 1
    while at < len(text):
        found = _STEP.match(text, at)
        if found is None:
            raise MCPError(
                f'{text}: no path; one is written $.data.rows[0].price, $.data.rows[*].price or $["a key"]',
                reason="invalid",
            )
        index = found["index"]
        key = json.loads(found["quoted"]) if found["quoted"] else found["key"] or ANY
        steps.append(int(index) if index and index != ANY else key)
        at = found.end()
    return tuple(steps)
