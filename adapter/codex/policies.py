"""What a policy means to Codex, and what Codex does without asking even then; pure.

`untrusted` has Codex ask about every command and every patch (0.169.0). One that is allowed still begins in the sandbox. Where that
stops it at once, Codex runs it again outside; where that stops it later, it fails. So the sandbox must let through what is usual.
"""

from turnwire.normalize.vocabulary import Policy
from turnwire.protocol.codex.requests import Safety

DEFAULT, PLAN = "default", "plan"
MODES = (DEFAULT, PLAN)
"""Its collaboration modes."""

BY_SANDBOX = "commands that its read-only sandbox lets through"
"""What a version without `untrusted` does not ask about either."""

NEVER_ASKS = (
    "commands that rules of its own allow (~/.codex/rules)",
    "MCP tools that say that they only read",
    "web searches",
)
"""What it does without asking under `supervised`; reading and searching is left out, which no policy asks about."""


def safety(policy: Policy | None, *, has_rules: bool, mode: str | None, is_in_sandbox: bool) -> Safety:
    """Return what Codex asks about and what its sandbox lets it do: turnwire decides what it asks.

    A plan is made with nothing but reading, and no questions; the rest is asked about once a human has left the mode.
    In a sandbox of turnwire's it can make none of its own, so every command would fail: it makes none, and asks.
    """
    if is_in_sandbox:
        return Safety("untrusted", "danger-full-access")
    match policy:
        case None:
            return Safety("untrusted") if has_rules else Safety()
        case "plan" if mode == PLAN:
            return Safety("never", "read-only")
        case "supervised" if mode == PLAN:
            return Safety("untrusted", "read-only")
        case "plan" | "supervised":
            return Safety("untrusted", "workspace-write")
        case "autonomous":
            return Safety("untrusted", "danger-full-access")


def without_untrusted(wanted: Safety) -> Safety:
    """Return what comes next to `untrusted`, for a version that has it no more: to ask about all that is not reading."""
    return Safety("on-request", "read-only") if wanted.approvals == "untrusted" else wanted
