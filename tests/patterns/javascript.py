"""The regular expressions of our JavaScript, and the time that V8 takes for attacks on them."""

from __future__ import annotations

import json
import re
import subprocess
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from playwright._impl._driver import compute_driver_executable

import footlight
from tests.patterns.pumps import attacks

__all__ = ["JavaScriptPattern", "find_slow_patterns", "literal_patterns", "pattern_constructions"]

SOURCE = Path(footlight.__file__).parent
TIMEOUT_SECONDS = 110
MEASURE = Path(__file__).with_name("measure.js")

_LITERAL = re.compile(
    r"(?:^|[=(,:!&|?;\[{}]|\breturn|=>)\s*"
    r"/(?![*/])(?P<body>(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)/(?P<flags>[dgimsuvy]*)(?=[\s.,;)\]:]|$)",
    re.MULTILINE,
)
_COMMENT = re.compile(r"^\s*(?://|/?\*).*$", re.MULTILINE)
_PROPERTY = {"L": "a-zé", "Lu": "A-Z", "M": "\u0300", "N": "0-9"}
"""Characters that stand for those of a Unicode property when texts are made that attack a pattern."""


@dataclass(frozen=True, slots=True)
class JavaScriptPattern:
    place: str
    body: str
    flags: str


def literal_patterns() -> list[JavaScriptPattern]:
    """Return the regular expression literals of all our JavaScript."""
    return [
        JavaScriptPattern(str(path.relative_to(SOURCE)), found["body"], found["flags"])
        for path in _scripts()
        for found in _LITERAL.finditer(_COMMENT.sub("", path.read_text("utf-8")))
    ]


def pattern_constructions() -> dict[str, int]:
    """Return how often each script makes a regular expression from text."""
    counts = {
        str(path.relative_to(SOURCE)): path.read_text("utf-8").count("new RegExp(") for path in _scripts()
    }
    return {path: count for path, count in counts.items() if count}


def _scripts() -> Iterator[Path]:
    return (path for path in sorted(SOURCE.rglob("*.js")) if "node_modules" not in path.parts)


def find_slow_patterns(patterns: Sequence[JavaScriptPattern]) -> list[str]:
    """Return what makes each slow pattern slow, as V8 measures it."""
    work = [
        {
            "place": each.place,
            "body": each.body,
            "flags": each.flags,
            "attacks": [
                [attack.start, attack.pump, attack.end] for attack in attacks(_translate_to_python(each))
            ],
        }
        for each in patterns
    ]
    node, _ = compute_driver_executable()
    ran = subprocess.run(
        [node, str(MEASURE)],
        input=json.dumps(work),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=True,
    )
    return json.loads(ran.stdout)


def _translate_to_python(pattern: JavaScriptPattern) -> re.Pattern[str]:
    """Return the pattern in Python's syntax, near enough to make texts from it."""

    def members(found: re.Match[str]) -> str:
        return _PROPERTY.get(found[1], "\u0627")

    body = re.sub(
        r"\[(?:[^\]\\]|\\.)*\]", lambda each: re.sub(r"\\p\{([\w=]+)\}", members, each[0]), pattern.body
    )
    body = re.sub(r"\\p\{([\w=]+)\}", lambda each: f"[{members(each)}]", body).replace(
        "(?<name>", "(?P<name>"
    )
    flags = re.IGNORECASE if "i" in pattern.flags else re.NOFLAG
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return re.compile(body, flags)
