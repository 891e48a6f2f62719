import json
from pathlib import Path

import pytest

from turnwire.adapter.claude.command import (
    NEWER_OPTIONS,
    PROTOCOL_OPTIONS,
    build_command,
)
from turnwire.adapter.claude.opening import build_argv, claude_permissions
from turnwire.adapter.claude.version import capabilities
from turnwire.adapter.options import CommandError, CommandOptions, SessionOptions
from turnwire.adapter.process.version import Version
from turnwire.protocol.json_values import JsonObject

OLD, MIDDLE, NEW = Version(1, 0, 120), Version(2, 0, 14), Version(2, 1, 330)
UUID = "11111111-1111-4111-8111-111111111111"


def argv(options: CommandOptions, version: Version | None = None) -> list[str]:
    built = build_command(["claude"], options, version)
    assert built[: 1 + len(PROTOCOL_OPTIONS)] == ["claude", *PROTOCOL_OPTIONS]
    return built[1 + len(PROTOCOL_OPTIONS) :]


def test_the_protocol_options_are_those_of_the_specification() -> None:
    assert argv(CommandOptions()) == []
    assert PROTOCOL_OPTIONS == (
        "-p",
        "--output-format=stream-json",
        "--input-format=stream-json",
        "--permission-prompt-tool=stdio",
        "--include-partial-messages",
        "--replay-user-messages",
        "--verbose",
    )


def test_every_value_is_joined_to_its_option_since_it_may_begin_with_a_dash() -> None:
    assert argv(CommandOptions(model="-m", resume="--help", resume_at="-u")) == [
        "--model=-m",
        "--resume=--help",
        "--resume-session-at=-u",
    ]


def test_switches_and_lists() -> None:
    options = CommandOptions(
        continue_latest=True,
        fork=True,
        permission_mode="plan",
        skip_permissions=True,
        allowed_tools=("Read", "Bash(ls:*)"),
        max_turns=3,
        add_dirs=("/a", "/b"),
        plugins=("/p", "-q"),
        tools=(),
        effort="low",
        max_budget_usd=0.5,
        fallback_model="haiku",
        system_prompt="Be brief.",
        append_system_prompt="",
        disallowed_tools=("WebFetch",),
        output_schema={"type": "object"},
        agents={"critic": {"description": "d", "prompt": "p"}},
        setting_sources=(),
        settings={"includeCoAuthoredBy": False},
    )
    assert argv(options) == [
        "--permission-mode=plan",
        "--allowedTools=Read,Bash(ls:*)",
        "--disallowedTools=WebFetch",
        "--tools=",
        "--max-turns=3",
        "--max-budget-usd=0.5",
        "--effort=low",
        "--fallback-model=haiku",
        "--system-prompt=Be brief.",
        "--append-system-prompt=",
        '--json-schema={"type":"object"}',
        '--agents={"critic":{"description":"d","prompt":"p"}}',
        "--setting-sources=",
        '--settings={"includeCoAuthoredBy":false}',
        "--fork-session",
        "--continue",
        "--dangerously-skip-permissions",
        "--add-dir=/a",
        "--add-dir=/b",
        "--plugin-dir=/p",
        "--plugin-dir=-q",
    ]


def test_mcp_servers_of_every_transport_become_one_json_value() -> None:
    servers: dict[str, JsonObject] = {
        "files": {"command": "node", "args": ["server.js"]},
        "events": {"type": "sse", "url": "https://127.0.0.1/sse"},
        "web": {"type": "http", "url": "https://127.0.0.1/mcp", "headers": {"X-Key": "k"}},
        "ours": {"type": "sdk", "name": "ours"},
    }
    [value] = argv(CommandOptions(mcp_servers=servers))
    assert json.loads(value.removeprefix("--mcp-config=")) == {"mcpServers": servers}


@pytest.mark.parametrize(
    ("options", "field"),
    [
        (CommandOptions(resume="a", continue_latest=True), "continue_latest"),
        (CommandOptions(resume_at=UUID), "resume_at"),
        (CommandOptions(fork=True), "fork"),
        (CommandOptions(permission_mode="yolo"), "permission_mode"),
        (CommandOptions(max_turns=0), "max_turns"),
        (CommandOptions(mcp_servers={"x": {"type": "carrier-pigeon"}}), "mcp_servers"),
        (CommandOptions(mcp_servers={"x": {"type": "http"}}), "mcp_servers"),
        (CommandOptions(mcp_servers={"x": {"command": 7}}), "mcp_servers"),
        (CommandOptions(model="a\0b"), "--model"),
        (CommandOptions(system_prompt="x" * 140_000), "--system-prompt"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_makes_no_command_is_refused_naming_the_option(options: CommandOptions, field: str) -> None:
    with pytest.raises(CommandError) as refused:
        build_command(["claude"], options, NEW)
    assert refused.value.option == field
    assert str(refused.value).startswith(f"{field}: ")


def test_a_command_needs_a_program() -> None:
    with pytest.raises(CommandError, match="no program to run"):
        build_command([], CommandOptions())


def test_version_1_cannot_go_back_to_a_message() -> None:
    with pytest.raises(CommandError, match=r"CLI 1\.0\.120 cannot go back"):
        argv(CommandOptions(resume="a", resume_at=UUID), OLD)


def test_version_2_0_14_wants_the_message_id_of_the_api() -> None:
    with pytest.raises(CommandError, match="needs the API's message id"):
        argv(CommandOptions(resume="a", resume_at=UUID), MIDDLE)
    assert "--resume-session-at=msg_01" in argv(CommandOptions(resume="a", resume_at="msg_01"), MIDDLE)


@pytest.mark.parametrize("version", [NEW, Version(2, 0, 76), None])
def test_later_versions_want_a_uuid(version: Version | None) -> None:
    assert f"--resume-session-at={UUID}" in argv(CommandOptions(resume="a", resume_at=UUID), version)
    with pytest.raises(CommandError, match="needs the uuid of a message"):
        argv(CommandOptions(resume="a", resume_at="msg_01"), version)


def test_a_bare_agent_gets_nothing_added() -> None:
    assert build_command(["agent", "run"], CommandOptions(bare=True, model="m")) == ["agent", "run"]


@pytest.mark.parametrize(
    ("options", "field", "oldest"),
    [
        (CommandOptions(agents={"a": {}}), "agents", Version(2, 0, 14)),
        (CommandOptions(setting_sources=()), "setting_sources", Version(2, 0, 14)),
        (CommandOptions(tools=()), "tools", Version(2, 0, 76)),
        (CommandOptions(max_budget_usd=1), "max_budget_usd", Version(2, 0, 76)),
        (CommandOptions(output_schema={}), "output_schema", Version(2, 0, 76)),
        (CommandOptions(plugins=("/p",)), "plugins", Version(2, 0, 76)),
        (CommandOptions(checkpointing=True), "checkpointing", Version(2, 0, 76)),
        (CommandOptions(effort="low"), "effort", Version(2, 1, 101)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_option_that_a_version_lacks_is_refused_with_words(
    options: CommandOptions, field: str, oldest: Version
) -> None:
    with pytest.raises(
        CommandError,
        match=rf"^{field}: CLI 1\.0\.120 is not known to have this option; .*use CLI {oldest} or",
    ):
        argv(options, OLD)
    assert argv(options, oldest) == argv(options, None)


def test_the_oldest_versions_are_spared_what_they_do_not_know() -> None:
    options = CommandOptions(resume="1", fork=True)
    old = build_command(["claude"], options, Version(1, 0, 60))
    new = build_command(["claude"], options, Version(1, 0, 120))
    assert set(new) >= NEWER_OPTIONS
    assert old == [argument for argument in new if argument not in NEWER_OPTIONS]


def test_a_policy_that_needs_hooks_is_refused_where_there_are_none() -> None:
    options = SessionOptions(workspace=Path(), policy="supervised")
    early = Version(1, 0, 60)
    with pytest.raises(CommandError, match=r"this needs hooks, which CLI 1\.0\.60 does not have"):
        build_argv(options, claude_permissions(options, capabilities(early)), early)
