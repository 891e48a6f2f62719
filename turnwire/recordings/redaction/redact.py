"""A recording without secrets: line for line, byte lengths kept, so that it still replays to the same events.

Plain stdout, turnwire's own rows, and folders are the same to it: lines of JSON, or text. Streamed text arrives in pieces,
and a secret may be cut by them. Pieces of one block are joined, redacted, and cut at the same places again; so each file
is read twice, and only pieces that changed are kept in memory. A piece is looked at in its block alone: so what streams
stays what the whole message says.
"""

import re
from collections.abc import Callable, Iterator
from io import TextIOWrapper
from pathlib import Path

from turnwire.recordings.redaction.redaction import Redaction
from turnwire.recordings.unpacked import opened

_PIECE = re.compile(
    r'"(?:text|thinking|partial_json|reasoning_text|data|delta|deltaContent|inputDelta|arguments_delta|content)": ?"([^"\\]*(?:\\.[^"\\]*)*)"'
)
_INDEX = re.compile(
    r'"(?:index|block_index|summaryIndex|contentIndex)": ?\d+|'
    r'"(?:messageId|toolCallId|tool_call_id|itemId|partID|field|reasoningId)": ?"[^"\\]*"'
)
_STREAM = re.compile(r'"(?:parent_tool_use_id|session_id|sessionId|sessionID|threadId)": ?"([^"\\]*)"')
_DELTA = re.compile(
    r'"content_block_delta"|"is_delta": ?true|"terminal_output_delta"|'
    r'"(?:agent_message|agent_thought|user_message|tool_call_delta)_chunk"|'
    # Codex' app server; OpenCode's server; Copilot; Gemini; Cursor
    r'"item/[\w/]{1,80}[dD]elta"|"message\.part\.delta"|"assistant\.(?:message|reasoning|tool_call)_delta"|'
    r'"delta": ?true|"subtype": ?"delta"|"timestamp_ms"'
)
_BOUNDARY = re.compile(
    r'"content_block_start"|"message_start"|"message_stop"|"type": ?"complete"|"sessionUpdate": ?"tool_call"|"session/prompt"|'
    r'"turn/completed"|"session\.idle"|"assistant\.turn_end"|"type": ?"(?:tool_use", ?"timestamp|tool_call", ?"subtype|result)"'
)
_CURSORS_TEXT = re.compile(r'"type": ?"assistant"')
_CURSORS_CALL = '"model_call_id"'
"""A text of Cursor's with a time is a piece, unless it names the call of the model that it is from."""


MAX_BLOCK = 4096
"""Lines of prose, as on stderr, that are looked at together: a private key has many."""


class Pieces:
    """Finds streamed pieces, and redacts those whose secrets span more than one of them."""

    def __init__(self, redaction: Redaction) -> None:
        self._redaction = redaction
        self._open: dict[tuple[str, ...], dict[str, list[tuple[int, int, str]]]] = {}
        """By stream (session, subagent) and block: line number, place in the line, text."""
        self.changed: dict[int, tuple[int, str]] = {}
        """By line number: place in the line, new text."""

    def add(self, number: int, line: str) -> None:
        """Look at a line."""
        delta = _delta(line)
        if delta is not None:
            piece = _PIECE.search(line)
            if piece is not None:
                blocks = self._open.setdefault(_stream(line), {})
                block = blocks.setdefault("".join([delta, *_INDEX.findall(line)]), [])
                block.append((number, piece.start(1), piece[1]))
        elif _BOUNDARY.search(line):
            self._close(self._open.pop(_stream(line), {}))

    def close(self) -> None:
        """Redact what was gathered."""
        for blocks in self._open.values():
            self._close(blocks)
        self._open.clear()

    def _close(self, blocks: dict[str, list[tuple[int, int, str]]]) -> None:
        for pieces in blocks.values():
            joined = "".join(text for _, _, text in pieces)
            clean = self._redaction.inside(joined)
            if clean == joined:
                continue
            at = 0
            for number, place, text in pieces:
                fresh = clean[at : at + len(text)]
                at += len(text)
                if fresh != text:
                    self.changed[number] = (place, fresh)


def redact_file(source: Path, target: Path, redaction: Redaction, progress: Callable[[int], None]) -> int:
    """Write a recording's redacted copy and return the number of its lines; raises OSError."""
    with target.open("xb") as out:
        return redact_to(source, out.write, redaction, progress)


def redact_to(
    source: Path, write: Callable[[bytes], object], redaction: Redaction, progress: Callable[[int], None]
) -> int:
    """Hand the same on, whole lines at a time; raises OSError."""
    pieces = Pieces(redaction)
    for number, line in enumerate(_lines(source)):
        pieces.add(number, line)
    pieces.close()
    count = 0
    block: list[str] = []
    for number, line in enumerate(_lines(source)):
        count += 1
        if _is_prose(line) and len(block) < MAX_BLOCK:
            block.append(line)
        else:
            write(_bytes(redaction.apply("".join(block))))
            block.clear()
            write(_bytes(_line(line, pieces.changed.get(number), redaction)))
        progress(len(line))
    write(_bytes(redaction.apply("".join(block))))
    return count


def redact_folder(source: Path, target: Path, redaction: Redaction, progress: Callable[[int], None]) -> int:
    """Write the redacted copy of a folder with a timeline, all its files; return the number of lines.

    The same secret becomes the same thing in all of them. Raises OSError.
    """
    target.mkdir(mode=0o700)
    return sum(
        redact_file(file, target / file.name, redaction, progress)
        for file in sorted(source.iterdir())
        if file.is_file()
    )


def _line(line: str, changed: tuple[int, str] | None, redaction: Redaction) -> str:
    piece = _PIECE.search(line) if _delta(line) else None
    if piece is None:
        return redaction.apply(line)
    text = piece[1] if changed is None else changed[1]
    # blank while the rest is looked at: a piece by itself may look like something that its block is not
    blank = redaction.apply(line[: piece.start(1)] + " " * len(text) + line[piece.end(1) :])
    return blank[: piece.start(1)] + text + blank[piece.end(1) :]


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _is_prose(line: str) -> bool:
    return not line.lstrip().startswith(("{", "["))


def _delta(line: str) -> str | None:
    """Return what says of a line that it is a piece of a streamed text; None for any other line."""
    found = _DELTA.search(line)
    if found is None:
        return None
    is_whole = found[0] == '"timestamp_ms"' and (_CURSORS_CALL in line or not _CURSORS_TEXT.search(line))
    return None if is_whole else found[0]


def _stream(line: str) -> tuple[str, ...]:
    return tuple(sorted(_STREAM.findall(line)))


def _lines(source: Path) -> Iterator[str]:
    # Universal newlines would take U+2028 and "\r" for ends of lines; only "\n" is one.
    with TextIOWrapper(opened(source), encoding="utf-8", errors="surrogateescape", newline="\n") as file:
        yield from file
