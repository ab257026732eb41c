"""An object whose state others watch."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Generic, TypeVar

__all__ = ["Observed"]

logger = logging.getLogger(__name__)

View = TypeVar("View")


class Observed(ABC, Generic[View]):
    """`view` is the state as a value. Whoever subscribes is given each new one, once."""

    def __init__(self) -> None:
        self._listeners: list[Callable[[View], None]] = []
        self._told: View = self.view

    @property
    @abstractmethod
    def view(self) -> View: ...

    def subscribe(self, listener: Callable[[View], None]) -> Callable[[], None]:
        """From now on; what comes back ends it, and may be called twice."""

        def heard(view: View) -> None:  # Its own, so that one who subscribes twice can end one of them.
            listener(view)

        def unsubscribe() -> None:
            if heard in self._listeners:
                self._listeners.remove(heard)

        self._listeners.append(heard)
        return unsubscribe

    def _changed(self) -> None:
        """Call it after whatever may have changed the view."""
        view = self.view
        if view == self._told:
            return
        self._told = view
        for listener in tuple(self._listeners):
            try:
                listener(view)
            except Exception:
                logger.exception("a listener failed")
