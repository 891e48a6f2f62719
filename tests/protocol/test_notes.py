import re

from recordings import ROOT, recordings


def test_every_recording_that_the_protocol_notes_name_exists() -> None:
    text = (ROOT / "docs" / "cli-protocol.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(\d+\.\d+\.\d+/[\w.-]+)`", text))
    assert len(named) > 15
    assert named <= {str(recording) for recording in recordings()}
