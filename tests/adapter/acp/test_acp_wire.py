"""What an agent of the Agent Client Protocol asks leave for, as rules and policies see it."""

import msgspec
import pytest

from turnwire.adapter.acp.hooks import fits
from turnwire.adapter.call_of_update import call_of
from turnwire.adapter.permissions.calls import ToolCall
from turnwire.protocol.acp.updates import ToolCallUpdate


@pytest.mark.parametrize(
    ("said", "call"),
    [
        (
            {"kind": "execute", "rawInput": {"command": ["rm", "-r", "a b"]}},
            ToolCall("Bash", {"command": "rm -r 'a b'"}, "execute"),
        ),
        ({"kind": "execute", "title": "ls -la"}, ToolCall("Bash", {}, "execute", untold=("command",))),
        (
            {"kind": "search", "rawInput": {"pattern": "x"}, "locations": [{"path": "/p"}, {"path": "/q"}]},
            ToolCall("Grep", {"pattern": "x", "file_path": "/p"}, "search", ("/p", "/q")),
        ),
        (
            {"kind": "read", "rawInput": {"absolute_path": "/p/a"}},
            ToolCall("Read", {"absolute_path": "/p/a", "file_path": "/p/a"}, "read", ("/p/a",)),
        ),
    ],
)
def test_a_call_has_its_command_and_its_paths_however_the_agent_tells_them(
    said: dict[str, object], call: ToolCall
) -> None:
    assert call_of(msgspec.convert({"sessionUpdate": "tool_call_update", **said}, ToolCallUpdate)) == call


def test_a_matcher_that_is_no_expression_is_a_name() -> None:
    assert fits("Bash|Edit", "Edit")
    assert not fits("Bash", "Edit")
    assert fits("odd(tool", "odd(tool")
    assert not fits("odd(tool", "odd")
    assert fits("*", "anything")
