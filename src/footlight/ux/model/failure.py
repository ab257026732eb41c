"""What a provider's failure means for whoever audits: a sentence, what to do, and whether to ask again."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from footlight.steering import harmless
from footlight.ux.errors import ModelError
from footlight.ux.model.provider import KEY_VARIABLES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic_ai.exceptions import AgentRunError
    from pydantic_ai.messages import ModelResponse

    from footlight.ux.model.provider import ChatModel

__all__ = ["ModelFailed", "check_end", "failed"]

_LONGEST = 300
"""Characters of what a provider says."""

_LATER = "Try again later; the facts were measured without it."


class ModelFailed(Exception):
    """Carries the error to be told to where it is decided whether to ask again."""

    def __init__(self, error: ModelError, *, retry_after_s: float | None = None) -> None:
        super().__init__(error.message)
        self.error = error
        self.retry_after_s = retry_after_s


@dataclass(frozen=True, slots=True)
class _Kind:
    what: str
    todo: str
    again: bool = False


@cache
def _kinds() -> Mapping[type[AgentRunError], _Kind]:
    """By class, the particular ones first."""
    from pydantic_ai import exceptions as theirs

    return {
        theirs.ModelAuthenticationError: _Kind("does not accept the key", "Check the key in {variable}."),
        theirs.ModelNotFoundError: _Kind(
            "does not know the model {model}", "Name another model, or check the base URL."
        ),
        theirs.ModelContextWindowExceededError: _Kind(
            "was sent more than {model} can read", "Use a model that reads more."
        ),
        theirs.ModelRequestRejectedError: _Kind(
            "refused the request", "See what it said; another model may take it."
        ),
        theirs.ModelQuotaExceededError: _Kind(
            "says that the account is used up", "Add to it, or use another key."
        ),
        theirs.ModelRateLimitError: _Kind("was asked too often", _LATER, again=True),
        theirs.ModelRequestTimeout: _Kind("took too long", "Allow more time for a request.", again=True),
        theirs.ModelTimeoutError: _Kind("did not answer in time", _LATER, again=True),
        theirs.ModelConnectionError: _Kind(
            "could not be reached, or broke off", "Check the network and the base URL.", again=True
        ),
        theirs.ModelUnavailableError: _Kind("is not available now", _LATER, again=True),
        theirs.ModelServerError: _Kind("failed", _LATER, again=True),
        theirs.AgentRunError: _Kind("answered what cannot be used", _LATER, again=True),
    }


def failed(error: AgentRunError, model: ChatModel) -> ModelFailed:
    """In our words, with what the provider said, without the key."""
    kind = next(kind for theirs, kind in _kinds().items() if isinstance(error, theirs))
    told = _told(kind, model, said=_said(error), status=getattr(error, "status_code", None))
    return ModelFailed(told, retry_after_s=getattr(error, "retry_after", None))


def check_end(response: ModelResponse, model: ChatModel) -> None:
    """An answer counts only if it came to its end.

    Raises:
        ModelFailed: it was cut, it is broken, or the model refused to give one.
    """
    match response.finish_reason:
        case "content_filter":
            refused = _Kind(
                "refused to answer", "Another model may answer; the facts were measured without it."
            )
            raise ModelFailed(_told(refused, model, said=_refusal(response)))
        case "error":
            raise ModelFailed(_told(_Kind("broke its answer off", _LATER, again=True), model))
        case None if response.provider_name is not None:  # a model in this process has no stream to be cut
            raise ModelFailed(_told(_Kind("sent an answer without its end", _LATER, again=True), model))
        case _:
            pass


def _told(kind: _Kind, model: ChatModel, *, said: str = "", status: int | None = None) -> ModelError:
    variables = {str(name): " or ".join(names) for name, names in KEY_VARIABLES.items()}
    words = {"model": model.name, "variable": variables.get(model.provider, "the environment")}
    what = f"{model.provider} {kind.what.format_map(words)}"
    said = harmless(" ".join(model.masked(said).split()))
    message = f"{what}: {said[:_LONGEST]}" if said else what
    return ModelError(
        message,
        suggestion=kind.todo.format_map(words),
        retryable=kind.again,
        provider=model.provider,
        model=model.name,
        status=status,
    )


def _said(error: AgentRunError) -> str:
    """Its message, wherever in the body that provider has it."""
    body: Any = getattr(error, "body", None)
    while isinstance(body, dict):
        told = cast("Mapping[str, Any]", body)
        body = told.get("error") or told.get("message")
    return body if isinstance(body, str) else str(error)


def _refusal(response: ModelResponse) -> str:
    told = response.provider_details or {}
    return next(
        (str(told[name]) for name in ("refusal", "block_reason", "finish_reason") if told.get(name)), ""
    )
