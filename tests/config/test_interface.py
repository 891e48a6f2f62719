"""The command of an agent's own interface."""

from pathlib import Path

import pytest

from turnwire.config.agents import AgentNotFoundError, AgentSetting, interface


def setting(folder: Path, name: str, *arguments: str) -> AgentSetting:
    program = folder / name
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return AgentSetting(command=[str(program), *arguments])


def test_it_goes_on_with_a_conversation_and_keeps_the_arguments_that_are_configured(tmp_path: Path) -> None:
    configured = {
        "claude": setting(tmp_path, "claude", "--verbose"),
        "codex": setting(tmp_path, "codex", "app-server"),
        "mine": setting(tmp_path, "mine"),
    }
    claude, codex = str(tmp_path / "claude"), str(tmp_path / "codex")
    assert interface("claude", configured, "c-1") == [claude, "--verbose", "--resume=c-1"]
    assert interface("claude", configured, None) == [claude, "--verbose"]
    assert interface("codex", configured, "c-2") == [codex, "--no-daemon", "resume", "c-2"]
    with pytest.raises(AgentNotFoundError, match="does not know how the interface of 'mine' goes on"):
        interface("mine", configured, "c-3")
    with pytest.raises(
        AgentNotFoundError,
        match=r"it can for claude, codex, gemini, .*qwen.*; `turnwire attach` without --native",
    ):
        interface("kimi", {"kimi": setting(tmp_path, "kimi", "acp")}, "c-4")
    others = {
        "qwen": setting(tmp_path, "qwen"),
        "opencode": setting(tmp_path, "opencode", "acp"),
        "gemini": setting(tmp_path, "gemini", "--acp"),
    }
    assert interface("qwen", others, "c-5") == [str(tmp_path / "qwen"), "--resume=c-5"]
    assert interface("opencode", others, "c-6") == [str(tmp_path / "opencode"), "--session=c-6"]
    assert interface("gemini", others, "c-7") == [str(tmp_path / "gemini"), "--resume=c-7"]
