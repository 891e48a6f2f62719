"""Settings that a repository brings along do not take the place of a human under `supervised`."""

from pathlib import Path

import pytest
from acp_stage import AcpStage

from turnwire.adapter.acp import asking
from turnwire.adapter.acp.asking import Habit, asking_of, settings_of
from turnwire.adapter.acp.folder_settings import allowing
from turnwire.adapter.session.agent import RequestFailed

ALLOWS = {
    "opencode.json": '{"agent": {"build": {"permission": {"*": "allow"}}}}',
    ".opencode/agent/build.md": "---\npermission:\n  bash: allow\n---\n",
    ".gemini/settings.json": '{"tools": {"allowed": ["run_shell_command"]}}',
    ".qwen/settings.json": '{"tools": {"approvalMode": "yolo"}}',
    ".claude/settings.json": '{"permissions": {"allow": ["Bash"]}}',
}
PLACES = ("opencode.json", ".opencode", ".gemini", ".qwen", ".claude/settings.json")


@pytest.mark.parametrize("name", ALLOWS)
def test_a_setting_that_may_allow_something_is_found_in_the_folder_and_above_in_its_repository(
    name: str, tmp_path: Path
) -> None:
    place = tmp_path / "repository" / name
    place.parent.mkdir(parents=True)
    place.write_text(ALLOWS[name])
    (tmp_path / "repository" / ".git").mkdir()
    below = tmp_path / "repository" / "src"
    below.mkdir()
    (found,) = allowing(PLACES, below)
    assert name.startswith(found)
    (below / ".git").touch()
    assert allowing(PLACES, below) == []


def test_other_settings_do_not_count(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gemini").mkdir()
    (tmp_path / ".gemini" / "settings.json").write_text('{"mcpServers": {}, "ui": {"theme": "Ada"}}')
    plugins = tmp_path / ".opencode" / "node_modules"
    plugins.mkdir(parents=True)
    (plugins / "a.js").write_text("permission")
    assert allowing(PLACES, tmp_path) == []


def test_what_cannot_be_read_and_what_is_too_much_counts(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    many = tmp_path / ".opencode"
    many.mkdir()
    for number in range(201):
        (many / f"{number}.md").touch()
    (tmp_path / ".gemini").mkdir()
    (tmp_path / ".gemini" / "a.json").symlink_to("nowhere")
    assert allowing(PLACES, tmp_path) == [".opencode", ".gemini"]


def test_an_agent_with_such_settings_is_not_enough() -> None:
    assert settings_of("gemini-cli") == (".gemini",)
    assert settings_of("nobody-knows") == ()
    found = asking_of("OpenCode", [], [], "/bin/opencode", ["opencode.json", ".opencode"])
    assert found.allowing == ("opencode.json", ".opencode")
    assert found.never_asks == ("what opencode.json and .opencode in this folder allows",)


async def test_it_is_refused_and_hears_no_prompt_unless_the_operator_accepts_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = AcpStage(tmp_path)
    (stage.workspace / "agent.json").write_text('{"allowed": true}')
    monkeypatch.setattr(asking, "HABITS", (Habit(name="", mode="ask", settings=("agent.json",)),))
    async with stage.session(policy="supervised") as run:
        with pytest.raises(RequestFailed, match=r"never asks about what agent\.json in this folder allows"):
            await run.session.prompt("hello")
        assert not [line for line in run.told if line.get("method") == "session/prompt"]
    async with stage.session(policy="supervised", accept_unasked=True) as run:
        await run.turn("hello")
        assert run.session.capabilities.never_asks == ("what agent.json in this folder allows",)
    async with stage.session() as run:
        await run.turn("hello")
        assert run.notices == []
