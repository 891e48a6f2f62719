"""How a CLI comes to its conversation: a new one, an old one, back to a message of it, or a branch of another's.

The session's record keeps the way until the CLI has a conversation of its own. The CLI takes the way only with the
first prompt. If a sidecar or a CLI ends before that, the session must not forget where to go on.
"""

from dataclasses import asdict, dataclass, replace

from turnwire.adapter.capabilities import Capabilities
from turnwire.journal.sessions import SessionRecord
from turnwire.normalize.model import JsonObject
from turnwire.sessions.records.options import RecordOptions


@dataclass(frozen=True, slots=True)
class ResumePoint:
    """A way to a conversation."""

    resume: str | None = None
    """The CLI's session id to go on with."""
    at: str | None = None
    """The message to go back to, as that version of the CLI wants it named."""
    branch: bool = False
    """Go on under a new session id."""
    latest: bool = False
    """Go on with the newest conversation of the workspace."""
    tell: bool = False
    """Have the agent tell what was said before, if it can: the log has it not."""

    @classmethod
    def on(cls, record: SessionRecord, at: str | None = None) -> "ResumePoint":
        """Go on where the session was, or at a message of it; a way that the last CLI did not take is taken now."""
        left = cls.read(RecordOptions.from_record(record).going)
        if left is None:
            return cls(record.cli_session_id, at)
        return left if at is None else replace(left, at=at)

    @classmethod
    def again(cls, record: SessionRecord) -> "ResumePoint":
        """Go on where the session was; begin as it first began if nothing was said in it yet.

        An agent that is refused after it has opened a conversation leaves an empty one. Few agents can go on with that.
        """
        kept = RecordOptions.from_record(record)
        if record.turns or kept.conversation is not None or kept.going is not None:
            return cls.on(record)
        return cls.read(kept.origin) or NEW

    @classmethod
    def back(cls, record: SessionRecord, can: Capabilities) -> "ResumePoint":
        """Go back to before the last prompt; to how the session began when there was nothing before it."""
        if record.retry_token is not None:
            return replace(cls.on(record), at=record.retry_token)
        if record.turns > 1 and can.resumes and can.resume_at == "nothing":
            return cls.on(record)  # there is no way back in 1.0: what failed stays in the conversation
        return cls.read(RecordOptions.from_record(record).origin) or NEW

    @classmethod
    def fork(cls, origin: SessionRecord, at: str | None = None) -> "ResumePoint":
        """Branch off another session, or off a message of it."""
        return replace(cls.on(origin, at), branch=True)

    def without(self, record: SessionRecord) -> "ResumePoint | None":
        """Return the way to take if the agent does not know the conversation that this one names. None if there is none.

        Claude Code 2.1.139 names a new id at each start, and goes on in the file of the id that it was given.
        """
        kept = RecordOptions.from_record(record)
        first = self.read(kept.origin) or NEW
        claim = kept.claim or {}
        origin = claim.get("origin") if claim.get("conversation") == self.resume else None
        if (
            isinstance(origin, str)
            and origin != self.resume
            and not (first.branch and first.resume == origin)
        ):
            return replace(self, resume=origin)
        # without an answer, nothing is lost that a new beginning would not have
        has_answers = record.last_message_uuid is not None or record.resume_token is not None
        return None if has_answers or first.resume == self.resume else first

    def json(self) -> JsonObject:
        """Return it as a record keeps it, in `going` and `origin`."""
        return {key: value for key, value in asdict(self).items() if value}

    @classmethod
    def read(cls, way: JsonObject | None) -> "ResumePoint | None":
        """Return what a record keeps; None when it keeps none."""
        if way is None:
            return None
        resume, at = way.get("resume"), way.get("at")
        return cls(
            resume if isinstance(resume, str) else None,
            at if isinstance(at, str) else None,
            branch=way.get("branch") is True,
            latest=way.get("latest") is True,
            tell=way.get("tell") is True,
        )


NEW = ResumePoint()
"""Begin a conversation."""
