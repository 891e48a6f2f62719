"""What was tried of agents under the policy supervised: what turnwire ships (agents.toml), and what was tried on this machine."""

from collections.abc import Mapping, Sequence

import msgspec

from turnwire._runtime.private_files import make_private, write_private
from turnwire._runtime.state_directory import state_directory
from turnwire.adapter.permissions.trials import SCRIPTED, Trial
from turnwire.config.agents import Agent
from turnwire.config.known_agents import KNOWN
from turnwire.normalize.vocabulary import CHANGES, FOLDERS

FILE = "trials.json"
"""The trials of this machine: the command's words, joined by NUL -> its trial. No setting moves it, since it decides about policies."""

OWN = Trial({kind: dict.fromkeys(CHANGES, "held") for kind in FOLDERS})
"""turnwire's own scripted agent asks where its script says so."""


def trials_of(agent: Agent) -> Mapping[str, Trial]:
    """Return the trials of an agent's family by program; under "" that of this very command, made on this machine."""
    found = {
        known.program: known.trial
        for known in KNOWN.values()
        # a program that speaks several protocols, such as Qwen Code, asks by the same settings in each
        if agent.family in (known.family, "acp") and known.trial is not None
    }
    if agent.family == "acp":
        found[SCRIPTED] = OWN
    here = trial_here(agent.argv)
    return found if here is None else {**found, "": here}


def keep_trial(agent: Agent, trial: Trial) -> None:
    """Keep what was tried of an agent's command on this machine. Raises OSError."""
    kept = {**_read(), _key(agent.argv): trial}
    make_private(state_directory())
    write_private(state_directory() / FILE, msgspec.json.format(msgspec.json.encode(kept), indent=2))


def trial_here(argv: Sequence[str]) -> Trial | None:
    """Return what was tried of a command on this machine."""
    return _read().get(_key(argv))


def _key(argv: Sequence[str]) -> str:
    return "\0".join(argv)


def _read() -> dict[str, Trial]:
    try:
        return msgspec.json.decode((state_directory() / FILE).read_bytes(), type=dict[str, Trial])
    except (OSError, msgspec.MsgspecError):
        return {}
