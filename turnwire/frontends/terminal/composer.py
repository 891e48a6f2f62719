"""The field in which one writes: several lines, the prompts of before, and what a first letter offers."""

from textual.events import Key
from textual.message import Message
from textual.widgets import TextArea

KEPT = 200
"""Prompts that are remembered."""


class Composer(TextArea):
    """Enter sends, Ctrl+J begins a line, Up and Down bring back what was sent."""

    class Sent(Message):
        """A prompt to send."""

        def __init__(self, text: str, *, later: bool) -> None:
            super().__init__()
            self.text = text
            self.later = later
            """Whether it waits for the end of the turn, also with an agent that takes prompts into the turn that runs."""

    class Offers(Message):
        """The word before the cursor asks for offers; empty when it does not."""

        def __init__(self, word: str) -> None:
            super().__init__()
            self.word = word

    def __init__(self) -> None:
        super().__init__(
            id="composer", tab_behavior="focus", compact=True, placeholder="Say something. F1: help"
        )
        self.highlight_cursor_line = False
        self._sent: list[str] = []
        self._at = 0
        self.offers: list[str] = []
        """What Tab would put in place of the word before the cursor."""

    async def _on_key(self, event: Key) -> None:
        row, _ = self.cursor_location
        match event.key:
            case "enter":
                event.stop()
                event.prevent_default()
                self.send()
                return
            case "ctrl+j" | "shift+enter" | "alt+enter":
                event.stop()
                event.prevent_default()
                self.insert("\n")
                return
            case "tab" if self.offers:
                event.stop()
                event.prevent_default()
                self.take(self.offers[0])
                return
            case "up" if row == 0 and self._at > 0:
                event.stop()
                event.prevent_default()
                self._bring(self._at - 1)
                return
            case "down" if row == self.document.line_count - 1 and self._at < len(self._sent):
                event.stop()
                event.prevent_default()
                self._bring(self._at + 1)
                return
            case _:
                pass
        await super()._on_key(event)

    def on_text_area_changed(self) -> None:
        """Ask for offers for the word that is written."""
        self.post_message(self.Offers(self._word()))

    def send(self, *, later: bool = False) -> None:
        """Send what is written, if anything is."""
        if self.text.strip():
            self.post_message(self.Sent(self.text, later=later))
            self.remember(self.text)
            self.clear()

    def remember(self, text: str) -> None:
        """Keep a prompt to be brought back."""
        if not self._sent or self._sent[-1] != text:
            self._sent = [*self._sent[1 - KEPT :], text]
        self._at = len(self._sent)

    def take(self, offer: str) -> None:
        """Put an offer in the place of the word before the cursor."""
        word = self._word()
        row, column = self.cursor_location
        self.replace(f"{offer} ", (row, column - len(word)), (row, column))

    def put(self, text: str) -> None:
        """Put a text in the place of what is written, with the cursor at its end."""
        self.text = text
        self.move_cursor(self.document.end)

    def _bring(self, at: int) -> None:
        self._at = at
        self.put(self._sent[at] if at < len(self._sent) else "")

    def _word(self) -> str:
        row, column = self.cursor_location
        line = self.document.get_line(row)[:column]
        word = line.rsplit(None, 1)[-1] if line and not line[-1].isspace() else ""
        if word.startswith("@") or (word.startswith("/") and line == word and row == 0):
            return word
        return ""
