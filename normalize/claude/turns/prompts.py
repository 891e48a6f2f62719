"""Prompts: those that wait, those that joined a running turn, and those already published.

The CLI reports little about them. 1.0 and 2.0 serve one waiting prompt per turn, 2.1 serves all in one turn. An echo
(--replay-user-messages) or `command_lifecycle` (2.1.330, for prompts with a uuid) adds facts where it is written.
"""

from collections import deque

from msgspec import Struct

MERGED_SINCE = (2, 1)
"""Versions that serve all waiting prompts in one turn."""

_ECHOES = 64
"""Sent prompts whose echo may still arrive. Without --replay-user-messages none does."""


class Prompt(Struct):
    """A prompt that was sent, or that the CLI reported."""

    uuid: str | None
    text: str


class Prompts:
    """Keeps the prompts that wait for a turn, and those that wait for their echo."""

    def __init__(self) -> None:
        self._waiting: list[Prompt] = []
        self._unechoed: deque[Prompt] = deque(maxlen=_ECHOES)
        self._starting: list[str] = []
        self._first: int | None = None
        self.sees_input = False
        """True if prompts are seen when they are sent. Then a turn without a prompt is the CLI's own."""
        self.merged = True
        """The CLI serves all waiting prompts in one turn."""

    @property
    def waiting(self) -> int:
        """How many wait."""
        return len(self._waiting)

    def on_sent(self, prompt: Prompt) -> None:
        """We wrote a prompt to the CLI; its echo is not news."""
        self.sees_input = True
        self._unechoed.append(prompt)

    def wait(self, prompt: Prompt) -> int | None:
        """Put a prompt in the queue and return its place, from 1; None if it is there already."""
        if prompt.uuid is not None and any(prompt.uuid == other.uuid for other in self._waiting):
            return None
        self._waiting.append(prompt)
        return len(self._waiting)

    def starting(self, uuid: str) -> None:
        """The CLI starts with a prompt. Its turn has not started yet."""
        self._starting.append(uuid)

    def begin_with(self, count: int) -> None:
        """The next turn serves this many waiting prompts, in order (reported by miriad-code)."""
        self._first = count

    def serve(self) -> tuple[list[str], bool]:
        """Take the prompts of the starting turn. Returns their UUIDs, and whether they had waited."""
        if not self._waiting and not self._starting:
            return [], False
        named, self._starting = self._starting, []
        first, self._first = self._first, None
        served = [prompt for prompt in self._waiting if prompt.uuid in named]
        if not served:
            served = self._waiting[: first or (None if self.merged else 1)]
        self._waiting = [prompt for prompt in self._waiting if prompt not in served]
        uuids = [*named, *(prompt.uuid for prompt in served if prompt.uuid is not None)]
        return list(dict.fromkeys(uuids)), bool(served)

    def pop(self, uuid: str | None, text: str | None = None) -> Prompt | None:
        """Take a waiting prompt, by uuid or else by text; None if it does not wait."""
        for prompt in self._waiting:
            if _same(prompt, uuid, text):
                self._waiting.remove(prompt)
                return prompt
        return None

    def take_first(self, count: int) -> list[Prompt]:
        """Take this many waiting prompts, in order."""
        taken, self._waiting = self._waiting[:count], self._waiting[count:]
        return taken

    def echoed(self, uuid: str | None, text: str) -> bool:
        """Tell whether an echo repeats a prompt that was sent, and so was published."""
        for prompt in self._unechoed:
            if _same(prompt, uuid, text):
                self._unechoed.remove(prompt)
                return True
        return False

    def forget(self) -> list[str]:
        """The process is gone. Returns the UUIDs of prompts that will not be served."""
        lost = [prompt.uuid for prompt in self._waiting if prompt.uuid is not None]
        self._waiting.clear()
        self._unechoed.clear()
        self._starting.clear()
        return lost


def _same(prompt: Prompt, uuid: str | None, text: str | None) -> bool:
    if uuid is not None and prompt.uuid is not None:
        return uuid == prompt.uuid
    return text is not None and prompt.text == text
