"""`turnwire conform`: a sidecar in this process, and the kit as a frontend of it."""

import asyncio
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path

import typer

from turnwire.adapter.families import FAMILIES
from turnwire.adapter.permissions.trials import Trial
from turnwire.client import connect
from turnwire.config.agents import find, with_agent_of_argv
from turnwire.config.known_agents import Family
from turnwire.config.settings import Settings
from turnwire.config.trials import keep_trial
from turnwire.frontends.conform.agent import AgentTrial
from turnwire.frontends.conform.report import Finding, as_json, line_of, summary
from turnwire.hub.hub import Hub
from turnwire.protocol.visible import ordered
from turnwire.sessions.live_host import LiveHost
from turnwire.sidecar.checks.conform.recording import judge
from turnwire.sidecar.checks.conform.scripted_host import SESSION, ScriptedHost
from turnwire.sidecar.serving import serve as serving
from turnwire.sidecar.serving.listening import reason_of
from turnwire.sidecar.serving.run import StartError

OWN_HUB_S = 60.0
"""How long the hub in this process has to answer."""


STOP_S = 5.0
"""Seconds that a frontend started here has to end."""


async def try_agent(
    settings: Settings,
    argv: tuple[str, ...],
    family: Family | None,
    workspace: Path | None,
    patience: float,
    *,
    json: bool,
) -> None:
    """Test an agent and print the findings. Raises typer.Exit(1) if something is broken, and the errors of
    turnwire.sidecar.serving.serve.
    """
    if argv:
        name, agents = with_agent_of_argv(settings.agents, argv, family)
        settings = settings.model_copy(update={"agent": name, "agents": agents})
    agent = find(settings.agent, settings.agents)
    has_policies = FAMILIES[agent.family].capabilities(None).policies
    findings: list[Finding] = []
    with ExitStack() as places:
        state = places.enter_context(tempfile.TemporaryDirectory(prefix="turnwire-conform-"))
        where = _empty(Path(state) / "workspace" if workspace is None else workspace)
        kit = {
            "frontend_workspaces": [where],
            "frontend_options": ["control"],
            "check_uncommitted": False,
            "policy": "supervised" if has_policies else None,
            # what it asks about is what is to be found out
            "accept_unasked": True,
            # whether it ends by itself is seen before it is missed
            "agent_exit_timeout_s": patience / 2,
        }
        settings = settings.model_copy(update={"state_dir": Path(state), **kit})

        async def work(hub: Hub) -> None:
            url, answers = hub.url(hub.tokens.control), patience + OWN_HUB_S
            async with connect(url, name="conform", timeout=OWN_HUB_S, reply_timeout=answers) as client:
                trial = AgentTrial(client, where, patience, has_policies=has_policies)
                findings.extend([finding async for finding in _told(trial.findings(), quietly=json)])
                if trial.asked:
                    keep_trial(agent, Trial(trial.asked, trial.version))

        await serving.serve(settings, _nothing, _unannounced, grants=Path(state) / "grants.json", work=work)
    close(findings, json=json)


async def try_frontend(argv: tuple[str, ...], port: int, patience: float, *, json: bool) -> None:
    """Test a frontend and print the findings. Raises typer.Exit(1) if something is broken, and StartError."""
    hub = ScriptedHost(port, patience)
    try:
        url = await hub.start()
    except OSError as error:
        raise StartError(
            f"cannot listen on port {port} ({reason_of(error)}); give another with --port"
        ) from error
    async with AsyncExitStack() as places:
        places.push_async_callback(hub.stop)
        if argv:
            places.push_async_callback(await _started(argv, url))
        else:
            typer.echo(
                f"the play begins when a frontend follows the session `{SESSION}`; connect it to {url}",
                err=True,
            )
            while not hub.is_followed:  # noqa: ASYNC110 - a person starts it some time
                await asyncio.sleep(0.2)
        findings = [finding async for finding in _told(hub.findings(), quietly=json)]
    close(findings, json=json)


def judge_recording(source: Path, family: str | None, *, json: bool) -> None:
    """Check a recording and print the findings. Raises typer.Exit(1) if something is broken, RecordingError and UnknownFamily."""
    findings = judge(source, family)
    if not json:
        for finding in findings:
            typer.echo(ordered(line_of(finding)))
    close(findings, json=json)


async def _started(argv: tuple[str, ...], url: str) -> Callable[[], Awaitable[None]]:
    """Start the frontend. Returns a function that ends it."""
    try:
        process = await asyncio.create_subprocess_exec(
            *argv,
            env={**os.environ, "TURNWIRE_URL": url},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=sys.stderr,
        )
    except OSError as error:
        raise StartError(
            f"cannot start {argv[0]!r} ({error.strerror or error}); name a program after `--`"
        ) from error

    async def end() -> None:
        if process.returncode is None:
            process.terminate()
        try:
            async with asyncio.timeout(STOP_S):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()

    return end


def _empty(folder: Path) -> Path:
    """Return the absolute path of an empty folder, created if needed. Raises StartError if it is not empty."""
    folder.mkdir(exist_ok=True)
    if any(folder.iterdir()):
        raise StartError(
            f"{folder} is not empty. The agent runs commands in this folder, so name an empty one"
        )
    return folder.resolve()


async def _told(findings: AsyncIterator[Finding], *, quietly: bool) -> AsyncIterator[Finding]:
    async for finding in findings:
        if not quietly:
            typer.echo(ordered(line_of(finding)))
        yield finding


def close(findings: list[Finding], *, json: bool) -> None:
    """Print all findings as JSON, or their sum; raises typer.Exit(1) when something is broken."""
    typer.echo(as_json(findings) if json else summary(findings))
    if (
        any(finding.verdict in ("broken", "does not ask", "not tried") for finding in findings)
        or not findings
    ):
        raise typer.Exit(1)


async def _nothing(_: LiveHost) -> None:
    await asyncio.sleep(0)


async def _unannounced(_: Hub) -> None:
    await asyncio.sleep(0)
