"""What a family says to its agents: the half that its reader hears of them is normalize/streams/reader.py."""

from typing import Protocol

from turnwire.normalize.streams.observations import PermissionAsked
from turnwire.protocol.json_values import JsonObject


class Words(Protocol):
    """Makes the lines for an agent, each a JSON object. The reader's `sent` reads them, and so turns begin."""

    def prompt(self, text: str, prompt_id: str) -> JsonObject:
        """Return the line of a prompt. The agent gets the next one when its turn is over."""
        ...

    def interrupt(self) -> JsonObject | None:
        """Return what stops the turn; None for an agent that is sent SIGINT."""
        ...

    def permission(self, asked: PermissionAsked, *, allow: bool, option_id: str | None) -> JsonObject:
        """Return the answer to a permission request; `option_id` is the option that was chosen, where it had some."""
        ...
