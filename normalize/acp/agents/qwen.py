"""Qwen Code."""

from turnwire.normalize.acp.agents.quirks import Quirks


class Qwen(Quirks):
    """It shows whole files."""

    def shows_whole_files(self) -> bool:
        """Tell that it does."""
        return True
