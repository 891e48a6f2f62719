"""Text of others on a terminal: nothing in it is an order, and what people read stays as it is."""

import pytest

from turnwire.sidecar.process.terminal import harmless


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]52;c;eA==\x07", r"\x1b]52;c;eA==\x07"),
        ("\x9b2J\x7f\r", r"\x9b2J\x7f\r"),
        ("a\u202eb\u2066c\u2028", r"a\u202eb\u2066c\u2028"),
        ("f\udcff", r"f\udcff"),
        ("two lines\n\tindented", "two lines\n\tindented"),
        ("👩‍💻 שלום é [bold]", "👩‍💻 שלום é [bold]"),
    ],
)
def test_what_a_terminal_would_obey_is_spelt(text: str, shown: str) -> None:
    assert harmless(text) == shown
