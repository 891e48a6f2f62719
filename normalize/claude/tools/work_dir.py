"""The folder in which a command runs. `init` names it at the beginning of a turn, and commands may leave it.

The main thread's shell stays in the folder of a `cd`. A subagent's shell starts again with each command (wire fact:
the next turn's `init` names the new folder). Between a `cd` and the next `init` the folder is unknown.
"""

import re

from msgspec.structs import replace

from turnwire.normalize.model import JsonObject
from turnwire.normalize.payloads import NormalizedPayload, ShellExecPayload

_MOVES = re.compile(r"(?:\A|[;&|{\n])\s*(?:cd|pushd|popd)\b")
_WORKTREES = {"EnterWorktree", "ExitWorktree"}


class WorkDir:
    """Follows the agent's folder."""

    def __init__(self) -> None:
        self._known: str | None = None

    def on_init(self, cwd: str | None) -> None:
        """`init` names the folder."""
        self._known = cwd

    def placed(self, payload: NormalizedPayload) -> NormalizedPayload:
        """Return the payload of a command with the folder it runs in."""
        if type(payload) is not ShellExecPayload or self._known is None:
            return payload
        body = payload.shell_exec
        if body.operation is not None or body.work_dir is not None:
            return payload
        return ShellExecPayload(shell_exec=replace(body, work_dir=self._known))

    def called(self, name: str, arguments: JsonObject) -> None:
        """Note a call of the main thread, which may change the folder."""
        command = arguments.get("command")
        if name in _WORKTREES or (isinstance(command, str) and _MOVES.search(command)):
            self._known = None
