"""Failures of a model's provider: the error to report, and whether to ask again."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, cast

from footlight.audit.model.provider import KEY_VARIABLES
from footlight.errors import FootlightError
from footlight.safe_text import escape_control_characters

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic_ai.exceptions import AgentRunError
    from pydantic_ai.messages import ModelResponse

    from footlight.audit.model.provider import ChatModel

__all__ = ["ModelError", "ModelRequestFailedError", "check_end", "translate_failure"]


class ModelError(FootlightError):
    """The model's provider refused, was unreachable or gave an unusable answer. Contains no key."""

    code: ClassVar[str] = "MODEL_ERROR"
    default_suggestion: ClassVar[str] = (
        "See the provider's message. The measured findings do not depend on it."
    )


_MAX_LENGTH = 300
"""The maximum number of characters of a provider's message."""

_LATER = "Try again later. The measured findings do not depend on it."


class ModelRequestFailedError(Exception):
    """A failed request, for the code that decides whether to repeat it."""

    def __init__(self, error: ModelError, *, retry_after_s: float | None = None) -> None:
        super().__init__(error.message)
        self.error = error
        self.retry_after_s = retry_after_s


@dataclass(frozen=True, slots=True)
class _FailureKind:
    what: str
    todo: str
    retryable: bool = False


@cache
def _failure_kinds() -> Mapping[type[AgentRunError], _FailureKind]:
    """Return the failures by exception class, the most specific first."""
    from pydantic_ai import exceptions as theirs

    return {
        theirs.ModelAuthenticationError: _FailureKind(
            "does not accept the key", "Check the key in {variable}."
        ),
        theirs.ModelNotFoundError: _FailureKind(
            "does not know the model {model}", "Name another model, or check the base URL."
        ),
        theirs.ModelContextWindowExceededError: _FailureKind(
            "was sent more than {model} can read", "Use a model that reads more."
        ),
        theirs.ModelRequestRejectedError: _FailureKind(
            "refused the request", "See what it said; another model may take it."
        ),
        theirs.ModelQuotaExceededError: _FailureKind(
            "says that the account is used up", "Add to it, or use another key."
        ),
        theirs.ModelRateLimitError: _FailureKind("was asked too often", _LATER, retryable=True),
        theirs.ModelRequestTimeout: _FailureKind(
            "took too long", "Allow more time for a request.", retryable=True
        ),
        theirs.ModelTimeoutError: _FailureKind("did not answer in time", _LATER, retryable=True),
        theirs.ModelConnectionError: _FailureKind(
            "could not be reached, or broke off", "Check the network and the base URL.", retryable=True
        ),
        theirs.ModelUnavailableError: _FailureKind("is not available now", _LATER, retryable=True),
        theirs.ModelServerError: _FailureKind("failed", _LATER, retryable=True),
        theirs.AgentRunError: _FailureKind("gave an answer that cannot be used", _LATER, retryable=True),
    }


def translate_failure(error: AgentRunError, model: ChatModel) -> ModelRequestFailedError:
    """Translate an error of the library, with the provider's message and without the key."""
    kind = next(kind for theirs, kind in _failure_kinds().items() if isinstance(error, theirs))
    model_error = _make_error(
        kind, model, detail=_provider_message(error), status=getattr(error, "status_code", None)
    )
    return ModelRequestFailedError(model_error, retry_after_s=getattr(error, "retry_after", None))


def check_end(response: ModelResponse, model: ChatModel) -> None:
    """Check that the answer is complete.

    Raises:
        ModelRequestFailedError: the answer was cut or broken, or the model refused.
    """
    match response.finish_reason:
        case "content_filter":
            refused = _FailureKind(
                "refused to answer", "Try another model. The measured findings do not depend on it."
            )
            raise ModelRequestFailedError(_make_error(refused, model, detail=_refusal(response)))
        case "error":
            raise ModelRequestFailedError(
                _make_error(_FailureKind("aborted its answer", _LATER, retryable=True), model)
            )
        case None if response.provider_name is not None:  # a model in this process has no stream
            raise ModelRequestFailedError(
                _make_error(_FailureKind("sent an incomplete answer", _LATER, retryable=True), model)
            )
        case _:
            pass


def _make_error(
    kind: _FailureKind, model: ChatModel, *, detail: str = "", status: int | None = None
) -> ModelError:
    variables = {str(name): " or ".join(names) for name, names in KEY_VARIABLES.items()}
    words = {"model": model.name, "variable": variables.get(model.provider, "the environment")}
    what = f"{model.provider} {kind.what.format_map(words)}"
    detail = escape_control_characters(" ".join(model.mask(detail).split()))
    message = f"{what}: {detail[:_MAX_LENGTH]}" if detail else what
    return ModelError(
        message,
        suggestion=kind.todo.format_map(words),
        retryable=kind.retryable,
        provider=model.provider,
        model=model.name,
        status=status,
    )


def _provider_message(error: AgentRunError) -> str:
    """Return the message, wherever in the body the provider puts it."""
    body: Any = getattr(error, "body", None)
    while isinstance(body, dict):
        entry = cast("Mapping[str, Any]", body)
        body = entry.get("error") or entry.get("message")
    return body if isinstance(body, str) else str(error)


def _refusal(response: ModelResponse) -> str:
    details = response.provider_details or {}
    return next(
        (str(details[name]) for name in ("refusal", "block_reason", "finish_reason") if details.get(name)), ""
    )
