"""What was said last, and where the conversation was before: what a retry goes back to and says again.

Prompts that wait are remembered until it is known which turn serves them; pure.
"""

from collections import deque
from collections.abc import Sequence

from msgspec import Struct

from turnwire.hub.wire.frames import Attachment
from turnwire.normalize import events as ev
from turnwire.normalize.events import AgentEvent

KNOWN = 200
"""UUIDs of prompts that are remembered, so that a prompt that is sent again is not said again."""


class SentPrompt(Struct, frozen=True):
    """A prompt as a frontend sent it."""

    text: str
    attachments: Sequence[Attachment] = ()


class PromptHistory:
    """The prompts of one session."""

    def __init__(self) -> None:
        self.last: tuple[SentPrompt, ...] = ()
        """What the newest turn serves."""
        self._waiting: dict[str, SentPrompt] = {}
        self._known: deque[str] = deque(maxlen=KNOWN)

    def say(self, prompt: str, saying: SentPrompt) -> None:
        """A prompt is about to be sent."""
        self._waiting[prompt] = saying
        self._known.append(prompt)

    def unsay(self, prompt: str) -> None:
        """It was not sent after all, and may be said again."""
        self._waiting.pop(prompt, None)
        if prompt in self._known:
            self._known.remove(prompt)

    def knows(self, prompt: str) -> bool:
        """Tell whether it was sent, or is being sent."""
        return prompt in self._known

    def observe(self, event: AgentEvent) -> bool:
        """Take an event in; tell whether what was said last has changed."""
        match event:
            case ev.TurnStarted() if served := self._served(event.prompts):
                self.last = served
            case ev.Injected() if served := self._served(event.prompts):
                self.last += served
            case ev.Withdrawn():
                self._waiting.pop(event.prompt, None)
                return False
            case _:
                return False
        return True

    @property
    def waiting(self) -> tuple[str, ...]:
        """The prompts that no turn has served yet."""
        return tuple(self._waiting)

    def text(self) -> str:
        """All of it as one text."""
        return "\n\n".join(saying.text for saying in self.last if saying.text)

    def attachments(self) -> list[Attachment]:
        """All that went with it."""
        return [attachment for saying in self.last for attachment in saying.attachments]

    def _served(self, prompts: Sequence[str] | None) -> tuple[SentPrompt, ...]:
        return tuple(self._waiting.pop(prompt) for prompt in prompts or () if prompt in self._waiting)
