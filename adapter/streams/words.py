"""The lines that a family writes to its agents. normalize/streams/reader.py reads the agents' lines."""

from typing import Protocol

from turnwire.normalize.streams.observations import PermissionAsked
from turnwire.protocol.json_values import JsonObject


class Words(Protocol):
    """Makes the lines for an agent, each a JSON object. The reader's `sent` reads them, which begins the turn."""

    def prompt(self, text: str, prompt_id: str) -> JsonObject:
        """Return the line of a prompt. The agent gets the next prompt when its turn is over."""
        ...

    def interrupt(self) -> JsonObject | None:
        """Return the line that stops the turn. None: the agent gets SIGINT instead."""
        ...

    def permission(self, asked: PermissionAsked, *, allow: bool, option_id: str | None) -> JsonObject:
        """Return the answer to a permission request. option_id: the chosen option, if the request has options."""
        ...
