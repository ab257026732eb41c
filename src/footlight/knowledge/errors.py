"""Why a step could not be kept, or what is kept could not be had."""

from __future__ import annotations

from footlight.errors import FootlightError

__all__ = ["KnowledgeError"]


class KnowledgeError(FootlightError):
    """The store's folder does not take, or give, what is asked. Never a reason for a tool's call to fail."""

    code = "KNOWLEDGE_ERROR"
    default_suggestion = "See that the store's folder can be written, and that its disk has room."
