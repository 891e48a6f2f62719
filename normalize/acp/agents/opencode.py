"""OpenCode."""

from turnwire.normalize.acp.agents.quirks import Quirks
from turnwire.normalize.acp.tokens import Counted, Tokens


class OpenCode(Quirks):
    """Answers all prompts of a turn at its end, and counts only its last call of the model."""

    def joins_prompts(self) -> bool:
        """Tell that it does."""
        return True

    def counted(self, told: Tokens, before: Tokens | None, *, has_calls: bool) -> Counted:
        """Return the tokens, marked as those of the last call if the turn had several."""
        del before
        return Counted(told, is_of_last_call=has_calls)
