"""`system` messages about rare events: refusals, lost files, plugins, the end of a worker (2.1.330).

Their fields are those of the TypeScript SDK's declarations. No recording of ours contains them.
"""

from msgspec import field

from turnwire.protocol.claude.system import System
from turnwire.protocol.json_values import JsonObject


class ModelRefusal(System, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """Base of messages about a request that the model's provider refused."""

    original_model: str | None = None
    """The model that refused."""
    api_refusal_category: str | None = None
    """Why, for programs."""
    api_refusal_explanation: str | None = None
    """Why, for people."""
    refused_user_message_uuid: str | None = None
    """The prompt that was refused."""
    content: str = ""
    """The whole of it for people."""


class ModelRefusalFallback(
    ModelRefusal, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="model_refusal_fallback"
):
    """A model refused, and another one answers instead."""

    fallback_model: str | None = None
    """The model that answers."""
    direction: str | None = None
    """retry, revert or sticky."""
    retracted_message_uuids: list[str] = field(default_factory=list)
    """Messages that the CLI withdraws."""


class ModelRefusalNoFallback(
    ModelRefusal, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="model_refusal_no_fallback"
):
    """A model refused, and nothing answers instead."""


class ElicitationComplete(
    System, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="elicitation_complete"
):
    """The request of an MCP server was completed elsewhere."""

    mcp_server_name: str = ""
    """The server."""
    elicitation_id: str = ""
    """The id of the elicitation request."""


class MemoryRecall(System, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="memory_recall"):
    """The CLI read its memories."""

    mode: str = ""
    """select or synthesize."""
    memories: list[JsonObject] = field(default_factory=list)
    """The memories: {path, scope, content}."""


class FilesPersisted(System, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="files_persisted"):
    """Files were stored."""

    files: list[JsonObject] = field(default_factory=list)
    """Stored: {filename, file_id}."""
    failed: list[JsonObject] = field(default_factory=list)
    """Not stored: {filename, error}."""


class PluginInstall(System, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="plugin_install"):
    """A plugin is being installed."""

    status: str = ""
    """started, installed, failed or completed."""
    name: str | None = None
    """The plugin."""
    error: str | None = None
    """Why it failed."""


class MirrorError(System, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="mirror_error"):
    """The copy of the transcript could not be written."""

    error: str = ""
    """Why."""


class SessionWritesLost(
    System, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="session_writes_lost"
):
    """The disk is full: the transcript is incomplete."""

    error_code: str = ""
    """ENOSPC or EDQUOT."""
    lost: list[str] = field(default_factory=list)
    """The lost things: transcript, global_config."""


class WorkerShuttingDown(
    System, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="worker_shutting_down"
):
    """The CLI is about to exit."""

    reason: str = ""
    """Why."""
