"""A `turnwire.toml` comes with the folder: until its content is trusted, only harmless settings of it count."""

import json
import os
import stat
import subprocess
from pathlib import Path

import pytest

from preloaded import ran
from turnwire.client import connect
from turnwire.config.settings import Settings
from turnwire.config.trust import HARMLESS, TrustStore
from turnwire_process import environment, turnwire

NEEDS_TRUST = {
    "agents_file": "programs that are started",
    "stop_timeout_s": "ends turnwire before what is open is kept, or keeps it from its end",
    "host": "opens the hub to other machines",
    "token": "lets in whoever wrote the file",
    "view_token": "lets in whoever wrote the file",
    "tls_certificate": "another's key reads along",
    "tls_key": "another's key reads along",
    "allowed_origins": "lets in pages of others",
    "allowed_hosts": "lets in pages of others, by rebinding a name",
    "proxy_user_header": "lets in whoever a proxy names",
    "proxy_user_role": "lets in others than were let in",
    "proxy_user_sessions": "shows sessions to others",
    "journal": "sends events elsewhere, or keeps no audit trail",
    "redis_url": "sends events elsewhere",
    "journal_url": "sends events elsewhere",
    "worker": "lets a fleet in",
    "worker_labels": "has a fleet send others' sessions here",
    "worker_group": "takes over sessions of other machines",
    "quotas": "lets others use more than they may",
    "redis_prefix": "chooses whose keys in a Redis are read and written",
    "archive_after_s": "moves what was kept of other sessions",
    "archive_dir": "writes and reads files elsewhere",
    "fleet_drain_s": "lets sessions of this machine go to other workers of its group",
    "fleet_lease_s": "lets a fleet believe that this machine is gone",
    "redis_replicas": "keeps less of what happened",
    "state_dir": "writes elsewhere, and reads what is remembered from there",
    "memory_bytes": "removes what was kept of other sessions",
    "retain_days": "removes what was kept of other sessions",
    "retain_events": "removes what was kept of other sessions",
    "retain_bytes": "removes what was kept of other sessions",
    "keep_raw": "keeps less of what happened",
    "agent": "chooses a command",
    "agents": "runs commands",
    "dialect": "takes the permission protocol away",
    "policy": "decides permissions",
    "rules": "decides permissions, and its hooks run commands",
    "mcp_servers": "runs commands",
    "session_options": "permits tools, and runs hooks and plugins",
    "hosted_mcp": "runs commands",
    "webhooks": "sends what happens elsewhere",
    "push": "lets what happens be sent elsewhere where that was turned off",
    "push_services": "has this machine call addresses of others' choosing",
    "public_url": "has a token shown as the way to another's server",
    "push_contact": "tells others an address",
    "pass_env": "hands secrets on",
    "permission_timeout_s": "decides permissions",
    "sandbox": "takes the sandbox away",
    "sandbox_floor": "lets frontends take the sandbox away",
    "sandbox_writable": "opens files to agents",
    "sandbox_readable": "opens files to agents",
    "sandbox_unprotected": "lets agents write what runs later",
    "sandbox_hosts": "opens hosts to agents",
    "accept_unasked": "has an agent do unasked what was to be asked about",
    "check_uncommitted": "leaves uncommitted what an agent was to be asked about",
    "max_line_bytes": "keeps less of what happened, or takes memory",
    "attachments": "writes files",
    "history": "shows what was said elsewhere",
    "history_dirs": "shows what was said elsewhere",
    "prices": "reads a file that is not meant for it",
    "record": "writes down all that is said",
    "record_dir": "writes elsewhere",
    "trace_limit": "sends more of what is said to the collector",
    "trace_content": "sends what is said to the collector",
    "trace_processors": "imports code, and hands it what is said",
    "log_level": "hides what turnwire warns of",
    "token_file": "lets in whoever knows the file",
    "view_token_file": "lets in whoever knows the file",
    "token_fd": "reads what is not meant for it",
    "view_token_fd": "reads what is not meant for it",
    "frontend_policy": "lets frontends permit more",
    "shell": "lets frontends run programs",
    "worktrees": "writes elsewhere",
    "frontend_workspaces": "lets frontends reach more",
    "frontend_env": "lets frontends choose programs by variables",
    "frontend_options": "lets frontends run programs",
    "trusted_proxies": "lets a header say whose request it is",
    "keep_tokens": "takes open tabs their tokens",
    "trace_url": "puts a link of its own into the console",
}
"""Settings that a file of a folder may not decide, and why."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def call(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run turnwire in a folder; the user's home is beside it."""
    done = ran(arguments, cwd=folder, env=environment(folder.parent / "home", **variables))
    said = done.stdout.decode(), done.stderr.decode()
    return subprocess.CompletedProcess(done.args, done.returncode, *said)


def cli_of(folder: Path, *arguments: str, **variables: str) -> str:
    """What the doctor says about the CLI that a start in this folder would run."""
    done = call(folder, "doctor", "--json", "--port", "0", *arguments, **variables)
    return next(str(one["found"]) for one in json.loads(done.stdout) if one["what"] == "CLI")


def write(folder: Path, text: str) -> Path:
    file = folder / "turnwire.toml"
    file.write_text(text)
    return file


def odd_agent(folder: Path, name: str = "demo") -> str:
    """Settings whose agent leaves a mark when it is run."""
    program = folder / "planted"
    program.write_text(f"#!/bin/sh\ntouch {folder / 'ran'}\necho 2.1.330\n")
    program.chmod(0o755)
    return f'agent = "{name}"\n[agents]\n{name} = ["{program}"]\n'


def test_every_setting_is_harmless_or_says_why_it_needs_trust() -> None:
    assert HARMLESS.isdisjoint(NEEDS_TRUST)
    assert HARMLESS | set(NEEDS_TRUST) == set(Settings.model_fields)


@pytest.mark.parametrize("name", ["demo", "claude", "other"])
def test_an_agent_of_an_untrusted_file_is_not_run(project: Path, name: str) -> None:
    write(project, odd_agent(project, name))
    done = call(project, "doctor", "--json", "--port", "0")
    assert not (project / "ran").exists()
    assert "planted" not in done.stdout
    (said,) = [line for line in done.stderr.splitlines() if "turnwire trust" in line]
    assert "agent, agents" in said
    assert str(project / "turnwire.toml") in said


@pytest.mark.long
async def test_a_token_of_an_untrusted_file_opens_nothing_and_its_policy_is_not_followed(
    tmp_path: Path,
) -> None:
    write(
        tmp_path,
        'token = "planted-by-a-stranger"\nallowed_origins = ["https://evil.example"]\npolicy = "autonomous"\n'
        'trace_url = "https://evil.example/{trace_id}"\nmax_connections = 7\n',
    )
    env = environment(tmp_path / "home")
    async with turnwire(tmp_path, "run", "--agent", "demo", env=env, named=False) as served:
        assert served.token != "planted-by-a-stranger"
        async with connect(served.url) as client:
            (summary,) = client.known_sessions
            assert summary.policy is None
            assert client.welcome is not None
            assert client.welcome.trace_url is None
    said = (tmp_path / "turnwire.log").read_text()
    assert "allowed_origins, policy, token, trace_url" in said
    assert "max_connections" not in said


def test_a_trusted_file_counts_whole_until_its_content_changes(project: Path) -> None:
    file = write(project, odd_agent(project))
    trusted = call(project, "trust")
    assert trusted.returncode == 0, trusted.stderr
    assert str(project / "planted") in trusted.stdout
    assert "planted" in cli_of(project)
    write(project, file.read_text() + "# changed\n")
    assert "planted" not in cli_of(project)
    assert call(project, "trust").returncode == 0
    assert "planted" in cli_of(project)
    assert call(project, "trust", "--revoke").returncode == 0
    assert "planted" not in cli_of(project)


def test_the_same_content_elsewhere_is_not_trusted(project: Path, tmp_path: Path) -> None:
    file = write(project, odd_agent(project))
    assert call(project, "trust").returncode == 0
    for name in ("copy", "link"):
        (tmp_path / name).mkdir()
    (tmp_path / "copy" / "turnwire.toml").write_bytes(file.read_bytes())
    (tmp_path / "link" / "turnwire.toml").symlink_to(file)
    assert "planted" not in cli_of(tmp_path / "copy")
    assert "planted" not in cli_of(tmp_path / "link")
    (tmp_path / "alias").symlink_to(project)
    assert "planted" in cli_of(tmp_path / "alias"), "the same folder by another name"


def test_a_link_whose_target_changes_is_asked_about_again(project: Path, tmp_path: Path) -> None:
    target = tmp_path / "target.toml"
    target.write_text(odd_agent(project))
    (project / "turnwire.toml").symlink_to(target)
    assert call(project, "trust").returncode == 0
    assert "planted" in cli_of(project)
    target.write_text(odd_agent(project) + "\n")
    assert "planted" not in cli_of(project)


@pytest.mark.parametrize("how", ["option", "environment"])
def test_a_file_that_is_named_counts_whole(project: Path, how: str) -> None:
    file = write(project, odd_agent(project))
    if how == "option":
        assert "planted" in cli_of(project, "--config", "turnwire.toml")
    else:
        assert "planted" in cli_of(project, TURNWIRE_CONFIG=str(file))


def test_what_the_user_configured_stays_in_force_beside_the_file_of_a_folder(
    project: Path, tmp_path: Path
) -> None:
    user = tmp_path / "home" / ".config" / "turnwire" / "config.toml"
    user.parent.mkdir(parents=True)
    user.write_text(odd_agent(tmp_path, "mine"))
    write(project, "max_sessions = 3\n")
    assert "planted" in cli_of(project)
    assert call(project, "doctor", "--agent", "demo", "--port", "0").stderr == "", (
        "harmless settings need no trust"
    )


@pytest.mark.parametrize("command", ["runner", "stdio"])
def test_commands_over_standard_input_trust_no_more_than_others(project: Path, command: str) -> None:
    write(project, odd_agent(project))
    call(project, command, "--agent", "demo")
    assert not (project / "ran").exists()
    home = project.parent / "home"
    log = home / ".local" / "state" / "turnwire" / "runner.log"
    if command == "runner":
        assert "turnwire trust" in log.read_text()


def test_who_may_read_what_is_trusted_is_its_user_alone(project: Path) -> None:
    write(project, "policy = 'plan'\n")
    assert call(project, "trust").returncode == 0
    state = project.parent / "home" / ".local" / "state" / "turnwire"
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in (state, *state.rglob("*"))}
    assert {mode for path, mode in modes.items() if path.is_dir()} == {0o700}
    assert {mode for path, mode in modes.items() if path.is_file()} == {0o600}


def test_what_is_shown_before_trust_has_no_secret_and_no_control_characters(project: Path) -> None:
    write(project, 'token = "a-very-secret-token"\nmodel = "x\\u001b[2Jy\\u202e"\npolicy = "plan"\n')
    shown = call(project, "trust").stdout
    assert "a-very-secret-token" not in shown
    assert "token" in shown
    assert shown.replace("\n", "").isprintable()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["trust"], "turnwire.toml"),
        (["trust", "other.toml"], "--config"),
        (["trust", "--revoke"], "not trusted"),
    ],
)
def test_trust_in_nothing_is_refused(project: Path, arguments: list[str], says: str) -> None:
    (project / "other.toml").write_text("")
    done = call(project, *arguments)
    assert done.returncode != 0
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_a_file_without_end_is_refused(project: Path) -> None:
    (project / "turnwire.toml").symlink_to("/dev/zero")
    assert call(project, "doctor", "--agent", "demo", "--port", "0").returncode == 0, "no file: passed over"
    done = call(project, "doctor", "--agent", "demo", "--port", "0", "--config", "/dev/zero")
    assert done.returncode == 2
    assert "/dev/zero" in done.stderr


def test_a_setting_of_the_environment_that_does_not_exist_is_refused(project: Path) -> None:
    done = call(project, "doctor", "--agent", "demo", TURNWIRE_PROT="1")
    assert done.returncode == 2
    assert "TURNWIRE_PROT" in done.stderr
    assert "TURNWIRE_PORT" in done.stderr, "what was meant"
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(("variable", "value"), [("AGENTS", "claude"), ("SESSION_OPTIONS", "{bad")])
def test_a_table_of_the_environment_that_is_no_json_is_one_sentence(
    variable: str, value: str, project: Path
) -> None:
    done = call(project, "doctor", "--agent", "demo", **{f"TURNWIRE_{variable}": value})
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
    assert variable.lower() in done.stderr
    assert "JSON" in done.stderr


def test_what_is_nested_too_deep_is_one_sentence(project: Path) -> None:
    deep = "[" * 100_000
    done = call(project, "doctor", "--agent", "demo", TURNWIRE_MCP_SERVERS=deep)
    assert (done.returncode, len(done.stderr.strip().splitlines())) == (2, 1)
    (project / "turnwire.toml").write_text(f"port = {deep}")
    done = call(project, "doctor", "--agent", "demo")
    assert (done.returncode, len(done.stderr.strip().splitlines())) == (2, 1)
    assert "turnwire.toml" in done.stderr


def test_a_wrong_value_is_told_with_all_variables_that_it_may_have_come_from(project: Path) -> None:
    done = call(project, "doctor", "--agent", "demo", KANDEV_DEBUG_AGENT_MESSAGES="maybe")
    assert done.returncode == 2
    assert "KANDEV_DEBUG_AGENT_MESSAGES" in done.stderr


def test_the_name_of_a_folder_writes_nothing_to_the_terminal_but_itself(project: Path) -> None:
    folder = project / "a\x1b[31m\nb"
    folder.mkdir()
    (folder / "turnwire.toml").write_text('policy = "autonomous"\n')
    done = call(folder, "doctor", "--agent", "demo", "--port", "0")
    assert "\x1b" not in done.stderr
    assert "is not trusted" in done.stderr.splitlines()[0]


def test_what_turnwire_gives_its_agents_is_no_unknown_setting(project: Path) -> None:
    done = call(
        project,
        "doctor",
        "--agent",
        "demo",
        "--port",
        "0",
        TURNWIRE_PROCESS="x",
        TURNWIRE_AGENT_SCRIPT="demo",
    )
    assert done.returncode == 0, done.stderr


def test_a_store_that_cannot_be_read_trusts_nothing(tmp_path: Path) -> None:
    store = TrustStore(tmp_path / "trusted")
    file = tmp_path / "turnwire.toml"
    store.trust(file, b"x")
    assert store.trusts(file, b"x")
    (entry,) = (tmp_path / "trusted").iterdir()
    entry.write_bytes(os.urandom(100))
    assert not store.trusts(file, b"x")
    entry.unlink()
    entry.mkdir()
    assert not store.trusts(file, b"x")


def test_a_file_without_trust_still_must_be_one_that_can_be_read(project: Path) -> None:
    for wrong in ("polcy = 'plan'\n", "= 1\n", "port = 'x'\n"):
        write(project, wrong)
        done = call(project, "doctor", "--agent", "demo")
        assert done.returncode == 2
        assert "turnwire.toml" in done.stderr
