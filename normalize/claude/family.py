"""The families of Claude's protocol: in its own words, and in the spellings of others."""

from typing import TYPE_CHECKING

from turnwire.normalize.claude.core import ClaudeCore
from turnwire.normalize.claude.files import ClaudeSessionFiles
from turnwire.normalize.family import Family
from turnwire.protocol.dialects.line_decoder import LineDecoder

if TYPE_CHECKING:
    from turnwire.normalize.model_calls import ExchangeReaders, ModelCallReaders


def _model_calls() -> "ModelCallReaders":
    from turnwire.normalize.claude.model_calls import MODEL_CALLS  # noqa: PLC0415 - for spans alone

    return MODEL_CALLS


def _exchanges() -> "ExchangeReaders":
    from turnwire.normalize.claude.model_calls import EXCHANGES  # noqa: PLC0415 - for spans alone

    return EXCHANGES


CLAUDE = Family(
    name="claude",
    title="Claude Code (claude --output-format stream-json)",
    core=ClaudeCore,
    wire=LineDecoder,
    model_calls=_model_calls,
    exchanges=_exchanges,
    files=(ClaudeSessionFiles(),),
    agents="turnwire.adapter.claude.family:CLAUDE_CODE",
)
MIRIAD = Family(
    name="miriad",
    title="Claude's protocol in the words of miriad",
    core=ClaudeCore,
    wire=LineDecoder,
    agents="turnwire.adapter.claude.family:MIRIAD_AGENTS",
)
JSON_RPC = Family(
    name="json_rpc",
    title="Claude's protocol over JSON-RPC",
    core=ClaudeCore,
    wire=LineDecoder,
    agents="turnwire.adapter.claude.family:JSON_RPC_AGENTS",
)
