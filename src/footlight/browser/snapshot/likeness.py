"""How much alike two texts of a page are, in time that is linear in their lengths."""

from __future__ import annotations

import itertools
from collections import Counter

__all__ = ["Likeness"]

MAX_COMPARED = 200
"""Characters of a text."""


class Likeness:
    """Compares texts with one text by their pairs of neighbouring characters.

    difflib compares their order too, which takes a millisecond for two texts with the same letters. Only few
    texts can be compared so.
    """

    def __init__(self, text: str) -> None:
        self._pairs = _count_pairs(text)

    def to(self, text: str) -> float:
        """Return the part of the pairs that the texts share: from 0 to 1 if they are alike."""
        pairs = _count_pairs(text)
        return 2 * (self._pairs & pairs).total() / (self._pairs.total() + pairs.total())


def _count_pairs(text: str) -> Counter[str]:
    beginning = f" {text[:MAX_COMPARED]} "
    return Counter(map("".join, itertools.pairwise(beginning)))
