"""The heads of messages in session files, whose content is a text or blocks."""

import msgspec

from turnwire.protocol.claude.session_lines import NO_MESSAGE, BlockHead, head


def test_the_content_of_a_head_is_blocks_whichever_form_it_has() -> None:
    assert head(msgspec.Raw(b'{"content": "Hello."}')).blocks == [BlockHead("text", text="Hello.")]
    assert head(msgspec.Raw(b'{"content": ""}')).blocks == []
    assert head(msgspec.Raw(b'{"content": [{"type": "text", "text": "Hello."}]}')).blocks == [
        BlockHead("text", text="Hello.")
    ]
    assert head(msgspec.Raw(b"")) == NO_MESSAGE
