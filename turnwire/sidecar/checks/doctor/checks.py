"""The doctor's checks. They change nothing: no file is created, no journal starts a new lifetime."""

import asyncio
import errno
import os
import socket
import sqlite3
import stat
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from pathlib import Path

from turnwire.config.agents import AgentNotFoundError, find
from turnwire.config.hub_settings import hub_config
from turnwire.config.rulebook import read_rulebook
from turnwire.config.settings import ConfigurationError, Settings
from turnwire.config.state_directory import journal_file, journal_options, located
from turnwire.hub.server.access import AccessError, RoleTokens
from turnwire.journal.base import JournalUnavailable
from turnwire.journal.plugins import REDIS, SQLITE
from turnwire.journal.sqlite.lock import FileLock
from turnwire.recordings.recorded import RecordingError
from turnwire.sessions.frontend_limits import FrontendLimits
from turnwire.sidecar.checks.doctor import agent_checks
from turnwire.sidecar.checks.doctor.finding import Finding
from turnwire.tracing.export.wanted import TracingError, metrics_wanted, tracing_wanted

OLDEST, NEWEST = (1, 0, 120), (2, 1, 330)
"""The CLI's versions that the recordings of the tests are from."""
PATIENCE_S = 3.0


async def examine(settings: Settings, recording: Path | None, family: str | None = None) -> Sequence[Finding]:
    """Run all checks, in the order in which a start needs what they check; raises RecordingError."""
    looks: list[Callable[[Settings], Awaitable[Finding]]] = [
        agent,
        access,
        frontends,
        sandbox,
        port,
        rules,
        state_directory,
        journal,
    ]
    if "state_dir" not in settings.model_fields_set and journal_file(located(settings, Path())).exists():
        looks.append(journal_here)
    if settings.journal_kind.durable and settings.journal_kind is not SQLITE:
        looks.append(records)
    if settings.journal_kind is REDIS:
        looks += [redis, archive]
    if settings.record:
        looks.append(recordings)
    looks.append(collector)
    findings = [await look(settings) for look in looks]
    findings[1:1] = await agent_checks.finding(settings.agents)
    findings.append(protocol(recording, family))
    return findings


async def agent(settings: Settings) -> Finding:
    """Check that the CLI is installed and reports a version that is known to work."""
    try:
        found = find(settings.agent, settings.agents)
    except AgentNotFoundError as error:
        return Finding(
            "CLI", "broken", str(error), "install it, or configure another with `agent` and [agents]"
        )
    if found.scripted:
        return Finding("CLI", "ok", "the scripted agent")
    version = await agent_checks.version_of(found)
    if found.family != "claude":
        return Finding("CLI", "ok", f"{found.name} {version or ''} at {found.argv[0]}".replace("  ", " "))
    if version is None:
        return Finding(
            "CLI",
            "note",
            f"{found.argv[0]} says no version",
            "run it with --version; turnwire takes it for a new one",
        )
    where = f"{version} at {found.argv[0]}"
    if version < OLDEST:
        return Finding("CLI", "broken", f"{where} is older than any known one", "upgrade it")
    if version > NEWEST:
        return Finding(
            "CLI",
            "note",
            f"{where} is newer than the newest known one, {'.'.join(map(str, NEWEST))}",
            "record a session with --record and give the file to `turnwire doctor`, which tells what is new",
        )
    return Finding("CLI", "ok", where)


async def access(settings: Settings) -> Finding:
    """Check that the hub's access control is safe, and that its certificate can be read."""
    try:
        RoleTokens.from_config(hub_config(settings))
    except AccessError as error:
        return Finding("access", "broken", str(error), "set TURNWIRE_TOKEN, or listen on 127.0.0.1")
    for name, path in (("tls_certificate", settings.tls_certificate), ("tls_key", settings.tls_key)):
        if path is not None and not os.access(path, os.R_OK):
            return Finding(
                "access",
                "broken",
                f"{name} {path} cannot be read",
                f"correct the path or its permissions ({name})",
            )
    kind = "a configured token" if settings.token else "random tokens, kept from one start to the next"
    return Finding("access", "ok", f"{kind}, {'TLS' if settings.tls_certificate else 'no TLS'}")


async def frontends(settings: Settings) -> Finding:
    """Report how far a frontend may go beyond the configuration."""
    limits = FrontendLimits(settings, Path())
    folders = ", ".join(map(str, limits.workspaces)) or "nowhere"
    more = f"; may choose {', '.join(settings.frontend_options)}" if settings.frontend_options else ""
    policies = ", ".join(limits.policies)
    return Finding("frontends", "ok", f"policies {policies}; agents work below {folders}{more}")


async def sandbox(settings: Settings) -> Finding:
    """Check that the configured sandbox is available to the agents."""
    from turnwire.adapter.sandbox.available import why_unavailable  # noqa: PLC0415 - a hub has no agents

    levels = {settings.sandbox, *(one.sandbox for one in settings.agents.values() if one.sandbox)}
    wanted = next((level for level in ("network", "files") if level in levels), None)
    reason = await asyncio.to_thread(why_unavailable, wanted or "network")
    if reason is None:
        return Finding(
            "sandbox", "ok", f"{wanted} can be had" if wanted else "off; files and network can be had"
        )
    if wanted is None:
        return Finding("sandbox", "ok", f"off; it cannot be had: {reason}")
    return Finding(
        "sandbox", "broken", f"{wanted} cannot be had: {reason}", 'do that, or set sandbox = "off"'
    )


async def port(settings: Settings) -> Finding:
    """Can the hub listen?"""
    where = f"{settings.host} port {settings.port or 'any'}"
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM
        )[0]
        with socket.socket(family, kind, protocol) as taken:
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            taken.bind(address)
    except OSError as error:
        if error.errno == errno.EADDRINUSE and "port" not in settings.model_fields_set:
            return Finding("port", "ok", f"{where} is taken; the next free one will be used")
        return Finding(
            "port",
            "broken",
            f"{where}: {error.strerror or error}",
            "give another with --port, or 0 for any free one",
        )
    return Finding("port", "ok", f"{where} is free")


async def rules(settings: Settings) -> Finding:
    """Can the rules and hooks be read?"""
    try:
        book = read_rulebook(settings.rules)
    except ConfigurationError as error:
        return Finding("rules", "broken", str(error), "correct the file, or name another with --rules")
    if settings.rules is None:
        return Finding("rules", "ok", "none configured")
    if found := book.warnings:
        return Finding("rules", "note", f"{settings.rules}: {'; '.join(found)}", "write narrower patterns")
    return Finding("rules", "ok", f"{len(book.rules)} rules and {len(book.hooks)} hooks in {settings.rules}")


async def state_directory(settings: Settings) -> Finding:
    """Check that nobody else can read the state directory."""
    folder = settings.state_dir
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
        return Finding(
            "state directory",
            "broken",
            f"{existing} is not a writable directory",
            "correct its permissions, or name another with --state-dir",
        )
    if existing != folder:
        return Finding("state directory", "ok", f"{folder} will be made")
    about = folder.stat()
    if about.st_uid != os.geteuid():
        return Finding(
            "state directory",
            "broken",
            f"{folder} belongs to another user (uid {about.st_uid})",
            "name another with --state-dir, or chown it: events tell all that an agent read and wrote",
        )
    if stat.S_IMODE(about.st_mode) & 0o077:
        return Finding(
            "state directory",
            "note",
            f"others can look into {folder} (mode {stat.S_IMODE(about.st_mode):o})",
            "turnwire shuts it at its next start: events tell all that an agent read and wrote",
        )
    return Finding("state directory", "ok", str(folder))


async def journal(settings: Settings) -> Finding:
    """Is the journal sound, and can it be written?"""
    kind = settings.journal_kind
    if kind is SQLITE:
        return await _file("journal", settings)
    return Finding("journal", "ok", kind.location(journal_options(settings)))


async def records(settings: Settings) -> Finding:
    """Check the file of session records beside a journal that is elsewhere."""
    return await _file("session records", settings)


async def _file(what: str, settings: Settings) -> Finding:
    path = journal_file(settings)
    if not path.exists():
        return Finding(what, "ok", f"{path} will be made")
    return await _sound(what, path)


async def journal_here(settings: Settings) -> Finding:
    """Is the journal sound that `turnwire run` keeps for this folder?"""
    return await _sound("journal of this folder", journal_file(located(settings, Path())))


async def _sound(what: str, path: Path) -> Finding:
    try:
        return await asyncio.to_thread(_look_into, what, path)
    except (JournalUnavailable, OSError, sqlite3.Error) as error:
        return Finding(
            what,
            "broken",
            str(error),
            f"`turnwire journal set-aside --state-dir {path.parent}` moves it away, so that a new one can begin",
        )


def _look_into(what: str, path: Path) -> Finding:
    size = f"{path.stat().st_size / 1e6:.1f} MB"
    try:
        lock = FileLock(path)
    except JournalUnavailable:
        return Finding(what, "ok", f"{path} ({size}) is in use by a running turnwire")
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=rw", uri=True, isolation_level=None)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("ROLLBACK")
            wrong = [str(row[0]) for row in connection.execute("PRAGMA quick_check(3)")]
            (events,) = connection.execute("SELECT count(*) FROM event").fetchone()
    finally:
        lock.release()
    if wrong != ["ok"]:
        raise sqlite3.DatabaseError(f"{path} is damaged: {'; '.join(wrong)}")
    return Finding(what, "ok", f"{path} is sound: {events} events, {size}")


async def redis(settings: Settings) -> Finding:
    """Check that the Redis server answers and keeps what it stores."""
    try:
        from redis.asyncio import from_url  # noqa: PLC0415 - an optional extra
        from redis.exceptions import RedisError  # noqa: PLC0415 - as above
    except ImportError:
        return Finding("redis", "broken", "its client is not installed", "pip install 'turnwire[redis]'")
    try:
        async with asyncio.timeout(PATIENCE_S), from_url(settings.redis_url) as client:
            persistence = await client.info("persistence")
    except (RedisError, OSError, TimeoutError, ValueError) as error:
        why = str(error) or f"no answer within {PATIENCE_S:.0f} s"
        return Finding("redis", "broken", why, "start the server, or correct TURNWIRE_REDIS_URL")
    if not persistence.get("aof_enabled"):
        return Finding(
            "redis",
            "note",
            "answers, but keeps no append-only file: a crash of the server loses events",
            "set `appendonly yes` in its configuration",
        )
    return Finding("redis", "ok", "answers, and keeps an append-only file")


async def archive(settings: Settings) -> Finding:
    """Check that the directory with old events can be used, and is the one that the fleet's running workers have."""
    folder = settings.archive_folder
    try:
        from redis.exceptions import RedisError  # noqa: PLC0415 - an optional extra

        from turnwire.fleet.operating import Operator  # noqa: PLC0415 - as above
        from turnwire.journal.redis.archive import identity_of  # noqa: PLC0415 - as above

        own = await asyncio.to_thread(identity_of, folder, makes=False)
    except ImportError:
        return Finding(
            "archive", "note", "not looked at without the client of Redis", "pip install 'turnwire[redis]'"
        )
    except OSError as error:
        return Finding(
            "archive",
            "broken",
            f"{folder} cannot be read: {error.strerror or error}",
            "correct it, or name another archive_dir",
        )
    moves = settings.archive_after_s is not None
    if moves and folder.exists() and not os.access(folder, os.W_OK | os.X_OK):
        return Finding(
            "archive", "broken", f"{folder} takes no files", "correct its mode, or name another archive_dir"
        )
    try:
        operator = Operator(settings.redis_url, settings.redis_prefix)
        try:
            async with asyncio.timeout(PATIENCE_S):
                workers = (await operator.status()).workers
        finally:
            await operator.close()
    except (JournalUnavailable, RedisError, OSError, TimeoutError):
        workers = []  # the finding before tells of it
    others = [f"{one.worker} on {one.host}" for one in workers if one.archive and one.archive != own]
    if others:
        return Finding(
            "archive",
            "note",
            f"{folder} is not the directory of {', '.join(others)}: old events of their sessions cannot be read here",
            "set archive_dir to one directory that all workers and hubs share",
        )
    if not moves and not own:
        return Finding("archive", "ok", "events of quiet sessions stay in Redis; archive_after_s moves them")
    return Finding("archive", "ok", f"events of quiet sessions are in {folder}")


async def recordings(settings: Settings) -> Finding:
    """Can recordings be written?"""
    from turnwire.recordings.recorder import check_folder  # noqa: PLC0415 - where they are wanted

    try:
        check_folder(settings.record_dir)
    except RecordingError as error:
        return Finding("recordings", "broken", str(error), "name another folder with --record-dir")
    return Finding("recordings", "ok", f"go to {settings.record_dir.resolve()}")


async def collector(settings: Settings) -> Finding:
    """Check that the OTLP endpoint accepts spans."""
    del settings  # the standard variables say it all
    if not tracing_wanted():
        kinds = "metrics only" if metrics_wanted() else "off"
        return Finding("OTLP", "ok", f"{kinds}; OTEL_EXPORTER_OTLP_ENDPOINT turns it on")
    try:
        failure = await asyncio.to_thread(_send_nothing)
    except TracingError as error:
        return Finding("OTLP", "broken", str(error), "correct that variable")
    if failure is not None:
        return Finding(
            "OTLP",
            "broken",
            failure,
            "start the collector, or correct OTEL_EXPORTER_OTLP_ENDPOINT and OTEL_EXPORTER_OTLP_PROTOCOL (gRPC is 4317, http/protobuf 4318)",
        )
    return Finding("OTLP", "ok", "the collector answers")


def _send_nothing() -> str | None:
    """Export no spans; return why that failed."""
    from turnwire.tracing.export.otel import try_exporters  # noqa: PLC0415 - nothing of OpenTelemetry is imported while it is off

    return try_exporters(PATIENCE_S)


def protocol(recording: Path | None, family: str | None = None) -> Finding:
    """Report what in a recording is new to turnwire. Raises RecordingError and UnknownFamily."""
    if recording is None:
        return Finding(
            "protocol", "ok", "no recording was given; name one to see what its CLI writes that is new"
        )
    from turnwire.sidecar.checks.doctor.drift import finding  # noqa: PLC0415 - takes all that reads recordings

    return finding(recording, family)
