"""The parts that run the calls of one machine: browsers, dispatcher and resources, made from the settings."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from footlight.browser.driver.early_driver import EarlyDriver
    from footlight.browser.sessions.change_events import OnChange, SessionChange
    from footlight.config import Settings
    from footlight.server.answers.masking import Mask
    from footlight.server.answers.secrets import Secrets
    from footlight.server.calls.dispatcher import Dispatcher
    from footlight.server.calls.journal import CallJournal
    from footlight.server.live_view import LiveView
    from footlight.server.resources.resources import Resources
    from footlight.server.toolset import Toolset

__all__ = ["Machine", "read_secrets"]


class Machine:
    """The engine of one machine, and what runs calls on it. Who creates it starts and closes the engine."""

    def __init__(
        self,
        settings: Settings,
        toolset: Toolset,
        secrets: Secrets | None,
        *,
        session_prefix: str = "",
        early_driver: EarlyDriver | None = None,
    ) -> None:
        """Create the engine. The ids of new sessions begin with `session_prefix`."""
        from footlight.browser.sessions.engine import Engine

        self.settings = settings
        self.toolset = toolset
        self.secrets = secrets
        self.change_listeners: list[OnChange] = []
        """They may be added later: the browser starts before there is a server."""
        self.secret_values = secrets.values if secrets else ()
        mask = _make_file_mask(secrets) if secrets else None
        self._store = toolset.make_store(self.secret_values, mask or (lambda value: value))
        self.engine = Engine(
            settings,
            on_change=self._on_change,
            secrets=self.secret_values,
            mask=mask,
            named_sessions=toolset.named_sessions,
            make_table=toolset.make_session_table(self._store),
            session_prefix=session_prefix,
            early_driver=early_driver,
        )

    def _on_change(self, change: SessionChange) -> None:
        for listener in self.change_listeners:
            listener(change)

    @cached_property
    def answer_mask(self) -> Mask:
        """The mask for everything that the server sends."""
        from footlight.server.answers.masking import Masker, keep_unmasked, protocol_keys

        if self.secrets is None:
            return keep_unmasked
        return Masker(self.secrets, protocol_keys(tool.output_schema for tool in self.toolset.tools))

    def make_dispatcher(
        self, journal: CallJournal | None = None, live_view: LiveView | None = None
    ) -> Dispatcher:
        from footlight.browser.context.state_store import StateStore
        from footlight.server.calls.dispatcher import Dispatcher

        return Dispatcher(
            self.toolset.offered,
            self.settings,
            sessions=self.engine.sessions,
            find_silent_part=self.engine.find_silent_part,
            states=StateStore(self.settings.session.state_directory),
            withheld=self.toolset.withheld,
            secrets=self.secrets,
            mask=self.answer_mask,
            recorder=self.toolset.make_recorder(self._store) if self._store else None,
            journal=journal,
            live_view=live_view,
        )

    def make_resources(self) -> Resources:
        from footlight.server.resources.resources import Resources

        return Resources(self.engine.find_sessions, mask=self.answer_mask)


def read_secrets(settings: Settings) -> Secrets | None:
    """Read the file of secrets, if there is one, and mask them in the log from now on.

    Raises:
        ConfigurationError: the file cannot be used.
    """
    file = settings.security.secrets_file
    if file is None:
        return None
    from footlight import log
    from footlight.server.answers.secrets import load_secrets

    secrets = load_secrets(file)
    log.add_mask(_make_file_mask(secrets))
    return secrets


def _make_file_mask(secrets: Secrets) -> Mask:
    """Return the mask for everything that is written: the log, recorded steps, recordings."""
    from footlight.server.answers.masking import Masker

    return Masker(secrets)
