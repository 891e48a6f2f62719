"""Our reading of recorded lines against the official package's models: the same session, kind and fields."""

import json

import pytest
from acp.schema import RequestPermissionRequest, SessionNotification
from acp_recordings import AcpRecording, acp_recordings

from turnwire.protocol.acp.content import TextContent
from turnwire.protocol.acp.decode import decode
from turnwire.protocol.acp.messages import PermissionRequest, SessionUpdate
from turnwire.protocol.acp.updates import AgentMessageChunk, AgentThoughtChunk, ToolCallUpdate, UsageUpdate

V1 = [recording for recording in acp_recordings(with_corpus=False) if "-v2-" not in recording.name]


@pytest.mark.parametrize("recording", V1, ids=str)
def test_our_structs_read_what_the_official_models_read(recording: AcpRecording) -> None:
    for direction, line in recording.rows():
        ours = decode(line) if direction == "recv" else None
        if isinstance(ours, SessionUpdate):
            theirs = SessionNotification.model_validate(json.loads(line)["params"])
            update = ours.update
            assert ours.session_id == theirs.session_id
            assert update.__struct_config__.tag == theirs.update.session_update
            match update:
                case (
                    AgentMessageChunk(content=TextContent(text=words))
                    | AgentThoughtChunk(content=TextContent(text=words))
                ):
                    assert words == getattr(theirs.update, "content").text  # noqa: B009 - of a union
                case ToolCallUpdate():
                    for name in ("tool_call_id", "title", "kind", "status", "raw_input", "raw_output"):
                        assert getattr(update, name) == getattr(theirs.update, name), name
                    assert len(update.content or []) == len(getattr(theirs.update, "content") or [])  # noqa: B009
                case UsageUpdate():
                    assert (update.used, update.size) == (theirs.update.used, theirs.update.size)
                case _:
                    pass
        elif isinstance(ours, PermissionRequest):
            asked = RequestPermissionRequest.model_validate(json.loads(line)["params"])
            assert [(o.option_id, o.name, o.kind) for o in ours.options] == [
                (o.option_id, o.name, o.kind) for o in asked.options
            ]
            assert ours.tool_call.tool_call_id == asked.tool_call.tool_call_id
