"""What a program of the SDKs asks of a CLI, read for an agent of another kind."""

import json
from pathlib import Path
from typing import Any

import pytest

from turnwire.adapter.capabilities import Capabilities
from turnwire.adapter.session.attachments import AttachmentRefused
from turnwire.protocol.claude.decode import decode
from turnwire.protocol.claude.messages import User
from turnwire.sidecar.streams.sdk.options import BadOption, Introduced, Wanted, introduced, wanted
from turnwire.sidecar.streams.sdk.prompts import read_prompt

NOTHING = Capabilities()
MUCH = Capabilities(
    continues_latest=True,
    forks=True,
    resume_at="message_uuid",
    mcp_servers=True,
    options=frozenset({"add_dirs", "effort", "system_prompt", "append_system_prompt"}),
)
ID = "0123ABCD-0000-4000-8000-000000000000"


def read(*argv: str, can: Capabilities = MUCH) -> Wanted:
    return wanted(argv, can)


def test_what_the_official_sdk_always_gives_asks_for_nothing() -> None:
    argv = (
        "--output-format",
        "stream-json",
        "--verbose",
        "--system-prompt",
        "",
        "--setting-sources=",
        "--input-format",
        "stream-json",
    )
    assert read(*argv, can=NOTHING) == Wanted()


def test_what_is_asked_for_is_understood_in_either_spelling() -> None:
    made = read(
        "--model", "m", "--resume=s1", "-c", "--fork-session", "--resume-session-at=u", "--effort", "high", "--system-prompt", "be",
        "--append-system-prompt=more", "--add-dir", "/a", "--add-dir", "/b", "--permission-prompt-tool", "stdio", "--tools", "default",
        "--include-partial-messages", "--replay-user-messages", "--allowedTools", "Read,mcp__calc__*", f"--session-id={ID}", "-p",
    )  # fmt: skip
    command = made.command
    assert (command.model, command.resume, command.continue_latest, command.fork) == ("m", "s1", True, True)
    assert (command.resume_at, command.effort, command.system_prompt) == ("u", "high", "be")
    assert (command.append_system_prompt, command.add_dirs) == ("more", ["/a", "/b"])
    assert (made.asks, made.partial, made.replays, made.session_id) == (True, True, True, ID.lower())
    assert made.allowed == {"Read", "mcp__calc__*"}
    assert made.refused == ()


@pytest.mark.parametrize(
    ("argv", "named"),
    [
        (("--continue",), "--continue"),
        (("--fork-session",), "--fork-session"),
        (("--resume-session-at=x",), "--resume-session-at"),
        (("--system-prompt", "be"), "--system-prompt"),
        (("--add-dir", "/a"), "--add-dir"),
        (("--max-turns", "3"), "--max-turns"),
        (("--disallowedTools", "Bash"), "--disallowedTools"),
        (("--allowedTools", "Bash(git add:*, x),Read"), "--allowedTools Bash(git add:*, x)"),
        (("--permission-prompt-tool", "mcp__x__y"), "--permission-prompt-tool mcp__x__y"),
        (("--something-new=1",), "--something-new"),
        (("--mcp-config", '{"mcpServers": {"calc": {"type": "sdk"}}}'), "calc"),
        (("a prompt",), "--a prompt"),
        (("-",), "---"),
    ],
)
def test_what_the_agent_cannot_do_is_refused_by_name(argv: tuple[str, ...], named: str) -> None:
    [refused] = read(*argv, can=NOTHING).refused
    assert named in refused


def test_a_mode_that_is_kept_here_is_not_asked_of_the_agent() -> None:
    own, plan, agents, skips = (
        read(*argv)
        for argv in (
            ("--permission-mode", "acceptEdits"),
            ("--permission-mode=plan",),
            ("--permission-mode", "yolo"),
            ("--dangerously-skip-permissions",),
        )
    )
    assert (own.mode, own.command.permission_mode) == ("acceptEdits", None)
    assert (plan.mode, plan.command.permission_mode) == ("plan", "plan")
    assert (agents.mode, agents.command.permission_mode) == ("yolo", "yolo")
    assert skips.mode == "bypassPermissions"


def test_servers_inside_the_caller_are_told_from_others(tmp_path: Path) -> None:
    servers = {"in": {"type": "sdk", "name": "in"}, "out": {"command": "x"}}
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps({"mcpServers": servers}))
    made = read("--mcp-config", str(file))
    assert made.sdk_servers == ("in",)
    assert made.command.mcp_servers == {"out": {"command": "x"}}


@pytest.mark.parametrize(
    "argv", [("--session-id", "x"), ("--session-id",), ("--mcp-config", "{"), ("--mcp-config", '{"mcpServers": [1]}'), ("--mcp-config", "/nowhere")]
)  # fmt: skip
def test_a_value_that_cannot_be_read_is_an_error(argv: tuple[str, ...]) -> None:
    with pytest.raises(BadOption, match=argv[0]):
        read(*argv)


def test_initialize_is_refused_for_what_an_agent_cannot_be_told() -> None:
    body = {
        "subtype": "initialize",
        "hooks": {"PreToolUse": [{"matcher": None}], "Stop": []},
        "agents": {"a": {}},
        "systemPrompt": "",
        "promptSuggestions": True,
    }
    assert introduced(body, MUCH).refused == ("hooks.PreToolUse", "agents")
    assert introduced({"hooks": "x", "sdkMcpServers": ["calc"]}, NOTHING).refused == (
        "hooks",
        "sdkMcpServers",
    )


def test_initialize_of_the_sdk_for_typescript_names_servers_and_prompts() -> None:
    nothing = {"sdkMcpServers": ["calc", 1], "sdkMcpServerManifests": {"calc": {}}, "systemPrompt": [""]}
    assert introduced(nothing, MUCH) == Introduced(sdk_servers=frozenset({"calc"}))
    prompts = {"systemPrompt": ["be", "brief"], "appendSystemPrompt": "more"}
    assert introduced(prompts, MUCH).changes == {
        "system_prompt": "be\n\nbrief",
        "append_system_prompt": "more",
    }
    assert introduced({"systemPrompt": "be"}, MUCH).changes == {"system_prompt": "be"}
    assert introduced(prompts, NOTHING).refused == ("systemPrompt", "appendSystemPrompt")


def prompt(content: Any) -> User:
    made = decode(json.dumps({"type": "user", "message": {"role": "user", "content": content}}).encode())
    assert isinstance(made, User)
    return made


def test_a_prompt_is_its_text_and_its_images() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
    text, [attached] = read_prompt(
        prompt([{"type": "text", "text": "look"}, image, {"type": "text", "text": "there"}])
    )
    assert (text, attached.content) == ("look\nthere", b"hi")


@pytest.mark.parametrize("content", ["", " ", [], [{"type": "document"}], [{"type": "image", "source": {"type": "url"}}], [{"type": "image", "source": {"type": "base64", "data": "%"}}]])  # fmt: skip
def test_a_prompt_that_no_agent_can_be_told_is_refused(content: Any) -> None:
    with pytest.raises(AttachmentRefused):
        read_prompt(prompt(content))
