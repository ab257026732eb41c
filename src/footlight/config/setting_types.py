"""The base class of sections, and the types of settings that are validated or expanded."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict
from pydantic.alias_generators import to_camel

__all__ = ["DomainSetting", "HttpUrlSetting", "PathSetting", "SettingsSection", "check_http_url"]


class SettingsSection(BaseModel):
    """A section of the settings. Files use its names in camel case, and unknown names are errors."""

    model_config = ConfigDict(
        alias_generator=to_camel, validate_by_name=False, extra="forbid", frozen=True, strict=True
    )


def _expand_path(value: object) -> object:
    if not isinstance(value, str | Path):
        return value
    if "\0" in str(value):
        raise ValueError("a path cannot hold a NUL character")
    try:
        return Path(value).expanduser()
    except RuntimeError:
        raise ValueError("there is no such home directory") from None


def _check_domain(value: str) -> str:
    """Check a host pattern, because an invalid pattern would match no host and silently block nothing."""
    if not re.fullmatch(_DOMAIN, value.strip()):
        raise ValueError("must be a host such as example.com or *.example.com, with no scheme, port or path")
    return value


_DOMAIN = (
    r"\*|(?:\*\.)?[^\s*.,/\\:@?#\[\]][^\s*,/\\:@?#\[\]]*"
    r"|\[(?=.*:.*:)[0-9a-fA-F:.]+\]|(?=.*:.*:)[0-9a-fA-F:.]+"
)


def check_http_url(value: str) -> str:
    if not re.fullmatch(r"https?://[^\s/?#\"\\]+(?:/[^\s?#\"\\]*)?", value):
        raise ValueError("must be an http or https URL without query, such as https://example.com/path")
    return value


HttpUrlSetting = Annotated[str, AfterValidator(check_http_url)]
PathSetting = Annotated[Path, BeforeValidator(_expand_path)]
DomainSetting = Annotated[str, AfterValidator(_check_domain)]
