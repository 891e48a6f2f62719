"""Start `turnwire stdio` over an agent that does not speak Claude Code's protocol."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import structs

from turnwire._runtime.private_files import open_private
from turnwire.adapter.families import FAMILIES
from turnwire.adapter.options import SessionOptions
from turnwire.adapter.process.shutdown import StopDeadlines
from turnwire.config.agents import Agent
from turnwire.config.rulebook import read_rulebook
from turnwire.config.sandbox import sandbox_settings
from turnwire.config.settings import Settings
from turnwire.config.state_directory import own_places
from turnwire.config.trials import trials_of
from turnwire.normalize.vocabulary import Policy
from turnwire.sidecar.streams.sdk.options import OWN_MODES, BadOption, Wanted, wanted
from turnwire.sidecar.streams.sdk.sdk_session import SdkSession, serve
from turnwire.sidecar.streams.stdio.arguments import Arguments, UsageError

if TYPE_CHECKING:
    from turnwire.sidecar.streams.stdio.observed import Observed

STOP = StopDeadlines(interrupt=2.0, close=3.0, terminate=2.0)


async def serve_any(
    arguments: Arguments,
    agent: Agent,
    settings: Settings,
    environment: Mapping[str, str],
    observed: "Observed | None",
) -> int:
    """Serve a caller of Claude's dialect. Returns the exit code, or -N for signal N. Raises UsageError and ConfigurationError."""
    if arguments.spoken not in ("auto", "claude"):
        raise UsageError(
            f"--as {arguments.spoken}: an agent that speaks {agent.family} is driven in Claude's dialect; leave out --as"
        )
    try:
        asked = wanted(arguments.rest, FAMILIES[agent.family].capabilities(None))
    except BadOption as error:
        raise UsageError(str(error)) from None
    names = _Names(settings.state_dir / "stdio")
    options = _options(asked, agent, settings, environment, names)

    def make() -> SdkSession:
        return SdkSession(
            asked,
            options,
            agent=agent.name,
            see=(lambda _, __: None) if observed is None else observed.see,
            on_named=lambda own: names.keep(asked.session_id, own),
        )

    return await serve(make, settings.stop_timeout_s)


def _options(
    asked: Wanted, agent: Agent, settings: Settings, environment: Mapping[str, str], names: "_Names"
) -> SessionOptions:
    rulebook = read_rulebook(settings.rules)
    command = asked.command
    if command.resume is not None:
        command = structs.replace(command, resume=names.agents_own(command.resume))
    return SessionOptions(
        workspace=Path.cwd(),
        executable=agent.argv,
        command=command,
        environment=environment,
        family=agent.family,
        policy=_policy(asked.mode, agent.family),
        caller_decides=True,
        accept_unasked=settings.accept_unasked,
        trials=trials_of(agent),
        check_uncommitted=False,
        name=f"stdio-{os.getpid()}",
        rules=rulebook.rules,
        hooks=rulebook.hooks,
        own_places=own_places(settings),
        sandbox=sandbox_settings(agent, settings, level=agent.sandbox or settings.sandbox),
        client_files=agent.client_files,
        client_terminals=agent.client_terminals,
        max_pending=settings.max_pending,
        initialize_deadline=settings.agent_start_timeout_s,
        control_deadline=settings.agent_answer_timeout_s,
        stop=STOP,
        line_limit=settings.max_line_bytes,
    )


def _policy(mode: str, family: str) -> Policy | None:
    """Return the policy that makes the agent ask; what it asks is decided by the caller and its mode (permissions.py)."""
    if mode == "bypassPermissions":
        return "autonomous"
    # Qwen Code is started in an approval mode, and supervised would replace one of its own
    return None if family == "qwen" and mode not in (*OWN_MODES, "plan") else "supervised"


class _Names:
    """Stores which agent session belongs to which session id of a caller: one file for each."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, given: str | None, own: str) -> None:
        """Store the agent's id of a session that the caller has named."""
        if given is None:
            return
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with open(open_private(self._folder / given, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "w") as file:  # noqa: PTH123
            file.write(own)

    def agents_own(self, name: str) -> str:
        """Return the agent's id of a session."""
        if "/" in name:
            return name
        try:
            return (self._folder / name).read_text("utf-8")
        except OSError:
            return name
