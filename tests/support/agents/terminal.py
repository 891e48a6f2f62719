"""The real CLI in a terminal, as somebody works with it who knows nothing of turnwire: a pseudo-terminal and its keys."""

import asyncio
import fcntl
import json
import os
import pty
import re
import struct
import termios
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from real_cli import real_cli, real_cli_environment
from turnwire_process import DEADLINE

_ESCAPES = re.compile(rb"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b.")


class Terminal:
    """What stands on the screen, and the keys."""

    def __init__(self, side: int) -> None:
        """`side`: the terminal's own side of the pseudo-terminal."""
        self._side = side
        self._shown = b""
        self._more = asyncio.Event()
        self.closed = asyncio.Event()
        os.set_blocking(side, False)
        asyncio.get_running_loop().add_reader(side, self._read)

    def _read(self) -> None:
        try:
            shown = os.read(self._side, 1 << 16)
        except BlockingIOError:
            return
        except OSError:  # nobody has the other side any more
            shown = b""
        if not shown:
            asyncio.get_running_loop().remove_reader(self._side)
            self.closed.set()
        self._shown += shown
        self._more.set()

    @property
    def text(self) -> str:
        """All that was shown since the last key, without blanks: a screen is painted in pieces."""
        return re.sub(r"\s", "", _ESCAPES.sub(b"", self._shown).decode("utf-8", "replace"))

    async def until(self, text: str) -> None:
        """Wait until a text is shown; raises TimeoutError."""
        wanted = re.sub(r"\s", "", text)
        async with asyncio.timeout(DEADLINE):
            while wanted not in self.text and not self.closed.is_set():
                self._more.clear()
                await self._more.wait()
        assert wanted in self.text, self.text[-2000:]

    async def type(self, prompt: str) -> None:
        """Type a prompt and send it off; the key that does so by itself, since what comes at once is taken for pasted."""
        self._shown = b""
        os.write(self._side, prompt.encode())
        await self.until(prompt)
        self._shown = b""
        os.write(self._side, b"\r")


@asynccontextmanager
async def in_a_terminal(folder: Path, api_url: str, prompt: str) -> AsyncIterator[Terminal]:
    """Run the CLI in the folder `project` with a first prompt; at the end its window is closed."""
    project = folder / "project"
    env = {**real_cli_environment(folder / "home", api_url), "TERM": "xterm-256color"}
    welcomed(folder / "home", project, env["ANTHROPIC_API_KEY"])
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 140, 0, 0))
    terminal = Terminal(ours)
    process = await asyncio.create_subprocess_exec(
        str(real_cli()), "--dangerously-skip-permissions", prompt,
        cwd=project, env=env, stdin=theirs, stdout=theirs, stderr=theirs,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # closing it is to be told as SIGHUP
    )  # fmt: skip
    os.close(theirs)
    try:
        yield terminal
    finally:
        asyncio.get_running_loop().remove_reader(ours)
        os.close(ours)
        try:
            async with asyncio.timeout(DEADLINE):
                await process.wait()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()


def welcomed(home: Path, project: Path, key: str) -> None:
    """Note that the CLI has asked already what it asks once: a theme, the key, trust in the folder."""
    known = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "bypassPermissionsModeAccepted": True,
        "customApiKeyResponses": {"approved": [key[-20:]], "rejected": []},
        "projects": {str(project): {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}},
    }
    (home / ".claude.json").write_text(json.dumps(known))
    (home / ".claude").mkdir(exist_ok=True)
    (home / ".claude" / "settings.json").write_text('{"skipDangerousModePermissionPrompt": true}')
