"""Qwen Code: its own options, and policies that are judged when it asks, since it has no hooks."""

from pathlib import Path

import pytest

from turnwire.adapter.claude.opening import build_argv, claude_permissions
from turnwire.adapter.claude.qwen import CAPABILITIES, QWEN, build_command
from turnwire.adapter.families import FAMILIES, open_session
from turnwire.adapter.options import CommandError, CommandOptions, SessionOptions
from turnwire.adapter.permissions.rules import Rule


def argv(**options: object) -> list[str]:
    return build_command(["qwen"], CommandOptions(**options))  # type: ignore[arg-type]


def test_it_is_told_to_speak_and_to_ask() -> None:
    assert argv() == [
        "qwen",
        "--output-format=stream-json",
        "--input-format=stream-json",
        "--include-partial-messages",
        "--approval-mode=default",
    ]


def test_options_have_its_own_names() -> None:
    assert argv(
        model="m",
        resume="id",
        fork=True,
        permission_mode="acceptEdits",
        mcp_servers={"s": {"command": "x"}},
        allowed_tools=["edit"],
        disallowed_tools=["web_fetch"],
        max_turns=3,
        append_system_prompt="Be brief.",
        add_dirs=["/a", "/b"],
    )[4:] == [
        "--model=m",
        "--resume=id",
        "--approval-mode=auto-edit",
        '--mcp-config={"mcpServers":{"s":{"command":"x"}}}',
        "--allowed-tools=edit",
        "--exclude-tools=web_fetch",
        "--max-session-turns=3",
        "--append-system-prompt=Be brief.",
        "--fork-session",
        "--add-dir=/a",
        "--add-dir=/b",
    ]
    assert "--continue" in argv(continue_latest=True)
    assert "--approval-mode=yolo" in argv(skip_permissions=True)


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"resume": "id", "continue_latest": True}, "continue_latest"),
        ({"fork": True}, "fork"),
        ({"permission_mode": "dontAsk"}, "permission_mode"),
        ({"model": "a\0b"}, "--model"),
    ],
)
def test_what_makes_no_command_is_refused(options: dict[str, object], field: str) -> None:
    with pytest.raises(CommandError) as refused:
        argv(**options)
    assert refused.value.option == field


def test_a_policy_is_judged_when_it_asks_and_registers_no_hook(tmp_path: Path) -> None:
    options = SessionOptions(
        workspace=tmp_path,
        executable=("qwen",),
        policy="supervised",
        rules=[Rule("deny", tools=("run_shell_command",))],
    )
    settings = claude_permissions(options, CAPABILITIES, QWEN)
    assert settings.judges_requests
    assert not CAPABILITIES.hooks
    assert "--approval-mode=default" in build_argv(options, settings, None, QWEN)


@pytest.mark.parametrize(
    ("command", "option"),
    [
        ({"max_budget_usd": 1.0}, "max_budget_usd"),
        ({"effort": "low"}, "effort"),
        ({"setting_sources": []}, "setting_sources"),
        ({"checkpointing": True}, "checkpointing"),
    ],
)
def test_what_it_cannot_do_is_refused_before_it_starts(
    tmp_path: Path, command: dict[str, object], option: str
) -> None:
    options = SessionOptions(
        workspace=tmp_path,
        executable=("qwen",),
        family="qwen",
        command=CommandOptions(**command),  # type: ignore[arg-type]
    )
    with pytest.raises(CommandError) as refused:
        open_session(options)
    assert refused.value.option == option


def test_it_goes_back_to_no_message() -> None:
    with pytest.raises(CommandError, match="resume without it"):
        FAMILIES["qwen"].check_resume_at("m", None)
