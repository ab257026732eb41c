"""Detect the language of a text on a page."""

from __future__ import annotations

import importlib
import re
from collections.abc import Collection
from functools import cache
from typing import Any

__all__ = ["find_other_language"]

MAX_LENGTH = 3_000
SURE = 0.95
"""How likely the other language must be, from 0 to 1."""
MIN_LETTERS, MIN_LETTERS_OF_OTHER = 8, 24
_WITHOUT_SPACES = ("ja", "ko", "th", "zh")
_TAG = re.compile(r"[a-z]{2,3}")
_ALIKE = (
    {"no", "nb", "nn", "da"},
    {"hr", "bs", "sr", "sh", "me"},
    {"id", "ms"},
    {"cs", "sk"},
    {"bg", "mk"},
    {"gl", "pt"},
    {"nl", "af"},
    {"fil", "tl"},
    {"he", "iw"},
    {"yi", "ji"},
    {"hi", "mr", "ne"},
    {"zh", "yue", "cmn"},
)
"""Languages that cannot be distinguished by a short text, or that have two codes."""


_WIDESPREAD = (
    "ar bg bn ca cs da de el en es et fa fi fr gu he hi hr hu id it ja ka kn ko lt lv mk ml mr ms nb nl no "
    "pa pl pt ro ru sk sl sr sv sw ta te th tr uk ur vi zh"
)
"""Languages in which a text may be without any mention of them. Names look like rare languages."""
_FILLER = "lorem ipsum"


def find_other_language(declared: str, text: str, *, of_page: Collection[str]) -> str | None:
    """Return the language of the text if it is certainly not the declared one, else None.

    `of_page` are the languages that the page declares anywhere: few words in one of them are enough. Other
    texts need more letters, because names and abbreviations look like any language.
    """
    tag = _primary(declared)
    if not _TAG.fullmatch(tag):
        return None
    found = _detector().FindLanguage(text[:MAX_LENGTH])
    other = str(found.language)
    if not found.is_reliable or found.probability < SURE or other == tag:
        return None
    if other in {_primary(each) for each in of_page}:
        least = MIN_LETTERS
    elif other in _WIDESPREAD.split() and _FILLER not in text.lower():
        least = MIN_LETTERS_OF_OTHER
    else:
        return None
    letters = sum(map(str.isalpha, text[:MAX_LENGTH]))
    is_dense = other in _WITHOUT_SPACES  # A letter of these scripts is a syllable or a word.
    if letters * (3 if is_dense else 1) < least or any({tag, other} <= alike for alike in _ALIKE):
        return None
    return other


def _primary(tag: str) -> str:
    return tag.strip().lower().replace("_", "-").partition("-")[0]


@cache
def _detector() -> Any:
    module: Any = importlib.import_module("gcld3")  # It has no types, and only an audit needs it.
    return module.NNetLanguageIdentifier(min_num_bytes=0, max_num_bytes=MAX_LENGTH)
