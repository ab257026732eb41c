"""The metrics of a page: labels, units and limits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from footlight.figures import format_duration, format_size

__all__ = ["Metric", "Rating", "read_metrics"]

Rating = Literal["good", "fair", "poor"]


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric. Values up to `good` are good, above `poor` they are poor. Not every metric has limits."""

    name: str
    value: float
    label: str
    good: float | None = None
    poor: float | None = None

    @property
    def text(self) -> str:
        return self._format(self.value)

    @property
    def limit(self) -> str:
        return "" if self.good is None else f"up to {self._format(self.good)}"

    @property
    def rating(self) -> Rating | None:
        if self.good is None or self.poor is None:
            return None
        return "good" if self.value <= self.good else "fair" if self.value <= self.poor else "poor"

    @property
    def share(self) -> float:
        """Return the position on the scale from 0 to 1: a third each is good, fair and poor."""
        if self.good is None or self.poor is None:
            return 0
        if self.value <= self.good:
            return self.value / self.good / 3
        if self.value <= self.poor:
            return (1 + (self.value - self.good) / (self.poor - self.good)) / 3
        return min(1, (1 + self.value / self.poor) / 3)

    def _format(self, value: float) -> str:
        if self.name.endswith("_ms"):
            return format_duration(value)
        if self.name.endswith("_bytes"):
            return format_size(value)
        return f"{value:,.3f}".rstrip("0").rstrip(".")


_KNOWN: Mapping[str, tuple[str, float | None, float | None]] = {
    # The limits are those of the rules, or else those of Web Vitals.
    "lcp_ms": ("Largest paint (LCP)", 2_500, 4_000),
    "cls": ("Layout shift (CLS)", 0.1, 0.25),
    "fcp_ms": ("First paint (FCP)", 1_800, 3_000),
    "ttfb_ms": ("First byte (TTFB)", 800, 1_800),
    "blocking_ms": ("Blocked (TBT)", 200, 600),
    "transferred_bytes": ("Transferred", 3_000_000, 10_000_000),
    "load_ms": ("Loaded", None, None),
    "requests": ("Requests", None, None),
}
_NOT_METRICS = {"status"}


def read_metrics(values: Mapping[str, float]) -> Iterator[Metric]:
    """Yield the known metrics first, the most important first, then the others."""
    others = [name for name in values if name not in _KNOWN and name not in _NOT_METRICS]
    for name in (*(name for name in _KNOWN if name in values), *others):
        label, good, poor = _KNOWN.get(name, (_make_label(name), None, None))
        yield Metric(name, values[name], label, good, poor)


def _make_label(name: str) -> str:
    words = name.removesuffix("_ms").removesuffix("_bytes").replace("_", " ")
    return f"{words[:1].upper()}{words[1:]}"
