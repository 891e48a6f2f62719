import subprocess
from pathlib import Path

import pytest

from turnwire.adapter.sandbox.linux import bwrap_arguments
from turnwire.adapter.sandbox.macos import sandbox_profile
from turnwire.adapter.sandbox.profile import Profile, ProfileError, build_profile
from turnwire.adapter.sandbox.sandbox import make, unmake
from turnwire.adapter.sandbox.settings import SandboxSettings, is_weaker

PROFILE = Profile(
    workspace="/home/me/project",
    home="/home/me",
    readable=("/home/me/.nvm", "/usr"),
    writable=("/home/me/.claude", "/home/me/project"),
    protected=("/home/me/project/.git/hooks",),
    hidden=("/etc/shadow", "/home/me/project/keys"),
    links={"/bin": "usr/bin"},
)


def build(home: Path, workspace: Path, **settings: object) -> Profile:
    return build_profile(
        SandboxSettings(level="files", **settings),  # type: ignore[arg-type]
        workspace=workspace,
        program="/bin/sh",
        environment={"HOME": str(home), "PATH": "/usr/bin:/bin"},
    )


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home" / "work").mkdir(parents=True)
    return tmp_path / "home"


def test_levels_are_ordered() -> None:
    assert is_weaker("off", "files")
    assert not is_weaker("network", "files")


def test_outer_places_come_before_what_is_in_them_and_protected_ones_last() -> None:
    said = " ".join(bwrap_arguments(PROFILE, has_network=False, folders=["/home/me/project/keys"]))
    order = [
        "--symlink usr/bin /bin", "--ro-bind /usr /usr", "--tmpfs /home/me", "--bind /home/me/.claude /home/me/.claude",
        "--ro-bind /home/me/.nvm /home/me/.nvm", "--bind /home/me/project /home/me/project",
        "--bind /home/me/project/.git /home/me/project/.git", "--ro-bind /home/me/project/.git/hooks /home/me/project/.git/hooks",
        "--tmpfs /home/me/project/keys", "--chdir /home/me/project --",
    ]  # fmt: skip
    places = [said.index(one) for one in order]
    assert places == sorted(places)
    assert "--ro-bind /dev/null /etc/shadow" in said
    assert "--unshare-net" in said
    assert "--unshare-net" not in bwrap_arguments(PROFILE, has_network=True)


def test_the_text_for_macos_denies_after_it_allows() -> None:
    assert sandbox_profile(PROFILE, temporary='/tmp/a"b', ports=[4000]).splitlines()[-11:] == [
        '(allow file-read* (subpath "/home/me/.nvm"))',
        '(allow file-read* (subpath "/usr"))',
        '(allow file-read* file-write* (subpath "/home/me/.claude"))',
        '(allow file-read* file-write* (subpath "/home/me/project"))',
        '(allow file-read* file-write* (subpath "/tmp/a\\"b"))',
        '(deny file-read* file-write* (subpath "/etc/shadow"))',
        '(deny file-read* file-write* (subpath "/home/me/project/keys"))',
        '(deny file-write* (subpath "/home/me/project/.git/hooks"))',
        '(allow network-outbound (remote ip "localhost:4000"))',
        '(allow network-bind (local ip "localhost:*"))',
        '(allow network-inbound (local ip "localhost:*"))',
    ]


def test_files_alone_leave_a_mac_its_network() -> None:
    said = sandbox_profile(PROFILE, temporary="/tmp/x", ports=None)
    assert said.startswith("(version 1)\n(deny default)\n")
    assert "(allow network*)" in said


def test_what_starts_programs_later_is_protected_and_a_missing_folder_held(home: Path) -> None:
    work = home / "work"
    subprocess.run(["git", "init", "-q", work], check=True)
    (work / ".mcp.json").write_text("{}")
    profile = build(home, work)
    names = {place.removeprefix(f"{work}/") for place in profile.protected}
    assert {".git/hooks", ".git/config", ".claude", ".vscode", ".mcp.json"} <= names
    make(profile)
    assert (work / ".vscode").is_dir()
    again = build(home, work)
    make(again)
    unmake(profile)
    assert (work / ".vscode").is_dir()
    unmake(again)
    assert not (work / ".vscode").exists()
    assert (work / ".git/hooks").is_dir()


def test_the_operator_can_unprotect_names(home: Path) -> None:
    work = home / "work"
    profile = build(home, work, unprotected=[".git", ".vscode"])
    assert not {place for place in profile.protected if "/.git" in place or "/.vscode" in place}


def test_a_repository_below_the_workspace_is_protected_too(home: Path) -> None:
    nested = home / "work" / "libs" / "one"
    subprocess.run(["git", "init", "-q", nested], check=True)
    assert f"{nested}/.git/hooks" in build(home, home / "work").protected


def test_a_worktree_gets_its_repository_and_a_forged_one_nothing(home: Path) -> None:
    main, tree = home / "main", home / "tree"
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run([*git, "init", "-q", main], check=True)
    subprocess.run([*git, "-C", main, "commit", "-q", "--allow-empty", "-m", "one"], check=True)
    subprocess.run([*git, "-C", main, "worktree", "add", "-q", tree], check=True)
    profile = build(home, tree)
    assert f"{main}/.git" in profile.writable
    assert {f"{main}/.git/hooks", f"{main}/.git/config", f"{tree}/.git"} <= {*profile.protected}
    (home / "work" / ".git").write_text((tree / ".git").read_text())
    assert f"{main}/.git" not in build(home, home / "work").writable


@pytest.mark.parametrize(
    ("configuration", "place"),
    [
        ("[include]\n\tpath = ../local.gitconfig\n", "local.gitconfig"),
        ("[include] path = more # ours\n", ".git/more"),
        ('[include]\n\tpath = "../conf/one two"\n', "conf"),
        ("[include]\n\tpath = nested\n", ".git/named-by-nested"),
        ("[core]\n\thooksPath = .git/mine\n", ".git/mine"),
        ("[core]\n\thooksPath = tools/hooks\n", "tools"),
        ("[core] hooksPath = .husky/_\n", ".husky"),
        ("[core]\n\tfsmonitor = ./watch.sh\n", "watch.sh"),
        ("[core]\n\tfsmonitor = ~/repository/watch.sh -v\n", "watch.sh"),
        ("[extensions]\n\tworktreeConfig = true\n", ".git/config.worktree"),
    ],
)
def test_what_git_would_take_from_a_missing_place_is_held_and_removed_again(
    home: Path, configuration: str, place: str
) -> None:
    work = home / "repository"
    subprocess.run(["git", "init", "-q", work], check=True)
    (work / ".git/nested").write_text("[include]\n\tpath = named-by-nested\n")
    (work / ".git/config").write_text((work / ".git/config").read_text() + configuration)
    profile = build(home, work)
    assert f"{work}/{place}" in profile.protected
    make(profile)
    again = build(home, work)
    assert f"{work}/{place}" in again.protected
    make(again)
    subprocess.run(["git", "-C", work, "status"], check=True, capture_output=True)
    unmake(profile)
    assert (work / place).exists()
    unmake(again)
    assert not (work / place).exists()


def test_configurations_that_include_one_another_are_read_once(home: Path) -> None:
    work = home / "work"
    subprocess.run(["git", "init", "-q", work], check=True)
    names = [f"part-{number}" for number in range(300)]
    for name in ("config", *names):
        (work / ".git" / name).write_text("".join(f"[include]\n\tpath = {one}\n" for one in names))
    assert f"{work}/.git/part-0" in build(home, work).protected


def test_a_held_file_that_was_filled_outside_stays(home: Path) -> None:
    work = home / "work"
    subprocess.run(["git", "init", "-q", work], check=True)
    subprocess.run(["git", "-C", work, "config", "include.path", "../mine"], check=True)
    profile = build(home, work)
    make(profile)
    (work / "mine").write_text("[user]\n\tname = me\n")
    unmake(profile)
    assert (work / "mine").read_text() == "[user]\n\tname = me\n"


def test_a_program_that_git_finds_by_path_is_no_place_of_the_workspace(home: Path) -> None:
    work = home / "work"
    subprocess.run(["git", "init", "-q", work], check=True)
    for name, value in (("core.editor", "vim -n"), ("core.pager", "less"), ("filter.x.clean", "%(prefix)/x")):
        subprocess.run(["git", "-C", work, "config", name, value], check=True)
    profile = build(home, work)
    assert not {"vim", "less", "%(prefix)"} & {Path(one).name for one in (*profile.made_files, *profile.made)}


def test_a_copy_is_seen_in_the_place_of_its_file_and_a_fresh_folder_is_empty() -> None:
    profile = Profile(
        workspace="/w",
        home="/h",
        readable=(),
        writable=("/h/.agent", "/w"),
        protected=(),
        hidden=(),
        links={},
        fresh=("/h/.agent/tmp",),
        copied=("/h/.agent.json",),
    )
    said = " ".join(bwrap_arguments(profile, has_network=True, copies={"/h/.agent.json": "/c/0"}))
    assert "--bind /h/.agent /h/.agent --bind /c/0 /h/.agent.json --tmpfs /h/.agent/tmp --bind /w /w" in said


def test_what_the_operator_opens_of_an_agents_own_files_is_written(home: Path) -> None:
    (home / ".codex").mkdir()
    (home / ".codex" / "config.toml").write_text("")
    (home / ".claude.json").write_text("{}")
    state = [".codex/", ".claude.json"]
    held = build(home, home / "work", state=state)
    assert f"{home}/.codex/config.toml" in held.protected
    assert held.copied == (f"{home}/.claude.json",)
    opened = build(home, home / "work", state=state, writable=["~/.codex/config.toml", "~/.claude.json"])
    assert f"{home}/.codex/config.toml" not in opened.protected
    assert opened.copied == ()
    assert {f"{home}/.codex/config.toml", f"{home}/.claude.json"} <= {*opened.writable}


def test_the_home_directory_is_no_workspace(home: Path) -> None:
    with pytest.raises(
        ProfileError, match="holds the system or the home directory; work in a folder below it"
    ):
        build(home, home)


def test_an_agent_reads_its_own_login_and_no_other(home: Path) -> None:
    for name in (".gemini/oauth_creds.json", ".claude/.credentials.json"):
        (home / name).parent.mkdir()
        (home / name).write_text("{}")
    profile = build(home, home / "work", state=[".gemini/"], readable=["~/.claude"])
    assert f"{home}/.gemini/oauth_creds.json" not in profile.hidden
    assert f"{home}/.claude/.credentials.json" in profile.hidden


@pytest.mark.parametrize("workspace", ["/", "/usr", ".."])
def test_a_workspace_that_holds_the_system_or_home_is_refused(home: Path, workspace: str) -> None:
    with pytest.raises(ProfileError, match="work in a folder below it"):
        build(home, home / workspace)


def test_a_writable_place_that_is_missing_is_refused(home: Path) -> None:
    with pytest.raises(ProfileError, match="sandbox_writable"):
        build(home, home / "work", writable=["~/gone"])


def test_places_in_the_workspace_are_told_relative_to_it() -> None:
    assert PROFILE.in_workspace(PROFILE.protected) == [".git/hooks"]
    assert PROFILE.in_workspace(PROFILE.hidden) == ["keys"]
