"""Factory Droid."""

from turnwire.normalize.acp.agents.quirks import Quirks


class Droid(Quirks):
    """One permission request covers several calls."""

    def batches_permissions(self) -> bool:
        """Tell that it does."""
        return True
