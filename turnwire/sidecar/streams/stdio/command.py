"""`turnwire stdio` from its command line to its exit code."""

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from turnwire.config.agents import Agent, find
from turnwire.config.settings import ConfigurationError, Settings, load
from turnwire.normalize.inputs import Announced
from turnwire.protocol.dialects import DIALECTS
from turnwire.protocol.errors import TurnwireError
from turnwire.sidecar.process import garbage, logs
from turnwire.sidecar.process.signals import die_by
from turnwire.sidecar.streams.sandboxed import sandboxed
from turnwire.sidecar.streams.stdio import serve as stdio
from turnwire.sidecar.streams.stdio.arguments import (
    FOREIGN,
    USAGE,
    Arguments,
    UsageError,
    cli_options,
    foreign_options,
    goes_on,
    read_arguments,
)
from turnwire.tracing.export.wanted import DELIVERY, STILL_SENDING, logs_wanted, metrics_wanted

if TYPE_CHECKING:
    from turnwire.sidecar.streams.stdio.observed import Observed

LEAST_VERSION = "2.0.0"
"""The lowest version that the official SDK accepts. Reported for agents that have no version."""

PATIENCE = 0.5
"""Seconds to wait for a collector at the end. The official SDK kills turnwire after five."""


def run(argv: Sequence[str]) -> int:
    """Run the command; returns the exit code."""
    try:
        arguments = read_arguments(argv)
        if arguments.asks_help:
            sys.stdout.write(USAGE)
            return 0
        settings = load({"agent": arguments.agent}, arguments.config)
        agent = find(settings.agent, settings.agents)
        if arguments.asks_version:
            return _version(agent, settings)
        logs.configure(settings.log_level)
        with _observer(settings, agent) as (observed, traced):
            garbage.started()
            code = asyncio.run(_serve(arguments, agent, settings, observed, traced))
        return _ended(code) if code >= 0 else die_by(-code)
    except (UsageError, ConfigurationError) as error:
        return _fail(error, 2)
    except TurnwireError as error:
        return _fail(error, 1)


async def _serve(
    arguments: Arguments,
    agent: Agent,
    settings: Settings,
    observed: "Observed | None",
    traced: Mapping[str, str],
) -> int:
    # the full environment, because the caller meant to start a CLI itself
    environment = {**os.environ, **agent.env, **traced}
    if agent.family != "claude":
        from turnwire.sidecar.streams.sdk.command import serve_any  # noqa: PLC0415 - a relay needs none of it

        return await serve_any(arguments, agent, settings, environment, observed)
    options = (foreign_options if settings.dialect in FOREIGN else cli_options)(arguments.rest)
    async with sandboxed(agent, settings, environment, Path.cwd()) as sandbox:
        return await stdio.serve(
            [*agent.argv, *options],
            environment,
            spoken=DIALECTS[arguments.spoken],
            agent=DIALECTS[settings.dialect],
            observe=_observe(observed),
            stop_timeout=settings.stop_timeout_s,
            goes_on=goes_on(options),
            sandbox=sandbox,
        )


def _observe(observed: "Observed | None") -> stdio.Observe:
    if observed is None:
        return lambda _: None
    from turnwire.sidecar.streams.stdio.observed import ObservedInputs  # noqa: PLC0415 - a relay needs it for this alone

    return ObservedInputs(observed).on_inputs


def _version(agent: Agent, settings: Settings) -> int:
    if settings.dialect in FOREIGN or agent.family != "claude":
        from turnwire._runtime.version import VERSION  # noqa: PLC0415 - looked up in the installation; a relay needs it for this alone

        sys.stdout.write(f"{LEAST_VERSION} (turnwire {VERSION})\n")
        return 0
    return subprocess.run([*agent.argv, "-v"], check=False).returncode


def _ended(code: int) -> int:
    """Return the exit code. If an exporter is still waiting for a collector, exit at once."""
    if any(one.name == STILL_SENDING for one in threading.enumerate()):
        # a thread that writes to stderr while the interpreter ends can crash it
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return code


@contextmanager
def _observer(settings: Settings, agent: Agent) -> Iterator[tuple["Observed | None", Mapping[str, str]]]:
    """Return the observers of the session, and variables that tell the CLI the parent of its spans."""
    if not (settings.record or settings.traces or metrics_wanted() or logs_wanted()):
        yield None, {}
        return
    from turnwire.normalize.events import ProcessStatus  # noqa: PLC0415 - as above
    from turnwire.sessions.metrics import Metrics  # noqa: PLC0415 - as above
    from turnwire.sessions.observers import Observers  # noqa: PLC0415 - as above
    from turnwire.sessions.trace_context import Caller, context_event, variables  # noqa: PLC0415 - as above
    from turnwire.sidecar.streams.stdio.observed import Observed  # noqa: PLC0415 - as above
    from turnwire.tracing.spans.genai_facts import configured_provider  # noqa: PLC0415 - as above

    logs.tell_first(DELIVERY)
    try:
        observers = Observers(settings, Metrics(), is_alone=True)
    except TurnwireError as error:
        # the variables are often those of the agent's own telemetry
        sys.stderr.write(f"turnwire: {error}. The session goes on without traces and recording\n")
        yield None, {}
        return
    session = f"stdio-{uuid4()}"
    taps = observers.for_session(session, agent.name)
    observed = Observed(taps, on_turn_ended=observers.send_soon)
    traced: dict[str, str] = {}
    try:
        if settings.traces:
            context = context_event(session, Caller.of_environment())
            observed.see(Announced(context), [context])
            traced = variables(context)
        provider = configured_provider({**os.environ, **agent.env})
        started = ProcessStatus(state="started", agent=agent.name, provider=provider)
        observed.see(Announced(started), [started])
        yield observed, traced
    finally:
        observers.close(PATIENCE)


def _fail(error: Exception, code: int) -> int:
    from turnwire.protocol.visible import ordered  # noqa: PLC0415 - a start need not wait for it

    sys.stderr.write(f"turnwire: {ordered(str(error))}\n")
    return code
