"""OpenCode."""

from turnwire.normalize.acp.agents.quirks import Quirks
from turnwire.normalize.acp.tokens import Counted, Tokens


class OpenCode(Quirks):
    """It answers all prompts of a turn at its end, and counts its last call of the model alone."""

    def joins_prompts(self) -> bool:
        """Tell that it does."""
        return True

    def counted(self, told: Tokens, before: Tokens | None, *, has_calls: bool) -> Counted:
        """Return what is of the last call of the model where there were several."""
        del before
        return Counted(told, is_of_last_call=has_calls)
