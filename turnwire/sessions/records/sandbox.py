"""Which sandbox a session has: the one it was begun with, or the configured one."""

from turnwire.adapter.sandbox.settings import LEVELS
from turnwire.config.agents import sandbox_named
from turnwire.config.settings import Settings
from turnwire.journal.sessions import SessionRecord
from turnwire.normalize.vocabulary import SandboxLevel
from turnwire.sessions.records.options import RecordOptions


def sandbox_of(record: SessionRecord, settings: Settings) -> SandboxLevel:
    """Return the sandbox of a session: the one it was begun with, or the configured one."""
    kept = RecordOptions.from_record(record).sandbox
    configured = sandbox_named(record.agent or settings.agent, settings.agents, settings.sandbox)
    return next((level for level in LEVELS if level == kept), configured)
