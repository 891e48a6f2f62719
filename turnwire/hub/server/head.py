"""Check the head of a request before anything reads it, so that malformed requests get an answer. Pure."""

import re

HEAD_END = b"\r\n\r\n"

LARGEST = 64 * 1024
"""Bytes of a head."""

_BARE_LINE_FEED = re.compile(rb"(?<!\r)\n")
_BARE_RETURN = re.compile(rb"\r[^\n]")
_REQUEST_LINE = re.compile(rb"[A-Z]{1,20} /[!-~]* HTTP/1\.[01]")
_FIELD = re.compile(rb"\A([!#$%&'*+.^_`|~0-9A-Za-z-]+):(.*)")
_HOST = re.compile(rb"(?:\[[0-9A-Fa-f:.]+\]|[0-9A-Za-z._-]+)(?::[0-9]{1,5})?")


def fault(head: bytes) -> str | None:
    """Return what is wrong with a head or with the received part of one; None if it is well-formed."""
    if b"\0" in head:
        return "the request holds a NUL byte"
    if _BARE_LINE_FEED.search(head):
        return "each line of the request must end with CR LF"
    if _BARE_RETURN.search(head):
        return "the request holds a CR that ends no line"
    if len(head) > LARGEST:
        return f"the head of the request is larger than {LARGEST} bytes"
    return _fault_of_lines(head.split(b"\r\n")[:-2]) if head.endswith(HEAD_END) else None


def _fault_of_lines(lines: list[bytes]) -> str | None:
    if not _REQUEST_LINE.fullmatch(lines[0]):
        return "the first line must be a method, a path that begins with /, and HTTP/1.1"
    hosts = 0
    for line in lines[1:]:
        field = _FIELD.fullmatch(line)
        if field is None:
            return "a line of the head is not `Name: value`"
        name, value = field[1].lower(), field[2].strip(b" \t")
        if name == b"host":
            hosts += 1
            if not _HOST.fullmatch(value):
                return "the Host header must be one name or address, with at most a port"
        elif name == b"transfer-encoding" or (name == b"content-length" and value.strip(b"0")):
            return "no request here has a body"
    return None if hosts == 1 else f"a request has one Host header, and this one has {hosts}"
