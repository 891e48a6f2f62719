"""Plain HTTP: files, probes, login, and the mirror of the stream as server-sent events."""

import asyncio
import gzip
import json
import logging
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from hub_harness import SESSION, HubHarness, StubHost, clock_of_the_loop, hub_harness, receive
from pydantic import SecretStr

from turnwire.client import connect
from turnwire.client.frames import EventFrame
from turnwire.hub.config import HubConfig, Limits
from turnwire.hub.hub import CertificateError, Hub
from turnwire.hub.server.listener import EARLY_BYTES
from turnwire.hub.server.routes import Probes
from turnwire.journal.memory import MemoryJournal
from waiting import until


@asynccontextmanager
async def stream(hub: HubHarness, target: str, **headers: str) -> AsyncIterator[asyncio.StreamReader]:
    reader, writer = await asyncio.open_connection("127.0.0.1", hub.hub.port)
    head = {"Host": f"127.0.0.1:{hub.hub.port}", "Authorization": f"Bearer {hub.token}", **headers}
    lines = [f"GET {target} HTTP/1.1", *(f"{name}: {value}" for name, value in head.items()), "", ""]
    writer.write("\r\n".join(lines).encode())
    try:
        yield reader
    finally:
        writer.close()
        await writer.wait_closed()


async def blocks(reader: asyncio.StreamReader, count: int) -> list[str]:
    async with asyncio.timeout(60):
        return [(await reader.readuntil(b"\n\n")).decode().rstrip() for _ in range(count)]


async def test_the_stream_mirrors_the_session_and_resumes_at_its_last_id() -> None:
    async with hub_harness() as hub:
        await hub.append("a", "b")
        async with stream(hub, f"/sessions/{SESSION}/events") as reader:
            async with asyncio.timeout(60):
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
            assert head.startswith("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream")
            retry, first, second, caught_up = await blocks(reader, 4)
            assert retry == "retry: 1000"
            assert caught_up.startswith("event: caught_up\ndata: {")
            identifier, payload = second.split("\n")
            assert identifier == f"id: {hub.journal.epoch}-2"
            assert json.loads(payload.removeprefix("data: "))["event"]["text"] == "b"
            assert first.startswith(f"id: {hub.journal.epoch}-1\n")
            await hub.append("c")
            assert (await blocks(reader, 1))[0].startswith(f"id: {hub.journal.epoch}-3\n")
        last = {"Last-Event-ID": f"{hub.journal.epoch}-2"}
        async with stream(hub, f"/sessions/{SESSION}/events", **last) as reader:
            async with asyncio.timeout(60):
                await reader.readuntil(b"\r\n\r\n")
            assert (await blocks(reader, 2))[1].startswith(f"id: {hub.journal.epoch}-3\n")
        async with stream(hub, f"/sessions/{SESSION}/events?after=another-7") as reader:
            async with asyncio.timeout(60):
                await reader.readuntil(b"\r\n\r\n")
            _, gap, first, *_ = await blocks(reader, 3)
            assert gap.startswith("event: gap\n")
            assert first.startswith(f"id: {hub.journal.epoch}-1\n")


async def test_a_stream_lives_longer_than_the_deadline_of_a_request_and_is_kept_alive(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pass_over = clock_of_the_loop(monkeypatch)
    async with hub_harness(HubConfig(limits=Limits(handshake_s=300, ping_s=600))) as hub:
        await hub.append("a")
        async with stream(hub, f"/sessions/{SESSION}/events") as reader:
            async with asyncio.timeout(60):
                await reader.readuntil(b"caught_up")
            for _ in range(2):
                pass_over(601)
                async with asyncio.timeout(60):
                    await reader.readuntil(b": ping\n\n")
            await hub.append("b")
            assert "-2\n" in (await blocks(reader, 1))[0]
        await until(lambda: hub.hub.connections == 0)


async def test_stopping_the_hub_ends_its_streams() -> None:
    async with hub_harness() as hub:
        await hub.append("a")
        reader, writer = await asyncio.open_connection("127.0.0.1", hub.hub.port)
        writer.write(
            f"GET /sessions/{SESSION}/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {hub.token}\r\n\r\n".encode()
        )
        async with asyncio.timeout(60):
            await reader.readuntil(b"caught_up")
    async with asyncio.timeout(60):
        await reader.read()
    writer.close()
    await writer.wait_closed()


async def test_the_probes_say_how_the_sidecar_is() -> None:
    trouble: list[str] = []
    probes = Probes(
        lambda: ("text/plain", b"turnwire_up 1\n"),
        lambda: trouble[0] if trouble else None,
        lambda: ["a note for the operator"],
    )
    async with hub_harness(probes=probes) as hub:
        operator = {"Authorization": f"Bearer {hub.token}"}
        assert (await hub.request("/healthz"))[0] == 200
        status, _, body = await hub.request("/readyz")
        assert (status, json.loads(body)) == (200, {"status": "ready"})
        _, _, body = await hub.request("/readyz", headers=operator)
        assert json.loads(body)["notes"] == ["a note for the operator"]
        trouble.append("the disk is full")
        for headers in ({}, {"Authorization": "Bearer wrong"}, {"Cookie": "turnwire=wrong"}):
            status, _, body = await hub.request("/readyz", headers=headers)
            assert status == 503, "an orchestrator needs no more"
            assert b"disk" not in body, "which server and which file is nobody's business without a token"
        status, _, body = await hub.request("/readyz", headers=operator)
        assert (status, json.loads(body)["error"]) == (
            503,
            {"code": "not_ready", "message": "the disk is full"},
        )
        assert (await hub.request("/metrics"))[0] == 401
        status, headers, body = await hub.request(
            "/metrics", headers={"Authorization": f"Bearer {hub.token}"}
        )
        assert (status, headers["content-type"], body) == (200, "text/plain", b"turnwire_up 1\n")


async def test_the_console_is_served_with_a_strict_policy_and_from_nowhere_else(tmp_path: Path) -> None:
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text("<p>hi")
    (tmp_path / "assets" / "app-1a2b.js").write_text("1")
    async with hub_harness(HubConfig(static=tmp_path)) as hub:
        status, headers, body = await hub.request("/")
        assert (status, body) == (200, b"<p>hi")
        assert headers["content-type"] == "text/html; charset=utf-8"
        policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
        assert policy["default-src"] == "'none'"
        assert policy["script-src"] == "'self'"
        assert (headers["x-content-type-options"], headers["referrer-policy"]) == ("nosniff", "no-referrer")
        assert (await hub.request("/", headers={"If-None-Match": headers["etag"]}))[0] == 304
        status, headers, body = await hub.request("/", method="HEAD")
        assert (status, headers["content-length"], body) == (200, "5", b"")
        _, headers, _ = await hub.request("/assets/app-1a2b.js")
        assert headers["content-type"].startswith("text/javascript")
        assert "immutable" in headers["cache-control"]
        for path in (
            "/../pyproject.toml",
            "/assets/../../x",
            "/%2e%2e/pyproject.toml",
            "//etc/passwd",
            "/assets",
        ):
            assert (await hub.request(path))[0] == 404


async def test_a_file_of_the_console_is_compressed_on_the_way_to_who_takes_that(tmp_path: Path) -> None:
    (tmp_path / "page.js").write_bytes(b"let there be a script;" * 200)
    async with hub_harness(HubConfig(static=tmp_path)) as hub:
        _, plain, whole = await hub.request("/page.js")
        _, headers, small = await hub.request("/page.js", headers={"Accept-Encoding": "gzip, br"})
        assert (plain.get("content-encoding"), headers["content-encoding"]) == (None, "gzip")
        assert gzip.decompress(small) == whole


async def test_the_shipped_page_has_no_inline_script() -> None:
    async with hub_harness() as hub:
        status, _, body = await hub.request("/")
        assert status == 200
        page = body.decode()
        for script in page.split("<script")[1:]:
            attributes, _, rest = script.partition(">")
            assert "src=" in attributes
            assert rest.startswith("</script>")


@pytest.mark.parametrize(
    ("target", "method", "headers", "status", "code"),
    [
        ("/nope", "GET", {}, 404, "not_found"),
        ("/", "POST", {"Content-Length": "0"}, 405, "method_not_allowed"),
        ("/login", "GET", {}, 405, "method_not_allowed"),
        ("/login", "POST", {}, 401, "unauthorized"),
        ("/login", "POST", {"Authorization": "Bearer wrong"}, 401, "unauthorized"),
        ("/sessions", "GET", {}, 401, "unauthorized"),
        (f"/sessions/{SESSION}/events", "GET", {}, 401, "unauthorized"),
        (f"/sessions/{SESSION}/events?token=TOKEN", "GET", {}, 401, "unauthorized"),
        ("/sessions/nope/events", "GET", {"Authorization": "Bearer TOKEN"}, 404, "unknown_session"),
        *(
            (
                f"/sessions/{SESSION}/events?after={place}",
                "GET",
                {"Authorization": "Bearer TOKEN"},
                400,
                "bad_cursor",
            )
            for place in (
                "a-" + "9" * 5000,
                "a-" + "9" * 16,
                "a-1.5",
                "a-NaN",
                "a-%D9%A1",
                "a-",
                "-1",
                "1",
                "a-%ED%A0%80",
                "a-1%00",
                "%20",
            )
        ),
        (
            f"/sessions/{SESSION}/events",
            "GET",
            {"Authorization": "Bearer TOKEN", "Last-Event-ID": "a-1e9"},
            400,
            "bad_cursor",
        ),
        (f"/sessions/{SESSION}/events?after=a-" + "9" * 5000, "GET", {}, 401, "unauthorized"),
        ("/sessions/%ED%A0%80/events", "GET", {"Authorization": "Bearer TOKEN"}, 404, "unknown_session"),
        (
            "/sessions/%00/events?after=a-1&after=" + "&x=1" * 1500,
            "GET",
            {"Authorization": "Bearer TOKEN"},
            404,
            "unknown_session",
        ),
        ("/", "GET", {"Host": "evil.example"}, 403, "host_not_allowed"),
        ("/", "GET", {"Origin": "http://evil.example"}, 403, "origin_not_allowed"),
        (
            "/sessions",
            "GET",
            {"Authorization": "Bearer TOKEN", "Sec-Fetch-Site": "same-site"},
            403,
            "origin_not_allowed",
        ),
        ("/logout", "POST", {"Sec-Fetch-Site": "cross-site"}, 403, "origin_not_allowed"),
    ],
)
async def test_a_refused_request_says_why(
    target: str, method: str, headers: dict[str, str], status: int, code: str
) -> None:
    async with hub_harness() as hub:
        sent = {name: value.replace("TOKEN", hub.token) for name, value in headers.items()}
        answer, _, body = await hub.request(target.replace("TOKEN", hub.token), method=method, headers=sent)
        assert (answer, json.loads(body)["error"]["code"]) == (status, code)


async def test_logging_out_takes_the_cookie_back() -> None:
    async with hub_harness() as hub:
        status, headers, _ = await hub.request("/logout", method="POST")
        assert status == 200
        assert "Max-Age=0" in headers["set-cookie"]


async def test_the_list_of_sessions_is_there_for_curl() -> None:
    async with hub_harness() as hub:
        status, _, body = await hub.request(
            "/sessions", headers={"Authorization": f"Bearer {hub.hub.tokens.view}"}
        )
        assert status == 200
        assert json.loads(body) == [{"session": SESSION, "state": "idle", "last_seq": 0, "pending": 0}]


async def test_with_a_certificate_everything_is_encrypted_and_the_cookie_says_so() -> None:
    pem = Path(__file__).with_name("localhost.pem")
    context = ssl.create_default_context(cafile=pem)
    async with hub_harness(HubConfig(certificate=pem)) as hub:
        assert hub.url.startswith("https://127.0.0.1:")
        async with connect(hub.url, ssl=context) as client:
            await hub.append("secret")
            follow = client.follow(SESSION)
            async with asyncio.timeout(60):
                assert isinstance(await anext(follow), EventFrame)
        reader, writer = await asyncio.open_connection("127.0.0.1", hub.hub.port, ssl=context)
        writer.write(
            f"POST /login HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {hub.token}\r\n\r\n".encode()
        )
        async with asyncio.timeout(60):
            answer = (await reader.read()).decode()
        writer.close()
        assert "; Secure\r\n" in answer
        # Whoever speaks plain HTTP gets no word.
        plain, plain_writer = await asyncio.open_connection("127.0.0.1", hub.hub.port)
        plain_writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        async with asyncio.timeout(60):
            assert b"HTTP" not in await plain.read()
        plain_writer.close()


async def test_a_certificate_that_is_none_is_an_error_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "none.pem").write_text("no certificate")
    for path in (tmp_path / "none.pem", tmp_path / "missing.pem"):
        with pytest.raises(CertificateError, match=rf"{path}.*(PEM|No such file)"):
            async with hub_harness(HubConfig(certificate=path)):
                pass


async def test_a_key_without_its_certificate_is_an_error_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(CertificateError, match=r"tls_key .* needs tls_certificate"):
        async with hub_harness(HubConfig(key=tmp_path / "key.pem")):
            pass


async def test_a_login_that_is_over_at_another_hub_is_over_here_and_so_is_what_it_has_open() -> None:
    async with hub_harness() as hub:
        proof = await hub.log_in(hub.token)
        login, began, _ = proof["Cookie"].partition("=")[2].split(".")
        async with hub.websocket(None, headers=proof) as websocket:
            await receive(websocket)
            hub.hub.log_out({login: int(began)})
            async with asyncio.timeout(60):
                await websocket.wait_closed()
            assert websocket.close_code == 4401
        assert (await hub.request("/sessions", headers=proof))[0] == 401


def test_a_url_is_one_that_this_machine_opens_and_shows_no_token_that_is_configured() -> None:
    secret = HubConfig(host="0.0.0.0", port=8790, token=SecretStr("configured-token-0123456789"))
    hub = Hub(MemoryJournal(), StubHost(), secret)
    assert hub.invitation("control", "s") == (
        f"open http://127.0.0.1:{hub.port}/#session=s with the configured token, which is not shown"
    )
    assert hub.invitation("view").startswith(f"open http://127.0.0.1:{hub.port}/#token=")


HEAD = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


async def answered(port: int, said: bytes, *, ends: bool = False) -> bytes:
    """Say something at once, and return all that comes back."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(said)
    if ends:
        writer.write_eof()
    async with asyncio.timeout(60):
        answer = b""
        with suppress(ConnectionError):
            while piece := await reader.read(65536):
                answer += piece
    writer.close()
    with suppress(ConnectionError):
        await writer.wait_closed()
    return answer


def errors(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]


@pytest.mark.parametrize("behind", [b"", HEAD, b"\r\n", b"GE", b"\x81\x05hello", b"x" * 5000])
@pytest.mark.parametrize("ends", [False, True])
async def test_whatever_comes_behind_a_request_it_has_its_answer(
    behind: bytes, ends: bool, caplog: pytest.LogCaptureFixture
) -> None:
    async with hub_harness() as harness:
        answer = await answered(harness.hub.port, HEAD + behind, ends=ends)
        assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
        assert answer.count(b"HTTP/1.1") == 1
        await until(lambda: harness.hub.connections == 0)
    assert errors(caplog) == []


async def test_who_says_too_much_before_there_is_an_answer_is_cut(caplog: pytest.LogCaptureFixture) -> None:
    async with hub_harness() as harness:
        assert await answered(harness.hub.port, HEAD + b"x" * (EARLY_BYTES + 1)) == b""
        assert harness.hub.connections == 0
    assert errors(caplog) == []


async def test_what_a_frontend_says_right_behind_its_upgrade_is_heard() -> None:
    async with hub_harness() as harness:
        lines = (
            "GET /ws HTTP/1.1",
            "Host: 127.0.0.1",
            "Connection: Upgrade",
            "Upgrade: websocket",
            "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==",
            f"Authorization: Bearer {harness.token}",
        )
        command = b'{"type":"session.list","id":"early"}'
        reader, writer = await asyncio.open_connection("127.0.0.1", harness.hub.port)
        writer.write("\r\n".join((*lines, "", "")).encode())
        writer.write(b"\x81" + bytes([0x80 | len(command)]) + b"\0\0\0\0" + command)
        async with asyncio.timeout(60):
            said = b""
            while b'"id":"early"' not in said:
                said += await reader.read(65536)
        assert said.startswith(b"HTTP/1.1 101 ")
        writer.close()
        await writer.wait_closed()
