"""The objects that all sessions of a server share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from footlight.browser.context.devices import Devices
from footlight.browser.driver.file_quota import FileQuota
from footlight.browser.network.policy import DomainPolicy
from footlight.browser.sessions.change_events import OnChange, ignore_change

if TYPE_CHECKING:
    from footlight.browser.network.filter_proxy import FilterProxy
    from footlight.browser.recording.artifact_store import ArtifactStore
    from footlight.config import DialogSettings

__all__ = ["SessionEnvironment"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEnvironment:
    """The parts and settings that all sessions of a server share."""

    policy: DomainPolicy
    dialogs: DialogSettings
    download_path: Path
    output_path: Path
    scratch_path: Path
    """A folder for temporary files. It is removed with the server, or by the next server."""
    artifacts: ArtifactStore
    quota: FileQuota = field(default_factory=FileQuota)
    devices: Devices = field(default_factory=Devices)
    proxy: FilterProxy | None = None
    on_change: OnChange = ignore_change
    secrets: tuple[str, ...] = ()
    """The values of the server's secrets, which must not appear in screenshots."""
    mask: Callable[[Any], Any] | None = None
    """Masks the secrets in a text before it is written to a file. None without secrets."""
    after_crash: str = "the session is created again at its next use"
    """The part of the error about a crashed browser that describes how the session continues."""
