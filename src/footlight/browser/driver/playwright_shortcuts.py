"""Skip checks of Playwright that are slow for large values of pages."""

from __future__ import annotations

import logging
from typing import Any

__all__ = ["take_shortcuts"]

logger = logging.getLogger(__name__)

MAX_PARSED_LENGTH = 1_000
"""In characters. Playwright parses a URL in Python, which takes 10 µs for each character."""


def take_shortcuts() -> None:
    """Make Playwright accept values and URLs of pages from its driver without checks.

    Its check of a value's structure takes 3 µs for each number in it, 25 times as long as reading it. Before
    it calls a function to match a URL, it parses the URL, although the browser has already done so.
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
        # Without a base, the call only checks whether the URL is valid.
        return parse_url(url if base else url[:MAX_PARSED_LENGTH], *base)

    if parse_url.__name__ != parse_shortened.__name__:  # Another server in this process may have done it.
        matching.parse_url = parse_shortened
