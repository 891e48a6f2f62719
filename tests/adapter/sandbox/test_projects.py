"""A sandbox gives an agent its own variables, and of its own files those of its own project."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from sandboxes import Place, Places

from turnwire.adapter.sandbox.environment import kept_outside
from turnwire.adapter.sandbox.projects import LONGEST, folder_of, folders_in, own_ids, roots_of, take_back
from turnwire.adapter.sandbox.settings import SandboxSettings
from turnwire.config.known_agents import KNOWN

MINE, OTHER = "11111111-aaaa-4bbb-8ccc-000000000001", "22222222-aaaa-4bbb-8ccc-000000000002"
CLAUDE = SandboxSettings(level="files", state=(".claude/", ".claude.json"))

FOREIGN = {
    "AWS_SECRET_ACCESS_KEY": "a", "AWS_SESSION_TOKEN": "b", "GOOGLE_APPLICATION_CREDENTIALS": "c", "OPENAI_API_KEY": "d", "GITHUB_TOKEN": "e",
    "GIT_CONFIG_VALUE_0": "f", "DATABASE_URL": "g", "NPM_TOKEN": "h", "SSH_AUTH_SOCK": "/i", "AZURE_CLIENT_SECRET": "j", "TURNWIRE_TOKEN": "k",
}  # fmt: skip
OWN = {
    "ANTHROPIC_API_KEY": "mine",
    "LANG": "C.UTF-8",
    "LC_ALL": "C",
    "TERM": "xterm",
    "HTTPS_PROXY": "http://p:1",
    "TZ": "UTC",
}


def passes(name: str) -> tuple[str, ...]:
    agent = KNOWN[name]
    return (*agent.variables, *agent.keys)


def test_a_variable_that_nobody_names_stays_outside() -> None:
    assert kept_outside({**FOREIGN, **OWN}, passes("claude")) == FOREIGN
    assert kept_outside({"ANTHROPIC_API_KEY": "x", "OPENAI_API_KEY": "y"}, passes("codex")) == {
        "ANTHROPIC_API_KEY": "x"
    }
    assert kept_outside({"NPM_TOKEN": "x", "MY_A": "y"}, ("NPM_TOKEN", "MY_*")) == {}


@pytest.mark.parametrize(
    ("switch", "value", "is_kept"),
    [
        ("CLAUDE_CODE_USE_BEDROCK", "1", False),
        ("CLAUDE_CODE_USE_BEDROCK", "0", True),
        ("CLAUDE_CODE_USE_VERTEX", "1", True),
    ],
)
def test_keys_of_a_cloud_go_in_where_the_model_comes_from_there(
    switch: str, value: str, *, is_kept: bool
) -> None:
    outside = kept_outside({switch: value, "AWS_SECRET_ACCESS_KEY": "x"}, passes("claude"))
    assert ("AWS_SECRET_ACCESS_KEY" in outside) is is_kept


def _environment(here: Place, **more: str) -> Place:
    return here._replace(environment={**here.environment, **more})


async def test_a_program_sees_what_the_agent_needs_and_what_the_agent_says(
    place: Places, tmp_path: Path
) -> None:
    settings = SandboxSettings(level="files", passes=(*passes("claude"), "NAMED_*"))
    everything = {**FOREIGN, **OWN, "NAMED_BY_OPERATOR": "yes"}
    (tmp_path / "home/.gitconfig").write_text("[user]\nname = Ada Person\nemail = ada@example.org\n")
    async with place(settings, environment=everything) as here:
        ran = await here.run(
            "env; git init -q /tmp/r; cd /tmp/r; git commit -q --allow-empty -m x; git log --format='%an %ce'"
        )
        lines = dict(line.partition("=")[::2] for line in ran.output.splitlines())
        assert not FOREIGN.keys() & lines.keys()
        assert OWN.keys() | {"NAMED_BY_OPERATOR", "PATH", "HOME"} <= lines.keys()
        assert ran.output.splitlines()[-1] == "Ada Person ada@example.org"
        # a variable that an agent gives its own command is its own
        ran = await _environment(here, DATABASE_URL="the agent's").run("echo $DATABASE_URL")
        assert ran.output == "the agent's\n"


def claude_home(home: Path, workspace: Path, other: Path) -> None:
    """Lay out what Claude Code keeps of two projects."""
    folder = home / ".claude"
    for root, name in ((workspace, MINE), (other, OTHER)):
        project = folder / "projects" / folder_of(str(root))
        (project / "memory").mkdir(parents=True)
        (project / f"{name}.jsonl").write_text(f"words of {name}\n")
        (project / "memory/MEMORY.md").write_text(f"memory of {name}\n")
        (folder / "file-history" / name).mkdir(parents=True)
        (folder / "file-history" / name / "a@v1").write_text(f"backup of {name}\n")
        (folder / "todos").mkdir(exist_ok=True)
        (folder / "todos" / f"{name}-agent-{name}.json").write_text(json.dumps([name]))
    (home / ".claude.json").write_text(
        json.dumps(
            {
                "mcpServers": {"mine": {"command": "x"}}, "githubRepoPaths": {"a/secret-repo": [str(other)]},
                "projects": {str(root): {"mcpServers": {"s": {"env": {"KEY": f"key-of-{name}"}}}} for root, name in ((workspace, MINE), (other, OTHER))},
            }
        )
    )  # fmt: skip


async def test_a_sandboxed_claude_sees_its_own_project_alone(place: Places, tmp_path: Path) -> None:
    home, other = tmp_path / "home", tmp_path / "elsewhere"
    claude_home(home, home / "work", other)
    before = (home / ".claude.json").read_text()
    new = "33333333-aaaa-4bbb-8ccc-000000000003"
    async with place(CLAUDE) as here:
        ran = await here.run("cat ~/.claude.json; cat $(find ~/.claude -type f); find ~/.claude")
        for secret in (OTHER, "secret-repo", f"key-of-{OTHER}"):
            assert secret not in ran.output
        for own in (f"words of {MINE}", f"memory of {MINE}", f"backup of {MINE}", f"key-of-{MINE}"):
            assert own in ran.output
        theirs, mine = folder_of(str(other)), folder_of(str(here.workspace))
        await here.run(
            f"cd ~/.claude; mkdir -p projects/{theirs}/memory file-history/{OTHER} file-history/{new}; echo evil >projects/{theirs}/memory/MEMORY.md; "
            f"echo evil >projects/{theirs}/{OTHER}.jsonl; echo evil >projects/{mine}/{OTHER}.jsonl; echo evil >file-history/{OTHER}/a@v1; "
            f"echo evil >file-history/{OTHER}/b@v1; echo '[]' >todos/{OTHER}-agent-{OTHER}.json; "
            f"echo more >projects/{mine}/{new}.jsonl; echo kept >file-history/{new}/a@v1; ln -s /etc/passwd file-history/{new}/link; echo x >file-history/stray"
        )
    folder = home / ".claude"
    assert (home / ".claude.json").read_text() == before
    assert (folder / "projects" / theirs / f"{OTHER}.jsonl").read_text() == f"words of {OTHER}\n"
    assert (folder / "projects" / theirs / "memory/MEMORY.md").read_text() == f"memory of {OTHER}\n"
    assert [one.name for one in (folder / "file-history" / OTHER).iterdir()] == ["a@v1"]
    assert (folder / "file-history" / OTHER / "a@v1").read_text() == f"backup of {OTHER}\n"
    assert json.loads((folder / "todos" / f"{OTHER}-agent-{OTHER}.json").read_text()) == [OTHER]
    assert (folder / "projects" / mine / f"{new}.jsonl").read_text() == "more\n"
    assert sorted(one.name for one in (folder / "file-history" / new).iterdir()) == ["a@v1"]
    assert sorted(one.name for one in (folder / "file-history").iterdir()) == sorted([MINE, OTHER, new])
    # the next sandbox of the project has all of it
    async with place(CLAUDE) as here:
        assert (await here.run(f"cat ~/.claude/file-history/{new}/a@v1")).output == "kept\n"


def test_of_a_repository_the_memory_is_shown_besides(tmp_path: Path) -> None:
    top = tmp_path / "top"
    (top / "sub").mkdir(parents=True)
    (top / ".git").mkdir()
    roots = roots_of(f"{top}/sub", [f"{tmp_path}/main/.git"])
    assert roots == [f"{top}/sub", str(top), f"{tmp_path}/main"]
    projects = tmp_path / "projects"
    projects.mkdir()
    shown = folders_in(str(projects), roots)
    assert [one[len(str(projects)) + 1 :] for one in shown] == [
        folder_of(f"{top}/sub"), f"{folder_of(str(top))}/memory", f"{folder_of(f'{tmp_path}/main')}/memory",
    ]  # fmt: skip


def test_a_name_that_claude_shortens_is_found_by_its_beginning(tmp_path: Path) -> None:
    root = f"/{'long/' * 60}"
    digest = tmp_path / f"{folder_of(root)}-1a2b3c"
    digest.mkdir()
    (digest / f"{MINE}.jsonl").touch()
    assert str(digest) in folders_in(str(tmp_path), [root])
    assert len(folder_of(root)) == LONGEST
    assert own_ids(str(tmp_path), [root]) == {MINE}


def test_nothing_is_taken_back_through_a_link(tmp_path: Path) -> None:
    private, shared, outside = tmp_path / "private", tmp_path / "shared", tmp_path / "outside"
    for one in (private, shared, outside):
        one.mkdir()
    (private / MINE).mkdir()
    (private / MINE / "a").write_text("x")
    os.mkfifo(private / MINE / "pipe")
    (shared / MINE).symlink_to(outside)
    take_back(str(private), str(shared), {MINE})
    assert list(outside.iterdir()) == []


@pytest.mark.long
def test_claude_names_the_folder_of_a_project_so(tmp_path: Path) -> None:
    """The real CLI makes its folder under the name that a sandbox shows."""
    claude = Path(__file__).parents[2] / "agents/node_modules/.bin/claude"
    if not claude.exists() or shutil.which("node") is None:
        pytest.skip("there is no Claude Code")
    work = tmp_path / "a folder_with.odd-names"
    work.mkdir()
    env = {
        "HOME": str(tmp_path),
        "PATH": os.environ["PATH"],
        "ANTHROPIC_API_KEY": "dummy",
        "ANTHROPIC_BASE_URL": "http://127.0.0.1:9",
    }
    env |= {
        "CLAUDE_CODE_MAX_RETRIES": "0",
        "DISABLE_TELEMETRY": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }
    subprocess.run([claude, "-p", "hello"], cwd=work, env=env, capture_output=True, timeout=120, check=False)
    assert (tmp_path / ".claude/projects" / folder_of(str(work))).is_dir()
