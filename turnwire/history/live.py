"""turnwire's own sessions as the index lists them."""

from datetime import datetime

from turnwire.history.index import LIVE, ListedConversation
from turnwire.hub.wire.frames_out import SessionSummary
from turnwire.journal.sessions import SessionRecord


def listed_of(record: SessionRecord, shown: SessionSummary, conversation: str | None) -> ListedConversation:
    """Return a session as the index keeps it; in the place of a path is the conversation that it has for certain."""
    created = datetime.fromisoformat(record.created).timestamp()
    return ListedConversation(
        id=f"{LIVE}:{record.session}",
        path=conversation or "",
        agent=record.agent or "",
        folder=record.workspace,
        title=record.title,
        first_prompt=None,
        began=created,
        ended=None,
        turns=record.turns,
        cost_usd=shown.total_cost_usd,
        cost_is_whole=True,
        git_branch=None,
        model=shown.model,
        version=record.cli_version,
        size=0,
        branches=0,
    )
