"""Read access tokens from files and descriptors.

A token in the environment or in a configuration file may be seen by others. A token file is refused while others can
read it. A descriptor is read to its end and closed, so the token exists only in memory.
"""

import os
from pathlib import Path

from pydantic import SecretStr

from turnwire._runtime.private_files import read_private
from turnwire.config.settings import ConfigurationError, Settings

LIMIT = 4096
"""Maximum characters of a token."""


def with_tokens(settings: Settings) -> Settings:
    """Return the settings with tokens from files and descriptors. Raises ConfigurationError."""
    found: dict[str, SecretStr] = {}
    for name in ("token", "view_token"):
        ways = [way for way in (name, f"{name}_file", f"{name}_fd") if getattr(settings, way) is not None]
        if len(ways) > 1:
            raise ConfigurationError(
                f"the settings {' and '.join(ways)} set one token twice; keep one of them"
            )
        match ways:
            case [way] if way.endswith("_file"):
                found[name] = _token(way, _of_file(way, getattr(settings, way)))
            case [way] if way.endswith("_fd"):
                found[name] = _token(way, _of_descriptor(way, getattr(settings, way)))
            case _:
                pass
    return settings.model_copy(update=found)


def _of_file(setting: str, path: Path) -> str:
    path = path.expanduser()
    try:
        return read_private(path, owners={os.getuid(), 0}, follows_links=True, limit=LIMIT + 2)
    except OSError as error:
        raise ConfigurationError(
            f"setting {setting}: {path} is not used: {error.strerror}; "
            f"it must be your own file, with only the token in it (chmod 600 {path})"
        ) from error


def _of_descriptor(setting: str, number: int) -> str:
    try:
        with os.fdopen(number, encoding="utf-8", errors="replace") as pipe:
            return pipe.read(LIMIT + 2)
    except (OSError, ValueError) as error:
        raise ConfigurationError(
            f"setting {setting}: descriptor {number} cannot be read ({error}); "
            f"open it before turnwire starts, for example in a shell with {number}<FILE"
        ) from error


def _token(setting: str, text: str) -> SecretStr:
    token = text.strip()
    if len(token) > LIMIT or not token or not token.isprintable() or " " in token:
        raise ConfigurationError(
            f"setting {setting}: this does not hold a token; a token is one word of at most {LIMIT} characters"
        )
    return SecretStr(token)
