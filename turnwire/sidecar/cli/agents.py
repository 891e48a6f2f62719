"""The command that lists the agents."""

from typing import TYPE_CHECKING, Annotated

import typer

from turnwire.sidecar.cli.application import app, examples
from turnwire.sidecar.cli.options import ConfigOption, configured

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from turnwire.normalize.vocabulary import FolderKind
    from turnwire.sidecar.checks.doctor.agent_checks import AgentSeen


@app.command(
    "agents",
    short_help="List agents: installed or not, logged in or not.",
    epilog=examples("turnwire agents", "turnwire agents --json"),
)
def agents_command(
    context: typer.Context,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    config: ConfigOption = None,
) -> None:
    """List the agents: which are installed, in which version, whether somebody is logged in, and how to get the others."""
    import asyncio

    from msgspec.structs import asdict

    from turnwire.adapter.families import FAMILIES
    from turnwire.protocol.visible import ordered, to_json
    from turnwire.sidecar.checks.doctor.agent_checks import look

    seen = asyncio.run(look(configured(context).agents))
    unasked = {
        agent.name: list(FAMILIES[agent.family].never_asks(agent.command[0])) if agent.command else []
        for agent in seen
    }
    if as_json:
        told = [
            {**asdict(agent), "never_asks": unasked[agent.name], "supervised": supervised(agent)}
            for agent in seen
        ]
        typer.echo(to_json(told, indent=2))
        return
    width = max(len(agent.name) for agent in seen)
    for agent in seen:
        typer.echo(ordered(f"{agent.name:{width}}  {described(agent)}"))
        for line in details(agent, unasked[agent.name]):
            typer.echo(ordered(f"{'':{width}}  {line}"))
    typer.echo(f"\n{sandboxes()}")
    typer.echo(
        "Start one with `turnwire run --agent NAME`. A login in the system's keychain is not seen. "
        "More agents go under [agents] in the configuration, or into a file that `agents_file` names."
    )


def sandboxes() -> str:
    """Say whether agents can have a sandbox here."""
    from turnwire.adapter.sandbox.available import why_unavailable

    reason = why_unavailable("network")
    return (
        "Each can have a sandbox: --sandbox files or network."
        if reason is None
        else f"None can have a sandbox: {reason}."
    )


def details(agent: "AgentSeen", unasked: "Sequence[str]") -> "Iterator[str]":
    """Return further lines about an agent. For one that is not installed: only what it never asks about."""
    from turnwire.adapter.permissions.trials import PLACES

    if unasked:
        yield f"never asks about {' or '.join(unasked)}"
    if agent.program is None or not agent.known:
        return
    yield f"tried with {agent.tried}" if agent.tried else "not tried: what is known of it is its makers' word"
    for kind, found in supervised(agent).items():
        yield f"under the policy supervised, in {PLACES[kind]}: {found}"
    if agent.conversations:
        yield f"keeps its conversations in {agent.conversations}"
    yield from agent.quirks


def supervised(agent: "AgentSeen") -> "dict[FolderKind, str]":
    """Return whether the policy supervised holds for an agent, by kind of folder; empty if it was never tried."""
    from turnwire.adapter.permissions.trials import standing
    from turnwire.config.known_agents import KNOWN, recognised
    from turnwire.config.trials import trial_here
    from turnwire.normalize.vocabulary import FOLDERS

    about = recognised(agent.command) or KNOWN.get(agent.name)
    here = trial_here((agent.program, *agent.command[1:])) if agent.program else None
    trial = here or (about.trial if about else None)
    if trial is None:
        return {}
    found = {kind: standing(trial, agent.version or trial.version, kind) for kind in FOLDERS}
    return {kind: one.refusal or one.notice or "held" for kind, one in found.items()}


def described(agent: "AgentSeen") -> str:
    """Return a line on how an agent was found, and how to make it usable."""
    if agent.program is None:
        how = f"`{agent.install}`" if agent.install else "its makers have an installer of their own"
        untried = "" if agent.tried else ", not tried"
        return (
            f"{agent.title}: not installed{untried}; {how}"
            if agent.known
            else f"{agent.title}: not installed"
        )
    found = f"{agent.title} {agent.version or '(says no version)'}, speaks {agent.family}"
    if agent.log_in is None:
        return found
    return (
        f"{found}, logged in by {agent.logged_in}"
        if agent.logged_in
        else f"{found}, no login seen; {agent.log_in}"
    )
