"""A terminal in tmux: its screen as text, and its keys."""

import shlex
import shutil
import subprocess
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from turnwire_process import environment
from waiting import until


class Terminal:
    """A terminal in tmux, of a server of its own."""

    def __init__(self, folder: Path, name: str, env: Mapping[str, str] | None = None) -> None:
        """`env` is the whole environment of what runs in it."""
        self.folder = folder
        self._env = environment(folder / "home") if env is None else dict(env)
        self._socket = str(folder / f"{name}.tmux")

    def run(self, *arguments: str) -> str:
        program = shutil.which("tmux")
        assert program is not None, "tmux is not here: `make system` installs it"
        done = subprocess.run(
            [program, "-S", self._socket, "-f", "/dev/null", *arguments],
            capture_output=True, text=True, check=True, timeout=60, env={**self._env, "TERM": "screen-256color"},
        )  # fmt: skip
        return done.stdout

    def start(self, command: str, width: int = 100, height: int = 30) -> None:
        """Run a command between two looks at the terminal's settings; `over` follows its end."""
        self.run(
            "new-session",
            "-d",
            "-c",
            str(self.folder if not (self.folder / "project").is_dir() else self.folder / "project"),
            "-x",
            str(width),
            "-y",
            str(height),
            "sh -c "
            + shlex.quote(
                f"stty -a >{self.folder}/before; {command}; echo over $?; stty -a | tee {self.folder}/after; cat"
            ),
        )

    def text(self) -> str:
        return self.run("capture-pane", "-p")

    def keys(self, *keys: str) -> None:
        self.run("send-keys", *keys)

    def say(self, text: str) -> None:
        """Type a text as it is; Enter follows by itself."""
        self.run("send-keys", "-l", text)

    @property
    def is_as_found(self) -> bool:
        """Whether the settings after the command are those before it."""
        return (self.folder / "before").read_text() == (self.folder / "after").read_text()

    def settings(self) -> str:
        """The terminal's settings now."""
        device = self.run("display-message", "-p", "#{pane_tty}").strip()
        return subprocess.run(["stty", "-a", "-F", device], capture_output=True, text=True, check=True).stdout

    def shows(self, text: str) -> bool:
        """Whether a text is on the screen, wherever its lines are broken and indented."""
        return "".join(text.split()) in "".join(self.text().split())

    async def sees(self, *words: str) -> None:
        try:
            await until(lambda: all(word in self.text() for word in words), 90)
        except TimeoutError:
            pytest.fail(f"{words} are not on the screen:\n{self.text()}")

    async def until_gone(self, word: str) -> None:
        await until(lambda: word not in self.text(), 90)


@asynccontextmanager
async def terminal(
    folder: Path, command: str, name: str = "one", env: Mapping[str, str] | None = None, **size: int
) -> AsyncIterator[Terminal]:
    """A terminal in which a command runs."""
    place = Terminal(folder, name, env)
    place.start(command, **size)
    try:
        yield place
    finally:
        place.run("kill-server")
