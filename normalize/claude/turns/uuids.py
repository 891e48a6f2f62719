"""The messages at which a conversation can be resumed.

A user message counts at once. An assistant message is pending until a result. There are two values.
`last_message_uuid` is the last committed message of the main thread, in line order. `resume_token` is
safe for `--resume-session-at`: the last text of the model that ended a turn. A tool_use would leave a
dangling call, a prompt would stay unanswered, a synthetic error would be carried along, and the CLI refuses a result's uuid.
"""

import re
from functools import lru_cache

_UUIDS_SINCE = (2, 0, 76)
"""Earlier versions expect the API's message id."""


class Commit:
    """Follows the UUIDs of the main thread."""

    def __init__(self) -> None:
        self.last: str | None = None
        """`last_message_uuid`."""
        self._pending: str | None = None
        self._text: tuple[str | None, str | None] | None = None
        self._safe: tuple[str | None, str | None] | None = None
        self._version: tuple[int, ...] | None = None

    def version(self, version: str) -> None:
        """Note the CLI's version."""
        self._version = numbers(version)

    def user(self, uuid: str | None) -> None:
        """A message of the user or of a tool was taken into the conversation."""
        if uuid is not None:
            self.last = uuid
            self._pending = None

    def assistant(self, uuid: str | None, message_id: str | None, *, safe: bool) -> None:
        """Note an assistant message. `safe`: it is complete text of the model itself."""
        if uuid is not None:
            self._pending = uuid
        if safe:
            self._text = (uuid, message_id)

    def result(self) -> None:
        """The turn is over: pending messages count."""
        if self._pending is not None:
            self.last, self._pending = self._pending, None
        if self._text is not None:
            self._safe, self._text = self._text, None

    def discard(self) -> None:
        """The process ended without a result: pending messages do not count."""
        self._pending = self._text = None

    @property
    def resume_token(self) -> str | None:
        """Value for `--resume-session-at`. None before the first text, and for 1.0, which has no such flag."""
        if self._safe is None:
            return None
        uuid, message_id = self._safe
        if self._version is None or self._version >= _UUIDS_SINCE:
            return uuid
        return message_id if self._version >= (2,) else None


@lru_cache(maxsize=64)
def numbers(version: str) -> tuple[int, ...]:
    """Return a version's numbers for comparing; (2, 0, 76) for `2.0.76 (Claude Code)`."""
    return tuple(int(number) for number in re.findall(r"\d{1,9}", version.split("-", maxsplit=1)[0])[:3])
