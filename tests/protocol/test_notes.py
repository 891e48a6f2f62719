import re

from recordings import ROOT, VERSIONS, recordings


def test_every_recording_that_the_protocol_notes_name_exists() -> None:
    text = (ROOT / "docs" / "cli-protocol.md").read_text(encoding="utf-8")
    versions = "|".join(re.escape(version) for version in VERSIONS)
    named = set(re.findall(rf"`((?:{versions})/[\w.-]+)`", text))
    assert len(named) > 15
    assert named <= {str(recording) for recording in recordings()}
