"""Hide access tokens from programs that turnwire starts: remove them from the environment and make the process unreadable.

Another process of the same user can read /proc/PID/environ. It shows the initial environment, even of variables that were
removed later. So a process that starts with a secret restarts itself without it, before it starts anything else, and
passes the secret through a pipe. This module runs first, so it imports only the standard library.
"""

import os
import sys
from collections.abc import Mapping

from turnwire.protocol.errors import TurnwireError

SECRETS = frozenset({"TURNWIRE_TOKEN", "TURNWIRE_VIEW_TOKEN", "TURNWIRE_REDIS_URL"})
"""Names of secret variables. Settings reads upper and lower case, so both are secret."""

WEBHOOK_SECRET = "TURNWIRE_WEBHOOK_SECRET"
"""Prefix of variables that hold a webhook's secret. They are secret too."""

HANDED = "TURNWIRE_HANDED"
"""Variable with the descriptor of the pipe."""

PR_SET_DUMPABLE = 4

_removed: dict[str, str] = {}


class SecretsNotPassed(TurnwireError):
    """The process cannot restart without its secrets. The message says why and what to do."""


def is_secret(name: str) -> bool:
    """Return whether a variable is secret."""
    return name.upper() in SECRETS or name.upper().startswith(WEBHOOK_SECRET)


def removed_variables() -> Mapping[str, str]:
    """Return the variables that were removed from the environment."""
    return _removed


def restart_without_secrets() -> None:
    """Restart the process without its secret variables, or read them from the pipe. Raises SecretsNotPassed.

    Does not return if the process restarts.
    """
    if (number := os.environ.pop(HANDED, None)) is not None:
        _removed.update(_received(number))
    found = {name: value for name, value in os.environ.items() if is_secret(name)}
    if found:
        _restart({**_removed, **found})


def protect_memory() -> None:
    """Prevent other processes of this user from reading our memory, environment and descriptors. Linux only.

    Root can still read them. Descendants are not affected: the protection ends with exec.
    """
    if not sys.platform.startswith("linux"):
        return
    import ctypes  # noqa: PLC0415 - costs some milliseconds, and filters do not need it

    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


def _restart(secrets: Mapping[str, str]) -> None:
    rows = b"\0".join(os.fsencode(f"{name}={value}") for name, value in secrets.items())
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    try:
        if os.write(writing, rows) != len(rows):
            raise BlockingIOError
        os.close(writing)
        os.set_inheritable(reading, True)
        environment = {name: value for name, value in os.environ.items() if name not in secrets}
        os.execve(sys.executable, _own_argv(), {**environment, HANDED: str(reading)})
    except BlockingIOError:
        raise SecretsNotPassed(
            f"{', '.join(secrets)}: {len(rows)} bytes are too many; shorten them"
        ) from None
    except OSError as error:
        raise SecretsNotPassed(
            f"cannot restart without {', '.join(secrets)} in the environment ({error.strerror}); "
            "name a file with TURNWIRE_TOKEN_FILE instead"
        ) from error


def _own_argv() -> list[str]:
    return [sys.executable, *sys.orig_argv[1:]]


def _received(number: str) -> Mapping[str, str]:
    try:
        with os.fdopen(int(number), "rb") as pipe:
            rows = os.fsdecode(pipe.read()).split("\0")
    except (OSError, ValueError, TypeError, OverflowError) as error:
        raise SecretsNotPassed(f"{HANDED} is an internal variable of turnwire ({error}); unset it") from error
    pairs = (row.partition("=") for row in rows if row)
    return {name: value for name, _, value in pairs if is_secret(name)}
