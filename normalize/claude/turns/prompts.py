"""Prompts: which of them wait, which joined a running turn, and which were already published.

The CLI says little about them. 1.0 and 2.0 serve one waiting prompt a turn, 2.1 all of them in one; an echo
(--replay-user-messages) or `command_lifecycle` (2.1.330, for prompts with a uuid) tells more where it comes.
"""

from collections import deque

from msgspec import Struct

MERGED_SINCE = (2, 1)
"""Versions that serve all waiting prompts in one turn."""

_ECHOES = 64
"""Sent prompts whose echo may still come; without --replay-user-messages none does."""


class Prompt(Struct):
    """A prompt that was sent, or that the CLI told of."""

    uuid: str | None
    text: str


class Prompts:
    """Keeps the prompts that have no turn yet, and those whose echo is still to come."""

    def __init__(self) -> None:
        self._waiting: list[Prompt] = []
        self._unechoed: deque[Prompt] = deque(maxlen=_ECHOES)
        self._starting: list[str] = []
        self._first: int | None = None
        self.sees_input = False
        """Prompts are known from the sending side, so a turn without one is the CLI's own."""
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
        """The CLI begins with a prompt; the turn itself is still to come."""
        self._starting.append(uuid)

    def begin_with(self, count: int) -> None:
        """The turn that begins next serves so many of those that wait, in order, as miriad-code says."""
        self._first = count

    def serve(self) -> tuple[list[str], bool]:
        """Take the prompts of the turn that begins; return their UUIDs, and whether they had waited."""
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
        """Take a prompt out of the queue, by uuid or else by text; None if it does not wait."""
        for prompt in self._waiting:
            if _same(prompt, uuid, text):
                self._waiting.remove(prompt)
                return prompt
        return None

    def take_first(self, count: int) -> list[Prompt]:
        """Take so many prompts out of the queue, in order."""
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
        """The process is gone, and what waited with it; return the UUIDs of prompts that nobody will serve."""
        lost = [prompt.uuid for prompt in self._waiting if prompt.uuid is not None]
        self._waiting.clear()
        self._unechoed.clear()
        self._starting.clear()
        return lost


def _same(prompt: Prompt, uuid: str | None, text: str | None) -> bool:
    if uuid is not None and prompt.uuid is not None:
        return uuid == prompt.uuid
    return text is not None and prompt.text == text
