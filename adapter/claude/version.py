"""What each version of Claude Code can do. One that does not say its version is taken for a new one: all that depends on a version
here is about what old ones lack.
"""

from turnwire.adapter.capabilities import OF_THEIR_OWN, Capabilities
from turnwire.adapter.options import CommandError, CommandOptions
from turnwire.adapter.process.version import Version

PERMISSION_MODES = ("default", "acceptEdits", "plan", "bypassPermissions", "dontAsk", "auto")
"""The modes that some version knows."""

_OPTIONS = frozenset(CommandOptions.__struct_fields__) - OF_THEIR_OWN
"""All that some version knows; build_command refuses what one does not."""


class ClaudeCapabilities(Capabilities, frozen=True, kw_only=True):
    """What a version of the CLI can do."""

    waits_after_cancel: bool
    """True where a cancelled permission request still needs an answer, or the turn never ends (1.0)."""
    asks_despite_hooks: bool
    """True where plan mode asks about what a hook has allowed, or has a classifier refuse it (2.1.330, not 2.1.220)."""
    forwards_subagents: bool
    """True where --forward-subagent-text is known (2.1.211); a CLI that does not say its version may not know it."""
    is_early: bool
    """True where `initialize` is not answered, there are no hooks, and an option of NEWER_OPTIONS ends the CLI (1.0.60; not 1.0.120)."""


NEWEST = Version(2, 1, 330)
"""The newest version tried: what a CLI is taken for that does not say its own."""


def capabilities(version: Version | None) -> ClaudeCapabilities:
    """Return what a version can do; an unknown one can do what the newest can, but gets no option that would end an old one."""
    known = version or NEWEST
    is_early = known < (1, 0, 120)
    return ClaudeCapabilities(
        resumes=True,
        continues_latest=True,
        keeps_session_id=known >= (2,),
        forks=True,
        # 1.0 knows no --resume-session-at, 2.0.14 takes the API's message id, and 2.0.76 a message uuid
        resume_at="nothing" if known < (2,) else "api_message_id" if known < (2, 0, 76) else "message_uuid",
        interrupts=True,
        withdraws_prompts=known >= (2, 1),
        models=True,
        permission_modes=PERMISSION_MODES,
        policies=True,
        hooks=not is_early,
        hosts_servers=True,
        mcp_servers=True,
        images=True,
        rewinds_files=known >= (2, 0, 76),
        options=_OPTIONS,
        waits_after_cancel=known < (2,),
        asks_despite_hooks=known > (2, 1, 220),
        forwards_subagents=version is not None and version >= (2, 1, 211),
        is_early=is_early,
    )


FOREIGN = Capabilities(interrupts=True, images=True)
"""What an agent can do that speaks a dialect of Claude's and is not Claude Code: it gets none of its options, and has no permission protocol."""


def check_resume_at(message: str, version: Version | None) -> None:
    """Raise CommandError for a message that a version cannot go back to, named like this."""
    match capabilities(version).resume_at:
        case "nothing":
            raise CommandError("resume_at", f"CLI {version} cannot go back to a message; resume without it")
        case "api_message_id" if not message.startswith("msg_"):
            raise CommandError(
                "resume_at", f"CLI {version} needs the API's message id (msg_…), not {message!r}"
            )
        case "message_uuid" if message.startswith("msg_"):
            raise CommandError(
                "resume_at", f"needs the uuid of a message, not the API's message id {message!r}"
            )
        case _:
            pass
