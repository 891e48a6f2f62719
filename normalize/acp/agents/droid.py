"""Factory Droid."""

from turnwire.normalize.acp.agents.quirks import Quirks


class Droid(Quirks):
    """It asks once for several calls."""

    def batches_permissions(self) -> bool:
        """Tell that it does."""
        return True
