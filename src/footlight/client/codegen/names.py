"""Choose unique and reproducible Python names for tools and their types."""

from __future__ import annotations

import hashlib
import keyword
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

__all__ = ["MAX_LENGTH", "attributes", "is_key", "pascal", "shorten", "type_names"]

MAX_LENGTH = 60
"""The maximum length of a class name, before digits are added to make it unique."""
DIGITS = 4


def pascal(text: str) -> str:
    """Convert a name to Pascal case: `nav.goto` becomes `NavGoto`.

    Only ASCII letters and digits are kept, so the result may be empty.
    """
    return "".join(word[0].upper() + word[1:] for word in re.findall("[A-Za-z0-9]+", text))


def shorten(name: str, longest: int) -> str:
    return name if len(name) <= longest else f"{name[:longest]}_{_digits(name)}"


def is_key(name: str) -> bool:
    """Return whether a class can have the key as a field.

    Keys that are not ASCII cannot: Python normalizes identifiers, so two of them could become the same.
    """
    return (
        name.isidentifier() and name.isascii() and not keyword.iskeyword(name) and not name.startswith("__")
    )


def attributes(names: Iterable[str], *, reserved: Collection[str], longest: int = 128) -> dict[str, str]:
    """Return an attribute for each tool name: the name itself if it can be an attribute.

    `run.file` becomes `run_file`, and `class` becomes `class_`. If two names would get the same attribute, or
    it is already in use, digits of a hash are appended to it.
    """
    wire = set(names)
    own = {name for name in wire if is_key(name) and name not in reserved and len(name) <= longest}
    aliases = {name: shorten(_attribute(name, reserved), longest) for name in wire - own}
    counts = Counter(aliases.values())
    used = own | set(reserved)
    chosen = {name: name for name in own}
    for name, alias in sorted(aliases.items()):
        chosen[name] = alias if counts[alias] == 1 and alias not in used else _make_unique(alias, name, used)
        used.add(chosen[name])
    return chosen


def type_names(candidates: Mapping[str, Sequence[str]], *, reserved: Collection[str]) -> dict[str, str]:
    """Return for each key its first unique candidate, or else its last one with digits of a hash."""
    names: dict[str, str] = {}
    used = set(reserved)
    waiting: dict[str, list[str]] = {key: [*map(_fit, each)] for key, each in candidates.items()}
    unclaimed: dict[str, str] = {}
    while waiting:
        counts = Counter(each[0] for each in waiting.values())
        settled = {
            key: each[0] for key, each in waiting.items() if counts[each[0]] == 1 and each[0] not in used
        }
        names |= settled
        used |= set(settled.values())
        remaining = {key: each for key, each in waiting.items() if key not in settled}
        unclaimed |= {key: each[0] for key, each in remaining.items() if len(each) == 1}
        waiting = {key: each[1:] for key, each in remaining.items() if len(each) > 1}
    # Two names may get the same digits, so the names are added one after another.
    for key, name in sorted(unclaimed.items()):
        names[key] = _make_unique(name, key, used)
        used.add(names[key])
    return names


def _attribute(name: str, reserved: Collection[str]) -> str:
    text = re.sub("[^A-Za-z0-9_]", "_", name)
    text = re.sub("^__+", "_", text) or "_"
    if text[0].isdigit():
        text = f"_{text}"
    return f"{text}_" if keyword.iskeyword(text) or text in reserved else text


def _fit(name: str) -> str:
    """Return the name, shortened to the maximum length, and prefixed if it does not begin with a letter."""
    return shorten(name if name[:1].isalpha() else f"T{name}", MAX_LENGTH)


def _make_unique(name: str, key: str, used: Collection[str]) -> str:
    start, digits = name.rstrip("_"), _digits(key)
    while f"{start}_{digits}" in used:
        digits = _digits(key + digits)
    return f"{start}_{digits}"


def _digits(text: str) -> str:
    data = text.encode("utf-8", "surrogatepass")
    return hashlib.sha1(data, usedforsecurity=False).hexdigest()[:DIGITS]
