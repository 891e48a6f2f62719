"""`turnwire runner`: the server of ObjectiveAI's runner protocol over this process's stdin, stdout and stderr.

Standard error carries only diag and fatal lines, so all other messages go to the log file.
"""

import asyncio
import gc
import logging
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from turnwire._runtime.private_files import open_private
from turnwire.adapter.families import open_session
from turnwire.adapter.one_shot.programs import PROGRAMS
from turnwire.adapter.process.watchdog import Watchdog
from turnwire.config.agents import Agent, AgentNotFoundError, find
from turnwire.config.rulebook import Rulebook, read_rulebook
from turnwire.config.sandbox import hidden_places, sandbox_settings
from turnwire.config.settings import Settings
from turnwire.runner.claude_runs import claude_runs
from turnwire.runner.family import RunFamily
from turnwire.runner.input import Input
from turnwire.runner.log_file import RunnerLogFile
from turnwire.runner.output import Output, OutputLost
from turnwire.runner.runner_lines import fatal_line
from turnwire.runner.server import Runner, RunnerOptions
from turnwire.sidecar.process import logs
from turnwire.sidecar.process.signals import on_stop

CODEX = "codex-app-server"
"""The family of Codex."""

LAST_WORDS = 2.0
"""Seconds that a reader of stderr has to read the last line of a failing runner."""


def run(settings: Settings, options: RunnerOptions, log_file: Path | None, warnings: Sequence[str]) -> int:
    """Serve until stdin ends and every run is over. Returns the exit code. warnings: texts about the settings, to log."""
    file = log_file or settings.state_dir / "runner.log"
    try:
        agent = _agent(settings)
        rulebook = Rulebook() if agent.family == "claude" else read_rulebook(settings.rules)
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # a named log file may be a terminal or a pipe
        opened = file if log_file else open_private(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        stream = open(opened, "a", encoding="utf-8")  # noqa: PTH123, SIM115 - a path or a descriptor, closed below
    except Exception as error:  # noqa: BLE001 - whatever keeps the runner from starting is said the way callers read
        say_fatal(str(error))
        return 2
    # Lines are short-lived and form no cycles, but a collection after every 700 of them takes much of the time.
    gc.freeze()
    gc.set_threshold(50_000, 50, 100)
    with stream:
        logs.configure(settings.log_level, stream)
        for warning in (*warnings, *rulebook.warnings):
            logging.getLogger(__name__).warning("%s", warning)
        return asyncio.run(_serve(agent, rulebook, settings, options))


def say_fatal(message: str) -> None:
    """Write the fatal line of a runner that cannot start."""
    os.write(2, fatal_line(message))


def _agent(settings: Settings) -> Agent:
    agent = find(settings.agent, settings.agents)
    if agent.family not in ("claude", "acp", CODEX, *PROGRAMS):
        raise AgentNotFoundError(
            f"the agent {settings.agent!r} speaks {agent.family}, and `turnwire runner` runs Codex, agents that speak Claude "
            f"Code's protocol or the Agent Client Protocol, and one-shot agents ({', '.join(PROGRAMS)}); name another with "
            "--agent, or use `turnwire run`"
        )
    return agent


def _family(agent: Agent, rulebook: Rulebook, settings: Settings, watchdog: Watchdog) -> RunFamily:
    if agent.family == "acp":
        from turnwire.runner.acp_runs import acp_runs  # noqa: PLC0415 - a tenth of a second that Claude's runs need not wait for

        return acp_runs(agent, rulebook, settings, open_session, watchdog)
    if agent.family == CODEX:
        from turnwire.runner.codex_runs import codex_runs  # noqa: PLC0415 - as above

        return codex_runs(agent, rulebook, settings, open_session, watchdog)
    if agent.family in PROGRAMS:
        from turnwire.runner.one_shot_runs import one_shot_runs  # noqa: PLC0415 - as above

        return one_shot_runs(agent, rulebook, settings, open_session, watchdog)
    return claude_runs(
        agent.argv,
        settings.pass_env,
        open_session,
        watchdog,
        sandbox=sandbox_settings(agent, settings, level=agent.sandbox or settings.sandbox),
        own_places=hidden_places(settings, agent.sandbox or settings.sandbox),
    )


async def _serve(agent: Agent, rulebook: Rulebook, settings: Settings, options: RunnerOptions) -> int:
    output, notes, log = Output(1), Output(2), RunnerLogFile()
    received: list[signal.Signals] = []
    serving = asyncio.current_task()
    assert serving is not None

    def stop(number: signal.Signals) -> None:
        if not received:
            serving.cancel()
        received.append(number)

    on_stop(stop, settings.stop_timeout_s, words=fatal_line)
    try:
        async with Watchdog.start() as watchdog:
            family = _family(agent, rulebook, settings, watchdog)
            runner = Runner(family, output, notes, log=log, options=options)
            await runner.serve(Input(sys.stdin.fileno()).chunks())
    except asyncio.CancelledError:
        await _last_words(output, notes, f"ended by {received[0].name}")
        return 128 + received[0]
    except OutputLost as lost:
        await _last_words(output, notes, str(lost))
        return 1
    finally:
        log.close()
    await _flush(notes)
    return 0


async def _last_words(output: Output, notes: Output, message: str) -> None:
    notes.add(fatal_line(message))
    await asyncio.gather(_flush(output), _flush(notes))


async def _flush(stream: Output) -> None:
    try:
        async with asyncio.timeout(LAST_WORDS):
            await stream.flush()
    except (TimeoutError, OutputLost):
        pass  # nobody reads the output, so there is nothing to do
