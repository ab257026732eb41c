"""Load the settings from the defaults, a file, `FOOTLIGHT_*` variables and flags.

They are merged into one frozen object. Later sources override earlier ones.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from footlight.config import Settings
from footlight.config.setting_types import check_http_url
from footlight.errors import DOCUMENTATION_URL, ConfigurationError

__all__ = ["ENVIRONMENT_PREFIX", "Key", "find_documentation", "list_settings", "load_settings"]

ENVIRONMENT_PREFIX = "FOOTLIGHT_"
TEST_VARIABLES = ("FOOTLIGHT_SESSION_NAME",)
"""Variables that `browser.run_test` sets for tests. They are ignored, because a test may start a server."""
OTHER_VARIABLES = (
    *("FOOTLIGHT_DAEMON_DIR", "FOOTLIGHT_LIFELINE", "FOOTLIGHT_CDP_ENDPOINT", "FOOTLIGHT_CDP_TARGET"),
    *("FOOTLIGHT_PARAM_", "FOOTLIGHT_PARAMS", "FOOTLIGHT_TEST_", "FOOTLIGHT_METAMASK_DIST"),
)
"""The names or prefixes of variables that begin with `FOOTLIGHT_` and are not settings."""
MAX_COMPARED = 100
MAX_SUGGESTED = 8

Key = tuple[str, ...]


def load_settings(
    *,
    base: dict[str, Any] | None = None,
    file: Path | None = None,
    environment: Mapping[str, str] | None = None,
    flags: Mapping[str, object] | None = None,
) -> Settings:
    """Merge the defaults, the base, the file, the environment and the flags. Later values take precedence.

    `base` has the format of a settings file, and comes from another server. `flags` maps dotted keys, such as
    `browser.headless`, to values. None means that the flag was not given.

    Raises:
        ConfigurationError: A setting is not valid. The message names its key, its source (file, variable or
            flag), and the expected value.
    """
    merged: dict[str, Any] = {}
    origin: dict[Key, str] = {}
    if base is not None:
        _merge_layer(merged, origin, base, "the settings of the server")
    if file is not None:
        _merge_layer(merged, origin, _read_file(file), str(file))
    for variable, key, value in _read_environment(environment or {}):
        _merge_layer(merged, origin, _nest_value(key, value), f"environment variable {variable}")
    for name, value in (flags or {}).items():
        if value is not None:
            _merge_layer(merged, origin, _nest_value(tuple(name.split(".")), value), f"flag for {name}")
    _imply_toolset(merged)
    try:
        settings = Settings.model_validate(merged)
    except ValidationError as error:
        raise _explain_error(error, origin) from None
    return _check_consistency(settings)


def find_documentation(environment: Mapping[str, str]) -> str:
    """Return the URL of the documentation, for errors before the settings are loaded.

    An environment variable with an invalid value is ignored.
    """
    try:
        return check_http_url(environment["FOOTLIGHT_DOCUMENTATION_URL"])
    except (KeyError, ValueError):
        return DOCUMENTATION_URL


def _imply_toolset(merged: dict[str, Any]) -> None:
    """Select the toolset `metamask` if an app profile is given without a toolset."""
    app = merged.get("app")
    if isinstance(app, dict) and "profile" in app:
        merged.setdefault("toolset", "metamask")


def _read_file(file: Path) -> dict[str, Any]:
    try:
        text = file.read_text("utf-8")
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigurationError(f"{file}: the configuration cannot be read: {reason}") from None
    except UnicodeDecodeError:
        raise ConfigurationError(f"{file}: the configuration is not UTF-8 text") from None
    try:
        data: object = tomllib.loads(text) if file.suffix == ".toml" else json.loads(text)
    except (ValueError, RecursionError) as error:
        kind = "TOML" if file.suffix == ".toml" else "JSON"
        raise ConfigurationError(f"{file}: not valid {kind}: {error}") from None
    if not isinstance(data, dict):
        raise ConfigurationError(f"{file}: the configuration must be an object")
    settings = cast("dict[str, Any]", data)
    settings.pop("$schema", None)  # Used by editors only.
    return settings


def _read_environment(environment: Mapping[str, str]) -> list[tuple[str, Key, object]]:
    known = {_variable_name(key): (key, field) for key, field in list_settings(Settings).items()}
    sections = [
        f"{_variable_name(key)}_" for key in sorted({key[:1] for key, _ in known.values() if len(key) > 1})
    ]
    found: list[tuple[str, Key, object]] = []
    for variable, text in environment.items():
        if variable in TEST_VARIABLES:
            continue
        if variable in known:
            key, field = known[variable]
            found.append((variable, key, _parse_variable(text, field)))
        elif section := next((each for each in sections if variable.startswith(each)), None):
            siblings = [name for name in known if name.startswith(section)]
            raise ConfigurationError(
                f"environment variable {variable}: unknown{_suggest_names(variable, siblings)}"
            )
        elif variable.startswith(ENVIRONMENT_PREFIX) and not variable.startswith(OTHER_VARIABLES):
            raise ConfigurationError(
                f"environment variable {variable}: unknown{_suggest_variables(variable, list(known))}",
                suggestion="Remove it or correct its name.",
            )
    return found


def _suggest_names(name: str, known: Sequence[str]) -> str:
    """Return the closest known name, if one is similar, and all known names, for an error message."""
    from difflib import get_close_matches

    folded = {each.replace("_", "").lower(): each for each in known}
    closest = get_close_matches(name[:MAX_COMPARED].replace("_", "").lower(), folded, n=1, cutoff=0.75)
    suggestion = f"; closest: {folded[closest[0]]}" if closest else ""
    return f"{suggestion}; known here: {', '.join(known)}"


def _suggest_variables(variable: str, known: Sequence[str]) -> str:
    """Return the known variables whose last words are most similar to the name, for an error message."""
    from difflib import SequenceMatcher

    name = variable.removeprefix(ENVIRONMENT_PREFIX)[:MAX_COMPARED]

    def likeness(candidate: str) -> float:
        words = candidate.removeprefix(ENVIRONMENT_PREFIX).split("_")
        ends = ("_".join(words[start:]) for start in range(len(words)))
        return max(SequenceMatcher(None, name, end).ratio() for end in ends)

    likely = {each: likeness(each) for each in known}
    closest = sorted((each for each in known if likely[each] > 0.75), key=lambda each: -likely[each])
    return f"; closest: {', '.join(closest[:MAX_SUGGESTED])}" if closest else ""


def list_settings(model: type[BaseModel], prefix: Key = ()) -> dict[Key, FieldInfo]:
    """Return all settings by key, in the order of their declaration."""
    found: dict[Key, FieldInfo] = {}
    for name, field in model.model_fields.items():
        key = (*prefix, field.alias or name)
        section = field.annotation
        if isinstance(section, type) and issubclass(section, BaseModel):
            found |= list_settings(section, key)
        else:
            found[key] = field
    return found


def _variable_name(key: Key) -> str:
    return ENVIRONMENT_PREFIX + re.sub(r"(?<=[a-z])(?=[A-Z])", "_", "_".join(key)).upper()


def _parse_variable(text: str, field: FieldInfo) -> object:
    """Parse the value of a variable.

    A list is separated by commas or is a JSON array. Booleans and numbers are JSON. All others are strings.
    """
    kind = str(field.annotation)
    if "list" in kind:
        return (
            _parse_json(text)
            if text.startswith("[")
            else [item for part in text.split(",") if (item := part.strip())]
        )
    if "bool" in kind or "int" in kind:
        return _parse_json(text.lower())
    return text


def _parse_json(text: str) -> object:
    """Parse JSON. Return invalid JSON as a string, which is later reported as a value of the wrong type."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _nest_value(key: Key, value: object) -> dict[str, Any]:
    for part in reversed(key):
        value = {part: value}
    return cast("dict[str, Any]", value)


def _merge_layer(
    into: dict[str, Any], origin: dict[Key, str], layer: dict[str, Any], source: str, at: Key = ()
) -> None:
    for name, value in layer.items():
        key = (*at, name)
        below = into.get(name)
        if isinstance(value, dict) and name in into and not isinstance(below, dict):
            continue  # The existing value is not an object, and is reported later as an error of its source.
        origin[key] = source
        if isinstance(value, dict) and isinstance(below, dict):
            _merge_layer(cast("dict[str, Any]", below), origin, cast("dict[str, Any]", value), source, key)
        elif isinstance(value, dict):
            into[name] = {}
            _merge_layer(into[name], origin, cast("dict[str, Any]", value), source, key)
        else:
            into[name] = value


def _explain_error(error: ValidationError, origin: Mapping[Key, str]) -> ConfigurationError:
    lines: list[str] = []
    for problem in error.errors(include_url=False):
        key = tuple(str(part) for part in problem["loc"])
        dotted = ".".join(key)
        source = next((origin[key[:end]] for end in range(len(key), 0, -1) if key[:end] in origin), None)
        where = f"{source}: " if source else ""
        if problem["type"] == "extra_forbidden":
            names = sorted(_list_sibling_keys(key))
            lines.append(f"{where}unknown setting {dotted!r}{_suggest_names(key[-1], names)}")
        else:
            value = "" if dotted == "token" else f", got {problem['input']!r}"
            lines.append(f"{where}setting {dotted!r}: {problem['msg']}{value}")
    return ConfigurationError("\n".join(lines))


def _list_sibling_keys(key: Key) -> set[str]:
    depth = len(key) - 1
    return {leaf[depth] for leaf in list_settings(Settings) if leaf[:depth] == key[:-1]}


def _check_consistency(settings: Settings) -> Settings:
    if settings.pool.min_browsers > settings.pool.max_browsers:
        raise ConfigurationError("setting 'pool.minBrowsers' must not be greater than 'pool.maxBrowsers'")
    if settings.logging.destination == "file" and settings.logging.file is None:
        raise ConfigurationError("setting 'logging.file' must be given when 'logging.destination' is 'file'")
    if settings.browser.channel and settings.browser.type != "chromium":
        raise ConfigurationError("setting 'browser.channel' needs 'browser.type' to be 'chromium'")
    if (settings.listen.tls_certificate is None) != (settings.listen.tls_key is None):
        raise ConfigurationError(
            "settings 'listen.tlsCertificate' and 'listen.tlsKey' must be given together"
        )
    listen = settings.listen
    if listen.authorization_servers and (listen.public_url is None or listen.token_verifier is None):
        raise ConfigurationError(
            "setting 'listen.authorizationServers' needs 'listen.publicUrl' and 'listen.tokenVerifier'"
        )
    if settings.daemon.local and settings.transport != "http":
        raise ConfigurationError("setting 'daemon.local' needs 'transport' to be 'http'")
    if settings.cluster.address is not None:
        _check_cluster(settings)
    if settings.browser.cdp_endpoint and settings.browser.type != "chromium":
        raise ConfigurationError("setting 'browser.cdpEndpoint' needs 'browser.type' to be 'chromium'")
    return settings


def _check_cluster(settings: Settings) -> None:
    """Check that the settings can be used with a cluster.

    Raises:
        ConfigurationError: a cluster does not support the settings.
    """
    if settings.transport != "http" or settings.toolset != "browser":
        raise ConfigurationError(
            "setting 'cluster.address' needs 'transport' to be 'http' and 'toolset' to be 'browser'"
        )
    if settings.cluster.min_workers > settings.cluster.max_workers:
        raise ConfigurationError("setting 'cluster.minWorkers' must not be greater than 'cluster.maxWorkers'")
    if settings.browser.cdp_endpoint:
        raise ConfigurationError(
            "setting 'browser.cdpEndpoint' cannot be used with 'cluster.address'",
            suggestion="Leave out 'browser.cdpEndpoint': the browsers of a cluster are on other machines.",
        )
