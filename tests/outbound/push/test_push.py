"""What browsers are told, where it may be sent, and who may have it sent."""

import asyncio
import stat
from collections.abc import Iterable
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from push_service import CERTIFICATE, Subscriber, push_service

from turnwire.hub.host import CommandRefused, Frontend
from turnwire.hub.principals import NoPrincipals, Principal, Scope
from turnwire.hub.wire import frames
from turnwire.hub.wire.frames_out import SessionSummary
from turnwire.normalize.events import (
    AgentEvent,
    Complete,
    CompleteData,
    MessageChunk,
    PermissionOption,
    PermissionRequest,
    ProcessStatus,
    QuestionRequest,
    to_json,
)
from turnwire.normalize.events.envelope import Envelope
from turnwire.outbound.push.delivery import EncryptedMessage, Sender, make_post
from turnwire.outbound.push.endpoints import EndpointRefused, checked_address, parse_endpoint
from turnwire.outbound.push.keys import KeyRefused, VapidKeys
from turnwire.outbound.push.message import Notification, body_of, notification_of
from turnwire.outbound.push.push import Push
from turnwire.outbound.push.subscriptions import MOST
from waiting import until

OPTIONS = [
    PermissionOption(option_id="yes", name="Allow", kind="allow_once"),
    PermissionOption(option_id="ever", name="Always", kind="allow_always"),
    PermissionOption(option_id="no", name="Reject", kind="reject_once"),
    PermissionOption(option_id="stop", name="Reject and stop", kind="reject_once"),
]
TOKENS = {"control": "c" * 20, "view": "v" * 20}
CONTROL, VIEW = Frontend("f", "control"), Frontend("w", "view")


def asks(command: str) -> PermissionRequest:
    return PermissionRequest(
        pending_id="p",
        permission_title="Run a command",
        permission_options=OPTIONS,
        action_type="command",
        action_details={"command": command},
    )


def enveloped(event: AgentEvent) -> Envelope:
    return Envelope("s", 1, "2026-01-01T00:00:00.000000Z", to_json(event))


def what(event: AgentEvent) -> Notification | None:
    return notification_of(enveloped(event), lambda session: f"the {session}")


def test_what_is_whole_in_a_notification_can_be_allowed_from_it_and_nothing_else() -> None:
    said = {"session": "s", "title": "the s", "tag": "p", "pending": "p"}
    assert what(asks("ls -la")) == said | {"body": "asks: ls -la", "allow": "yes", "reject": "no"}
    for hidden in ("ls\nrm -rf /", "ls " + "x" * 300):
        found = what(asks(hidden))
        assert found is not None
        assert "allow" not in found
        assert len(found["body"]) < 260
    write = PermissionRequest(
        pending_id="p",
        permission_title="Write a",
        permission_options=OPTIONS,
        action_type="file_write",
        action_details={"path": "a"},
    )
    assert what(write) == said | {"body": "asks: Write a", "reject": "no"}
    bidi = what(asks("echo \u202etxt\x1b"))
    assert bidi is not None
    assert bidi["body"] == "asks: echo ⟨U+202E⟩txt⟨U+001B⟩"
    for hidden in "\u200e\u061c\xad\u180e\u2800\u3164\ufe0f\U000e0041\r":
        told_of = what(asks(f"rm {hidden}x")) or {}
        assert told_of["body"] == f"asks: rm ⟨U+{ord(hidden):04X}⟩x"
    assert "allow" not in (what(asks("ls" + "\U000e0041" * 100)) or {}), "it does not stand there whole"
    assert len(body_of(what(asks("\U000e0041" * 400)) or {}, may_answer=True)) < 3000
    turned = what(asks("rm -rf אב / גד # א")) or {}
    assert turned["body"] == "asks: rm -rf \u2068אב\u2069 / \u2068גד\u2069 # \u2068א\u2069"
    assert "allow" not in turned, "a device may draw the path as a part of the comment"
    full = what(asks("ls"))
    assert full is not None
    assert b"yes" not in body_of(full, may_answer=False)
    assert len(body_of(what(asks("\U0001f600" * 400)) or {}, may_answer=True)) < 3000


def test_a_question_and_a_file_to_be_read_are_told_in_their_own_words() -> None:
    question = QuestionRequest(pending_id="q", kind="elicitation", message="Which\x1b one?")
    assert what(question) == {
        "session": "s", "title": "the s", "tag": "q", "pending": "q", "body": "asks: Which⟨U+001B⟩ one?",
    }  # fmt: skip
    read = PermissionRequest(
        pending_id="p",
        permission_title="Read a file",
        permission_options=OPTIONS,
        action_type="file_read",
        action_details={"path": "/p/a"},
    )
    assert (what(read) or {}).items() >= {"body": "asks: /p/a", "allow": "yes"}.items()


def test_ends_are_told_but_not_those_that_somebody_wanted() -> None:
    assert what(MessageChunk(text="x")) is None
    assert what(Complete(data=CompleteData(outcome="interrupted", is_error=False))) is None
    assert (what(Complete(data=CompleteData(outcome="completed", is_error=False))) or {})[
        "body"
    ] == "has finished"
    failed = Complete(data=CompleteData(outcome="error", is_error=True), error="out of credit")
    assert (what(failed) or {})["body"] == "has failed: out of credit"
    assert what(ProcessStatus(state="exited", exit_code=143, reason="stop requested")) is None
    assert what(ProcessStatus(state="exited", exit_code=0)) is None
    assert (what(ProcessStatus(state="exited", signal="SIGKILL")) or {})["body"] == "has ended: SIGKILL"


@pytest.mark.parametrize(
    "endpoint",
    [
        "http://fcm.googleapis.com/x",
        "https://fcm.googleapis.com.evil.example/x",
        "https://evil.example/fcm.googleapis.com",
        "https://fcm.googleapis.com@evil.example/x",
        "https://user@fcm.googleapis.com/x",
        "https://fcm.googleapis.com:22/x",
        "https://push.apple.com/x",
        "https://evilpush.apple.com/x",
        "https://127.0.0.1/x",
        "https://[::1]/x",
        "https://169.254.169.254/latest",
        "https://fcm.googleapis.com/x\r\nHost: y",
        "https://fcm.googleapis.com/" + "x" * 3000,
        "https://fcm.googleapis.com:99999/x",
        "https://[::1/x",
        "file:///etc/passwd",
        "",
    ],
)
def test_endpoints_of_nobody_known_are_refused(endpoint: str) -> None:
    with pytest.raises(EndpointRefused):
        checked_address(parse_endpoint(endpoint), lambda *_: ["8.8.8.8"])


@pytest.mark.parametrize(
    "private",
    ["127.0.0.1", "10.1.2.3", "192.168.0.1", "169.254.169.254", "100.64.0.1", "::1", "fe80::1%eth0", "fd00::1",
     "::ffff:10.0.0.1", "0.0.0.0", "224.0.0.1", "not an address"],
)  # fmt: skip
def test_a_name_that_leads_into_a_private_network_is_not_followed(private: str) -> None:
    def lookup(*_: object) -> Iterable[str]:
        return ["8.8.8.8", private]

    for named in ((), ("fcm.googleapis.com",)):
        with pytest.raises(EndpointRefused):
            checked_address(parse_endpoint("https://fcm.googleapis.com/x", named), lookup)


def test_a_name_that_leads_nowhere_is_an_error_of_the_network() -> None:
    with pytest.raises(OSError, match="no address"):
        checked_address(parse_endpoint("https://fcm.googleapis.com/x"), lambda *_: [])


def test_services_that_are_known_or_named_are_called() -> None:
    def lookup(*_: object) -> Iterable[str]:
        return ["8.8.8.8"]

    for host in ("fcm.googleapis.com", "updates.push.services.mozilla.com", "web.push.apple.com"):
        place = parse_endpoint(f"https://{host}/a/b?c=d")
        assert (checked_address(place, lookup), place.target, place.origin) == (
            "8.8.8.8",
            "/a/b?c=d",
            f"https://{host}",
        )
    named = ("push.example:8443", "10.0.0.5", "[::1]:444", "*.corp.example")
    for endpoint in ("https://push.example:8443/x", "https://a.b.corp.example/x"):
        assert checked_address(parse_endpoint(endpoint, named), lookup) == "8.8.8.8"
    assert checked_address(parse_endpoint("https://10.0.0.5/x", named), lookup) == "10.0.0.5"
    assert parse_endpoint("https://[::1]:444/x", named).origin == "https://[::1]:444"
    for endpoint in (
        "https://push.example/x",
        "https://10.0.0.5:8443/x",
        "https://10.0.0.6/x",
        "https://corp.example/x",
    ):
        with pytest.raises(EndpointRefused):
            parse_endpoint(endpoint, named)


def subscribe(browser: Subscriber) -> frames.PushSubscribe:
    return frames.PushSubscribe(type="push.subscribe", id="1", **browser.fields)


def test_who_is_subscribed_is_kept_as_long_as_the_token_counts(tmp_path: Path) -> None:
    def started(tokens: dict[str, str]) -> Push:
        push = Push(tmp_path, lambda session: None)
        push.admit(tokens)  # type: ignore[arg-type]
        return push

    def subscribed(push: Push) -> list[tuple[str, str]]:
        assert push._subscriptions is not None
        return [(one.endpoint[-1], one.role) for one in push._subscriptions.all]

    push = started(TOKENS)
    key = push.execute(frames.PushKey(type="push.key", id="1"), VIEW)
    for name, who in (("a", CONTROL), ("b", VIEW)):
        push.execute(subscribe(Subscriber(f"https://fcm.googleapis.com/{name}")), who)
    for path in (tmp_path / "push.json", tmp_path / "vapid.pem"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert all(token not in path.read_text() for token in TOKENS.values())

    again = started(TOKENS)
    assert again.execute(frames.PushKey(type="push.key", id="1"), CONTROL) == key
    assert subscribed(again) == [("a", "control"), ("b", "view")]
    assert subscribed(started({**TOKENS, "control": "d" * 20})) == [("b", "view")]

    for number in range(MOST):
        again.execute(subscribe(Subscriber(f"https://fcm.googleapis.com/{number:02}")), CONTROL)
    assert len(subscribed(again)) == MOST
    gone = frames.PushUnsubscribe(type="push.unsubscribe", id="1", endpoint="https://fcm.googleapis.com/05")
    assert again.execute(gone, CONTROL) == {"subscribed": True}
    assert again.execute(gone, CONTROL) == {"subscribed": False}
    (tmp_path / "push.json").write_text("[[[")
    assert subscribed(started(TOKENS)) == []

    wrong = Subscriber("https://evil.example/x")
    with pytest.raises(CommandRefused, match="not a known push service") as refused:
        again.execute(subscribe(wrong), CONTROL)
    assert refused.value.field == "endpoint"
    fields = {**wrong.fields, "endpoint": "https://fcm.googleapis.com/x"}
    for bad in ("", "!!", "AAAA", "B" + "A" * 86):
        with pytest.raises(CommandRefused):
            again.execute(
                frames.PushSubscribe(type="push.subscribe", id="1", **{**fields, "p256dh": bad}), CONTROL
            )


async def test_a_principal_is_told_of_what_it_may_see_for_as_long_as_its_token_counts(tmp_path: Path) -> None:
    ann = Principal("control", "ann", Scope(own=True), "id-ann")
    known = {"id-ann": ann}

    class Known(NoPrincipals):
        def of_id(self, token_id: str) -> Principal | None:
            return known.get(token_id)

    def summary_of(session: str) -> SessionSummary:
        return SessionSummary(session=session, state="idle", last_seq=0, pending=0, owner=session)

    posted: list[str] = []

    def post(message: EncryptedMessage) -> int:
        posted.append(message.endpoint[-1])
        return 201

    push = Push(tmp_path, summary_of, post=post)
    push.admit({"control": "c" * 20, "view": "v" * 20}, Known())
    push.start()
    as_ann = Frontend("user:ann", "control", "ann", ann.scope, "id-ann")
    push.execute(subscribe(Subscriber("https://fcm.googleapis.com/a")), as_ann)
    push.execute(subscribe(Subscriber("https://fcm.googleapis.com/z")), CONTROL)
    event = to_json(asks("ls"))
    for session in ("bob", "ann"):
        push.receive(Envelope(session, 1, "2026-01-01T00:00:00Z", event), "permission_request", "e")
    await until(lambda: len(posted) == 3)
    known.clear()
    push.receive(Envelope("ann", 2, "2026-01-01T00:00:00Z", event), "permission_request", "e")
    await until(lambda: len(posted) == 4)
    assert (posted[0], sorted(posted[1:3]), posted[3]) == ("z", ["a", "z"], "z")
    assert push._subscriptions is not None
    assert [one.endpoint[-1] for one in push._subscriptions.all] == ["z"]
    with pytest.raises(CommandRefused, match="your own token"):
        push.execute(
            subscribe(Subscriber("https://fcm.googleapis.com/p")), Frontend("user:bob", "view", "bob")
        )
    push.stop()


def test_a_key_that_others_could_read_is_not_used(tmp_path: Path) -> None:
    path = tmp_path / "vapid.pem"
    VapidKeys.load(path)
    path.chmod(0o644)
    with pytest.raises(KeyRefused, match="other users could read"):
        VapidKeys.load(path)
    path.chmod(0o600)
    path.write_text("no key")
    with pytest.raises(KeyRefused, match="does not hold a key"):
        VapidKeys.load(path)


def test_a_key_of_another_kind_is_not_used(tmp_path: Path) -> None:
    key = ec.generate_private_key(ec.SECP384R1())
    pem = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    (tmp_path / "vapid.pem").write_bytes(key.private_bytes(*pem))
    (tmp_path / "vapid.pem").chmod(0o600)
    with pytest.raises(KeyRefused, match=r"does not hold a P-256 key; move it away"):
        VapidKeys.load(tmp_path / "vapid.pem")


def test_where_nothing_can_be_kept_browsers_are_refused_a_key(tmp_path: Path) -> None:
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    with pytest.raises(KeyRefused, match="the key cannot be written to"):
        VapidKeys.load(tmp_path / "gone" / "vapid.pem")


def test_letters_are_tried_again_and_those_of_who_is_gone_are_not() -> None:
    answers = {"ok": [503, 201], "gone": [410], "never": [503, 429, 500], "no": [403]}
    gone: list[str] = []
    tried: list[str] = []

    def post(message: EncryptedMessage) -> int:
        tried.append(message.endpoint)
        return answers[message.endpoint].pop(0)

    sender = Sender(post, gone.append, pause_s=0)
    for name in answers:
        sender._deliver(EncryptedMessage(name, b"", {}))
    assert tried == ["ok", "ok", "gone", "never", "never", "never", "no"]
    assert (gone, sender.dropped) == (["gone"], 3)


async def test_a_letter_goes_to_the_address_that_was_looked_at_and_its_certificate_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with push_service() as service:
        post = make_post((f"127.0.0.1:{service.port}",), timeout_s=30)
        message = EncryptedMessage(service.subscriber("anna").endpoint, b"sealed", {"TTL": "60"})
        monkeypatch.delenv("SSL_CERT_FILE", raising=False)
        with pytest.raises(OSError, match="Error"):
            await asyncio.to_thread(post, message)
        assert service.pushed.empty()

        monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
        assert await asyncio.to_thread(post, message) == 201
        pushed = await service.next()
        assert (pushed.path, pushed.body, pushed.headers["ttl"]) == ("/anna", b"sealed", "60")
        assert pushed.headers["host"] == f"127.0.0.1:{service.port}"
        service.answers["/anna"] = b"307 Elsewhere\r\nLocation: https://127.0.0.1:1/"
        assert await asyncio.to_thread(post, message) == 307, "a redirect is not followed"


async def test_a_letter_that_cannot_be_sent_is_dropped_and_the_next_one_is_sent(
    caplog: pytest.LogCaptureFixture,
) -> None:
    answers: dict[str, Exception | int] = {
        "unreachable": OSError("no route"),
        "refused": EndpointRefused("that is in a private network"),
        "ours": ZeroDivisionError("a mistake"),
        "ok": 201,
    }
    sent: list[str] = []

    def post(message: EncryptedMessage) -> int:
        answer = answers[message.endpoint]
        if isinstance(answer, Exception):
            raise answer
        sent.append(message.endpoint)
        return answer

    def reasons() -> set[object]:
        return {record.__dict__.get("reason") for record in caplog.records}

    sender = Sender(post, lambda _: None, pause_s=0)
    for name in answers:
        sender.put(EncryptedMessage(name, b"", {}))
    await until(
        lambda: sent and {"OSError", "that is in a private network", "the sidecar failed"} <= reasons()
    )
    sender.stop()
    sender.put(EncryptedMessage("ok", b"", {}))  # too late: nothing is sent any more
    assert (sent, sender.dropped) == (["ok"], 3)


async def test_a_subscription_that_later_settings_do_not_allow_is_forgotten(tmp_path: Path) -> None:
    push = Push(tmp_path, lambda _: None, named=("push.example",))
    with pytest.raises(CommandRefused, match="needs the extra"):
        push.execute(frames.PushKey(type="push.key", id="1"), CONTROL)  # nobody is admitted yet
    push.admit({"control": "c" * 20, "view": "v" * 20})
    push.execute(subscribe(Subscriber("https://push.example/a")), CONTROL)
    posted: list[EncryptedMessage] = []

    def post(message: EncryptedMessage) -> int:
        posted.append(message)
        return 201

    later = Push(tmp_path, lambda _: None, post=post)
    later.admit({"control": "c" * 20, "view": "v" * 20})
    later.start()
    assert later._subscriptions is not None
    assert len(later._subscriptions.all) == 1
    later.receive(enveloped(asks("ls")), "permission_request", "e")
    later.stop()
    assert len(later._subscriptions.all) == 0
    assert posted == []


def test_a_kept_key_that_is_none_refuses_browsers_in_words(tmp_path: Path) -> None:
    push = Push(tmp_path, lambda _: None)
    push.admit({"control": "c" * 20, "view": "v" * 20})
    (tmp_path / "vapid.pem").write_text("no key")
    (tmp_path / "vapid.pem").chmod(0o600)
    with pytest.raises(CommandRefused, match="does not hold a key"):
        push.execute(frames.PushKey(type="push.key", id="1"), CONTROL)
