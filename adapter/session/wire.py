"""What a family's wire is to a session: it reads the requests of an agent, and writes the replies; pure.

Everything between the two (rules, policies, humans, hooks, grants, the audit trail) is the same for all families.
"""

from collections.abc import Sequence
from typing import Protocol, TypeAlias

from turnwire.adapter.permissions.requests import AgentRequest, Reply, TakenBack, UnreadableRequest
from turnwire.normalize.inputs import Message

Asking: TypeAlias = AgentRequest | UnreadableRequest | TakenBack
"""What a message may say of requests."""


class AgentWire(Protocol):
    """How agents of a family ask, and how they are answered."""

    def requests(self, message: Message) -> Sequence[Asking]:
        """Return what a received message asks for or takes back; nothing for almost all messages.

        The same however often it is called, as long as nothing else has happened. Never raises.
        """
        ...

    def replies(self, request: AgentRequest | UnreadableRequest, reply: Reply) -> Sequence[Message]:
        """Return the messages that tell an agent the reply to its request."""
        ...
