r"""Unwrap lines from logs of CI and containers: one JSON object per line comes out, with the service that wrote it.

It removes prefixes of lines (a time, `worker-1 |`, `[INFO]`, a job's name) and colours. It unwraps the records of Docker's,
Kubernetes' and systemd's logs, and lists, also as the `messages` of an object. It joins objects that are written over several
lines. These may be in each other. The first lines show which of them apply. A stream that begins with an object on a line of
its own is passed on unchanged, at no further cost.

The names in prefixes and records tell which service wrote a line. The first one is called "".
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

import msgspec

from turnwire.protocol.framing import DEFAULT_LIMIT, HEAD_SIZE, LineFramer, OversizeLine

Line = bytes | OversizeLine


class Piece(NamedTuple):
    """Lines of one service."""

    source: str
    """The service; "" for the first one."""
    lines: Sequence[Line]
    """What it wrote."""


_Tagged = tuple[str, Line]

_DAY = rb"\d{4}-\d\d-\d\d"
_CLOCK = rb"\d\d:\d\d:\d\d(?:[.,]\d+)?"
_PARTS: tuple[tuple[str, bytes], ...] = (
    ("time", rb"\[?%b[T ]%b(?:Z| ?[+-]\d\d:?\d\d)?\]?:?" % (_DAY, _CLOCK)),
    ("clock", rb"\[?%b\]?:?" % _CLOCK),
    ("syslog", rb"[A-Z][a-z]{2} [ \d]\d %b ([\w.-]+)(?= )" % _CLOCK),
    ("epoch", rb"\[?\d{10}(?:\d{3}|\.\d{1,9})?\]?:?(?= )"),
    ("stream", rb"(?:(?P<of>stdout|stderr) (?P<tag>[FP])|\d\d[OE]\+?)(?= )"),
    (
        "level",
        rb"(?i:\[?(?:trace|debug|info|notice|warn|warning|error|fatal|critical|log|out|err)\s?\]?:?)(?=[\s|{\[])",
    ),
    ("column", rb"([^\t{\"]{1,200})\t"),
    ("name", rb"([\w@./-]{1,100} *)\|"),
    ("bracket", rb"(\[[\w .:/#-]{1,60}\]):?"),
    ("word", rb"([\w@./-]{1,100}(?:\[[\w.-]{1,60}\])?):|([\w./-]{1,100})(?= -)"),
    ("host", rb"([\w.-]{1,100})(?= [\w./-]{1,100}(?:\[\d+\])?: )"),
    ("pod", rb"([\w./]{0,60}[-/][\w./-]{1,100}(?: [\w./-]{1,63})?)(?= +[\[{\d])"),
)
"""Parts of prefixes, in the order of the search. What a group without a name matches is part of the service's name."""

_PART = re.compile(b"|".join(b"(?P<%b>%b)" % (name.encode(), part) for name, part in _PARTS))
_PATTERN = dict(_PARTS)
_BEGINS = re.compile(rb'\{\s*"|\{\s*\Z|\[\s*\{|\[\s*\Z')
"""Beginnings of JSON, as opposed to a word in brackets."""

_BOM = b"\xef\xbb\xbf"
_COLOUR = re.compile(rb"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
_BEFORE = re.compile(rb"(?:\xef\xbb\xbf|\x1b\[[0-?]*[ -/]*[@-~])+")
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+"?')
_BETWEEN = b" \t|-"
_MOST_PARTS = 6
_LONGEST = 1000
"""Longest prefix, in bytes."""
_MOST_HELD = 64
"""Most lines that are held until a prefix appears on a second line."""
_MOST_SOURCES = 256
"""Most services of one log. Lines of further ones are passed on as they are."""
_HEAD_MEMBERS = ("sessionId", "info")
"""Members that name the conversation in an export's head: Gemini CLI's and OpenCode's."""


class _Record(msgspec.Struct):
    """A record of a log: text up to a newline, or as much as one record holds."""

    log: str | None = None
    stream: str = ""
    time: str = ""
    journal: str | list[int] | None = msgspec.field(default=None, name="MESSAGE")
    message: object = None
    payload: object = msgspec.field(default=None, name="textPayload")
    type: object = None
    jsonrpc: object = None
    cut_by_journal: object = msgspec.field(default=None, name="_LINE_BREAK")
    cut_by_docker: object = msgspec.field(default=None, name="CONTAINER_PARTIAL_MESSAGE")
    cut: object = msgspec.field(default=None, name="partial_message")
    tag: object = msgspec.field(default=None, name="logtag")
    journal_stream: object = msgspec.field(default=None, name="_STREAM_ID")
    container: object = msgspec.field(default=None, name="CONTAINER_NAME")
    unit: object = msgspec.field(default=None, name="_SYSTEMD_UNIT")
    user_unit: object = msgspec.field(default=None, name="_SYSTEMD_USER_UNIT")
    program: object = msgspec.field(default=None, name="SYSLOG_IDENTIFIER")
    container_name: object = None
    app_name: object = None
    log_stream: object = msgspec.field(default=None, name="logStreamName")
    kubernetes: object = None

    @property
    def source(self) -> str:
        """Return the name of the service; "" if the record has none."""
        pod = self.kubernetes if isinstance(self.kubernetes, dict) else {}
        named = (
            self.container_name,
            self.app_name,
            self.log_stream,
            self.container,
            self.user_unit,
            self.unit,
            self.program,
        )
        names = [pod.get("pod_name"), pod.get("container_name"), *named]
        return "/".join([name for name in names if isinstance(name, str)][:2])

    @property
    def text(self) -> str | None:
        """Return the text, with a newline if the line ends; None if this is no record."""
        source = self.source
        if self.log is not None:
            if not (self.stream or self.time or source):
                return None
            if not source and self.tag is None:
                return self.log
        elif self.jsonrpc is not None or self.type not in (None, "out", "err"):
            return None
        text = self.log
        if text is None:
            text = (
                bytes(byte & 255 for byte in self.journal).decode("utf-8", "replace")
                if isinstance(self.journal, list)
                else self.journal
            )
        if text is None:
            found = self.message if isinstance(self.message, str) else self.payload
            if not isinstance(found, str):
                return None
            text = found
        is_cut = (
            self.cut_by_journal == "line-max"
            or self.tag == "P"
            or "true" in (self.cut_by_docker, self.cut)
            or self.cut is True
        )
        return text.removesuffix("\n") + ("" if is_cut else "\n")


class _Messages(msgspec.Struct):
    """An object around a list of messages, without a type."""

    messages: list[msgspec.Raw]
    type: msgspec.UnsetType | msgspec.Raw = msgspec.UNSET


class _Envelope(msgspec.Struct):
    jsonrpc: msgspec.Raw


_decode_record = msgspec.json.Decoder(_Record).decode
_decode_list = msgspec.json.Decoder(list[msgspec.Raw]).decode
_decode_messages = msgspec.json.Decoder(_Messages).decode
_decode_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_decode_envelope = msgspec.json.Decoder(_Envelope).decode
_UNREADABLE = (ValueError, RecursionError)


class Unwrapper:
    """Takes a stream's lines and returns their unwrapped contents."""

    def __init__(self) -> None:
        self._is_plain = False
        """Are lines passed on as they are?"""
        self._is_wrapped = False
        """Whether the kind of wrapping is known."""
        self._prefix: re.Pattern[bytes] | None = None
        self._first = b""
        """The names in the first line's prefix."""
        self._held: list[Line] = []
        """Lines after the first one with a prefix, which may be the only one."""
        self._sources: dict[bytes, tuple[str, _Contents]] = {}
        """What each service wrote, by the names in its prefix."""

    def feed(self, lines: Sequence[Line]) -> Sequence[Piece]:
        """Return the contents of these lines, and of earlier incomplete ones."""
        if self._is_plain:
            return (Piece("", lines),)
        rest, found = iter(lines), list[_Tagged]()
        for line in rest:
            found += self._take(line)
            if self.is_plain():
                found += [("", line) for line in rest]
        return _pieces(found)

    def is_plain(self) -> bool:
        """Tell whether lines are passed on as they are, from here on."""
        return self._is_plain

    def close(self) -> Sequence[Piece]:
        """Return the rest at the end of the stream."""
        found: list[_Tagged] = []
        if self._held:
            found += self._settle(is_common=True)
        for name, contents in self._sources.values():
            found += _under(name, contents.close())
        return _pieces(found)

    def _take(self, line: Line) -> Sequence[_Tagged]:
        if not isinstance(line, bytes):
            return self._hold(line) if self._held else [("", line)]
        if self._is_wrapped:
            return self._unwrap(line)
        if self._held:
            return self._hold(line)
        bare = _bare(line).lstrip(b" \t")
        if _BEGINS.match(bare):
            return self._begin(line, bare)
        prefix = _prefix(bare)
        if prefix is None:
            return [("", line)]
        self._prefix = prefix
        self._first = next(map(_named, prefix.finditer(bare)), b"")
        self._held = [line]
        return []

    def _begin(self, line: bytes, bare: bytes) -> Sequence[_Tagged]:
        """Handle the first line of JSON, without a prefix."""
        if _record(bare) is not None or _messages(bare) is not None:
            pass
        elif (
            bare.startswith(b"{")
            and len(bare) > 1
            and not bare.rstrip().endswith(b",")
            and b"\x1b" not in (behind := _BEFORE.sub(b"", line, count=1))
            and behind.startswith(b"{")
        ):
            # an object, and no colours but those in front
            self._is_plain = True
            line = line if line.startswith(b"{") else behind
        elif _is_batch(bare):
            self._is_plain = True
        self._is_wrapped = not self._is_plain
        return [("", line)] if self._is_plain else self._unwrap(line)

    def _hold(self, line: Line) -> Sequence[_Tagged]:
        """Handle a line after the first one with a prefix."""
        self._held.append(line)
        bare = _bare(line) if isinstance(line, bytes) else b""
        found = None if self._prefix is None else self._prefix.match(bare)
        if found is not None and (_named(found) == self._first or _BEGINS.match(bare[found.end() :])):
            return self._settle(is_common=True)
        if _BEGINS.match(bare):
            return self._settle(is_common=False)
        return self._settle(is_common=True) if len(self._held) >= _MOST_HELD else []

    def _settle(self, *, is_common: bool) -> Sequence[_Tagged]:
        held, self._held = self._held, []
        if is_common:
            self._is_wrapped = True
            return [found for line in held for found in self._take(line)]
        self._prefix = None
        return [*(("", line) for line in held[:-1]), *self._take(held[-1])]

    def _unwrap(self, line: bytes) -> Sequence[_Tagged]:
        bare, key, tag = _bare(line), b"", None
        if self._prefix is not None:
            before = self._prefix.match(bare)
            if before is None:
                return [("", line)]
            bare, key, tag = bare[before.end() :], _named(before), _tag(before)
        if key not in self._sources:
            # another name is that of a service if JSON stands behind it
            if self._sources and (len(self._sources) >= _MOST_SOURCES or not _BEGINS.match(bare)):
                return [("", line)]
            self._sources[key] = (key.decode("utf-8", "replace") if self._sources else "", _Contents())
        name, contents = self._sources[key]
        return _under(name, contents.feed(bare) if tag is None else contents.log("", tag[0], bare + tag[1]))


class _Contents:
    """What one service wrote: objects, or the records of a log, whose texts may be wrapped again."""

    def __init__(self) -> None:
        self._objects = _Objects()
        self._are_records: bool | None = None
        self._framers: dict[tuple[str, str], LineFramer] = {}
        """Incomplete lines of each service and stream."""
        self._inner: dict[str, tuple[str, Unwrapper]] = {}
        """The texts of each service in the records."""

    def feed(self, line: bytes) -> Sequence[_Tagged]:
        """Return what a line completes."""
        return [found for one in self._objects.feed(line) for found in self._take(one)]

    def log(self, source: str, stream: str, text: bytes) -> Sequence[_Tagged]:
        """Return the lines that some text of a service's stream completes."""
        if source not in self._inner:
            self._inner[source] = (source if self._inner else "", Unwrapper())
        name, inner = self._inner[source]
        return _under(
            name, _flat(inner.feed(self._framers.setdefault((source, stream), LineFramer()).feed(text)))
        )

    def close(self) -> Sequence[_Tagged]:
        """Return the rest at the end."""
        found = [found for one in self._objects.close() for found in self._take(one)]
        for (source, _), framer in self._framers.items():
            if (rest := framer.close()) is not None:
                name, inner = self._inner[source]
                found += _under(name, _flat(inner.feed([rest])))
        for name, inner in self._inner.values():
            found += _under(name, _flat(inner.close()))
        return found

    def _take(self, line: Line) -> Sequence[_Tagged]:
        if self._are_records is False or not isinstance(line, bytes):
            return [("", line)]
        record = _record(line)
        if self._are_records is None and line.startswith(b"{"):
            self._are_records = record is not None
        if record is None:
            return [("", line)]
        source, stream, text = record
        return self.log(source, stream, text)


def _pieces(found: Iterable[_Tagged]) -> Sequence[Piece]:
    return [Piece(source, [line for _, line in lines]) for source, lines in groupby(found, itemgetter(0))]


def _flat(pieces: Iterable[Piece]) -> Sequence[_Tagged]:
    return [(piece.source, line) for piece in pieces for line in piece.lines]


def _under(name: str, found: Sequence[_Tagged]) -> Sequence[_Tagged]:
    """Return lines with the name of the service around theirs."""
    return [(f"{name}/{own}" if own else name, line) for own, line in found] if name else found


def unwrapped(pieces: Iterable[Sequence[Line]]) -> Iterator[Piece]:
    """Yield the unwrapped contents of a stream's lines, which come some at a time."""
    unwrapper = Unwrapper()
    for lines in pieces:
        yield from unwrapper.feed(lines)
    yield from unwrapper.close()


class _Objects:
    """Makes one line of each object, whether it was written over several or is an element of a list."""

    def __init__(self) -> None:
        self._count = 0
        self._parts: list[bytes] = []
        """Lines of an incomplete object."""
        self._size = 0
        self._depth = 0
        self._indented = 0
        """How far its first line is."""
        self._in_list = False

    def feed(self, line: bytes) -> Sequence[Line]:
        """Return the objects that a line ends; a line that belongs to none is returned itself."""
        self._count += 1
        text = line.strip()
        if self._parts:
            if text.startswith(b"{") and len(line) - len(line.lstrip()) <= self._indented:
                # what is inside of an object is further in: that one was cut off
                return [*self._joined(), *self._outside(line, text)]
            return self._go_on(line)
        return self._outside(line, text)

    def close(self) -> Sequence[Line]:
        """Return the rest of an object that was cut off."""
        return self._joined() if self._parts else []

    def _outside(self, line: bytes, text: bytes) -> Sequence[Line]:
        if text.startswith(b"["):
            if (whole := _elements(text)) is not None:
                return whole
            if not _BEGINS.match(text):
                return [line]
            self._in_list = True
            text = text[1:].lstrip()
        elif self._in_list and text:
            text = _without_end(text)
            self._in_list = bool(text)
        elif not text.startswith(b"{"):
            return [line]
        if text == b"{":
            self._indented = len(line) - len(line.lstrip())
            return self._go_on(text)
        return _spread(_without_end(text)) if text else []

    def _go_on(self, line: bytes) -> Sequence[Line]:
        self._depth += _deepens(line)
        self._size += len(line) + 1
        if self._size > DEFAULT_LIMIT:
            return self._joined()
        self._parts.append(line)
        return [] if self._depth > 0 else self._joined()

    def _joined(self) -> Sequence[Line]:
        text, size = b" ".join(self._parts), self._size
        self._parts, self._size, self._depth = [], 0, 0
        if size > DEFAULT_LIMIT:
            return [OversizeLine(self._count, size, text[:HEAD_SIZE])]
        text = _without_end(text)
        try:
            return _spread(msgspec.json.format(text, indent=-1))
        except _UNREADABLE:
            return [text]


def _bare(line: bytes) -> bytes:
    r"""Return a line without colours, what a terminal would overwrite, and a byte order mark at its beginning."""
    bare = _COLOUR.sub(b"", line) if b"\x1b" in line else line
    if b"\r" in bare:
        bare = bare.rstrip(b"\r").rpartition(b"\r")[2]
    bare = bare.removeprefix(b"\x1e")
    if _BOM not in bare[:_LONGEST]:
        return bare
    head, brace, rest = bare.partition(b"{")
    return head.replace(_BOM, b"") + brace + rest


def _prefix(line: bytes) -> re.Pattern[bytes] | None:
    """Return a pattern of the prefix before the JSON at a line's end; None without one."""
    pattern, gap = rb"[ \t]*", b""
    rest = line
    for _ in range(_MOST_PARTS):
        found = _PART.match(rest)
        if found is None or found.lastgroup is None:
            return None
        part = _PATTERN[found.lastgroup]
        # a pattern may name its groups once alone
        pattern += b"%b(?:%b)" % (
            gap,
            part.replace(b"?P<of>", b"").replace(b"?P<tag>", b"") if b"?P<of>" in pattern else part,
        )
        behind = rest[found.end() :]
        rest = behind.lstrip(_BETWEEN)
        if _BEGINS.match(rest):
            # of an indented object no more than stands before the first line: what is left tells how far a line is indented
            between = re.escape(behind[: len(behind) - len(rest)])
            gap = rb"[ \t|-]*" if rest.rstrip().endswith((b"}", b"]")) else b"(?:%b|[ \t]*\\Z)" % between
            return re.compile(pattern + gap)
        gap = rb"[ \t|-]*"
    return None


def _named(before: re.Match[bytes]) -> bytes:
    """Return the names in a prefix."""
    others = before.re.groupindex.values()
    return b"/".join(
        group.strip()
        for number, group in enumerate(before.groups(), 1)
        if group is not None and number not in others
    )


def _tag(before: re.Match[bytes]) -> tuple[str, bytes] | None:
    """Return the stream of a record of Kubernetes' log, and the end of its text; None for another line."""
    if "tag" not in before.re.groupindex or before["tag"] is None:
        return None
    return before["of"].decode(), b"\n" if before["tag"] == b"F" else b""


def _record(line: bytes) -> tuple[str, str, bytes] | None:
    """Return the service, the stream and the text of a log's record; None for another line."""
    if not any(member in line for member in (b'"log"', b'"MESSAGE"', b'"message"', b'"textPayload"')):
        return None
    try:
        record = _decode_record(line)
    except _UNREADABLE:
        return None
    text = record.text
    if text is None:
        return None
    stream = record.stream or (record.journal_stream if isinstance(record.journal_stream, str) else "")
    return record.source, stream, text.encode("utf-8", "replace")


def _elements(text: bytes) -> Sequence[Line] | None:
    """Return the elements of a complete list, or the list itself if it is a JSON-RPC batch; None for another text."""
    try:
        elements = _decode_list(text.removesuffix(b","))
    except _UNREADABLE:
        return None
    return [text] if _is_batch(text) else [bytes(element) for element in elements]


def _messages(text: bytes) -> Sequence[Line] | None:
    """Return the messages of an object around them; None for another text."""
    if b'"messages"' not in text[:HEAD_SIZE]:
        return None
    try:
        found = _decode_messages(text)
    except _UNREADABLE:
        return None
    if found.type is not msgspec.UNSET:
        return None
    return [*_head(text), *(bytes(one) for one in found.messages)]


def _head(text: bytes) -> Sequence[Line]:
    """Return an export's head without its messages, if it names a conversation."""
    members = _decode_members(text)
    del members["messages"]
    return [msgspec.json.encode(members)] if any(name in members for name in _HEAD_MEMBERS) else []


def _spread(text: bytes) -> Sequence[Line]:
    """Return the messages of an object around them, or the object."""
    found = _messages(text)
    return [text] if found is None else found


def _is_batch(text: bytes) -> bool:
    if not text.startswith(b"[") or b'"jsonrpc"' not in text:
        return False
    try:
        elements: Iterable[msgspec.Raw] = _decode_list(text)
    except _UNREADABLE:
        return False
    return any(_is_envelope(element) for element in elements)


def _is_envelope(text: msgspec.Raw) -> bool:
    try:
        _decode_envelope(text)
    except _UNREADABLE:
        return False
    return True


def _without_end(text: bytes) -> bytes:
    """Return an element of a list without the comma behind it, or the list's own end."""
    text = text.rstrip().removesuffix(b",").rstrip()
    if text.endswith(b"]") and _deepens(text) < 0:
        text = text[:-1].rstrip()
    return text


def _deepens(line: bytes) -> int:
    """Return how many brackets a line opens minus how many it closes."""
    outside = _STRING.sub(b"", line)
    return outside.count(b"{") + outside.count(b"[") - outside.count(b"}") - outside.count(b"]")
