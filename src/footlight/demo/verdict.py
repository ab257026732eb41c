"""Compare what the shop has with what the server returned."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

__all__ = ["Check", "StepVerdict", "fail_step", "find_difference"]

_MAX_LENGTH = 120


@dataclass(frozen=True, kw_only=True)
class StepVerdict:
    """The outcome of a step, in words."""

    step: str
    holds: str
    got: str
    agrees: bool
    difference: str = ""
    remedy: str = ""


@dataclass(frozen=True)
class Check:
    """Two values that must be equal, and a function that describes such a value."""

    holds: object
    got: object
    describe: Callable[[Any], str] = str

    def judge(self, step: str) -> StepVerdict:
        """Return the verdict on a step after comparing the whole values."""
        return StepVerdict(
            step=step,
            holds=self.describe(self.holds),
            got=self.describe(self.got),
            agrees=self.holds == self.got,
            difference=find_difference(self.holds, self.got),
        )


def fail_step(step: str, reason: str, *, remedy: str = "") -> StepVerdict:
    """Return the verdict on a step that failed."""
    return StepVerdict(step=step, holds="", got="nothing", agrees=False, difference=reason, remedy=remedy)


def find_difference(holds: object, received: object, *, place: str = "") -> str:
    """Return where two values first differ, or an empty text."""
    if holds == received:
        return ""
    plainly = f"{_describe_place(place)}the site holds {_brief(holds)}, what came back is {_brief(received)}"
    if isinstance(holds, Mapping) and isinstance(received, Mapping):
        return _find_wrong_key(cast("Mapping[Any, Any]", holds), cast("Mapping[Any, Any]", received), place)
    if isinstance(holds, list | tuple) and isinstance(received, list | tuple):
        return _find_wrong_item(cast("Sequence[Any]", holds), cast("Sequence[Any]", received), place)
    return plainly


def _find_wrong_key(holds: Mapping[Any, Any], received: Mapping[Any, Any], place: str) -> str:
    key = next(key for key in [*holds, *received] if holds.get(key, _ABSENT) != received.get(key, _ABSENT))
    return find_difference(holds.get(key, _ABSENT), received.get(key, _ABSENT), place=f"{place}[{key!r}]")


def _find_wrong_item(holds: Sequence[Any], received: Sequence[Any], place: str) -> str:
    pairs = zip(holds, received, strict=False)
    index = next((index for index, (left, right) in enumerate(pairs) if left != right), None)
    if index is None:
        return f"{_describe_place(place)}the site holds {len(holds)}, what came back are {len(received)}"
    return find_difference(holds[index], received[index], place=f"{place}[{index}]")


def _describe_place(place: str) -> str:
    return f"at {place} " if place else ""


def _brief(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _MAX_LENGTH else f"{text[:_MAX_LENGTH]}…"


class _AbsentValue:
    def __repr__(self) -> str:
        return "nothing"


_ABSENT = _AbsentValue()
