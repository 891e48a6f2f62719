"""The agents that a frontend can choose for a new session, and their abilities."""

from collections.abc import Sequence

from turnwire.adapter.capabilities import Capabilities
from turnwire.adapter.families import FAMILIES
from turnwire.config.agents import DEMOS, AgentNotFoundError, find
from turnwire.config.known_agents import KNOWN, recognised
from turnwire.config.settings import Settings
from turnwire.hub.wire.frames_out import AgentChoice


def agent_choices(settings: Settings, names: Sequence[str]) -> list[AgentChoice]:
    """Return the named agents whose programs are installed, in that order."""
    choices = []
    for name in names:
        try:
            agent = find(name, settings.agents)
        except AgentNotFoundError:
            continue
        family = settings.dialect if agent.family == "claude" else agent.family
        known = recognised(agent.argv) or (None if name in settings.agents else KNOWN.get(name))
        can = FAMILIES[family].capabilities(None)
        choices.append(
            AgentChoice(
                agent=name,
                title=known.title if known else agent.name,
                family=agent.family,
                scripted=name in DEMOS or None,
                capabilities=abilities(can),
                options=sorted(can.options),
                permission_modes=list(can.permission_modes),
            )
        )
    return choices


def abilities(can: Capabilities) -> list[str]:
    """Return the names of an agent's abilities."""
    return [name for name in Capabilities.__struct_fields__ if getattr(can, name) is True]
