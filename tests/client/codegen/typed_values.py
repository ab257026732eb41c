"""Whether a value is of a type, asked of the type as it is at run time. It knows nothing of the codegen."""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import Any, ForwardRef, Literal, Never, Union, get_args, get_origin, get_type_hints, is_typeddict

__all__ = ["is_of"]


def is_of(value: Any, wanted: Any, names: Mapping[str, Any]) -> bool:
    """As a strict checker sees it, for which `True` is no number; `names` are those of the module."""
    if isinstance(wanted, ForwardRef):
        wanted = wanted.__forward_arg__
    if isinstance(wanted, str):
        return is_of(value, eval(wanted, dict(names)), names)
    if wanted is Any:
        return True
    if wanted is Never:
        return False
    if wanted is None or wanted is type(None):
        return value is None
    if is_typeddict(wanted):
        return _has_keys(value, wanted, names)
    arguments = get_args(wanted)
    match get_origin(wanted):
        case None:
            return _is_plain(value, wanted)
        case origin if origin in (Union, types.UnionType):
            return any(is_of(value, each, names) for each in arguments)
        case origin if origin is Literal:
            return any(type(value) is type(each) and value == each for each in arguments)
        case origin if origin is list:
            return isinstance(value, list) and all(is_of(each, arguments[0], names) for each in value)
        case origin if origin is dict:
            return isinstance(value, dict) and all(
                is_of(each, arguments[1], names) for each in value.values()
            )
        case _:
            raise AssertionError(wanted)


def _is_plain(value: Any, wanted: Any) -> bool:
    if wanted is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if wanted is int:
        return isinstance(value, int) and not isinstance(value, bool)
    assert wanted in (str, bool)
    return isinstance(value, wanted)


def _has_keys(value: Any, wanted: Any, names: Mapping[str, Any]) -> bool:
    hints = get_type_hints(wanted, dict(names))
    return (
        isinstance(value, dict)
        and wanted.__required_keys__ <= value.keys() <= hints.keys()
        and all(is_of(each, hints[key], names) for key, each in value.items())
    )
