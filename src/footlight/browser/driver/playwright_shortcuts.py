"""Leave out checks of Playwright's that take long for large values of pages."""

from __future__ import annotations

import logging
from typing import Any

__all__ = ["take_shortcuts"]

logger = logging.getLogger(__name__)

LONGEST_PARSED = 1_000
"""Characters. Playwright parses a URL in Python, which takes 10 µs for each character."""


def take_shortcuts() -> None:
    """Let Playwright take values and URLs of pages from its driver as they are.

    Its check of the form of a value takes 3 µs for each number in it, 25 times as long as reading it. Before
    it asks a function whether a URL matches, it parses the URL, though the browser has done so.
    """
    try:
        from playwright._impl.isomorphic import url_match
        from playwright._impl.protocol.validator_primitives import scheme, t_any

        if "SerializedValue" in scheme:
            scheme["SerializedValue"] = t_any
        matching: Any = url_match
        parse_url = matching.parse_url
    except (ImportError, AttributeError):
        logger.warning("Playwright checks each value of a page, which takes long", exc_info=True)
        return

    def parse_shortened(url: str, *base: str | None) -> object:
        # Without a base, only whether the URL is valid is asked.
        return parse_url(url if base else url[:LONGEST_PARSED], *base)

    if parse_url.__name__ != parse_shortened.__name__:  # Another server of this process has not done it.
        matching.parse_url = parse_shortened
