"""What frontends may ask for: stricter than configured always, looser where a setting lets them."""

from pathlib import Path
from typing import Any

import pytest

from turnwire.config.agents import AgentSetting
from turnwire.config.settings import Settings
from turnwire.hub.host import CommandRefused
from turnwire.hub.wire.agent_options import AgentOptions
from turnwire.journal.sessions import SessionRecord
from turnwire.sessions.frontend_limits import STRICTNESS, FrontendLimits
from turnwire.sessions.launch import merged
from turnwire.sessions.records.options import with_options


def record(
    settings: Settings, workspace: Path, options: dict[str, Any] | None = None, **changes: Any
) -> SessionRecord:
    """A session as `session.create` wants it, with what is configured of the rest."""
    asked = AgentOptions.model_validate(options or {})
    values: dict[str, Any] = {
        "session": "s-1",
        "created": "",
        "agent": settings.agent,
        "workspace": str(workspace),
        "policy": settings.policy,
        "options": {
            "mcp_servers": changes.pop("mcp_servers", None) or settings.mcp_servers,
            "agent_options": merged(settings.session_options, asked),
        },
    }
    return SessionRecord(**{**values, **changes})


def refusal(
    settings: Settings, start: Path, env: dict[str, str] | None = None, **asked: Any
) -> CommandRefused:
    with pytest.raises(CommandRefused) as refused:
        FrontendLimits(settings, start).new(
            record(settings, asked.pop("workspace", start), **asked), env or {}
        )
    assert refused.value.code == "not_allowed"
    return refused.value


def allowed(
    settings: Settings, start: Path, env: dict[str, str] | None = None, **asked: Any
) -> SessionRecord:
    return FrontendLimits(settings, start).new(
        record(settings, asked.pop("workspace", start), **asked), env or {}
    )


@pytest.mark.parametrize("configured", [None, "supervised", "plan", "autonomous"])
@pytest.mark.parametrize("asked", ["supervised", "plan", "autonomous"])
def test_a_policy_may_be_stricter_than_the_configured_one_and_not_looser(
    configured: Any, asked: str, tmp_path: Path
) -> None:
    settings = Settings(policy=configured)
    if STRICTNESS.index(asked) <= STRICTNESS.index(configured or "cli"):
        assert allowed(settings, tmp_path, policy=asked).policy == asked
    else:
        error = refusal(settings, tmp_path, policy=asked)
        assert "frontend_policy" in error.message
        assert error.field == "policy"


def test_a_setting_lets_frontends_ask_for_looser_policies(tmp_path: Path) -> None:
    settings = Settings(policy="supervised", frontend_policy="plan")
    assert allowed(settings, tmp_path, policy="plan").policy == "plan"
    refusal(settings, tmp_path, policy="autonomous")


@pytest.mark.parametrize("mode", ["bypassPermissions", "auto", "", "something new"])
def test_a_mode_in_which_nobody_is_asked_needs_the_policy_autonomous(mode: str, tmp_path: Path) -> None:
    for policy in (None, "supervised", "plan"):
        settings = Settings.model_validate({"policy": policy})
        assert "frontend_policy" in refusal(settings, tmp_path, permission_mode=mode).message
    assert allowed(Settings(policy="autonomous"), tmp_path, permission_mode=mode).permission_mode == mode
    for stricter in ("default", "plan", "dontAsk", "acceptEdits"):
        allowed(Settings(), tmp_path, permission_mode=stricter)


@pytest.mark.parametrize(
    "name",
    ["HOME", "PATH", "BASH_ENV", "ENV", "GIT_SSH_COMMAND", "GIT_CONFIG_COUNT", "ANTHROPIC_BASE_URL", "CLAUDE_CONFIG_DIR",
     "NODE_OPTIONS", "LD_PRELOAD", "HTTPS_PROXY", "NODE_EXTRA_CA_CERTS", "XDG_CONFIG_HOME", "TURNWIRE_PROCESS", "TRACEPARENT",
     "tz", "TZ ", "SHELL", "AWS_PROFILE", "LOCPATH", "TMPDIR"],
)  # fmt: skip
def test_the_environment_is_a_short_list_of_names(name: str, tmp_path: Path) -> None:
    error = refusal(Settings(), tmp_path, env={name: "sk-secret"})
    assert "frontend_env" in error.message
    assert name in error.message
    assert "sk-secret" not in error.message
    allowed(Settings(frontend_env=[name]), tmp_path, env={name: "x"})
    allowed(Settings(), tmp_path, env={"TZ": "UTC", "MAX_THINKING_TOKENS": "0"})


def test_a_workspace_is_below_the_start_folder_or_below_one_that_is_named(tmp_path: Path) -> None:
    start, other = tmp_path / "start", tmp_path / "other"
    for folder in (start / "below", other):
        folder.mkdir(parents=True)
    for inside in (start, start / "below"):
        allowed(Settings(), start, workspace=inside)
    (start / "way out").symlink_to(other)
    for outside in (other, start / "way out", start / "below/../../other", Path("/"), tmp_path / "start2"):
        error = refusal(Settings(), start, workspace=outside)
        assert "frontend_workspaces" in error.message
        assert error.field == "workspace"
    assert allowed(Settings(frontend_workspaces=[other]), start, workspace=other).workspace == str(other)
    refusal(Settings(frontend_workspaces=[other]), start, workspace=start)
    allowed(Settings(frontend_workspaces=[Path("/")]), start, workspace=other)
    refusal(Settings(frontend_workspaces=[]), start, workspace=start)
    linked = tmp_path / "linked"
    linked.symlink_to(other)
    allowed(Settings(frontend_workspaces=[linked]), start, workspace=other)


def test_started_in_the_root_folder_only_that_is_meant(tmp_path: Path) -> None:
    allowed(Settings(), Path("/"), workspace=Path("/"))
    refusal(Settings(), Path("/"), workspace=tmp_path)


def test_where_the_operator_has_an_agent_work_frontends_may_have_one_too(tmp_path: Path) -> None:
    start, project = tmp_path / "start", tmp_path / "project"
    floor = FrontendLimits(Settings(), start)
    floor.allow_workspace(project)
    floor.new(record(Settings(), project), {})


def test_mcp_servers_are_the_configured_ones(tmp_path: Path) -> None:
    mine: dict[str, Any] = {"mine": {"command": "sh", "args": ["-c", "id"]}}
    assert "mcp_servers" in refusal(Settings(), tmp_path, mcp_servers=mine).message
    allowed(Settings(mcp_servers=mine), tmp_path)
    allowed(Settings(mcp_servers=mine), tmp_path, mcp_servers=mine)
    refusal(Settings(mcp_servers=mine), tmp_path, mcp_servers={"mine": {"command": "id"}})
    allowed(Settings(frontend_options=["mcp_servers"]), tmp_path, mcp_servers=mine)


@pytest.mark.parametrize(
    "options",
    [
        {"settings": {"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "id"}]}]}}},
        {"settings": {"apiKeyHelper": "id"}},
        {"settings": {"env": {"BASH_ENV": "x"}}},
        {"settings": {"permissions": {"defaultMode": "bypassPermissions"}}},
        {"plugins": ["/tmp/plugin"]},
        {"allowed_tools": ["Bash"]},
        {"agents": {"a": {"description": "", "prompt": "", "hooks": {}}}},
        {"agents": {"a": {"description": "", "prompt": "", "mcpServers": {}}}},
        {"agents": {"a": {"description": "", "prompt": "", "permissionMode": "bypassPermissions"}}},
    ],
)
def test_options_that_start_programs_reach_files_or_permit_more_need_a_setting(
    options: dict[str, Any], tmp_path: Path
) -> None:
    (name,) = options
    error = refusal(Settings(), tmp_path, options=options)
    assert f'frontend_options ("{name}")' in error.message
    assert error.field == f"options.{name}"
    allowed(Settings.model_validate({"frontend_options": [name]}), tmp_path, options=options)
    configured = Settings.model_validate({"session_options": options})
    allowed(configured, tmp_path)
    allowed(configured, tmp_path, options=options)


def test_what_is_harmless_or_stricter_may_be_chosen(tmp_path: Path) -> None:
    options: dict[str, Any] = {
        "system_prompt": "Be brief.", "append_system_prompt": "", "tools": ["Read"], "disallowed_tools": ["Bash"],
        "max_turns": 3, "max_budget_usd": 0.5, "effort": "low", "fallback_model": "haiku", "output_schema": {},
        "setting_sources": [], "checkpointing": True, "add_dirs": [], "plugins": [], "allowed_tools": [], "settings": {},
        "agents": {"gull": {"description": "Cries", "prompt": "Cry.", "tools": ["Read"], "model": "haiku"}},
    }  # fmt: skip
    assert set(options) == set(AgentOptions.model_fields)
    assert allowed(Settings(), tmp_path, options=options).options["agent_options"] == options


def test_what_the_operator_limits_can_be_limited_further_and_not_lifted(tmp_path: Path) -> None:
    configured = {"max_turns": 5, "max_budget_usd": 2, "tools": ["Read", "Bash"], "setting_sources": ["user"],
                  "disallowed_tools": ["WebFetch", "Bash(rm:*)"]}  # fmt: skip
    settings = Settings.model_validate({"session_options": configured})
    for name, looser in (
        ("max_turns", 6), ("max_budget_usd", 2.01), ("tools", ["Read", "Write"]), ("setting_sources", ["project"]),
    ):  # fmt: skip
        error = refusal(settings, tmp_path, options={name: looser})
        assert f'frontend_options ("{name}")' in error.message
    stricter = {
        "max_turns": 5,
        "max_budget_usd": 1,
        "tools": ["Bash"],
        "setting_sources": [],
        "disallowed_tools": ["Read"],
    }
    kept = allowed(settings, tmp_path, options=stricter).options["agent_options"]
    assert kept == {**stricter, "disallowed_tools": ["Read", "WebFetch", "Bash(rm:*)"]}


def test_directories_beside_the_workspace_are_bound_as_it_is_and_their_links_are_followed(
    tmp_path: Path,
) -> None:
    start, outside = tmp_path / "start", tmp_path / "outside"
    (start / "lib").mkdir(parents=True)
    outside.mkdir()
    (start / "link").symlink_to(outside)
    kept = allowed(Settings(), start, options={"add_dirs": ["lib"]}).options["agent_options"]
    assert kept == {"add_dirs": [str(start / "lib")]}
    for folder in (str(outside), "link", "../outside", "lib/../../outside", "~"):
        error = refusal(Settings(), start, options={"add_dirs": ["lib", folder]})
        assert "frontend_workspaces" in error.message
        assert error.field == "options.add_dirs"
    allowed(Settings(frontend_options=["add_dirs"]), start, options={"add_dirs": [str(outside)]})


def test_an_agent_is_one_that_is_configured(tmp_path: Path) -> None:
    settings = Settings(
        agent="boxed",
        agents={"boxed": AgentSetting(command=["box", "claude"]), "other": AgentSetting(command=["other"])},
    )
    for name in ("boxed", "other", "demo"):
        allowed(settings, tmp_path, agent=name)
    assert 'frontend_options ("agent")' in refusal(settings, tmp_path, agent="claude").message
    allowed(Settings(), tmp_path, agent="claude")


@pytest.mark.parametrize(
    "subtype",
    ["mcp_set_servers", "apply_flag_settings", "start_shell_task", "read_file", "add_directory", "set_cwd", "register_repo_root",
     "get_settings", "", "something_new"],
)  # fmt: skip
def test_control_requests_are_those_that_are_no_way_around(subtype: str, tmp_path: Path) -> None:
    with pytest.raises(CommandRefused, match="frontend_options"):
        FrontendLimits(Settings(), tmp_path).check_control({"subtype": subtype})
    FrontendLimits(Settings(frontend_options=["control"]), tmp_path).check_control({"subtype": subtype})


def test_a_mode_is_the_same_as_a_control_request(tmp_path: Path) -> None:
    floor = FrontendLimits(Settings(policy="supervised"), tmp_path)
    floor.check_control({"subtype": "set_permission_mode", "mode": "plan"})
    for mode in ("bypassPermissions", None, ["plan"]):
        with pytest.raises(CommandRefused, match="frontend_policy"):
            floor.check_control({"subtype": "set_permission_mode", "mode": mode})


def test_a_session_of_earlier_settings_goes_on_only_as_the_present_ones_allow(tmp_path: Path) -> None:
    old = Settings.model_validate(
        {
            "policy": "autonomous",
            "session_options": {"max_turns": 9, "allowed_tools": ["Bash"], "disallowed_tools": ["Write"]},
        }
    )
    floor = FrontendLimits(Settings(policy="supervised"), tmp_path)
    with pytest.raises(CommandRefused, match="frontend_policy"):
        floor.again(record(old, tmp_path))
    with pytest.raises(CommandRefused, match="allowed_tools"):
        floor.again(record(old, tmp_path, policy="supervised"))
    kept = record(Settings(policy="supervised"), tmp_path, permission_mode="bypassPermissions")
    assert floor.again(kept).permission_mode is None
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    away = record(Settings(policy="supervised"), elsewhere)
    assert FrontendLimits(Settings(policy="supervised"), tmp_path / "start").again(away).workspace == str(
        elsewhere
    )
    with pytest.raises(CommandRefused, match="frontend_workspaces"):
        FrontendLimits(
            Settings(policy="supervised", frontend_workspaces=[tmp_path / "start"]), tmp_path
        ).again(away)


def test_a_workspace_that_has_become_a_link_is_looked_at_again(tmp_path: Path) -> None:
    start, outside = tmp_path / "start", tmp_path / "outside"
    (start / "project").mkdir(parents=True)
    outside.mkdir()
    known = allowed(Settings(), start, workspace=start / "project")
    (start / "project").rmdir()
    (start / "project").symlink_to(outside)
    with pytest.raises(CommandRefused, match="frontend_workspaces"):
        FrontendLimits(Settings(), start).again(known)


@pytest.mark.parametrize(
    ("settings", "asked", "is_allowed"),
    [
        ({"sandbox": "files"}, "off", False),
        ({"sandbox": "files"}, "network", True),
        ({"sandbox": "files"}, None, True),
        ({"sandbox": "network", "sandbox_floor": "files"}, "files", True),
        ({"sandbox": "network", "sandbox_floor": "files"}, "off", False),
        ({"sandbox_floor": "network", "sandbox": "network"}, "files", False),
        ({"agents": {"claude": AgentSetting(sandbox="network")}}, "files", False),
        ({}, "off", True),
    ],
)
def test_a_sandbox_may_be_stronger_than_the_floor_and_not_weaker(
    settings: dict[str, Any], asked: str | None, is_allowed: bool, tmp_path: Path
) -> None:
    configured = Settings(**settings)
    made = with_options(record(configured, tmp_path), sandbox=asked)
    limits = FrontendLimits(configured, tmp_path)
    if is_allowed:
        assert limits.new(made, {}).session == "s-1"
    else:
        with pytest.raises(CommandRefused, match="sandbox_floor"):
            limits.new(made, {})
