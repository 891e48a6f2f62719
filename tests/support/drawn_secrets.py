"""Secrets drawn from templates, so that none is written down; the notations they stand in, and the forms these are met in."""

import base64
import html
import json
import quopri
import random
import re
import string
import textwrap
from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import quote, quote_plus, unquote, unquote_plus

ALPHABETS = {
    "a": string.ascii_letters + string.digits,
    "b": string.ascii_letters + string.digits + "+/",
    "c": string.ascii_lowercase,
    "d": string.digits,
    "h": "0123456789abcdef",
    "l": string.ascii_lowercase + string.digits,
    "r": "023456789acdefghjklmnpqrstuvwxyz",
    "s": "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
    "t": string.ascii_uppercase + "234567",
    "u": string.ascii_uppercase + string.digits,
    "w": string.ascii_letters + string.digits + "_-",
}
SHORTEST = 7
"""Characters of a part of a secret that must not be seen: of less, words may be made."""


def drawn(template: str, seed: str) -> tuple[str, list[str]]:
    """Return a text and the parts of it that must not be seen; `{h32}` is 32 characters of an alphabet, `|` is left out."""
    chance = random.Random(seed)
    parts: list[str] = []

    def draw(found: re.Match[str]) -> str:
        if found[0] == "{uuid}":
            digits = "".join(chance.choices(ALPHABETS["h"], k=32))
            part = "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
        else:
            alphabet, size = ALPHABETS[found[1]], int(found[2])
            part = "".join(chance.choices(alphabet, k=size - 1)) + ("7" if "7" in alphabet else "q")
        if len(part) >= SHORTEST:
            parts.append(part)
        return part

    return re.sub(r"\{(?:uuid|([a-z])(\d+))\}", draw, template), parts


class Form(NamedTuple):
    """How a text is met: written so, and read again."""

    write: Callable[[str], str]
    read: Callable[[str], str]


def _coloured(text: str) -> str:
    return re.sub(r"[A-Za-z0-9_\-+/=.~$]{9,}", lambda found: f"\x1b[1;32m{found[0]}\x1b[0m", text)


def _marked(text: str) -> str:
    """As `grep --color` shows a hit in the middle of a word."""
    return re.sub(
        r"(?<=[A-Za-z0-9_\-]{3})([A-Za-z0-9_\-]{3})(?=[A-Za-z0-9_\-]{6})", "\x1b[01;31m\\1\x1b[m", text
    )


def _plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def _spelt(text: str) -> str:
    return re.sub(r"\^\[\[[0-9;]*m", "", text)


def _lost(text: str) -> str:
    return re.sub(r"\[(?:\d+(?:;\d+)*)?m", "", text)


def _tagged(text: str) -> str:
    return re.sub(r"[A-Za-z0-9_\-+/=.~$]{9,}", lambda found: f'<span class="s">{found[0]}</span>', text)


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _unbase64(text: str) -> str:
    plain = re.sub(r"\s", "", text).replace("-", "+").replace("_", "/")
    return base64.b64decode(plain + "=" * (-len(plain) % 4)).decode()


def _unescaped(text: str) -> str:
    return re.sub(r"\\(?:u|x)([0-9a-f]{4}|[0-9a-f]{2})", lambda found: chr(int(found[1], 16)), text)


FORMS: dict[str, Form] = {
    "plain": Form(str, str),
    "coloured": Form(_coloured, _plain),
    "coloured in the middle": Form(_marked, _plain),
    "coloured, `^[` for the escape": Form(lambda text: _coloured(text).replace("\x1b", "^["), _spelt),
    "coloured, the escape lost": Form(lambda text: _coloured(text).replace("\x1b", ""), _lost),
    "JSON string": Form(json.dumps, json.loads),
    "JSON in JSON": Form(
        lambda text: json.dumps(json.dumps({"a": text})), lambda text: json.loads(json.loads(text))["a"]
    ),
    "`\\u0041`": Form(lambda text: "".join(f"\\u{ord(one):04x}" for one in text), _unescaped),
    "`\\x41`": Form(lambda text: "".join(f"\\x{ord(one):02x}" for one in text), _unescaped),
    "percent-encoded": Form(lambda text: quote(text, safe=""), unquote),
    "percent-encoded twice": Form(
        lambda text: quote(quote(text, safe=""), safe=""), lambda text: unquote(unquote(text))
    ),
    "form-encoded": Form(lambda text: f"q={quote_plus(text)}", lambda text: unquote_plus(text[2:])),
    "HTML": Form(html.escape, html.unescape),
    "highlighted in HTML": Form(
        _tagged, lambda text: text.replace('<span class="s">', "").replace("</span>", "")
    ),
    "quoted-printable": Form(
        lambda text: quopri.encodestring(text.encode()).decode(),
        lambda text: quopri.decodestring(text.encode()).decode(),
    ),
    "HTML by numbers": Form(lambda text: "".join(f"&#{ord(one)};" for one in text), html.unescape),
    "base64": Form(_base64, _unbase64),
    "base64 of URLs": Form(
        lambda text: base64.urlsafe_b64encode(text.encode()).decode().rstrip("="), _unbase64
    ),
    "base64, wrapped": Form(lambda text: "\n".join(textwrap.wrap(_base64(text), 76)), _unbase64),
    "base64, wrapped narrowly": Form(lambda text: "\r\n".join(textwrap.wrap(_base64(text), 32)), _unbase64),
    "base64 of JSON": Form(
        lambda text: _base64(json.dumps({"a": text})), lambda text: str(json.loads(_unbase64(text))["a"])
    ),
    "hexadecimal": Form(lambda text: text.encode().hex(), lambda text: bytes.fromhex(text).decode()),
    "hexadecimal, wrapped": Form(
        lambda text: "\n".join(textwrap.wrap(text.encode().hex(), 60)),
        lambda text: bytes.fromhex(text).decode(),
    ),
}
"""A text of ASCII, as it is met."""

NOTATIONS: dict[str, str] = {
    "env file": "API_SECRET={}",
    "shell": "export DB_PASSWORD='{}'",
    "fish": "set -gx API_SECRET {}",
    "csh": "setenv API_SECRET {}",
    "cmd": "set API_SECRET={}",
    "setx": "setx API_SECRET {}",
    "PowerShell": '$env:API_SECRET = "{}"',
    "PowerShell call": '[Environment]::SetEnvironmentVariable("API_SECRET", "{}")',
    "Dockerfile": "ENV API_SECRET {}",
    "Dockerfile ARG": "ARG NPM_TOKEN={}",
    "docker": "docker run -e API_SECRET={} image",
    "Compose": "    environment:\n      - API_SECRET={}",
    "YAML": "api_token: {}",
    "YAML, quoted": 'apiToken: "{}"',
    "YAML block": "token: |\n  {}\n",
    "Kubernetes": "- name: API_TOKEN\n  value: {}\n",
    "Kubernetes, quoted": '        - name: "DB_PASSWORD"\n          value: "{}"\n',
    "Kubernetes flow": "- {{name: API_TOKEN, value: {}}}",
    "Helm": "helm install a --set auth.password={}",
    "TOML": 'api-key = "{}"',
    "INI": "[db]\npassword = {}\n",
    "properties": "spring.datasource.password={}",
    "HCL": 'variable "db_password" {{\n  default = "{}"\n}}\npassword = "{}"',
    "JSON": '{{"clientSecret": "{}"}}',
    "JSON list": '{{"name":"API_TOKEN","value":"{}"}}',
    "XML": "<password>{}</password>",
    "XML attribute": '<add key="ApiKey" value="{}"/>',
    "XML property": '<property name="db.password" value="{}"/>',
    "XML attribute by name": '<db user="sa" password="{}"/>',
    "Android": '<string name="api_key">{}</string>',
    "plist": "<key>apiToken</key>\n\t<string>{}</string>",
    "Maven": "<server><id>a</id><username>b</username><password>{}</password></server>",
    "Python": 'API_TOKEN = "{}"',
    "Python, typed": 'token: str = "{}"',
    "Python, bytes": "SECRET_KEY = b'{}'",
    "Python dict": "os.environ['API_TOKEN'] = '{}'",
    "Python call": 'Client(api_key="{}")',
    "Python comparison": 'if token == "{}":',
    "JavaScript": "const apiKey = '{}';",
    "JavaScript object": "  accessToken: `{}`,",
    "TypeScript": 'private readonly apiSecret: string = "{}";',
    "Go": 'apiToken := "{}"',
    "Go const": 'const apiToken = "{}"',
    "Go typed": 'var apiToken string = "{}"',
    "Rust": 'let api_key: &str = "{}";',
    "Rust const": 'const API_KEY: &\'static str = "{}";',
    "Rust String": 'let token = String::from("{}");',
    "Java": 'private static final String API_SECRET = "{}";',
    "Java builder": '.password("{}")',
    "Java setter": 'config.setApiKey("{}");',
    "Java map": 'map.put("apiKey", "{}");',
    "Kotlin": 'val accessToken = "{}"',
    "Scala": '"password" -> "{}"',
    "Swift": 'let apiKey = "{}"',
    "Swift typed": 'let apiKey: String = "{}"',
    "Objective-C": 'NSString *apiKey = @"{}";',
    "C": '#define API_KEY "{}"',
    "C array": 'static const char password[] = "{}";',
    "C++": 'std::string api_key{{"{}"}};',
    "C#": 'var clientSecret = @"{}";',
    "connection string": "Server=db;User Id=sa;Password={};Encrypt=yes",
    "JDBC": "jdbc:mysql://db/shop?user=me&password={}",
    "PHP": "define('DB_PASSWORD', '{}');",
    "PHP array": "'password' => '{}',",
    "PHP property": "$this->apiKey = '{}';",
    "Ruby": 'secret_token: "{}"',
    "Ruby hash": ':api_key => "{}"',
    "Perl": 'my $password = "{}";',
    "Lua": 'local token = "{}"',
    "R": 'api_key <- "{}"',
    "Elixir": '  secret_key_base: "{}"',
    "Erlang": '{{secret_key, "{}"}}.',
    "Haskell": 'apiToken = "{}"',
    "Clojure": '{{:api-key "{}"}}',
    "Emacs": '(setq api-token "{}")',
    "Make": "API_TOKEN ?= {}",
    "Terraform variables": 'db_password="{}"',
    "systemd": 'Environment="API_TOKEN={}"',
    "GitHub Actions": "        API_TOKEN: {}",
    "gh": "gh secret set DEPLOY --body {}",
    "gh, short": 'gh secret set DEPLOY -b"{}"',
    "vault": "vault kv put secret/app value={}",
    "vault, two": "vault kv put secret/app user=me pin={}",
    "kubectl": "kubectl create secret generic a --from-literal=app={}",
    "fly": "fly secrets set APP={}",
    "heroku": "heroku config:set API_TOKEN={}",
    "aws configure": "aws configure set aws_secret_access_key {}",
    "wrangler": "echo {} | wrangler secret put APP",
    "sudo": "echo '{}' | sudo -S apt update",
    "docker login": "echo {} | docker login -u me --password-stdin",
    "option": "tool --db-password {} --verbose",
    "option with a sign": "tool --token={}",
    "header": "curl -H 'X-Api-Key: {}' https://api.example",
    "header in code": 'headers.set("X-Auth-Token", "{}")',
    "query": "https://api.example/v1?api_key={}&n=1",
    "URL": "https://me:{}@git.example/a.git",
    "netrc": "machine api.example login me password {}",
    "npmrc": "//registry.example/:_authToken={}",
    "pypirc": "[pypi]\nusername = __token__\npassword = {}",
    "redis.conf": "requirepass {}",
    "wpa": 'psk="{}"',
    "AWS CSV": "User name,Password,Console login link\nada,{},https://x.example\n",
    "shell, upper case tail": 'rails_env=x SECRET_KEY_BASE="{}"',
    "name that ends in Pass": 'smtpPass: "{}"',
    "name that ends in SK": "VENDOR_SK={}",
    "salt": "define( 'LOGGED_IN_SALT', '{}' );",
    "Gradle": "storePassword '{}'",
    "curl -u": "curl -sS -uada:{} https://api.example",
    "curl cookie": "curl -b 'session={}' https://api.example",
    "here-string": "gh secret set DEPLOY <<< {}",
    "Doppler": "doppler secrets set APP {}",
    "GitLab variable": "glab variable set DEPLOY {}",
    "Vault mount": "vault kv put -mount=secret app a={}",
    "Pulumi": "pulumi config set --secret dbPassword {}",
    "RabbitMQ": "rabbitmqctl add_user ada {}",
    "net user": "net user ada {} /add",
    "expect": 'send "{}\\r"',
    "SQL": "ALTER USER me PASSWORD '{}';",
}
"""Where a name, a command or a place gives away any secret."""
