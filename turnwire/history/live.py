"""turnwire's own sessions as the index lists them."""

from datetime import datetime

from turnwire.history.index import LIVE, ListedConversation
from turnwire.hub.wire.frames_out import SessionSummary
from turnwire.journal.sessions import SessionRecord
from turnwire.normalize.events import Complete
from turnwire.normalize.recordings.session_files import Answer


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
        cost_is_whole=True,  # unless a turn's is unknown: the index sees
        git_branch=None,
        model=shown.model,
        version=record.cli_version,
        size=0,
        branches=0,
    )


def answer_of(session: str, model: str | None, ts: str, event: Complete) -> Answer:
    """Return what a turn of a session took, as the index keeps it. `ts`: when the turn ended.

    A turn whose cost is in the next turn's has none of its own.
    """
    data, took = event.data, event.data.all_tokens or event.data
    return Answer(
        key=f"live:{event.session_id or '':36}:{session}:{event.operation_id}",
        at=datetime.fromisoformat(ts).timestamp(),
        model=model or "unknown",
        input_tokens=took.input_tokens or 0,
        output_tokens=took.output_tokens or 0,
        cache_read_input_tokens=took.cache_read_input_tokens or 0,
        cache_creation_input_tokens=took.cache_creation_input_tokens or 0,
        cost_usd=0.0 if data.cost_usd is None and data.tokens_of == "lines" else data.cost_usd,
    )
