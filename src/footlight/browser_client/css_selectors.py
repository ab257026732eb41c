"""Check CSS selectors before they are sent.

`cssselect2` parses the grammar and `tinycss2` the tokens. Both accept any name of a pseudo-class, so the
names are checked here. The names that browsers know and those of Selectors 4 are valid.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise, takewhile
from typing import Any

__all__ = ["problem_of"]

_XPATH = re.compile(r"\s*+(xpath\s*=|(?:\(++\s*+)?\.{0,2}/(?!\*))", re.IGNORECASE)

_SIMPLE = re.compile(
    r"active|active-view-transition|any-link|autofill|blank|buffering|checked|current|default|defined|"
    r"disabled|empty|enabled|first-child|first-of-type|focus|focus-visible|focus-within|fullscreen|future|"
    r"has-slotted|host|hover|in-range|indeterminate|interest-source|interest-target|invalid|last-child|"
    r"last-of-type|link|local-link|modal|muted|only-child|only-of-type|open|optional|out-of-range|past|"
    r"paused|picture-in-picture|placeholder-shown|playing|popover-open|read-only|read-write|required|root|"
    r"scope|seeking|stalled|target|target-current|target-within|user-invalid|user-valid|valid|visited|"
    r"volume-locked"
)
_NTH = frozenset(
    {"nth-child", "nth-last-child", "nth-of-type", "nth-last-of-type", "nth-col", "nth-last-col"}
)
_OF = frozenset({"nth-child", "nth-last-child"})
"""Pseudo-classes that take `of` and selectors after their numbers."""
_LISTS = frozenset({"is", "where", "not", "has", "host", "host-context", "current"})
"""Pseudo-classes that take selectors."""
_WORDS = frozenset({"lang", "dir", "state", "active-view-transition-type", "heading"})
"""Pseudo-classes that take words that are not selectors."""
_VENDORS = ("-webkit-", "-moz-", "-ms-", "-o-")
"""Prefixes of pseudo-classes that only browsers know."""
_PSEUDO_ELEMENT = "names a pseudo-element, which is not an element; name the element that it belongs to"


def problem_of(selector: str) -> str | None:
    """Return why the text is not a CSS selector of an element, as the end of a sentence, or None."""
    if not selector.strip():
        return "must not be empty"
    if _XPATH.match(selector):
        return "must be CSS, not XPath; name the element by its id, class, attributes or ref"
    import tinycss2

    tokens = tinycss2.parse_component_value_list(selector, skip_comments=True)
    return _problem(tokens, inside_has=False)


def _problem(tokens: Sequence[Any], *, inside_has: bool, relative: bool = False) -> str | None:
    from cssselect2 import parser

    if any(first == ":" and second == ":" for first, second in pairwise(tokens)):
        return _PSEUDO_ELEMENT
    try:
        selectors = list(parser.parse(tokens, relative=relative))
    except ValueError as error:
        return f"is not valid CSS: {str(error.args[-1]).rstrip('.')}"
    except (AttributeError, RecursionError):  # AttributeError if nothing follows a `|`.
        return "is not valid CSS: it ends too early, or nests too deep"
    wholes = [getattr(each, "selector", each) for each in selectors]
    if any(whole.pseudo_element is not None for whole in wholes):
        return _PSEUDO_ELEMENT
    return next(filter(None, (_name_problem(name, inside_has) for name in _pseudo_classes(tokens))), None)


def _pseudo_classes(tokens: Sequence[Any]) -> Iterator[Any]:
    """Yield the token after each colon: a word or a function."""
    for before, token in pairwise(tokens):
        if before == ":" and token.type in ("ident", "function"):
            yield token


def _name_problem(token: Any, inside_has: bool) -> str | None:
    if token.type == "ident":
        name = token.lower_value
        known = _SIMPLE.fullmatch(name) or name.startswith(_VENDORS)
        return None if known else f"is not valid CSS: there is no pseudo-class :{name}"
    name = token.lower_name
    if name in _NTH:
        return _number_problem(name, token.arguments, inside_has)
    if name in _LISTS:
        return _list_problem(name, token.arguments, inside_has)
    if name in _WORDS or name.startswith(_VENDORS):
        written = any(each.type != "whitespace" for each in token.arguments)
        return None if written else f"is not valid CSS: :{name}() needs a value"
    return f"is not valid CSS: there is no pseudo-class :{name}()"


def _number_problem(name: str, arguments: Sequence[Any], inside_has: bool) -> str | None:
    numbers = list(takewhile(lambda token: not _is_of(token), arguments))
    if not _is_nth(numbers):
        return f"is not valid CSS: :{name}() takes numbers such as 2, odd or 2n+1"
    if len(numbers) == len(arguments):
        return None
    if name not in _OF:
        return f"is not valid CSS: :{name}() takes no selectors"
    return _problem(arguments[len(numbers) + 1 :], inside_has=inside_has)


def _is_nth(tokens: Sequence[Any]) -> bool:
    from tinycss2.nth import parse_nth

    try:
        return parse_nth(tokens) is not None
    except AttributeError:  # The text ends after a sign.
        return False


def _is_of(token: Any) -> bool:
    return token.type == "ident" and token.lower_value == "of"


def _list_problem(name: str, arguments: Sequence[Any], inside_has: bool) -> str | None:
    forgiving = name in ("is", "where")
    if forgiving and all(each.type == "whitespace" for each in arguments):
        return None
    if name == "has" and inside_has:
        return "is not valid CSS: there is no :has() inside of :has()"
    return _problem(arguments, inside_has=inside_has or name == "has", relative=name == "has")
