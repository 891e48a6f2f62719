"""What was said last, and where the conversation was before: what a retry goes back to and says again.

Prompts that wait are remembered until it is known which turn serves them; pure.
"""

from collections.abc import Sequence

from msgspec import Struct

from turnwire.hub.wire.frames import Attachment
from turnwire.normalize import events as ev
from turnwire.normalize.events import AgentEvent


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

    def say(self, prompt: str, saying: SentPrompt) -> None:
        """A prompt is about to be sent."""
        self._waiting[prompt] = saying

    def unsay(self, prompt: str) -> None:
        """It was not sent after all."""
        self._waiting.pop(prompt, None)

    def observe(self, event: AgentEvent) -> bool:
        """Take an event in; tell whether what was said last has changed."""
        match event:
            case ev.TurnStarted() if served := self._served(event.prompts):
                self.last = served
            case ev.Injected() if served := self._served(event.prompts):
                self.last += served
            case ev.Withdrawn():
                self.unsay(event.prompt)
                return False
            case _:
                return False
        return True

    def text(self) -> str:
        """All of it as one text."""
        return "\n\n".join(saying.text for saying in self.last if saying.text)

    def attachments(self) -> list[Attachment]:
        """All that went with it."""
        return [attachment for saying in self.last for attachment in saying.attachments]

    def _served(self, prompts: Sequence[str] | None) -> tuple[SentPrompt, ...]:
        return tuple(self._waiting.pop(prompt) for prompt in prompts or () if prompt in self._waiting)
