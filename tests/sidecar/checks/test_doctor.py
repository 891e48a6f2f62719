"""The doctor finds what keeps turnwire from working, says what to do, and changes nothing by looking."""

import asyncio
import json
import os
import socket
import stat
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest
from otlp_collector import otlp_collector

from journals import RedisProcess
from preloaded import ran
from real_cli import real_cli
from recordings import recording, recordings
from turnwire.config.settings import Settings
from turnwire.config.state_directory import journal_file, located
from turnwire.fleet.messages import WorkerSummary, encode
from turnwire.fleet.store import FleetStore
from turnwire.journal.base import Entry
from turnwire.journal.redis.archive import identity_of
from turnwire.journal.sqlite.journal import SqliteJournal
from turnwire.journal.sqlite.lock import FileLock
from turnwire.sidecar.checks.doctor import checks
from turnwire.sidecar.checks.doctor.checks import NEWEST, OLDEST, port
from turnwire.sidecar.checks.doctor.finding import Finding
from turnwire_process import TURNWIRE, environment, turnwire


def doctor(folder: Path, *arguments: str, code: int, **variables: str) -> dict[str, Any]:
    """Run it; returns its findings by name."""
    env = environment(folder / "home", XDG_STATE_HOME=str(folder / "state"), **variables)
    if not any(argument.startswith("--agent") for argument in arguments):
        arguments = (*arguments, "--agent", "demo")
    if "--port" not in arguments:
        arguments = (*arguments, "--port", "0")
    done = ran(["doctor", "--json", *arguments], cwd=folder, env=env)
    assert done.returncode == code, done.stdout.decode() + done.stderr.decode()
    findings = {finding["what"]: finding for finding in json.loads(done.stdout)}
    assert all((finding["status"] == "ok") == (finding["remedy"] is None) for finding in findings.values())
    return findings


def journal_in(folder: Path) -> Path:
    return folder / "state" / "turnwire" / "journal.sqlite3"


async def make_journal(folder: Path) -> Path:
    path = journal_in(folder)
    log = await SqliteJournal.open(path)
    await log.append("s", [Entry(b'{"type":"notice"}')] * 300)
    await log.flush()
    await log.close()
    return path


async def test_all_is_well_and_nothing_is_changed(tmp_path: Path) -> None:
    path = await make_journal(tmp_path)
    before = path.read_bytes()
    found = doctor(tmp_path, str(recording("2.1.330", "perm-allow").folder), code=0)
    assert {finding["status"] for finding in found.values()} == {"ok"}
    assert "300 events" in found["journal"]["found"]
    assert "all types and fields of 13 lines" in found["protocol"]["found"]
    assert path.read_bytes() == before


def test_before_the_first_start_nothing_is_made(tmp_path: Path) -> None:
    assert "will be made" in doctor(tmp_path, code=0)["journal"]["found"]
    assert not (tmp_path / "state").exists()


def test_people_get_a_line_and_its_remedy(tmp_path: Path) -> None:
    env = environment(tmp_path / "home", PATH="/nowhere")
    done = subprocess.run(
        [*TURNWIRE, "doctor", "--port", "0"],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert lines[0].startswith("FAIL CLI: there is no program 'claude' on PATH")
    assert lines[1].lstrip().startswith("-> install it")
    assert any(line.startswith("ok   port:") for line in lines)


def test_the_real_cli_is_found_with_its_version(tmp_path: Path) -> None:
    (tmp_path / "turnwire.toml").write_text(f'[agents]\nreal = ["{real_cli()}"]\n')
    cli = doctor(tmp_path, "--agent", "real", "--config", "turnwire.toml", code=0)["CLI"]
    assert str(real_cli()) in cli["found"]
    assert cli["found"][0].isdecimal()


@pytest.mark.parametrize(
    ("said", "status", "words"),
    [
        ("9.0.0 (Claude Code)", "note", "newer than"),
        ("0.2.1", "broken", "older than"),
        ("hello", "note", "no version"),
    ],
)
def test_a_version_that_nobody_has_tried_is_told(said: str, status: str, words: str, tmp_path: Path) -> None:
    program = tmp_path / "cli"
    program.write_text(f"#!/bin/sh\necho '{said}'\n")
    program.chmod(0o755)
    (tmp_path / "turnwire.toml").write_text(f'[agents]\nodd = ["{program}"]\n')
    cli = doctor(
        tmp_path, "--agent", "odd", "--config", "turnwire.toml", code=1 if status == "broken" else 0
    )["CLI"]
    assert (cli["status"], words in cli["found"]) == (status, True)


def test_a_taken_port_and_an_open_door_are_broken(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        number = taken.getsockname()[1]
        found = doctor(tmp_path, "--port", str(number), code=1)
        assert found["port"]["status"] == "broken"
        assert f"port {number}: Address already in use" in found["port"]["found"]
    found = doctor(tmp_path, "--host", "0.0.0.0", code=1)
    assert found["access"]["status"] == "broken"
    assert "TURNWIRE_TOKEN" in found["access"]["remedy"]
    assert doctor(tmp_path, "--host", "0.0.0.0", code=0, TURNWIRE_TOKEN="a" * 32)["access"]["status"] == "ok"


@pytest.mark.long
async def test_the_journal_that_run_keeps_for_this_folder_is_looked_into_too(tmp_path: Path) -> None:
    env = environment(tmp_path / "home", XDG_STATE_HOME=str(tmp_path / "state"))
    async with turnwire(tmp_path, "run", "--agent", "demo", "--port", "0", env=env, placed=False):
        found = doctor(tmp_path, code=0)["journal of this folder"]
    assert "in use by a running turnwire" in found["found"]
    path = next((tmp_path / "state" / "turnwire" / "workspaces").glob("*/journal.sqlite3"))
    path.write_bytes(b"")
    found = doctor(tmp_path, code=1)["journal of this folder"]
    assert f"--state-dir {path.parent}" in found["remedy"]


def test_a_taken_port_that_nobody_asked_for_is_no_trouble(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        settings = Settings(port=taken.getsockname()[1])
        unasked = settings.model_copy()
        unasked.model_fields_set.discard("port")
        assert asyncio.run(port(settings)).status == "broken"
        assert asyncio.run(port(unasked)).status == "ok"


async def test_a_damaged_journal_is_broken_and_stays_as_it_is(tmp_path: Path) -> None:
    path = await make_journal(tmp_path)
    data = bytearray(path.read_bytes())
    data[8192:12288] = os.urandom(4096)
    path.write_bytes(data)
    found = doctor(tmp_path, code=1)["journal"]
    assert found["status"] == "broken"
    assert "set-aside" in found["remedy"]
    assert path.read_bytes() == bytes(data)


async def test_a_journal_in_use_and_open_permissions_are_told(tmp_path: Path) -> None:
    path = await make_journal(tmp_path)
    path.parent.chmod(0o755)
    lock = FileLock(path)
    try:
        found = doctor(tmp_path, code=0)
    finally:
        lock.release()
    assert "in use by a running turnwire" in found["journal"]["found"]
    assert found["state directory"]["status"] == "note"
    assert found["state directory"]["remedy"].startswith("turnwire shuts it")
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o755


@pytest.mark.long
@pytest.mark.parametrize("protocol", ["grpc", "http/protobuf"])
def test_a_collector_is_asked(protocol: str, tmp_path: Path) -> None:
    with otlp_collector(tmp_path) as collector:
        variables = collector.environment(protocol)
        assert "answers" in doctor(tmp_path, code=0, **variables)["OTLP"]["found"]
        assert collector.spans() == []
        # The other protocol's port is the mistake that everybody makes once.
        other = {"grpc": "http/protobuf", "http/protobuf": "grpc"}[protocol]
        wrong = doctor(tmp_path, code=1, **{**variables, "OTEL_EXPORTER_OTLP_PROTOCOL": other})
        assert wrong["OTLP"]["status"] == "broken"
    assert "Connection refused" in doctor(tmp_path, code=1, **variables)["OTLP"]["found"]


def test_a_wrong_protocol_and_a_dead_redis_are_broken(tmp_path: Path) -> None:
    found = doctor(
        tmp_path, "--journal", "redis",
        code=1,
        OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:9",
        OTEL_EXPORTER_OTLP_PROTOCOL="carrier-pigeon",
        TURNWIRE_REDIS_URL="redis://127.0.0.1:9/0",
    )  # fmt: skip
    assert "carrier-pigeon" in found["OTLP"]["found"]
    assert found["redis"]["status"] == "broken"


def test_what_a_recording_has_that_is_new_is_named(tmp_path: Path) -> None:
    file = tmp_path / "new.jsonl"
    file.write_text('{"type":"martian"}\n{"type":"keep_alive","mood":"good"}\n' * 2)
    found = doctor(tmp_path, str(file), code=0)["protocol"]
    assert found["status"] == "note"
    assert "types martian x 2; fields keep_alive.mood x 2" in found["found"]


def test_the_known_versions_are_those_of_the_recordings() -> None:
    versions = {tuple(map(int, made.version.split("."))) for made in recordings("perm-allow")}
    assert (min(versions), max(versions)) == (OLDEST, NEWEST)


def told(finding: Finding) -> tuple[str, str]:
    return finding.status, finding.found


async def test_a_key_that_cannot_be_read_is_broken(tmp_path: Path) -> None:
    found = await checks.access(Settings(tls_certificate=tmp_path / "no.pem", tls_key=tmp_path / "no.key"))
    assert told(found) == ("broken", f"tls_certificate {tmp_path / 'no.pem'} cannot be read")


async def test_rules_are_counted_and_a_file_that_is_none_is_broken(tmp_path: Path) -> None:
    file = tmp_path / "rules.toml"
    file.write_text('[[rules]]\naction = "deny"\ntool = "Bash"\n')
    assert told(await checks.rules(Settings(rules=file))) == ("ok", f"1 rules and 0 hooks in {file}")
    file.write_text("[[rules")
    broken = await checks.rules(Settings(rules=file))
    assert broken.status == "broken"
    assert str(file) in broken.found


async def test_a_state_directory_that_cannot_be_made_is_broken(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    found = await checks.state_directory(Settings(state_dir=tmp_path / "file" / "state"))
    assert told(found) == ("broken", f"{tmp_path / 'file'} is not a writable directory")


async def test_a_state_directory_of_another_user_is_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
    found = await checks.state_directory(Settings(state_dir=tmp_path))
    assert found.status == "broken"
    assert "belongs to another user" in found.found


async def test_a_journal_in_memory_has_nothing_to_look_into() -> None:
    found = await checks.journal(Settings(journal="memory"))
    assert told(found) == ("ok", "in memory: events end with the process")


async def test_the_journal_of_this_folder_and_recordings_are_looked_at_where_they_are_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_ENDPOINT", raising=False)
    settings = Settings(agent="demo", port=0, record=True, record_dir=tmp_path / "recordings")
    names = [finding.what for finding in await checks.examine(settings, None)]
    assert "recordings" in names
    assert "journal of this folder" not in names
    path = journal_file(located(settings, Path()))
    log = await SqliteJournal.open(path)
    await log.append("s", [Entry(b'{"type":"notice"}')] * 3)
    await log.flush()
    await log.close()
    found = {finding.what: finding for finding in await checks.examine(settings, None)}
    assert found["journal of this folder"].found.startswith(f"{path} is sound: 3 events")
    assert found["recordings"].found == f"go to {tmp_path / 'recordings'}"


async def test_a_folder_for_recordings_that_is_a_file_is_broken(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    found = await checks.recordings(Settings(record=True, record_dir=tmp_path / "file"))
    assert (found.status, found.remedy) == ("broken", "name another folder with --record-dir")


async def test_a_directory_for_old_events_is_compared_with_the_ones_of_running_workers(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "archive"
    with tempfile.TemporaryDirectory(prefix="redis-") as place:
        server = RedisProcess(Path(place))
        server.start()
        try:
            settings = Settings(
                journal="redis", redis_url=server.url, archive_dir=folder, worker="w", archive_after_s=60
            )
            plain = settings.model_copy(update={"archive_after_s": None})
            assert "archive_after_s moves them" in (await checks.archive(plain)).found
            own = identity_of(folder)
            store = FleetStore(server.url)
            for name, archive in (("w", own), ("other", "another")):
                about = WorkerSummary(
                    name=name, version="1", host="build-7", workspaces=[], agents=[], archive=archive,
                    max_sessions=1, max_processes=1,
                )  # fmt: skip
                await store.renew(name, "i", "p", encode(about), 60_000, begins=True)
                await store.join(name)
                found = await checks.archive(settings)
                assert found.status == ("ok" if name == "w" else "note")
            assert "other on build-7" in found.found
            await store.close()
            folder.chmod(0o500)
            if os.geteuid():
                assert "takes no files" in (await checks.archive(settings)).found
        finally:
            server.kill()
            folder.chmod(0o700)
    # Redis is away: the finding before says so
    assert (await checks.archive(settings)).status == "ok"
    (tmp_path / "file").write_text("")
    wrong = settings.model_copy(update={"archive_dir": tmp_path / "file"})
    assert (await checks.archive(wrong)).status == "broken"


@pytest.mark.parametrize("keeps", [True, False], ids=["keeps a file", "keeps none"])
async def test_a_redis_that_keeps_no_file_of_what_it_is_told_is_noted(keeps: bool) -> None:
    with tempfile.TemporaryDirectory(prefix="turnwire-doctor-") as folder:  # a socket's path must be short
        server = RedisProcess(Path(folder), *(("--appendonly", "yes") if keeps else ()))
        server.start()
        try:
            found = await checks.redis(Settings(journal="redis", redis_url=server.url))
        finally:
            server.kill()
    assert (found.status, "loses events" in found.found) == (("ok", False) if keeps else ("note", True))


@pytest.mark.parametrize(
    ("configured", "reason", "expected"),
    [
        ("off", None, ("ok", "off; files and network can be had")),
        ("off", "no bwrap", ("ok", "off; it cannot be had: no bwrap")),
        ("files", None, ("ok", "files can be had")),
        ("network", "no bwrap", ("broken", "network cannot be had: no bwrap")),
    ],
)
async def test_the_doctor_says_whether_the_sandbox_can_be_had(
    configured: Any, reason: str | None, expected: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("turnwire.adapter.sandbox.available.why_unavailable", lambda _: reason)
    assert told(await checks.sandbox(Settings(sandbox=configured))) == expected
