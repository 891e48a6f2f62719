import pytest

from turnwire.adapter.sandbox.hosts import Target
from turnwire.adapter.sandbox.proxy import BadRequest, read_request


def test_connect_names_a_host() -> None:
    assert read_request(b"CONNECT a.test:443 HTTP/1.1\r\nHost: b.test\r\n\r\n") == (
        Target("a.test", 443),
        None,
    )


def test_a_request_with_a_whole_address_is_told_to_its_host_alone() -> None:
    target, head = read_request(
        b"GET http://u:p@a.test:8080/x?y=1 HTTP/1.1\r\nHost: b.test\r\nProxy-Authorization: z\r\nAccept: */*\r\n\r\n"
    )
    assert target == Target("a.test", 8080)
    assert head == b"GET /x?y=1 HTTP/1.1\r\nHost: a.test:8080\r\nAccept: */*\r\nConnection: close\r\n\r\n"


@pytest.mark.parametrize(
    "head",
    [b"\x05\x01\x00\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n", b"GET https://a.test/ HTTP/1.1\r\n\r\n", b"CONNECT a.test HTTP/1.1\r\n\r\n",
     b"GET http://a.test/ HTTP/1.1\nHost:b.test\r\n\r\n", b"GET\n http://a.test/ HTTP/1.1\r\n\r\n", b"GET http://a.test/ HTTP/2\r\n\r\n",
     b"GET http://[::1/ HTTP/1.1\r\n\r\n", b"GET http:///x HTTP/1.1\r\n\r\n"],
)  # fmt: skip
def test_anything_else_is_refused(head: bytes) -> None:
    with pytest.raises(BadRequest):
        read_request(head)


@pytest.mark.parametrize(
    "fields",
    [b"Content-Length: 3\r\nContent-Length: 4", b"Content-Length: 3\r\nTransfer-Encoding: chunked", b"Content-Length: +3",
     b"Transfer-Encoding: gzip, chunked", b"Transfer-Encoding: chunked\r\ntransfer-encoding: identity", b"Content-Length: 0x3"],
)  # fmt: skip
def test_a_body_whose_size_can_be_read_in_two_ways_is_refused(fields: bytes) -> None:
    with pytest.raises(BadRequest, match="size of the body"):
        read_request(b"POST http://a.test/ HTTP/1.1\r\n" + fields + b"\r\n\r\n")
