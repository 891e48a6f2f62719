"""What a sandboxed agent leaves where programs load it by themselves does not stay there, and people are told."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from sandboxes import nobody

from recordings import ROOT
from turnwire.adapter.process.cli import CliProcess
from turnwire.adapter.sandbox.planted import Planted, loaded_in, set_aside_after_kill
from turnwire.adapter.sandbox.sandbox import open_sandbox
from turnwire.adapter.sandbox.settings import SandboxSettings
from turnwire.adapter.workspace.loaded import LOADED, LoadedPlaces
from turnwire.config.known_agents import KNOWN, loaded_places

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="bubblewrap is Linux's")


class House:
    def __init__(self, folder: Path) -> None:
        self.home, self.work = folder / "home", folder / "home/work"
        self.work.mkdir(parents=True)
        self.environment = {"HOME": str(self.home), "PATH": "/usr/local/bin:/usr/bin:/bin"}

    def git(self, *words: str) -> str:
        named = ("-c", "user.name=a", "-c", "user.email=a@localhost", "-c", "init.defaultBranch=main")
        done = subprocess.run(
            ["git", *named, *words],
            cwd=self.work,
            env=self.environment,
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout

    async def run(self, script: str, **settings: object) -> str:
        """Run a script in a sandbox; return what people are told at its end."""
        told: list[str] = []
        wanted = SandboxSettings(level="files", loads=loaded_places(), **settings)  # type: ignore[arg-type]
        async with open_sandbox(
            wanted, workspace=self.work, program="/bin/sh", environment=self.environment, tell=told.append
        ) as sandbox:
            assert sandbox is not None
            sandbox.gate.attach(nobody, lambda _: None)
            process = await CliProcess.spawn(
                ["/bin/sh", "-c", script], workspace=self.work, environment=self.environment, sandbox=sandbox
            )
            process.close_input()
            while await process.read():
                pass
            await process.wait()
        return " ".join(told)

    def files(self) -> set[str]:
        """Return files and links, without git's own and without marks of names."""
        return {
            os.path.relpath(Path(at, name), self.work)
            for at, folders, names in os.walk(self.work)
            for name in (*names, *(one for one in folders if Path(at, one).is_symlink()))
            if ".git/" not in f"{at}/"
        }


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def made(places: Sequence[str], below: str = "") -> str:
    """Return a script that makes places: a file in each folder."""
    lines = []
    for place in places:
        path = f"{below}{place.replace('*', 'x')}"
        path = f"{path}evil.js" if path.endswith("/") else path
        lines.append(f"mkdir -p '{Path(path).parent}'; echo evil >'{path}'")
    return "\n".join(lines)


def is_left(files: set[str]) -> set[str]:
    return {path for path in files if ".from-sandbox-" not in path}


@pytest.mark.parametrize("below", ["", "packages/deep/er/"])
async def test_no_such_place_stays(house: House, below: str) -> None:
    told = await house.run(made(loaded_places(), below))
    assert is_left(house.files()) == set()
    assert "are set aside" in told
    if below:
        assert len(house.files()) == len({one.rstrip("/") for one in loaded_places()})


async def test_other_ways_to_leave_one_are_found_too(house: House) -> None:
    (house.work / "src").mkdir()
    told = await house.run(
        "mkdir x; echo a >x/plugin.js; mv x .opencode; echo a >.ENVRC; ln -s src/run.sh .envrc; ln -s src .Kilocode; "
        "mkdir -p y/.opencode/plugins; echo a >y/.opencode/plugins/a.js; mv y packages; echo a >b; ln b .npmrc; echo a >src/run.sh"
    )
    assert is_left(house.files()) == {"b", "src/run.sh"}
    for place in (".opencode", ".ENVRC", ".envrc", ".Kilocode", "packages/.opencode", ".npmrc"):
        assert place in told


async def test_what_was_there_is_held_or_comes_back(house: House) -> None:
    for path in (".npmrc", ".husky/pre-commit", "app/.envrc", "app/.roo/mcp.json"):
        (house.work / path).parent.mkdir(exist_ok=True, parents=True)
        (house.work / path).write_text("mine")
    told = await house.run(
        "echo evil >.npmrc; echo evil >.husky/pre-commit; echo evil >.husky/post-merge; echo evil >app/.envrc; rm -r app/.roo; mkdir app/.roo; "
        "echo evil >app/.roo/mcp.json; mv app other; echo more >other/code.py"
    )
    assert (house.work / ".npmrc").read_text() == "mine"
    assert [one.name for one in (house.work / ".husky").iterdir()] == ["pre-commit"]
    assert is_left(house.files()) == {".npmrc", ".husky/pre-commit", "other/code.py"}
    assert "other/.envrc" in told
    (house.work / "app").mkdir()
    (house.work / "app/.envrc").write_text("mine")
    await house.run("echo evil >app/.envrc; echo x >app/code.py")
    assert (house.work / "app/.envrc").read_text() == "mine"
    # what is not changed is left, and nobody is told
    assert await house.run("cat app/.envrc .npmrc; touch code.py") == ""


async def test_a_checkout_of_what_was_committed_before_is_no_plant(house: House) -> None:
    house.git("init", "-q")
    (house.work / "a.txt").write_text("a")
    house.git("add", "-A")
    house.git("commit", "-qm", "First")
    house.git("checkout", "-qb", "tools")
    (house.work / ".husky").mkdir()
    (house.work / ".husky/pre-commit").write_text("ours")
    (house.work / "mise.toml").write_text("ours")
    house.git("add", "-A")
    house.git("commit", "-qm", "Tools")
    house.git("checkout", "-q", "main")
    told = await house.run(
        "git checkout -q tools; echo evil >.husky/post-merge; git checkout -qb evil; echo evil >.yarnrc.yml; "
        "git -c user.name=a -c user.email=a add -f .yarnrc.yml; git -c user.name=a -c user.email=a@b commit -qm evil; "
        "git rm -q --cached .yarnrc.yml; rm .yarnrc.yml; git checkout -q -f evil"
    )
    assert is_left(house.files()) == {"a.txt", "mise.toml", ".husky/pre-commit"}
    assert ".husky" in told
    assert ".yarnrc.yml" in told


async def test_a_freed_place_stays(house: House) -> None:
    told = await house.run(
        "echo x >.npmrc; mkdir .opencode app; echo x >.opencode/a; echo x >app/.npmrc",
        unprotected=(".npmrc",),
    )
    assert is_left(house.files()) == {".npmrc", "app/.npmrc"}
    assert ".opencode" in told


async def test_a_folder_that_a_link_leads_to_is_held(house: House) -> None:
    (house.work / "config").mkdir()
    (house.work / "config/a.js").write_text("mine")
    (house.work / ".opencode").symlink_to("config")
    await house.run(
        "echo evil >config/a.js; echo evil >.opencode/b.js; rm .opencode; mkdir .opencode; echo evil >.opencode/c.js"
    )
    assert (house.work / "config/a.js").read_text() == "mine"
    assert is_left(house.files()) >= {"config/a.js"}
    assert not (house.work / ".opencode/c.js").exists()


async def test_a_folder_that_became_a_link_moves_nothing_outside(house: House) -> None:
    (house.home / ".envrc").write_text("a person's own")
    planted = Planted(str(house.work), LoadedPlaces.of(LOADED), (), frozenset())
    await planted.look(house.environment)
    (house.work / "sub").symlink_to(house.home)
    assert await planted.set_aside() is None
    assert (house.home / ".envrc").exists()


def test_a_large_workspace_is_looked_at_from_the_top(house: House) -> None:
    for number in range(5):
        (house.work / f"{number}").mkdir()
        (house.work / f"{number}/.envrc").write_text("x")
    (house.work / ".envrc").write_text("x")
    assert loaded_in(str(house.work), LoadedPlaces.of(LOADED), most=3) == [".envrc", "0/.envrc", "1/.envrc"]


def test_each_agent_that_is_run_in_a_sandbox_says_what_it_loads() -> None:
    """Products that have several entries say so once."""
    programs = {one.program for one in KNOWN.values() if one.loads}
    others = {"codex-acp": "codex", "claude-agent-acp": "claude"}
    assert {others.get(one.program, one.program) for one in KNOWN.values()} <= programs


KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from turnwire.adapter.process.cli import CliProcess
from turnwire.adapter.sandbox.sandbox import open_sandbox
from turnwire.adapter.sandbox.settings import SandboxSettings
from turnwire.config.known_agents import loaded_places

async def main():
    home, work, notes = sys.argv[1:4]
    given = {"HOME": home, "PATH": "/usr/local/bin:/usr/bin:/bin"}
    settings = SandboxSettings(level="files", loads=loaded_places(), notes=notes)
    async with open_sandbox(settings, workspace=Path(work), program="/bin/sh", environment=given) as sandbox:
        script = "mkdir -p sub .opencode; echo evil >sub/.envrc; echo evil >.opencode/x.js; echo evil >sub/.npmrc; echo planted; cat"
        process = await CliProcess.spawn(["/bin/sh", "-c", script], workspace=Path(work), environment=given, sandbox=sandbox)
        await process.read()
        os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""


@pytest.mark.long
@pytest.mark.parametrize("level", ["off", "files"])
async def test_what_is_planted_when_turnwire_is_killed_is_set_aside_at_the_next_start(
    house: House, tmp_path: Path, level: str
) -> None:
    notes, other = tmp_path / "notes", tmp_path / "home/other"
    other.mkdir()
    (house.work / "sub").mkdir()
    (house.work / "sub/.npmrc").write_text("mine")
    killed = await asyncio.create_subprocess_exec(
        sys.executable, "-c", KILLED, house.home, house.work, notes, cwd=ROOT
    )
    assert await killed.wait() == -signal.SIGKILL
    told: list[str] = []
    settings = SandboxSettings(level=level, loads=loaded_places(), notes=str(notes))  # type: ignore[arg-type]
    opened = open_sandbox(
        settings, workspace=other, program="/bin/sh", environment=house.environment, tell=told.append
    )
    async with opened:
        assert not (house.work / "sub/.envrc").exists()
        assert not (house.work / ".opencode").exists()
        assert (house.work / "sub/.npmrc").read_text() == "mine"
        (said,) = told
        assert ".opencode" in said
        assert str(house.work) in said
    assert not list(notes.iterdir())


async def test_what_a_session_that_runs_has_made_is_left_to_it(house: House, tmp_path: Path) -> None:
    notes = str(tmp_path / "notes")
    table = LoadedPlaces.of(LOADED)
    running = Planted(str(house.work), table, (), frozenset())
    await running.look(house.environment, notes)
    (house.work / ".envrc").write_text("evil")
    (tmp_path / "notes/broken.note").write_text("{")
    assert await set_aside_after_kill(notes) == []
    assert (house.work / ".envrc").exists()
    assert ".envrc" in (await running.set_aside() or "")
    assert [one.name for one in (tmp_path / "notes").iterdir()] == ["broken.note"]
    assert await set_aside_after_kill(str(tmp_path / "none")) == []


LATER = (
    ".jj/repo/config.toml", ".lefthook.json", "lefthook.json", "prek.toml", ".autoenv_leave.zsh", ".env.leave", ".crush.json", ".crush/x",
    "crush.json", ".helix/languages.toml", ".buckconfig.local", ".jvmopts", ".pixi/config.toml", ".sbtopts", "rust-toolchain", "rust-toolchain.toml",
    "uv.toml", ".erlang", ".iex.exs", ".pdbrc.py", ".RData", "sitecustomize/__init__.py", "usercustomize/__init__.py",
)  # fmt: skip


async def test_what_other_tools_load_by_themselves_is_set_aside(house: House) -> None:
    said = await house.run(" && ".join(f"mkdir -p $(dirname {one}) && echo evil >{one}" for one in LATER))
    assert not [one for one in LATER if (house.work / one).exists()]
    assert "crush.json" in said
