"""Check at run time whether a value has a type, independently of the code generator."""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import Any, ForwardRef, Literal, Never, Union, get_args, get_origin, get_type_hints, is_typeddict

__all__ = ["is_of"]


def is_of(value: Any, annotation: Any, names: Mapping[str, Any]) -> bool:
    """Return whether a value has a type, where `True` is no number. `names` are those of the module."""
    if isinstance(annotation, ForwardRef):
        annotation = annotation.__forward_arg__
    if isinstance(annotation, str):
        return is_of(value, eval(annotation, dict(names)), names)
    if annotation is Any:
        return True
    if annotation is Never:
        return False
    if annotation is None or annotation is type(None):
        return value is None
    if is_typeddict(annotation):
        return _has_keys(value, annotation, names)
    arguments = get_args(annotation)
    match get_origin(annotation):
        case None:
            return _is_plain(value, annotation)
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
            raise AssertionError(annotation)


def _is_plain(value: Any, annotation: Any) -> bool:
    if annotation is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if annotation is int:
        return isinstance(value, int) and not isinstance(value, bool)
    assert annotation in (str, bool)
    return isinstance(value, annotation)


def _has_keys(value: Any, annotation: Any, names: Mapping[str, Any]) -> bool:
    hints = get_type_hints(annotation, dict(names))
    return (
        isinstance(value, dict)
        and annotation.__required_keys__ <= value.keys() <= hints.keys()
        and all(is_of(each, hints[key], names) for key, each in value.items())
    )
