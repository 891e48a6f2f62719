"""The commands of an operator of a fleet."""

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from turnwire.protocol.visible import ordered
from turnwire.sidecar.cli.application import app, examples, fail, plain_errors
from turnwire.sidecar.cli.options import ConfigOption

if TYPE_CHECKING:
    from turnwire.fleet.operating import Operator
    from turnwire.hub.wire.results import FleetWorker

Result = TypeVar("Result")

fleet = typer.Typer(help="Show and lead the workers of a fleet.", no_args_is_help=True)
app.add_typer(fleet, name="fleet")

Journal = Annotated[
    str | None,
    typer.Option(help="Redis of the fleet: redis://HOST:PORT/0.", show_default="as configured"),
]
WorkerName = Annotated[str, typer.Argument(help="Name of the worker.")]
Wait = Annotated[float, typer.Option(min=0, help="Seconds to wait until it is done.")]


@fleet.callback()
def root() -> None:
    """Show and lead the workers of a fleet, over its Redis."""


@fleet.command("list", short_help="List the workers.", epilog=examples("turnwire fleet list --json"))
def list_command(
    *,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False,
    journal: Journal = None,
    config: ConfigOption = None,
) -> None:
    """List the workers: state, lease, sessions, running agents, commands that wait, version, host, group and labels."""
    import msgspec

    status = _done(journal, config, lambda operator: operator.status())
    if as_json:
        typer.echo(msgspec.json.encode(status))
        return
    typer.echo(
        f"Redis {status.redis}, {status.round_trip_s * 1000:.1f} ms, epoch {status.epoch or 'none yet'}"
    )
    rows = [
        ("WORKER", "STATE", "LEASE", "SESSIONS", "AGENTS", "ORDERS", "VERSION", "HOST", "GROUP", "LABELS"),
        *map(_row, status.workers),
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        typer.echo(
            ordered("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
        )


@fleet.command(
    "cordon", short_help="Give a worker no new sessions.", epilog=examples("turnwire fleet cordon build-1")
)
def cordon_command(worker: WorkerName, *, journal: Journal = None, config: ConfigOption = None) -> None:
    """Give a worker no new sessions, until `uncordon`. Its own go on."""
    _done(journal, config, lambda operator: operator.wish(worker, "cordon"))
    typer.echo(ordered(f"the worker {worker} gets no new sessions"))


@fleet.command(
    "uncordon",
    short_help="Give a worker sessions again.",
    epilog=examples("turnwire fleet uncordon build-1"),
)
def uncordon_command(worker: WorkerName, *, journal: Journal = None, config: ConfigOption = None) -> None:
    """Give a worker sessions again."""
    _done(journal, config, lambda operator: operator.wish(worker, None))
    typer.echo(ordered(f"the worker {worker} gets sessions again"))


@fleet.command(
    "drain",
    short_help="Let turns end, hand sessions over, and end the worker.",
    epilog=examples("turnwire fleet drain build-1", "turnwire fleet drain build-1 --wait 60"),
)
def drain_command(
    worker: WorkerName, *, wait: Wait = 60, journal: Journal = None, config: ConfigOption = None
) -> None:
    """Let a worker's turns end for `fleet_drain_s`, hand its sessions to others of its group, and end it.

    Where something starts it again, it stays cordoned until `uncordon`.
    """

    async def work(operator: "Operator") -> None:
        await operator.wish(worker, "drain")
        await operator.until_gone(worker, wait)

    _done(journal, config, work)
    typer.echo(ordered(f"the worker {worker} has ended"))


@fleet.command(
    "take",
    short_help="Have a worker take a session from another one, by force.",
    epilog=examples("turnwire fleet take 0b6c1a2f build-2"),
)
def take_command(
    session: Annotated[str, typer.Argument(help="Id of the session.")],
    worker: WorkerName,
    *,
    wait: Wait = 30,
    journal: Journal = None,
    config: ConfigOption = None,
) -> None:
    """Have a worker take a session whose owner does not let go of it. What the owner still writes of it is refused.

    Without force, and once its turn has ended, a frontend moves it with `session.move`.
    """
    _done(journal, config, lambda operator: operator.take(session, worker, wait))
    typer.echo(ordered(f"the session {session} is the worker {worker}'s"))


@fleet.command(
    "forget",
    short_help="Forget the name of a worker that will not come back.",
    epilog=examples("turnwire fleet forget build-1"),
)
def forget_command(worker: WorkerName, *, journal: Journal = None, config: ConfigOption = None) -> None:
    """Forget the name of a worker that is gone and has no sessions."""
    _done(journal, config, lambda operator: operator.forget(worker))
    typer.echo(ordered(f"the worker {worker} is forgotten"))


@fleet.command(
    "restore",
    short_help="Begin a new epoch after Redis was put back from a backup.",
    epilog=examples("turnwire fleet restore"),
)
def restore_command(*, journal: Journal = None, config: ConfigOption = None) -> None:
    """Begin a new epoch after Redis was put back from a backup: all frontends read their sessions anew.

    Without it they would keep events that the backup does not have, and miss those that took their numbers.
    """
    epoch = _done(journal, config, lambda operator: operator.begin_epoch())
    typer.echo(f"the epoch {epoch} has begun; frontends read their sessions anew")


def _row(one: "FleetWorker") -> tuple[str, ...]:
    wished = one.wish == "drain" and one.state not in {"draining", "gone"}
    return (
        one.worker,
        f"{one.state}, to be drained" if wished else one.state,
        "-" if one.state == "gone" else f"{one.lease_left_s:.1f} s",
        f"{one.sessions}/{one.max_sessions}" if one.max_sessions else str(one.sessions),
        str(one.processes),
        str(one.orders),
        one.version or "-",
        one.host or "-",
        one.group or "-",
        ",".join(one.labels) or "-",
    )


def _done(
    journal: str | None,
    config: "ConfigOption",
    work: "Callable[[Operator], Coroutine[None, None, Result]]",
) -> Result:
    """Do something with the fleet that is configured; ends with a sentence where that cannot be."""
    import asyncio

    from turnwire.config.settings import ConfigurationError, load

    with plain_errors(ConfigurationError, code=2):
        settings = load({"journal": journal}, config)
    if not settings.journal_kind.shared:
        fail("a fleet has its sessions in Redis: give --journal redis://HOST:PORT/0, or set journal", 2)
    try:
        from redis.exceptions import RedisError

        from turnwire.fleet.errors import OperationRefused
        from turnwire.fleet.operating import Operator
        from turnwire.journal.base import JournalUnavailable
    except ImportError:
        fail("a fleet needs the extra `redis`: pip install 'turnwire[redis]'", 2)

    async def run() -> Result:
        operator = Operator(settings.redis_url, settings.redis_prefix)
        try:
            return await work(operator)
        finally:
            await operator.close()

    try:
        with plain_errors(OperationRefused, JournalUnavailable):
            return asyncio.run(run())
    except (RedisError, OSError) as error:
        fail(f"the fleet's Redis cannot be used: {error}. Check that it runs.")
