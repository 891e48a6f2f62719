"""What hides a secret or stands beside it: one example of each, quick enough for every run."""

import json

import pytest
from drawn_secrets import drawn

from turnwire.recordings.redaction.redaction import Redaction

HIDDEN = {
    "an escape spelt out": "^[[32mghp_{a36}^[[0m",
    "a colour that lost its escape": "[1;32mghp_{a36}[0m",
    "cells of a table whose colours are spelt out": (
        "Access key ID,Secret access key\n\\x1b[32mAKIA{u16}\\x1b[0m,\\x1b[32m{b40}\\x1b[0m\n"
    ),
    "tags within": 'api_token: <span class="s">{a24}</span>',
    "a soft end of a line": "token=3Dghp_{a18}=\n{a18}",
    "a name with a tail in capitals": 'echo "SECRET_KEY_BASE={h64}"',
    "a name that ends in Pass": 'smtpPass: "{a12}"',
    "a value of letters alone": "SERVICE_TOKEN: kVbQrZtxPGmlMJIgPOKmEycR{l8}",
    "a line of settings without a sign": "storePassword '{a16}'",
    "the mark of a change": "\n+5{s50}\n",
    "a login in one word": "curl -uada:{a16} https://api.example",
    "a here-string": "gh secret set DEPLOY <<< {a24}",
    "an option before the secret": "vault kv put -mount=secret app a={a24}",
    "a key of SSH's own format": "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\n{b64}\n---- END SSH2 ENCRYPTED PRIVATE KEY ----",
}


@pytest.mark.parametrize("hidden", HIDDEN)
def test_what_hides_a_secret_does_not_keep_it(hidden: str) -> None:
    text, parts = drawn(HIDDEN[hidden], hidden)
    clean = Redaction(b"key").apply(text)
    assert len(clean) == len(text)
    assert not [part for part in parts if part in clean]


@pytest.mark.parametrize(
    "text",
    [
        "docker login -u me --password-stdin\nthank you",
        "net use Z: /user:ada\nthank you",
        "first[1]m = rows[12] and x[0]",
        "def f(signature=parsed_signature, getUserTokenFromHeader=None): ...",
        "token = getUserTokenFromTheHeader",
        "the compass=north and bypass=always",
    ],
)
def test_what_only_looks_like_a_hidden_secret_stays(text: str) -> None:
    assert Redaction(b"key").apply(text) == text


def test_layers_of_a_large_text_are_read_a_bounded_number_of_times(monkeypatch: pytest.MonkeyPatch) -> None:
    # the layers were read again in every order in which they can be taken off
    read = []
    whole = Redaction._scan

    def scan(redaction: Redaction, text: str) -> str:
        read.append(len(text))
        return whole(redaction, text)

    monkeypatch.setattr(Redaction, "_scan", scan)
    text = ("\\x41 %41 &#65; =3D </b> \x1b[1m =\n" + "word " * 20) * 140
    Redaction(b"key").apply(text)
    assert sum(read) < 30 * len(text)


def test_a_private_key_in_json_within_text_leaves_json_valid() -> None:
    text, parts = drawn("-----BEGIN PRIVATE KEY-----\n{b64}\n{b64}\n-----END PRIVATE KEY-----", "key")
    line = json.dumps(json.dumps({"a": text}))
    clean = Redaction(b"key").apply(f"here it is:\n{line}\nthank you")
    read = json.loads(json.loads(clean.split("\n")[1]))["a"]
    assert read.startswith("-----BEGIN PRIVATE KEY-----\nxxxx")
    assert not [part for part in parts if part in read]
