"""A family's wire for a session: it reads the requests of an agent and writes the replies; pure.

Everything between the two (rules, policies, humans, hooks, grants, the audit trail) is the same for all families.
"""

from collections.abc import Sequence
from typing import Protocol, TypeAlias

from turnwire.adapter.permissions.requests import AgentRequest, Reply, TakenBack, UnreadableRequest
from turnwire.normalize.inputs import Message

Asking: TypeAlias = AgentRequest | UnreadableRequest | TakenBack
"""The parts of a message that concern requests."""


class AgentWire(Protocol):
    """How agents of a family ask, and how they are answered."""

    def requests(self, message: Message) -> Sequence[Asking]:
        """Return the requests in a received message, and those that it cancels. Empty for almost every message.

        Returns the same at each call, as long as no other input follows. Never raises.
        """
        ...

    def replies(self, request: AgentRequest | UnreadableRequest, reply: Reply) -> Sequence[Message]:
        """Return the messages that tell an agent the reply to its request."""
        ...
