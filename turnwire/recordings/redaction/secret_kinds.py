r"""Tables of the kinds of secrets: those with a format of their own, and those that a name or a place gives away.

The well-known formats are `detect-secrets`' detectors. The table (secret_kinds.toml) adds what these lack or match
too narrowly. In a copy for others a needless placeholder costs less than a key that stays. A rule is tried only where
one of its `hints` occurs, which is what keeps lines of megabytes quick. No nested quantifiers.
"""

import re
import tomllib
from importlib import resources
from typing import Literal, NamedTuple, TypeAlias

from detect_secrets.plugins.artifactory import ArtifactoryDetector
from detect_secrets.plugins.aws import AWSKeyDetector
from detect_secrets.plugins.azure_storage_key import AzureStorageKeyDetector
from detect_secrets.plugins.base import RegexBasedDetector
from detect_secrets.plugins.cloudant import CloudantDetector
from detect_secrets.plugins.discord import DiscordBotTokenDetector
from detect_secrets.plugins.gitlab_token import GitLabTokenDetector
from detect_secrets.plugins.ibm_cloud_iam import IbmCloudIamDetector
from detect_secrets.plugins.ibm_cos_hmac import IbmCosHmacDetector
from detect_secrets.plugins.mailchimp import MailchimpDetector
from detect_secrets.plugins.openai import OpenAIDetector
from detect_secrets.plugins.pypi_token import PypiTokenDetector
from detect_secrets.plugins.sendgrid import SendGridDetector
from detect_secrets.plugins.slack import SlackDetector
from detect_secrets.plugins.softlayer import SoftlayerDetector
from detect_secrets.plugins.square_oauth import SquareOAuthDetector
from detect_secrets.plugins.stripe import StripeDetector
from detect_secrets.plugins.telegram_token import TelegramBotTokenDetector
from detect_secrets.plugins.twilio import TwilioKeyDetector

Look: TypeAlias = Literal["at", "near", "all"]


class Kind(NamedTuple):
    """A row of our own table, secret_kinds.toml, which says what its fields mean."""

    name: str
    keywords: str
    pattern: str
    example: str
    inside: bool = False


with (resources.files(__package__) / "secret_kinds.toml").open("rb") as _file:
    KINDS: tuple[Kind, ...] = tuple(Kind(**row) for row in tomllib.load(_file)["kinds"])
"""The rows of our own table, in the order in which they are tried."""


class Rule(NamedTuple):
    """How a kind of secret is found."""

    kind: str
    """What it is, for the list of what was replaced."""
    hints: tuple[str, ...]
    """Lower-case words, one of which is in every text that has such a secret."""
    pattern: re.Pattern[str]
    """What it looks like; its group `secret`, else its first group, else all of it is replaced."""
    mixed: bool = False
    """Only what has a digit counts: the pattern fits ordinary words as well."""
    look: Look = "at"
    """Where the pattern is tried: at a hint, since it begins there; some characters before and after it; everywhere."""


_WORD = r"(?<![A-Za-z0-9_])"
_HEX = "[0-9a-fA-F]"

_ELSEWHERE = [
    "kennwort",
    "contraseña",
    "contraseñas",
    "contrasena",
    "contrasenya",
    "senha",
    "palavra-passe",
    "passe",
    "mdp",
    "parola",
    "parolă",
    "пароль",
    "пароля",
    "паролем",
    "парола",
    "密码",
    "密碼",
    "口令",
    "パスワード",
    "暗証番号",
    "비밀번호",
    "암호",
    "hasło",
    "haslo",
    "hasłem",
    "wachtwoord",
    "lösenord",
    "losenord",
    "passord",
    "adgangskode",
    "kodeord",
    "salasana",
    "heslo",
    "jelszó",
    "jelszo",
    "şifre",
    "sifre",
    "şifresi",
    "geslo",
    "lozinka",
    "лозинка",
    "slaptažodis",
    "parool",
    "clave",
    "lykilorð",
    "κωδικός",
    "συνθηματικό",
    "khẩu",
    "sandi",
    "รหัสผ่าน",
    "סיסמה",
    "סיסמא",
    "ססמה",
    "السر",
    "المرور",
    "पासवर्ड",
    "পাসওয়ার্ড",
]
"""The word for a password in other languages; of several words the last."""
_PASSWORDS = rf"(?:pass(?:word|wd|phrase|code|wort)?|pwd|pw|psk|pin|{'|'.join(_ELSEWHERE)})"

_WORDS = (
    rf"(?:pass(?:word|wd|[_-]?phrase|code|wort)|{'|'.join(_ELSEWHERE)}|(?<![A-Za-z])pw|"
    r"(?:ssh|db|user|mysql|smtp|ftp|admin|root)pass|pwd|(?<![A-Za-z])pass|secret(?:[_\-.]?(?:access[_\-.]?)?key)?|token|credentials?|"
    r"(?:api|app|access|account|auth|private|client|encryption|signing|master|shared[_\-.]?access|session|license|service|"
    r"admin|write|read|deploy|consumer|application|secret|storage|primary|secondary|hmac|jwt|ssh|webhook)[_\-.]?key|"
    r"(?:auth|nonce|logged[_\-]in|secret|secure|password|hash|encryption|cookie|jwt|session)[_\-]?salt|app[_\-]?certificate|"
    r"(?<![A-Za-z])(?:_?auth|pat|dsn|psk|pin))"
)
_TAIL = r"(?:[_\-.]?(?:d[aoe]_)?(?:base(?:64)?|b64|value|string|prod|dev|test|live|staging|old|new|main|root|raw|plain|text|private|db|bd|banco|usuario|admin|user|app|api|server|\d{1,3}))?"
SECRET_NAME = re.compile(
    rf"(?:(?i:{_WORDS}{_TAIL})|(?<=[a-z])P(?:ass|w)|(?<=[A-Z]_)(?:SK|SKEY))[\"'\])]{{0,2}}$"
)
"""The end of a name whose value is a secret: DB_PASSWORD, clientSecret, api-key, AWS_SECRET_ACCESS_KEY."""
PASSWORD_NAME = re.compile(rf"(?i:{_PASSWORDS})\W{{0,4}}$")
"""Of these, the names whose value a human has chosen: words count, too."""
SOME_KEY = re.compile(r"(?i:[a-z0-9][_\-]key)$|[a-z]Key$")
"""Of any other key only a long value is taken for a secret."""
HARMLESS_NAME = re.compile(
    r"(?i:(?:public|cache|primary|foreign|idempotency|partition|sort|unique|object|row|storage[_\-]object)[_\-]?key|(?:resume|page|next|continuation|sync|cursor|max|stop|end|start|eos|bos|pad|mask|special|csrf[_\-]?param|name|type)[_\-]?tokens?|"
    r"token[_\-]?type)$"
)
"""Names that only sound like it: places in a list, and the words of a language model."""
_LAST_WORD = rf"(?i:(?:pass(?:word|wd|[_-]?phrase|code|wort)?|pwd|pw|{'|'.join(_ELSEWHERE)}|secret|token|credentials?|key|auth|pat|dsn|psk|pin|salt|certificate|_skey|_sk){_TAIL})(?![A-Za-z0-9_])"
LAST_WORD = re.compile(_LAST_WORD)
"""The last word of a name that may be a secret's."""
_SIGN = (
    # a type between the name and its value: `token: str = "…"`
    r"\s{0,4}:\s{0,4}[A-Za-z&*'\[][\w&*'.<>\[\]?| ]{0,40}=\s{0,4}|\s{1,4}[A-Za-z*\[][\w.*\[\]]{0,30}\s{1,4}=\s{1,4}|"
    # a value in the next line of YAML
    r"\s{0,4}:\s{0,4}[|>][+\-]?[ \t]{0,4}\r?\n\s{1,40}|"
    r"\s{0,4}(?:=>|<-|->|::?=|[?+|&]{1,2}=|={1,3}|:|：)\s{0,4}|"
    # a pair of a name and a value, as attributes or members
    r"[\"']?[\s,;{]{1,60}(?:-\s)?[\"']?(?i:parameter)?(?i:value|content|default)[\"']?\s{0,4}[:=]\s{0,4}|"
    r"[\"']?,\s{0,4}|[({](?=[\"'`])|\s{1,4}"
)
_WRAPPED = (
    r"(?:(?:[A-Za-z@$]{1,2}|(?:String::from|Some|Just|Secret(?:String|Str)?(?:::new|::from)?)\()(?=[\"'`]))?"
)
"""What may stand before a quoted value: a prefix of the string, or what wraps it."""
ASSIGNMENT = Rule(
    "assignment",
    (
        "pass",
        "pwd",
        "pw",
        *_ELSEWHERE,
        "secret",
        "token",
        "credential",
        "key",
        "auth",
        "pat",
        "dsn",
        "psk",
        "pin",
        "salt",
        "certificate",
        "_sk",
    ),
    re.compile(
        rf"{_LAST_WORD}(?:[\"'\]\\)]{{0,3}}(?:\[\w{{0,20}}\]?)?(?P<sign>{_SIGN}){_WRAPPED}"
        r"(?:\"(?P<double>[^\"\n]{1,4096})\"|'(?P<single>[^'\n]{1,4096})'|`(?P<back>[^`\n]{1,4096})`|"
        r"(?P<bare>[^\s\"'`<>,;&|(){}\[\]]{4,1024})(?P<after>[(\[]?))|"
        # an element of XML, or the one after it
        r"(?P<tag>[\"']?(?:\s[^<>\n]{0,60})?>\s{0,8}(?:</?\w{1,20}(?:\s[^<>\n]{0,60})?>\s{0,40}){0,2}|</\w{1,20}>\s{0,40}<\w{1,20}>)(?P<element>[^<>\n]{4,1024})</)"
    ),
)
"""The last word of a name, and its value, in every notation that code, commands and configuration have."""
_NO_PART = r"\s\"'`<>|,;()\[\]{}«»“”„‘’，。、；！？（）「」\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af"
_SAID = rf"(?P<said>[^{_NO_PART}]{{5,127}}[^{_NO_PART}.:*])"
SENTENCE = Rule(
    "secret in a sentence",
    ("pass", "pwd", "pw", *_ELSEWHERE, "key", "token", "secret", "pin", "creds", "credentials", "login"),
    re.compile(
        rf"(?i:(?P<password>{_PASSWORDS}|creds|credentials|login)|(?P<key>key|token|secret))(?![A-Za-z0-9_-])"
        # what it is for
        r"(?:(?P<middle>[*_]{0,2}(?:\s(?i:code|phrase|now|currently|still))?(?:\s?\([^()\n]{1,40}\)|\s\[[^\[\]\n]{0,40}\])?"
        r"(?:\s(?i:for|of|to|on|in|at|from|von|für|fuer|zu|der|des|de|del|della|di|da|do|du|для|от|к|pour|para|per|per|til|för|na|voor|van|av)(?:\s(?!(?i:is|was|ist|est|es|to)\s)(?:'[^'\n]{1,120}'|[^\s:=|]{1,60})){1,5}?)?)"
        r"(?P<sign>[*_]{0,2}\s{0,2}(?::|=|：|→|->|=>)[*_]{0,2}\s{0,4}|\s(?:\||-|–|—)\s{1,4}|"
        r"\s(?i:is now|is still|is currently|is|was|will be|should be|reads|to|ist|lautet|war|wäre|est|es|é|è|e'|er|är|on|je|это|equals|são|są|sind|are)(?:\s(?i:set to|now|called|just|likely|probably|jetzt|ahora))?(?::|\s)\s{0,3}|"
        r"\s?(?:是|为|為|は|는|은|가|이)\s{0,2}:?\s{0,2})|\s)"
        rf"(?P<user>[A-Za-z][\w.@-]{{0,40}}\s{{0,2}}(?:/|:)\s{{0,2}})?(?P<quote>[\"'`«“„‘「]?){_SAID}"
    ),
)
"""What people say: the word, what it is for, and the secret itself."""
CALLED_BEFORE = re.compile(
    rf"(?:\A|(?<=[\s\"'`(«“„])){_SAID}[\"'`»”]?,?\s(?i:is|as|for|ist|als|für|est|comme|es|como|è|come|é|är|som)\s"
    r"(?i:(?:my|our|the|your|their|his|her|its|a|new|old|root|admin|user|initial|temporary|current|mein|unser|das|dein|neue|mon|le|notre|mi|la|su|il|minha|a|min|mitt|db|database|wifi|ssh|api|access|auth|login)\s){1,4}\Z"
)
"""The secret before the word: "use … as the password", "… is my password"."""
ARTICLES = re.compile(
    r"(?i:\b(?:my|our|the|your|their|his|her|a|new|old|root|admin|user|initial|temporary|current|mein|unser|das|mon|le|notre|mi|la|il|minha|min|mitt|db|database|wifi|api|access|auth|login)) \Z"
)
"""What stands before the word then."""
WITH = re.compile(
    r"(?i:\b(?:with|use|using|and|via|mit|avec|con|com|und|et|y|мой|admin|root|user|the|my)|,) \Z"
)
"""What stands before a word whose secret follows it without a sign: "log in with password …"."""
COMPOUND = re.compile(
    r"(?i:\b(?:api|app|access|secret|private|auth|authentication|client|service|encryption|signing|master|session|license|bearer|refresh|personal|deploy|admin|webhook|bot|github|gitlab|slack|openai|anthropic|aws|stripe|ssh|the|my|our|your|this|new) )\Z"
)
"""What stands before "key", "token" or "secret" where a secret follows."""
NO_SECRET = re.compile(
    r"(?i)^(?:sha-?\d|md\d|base-?\d|utf|pbkdf|argon|bcrypt|scrypt|x\.?509|[rehp]s\d{3}|oauth|aes|rsa|ecdsa|ed25519|v?\d+\.\d|\d{4}-\d\d|\d+[ _-]?(?:bit|byte|char|digit|day|hour|min|sec|month|year|time|letter|word|k?b\b)|"
    r"https?:|[./~$%{\[<#@]|0x[0-9a-f]{1,8}$|\w+\.(?:py|js|ts|json|ya?ml|txt|md|html|go|rs|toml|cfg|ini|env|sh|pem|key)\b|.*(?:://|\(|=>))"
)
"""What follows the word and says something of it."""
LIST = Rule(
    "secret in a list",
    ("keys", "tokens", "secrets", "passwords", "credentials"),
    re.compile(
        r"(?i:keys|tokens|secrets|passwords|credentials)[\"'\])]{0,3}[ \t]{0,4}(?::|=>?|:=)[ \t]{0,4}(?P<open>[\[({]|[\"'](?=[^\"'\n]{8,4096},)|(?=[^\s,\"'\[({]{8,512},)|(?=\n[ \t]{0,40}- ))"
    ),
)
"""The plural of a name, and where a list of its values begins."""
ITEM = re.compile(r"(?P<quote>[\"'`]?)(?P<item>[^\s\"'`,;:\[\](){}<>=|]{8,1024})(?P=quote)")
LIST_LINES = re.compile(r"(?:\n[ \t]{0,40}- [^\n]{0,1100}){1,200}")
"""The lines of a list of YAML."""
CLOSING = {"[": "]", "(": ")", "{": "}", '"': '"', "'": "'"}
LONGEST_LIST = 16_384
CALLED = re.compile(
    r"(?:(?:^|[\s(;&|`\"'=])(?:ENV|ARG|set(?:\s{1,4}-\w{1,8}){1,3}|set[_-]?env|setx|#?define|setq|defvar|(?:env|config|secrets?|variables?)[:\s]{1,4}(?:set|put|add))\s{1,4}|:)\$?\Z"
)
"""What stands before a name whose value follows it without a sign."""
BEFORE = re.compile(r"[A-Za-z0-9_.\-]{0,80}")
"""The rest of the name, before its last word; read from right to left."""
LONGEST_NAME = 40
"""Characters at the end of a name that say whether its value is a secret."""
LINE_NAME = re.compile(
    r"(?:\A|\n)[ \t]*(?:\d{1,6}[\t→:|][ \t]*)?(?:(?:export|set|ENV)[ \t]+)?[A-Za-z_][A-Za-z0-9_.\-]*\Z"
)
"""How such a line begins."""
LINE = Rule(
    "assignment",
    ("=",),
    re.compile(r"=(?P<bare>[^\s\"'$`(=][^\s\"'`]{3,4095}+)[ \t]*+(?=\r?\n|\Z)"),
)
"""The value in a line of an env file, where it goes on to the end of the line."""
PAIRED = re.compile(r"(?i)^(?:-u|--user|-U|--proxy-user)$")
OPTION = re.compile(
    r"(?i)^--?(?:[a-z][a-z0-9]{0,20}-){0,3}(?:password|passwd|passphrase|pass|pw|token|secret|api-?key|auth-?key|pat)$"
)
"""Elements of an argument vector whose next one is user:password, or a secret."""

NAMES: tuple[Rule, ...] = (
    Rule(
        "home directory",
        ("/home/", "/users/"),
        re.compile(r"(?i:/home/|/Users/)(?P<secret>[^/\s\"'\\:<>|*?]+)"),
    ),
    Rule(
        "home directory",
        (":\\users", ":/users", ":\\\\users"),
        re.compile(r"(?i::(?:\\|/)+Users(?:\\|/)+)(?P<secret>[^/\s\"'\\:<>|*?]+)"),
    ),
    Rule(
        "home directory in a project's name",
        ("-home-", "-users-"),
        re.compile(r"-(?:home|Users)-(?P<secret>[A-Za-z0-9_.]+)(?=-)"),
    ),
    Rule(
        "home directory in a project's name",
        ("-home-", "-users-"),
        re.compile(
            r"(?:(?<![^/\\\"'])|(?<=[A-Za-z]-))-(?:home|Users)-(?P<secret>[A-Za-z0-9_.]+)(?=[/\\\"'\s]|\Z)"
        ),
    ),
    Rule(
        "e-mail address",
        ("@",),
        re.compile(
            r"(?<![\\A-Za-z0-9._%+\-])(?P<secret>(?!(?:git|no-?reply)@)[A-Za-z0-9._%+\-]{1,64}@"
            r"[A-Za-z0-9\-]{1,63}(?:\.[A-Za-z0-9\-]{1,63}){0,8}\.[A-Za-z]{2,24})(?![A-Za-z0-9])"
        ),
        look="near",
    ),
)
"""What names a person."""


def _own(kind: Kind) -> Rule:
    words = kind.keywords.split()
    hints = tuple(word.lower() for word in words)
    if "(?P<secret>" in kind.pattern:
        look: Look = "near" if kind.inside and hints else "all" if kind.inside else "at"
        return Rule(kind.name, hints, re.compile(kind.pattern), look=look)
    # a hash begins with punctuation: what stands before it does not matter
    before = "" if kind.keywords.startswith(("$", ".", "/")) else _WORD
    starts = "|".join(re.escape(word) for word in words)
    return Rule(kind.name, hints, re.compile(f"{before}(?:{starts})(?P<secret>{kind.pattern})"))


def _detectors() -> list[Rule]:
    """The detectors of `detect-secrets`; its keyword and entropy ones are for source code and find ids in recordings."""
    table: list[tuple[type[RegexBasedDetector], str]] = [
        (ArtifactoryDetector, "akc ap"),
        (AWSKeyDetector, "akia asia abia acca a3t aws"),
        (AzureStorageKeyDetector, "accountkey="),
        (CloudantDetector, "cloudant clou"),
        (DiscordBotTokenDetector, ""),
        (
            GitLabTokenDetector,
            "glpat- gldt- glft- glsoat- glrt- glcbt- glimt- glptt- glagent- gloas- gr1348941",
        ),
        (IbmCloudIamDetector, "ibm iam cloud"),
        (IbmCosHmacDetector, "cos_ cos- ibm"),
        (MailchimpDetector, "-us"),
        (OpenAIDetector, "t3blbkfj"),
        (PypiTokenDetector, "pypi-"),
        (SendGridDetector, "sg."),
        (SlackDetector, "xox slack"),
        (SoftlayerDetector, "softlayer sl_ sl-"),
        (SquareOAuthDetector, "sq0csp"),
        (StripeDetector, "k_live_"),
        (TelegramBotTokenDetector, ""),
        (TwilioKeyDetector, "ac sk"),
    ]
    return [
        Rule(
            str(detector.secret_type),
            tuple(hints.split()),
            pattern,
            mixed=True,
            look="near" if hints else "all",
        )
        for detector, hints in table
        for pattern in detector().denylist
    ]


RULES: tuple[Rule, ...] = (
    *(_own(kind) for kind in KINDS),
    *_detectors(),
    Rule(
        "JSON web key",
        ('"kty"',),
        re.compile(r"\"(?:dp|dq|qi|[dpqk])\"\s{0,4}:\s{0,4}\"(?P<secret>[A-Za-z0-9_\-]{16,})\""),
        look="near",
    ),
    Rule(
        "Mailgun key",
        (),
        re.compile(rf"{_WORD}(?P<secret>{_HEX}{{32}}-{_HEX}{{8}}-{_HEX}{{8}})(?![0-9a-fA-F\-])"),
        look="all",
    ),
)
"""All that is tried on every text, in this order."""
