"""Read calls of the model from lines of ACP. The protocol reports none; some agents report the tokens of one."""

from collections.abc import Sequence

from turnwire.normalize.acp.usage import tokens_of
from turnwire.normalize.model_calls import CallsUntold, ModelCall, ModelCallReaders, Tokens, ToolAsked
from turnwire.normalize.tool_calls.tool_call_state import parent_of
from turnwire.protocol.acp.messages import PermissionRequest, Response, SessionUpdate
from turnwire.protocol.acp.updates import Chunk, ToolCallUpdate

_UNTOLD = (CallsUntold(),)
"""The value for almost every line of a session, made once."""


def _update(message: SessionUpdate) -> Sequence[ModelCall]:
    update = message.params.update
    if isinstance(update, ToolCallUpdate):
        return _asked(update)
    if not isinstance(update, Chunk) or update.meta is None:
        return _UNTOLD
    took = tokens_of(update.meta)
    if took is None:
        return _UNTOLD
    told = Tokens(took.sent, took.received, took.cache_read or 0, took.cache_written or 0)
    return (CallsUntold(parent_of(update.meta), told),)


def _asked(call: ToolCallUpdate) -> Sequence[ModelCall]:
    given = call.raw_input
    return (*_UNTOLD, ToolAsked(call.tool_call_id, given)) if given and isinstance(given, dict) else _UNTOLD


def _permission(message: PermissionRequest) -> Sequence[ModelCall]:
    return _asked(message.params.tool_call)


def _untold(_: Response) -> Sequence[ModelCall]:
    return _UNTOLD


MODEL_CALLS: ModelCallReaders = {SessionUpdate: _update, PermissionRequest: _permission, Response: _untold}
