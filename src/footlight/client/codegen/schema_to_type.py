"""One property's schema, as the text of a type (R000-51, R000-52)."""

from __future__ import annotations

from footlight.client.codegen.definitions import Translator
from footlight.client.codegen.layout import flat

__all__ = ["schema_to_type"]


def schema_to_type(schema: object) -> str:
    """By the document's table; `Any` for what it does not know.

    `str`, `Literal["a", "b"]`, `bool`, `float`, `int`, `dict[str, Any]`, `list[str]`, and unions of these.
    """
    return flat(Translator(schema, named=False).expression(schema, ()), {})
