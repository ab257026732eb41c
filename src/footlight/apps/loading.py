"""Load an app profile by its name in a module."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from footlight.apps.profile import AppProfile
from footlight.errors import ConfigurationError

__all__ = ["load_profile"]


def load_profile(name: str) -> AppProfile:
    """Load the profile `package.module:name`. Modules in the working directory are found too.

    Raises:
        ConfigurationError: The import fails, or the module has no profile of this name.
    """
    module_name, _, attribute = name.partition(":")
    if (directory := str(Path.cwd())) not in sys.path:
        sys.path.append(directory)
    try:
        found: object = importlib.import_module(module_name)
        for part in attribute.split("."):
            found = getattr(found, part)
    except Exception as error:
        # The profile is foreign code, which may raise anything.
        raise ConfigurationError(
            f"setting 'app.profile': {name} cannot be loaded: {type(error).__name__}: {error}",
            suggestion="Give package.module:name of a footlight AppProfile.",
        ) from error
    if not isinstance(found, AppProfile):
        raise ConfigurationError(
            f"setting 'app.profile': {name} is no AppProfile but {type(found).__name__}",
            suggestion="Give package.module:name of a footlight AppProfile.",
        )
    return found
