"""No git that turnwire runs starts a program that the repository or the branch brings; the person's own configuration counts."""

import asyncio
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from git_house import House, done, refusal, write

from recordings import ROOT
from turnwire.adapter.workspace.changes import patch_of, workspace_changes
from turnwire.adapter.workspace.git import Git, GitRefused
from turnwire.adapter.workspace.git_settings import Setting, overrides
from turnwire.adapter.workspace.names import file_names
from turnwire.adapter.workspace.revert import revert
from turnwire.adapter.workspace.worktrees import list_worktrees, remove_worktree
from turnwire.recordings.folder import Workspace

HOOKS = (
    *("applypatch-msg", "commit-msg", "fsmonitor-watchman", "post-applypatch", "post-checkout", "post-commit", "post-index-change"),
    *("post-merge", "post-rewrite", "pre-applypatch", "pre-auto-gc", "pre-commit", "pre-merge-commit", "pre-push", "pre-rebase"),
    *("prepare-commit-msg", "reference-transaction", "sendemail-validate"),
)  # fmt: skip

PROGRAMS = (
    *("core.fsmonitor", "core.sshCommand", "core.editor", "core.pager", "core.askPass", "core.alternateRefsCommand", "core.gitProxy"),
    *("sequence.editor", "diff.external", "diff.any.command", "diff.any.textconv", "filter.any.clean", "filter.any.smudge"),
    *("filter.proc.process", "merge.any.driver", "credential.helper", "credential.https://example.org.helper", "gpg.program"),
    *("gpg.ssh.program", "gpg.ssh.defaultKeyCommand", "remote.origin.uploadpack", "remote.origin.receivepack", "submodule.sub.update"),
    *("gc.recentObjectsHook", "alias.status", "alias.commit", "pager.status", "hook.mine.command", "interactive.diffFilter"),
    *("trailer.any.command", "trailer.any.cmd", "uploadpack.packObjectsHook", "tar.any.command", "mergetool.any.cmd"),
)  # fmt: skip

ATTRIBUTES = "*.any filter=any diff=any merge=any\n*.proc filter=proc\n"


class Planted:
    """A repository in which every program leaves its name in a file."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.trace = house.folder / "trace"
        (house.folder / "programs").mkdir()

    def program(self, name: str) -> Path:
        """Make a program that leaves a name."""
        path = self.house.folder / "programs" / re.sub(r"\W", "-", name)
        path.write_text(f"#!/bin/sh\necho {name} >>{self.trace}\nexit 1\n")
        path.chmod(0o755)
        return path

    def hooks(self, folder: Path, kind: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        for name in HOOKS:
            hook = folder / name
            hook.write_text(f"#!/bin/sh\necho {kind} {name} >>{self.trace}\n")
            hook.chmod(0o755)

    def configure(self, at: Path, *prefix: str) -> None:
        for key in PROGRAMS:
            value = str(self.program(f"{at.name} {key}"))
            if key in ("alias.status", "alias.commit", "submodule.sub.update", "credential.helper"):
                value = f"!{value}"
            self.house.git("config", *prefix, key, value, at=at)

    @property
    def ran(self) -> str:
        return self.trace.read_text() if self.trace.exists() else ""


@pytest.fixture
def planted(tmp_path: Path) -> Planted:
    """Return a repository with work on both sides, a submodule and a remote, whose configuration names programs everywhere."""
    house = House(tmp_path)
    inner = house.folder / "inner"
    inner.mkdir()
    house.git("init", "-q", at=inner)
    house.commit({"x.any": "x\n", ".gitattributes": ATTRIBUTES}, inner)
    house.git("submodule", "--quiet", "add", str(inner), "sub-module")
    lines = "".join(f"line {number}\n" for number in range(20))
    house.commit({"a.any": lines, "a.proc": "a\n", ".gitattributes": ATTRIBUTES})
    house.git("clone", "-q", "--bare", str(house.repository), str(house.folder / "remote.git"))
    house.git("remote", "add", "origin", str(house.folder / "remote.git"))
    return Planted(house)


async def everything(planted: Planted) -> None:
    """Look and act by every command of git that turnwire has."""
    house = planted.house
    env = house.environment
    made = await house.make()
    other = await house.make("other")
    there, tree = Path(made.path), house.tree(made)
    house.git("submodule", "--quiet", "update", "--init", at=there)
    write(there / "sub-module", {"x.any": "changed\n"})
    planted.configure(there / "sub-module")
    planted.hooks(
        Path(house.git("rev-parse", "--absolute-git-dir", at=there / "sub-module"), "hooks"), "submodule"
    )
    planted.trace.unlink(missing_ok=True)  # the test's own git has run some
    mine = (there / "a.any").read_text()
    write(there, {"a.any": f"{mine}end\n", "a.proc": "b\n", "new.any": "new\n"})
    write(Path(other.path), {"a.any": "top\n" + mine, "a.txt": "changed\n"})
    await tree.status()
    for action in ("commit", "merge", "rebase", "push", "pull_request", "discard"):
        await tree.preview(action, "A message", agent="away")
    await workspace_changes(there, env)
    await patch_of(there, env, "a.any")
    await file_names(there, env)
    recorded = Workspace(there)
    assert b"a.any" in b"".join(await asyncio.to_thread(lambda: list(recorded.changed())))
    files = {file.path: file for file in (await workspace_changes(Path(other.path), env)).files}
    await revert(Path(other.path), env, "a.txt", version=files["a.txt"].version)
    await done(tree, "commit", "Mine")
    await done(house.tree(other), "commit", "Theirs")
    await done(house.tree(other), "merge")
    await done(tree, "rebase")
    try:
        await done(tree, "push")
    except GitRefused as error:
        assert "push yourself" in str(error)  # noqa: PT017 - only where a program for remotes was planted
    await done(tree, "merge")
    await Git(there, env).tells("merge-base", "main", "HEAD")
    await list_worktrees(house.place, env, house.backups)
    await remove_worktree(Path(other.path), house.place, env, house.backups)


@pytest.mark.long
@pytest.mark.parametrize("where", ["local", "worktree", "include", "on a branch", "husky"])
async def test_nothing_runs_wherever_it_is_named(planted: Planted, where: str) -> None:
    house = planted.house
    repository = house.repository
    planted.hooks(repository / ".git/hooks", "own")
    match where:
        case "local":
            planted.configure(repository)
        case "worktree":
            house.git("config", "extensions.worktreeConfig", "true")
            planted.configure(repository, "--worktree")
        case "include":
            planted.configure(repository, "--file", str(repository / "more"))
            house.git("add", "more")
            house.git(
                "commit", "-qm", "More"
            )  # before it counts: git itself runs filters where times are too near
            house.git("config", "include.path", "../more")
        case "on a branch":
            house.git("config", "includeIf.onbranch:w*.path", "more")
            house.git("config", "includeIf.onbranch:main.path", "more")
            planted.configure(repository, "--file", str(repository / ".git/more"))
        case _:
            planted.hooks(repository / ".husky/_", "husky")
            house.git("-c", "core.hooksPath=/dev/null", "add", "-f", ".husky")
            house.git("-c", "core.hooksPath=/dev/null", "commit", "-qm", "Hooks")
            house.git("config", "core.hooksPath", ".husky/_")
    planted.trace.unlink(missing_ok=True)
    await everything(planted)
    assert planted.ran == ""
    subprocess.run(["git", "status"], cwd=repository, env=house.environment, capture_output=True, check=False)
    assert planted.ran != "", "a plain git would have run them"


async def test_a_merge_names_the_hooks_and_attributes_that_it_brings(planted: Planted) -> None:
    house = planted.house
    house.git("config", "core.hooksPath", ".hooks-of-us/_")
    made = await house.make()
    there, tree = Path(made.path), house.tree(made)
    brought = {
        ".hooks-of-us/_/post-merge": "#!/bin/sh\n", "deep/.gitattributes": "* filter=any\n", ".husky/pre-commit": "x\n",
        "sub/.envrc": "x\n", "src/a.py": "x\n",
    }  # fmt: skip
    planted.hooks(there / ".hooks-of-us/_", "branch")
    write(there, brought)
    (there / ".hooks-of-us/_/post-merge").chmod(0o755)
    house.git("add", "-A", at=there)
    house.git("-c", "core.hooksPath=/dev/null", "commit", "-qm", "Hooks", at=there)
    warned = " ".join((await tree.preview("merge", None, agent="away")).warnings)
    for path in (".hooks-of-us/_/commit-msg", "deep/.gitattributes", ".husky/pre-commit"):
        assert path in warned
    assert "src/a.py" not in warned
    planted.trace.unlink(missing_ok=True)
    await done(tree, "merge")
    house.commit({"more.txt": "x"}, there)
    planted.trace.unlink(missing_ok=True)
    said = await done(tree, "merge")  # they are in the working tree by now
    assert planted.ran == ""
    assert any("Hooks of git do not run" in one and "post-merge" in one for one in said.done)


async def test_what_did_not_run_is_told_before_and_after(house: House) -> None:
    hook = house.repository / ".git/hooks/pre-commit"
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    made = await house.make()
    tree = house.tree(made)
    write(Path(made.path), {"a.txt": "changed\n"})
    plan = await tree.preview("commit", "Say", agent="away")
    assert plan.warnings == ("Hooks of git do not run: pre-commit. Run git yourself to have them.",)
    assert (await tree.act("commit", "Say", plan.plan, agent="away")).done[1:] == plan.warnings


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


async def test_a_filter_that_is_required_and_does_not_run_refuses_a_commit(house: House) -> None:
    house.git("config", "filter.big.clean", "tr a-z A-Z")
    house.git("config", "filter.big.required", "true")
    house.commit({".gitattributes": "*.big filter=big\n"})
    made = await house.make()
    there, tree = Path(made.path), house.tree(made)
    write(there, {"x.big": "words\n"})
    assert (await tree.status()).uncommitted == ("x.big",)
    before = house.git("status", "--porcelain", at=there)
    with pytest.raises(GitRefused, match="'big', which the repository's own configuration names"):
        await done(tree, "commit", "Say")
    assert house.git("status", "--porcelain", at=there) == before
    # named by the person, it runs, though the repository names it as well
    (house.folder / ".gitconfig").write_text('[filter "big"]\nclean = tr a-z A-Z\nrequired = true\n')
    house.git("config", "filter.big.clean", "false")
    await done(tree, "commit", "Say")
    house.git("config", "--unset", "filter.big.clean")
    assert house.git("show", "HEAD:x.big", at=there) == "WORDS"
    # what a discard keeps is kept as it is
    (house.folder / ".gitconfig").unlink()
    house.git("config", "filter.big.clean", "false")
    write(there, {"y.big": "kept\n"})
    said = await done(tree, "discard")
    assert house.git("show", f"{said.backup}:y.big") == "kept"


async def test_a_program_of_the_person_that_lies_in_the_repository_does_not_run(planted: Planted) -> None:
    house = planted.house
    script = house.repository / "tool.sh"
    script.write_text(f"#!/bin/sh\necho tool >>{planted.trace}\ncat\n")
    script.chmod(0o755)
    house.git("add", "-A")
    house.git("commit", "-qm", "Tool")
    (house.folder / ".gitconfig").write_text(
        '[core]\nhooksPath = hooks\nfsmonitor = ./tool.sh\n[filter "any"]\nclean = sh tool.sh %f\nsmudge = ./tool.sh\n[merge "any"]\ndriver = ./tool.sh\n'
    )
    await everything(planted)
    assert planted.ran == ""


async def test_a_branch_is_pushed_to_no_remote_in_its_own_worktree(house: House) -> None:
    made = await house.make()
    bare = Path(made.path, "remote.git")
    house.git("clone", "-q", "--bare", str(house.repository), str(bare))
    house.git("remote", "add", "origin", str(bare))
    house.git("branch", "-q", "--force", "work", house.git("rev-parse", "main"), fails=True)
    house.git("commit", "-q", "--allow-empty", "-m", "More", at=Path(made.path))
    assert "lies in the worktree" in await refusal(house.tree(made), "push")


def _here(*names: str) -> Callable[[str], bool]:
    return lambda path: path in names


def test_helpers_of_the_person_are_kept_and_those_of_the_repository_forgotten() -> None:
    settings = [
        Setting("global", "file:/home/a/.gitconfig", "credential.helper", "store"),
        Setting("local", "file:.git/config", "credential.helper", "!evil"),
        Setting("local", "file:.git/config", "credential.https://a.helper", "!evil"),
        Setting("global", "file:/home/a/.gitconfig", "filter.lfs.clean", "git-lfs clean -- %f"),
        Setting("local", "file:.git/config", "filter.lfs.clean", "evil"),
        Setting("global", "file:/w/shared", "gpg.ssh.program", "anything"),
        Setting("global", "file:/home/a/.gitconfig", "diff.x.textconv", "'broken"),
        Setting("local", "file:.git/config", "user.name", "Ada"),
    ]
    told = overrides(settings, _here("/w/shared"), skips_filters=True)
    assert told[: told.index(("core.hooksPath", "/dev/null"))] == [
        ("credential.helper", ""), ("credential.helper", "store"), ("credential.https://a.helper", ""), ("credential.https://a.helper", "store"),
        ("filter.lfs.clean", "git-lfs clean -- %f"), ("gpg.ssh.program", "ssh-keygen"),
    ]  # fmt: skip


def test_git_is_started_in_one_place_alone() -> None:
    """No other module starts git, by whatever way to start a program. The kit makes an empty repository of its own."""
    tracked = subprocess.run(
        ["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    sources = [
        one
        for one in tracked.stdout.split("\n")
        if one.startswith(("adapter/", "normalize/", "tracing/", "turnwire/", "clients/"))
    ]
    assert "adapter/workspace/git.py" in sources
    starts = re.compile(r"""which\(\s*["']git["']|[\[(]\s*["'](?:\S*/)?git["'],""")
    found = {one for one in sources if starts.search((ROOT / one).read_text())}
    assert found == {"adapter/workspace/git.py", "turnwire/frontends/conform/agent.py"}
