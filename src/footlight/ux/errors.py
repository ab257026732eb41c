"""What can go wrong with a model."""

from __future__ import annotations

from typing import ClassVar

from footlight.errors import FootlightError

__all__ = ["ModelError"]


class ModelError(FootlightError):
    """The model's provider refused, was not there, or answered what cannot be used. No key is in it."""

    code: ClassVar[str] = "MODEL_ERROR"
    default_suggestion: ClassVar[str] = "See what the provider said; the facts were measured without it."
