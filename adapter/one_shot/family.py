"""The families whose agents are run one prompt at a time."""

from functools import partial

from turnwire.adapter.capabilities import Capabilities
from turnwire.adapter.family import AgentFamily
from turnwire.adapter.one_shot.client import OneShotClient
from turnwire.adapter.one_shot.programs import PROGRAMS
from turnwire.adapter.one_shot.session import OneShotSession
from turnwire.adapter.permissions.requests import AgentRequest, Reply, UnreadableRequest
from turnwire.adapter.session.agent_wire import Asking
from turnwire.adapter.streams.opening import JsonAgents, json_agents
from turnwire.normalize.families import named
from turnwire.normalize.inputs import Message

CAPABILITIES = Capabilities(resumes=True, keeps_session_id=True)
"""What such an agent can do: it asks nobody, so policies and rules have no effect."""


class _Silent:
    """The wire of an agent that asks for nothing."""

    def requests(self, message: Message) -> list[Asking]:  # noqa: ARG002 - whatever it is
        return []

    def replies(self, request: AgentRequest | UnreadableRequest, reply: Reply) -> list[Message]:  # noqa: ARG002 - there are none
        return []


def one_shot(name: str) -> AgentFamily:
    """Return the family of this name, to be run one prompt at a time."""
    return json_agents(
        JsonAgents(
            family=named(name),
            capabilities=CAPABILITIES,
            argv=PROGRAMS[name].argv,
            client=OneShotClient,
            wire=lambda _: _Silent(),
            session=partial(OneShotSession, max_prompt=PROGRAMS[name].max_prompt),
        )
    )


CODEX_EXEC = one_shot("codex-exec")
GEMINI = one_shot("gemini")
OPENCODE_RUN = one_shot("opencode-run")
COPILOT = one_shot("copilot")
DROID = one_shot("droid")
KIMI = one_shot("kimi")
