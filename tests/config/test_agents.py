"""Agents by name: what the table knows, what the configuration changes of it, and how an agent is found."""

import json
import stat
from pathlib import Path

import pytest

from preloaded import ran
from turnwire.adapter.acp.asking import EVERYTHING, HABITS, never_asks
from turnwire.config.agents import (
    AgentNotFoundError,
    AgentSetting,
    agent_of_argv,
    family_named,
    find,
)
from turnwire.config.known_agents import KNOWN, recognised
from turnwire.config.settings import ConfigurationError, Settings, load
from turnwire.hub.host import CommandRefused
from turnwire.journal.sessions import SessionRecord
from turnwire.sessions.choices import agent_choices
from turnwire.sessions.frontend_limits import FrontendLimits
from turnwire.sidecar.checks.doctor.agent_checks import logged_in
from turnwire_process import environment


def program(folder: Path, name: str, says: str = "") -> Path:
    """A program that says one line, whatever it is asked."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\necho '{says}'\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.mark.parametrize("name", KNOWN)
def test_a_known_agent_is_found_by_its_name_and_started_so_that_it_speaks(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = KNOWN[name]
    path = program(tmp_path, known.program)
    monkeypatch.setenv("PATH", str(tmp_path))
    agent = find(name, {})
    assert agent.argv == (str(path), *known.command[1:])
    assert (agent.family, agent.variables) == (known.family, known.variables)
    assert recognised(agent.argv) is known


@pytest.mark.parametrize("name", KNOWN)
def test_an_agent_that_is_not_here_says_how_to_get_it(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(AgentNotFoundError) as refused:
        find(name, {})
    install = KNOWN[name].install
    assert f"install {KNOWN[name].title}" in str(refused.value)
    assert install is None or f"`{install}`" in str(refused.value)


def test_its_own_installer_may_have_put_it_where_path_does_not_lead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    path = program(tmp_path / ".opencode" / "bin", "opencode")
    assert find("opencode", {}).argv == (str(path), "acp")


def test_the_configuration_takes_a_list_or_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("mine", "gemini", "qwen"):
        program(tmp_path, name)
    file = tmp_path / "turnwire.toml"
    file.write_text(
        """
        [agents]
        listed = ["mine", "--flag"]
        [agents.gemini]
        env = {GEMINI_API_KEY = "placeholder"}
        [agents.work]
        command = ["gemini", "--acp", "--sandbox"]
        [agents.other]
        family = "acp"
        command = ["mine"]
        client_files = "read"
        client_terminals = true
        [agents.qwen]
        command = ["qwen", "--bare"]
        """
    )
    agents = load({}, file).agents
    assert find("listed", agents).argv[1:] == ("--flag",)
    assert find("listed", agents).family == "claude"
    gemini = find("gemini", agents)
    assert (gemini.argv[1:], gemini.family, gemini.env) == (
        ("--acp",),
        "acp",
        {"GEMINI_API_KEY": "placeholder"},
    )
    assert (find("work", agents).family, find("work", agents).variables) == ("acp", KNOWN["gemini"].variables)
    other = find("other", agents)
    assert (other.family, other.client_files, other.client_terminals) == ("acp", "read", True)
    assert find("qwen", agents).family == "qwen"
    assert [family_named(name, agents) for name in ("claude", "demo-acp", "forgotten")] == [
        "claude",
        "acp",
        "claude",
    ]


def test_an_unknown_field_of_an_agent_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "turnwire.toml"
    file.write_text("[agents.mine]\ncommand = ['x']\nargs = ['y']\n")
    with pytest.raises(Exception, match=r"setting agents\.mine\.args: there is no such setting"):
        load({}, file)


def test_a_command_line_is_known_by_its_program_and_the_arguments_that_make_it_speak() -> None:
    assert agent_of_argv(["/opt/bin/gemini", "--acp", "-m", "x"], None).family is None
    assert agent_of_argv(["wrapper", "gemini"], "acp").family == "acp"
    assert agent_of_argv(["gemini"], "claude").family == "claude"
    with pytest.raises(AgentNotFoundError, match="`opencode acp`"):
        agent_of_argv(["/opt/bin/opencode"], None)


def test_an_agent_without_any_command_says_so() -> None:
    with pytest.raises(AgentNotFoundError, match="empty argument vector"):
        find("mine", {"mine": AgentSetting()})


def test_a_frontend_takes_no_known_agent_that_is_not_configured(tmp_path: Path) -> None:
    settings = Settings(agent="gemini", agents={"boxed": AgentSetting(command=["box"])})
    floor = FrontendLimits(settings, tmp_path)
    assert floor.agents == ["gemini", "boxed"]

    def create(name: str) -> SessionRecord:
        record = SessionRecord(session="s", created="", agent=name, workspace=str(tmp_path), policy=None)
        return floor.new(record, {})

    assert [create(name).agent for name in ("gemini", "boxed", "demo")] == ["gemini", "boxed", "demo"]
    for name in ("claude", "opencode", "qwen"):
        with pytest.raises(CommandRefused, match=f"{name!r} is none of the configured"):
            create(name)
    assert {*KNOWN} <= {*FrontendLimits(Settings(frontend_options=["agent"]), tmp_path).agents}


def test_a_login_is_seen_by_its_variable_or_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gemini = KNOWN["gemini"]
    for key in gemini.keys:
        monkeypatch.delenv(key, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert logged_in(gemini, {}) is None
    assert logged_in(gemini, {"GEMINI_API_KEY": "placeholder"}) == "GEMINI_API_KEY"
    (tmp_path / ".gemini").mkdir()
    (tmp_path / ".gemini" / "oauth_creds.json").touch()
    assert logged_in(gemini, {}) == "~/.gemini/oauth_creds.json"
    assert logged_in(gemini, {"HOME": str(tmp_path / "other")}) is None


def test_turnwire_agents_lists_all_and_the_doctor_says_the_same(tmp_path: Path) -> None:
    home = tmp_path / "home"
    folder = tmp_path / "bin"
    program(folder, "gemini", "0.61.0")
    program(folder, "mine", "no number")
    program(folder, "pi-acp", "0.0.34")
    (tmp_path / "agents.toml").write_text(
        '[agents.mine]\ncommand = ["mine"]\n[agents.pi]\ncommand = ["pi-acp"]\nfamily = "acp"\n'
    )
    env = environment(home, PATH=f"{folder}:/usr/bin:/bin", GEMINI_API_KEY="placeholder-not-to-be-shown")
    done = ran(["agents", "--json", "--config", "agents.toml"], cwd=tmp_path, env=env)
    assert done.returncode == 0, done.stderr
    assert b"placeholder-not-to-be-shown" not in done.stdout
    seen = {agent["name"]: agent for agent in json.loads(done.stdout)}
    assert {*KNOWN, "mine"} == {*seen}
    assert (seen["pi"]["never_asks"], seen["gemini"]["never_asks"]) == (["anything at all"], [])
    gemini = seen["gemini"]
    assert (gemini["version"], gemini["logged_in"], gemini["family"]) == ("0.61.0", "GEMINI_API_KEY", "acp")
    assert gemini["program"] == str(folder / "gemini")
    assert (seen["qwen"]["program"], seen["qwen"]["install"]) == (None, KNOWN["qwen"].install)
    assert (seen["mine"]["version"], seen["mine"]["install"]) == (None, None)

    people = ran(["agents", "--config", "agents.toml"], cwd=tmp_path, env=env).stdout.decode()
    assert "gemini         Gemini CLI 0.61.0, speaks acp, logged in by GEMINI_API_KEY\n" in people
    assert "tried with 0.61.0\n" in people
    assert "what a command printed is never told, nor its exit code\n" in people
    assert "never asks about anything at all\n" in people
    assert "qwen           Qwen Code: not installed; `npm install -g @qwen-code/qwen-code`\n" in people
    assert (
        "devin          Devin: not installed, not tried; its makers have an installer of their own\n"
        in people
    )

    done = ran(["doctor", "--json", "--agent", "gemini", "--port", "0"], cwd=tmp_path, env=env)
    findings = {finding["what"]: finding for finding in json.loads(done.stdout)}
    assert findings["CLI"]["found"] == f"gemini 0.61.0 at {folder / 'gemini'}"
    assert "logged in by GEMINI_API_KEY" in findings["agent gemini"]["found"]
    assert "qwen (`npm install -g @qwen-code/qwen-code`)" in findings["other agents"]["found"]


KANDEVS = "amp auggie claude codex copilot cursor devin droid gemini grok hermes iflow kilo kimi kiro oh-my-pi opencode pi qoder qwen trae"


def test_the_table_has_the_agents_that_people_run() -> None:
    others = ("vibe", "nanocoder", "fast-agent", "goose", "openhands", "deepagents")
    assert {*KANDEVS.split(), *others} <= {*KNOWN}
    assert all(agent.tried or agent.install or agent.log_in for agent in KNOWN.values())


def test_what_the_table_says_of_asking_is_what_is_done_for_it() -> None:
    for agent in KNOWN.values():
        if agent.family != "acp":
            continue
        never = never_asks(agent.program)
        assert (agent.asks == "never") <= (never == (EVERYTHING,)), agent.title
        habit = next((one for one in HABITS if agent.program in one.programs), None)
        if habit is not None and habit.mode is not None:
            assert agent.asks == habit.mode, agent.title


def test_a_users_file_adds_agents_and_replaces_them_by_name(tmp_path: Path) -> None:
    file = tmp_path / "more.toml"
    file.write_text(
        '[mine]\ntitle = "Mine"\nfamily = "acp"\ncommand = ["mine", "acp"]\nquirks = ["sings"]\ntried = "1"\n'
        '[gemini]\ntitle = "My Gemini"\nfamily = "acp"\ncommand = ["gemini", "--acp", "--fast"]\n'
    )
    program(tmp_path / "bin", "mine", "1.2.3")
    env = environment(
        tmp_path / "home", PATH=f"{tmp_path / 'bin'}:/usr/bin:/bin", TURNWIRE_AGENTS_FILE=str(file)
    )
    seen = {
        agent["name"]: agent for agent in json.loads(ran(["agents", "--json"], cwd=tmp_path, env=env).stdout)
    }
    assert {*seen} == {*KNOWN, "mine"}
    assert (seen["mine"]["version"], seen["mine"]["quirks"], seen["gemini"]["title"]) == (
        "1.2.3",
        ["sings"],
        "My Gemini",
    )


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("[mine", "is not valid TOML: "),
        (
            '[mine]\ntitle = "Mine"\nfamily = "acp"\n',
            "is wrong at [mine]: Object missing required field `command`",
        ),
        (
            '[mine]\ntitle = "Mine"\nfamily = "acp"\ncommand = ["a", 1]\n',
            "is wrong at [mine], command[1]: Expected `str`, got `int`; docs/agents.md lists the fields of an agent",
        ),
        (
            '[mine]\ntitle = "Mine"\nfamily = "acp"\ncommand = ["a"]\nloves = "you"\n',
            "is wrong at [mine]: Object contains unknown field `loves`; docs/agents.md",
        ),
        (
            '[mine]\ntitle = "Mine"\nfamily = "acp"\ncommand = []\n',
            "has no command for [mine]; give its program",
        ),
        (
            '["My Agent"]\ntitle = "Mine"\nfamily = "acp"\ncommand = ["a"]\n',
            "has an agent called 'My Agent'; use lower-case letters, digits and hyphens",
        ),
        (
            '[mine]\ntitle = "Mine"\nfamily = "acpp"\ncommand = ["a"]\n',
            "has a wrong family in [mine]: no family 'acpp' can be run; choose one of claude, qwen, acp",
        ),
        ("mine = 3", "is wrong at [mine]: Expected `object`, got `int`"),
    ],
)
def test_a_bad_file_of_agents_says_what_is_wrong_where_and_what_to_do(
    written: str, told: str, tmp_path: Path
) -> None:
    file = tmp_path / "more.toml"
    file.write_text(written)
    with pytest.raises(ConfigurationError) as refused:
        load({"agents_file": file})
    assert str(refused.value).startswith(f"{file} ")
    assert told in str(refused.value)
    assert {*KNOWN}.isdisjoint({"mine", "My Agent"})


def test_a_file_of_agents_that_is_not_there_names_the_setting(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigurationError, match="cannot be read: No such file or directory; correct the setting agents_file"
    ):
        load({"agents_file": tmp_path / "none.toml"})


def test_family_belongs_to_a_command_line(tmp_path: Path) -> None:
    done = ran(
        ["run", "--agent", "demo", "--family", "acp"], cwd=tmp_path, env=environment(tmp_path / "home")
    )
    assert done.returncode == 2
    assert b"--family says what the CLI after `--` speaks" in done.stderr


def test_frontends_are_told_of_the_agents_that_are_here_and_may_be_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("gemini", "qwen", "mine"):
        program(tmp_path, name)
    settings = Settings(
        agent="gemini", agents={"mine": AgentSetting(command=["mine"])}, frontend_options=["agent"]
    )
    told = agent_choices(settings, FrontendLimits(settings, tmp_path).agents)
    assert [(one.agent, one.title, one.family) for one in told] == [
        ("gemini", "Gemini CLI", "acp"),
        ("mine", "mine", "claude"),
        ("qwen", "Qwen Code", "qwen"),
        ("gemini-json", "Gemini CLI (JSON)", "gemini"),
    ]
    gemini, mine, qwen, once = (set(one.capabilities) for one in told)
    assert {"resumes", "interrupts", "policies"} <= gemini & mine & qwen
    assert "hooks" in mine - qwen
    assert "interrupts" not in once
    assert ("effort" in told[1].options, "effort" in told[2].options) == (True, False)
    assert agent_choices(Settings(agent="demo-acp"), ["demo-acp"])[0].scripted is True
