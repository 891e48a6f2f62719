"""How echo agents are run: what they are told, and what they can do."""

from turnwire.adapter.capabilities import Capabilities
from turnwire.adapter.family import AgentFamily
from turnwire.adapter.streams.opening import stream_agents
from turnwire.normalize.streams.observations import PermissionAsked
from turnwire.protocol.json_values import JsonObject
from turnwire_echo import ECHO


class EchoWords:
    """What an echo agent is told."""

    def prompt(self, text: str, prompt_id: str) -> JsonObject:
        """Return a prompt."""
        return {"prompt": text, "id": prompt_id}

    def interrupt(self) -> JsonObject | None:
        """Return what stops the turn."""
        return {"stop": True}

    def permission(self, asked: PermissionAsked, *, allow: bool, option_id: str | None) -> JsonObject:  # noqa: ARG002 - it knows yes and no
        """Return the answer to a request for leave."""
        return {"answer": asked.id, "allow": allow}


ECHO_AGENTS: AgentFamily = stream_agents(
    ECHO, EchoWords(), Capabilities(interrupts=True, policies=True, never_asks=())
)
