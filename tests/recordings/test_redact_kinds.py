"""Kinds of secrets, each in the places where a coding agent meets it.

No secret stands in this file: each is put together from pieces and drawn characters when the test runs.
"""

import base64
import json
import os
import random
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest
from drawn_secrets import ALPHABETS

from recordings import recordings
from turnwire.recordings.redaction.redact import redact_file
from turnwire.recordings.redaction.redaction import Redaction

SAYING_THEMSELVES = {
    "Anthropic": "sk-|ant-api03-{w40}",
    "Anthropic admin": "sk-|ant-admin01-{w40}",
    "OpenAI": "sk-|{a20}T3Blbk|FJ{a20}",
    "OpenAI project": "sk-|proj-{w48}",
    "OpenRouter": "sk-|or-v1-{h64}",
    "GitHub personal": "gh|p_{a36}",
    "GitHub OAuth": "gh|o_{a36}",
    "GitHub user": "gh|u_{a36}",
    "GitHub server": "gh|s_{a36}",
    "GitHub refresh": "gh|r_{a36}",
    "GitHub fine-grained": "github|_pat_{a22}_{a59}",
    "GitLab personal": "gl|pat-{a20}",
    "GitLab routable": "gl|pat-{a27}.{a2}.{a9}",
    "GitLab deploy": "gl|dt-{a20}",
    "GitLab runner": "gl|rt-{a20}",
    "GitLab runner registration": "GR|1348941{a20}",
    "GitLab CI job": "gl|cbt-{h2}_{a20}",
    "GitLab trigger": "gl|ptt-{h40}",
    "GitLab feed": "gl|ft-{a20}",
    "GitLab SCIM": "gl|soat-{a20}",
    "Slack bot": "xo|xb-{d12}-{d12}-{a24}",
    "Slack user": "xo|xp-{d12}-{d12}-{d12}-{h32}",
    "Slack configuration": "xo|xe-1-{u60}",
    "Slack app": "xa|pp-1-{u11}-{d13}-{h64}",
    "Slack webhook": "https://hooks.sl|ack.com/services/T{u9}/B{u9}/{a24}",
    "Discord bot": "M{a23}.{a6}.{a27}",
    "Discord webhook": "https://disc|ord.com/api/webhooks/{d18}/{w68}",
    "Teams webhook": "https://firm.webhook.off|ice.com/webhookb2/{uuid}@{uuid}/IncomingWebhook/{h32}/{uuid}",
    "Telegram bot": "{d9}:|AA{w33}",
    "AWS key id": "AK|IA{u16}",
    "AWS temporary key id": "AS|IA{u16}",
    "AWS Bedrock": "AB|SK{b96}",
    "AWS MWS": "amzn.|mws.{uuid}",
    "Google API": "AI|za{w35}",
    "Google OAuth": "ya|29.{w60}",
    "Google client secret": "GOC|SPX-{a28}",
    "Google refresh": "1//|0{w60}",
    "Azure client secret": "{a3}8|Q~{a34}",
    "Alibaba": "LT|AI{a20}",
    "DigitalOcean": "do|p_v1_{h64}",
    "Heroku": "HR|KU-{uuid}",
    "Cloudflare origin": "v1.|0-{h24}-{h146}",
    "Netlify": "nf|p_{a36}",
    "Vercel": "vc|p_{a56}",
    "Fly.io": "fm|2_{b80}",
    "Supabase": "sb|p_{h40}",
    "Supabase secret": "sb_|secret_{w31}",
    "PlanetScale": "pscale|_tkn_{w43}",
    "Neon": "na|pi_{l48}",
    "Databricks": "da|pi{h32}",
    "New Relic": "NR|AK-{u27}",
    "Grafana cloud": "gl|c_{b60}",
    "Grafana service account": "gl|sa_{a32}_{h8}",
    "Sentry": "sntr|yu_{h64}",
    "Honeycomb": "hca|ik_{l58}",
    "Dynatrace": "dt0|c01.{u24}.{u64}",
    "Vault": "hv|s.{w90}",
    "Vault batch": "hv|b.{w120}",
    "Terraform": "{a14}.atla|sv1.{w64}",
    "Pulumi": "pu|l-{h40}",
    "Doppler": "dp.|pt.{a43}",
    "1Password": "ops_|eyJ{b120}",
    "age": "AGE-SECRET|-KEY-1{u58}",
    "npm": "np|m_{a36}",
    "PyPI": "py|pi-AgEIcHlwaS5vcmc{w80}",
    "RubyGems": "rubyg|ems_{h48}",
    "crates.io": "ci|o{a32}",
    "Docker Hub": "dckr|_pat_{w27}",
    "Clojars": "CLOJ|ARS_{l60}",
    "Artifactory": "AK|Cp{a69}",
    "SonarQube": "sq|u_{h40}",
    "CircleCI": "CCI|PAT_{a22}_{h40}",
    "Buildkite": "bk|ua_{h40}",
    "Atlassian": "ATA|TT3xFfGF0{w170}",
    "Bitbucket": "AT|BB{a32}",
    "Linear": "lin|_api_{a40}",
    "Notion": "nt|n_{d11}{a35}",
    "Airtable": "pa|t{a14}.{h64}",
    "Figma": "fi|gd_{w40}",
    "Postman": "PM|AK-{h24}-{h34}",
    "Typeform": "tf|p_{w59}",
    "Contentful": "CF|PAT-{w43}",
    "Dropbox": "sl|.B{w130}",
    "LaunchDarkly": "sd|k-{uuid}",
    "PostHog": "ph|x_{a43}",
    "Mapbox": "sk.|eyJ{a60}.{w22}",
    "Facebook": "EA|AG{a100}",
    "Twitter bearer": "AAAAAAAAAAAAAAAAA|AAAAA{a80}",
    "Hugging Face": "h|f_{a34}",
    "Replicate": "r|8_{a37}",
    "Groq": "gs|k_{a52}",
    "xAI": "xa|i-{a80}",
    "Perplexity": "pp|lx-{a48}",
    "LangSmith": "lsv2|_pt_{h32}_{h10}",
    "Pinecone": "pc|sk_{a6}_{a63}",
    "Tavily": "tv|ly-{a32}",
    "Stripe": "sk|_live_{a24}",
    "Stripe restricted": "rk|_live_{a24}",
    "Stripe webhook": "wh|sec_{a32}",
    "ElevenLabs": "s|k_{h48}",
    "Square": "sq0|csp-{w43}",
    "Square access": "EA|AA{w60}",
    "Braintree": "access|_token$production${l16}${h32}",
    "Plaid": "access|-sandbox-{uuid}",
    "Shopify": "shp|at_{h32}",
    "Shopify shared secret": "shp|ss_{h32}",
    "SendGrid": "S|G.{w22}.{w43}",
    "Brevo": "xkey|sib-{h64}-{a16}",
    "Mailgun": "ke|y-{h32}",
    "Mailgun newer": "{h32}-{h8}-{h8}",
    "Mailchimp": "{h32}-u|s21",
    "Twilio account": "A|C{h32}",
    "Twilio API": "S|K{h32}",
    "EasyPost": "EZ|AK{a54}",
    "Shippo": "shippo|_live_{h40}",
    "Duffel": "duffel|_live_{w43}",
    "Flutterwave": "FLWS|ECK-{h32}-X",
    "Razorpay": "rzp|_live_{a14}",
    "WooCommerce": "c|k_{h40}",
    "Prefect": "pn|u_{a36}",
    "Scaleway": "SC|W{u17}",
    "Tailscale": "ts|key-auth-{a16}-{a32}",
    "JSON web token": "ey|J{a34}.eyJ{a60}.{w43}",
    "1Password secret key": "A3|-{u6}-{u11}-{u5}-{u5}-{u5}",
    "Adobe": "p8|e-{h32}",
    "Authress": "sc|_{l10}.{l6}.acc-{l12}.{a40}",
    "ClickHouse": "4b|1d{a38}",
    "Defined Networking": "dnk|ey-{w26}-{w52}",
    "Flutterwave test": "FLWS|ECK_TEST-{h12}",
    "GoCardless": "live|_{w40}",
    "Harness": "pa|t.{a22}.{h24}.{a20}",
    "Infracost": "ic|o-{a32}",
    "42": "s-s|4t2ud-{h64}",
    "Mapbox public": "p|k.{l60}.{l22}",
    "MaxMind": "{a6}_{a29}_m|mk",
    "NuGet": "oy|2{l43}",
    "Octopus Deploy": "AP|I-{u26}",
    "OpenShift": "sha|256~{w43}",
    "Scalingo": "tk|-us-{w48}",
    "SettleMint": "sm|_aat_{a16}",
    "Sourcegraph": "sg|p_{h16}_{h40}",
    "Yandex token": "t1|.{a80}=.{w86}=",
    "Yandex access key": "Y|C{w38}",
    "bcrypt hash": "$2|b$12${a53}",
    "shadow hash": "$6|${a16}${a86}",
}
"""Pieces of a secret; {h32} is 32 characters drawn from an alphabet, | only keeps it from being written down whole."""

IN_THEIR_PLACE = {
    "AWS secret key": ("aws_secret_access_key = {}", "{b40}"),
    "Azure storage": (
        "DefaultEndpointsProtocol=https;AccountName=a;AccountKey={};EndpointSuffix=x",
        "{b86}==",
    ),
    "Azure SAS": ("https://a.blob.core.windows.net/c?sv=2024-11-04&sp=r&sig={}", "{a43}%3D"),
    "Azure service bus": (
        "Endpoint=sb://a.servicebus.windows.net/;SharedAccessKeyName=r;SharedAccessKey={}",
        "{b43}=",
    ),
    "Azure function": ("https://a.azurewebsites.net/api/f?code={}", "{w54}=="),
    "signed S3 URL": ("https://b.s3.amazonaws.com/k?X-Amz-Expires=60&X-Amz-Signature={}", "{h64}"),
    "Twilio auth token": ("TWILIO_AUTH_TOKEN={}", "{h32}"),
    "Datadog": ("DD_API_KEY={}", "{h32}"),
    "Datadog header": ("curl -H 'DD-APPLICATION-KEY: {}' https://api.example", "{h40}"),
    "Okta": ("Authorization: SSWS x, OKTA_CLIENT_TOKEN={}", "00{w40}"),
    "Algolia": ("algolia_admin_key: {}", "{h32}"),
    "Cloudflare": ("CLOUDFLARE_API_TOKEN={}", "{w40}"),
    "Fastly": ("Fastly-Key: {}", "{w32}"),
    "GitLab header": ("PRIVATE-TOKEN: {}", "{w20}"),
    "Vault header": ("X-Vault-Token: {}", "{a26}"),
    "bearer": ("Authorization: Bearer {}", "{w40}"),
    "basic": ("Authorization: Basic {}", "{b40}"),
    "cookie": ("Cookie: theme=dark; sid={}", "{h32}"),
    "kubeconfig": ("    client-key-data: {}", "{b200}"),
    "npmrc": ("//registry.npmjs.org/:_authToken={}", "{uuid}"),
    "docker config": ('{{"auths":{{"r.example":{{"auth":"{}"}}}}}}', "{b40}"),
    "password in YAML": ("  password: {}", "{a12}"),
    "password in code": ("connect(host, password='{}')", "{a12}"),
    "password in JavaScript": ("const config = {{ apiKey: `{}` }}", "{a24}"),
    "password option": ("tool --db-password {} --verbose", "{a12}"),
    "token option": ("tool --api-token={} up", "{a20}"),
    "mysql": ("mysql -u root -p{} shop", "{a12}"),
    "redis": ("redis-cli -h cache -a {} ping", "{a16}"),
    "sshpass": ("sshpass -p {} ssh root@host", "{a12}"),
    "docker login": ("docker login -u me -p {} r.example", "{a16}"),
    "openssl": ("openssl rsa -in k -passin pass:{}", "{a12}"),
    "SQL": ("CREATE USER a IDENTIFIED BY '{}'", "{a12}"),
    "pgpass": ("db.internal:5432:shop:admin:{}", "{a16}"),
    "WireGuard": ("PrivateKey = {}", "{b43}="),
    "JSON web key": ('{{"kty":"EC","crv":"P-256","d":"{}"}}', "{w43}"),
    "Ethereum": ("private key: 0x{}", "{h64}"),
    "private key": (
        "-----BEGIN RSA PRI|VATE KEY-----\n{}\n-----END RSA PRI|VATE KEY-----",
        "{b64}\n{b64}\n{b30}==",
    ),
    "OpenSSH key": (
        "-----BEGIN OPENSSH PRI|VATE KEY-----\n{}\n-----END OPENSSH PRI|VATE KEY-----",
        "{b70}\n{b70}\n{b20}=",
    ),
    "PGP key": (
        "-----BEGIN PGP PRI|VATE KEY BLOCK-----\nVersion: x\n\n{}\n-----END PGP PRI|VATE KEY BLOCK-----",
        "{b64}\n{b64}\n=Ab1d",
    ),
    "PuTTY key": (
        "PuTTY-User-Key-File-3: ssh-ed25519\nPublic-Lines: 1\nAAAA\nPrivate-Lines: 2\n{}\nPrivate-MAC: 00",
        "{b64}\n{b36}",
    ),
    "private key half read": ("     1\t-----BEGIN PRI|VATE KEY-----\n     2\t{}", "{b64}\n     3\t{b64}"),
}
"""What introduces a secret, and its pieces."""

KINDS = [*SAYING_THEMSELVES, *IN_THEIR_PLACE]


def drawn(kind: str) -> tuple[str, str, list[str]]:
    """The text around a secret, the secret, and the parts of it that must not be seen."""
    around, template = IN_THEIR_PLACE.get(kind) or ("{}", SAYING_THEMSELVES[kind])
    chance = random.Random(kind)
    parts: list[str] = []

    def draw(found: re.Match[str]) -> str:
        if found[0] == "{uuid}":
            digits = "".join(chance.choices(ALPHABETS["h"], k=32))
            part = "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
        else:
            alphabet, size = ALPHABETS[found[1]], int(found[2])
            part = "".join(chance.choices(alphabet, k=size - 1)) + ("7" if "7" in alphabet else "q")
        if len(part) >= 9:
            parts.append(part)
        return part

    secret = re.sub(r"\{(?:uuid|([a-z])(\d+))\}", draw, template.replace("|", ""))
    return around.replace("|", ""), secret, parts


def said(text: str) -> list[object]:
    return [
        {
            "type": "user",
            "message": {"role": "user", "content": [{"type": "text", "text": text}]},
            "uuid": "u",
        }
    ]


def escaped(text: str) -> str:
    """As JSON may write it: every third character, and all punctuation, by its number."""
    return "".join(
        f"\\u{ord(one):04x}" if at % 3 == 0 or not one.isalnum() else one for at, one in enumerate(text)
    )


def deltas(field: str, text: str, size: int) -> list[object]:
    kind = {"text": "text_delta", "partial_json": "input_json_delta"}[field]
    lines: list[object] = [{"type": "stream_event", "event": {"type": "content_block_start", "index": 0}}]
    for at in range(0, len(text), size):
        delta = {"type": kind, field: text[at : at + size]}
        lines.append(
            {"type": "stream_event", "event": {"type": "content_block_delta", "index": 0, "delta": delta}}
        )
    return lines


def called(command: str) -> list[object]:
    use = {"type": "tool_use", "id": "toolu_01", "name": "Bash", "input": {"command": command}}
    return [{"type": "assistant", "message": {"id": "msg_01", "content": [use]}}]


ANYWHERE: dict[str, Callable[[str, str], list[object] | str]] = {
    "plain": lambda text, _: said(f"here it is:\n{text}\nthank you"),
    "JSON": lambda text, _: said(json.dumps({"content": text, "n": 1})),
    "JSON in JSON": lambda text, _: said(json.dumps({"line": json.dumps({"content": text})})),
    "escaped": lambda text, _: '{"type":"user","content":"' + escaped(text) + '"}\n',
    "escaped in a string": lambda text, _: said('echo "{\\"a\\": \\"' + escaped(text) + '\\"}" >x'),
    "text in pieces": lambda text, _: deltas("text", f"so {text} .", 5),
    "arguments in pieces": lambda text, _: deltas(
        "partial_json", json.dumps({"command": f"echo {text} "}), 4
    ),
    "command": lambda text, _: called(f"cat <<EOF >config\n{text}\nEOF\nmake"),
    "base64": lambda text, _: said(f"echo {base64.b64encode(text.encode()).decode()} | base64 -d"),
    "URL-encoded": lambda text, _: said(f"GET /form?q={quote(text, safe='')}&n=1"),
}
"""Contexts that a whole text fits into."""

AS_A_PASSWORD: dict[str, Callable[[str, str], list[object] | str]] = {
    "env file": lambda _, secret: said(f"# settings\nDEBUG=1\nexport MY_SECRET={secret}\nPORT=80\n"),
    "env file that was read": lambda _, secret: said(
        f"     1→DEBUG=1\n     2→SERVICE_TOKEN={secret}\n     3→PORT=80"
    ),
    "netrc": lambda _, secret: called(
        f"cat >~/.netrc <<E\nmachine api.example login me password {secret}\nE"
    ),
    "netrc in lines": lambda _, secret: said(f"machine api.example\n  login me\n  password {secret}\n"),
    "curl": lambda _, secret: called(f"curl -s -u 'me:{secret}' https://api.example/x"),
    "curl long": lambda _, secret: called(f"curl \\\n  --user me:{secret} https://api.example/x"),
    "arguments of curl": lambda _, secret: [{"argv": ["curl", "-u", f"me:{secret}", "https://api.example"]}],
    "URL": lambda _, secret: called(f"git clone https://me:{quote(secret, safe='')}@git.example/a.git"),
    "JSON key": lambda _, secret: [{"env": {"SERVICE_PASSWORD": secret}, "count": 3}],
    "name and value": lambda _, secret: [{"env": [{"name": "SERVICE_PASSWORD", "value": secret}]}],
    "option": lambda _, secret: called(f"deploy --token '{secret}' --now"),
    "header": lambda _, secret: called(f'curl -H "X-Api-Key: {secret}" https://api.example'),
}
"""Contexts that give any secret away."""


def seen(content: bytes) -> str:
    """All that a reader of the copy could find: the text as it is, and without its escapes, however deep."""
    text = content.decode()
    lines = [json.loads(line) for line in text.splitlines()]
    pieces = [
        line["event"]["delta"]
        for line in lines
        if isinstance(line, dict) and "delta" in line.get("event", {})
    ]
    readings = [text, "".join(piece.get("text", "") + piece.get("partial_json", "") for piece in pieces)]
    for _ in range(4):
        text = re.sub(r"\\u([0-9a-f]{4})", lambda found: chr(int(found[1], 16)), text).replace("\\\\", "\\")
        readings.append(text)
    encoded = re.findall(r"[A-Za-z0-9+/]{16,}={0,2}", readings[0])
    readings += [base64.b64decode(found).decode("latin-1") for found in encoded if len(found) % 4 == 0]
    for reading in list(readings):
        readings.append(re.sub(r"%([0-9A-Fa-f]{2})", lambda found: chr(int(found[1], 16)), reading))
        readings.append(reading.replace("\\n", "\n").replace("\\/", "/"))
    return "\n\n".join(readings)


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=pytest.mark.long if number % 3 else ())
        for number, kind in enumerate(KINDS)
        if number % 3 < 2 or "TURNWIRE_EXPLORE" in os.environ
    ],
)
def test_a_kind_of_secret_is_found_wherever_it_stands(kind: str, tmp_path: Path) -> None:
    around, secret, parts = drawn(kind)
    assert parts, "nothing would be looked for"
    contexts = dict(ANYWHERE)
    if "\n" not in secret:
        contexts |= AS_A_PASSWORD
    left: dict[str, list[str]] = {}
    for number, (name, context) in enumerate(contexts.items()):
        made = context(around.format(secret), secret)
        content = (
            made
            if isinstance(made, str)
            else "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in made)
        )
        source, target = tmp_path / f"{number}.in", tmp_path / f"{number}.out"
        source.write_text(content)
        redact_file(source, target, Redaction(b"key"), lambda size: None)
        clean = target.read_bytes()
        assert len(clean) == len(content.encode()), name
        found = seen(clean)
        if still := [part for piece in parts for part in piece.split("\n") if part in found]:
            left[name] = still
    assert not left


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        ("/root/.claude/projects/-Users-heron/a.jsonl", True),
        ("/root/.claude/projects/-home-heron", True),
        ("C--Users-heron\\\\a.jsonl", True),
        ("-Users-heron-ferns", True),
        ("serve --home-heron /srv", False),
        ("at-home-heron", False),
    ],
)
def test_the_name_of_a_home_is_found_in_the_name_of_a_projects_folder(text: str, is_found: bool) -> None:
    said = Redaction(b"key").apply(json.dumps({"cwd": text}))
    assert ("heron" not in said) == is_found


def test_the_table_has_as_many_kinds_as_the_docs_say() -> None:
    assert len(KINDS) >= 150


@pytest.mark.long
def test_nothing_but_home_directories_is_replaced_in_the_recordings() -> None:
    redaction = Redaction(b"key")
    for made in recordings():
        for line in made.stdout.decode("utf-8", "surrogateescape").split("\n"):
            redaction.apply(line)
    assert set(redaction.counts) <= {"home directory"}


INNOCENT = [
    "123e4567-e89b-42d3-a456-426614174000",
    "commit 4c83ea9f0d2b7a6e5c4b3a29181706f5e4d3c2b1 (HEAD -> main, tag: v1.2.3)",
    "index 83db48f..bf2a9c1 100644",
    "msg_01XFDUDYJgAACzvnptvVoYEL toolu_01A09q90qw90lq917835lq9 req_011CSHoEeqs5C35K2UUqR7Fy",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "token = tokenizer.next_token(); password = getpass.getpass('Password: ')",
    "def login(user: str, password: str, token: Token | None = None) -> None: ...",
    "api_key = os.environ['ANTHROPIC_API_KEY']",
    'headers={"Authorization": f"Bearer {token}"}',
    "PASSWORD=$PASSWORD docker compose up; echo ${API_KEY} {{ secrets.TOKEN }} <your-token-here>",
    '{"input_tokens":120,"output_tokens":4096,"cache_key":"v3-linux-x64-9f86d081884c7d659a2f"}',
    '{"apiKeySource":"ANTHROPIC_API_KEY","token_type":"bearer","tokens":128}',
    "npm install lodash@4.17.21 @types/node@22.1.0 && git clone git@github.com:org/repo.git",
    "https://example.org:8080/path@v2?sort=key&page=2#L10-L20 http://localhost:3000/",
    "-----BEGIN PRIVATE KEY----- is the first line of such a file, and what follows stays",
    "class AuthProvider: key: str = 'primary'; author='Ada Lovelace'; tokens: list[str] = []",
    "sk-estimator-html-document-link-here hf_hub_download npm_config_registry pat_rules",
    "{the door is not json}",
    "İstanbul'a hoş geldiniz",
    'password="ask the owner"',
    "secret='~/.config/app/secret1'",
    'password = "wrong_password"',
    "token: '1234567890'",
    "client_secret: 'no_secret_here'",
    "SELECT password FROM users WHERE token IS NOT NULL AND secret = ?",
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
]


@pytest.mark.parametrize("text", INNOCENT)
def test_what_is_no_secret_stays_as_it_is(text: str) -> None:
    line = json.dumps(said(text)[0])
    redaction = Redaction(b"key")
    assert redaction.apply(text) == text
    assert redaction.apply(line) == line
    assert redaction.counts == {}


@pytest.mark.long
@pytest.mark.parametrize(
    "unit",
    [
        "docker login ",
        "key=",
        "$2a$",
        "sk-",
        "://a:",
        "curl -",
        "-----BEGIN PRIVATE KEY-----",
        "\\",
        "a@a.",
        "%41",
    ],
)
def test_a_text_of_nothing_but_beginnings_is_read_to_its_end(unit: str) -> None:
    """A pattern that tried the same text from each of its places would not come back."""
    text = unit * (3_000_000 // len(unit))
    assert len(Redaction(b"key").apply(text)) == len(text)


def test_a_large_file_in_base64_that_only_begins_as_text_is_left() -> None:
    compressed = b"%PDF-1.4\n% more text" + random.Random(7).randbytes(6_000) + b" password=hunter2hunter2 "
    line = json.dumps([base64.b64encode(compressed).decode()])
    assert Redaction(b"key").apply(line) == line
    german = b"password=hunter2hunter2 \x1b[31m" + "gr\u00fc\u00dfe ".encode("latin-1") * 1_000
    line = json.dumps([base64.b64encode(german).decode()])
    assert Redaction(b"key").apply(line) != line


@pytest.mark.long
def test_a_line_of_ten_megabytes_is_read(tmp_path: Path) -> None:
    around, secret, parts = drawn("GitHub personal")
    image = base64.b64encode(random.Random(7).randbytes(6_000_000)).decode()
    code = "def f(token: str) -> str:\n    return tokens[token] + 'x'  # key\n" * 30_000
    line = json.dumps({"type": "user", "message": {"content": [image, code, around.format(secret)]}}) + "\n"
    source, target = tmp_path / "in", tmp_path / "out"
    source.write_text(line)
    redact_file(source, target, Redaction(b"key"), lambda size: None)
    clean = target.read_text()
    assert len(clean) == len(line)
    before, after = json.loads(line)["message"]["content"], json.loads(clean)["message"]["content"]
    assert before[:2] == after[:2]
    assert parts[0] not in clean


def test_a_private_key_on_standard_error_is_gone_from_all_its_lines(tmp_path: Path) -> None:
    around, secret, parts = drawn("OpenSSH key")
    (tmp_path / "in").write_text(f"failed with\n{around.format(secret)}\nbye\n")
    assert redact_file(tmp_path / "in", tmp_path / "out", Redaction(b"key"), lambda size: None) == 7
    clean = (tmp_path / "out").read_text()
    assert not [part for part in parts if part in clean]
    assert clean.startswith("failed with\n-----BEGIN")
    assert clean.endswith("-----\nbye\n")
