"""Python names for tools and their parts: unique, and the same on every run."""

from __future__ import annotations

import hashlib
import keyword
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

__all__ = ["LONGEST", "attributes", "is_key", "pascal", "shorten", "type_names"]

LONGEST = 60
"""Characters of a class name."""
DIGITS = 4


def pascal(text: str) -> str:
    """Return ASCII letters and digits in Pascal case: `nav.goto` becomes `NavGoto`. The result may be
    empty.
    """
    return "".join(word[0].upper() + word[1:] for word in re.findall("[A-Za-z0-9]+", text))


def shorten(name: str, longest: int) -> str:
    return name if len(name) <= longest else f"{name[:longest]}_{_digits(name)}"


def is_key(name: str) -> bool:
    """Return whether a class can have the key as a field. Python treats some other letters as the same."""
    return (
        name.isidentifier() and name.isascii() and not keyword.iskeyword(name) and not name.startswith("__")
    )


def attributes(names: Iterable[str], *, reserved: Collection[str], longest: int = 128) -> dict[str, str]:
    """Return an attribute for each name on the wire: the name itself if it can be an attribute.

    `run.file` is run_file, `class` is class_. Where two would be the same, or one is a name of its own,
    a few digits of a hash follow: which tool an attribute calls never depends on the others.
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
    """Return for each key the first candidate that no other key has, or one with a few digits of a hash."""
    names: dict[str, str] = {}
    used = set(reserved)
    waiting: dict[str, list[str]] = {key: [*map(_fit, each)] for key, each in candidates.items()}
    nobodys: dict[str, str] = {}
    while waiting:
        counts = Counter(each[0] for each in waiting.values())
        settled = {
            key: each[0] for key, each in waiting.items() if counts[each[0]] == 1 and each[0] not in used
        }
        names |= settled
        used |= set(settled.values())
        remaining = {key: each for key, each in waiting.items() if key not in settled}
        nobodys |= {key: each[0] for key, each in remaining.items() if len(each) == 1}
        waiting = {key: each[1:] for key, each in remaining.items() if len(each) > 1}
    # Add the names one after another, because the digits of two may be the same.
    for key, name in sorted(nobodys.items()):
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
    """Return a class name that is not too long and does not begin with a digit."""
    return shorten(name if name[:1].isalpha() else f"T{name}", LONGEST)


def _make_unique(name: str, key: str, used: Collection[str]) -> str:
    start, digits = name.rstrip("_"), _digits(key)
    while f"{start}_{digits}" in used:
        digits = _digits(key + digits)
    return f"{start}_{digits}"


def _digits(text: str) -> str:
    data = text.encode("utf-8", "surrogatepass")
    return hashlib.sha1(data, usedforsecurity=False).hexdigest()[:DIGITS]
