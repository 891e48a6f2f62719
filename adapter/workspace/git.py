"""The one way in which turnwire runs git: no program runs that the repository or a branch brings, and nothing asks on a terminal.

Hooks and watchers of files are off. Of programs that git's configuration names (filters, drivers, ssh, helpers), those of the
person's own configuration run (git_settings.py). repository.py is for looks that need no configuration at all.
"""

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from turnwire.adapter.process.environment import OF_A_REPOSITORY
from turnwire.adapter.process.program import Completed, run_program
from turnwire.adapter.workspace.git_settings import (
    OFF,
    Setting,
    as_environment,
    included,
    is_brought,
    overrides,
    parse_settings,
    parts_of,
    reaches_by_program,
)
from turnwire.protocol.errors import TurnwireError

MAX_OUTPUT = 64 << 20
"""Bytes of git's words that are read: the names of some 600,000 files."""

SHOWN = 2000
"""Characters of git's complaints that a refusal repeats."""

MOST_INCLUDED = 100
"""Files of configuration that a repository's own may include on conditions."""

ACTS = frozenset({"add", "apply", "checkout", "commit", "merge", "rebase", "worktree"})
"""Commands that read or write contents for good: a file whose filter is required and does not run is refused there."""

HOOKS: Mapping[str, Sequence[str]] = {
    "commit": ("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"),
    "merge": ("pre-merge-commit", "prepare-commit-msg", "commit-msg", "post-merge"),
    "rebase": ("pre-rebase", "prepare-commit-msg", "commit-msg", "post-checkout", "post-rewrite"),
    "push": ("pre-push",),
}
"""The hooks that git would run, by command."""

NEEDED = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_PAGER": "cat",
    "GIT_EDITOR": "true",
    "GIT_SEQUENCE_EDITOR": "true",
    "GIT_MERGE_AUTOEDIT": "no",
    "LC_ALL": "C",
}
"""What keeps git from asking, and its words in English."""


class GitRefused(TurnwireError):
    """Git does not do it, or something would be lost; says why and what to do. Nothing has changed."""


class Changed(TurnwireError):
    """What was looked at has changed since; nothing was done."""


class Said(Struct, frozen=True):
    """What git said."""

    code: int
    output: str
    """Standard output."""
    errors: str

    @property
    def is_ok(self) -> bool:
        """Tell whether git did it."""
        return self.code == 0

    @property
    def words(self) -> str:
        """What git says to a person: its last characters."""
        return "\n".join(part.strip() for part in (self.output, self.errors) if part.strip())[-SHOWN:]

    def fields(self) -> list[str]:
        """Return what ends with a NUL each."""
        return self.output.split("\0")[:-1]


async def run_git(
    folder: Path,
    environment: Mapping[str, str],
    arguments: Sequence[str],
    *,
    told: Sequence[tuple[str, str]] = OFF,
    body: bytes = b"",
    most: int = MAX_OUTPUT,
    stops_full: bool = False,
) -> Completed:
    """Run git in a folder. Every git that turnwire starts is started here.

    Args:
        folder: where it runs.
        environment: of git, as far as it does not lead elsewhere.
        arguments: the command and what follows.
        told: settings that git is told.
        body: what it reads.
        most: bytes of each output that are kept.
        stops_full: end it once there are more.

    Raises:
        GitRefused: there is no git.
        OSError: it cannot be started.
    """
    path = _path_outside(folder, environment)
    program = shutil.which("git", path=path)
    if program is None:
        raise GitRefused("there is no program git on the sidecar's machine; install it")
    # an empty command for proxies keeps git from the configuration's
    given = {"GIT_PROXY_COMMAND": "", **environment, **NEEDED, "PATH": path}
    return await run_program(
        [program, "--no-pager", "-c", "core.quotePath=false", "-c", "color.ui=false", *arguments],
        body=body,
        workspace=folder,
        environment=as_environment(told, given),
        most=most,
        stops_full=stops_full,
    )


def _path_outside(folder: Path, environment: Mapping[str, str]) -> str:
    """Return PATH without folders in a workspace, where an agent can write a git, or an ssh."""
    # by os.path: all of them are looked at before each git, and pathlib takes five times as long
    top = os.path.realpath(folder).rstrip("/") + "/"
    folders = dict.fromkeys(environment.get("PATH", os.defpath).split(os.pathsep))
    return os.pathsep.join(
        one for one in folders if one.startswith("/") and not f"{os.path.realpath(one)}/".startswith(top)
    )


class Git(Struct, frozen=True):
    """Runs git in a folder."""

    folder: Path
    environment: Mapping[str, str]

    async def __call__(
        self,
        *arguments: str,
        body: bytes = b"",
        env: Mapping[str, str] | None = None,
        skips_filters: bool | None = None,
    ) -> Said:
        """Run git and return what it said, whatever its exit code; raises GitRefused where it cannot be run.

        Args:
            arguments: the command and what follows.
            body: what git reads.
            env: variables besides.
            skips_filters: take files as they are where the repository's own filter is required; None to refuse where that would last.
        """
        skips = arguments[0] not in ACTS if skips_filters is None else skips_filters
        settings = await self._settings(env)
        told = overrides(settings, self._is_inside, skips_filters=skips)
        if reaches_by_program(settings, self._is_inside):
            env = {**(env or {}), "GIT_ALLOW_PROTOCOL": "none"}
        said = await self._run(arguments, told=told, body=body, env=env)
        filtered = _FILTER_FAILED.search(said.errors)
        if not said.is_ok and filtered is not None:
            raise GitRefused(
                f"{filtered[1]} passes the filter {filtered[2]!r}, which the repository's own configuration names, and turnwire runs no program "
                "that a repository brings; name the filter in your own ~/.gitconfig, or do this yourself with git"
            )
        return said

    async def _run(
        self,
        arguments: Sequence[str],
        *,
        told: Sequence[tuple[str, str]] = OFF,
        body: bytes = b"",
        env: Mapping[str, str] | None = None,
    ) -> Said:
        kept = {name: value for name, value in self.environment.items() if name not in OF_A_REPOSITORY}
        try:
            done = await run_git(self.folder, {**kept, **(env or {})}, arguments, told=told, body=body)
        except OSError as error:
            raise GitRefused(f"git cannot be run in {str(self.folder)!r}: {error.strerror}") from None
        if len(done.stdout) > MAX_OUTPUT:
            raise GitRefused(
                f"git {arguments[0]} names too many files; a repository as large as this one has to be handled by hand"
            )
        return Said(
            done.code,
            done.stdout.decode("utf-8", "surrogateescape"),
            done.stderr[:MAX_OUTPUT].decode("utf-8", "replace"),
        )

    async def _settings(self, env: Mapping[str, str] | None = None) -> list[Setting]:
        """Return what git reads here, and what the repository's own files include on a condition that may come true meanwhile."""
        listed = await self._run(["config", "--list", "--null", "--show-scope", "--show-origin"], env=env)
        if not listed.is_ok:
            raise GitRefused(f"git cannot read its configuration: {listed.words}")
        found = parse_settings(listed.output)
        if not any(parts_of(one.key)[0] == "includeif" and is_brought(one, self._is_inside) for one in found):
            return found
        said = await self._run(
            ["rev-parse", "--path-format=absolute", "--git-common-dir", "--git-dir"], env=env
        )
        common, own = [*said.output.split("\n"), "", ""][:2]
        files = [Path(common, "config"), Path(own, "config.worktree")]
        for number, file in enumerate(files):  # it grows
            if number > MOST_INCLUDED:
                raise GitRefused(
                    f"the configuration of git in {self.folder} includes too many files; do this yourself with git"
                )
            listed = await self._run(["config", "--file", str(file), "--no-includes", "--list", "--null"])
            more = parse_settings(listed.output, scope="local")
            home = self.environment.get("HOME", "")
            paths = [f"{home}{one[1:]}" if one.startswith("~/") else one for one in included(more)]
            files += [one for path in paths if (one := file.parent / path) not in files]
            found += more
        return found

    def _is_inside(self, path: str) -> bool:
        """Tell whether a path is a file in this folder."""
        place = self.folder / path
        try:
            return place.resolve().is_relative_to(self.folder.resolve()) and place.is_file()
        except (OSError, ValueError):
            return False

    async def not_run(self, command: str) -> list[str]:
        """Return sentences about programs of the repository that git would run in a command, and turnwire does not."""
        found = []
        place = await self._hooks()
        if names := [name for name in HOOKS[command] if os.access(place / name, os.X_OK)]:
            found.append(f"Hooks of git do not run: {', '.join(names)}. Run git yourself to have them.")
        told = overrides(await self._settings(), self._is_inside, skips_filters=False)
        parts = [(parts_of(key), value) for key, value in told]
        if names := sorted(
            {kind for (section, kind, _), value in parts if section == "filter" and not value}
        ):
            found.append(f"Filters of the repository do not run: {', '.join(names)}.")
        return found

    async def _hooks(self) -> Path:
        """Return the folder of hooks, as git's configuration names it."""
        said = await self._run(["rev-parse", "--path-format=absolute", "--git-path", "hooks"], told=())
        return Path(said.output.rstrip("\n") or os.devnull)

    async def hooks_below(self) -> str | None:
        """Return the top folder in the working tree, with a slash, that git takes hooks from; None where they are elsewhere."""
        place = await self._hooks()
        top = await self.tells("rev-parse", "--show-toplevel")
        if top is None or not place.is_relative_to(top) or place.is_relative_to(Path(top, ".git")):
            return None
        return f"{place.relative_to(top).parts[0]}/" if place != Path(top) else None

    async def ask(
        self, *arguments: str, env: Mapping[str, str] | None = None, skips_filters: bool | None = None
    ) -> str:
        """Return the output of a command that has to succeed; raises GitRefused with git's own words."""
        said = await self(*arguments, env=env, skips_filters=skips_filters)
        if not said.is_ok:
            raise GitRefused(f"git {arguments[0]} failed: {said.words or f'exit code {said.code}'}")
        return said.output.rstrip("\n")

    async def tells(self, *arguments: str) -> str | None:
        """Return the output of a command; None where git has no answer."""
        said = await self(*arguments)
        return said.output.rstrip("\n") if said.is_ok else None

    def at(self, folder: Path) -> "Git":
        """Return the same for another folder."""
        return Git(folder, self.environment)


_FILTER_FAILED = re.compile(r"(?m)^(?:fatal|error): (.*?): (?:clean|smudge) filter '?(.*?)'? failed$")


def shown_paths(paths: Sequence[str], most: int = 10) -> str:
    """Return paths as a sentence names them."""
    named = ", ".join(os.fsencode(path).decode("utf-8", "backslashreplace") for path in paths[:most])
    return named if len(paths) <= most else f"{named} and {len(paths) - most} more"
