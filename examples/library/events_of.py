"""Translate an agent's output without a sidecar: print each turn of a recording, or of standard input while it comes.

python examples/library/events_of.py RECORDING
my-agent | python examples/library/events_of.py
"""

import sys

import turnwire
from turnwire.events import Complete, MessageChunk, ToolCall


def main(path: str | None) -> None:
    """Print text, tool calls and how each turn ended."""
    for event in turnwire.translate(path if path is not None else sys.stdin.buffer):
        match event:
            case MessageChunk(text=text):
                print(text)
            case ToolCall(tool_title=title):
                print(f"[{title}]")
            case Complete(data=end):
                print(f"turn ended: {end.outcome}")
            case _:
                pass


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
