"""Hooks by configuration: which event of the CLI calls which command or URL, and what may be answered.

[[hooks]]
event = "PostToolUse"
matcher = "Edit|Write"                  # tools, for the events that have some
command = ["./notify.py"]               # JSON on stdin, JSON on stdout; or
url = "http://127.0.0.1:9000/hook"      # JSON by POST, JSON back; loopback alone
timeout = 10                            # seconds
"""

import ipaddress
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from msgspec import Struct

from turnwire.protocol.errors import TurnwireError

DEFAULT_TIMEOUT = 30.0

_KEYS = frozenset({"event", "matcher", "command", "url", "timeout"})
_PREFIX = "turnwire_hook_"


class HookError(TurnwireError, ValueError):
    """An invalid hook of the configuration. The message says which, and why."""


class HookSetting(Struct, frozen=True, kw_only=True):
    """One hook; it has either a command or a URL."""

    event: str
    """PreToolUse, PostToolUse, UserPromptSubmit, Stop, SessionStart, … any event of the CLI."""
    matcher: str | None = None
    """Which tools (or sources), in the CLI's notation; None for all."""
    command: tuple[str, ...] = ()
    """Program and arguments."""
    url: str | None = None
    """Address on loopback."""
    timeout: float = DEFAULT_TIMEOUT
    """Seconds that it may take."""

    @property
    def cli_timeout(self) -> float:
        """Seconds that the CLI waits for us: longer than the hook may take, so that our answer arrives."""
        return self.timeout + 10

    @property
    def name(self) -> str:
        """Its name in messages."""
        return f"{self.event}:{self.url or self.command[0]}"


def callback_id(number: int) -> str:
    """Return the callback id of a hook, by its place in the configuration."""
    return f"{_PREFIX}{number}"


def find_hook(hooks: Sequence[HookSetting], callback: str) -> HookSetting | None:
    """Return the hook of a callback id; None when it is none of these."""
    number = callback.removeprefix(_PREFIX)
    if number == callback or not number.isdecimal() or int(number) >= len(hooks):
        return None
    return hooks[int(number)]


def read_hooks(entries: Sequence[Mapping[str, object]]) -> tuple[HookSetting, ...]:
    """Return the hooks of a configuration's `hooks` list; raises HookError."""
    return tuple(_read(number, entry) for number, entry in enumerate(entries, 1))


def _read(number: int, entry: Mapping[str, object]) -> HookSetting:
    where = f"hook {number}"
    if unknown := sorted(set(entry) - _KEYS):
        raise HookError(f"{where}: unknown key {', '.join(unknown)}; known are {', '.join(sorted(_KEYS))}")
    event, matcher, url = entry.get("event"), entry.get("matcher"), entry.get("url")
    if not isinstance(event, str) or not event:
        raise HookError(f"{where}: event must name an event of the CLI, such as PreToolUse")
    if matcher is not None and not isinstance(matcher, str):
        raise HookError(f"{where}: matcher must be text")
    if (url is None) == ("command" not in entry):
        raise HookError(f"{where}: give either command or url")
    timeout = entry.get("timeout", DEFAULT_TIMEOUT)
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 < timeout <= 3600:
        raise HookError(f"{where}: timeout must be seconds, more than 0 and at most 3600")
    return HookSetting(
        event=event,
        matcher=matcher,
        command=_command(where, entry["command"]) if url is None else (),
        url=None if url is None else _loopback(where, url),
        timeout=float(timeout),
    )


def _command(where: str, command: object) -> tuple[str, ...]:
    words = [command] if isinstance(command, str) else command
    if not isinstance(words, list) or not words or not all(isinstance(word, str) and word for word in words):
        raise HookError(f"{where}: command must be a list of words")
    return tuple(words)


def _loopback(where: str, url: object) -> str:
    refusal = HookError(
        f"{where}: url must be http on loopback, such as http://127.0.0.1:9000/hook, not {url!r}"
    )
    if not isinstance(url, str):
        raise refusal
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise refusal from None
    if parts.scheme != "http" or parts.username is not None or port is None:
        raise refusal
    if parts.hostname == "localhost":
        return url
    try:
        if ipaddress.ip_address(parts.hostname or "").is_loopback:
            return url
    except ValueError:
        pass
    raise refusal
