"""deepagents, by its deepagents-acp. It asks for leave under ids of the requests' own, as Hermes does."""

import re

from turnwire.normalize.acp.agents.quirks import Quirks

_EXIT = re.compile(r"\n?\[Command (?:failed|succeeded) with exit code (-?\d{1,10})\]\s*\Z")
_END = 100
"""Characters at the end of an output in which the exit code is looked for."""


class DeepAgents(Quirks):
    """It tells exit codes as text, of commands that it calls completed."""

    def exit_of(self, output: str) -> tuple[int | None, str] | None:
        """Return the code that the last line tells."""
        found = _EXIT.search(output, max(len(output) - _END, 0))
        return None if found is None else (int(found[1]), output[: found.start()])
