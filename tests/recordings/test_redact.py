"""A shareable recording: secrets of every kind are gone, and everything else is as it was."""

import base64
import json
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from cases import for_each
from recordings import Recording, recording, recordings
from turnwire.normalize.claude.core import ClaudeCore
from turnwire.protocol.claude.decode import decode
from turnwire.recordings.reading import read
from turnwire.recordings.redaction.redact import redact_file, redact_folder
from turnwire.recordings.redaction.redaction import Redaction
from turnwire_process import DEADLINE, TURNWIRE, environment

SECRETS = {
    "anthropic": "sk-ant-api03-Zk2vQ9xT1mN8rB4wL6yD0cF5hJ7gS3aP",
    "openai": "sk-proj-Ab12Cd34Ef56Gh78Ij90Kl12",
    "github": "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    "github fine": "github_pat_11ABCDEFG0abcdefghijkl_mnopqrst",
    "gitlab": "glpat-Zx9yWv8uTs7rQp6oNm5l",
    "slack": "xoxb-123456789012-abcdefGHIJKL",
    "aws id": "AKIAIOSFODNN7EXAMPLE",
    "google": "AIzaSyD4f5G6h7J8k9L0m1N2b3V4c5X6z7Q8w9E",
    "google oauth": "ya29.a0AfH6SMBx8r7q6p5o4n3m2l1k0j",
    "stripe": "sk_live_4eC39HqLyjWDarjtT1zdp7dc",
    "npm": "npm_Qw3rTy7uIoPaSdFgHjKlZxCvBnM123456",
    "pypi": "pypi-AgEIcHlwaS5vcmcCJDU2NzhkYzE0",
    "hugging face": "hf_QwErTyUiOpAsDfGhJkLzXcVbNm",
    "sendgrid": "SG.ngeVfQFYQlKU0ufo8x5d1A.TwL2iGABf9DHoTf-09kqeF8tAmbihYzr",
    "telegram": "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw",
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTYifQ.SflKxwRJSMeKKF2QT4",
    "bearer": "Bearer mF_9.B5f-4.1JqM-secret",
    "url": "postgres://admin:s3cr3tPassw0rd@db.internal:5432/app",
    "assignment": "DB_PASSWORD=correct-horse-battery",
    "json": '"client_secret": "7d9f2e1c4b8a6053"',
    "option": "mysql --password hunter2hunter2",
    "aws secret": "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "e-mail": "ada.lovelace@analytical-engine.example",
    "home": "/home/ada/project/main.py",
    "mac": "/Users/lovelace/project",
    "pem": "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEAx7vQ2k\nZ9s8Ty\n-----END RSA PRIVATE KEY-----",
}
CORES = {
    "bearer": "mF_9.B5f-4.1JqM-secret",
    "url": "s3cr3tPassw0rd",
    "assignment": "correct-horse-battery",
    "json": "7d9f2e1c4b8a6053",
    "option": "hunter2hunter2",
    "aws secret": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "home": "/ada/",
    "mac": "lovelace",
    "pem": "MIIEowIBAAKCAQEAx7vQ2k",
}
"""What must be gone, where it is only part of what was planted."""


def redacted(folder: Path, content: bytes) -> bytes:
    source, target = folder / "in.jsonl", folder / "out.jsonl"
    source.write_bytes(content)
    redact_file(source, target, Redaction(b"key"), lambda size: None)
    return target.read_bytes()


def user_line(text: str) -> bytes:
    message = {"type": "user", "message": {"role": "user", "content": text}, "session_id": "s", "uuid": "u"}
    return json.dumps(message, ensure_ascii=False).encode() + b"\n"


@for_each("kind", SECRETS)
@pytest.mark.parametrize("frame", ["{}", "it is {} .", "first line\n{}\nlast", '{{"nested": "{}"}}', "x={}"])
def test_a_planted_secret_is_gone_and_the_line_keeps_its_size(kind: str, frame: str, tmp_path: Path) -> None:
    line = user_line(frame.format(SECRETS[kind]))
    clean = redacted(tmp_path, line)
    assert CORES.get(kind, SECRETS[kind]).encode() not in clean
    assert len(clean) == len(line)
    assert json.loads(clean)["type"] == "user"


@for_each("kind", SECRETS)
@pytest.mark.parametrize("size", [3, 7])
def test_a_secret_cut_by_streaming_is_gone_from_every_piece(kind: str, size: int, tmp_path: Path) -> None:
    text = f"The key is {SECRETS[kind]} and that is all."
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    lines = [{"type": "stream_event", "event": {"type": "content_block_start", "index": 0}}]
    lines += [
        {
            "type": "stream_event",
            "event": {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "text_delta", "text": piece},
            },
        }
        for piece in pieces
    ]
    content = b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in lines)
    clean = redacted(tmp_path, content).splitlines()
    joined = "".join(json.loads(line)["event"]["delta"]["text"] for line in clean[1:])
    assert CORES.get(kind, SECRETS[kind]) not in joined
    assert len(joined) == len(text)


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("kind", ["anthropic", "github", "jwt", "pem"])
def test_a_secret_cut_by_chunks_of_an_acp_agent_is_gone_from_every_piece(
    kind: str, named: bool, tmp_path: Path
) -> None:
    text = f"The key is {SECRETS[kind]} and that is all."
    lines = []
    for at in range(0, len(text), 5):
        update = {
            "sessionUpdate": "agent_message_chunk",
            "content": {"type": "text", "text": text[at : at + 5]},
            **({"messageId": "m"} if named else {}),
        }
        lines.append(
            {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": update}}
        )
    content = b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in lines)
    clean = redacted(tmp_path, content).splitlines()
    joined = "".join(json.loads(line)["params"]["update"]["content"]["text"] for line in clean)
    assert CORES.get(kind, SECRETS[kind]) not in joined
    assert len(joined) == len(text)


def native(name: str, piece: str) -> dict[str, object]:
    """A piece of a text in the words of an agent that streams by a protocol of its own."""
    cursor = {"role": "assistant", "content": [{"type": "text", "text": piece}]}
    told = {"threadId": "t", "turnId": "u", "itemId": "i", "delta": piece}
    part = {"sessionID": "s", "messageID": "m", "partID": "p", "field": "text", "delta": piece}
    prompt = {"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": piece}}
    call = {"sessionUpdate": "tool_call_delta_chunk", "tool_call_id": "c", "arguments_delta": piece}
    shapes: dict[str, dict[str, object]] = {
        "codex text": {"method": "item/agentMessage/delta", "params": told},
        "codex output": {"method": "item/commandExecution/outputDelta", "params": told},
        "codex thought": {
            "method": "item/reasoning/summaryTextDelta",
            "params": told | {"summaryIndex": 0},
        },
        "opencode": {"type": "message.part.delta", "properties": part},
        "copilot text": {
            "type": "assistant.message_delta",
            "data": {"messageId": "m", "deltaContent": piece},
        },
        "copilot thought": {
            "type": "assistant.reasoning_delta",
            "data": {"reasoningId": "r", "deltaContent": piece},
        },
        "copilot call": {
            "type": "assistant.tool_call_delta",
            "data": {"toolCallId": "c", "inputDelta": piece},
        },
        "gemini": {"type": "message", "role": "assistant", "content": piece, "delta": True},
        "cursor text": {"type": "assistant", "message": cursor, "session_id": "s", "timestamp_ms": 1},
        "cursor thought": {"type": "thinking", "subtype": "delta", "text": piece, "session_id": "s"},
        "acp prompt": {"method": "session/update", "params": {"sessionId": "s", "update": prompt}},
        "grok call": {
            "method": "_x.ai/session_notification",
            "params": {"sessionId": "s", "update": call},
        },
    }
    return shapes[name]


PIECES = ("text", "content", "delta", "deltaContent", "inputDelta", "arguments_delta")


def piece_of(value: object) -> str:
    """The one streamed text in a line."""
    if isinstance(value, dict):
        found = [value[name] for name in PIECES if isinstance(value.get(name), str)]
        return found[0] if found else "".join(piece_of(one) for one in value.values())
    return "".join(piece_of(one) for one in value) if isinstance(value, list) else ""


@pytest.mark.parametrize("kind", ["anthropic", "github", "jwt", "pem", "url"])
@for_each(
    "name",
    [
        *("codex text", "codex output", "codex thought", "opencode", "copilot text", "copilot thought"),
        *("copilot call", "gemini", "cursor text", "cursor thought", "acp prompt", "grok call"),
    ],
)
def test_a_secret_cut_by_an_agent_of_another_protocol_is_gone_from_every_piece(
    kind: str, name: str, tmp_path: Path
) -> None:
    text = f"The key is {SECRETS[kind]} and that is all."
    lines = [native(name, text[at : at + 5]) for at in range(0, len(text), 5)]
    content = b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in lines)
    clean = redacted(tmp_path, content).splitlines()
    joined = "".join(piece_of(json.loads(line)) for line in clean)
    assert CORES.get(kind, SECRETS[kind]) not in joined
    assert len(joined) == len(text)
    assert joined.startswith("The key is ")
    assert joined.endswith(" and that is all.")


def test_whole_texts_between_pieces_are_looked_at_by_themselves(tmp_path: Path) -> None:
    whole = {"role": "assistant", "content": [{"type": "text", "text": SECRETS["github"]}]}
    lines = [
        native("cursor text", "word"),
        {"type": "assistant", "message": whole, "timestamp_ms": 2, "model_call_id": "c", "session_id": "s"},
        {"type": "tool_call", "subtype": "started", "data": SECRETS["gitlab"], "timestamp_ms": 3},
        native("cursor text", "word"),
    ]
    content = b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in lines)
    clean = redacted(tmp_path, content)
    assert SECRETS["github"].encode() not in clean
    assert SECRETS["gitlab"].encode() not in clean
    assert clean.count(b'"word"') == 2


def test_the_same_secret_becomes_the_same_thing_everywhere(tmp_path: Path) -> None:
    secret = SECRETS["github"]
    first, second = redacted(tmp_path, user_line(secret) + user_line(f"again: {secret}")).splitlines()
    replaced = json.loads(first)["message"]["content"]
    assert replaced in json.loads(second)["message"]["content"]
    assert replaced.startswith("ghp_")


def keeps_what_is_no_secret(made: Recording, folder: Path) -> None:
    raw = made.stdout
    clean = redacted(folder, raw)
    assert len(clean) == len(raw)
    assert types(clean) == types(raw)
    for before, after in zip(raw.split(b"\n"), clean.split(b"\n"), strict=True):
        for name in ("uuid", "session_id", "tool_use_id"):
            assert identifier(before, name) == identifier(after, name)


@for_each("made", recordings(version="2.1.330")[::5])
def test_a_recording_keeps_its_events_its_size_and_its_ids(made: Recording, tmp_path: Path) -> None:
    keeps_what_is_no_secret(made, tmp_path)


@pytest.mark.long
@for_each("made", recordings(), by=lambda made: made.version)
def test_every_recording_keeps_its_events_its_size_and_its_ids(made: Recording, tmp_path: Path) -> None:
    keeps_what_is_no_secret(made, tmp_path)


def identifier(line: bytes, name: str) -> object:
    try:
        return json.loads(line).get(name)
    except ValueError:
        return None


def types(content: bytes) -> Counter[str]:
    translator = ClaudeCore()
    return Counter(
        event.type for line in content.split(b"\n") for event in translator.receive(decode(line), line)
    )


def rows(secret: str) -> dict[str, bytes]:
    """A row of each sort that turnwire's own recordings have, with a secret in it."""
    head = '{"ts":"2026-01-01T00:00:00.000000Z","protocol":"streamjson","agent":"a","event":'
    line = user_line(secret).decode().strip()
    odd = f"warning: {secret}"
    note = {"type": "notice", "kind": "k", "level": "info", "text": secret}
    decision = {"pending_id": "p", "behavior": "deny", "by": "ada", "waited_ms": 1, "message": secret}
    chunk = {"type": "message_chunk", "text": secret}
    encoded = base64.b64encode(odd.encode() + b" \xff\xfe").decode()
    return {
        "recv": f'{head}"recv","data":{line}}}\n'.encode(),
        "send": f'{head}"send","data":{line}}}\n'.encode(),
        "no json": f'{head}"recv","line":{json.dumps(odd)}}}\n'.encode(),
        "json in a string": f'{head}"recv","line":{json.dumps(line[:-1])}}}\n'.encode(),
        "no utf-8": f'{head}"recv","base64":"{encoded}"}}\n'.encode(),
        "note": f'{head}"note","data":{json.dumps(note)}}}\n'.encode(),
        "decision": f'{head}"decision","data":{json.dumps(decision)}}}\n'.encode(),
        "normalized": f'{head}"message_chunk","data":{json.dumps(chunk)}}}\n'.encode(),
    }


@for_each("kind", SECRETS)
@pytest.mark.parametrize("sort", rows(""))
def test_a_secret_in_a_row_of_a_recording_is_gone_and_the_row_is_read_as_before(
    kind: str, sort: str, tmp_path: Path
) -> None:
    row = rows(SECRETS[kind])[sort]
    clean = redacted(tmp_path, row)
    secret = CORES.get(kind, SECRETS[kind])
    assert secret.encode() not in clean
    assert secret.encode() not in base64.b64decode(json.loads(clean).get("base64", ""))
    assert len(clean) == len(row)
    if sort != "normalized":
        before = [type(timed.input) for timed in read(tmp_path / "in.jsonl")]
        assert [type(timed.input) for timed in read(tmp_path / "out.jsonl")] == before


def test_a_folder_is_copied_without_secrets_and_replays_to_the_same_events(tmp_path: Path) -> None:
    made = recording("2.1.330", "perm-allow")
    source, target = tmp_path / "in", tmp_path / "out"
    source.mkdir()
    for file in made.folder.iterdir():
        content = file.read_bytes()
        if file.name in {"stdout.jsonl", "stdin.jsonl"}:
            content = content.replace(b"touch", SECRETS["github"].encode())
        (source / file.name).write_bytes(content)
    (source / "stderr.txt").write_text(f"failed with {SECRETS['anthropic']}")
    redact_folder(source, target, Redaction(b"key"), lambda size: None)
    assert {file.name for file in target.iterdir()} == {file.name for file in source.iterdir()}
    for file in target.iterdir():
        assert file.stat().st_size == (source / file.name).stat().st_size
        assert SECRETS["github"].encode() not in file.read_bytes()
        assert SECRETS["anthropic"].encode() not in file.read_bytes()
    assert events_of(target) == events_of(source)
    (replaced,) = set(re.findall(rb"ghp_\w+", (target / "stdout.jsonl").read_bytes()))
    assert replaced in (target / "stdin.jsonl").read_bytes()


def events_of(path: Path) -> list[str]:
    translator = ClaudeCore()
    return [event.type for timed in read(path) for event in translator.handle(timed.input)]


@pytest.mark.long
def test_the_command_takes_a_file_or_a_folder_and_never_writes_over_anything(tmp_path: Path) -> None:
    folder = recording("2.1.330", "perm-allow").folder
    for source in (folder, folder / "stdout.jsonl"):
        target = tmp_path / f"copy of {source.name}"
        command = [*TURNWIRE, "redact", str(source), str(target)]
        env = environment(tmp_path / "home")
        first = subprocess.run(command, env=env, capture_output=True, timeout=DEADLINE, check=False)
        assert first.returncode == 0, first.stderr.decode()
        assert events_of(target) == events_of(source)
        again = subprocess.run(command, env=env, capture_output=True, timeout=DEADLINE, check=False)
        assert again.returncode == 1
        assert b"File exists" in again.stderr
