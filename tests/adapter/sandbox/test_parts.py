"""A sandbox gives an agent its own variables, and of its own files those of its own project."""

import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest
from sandboxes import Place, Places

from turnwire.adapter.sandbox.copied_files import copy_files, plain_files
from turnwire.adapter.sandbox.environment import kept_outside
from turnwire.adapter.sandbox.parts import LONGEST, folder_of, own_folders, own_ids, private_name, roots_of
from turnwire.adapter.sandbox.settings import SandboxSettings
from turnwire.config.known_agents import KNOWN, divided_places

MINE, OTHER = "11111111-aaaa-4bbb-8ccc-000000000001", "22222222-aaaa-4bbb-8ccc-000000000002"
CLAUDE = SandboxSettings(level="files", state=(".claude/", ".claude.json"), parts=divided_places())

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
    shown = own_folders(str(projects), "dashes", roots)
    assert [one[len(str(projects)) + 1 :] for one in shown] == [
        folder_of(f"{top}/sub"), f"{folder_of(str(top))}/memory", f"{folder_of(f'{tmp_path}/main')}/memory",
    ]  # fmt: skip


def test_a_name_that_claude_shortens_is_found_by_its_beginning(tmp_path: Path) -> None:
    root = f"/{'long/' * 60}"
    digest = tmp_path / f"{folder_of(root)}-1a2b3c"
    digest.mkdir()
    (digest / f"{MINE}.jsonl").touch()
    assert str(digest) in own_folders(str(tmp_path), "dashes", [root])
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
    copy_files(str(private), str(shared), plain_files(str(private)))
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


def settings_of(name: str) -> SandboxSettings:
    return SandboxSettings(level="files", state=KNOWN[name].own_places, parts=divided_places())


def sessions(path: Path) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(path)) as opened:
        return opened.execute("SELECT s.id, m.data FROM session s JOIN message m ON m.session_id = s.id ORDER BY 1").fetchall()  # fmt: skip


def opencode_database(path: Path, workspace: Path, other: Path) -> None:
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as opened:
        opened.executescript(
            "CREATE TABLE project (id text PRIMARY KEY, worktree text, commands text); CREATE TABLE credential (id text, value text);"
            "CREATE TABLE session (id text PRIMARY KEY, project_id text, directory text);"
            "CREATE TABLE message (id text PRIMARY KEY, session_id text, data text); CREATE TABLE unheard_of (id text, words text);"
            "INSERT INTO project VALUES ('p', '/', NULL), ('q', '/secret-place', 'x'); INSERT INTO credential VALUES ('a', 'login');"
            "INSERT INTO message VALUES ('m1', 'mine', 'my words'), ('m2', 'theirs', 'their words'); INSERT INTO unheard_of VALUES ('1', 'their words');"
        )
        opened.executemany(
            "INSERT INTO session VALUES (?, ?, ?)",
            [("mine", "p", str(workspace)), ("theirs", "q", str(other))],
        )
        opened.commit()


async def test_of_a_database_a_project_sees_its_own_rows_and_gives_back_no_others(
    place: Places, tmp_path: Path
) -> None:
    database = tmp_path / "home/.local/share/opencode/opencode.db"
    opencode_database(database, tmp_path / "home/work", tmp_path / "elsewhere")
    (database.parent / "auth.json").write_text("{}")
    async with place(settings_of("opencode")) as here:
        ran = await here.run("cd ~/.local/share/opencode; tr -cd '[:print:]' <opencode.db; ls")
        assert "my words" in ran.output
        assert "login" in ran.output
        assert "their words" not in ran.output
        assert "secret-place" not in ran.output
        ran = await here.run(
            f"""python3 -c '
import sqlite3
with sqlite3.connect("{database}") as opened:
    opened.executescript("UPDATE message SET data = \\"more words\\" WHERE id = \\"m1\\"; INSERT INTO project VALUES (\\"new\\", \\"/\\", \\"evil\\");"
        "INSERT INTO session VALUES (\\"new\\", \\"new\\", \\"{here.workspace}\\"), (\\"theirs\\", \\"p\\", \\"{here.workspace}\\"), (\\"strange\\", \\"p\\", \\"/x\\");"
        "INSERT INTO message VALUES (\\"m3\\", \\"new\\", \\"new words\\"), (\\"m2\\", \\"theirs\\", \\"evil\\"), (\\"m4\\", \\"strange\\", \\"evil\\");"
        "INSERT INTO credential VALUES (\\"b\\", \\"evil\\"); CREATE TRIGGER t AFTER INSERT ON session BEGIN DELETE FROM message; END;")
'; echo '{{"a": 1}}' >auth.json; echo 1 >~/.local/share/opencode/auth.json"""
        )
        assert ran.errors == ""
    assert sessions(database) == [("mine", "more words"), ("new", "new words"), ("theirs", "their words")]
    with closing(sqlite3.connect(database)) as opened:
        assert opened.execute("SELECT * FROM credential").fetchall() == [("a", "login")]
        assert opened.execute("SELECT commands FROM project WHERE id = 'new'").fetchall() == [(None,)]
        assert opened.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall() == []
    assert (database.parent / "auth.json").read_text() == "1\n"
    assert not list((database.parent / ".turnwire").glob("*/opencode.db"))


async def test_a_session_that_goes_on_outside_meanwhile_is_not_taken_back(
    place: Places, tmp_path: Path
) -> None:
    database = tmp_path / "home/.local/share/opencode/opencode.db"
    opencode_database(database, tmp_path / "home/work", tmp_path / "elsewhere")
    async with place(settings_of("opencode")):
        with closing(sqlite3.connect(database)) as opened:
            opened.execute("UPDATE message SET data = 'said outside' WHERE id = 'm1'")
            opened.commit()
    assert ("mine", "said outside") in sessions(database)


@pytest.mark.parametrize("content", ["no database", ""])
async def test_a_database_that_is_none_is_left_where_it_is(
    place: Places, tmp_path: Path, content: str, caplog: pytest.LogCaptureFixture
) -> None:
    database = tmp_path / "home/.local/share/opencode/opencode.db"
    async with place(settings_of("opencode")) as here:
        await here.run(f"printf '{content}' >{database}; ln -s /etc/passwd {database}-wal")
    assert not database.exists()
    assert "was not taken back" in caplog.text


async def test_the_first_sessions_of_a_database_are_taken_back(place: Places, tmp_path: Path) -> None:
    database = tmp_path / "home/.local/share/opencode/opencode.db"
    template = tmp_path / "home/work/template.db"
    opencode_database(tmp_path / "made/opencode.db", tmp_path / "home/work", tmp_path / "elsewhere")
    shutil.copy(tmp_path / "made/opencode.db", template)
    async with place(settings_of("opencode")) as here:
        await here.run(f"cp {template} {database}")
    assert sessions(database) == [("mine", "my words")]


def rollout(home: Path, name: str, cwd: Path, words: str) -> Path:
    path = home / ".codex/sessions/2026/11/29" / f"rollout-{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        json.dumps({"type": "session_meta", "payload": {"id": name, "cwd": str(cwd)}}) + f"\n{words}\n"
    )
    return path


async def test_conversations_that_name_another_project_are_not_there_and_are_not_replaced(
    place: Places, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    mine, theirs = (
        rollout(home, "mine", home / "work", "my words"),
        rollout(home, "theirs", tmp_path / "two", "their words"),
    )
    (home / ".codex/history.jsonl").write_text("their words")
    (home / ".codex/auth.json").write_text("login")
    (home / ".codex/AGENTS.md").write_text("my rules")
    async with place(settings_of("codex")) as here:
        ran = await here.run(
            "cd ~/.codex; cat $(find . -type f); cd sessions/2026/11/29; echo more >>rollout-mine.jsonl; cp rollout-mine.jsonl rollout-theirs.jsonl; "
            "touch -d 2099-01-01 rollout-theirs.jsonl; cp rollout-mine.jsonl rollout-new.jsonl; ln -s ~/.codex/auth.json rollout-link.jsonl; "
            "echo '{}' >rollout-unnamed.jsonl; echo x >~/.codex/AGENTS.md"
        )
        assert "their words" not in ran.output
        for own in ("my words", "login", "my rules"):
            assert own in ran.output
    assert mine.read_text().endswith("my words\nmore\n")
    assert theirs.read_text().endswith("their words\n")
    assert sorted(one.name for one in mine.parent.iterdir()) == [
        "rollout-mine.jsonl", "rollout-new.jsonl", "rollout-theirs.jsonl",
    ]  # fmt: skip
    assert (home / ".codex/AGENTS.md").read_text() == "my rules"


async def test_what_a_killed_sandbox_has_left_is_taken_back_by_the_next(
    place: Places, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    mine = rollout(home, "mine", home / "work", "my words")
    left = home / ".codex/.turnwire" / private_name(str(home / "work")) / "sessions/2026/11/29"
    left.mkdir(parents=True)
    (left / mine.name).write_text(mine.read_text() + "more\n")
    async with place(settings_of("codex")) as here:
        assert mine.read_text().endswith("more\n")
        # another sandbox of the project that ends meanwhile leaves this one its files
        async with place(settings_of("codex")):
            pass
        assert "more" in (await here.run("cat ~/.codex/sessions/2026/11/29/*")).output
    assert not left.exists()


@pytest.mark.parametrize("name", ["gemini", "qwen"])
async def test_of_folders_of_projects_the_own_one_is_there(place: Places, tmp_path: Path, name: str) -> None:
    home, other = tmp_path / "home", tmp_path / "two"
    top = home / f".{name}"
    theirs = (
        (top / "tmp/two", top / "history/two")
        if name == "gemini"
        else (top / "projects" / folder_of(str(other)) / "chats",)
    )
    for one in theirs:
        one.mkdir(parents=True)
        (one / ".project_root").write_text(str(other))
        (one / "session-1.jsonl").write_text("their words")
    if name == "gemini":
        own = top / "tmp" / "work"
        own.mkdir()
        (own / ".project_root").write_text(str(home / "work"))
    (top / "unheard-of.jsonl").write_text("their words")
    async with place(settings_of(name)) as here:
        ran = await here.run(
            f"cd ~/.{name}; grep -rc 'their words' . | grep -v :0; for one in tmp/* projects/*; do echo x >$one/made; done; ls tmp projects; echo y >y"
        )
        assert ":1" not in ran.output
        assert "two" not in ran.output
    made = sorted(str(one.relative_to(top)) for one in top.glob("*/*/made"))
    if name == "gemini":
        assert made == [str(Path("tmp", "work", "made"))]
    else:
        digest = hashlib.sha256(str(here.workspace).encode()).hexdigest()
        assert made == [f"projects/{folder_of(str(here.workspace))}/made", f"tmp/{digest}/made"]
    assert not (top / "y").exists()
    # what belongs to no conversation is the project's own
    async with place(settings_of(name)) as here:
        assert (await here.run(f"cat ~/.{name}/y")).output == "y\n"


async def test_a_login_that_an_agent_renames_into_place_is_kept(place: Places, tmp_path: Path) -> None:
    login = tmp_path / "home/.qwen/oauth_creds.json"
    login.parent.mkdir()
    login.write_text("old")
    async with place(settings_of("qwen")) as here:
        ran = await here.run(
            "cd ~/.qwen; cat oauth_creds.json; echo new >x; touch -d 2099-01-01 x; mv x oauth_creds.json"
        )
        assert (ran.output, ran.errors) == ("old", "")
    assert login.read_text() == "new\n"
