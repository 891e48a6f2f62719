"""Git as a person would run it: with the repository's own configuration and hooks, for what a person asked for.

Nothing asks on a terminal; what git would ask for fails. repository.py is for looks, which run nothing of a repository.
"""

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from turnwire.adapter.process.program import run_program
from turnwire.protocol.errors import TurnwireError

MAX_OUTPUT = 64 << 20
"""Bytes of git's words that are read: the names of some 600,000 files."""

SHOWN = 2000
"""Characters of git's complaints that a refusal repeats."""

NEEDED = {
    "GIT_TERMINAL_PROMPT": "0",
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


class Git(Struct, frozen=True):
    """Runs git in a folder."""

    folder: Path
    environment: Mapping[str, str]

    async def __call__(
        self, *arguments: str, body: bytes = b"", env: Mapping[str, str] | None = None
    ) -> Said:
        """Run git and return what it said, whatever its exit code; raises GitRefused where it cannot be run."""
        program = shutil.which("git", path=self.environment.get("PATH"))
        if program is None:
            raise GitRefused("there is no program git on the sidecar's machine; install it")
        kept = {name: value for name, value in self.environment.items() if name not in _POINTING}
        try:
            done = await run_program(
                [program, "--no-pager", "-c", "core.quotePath=false", "-c", "color.ui=false", *arguments],
                body=body,
                workspace=self.folder,
                environment={**kept, **NEEDED, **(env or {})},
                most=MAX_OUTPUT,
            )
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

    async def ask(self, *arguments: str, env: Mapping[str, str] | None = None) -> str:
        """Return the output of a command that has to succeed; raises GitRefused with git's own words."""
        said = await self(*arguments, env=env)
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


_POINTING = frozenset(
    {
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_COMMON_DIR",
        "GIT_OBJECT_DIRECTORY",
        "GIT_NAMESPACE",
        "GIT_PREFIX",
    }
)
"""Variables that would point git elsewhere."""


def shown_paths(paths: Sequence[str], most: int = 10) -> str:
    """Return paths as a sentence names them."""
    named = ", ".join(os.fsencode(path).decode("utf-8", "backslashreplace") for path in paths[:most])
    return named if len(paths) <= most else f"{named} and {len(paths) - most} more"
