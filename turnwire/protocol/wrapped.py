r"""Unwrap lines from logs of CI and containers: one JSON object per line comes out.

It removes prefixes of lines (a time, `worker-1 |`, `[INFO]`, a job's name) and colours. It unwraps the
records of Docker's and Kubernetes' logs, and lists, also as the `messages` of an object. It joins objects that are written
over several lines. The first lines show which of these apply. A stream that begins with an object on a line of
its own is passed on unchanged, at no further cost.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from turnwire.protocol.framing import DEFAULT_LIMIT, HEAD_SIZE, LineFramer, OversizeLine

Line = bytes | OversizeLine

_DAY = rb"\d{4}-\d\d-\d\d"
_CLOCK = rb"\d\d:\d\d:\d\d(?:[.,]\d+)?"
_PARTS: tuple[tuple[str, bytes], ...] = (
    ("time", rb"\[?%b[T ]%b(?:Z| ?[+-]\d\d:?\d\d)?\]?:?" % (_DAY, _CLOCK)),
    ("clock", rb"\[?%b\]?:?" % _CLOCK),
    ("syslog", rb"[A-Z][a-z]{2} [ \d]\d %b [\w.-]+(?= )" % _CLOCK),
    ("epoch", rb"\[?\d{10}(?:\d{3}|\.\d{1,9})?\]?:?(?= )"),
    ("stream", rb"(?:(?P<of>stdout|stderr) (?P<tag>[FP])|\d\d[OE]\+?)(?= )"),
    ("level", rb"(?i:\[?(?:trace|debug|info|notice|warn|warning|error)\s?\]?:?)(?=[\s|{\[])"),
    ("column", rb"[^\t{\"]{1,200}\t"),
    ("name", rb"[\w./-]{1,100} *\|"),
    ("bracket", rb"\[[\w .:/#-]{1,60}\]:?"),
    ("word", rb"[\w./-]{1,100}(?:\[\d+\]:|:|(?= -))"),
)
"""Parts of prefixes, in the order of the search. Times and levels differ from line to line."""

_CHANGING = {"time", "clock", "syslog", "epoch", "stream", "level"}
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


class _Record(msgspec.Struct):
    """A record of Docker's log: text up to a newline, or as much as one record holds."""

    log: str
    stream: str = ""
    time: str = ""


class _Messages(msgspec.Struct):
    """An object around a list of messages, without a type."""

    messages: list[msgspec.Raw]
    type: msgspec.UnsetType | msgspec.Raw = msgspec.UNSET


class _Envelope(msgspec.Struct):
    jsonrpc: msgspec.Raw


_decode_record = msgspec.json.Decoder(_Record).decode
_decode_list = msgspec.json.Decoder(list[msgspec.Raw]).decode
_decode_messages = msgspec.json.Decoder(_Messages).decode
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
        self._held: list[Line] = []
        """Lines after the first one with a prefix, which may be the only one."""
        self._records: dict[str, LineFramer] = {}
        """Contents of Docker's and Kubernetes' records, by stream."""
        self._inner: Unwrapper | None = None
        self._objects = _Objects()

    def feed(self, lines: Sequence[Line]) -> Sequence[Line]:
        """Return the contents of these lines, and of earlier incomplete ones."""
        if self._is_plain:
            return lines
        rest, found = iter(lines), list[Line]()
        for line in rest:
            found += self._take(line)
            if self.is_plain():
                found += rest
        return found

    def is_plain(self) -> bool:
        """Tell whether lines are passed on as they are, from here on."""
        return self._is_plain

    def close(self) -> Sequence[Line]:
        """Return the rest at the end of the stream."""
        found: list[Line] = []
        if self._held:
            found += self._settle(is_common=True)
        if self._inner is not None:
            last = [rest for framer in self._records.values() if (rest := framer.close()) is not None]
            found += [*self._inner.feed(last), *self._inner.close()]
        return [*found, *self._objects.close()]

    def _take(self, line: Line) -> Sequence[Line]:
        if not isinstance(line, bytes):
            return self._hold(line) if self._held else [line]
        if self._is_wrapped:
            return self._unwrap(line)
        if self._held:
            return self._hold(line)
        bare = _bare(line).lstrip(b" \t")
        if _BEGINS.match(bare):
            return self._begin(line, bare)
        prefix = _prefix(bare)
        if prefix is None:
            return [line]
        self._prefix = prefix
        self._held = [line]
        return []

    def _begin(self, line: bytes, bare: bytes) -> Sequence[Line]:
        """Handle the first line of JSON, without a prefix."""
        if _record(bare) is not None:
            self._inner = Unwrapper()
        elif _messages(bare) is not None:
            pass
        elif (
            bare.startswith(b"{")
            and len(bare) > 1
            and not bare.rstrip().endswith(b",")
            and b"\x1b" not in _BEFORE.sub(b"", line, count=1)
        ):
            # an object, and no colours but those in front
            self._is_plain = True
            line = line if line.startswith(b"{") else _BEFORE.sub(b"", line, count=1)
        elif _is_batch(bare):
            self._is_plain = True
        self._is_wrapped = not self._is_plain
        return [line] if self._is_plain else self._unwrap(line)

    def _hold(self, line: Line) -> Sequence[Line]:
        """Handle a line after the first one with a prefix."""
        self._held.append(line)
        bare = _bare(line) if isinstance(line, bytes) else b""
        if self._prefix is not None and self._prefix.match(bare):
            return self._settle(is_common=True)
        if _BEGINS.match(bare):
            return self._settle(is_common=False)
        return self._settle(is_common=True) if len(self._held) >= _MOST_HELD else []

    def _settle(self, *, is_common: bool) -> Sequence[Line]:
        held, self._held = self._held, []
        if is_common:
            self._is_wrapped = True
            first = _bare(held[0]) if isinstance(held[0], bytes) else b""
            if _tagged(self._prefix, first) is not None or _record(self._behind(first) or b"") is not None:
                self._inner = Unwrapper()
            return [found for line in held for found in self._take(line)]
        self._prefix = None
        return [*held[:-1], *self._take(held[-1])]

    def _unwrap(self, line: bytes) -> Sequence[Line]:
        bare = self._behind(_bare(line))
        if bare is None:
            return [line]
        if self._inner is None:
            return self._objects.feed(bare)
        if (tagged := _tagged(self._prefix, _bare(line))) is not None:
            stream, is_whole = tagged
            log = bare + b"\n" if is_whole else bare
        elif (record := _record(bare)) is not None:
            stream, log = record.stream, record.log.encode("utf-8", "replace")
        else:
            return self._inner.feed([line])
        return self._inner.feed(self._records.setdefault(stream, LineFramer()).feed(log))

    def _behind(self, bare: bytes) -> bytes | None:
        """Return the line after its prefix; None for a line with another prefix or none."""
        if self._prefix is None:
            return bare
        before = self._prefix.match(bare)
        return None if before is None else bare[before.end() :]


def unwrapped(lines: Iterable[Line]) -> Iterator[Line]:
    """Yield the unwrapped contents of a stream's lines."""
    unwrapper = Unwrapper()
    for line in lines:
        yield from unwrapper.feed((line,))
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
    """Return a line without colours and without a byte order mark at its beginning."""
    bare = _COLOUR.sub(b"", line) if b"\x1b" in line else line
    if _BOM not in bare[:_LONGEST]:
        return bare
    head, brace, rest = bare.partition(b"{")
    return head.replace(_BOM, b"") + brace + rest


def _prefix(line: bytes) -> re.Pattern[bytes] | None:
    """Return a pattern of the prefix before the JSON at a line's end; None without one."""
    pattern, gap = b"", b""
    rest = line
    for _ in range(_MOST_PARTS):
        found = _PART.match(rest)
        if found is None or found.lastgroup is None:
            return None
        kind = found.lastgroup
        part = _PATTERN[kind] if kind in _CHANGING else re.escape(found.group())
        # a pattern may name its groups once alone
        pattern += gap + (
            part.replace(b"?P<of>", b"").replace(b"?P<tag>", b"") if b"?P<of>" in pattern else part
        )
        behind = rest[found.end() :]
        rest = behind.lstrip(_BETWEEN)
        between = behind[: len(behind) - len(rest)]
        if _BEGINS.match(rest):
            # no more than stands before the first one: what is left tells how far a line is indented
            return re.compile(pattern + re.escape(between))
        gap = rb"[ \t|-]*" if kind in _CHANGING else re.escape(between)
    return None


def _tagged(prefix: re.Pattern[bytes] | None, bare: bytes) -> tuple[str, bool] | None:
    """Return the stream of a record of Kubernetes' log, and whether it ends its line; None for another line."""
    found = None if prefix is None or "tag" not in prefix.groupindex else prefix.match(bare)
    return None if found is None or found["tag"] is None else (found["of"].decode(), found["tag"] == b"F")


def _record(line: bytes) -> _Record | None:
    if b'"log"' not in line[:4096] and b'"log"' not in line[-4096:]:
        return None
    try:
        record = _decode_record(line)
    except _UNREADABLE:
        return None
    return record if record.stream or record.time else None


def _elements(text: bytes) -> Sequence[Line] | None:
    """Return the elements of a complete list, or the list itself if it is a JSON-RPC batch; None for another text."""
    try:
        elements = _decode_list(text.removesuffix(b","))
    except _UNREADABLE:
        return None
    return [text] if _is_batch(text) else [bytes(element) for element in elements]


def _messages(text: bytes) -> Sequence[Line] | None:
    """Return the messages of an object around them; None for another text."""
    if b'"messages"' not in text[:_LONGEST]:
        return None
    try:
        found = _decode_messages(text)
    except _UNREADABLE:
        return None
    return None if found.type is not msgspec.UNSET else [bytes(one) for one in found.messages]


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
