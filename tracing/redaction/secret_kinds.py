r"""The kinds of secrets that are found, as tables: those that say themselves what they are, and those that stand in a place.

The well-known formats are `detect-secrets`' detectors; the tables add what these lack or match too narrowly for a copy
that leaves the house: there, a placeholder replaced in vain costs less than a key that stays. A rule is tried only where
one of its `hints` occurs, which is what keeps lines of megabytes quick. No pattern may repeat what it repeats.
"""

import re
from typing import Literal, NamedTuple

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
    look: Literal["at", "near", "all"] = "at"
    """Where the pattern is tried: at a hint, since it begins there; some characters before and after it; everywhere."""


_WORD = r"(?<![A-Za-z0-9_])"
_ANY = r"[A-Za-z0-9_\-]"
_ALNUM = "[A-Za-z0-9]"
_HEX = "[0-9a-fA-F]"
_IN_BASE64 = r"[A-Za-z0-9_\-+/=]"
"""What follows letters and digits in base64: an image of some megabytes has short beginnings like `YC` in every place."""
_UUID = "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"

PREFIXED: tuple[tuple[str, str, str], ...] = (
    ("Anthropic key", "sk-ant-", rf"{_ANY}{{8,}}"),
    ("OpenAI key", "sk-", rf"(?=[A-Za-z_\-]{{0,64}}\d){_ANY}{{16,}}"),
    ("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", rf"{_ALNUM}{{16,}}"),
    ("GitHub fine-grained token", "github_pat_", r"\w{16,}"),
    (
        "GitLab token",
        "glpat- gldt- glrt- glrtr- glcbt- glptt- glft- glimt- glagent- gloas- glsoat- glffct- glwt- GR1348941",
        r"[A-Za-z0-9_\-.]{12,}",
    ),
    (
        "Slack token",
        "xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xapp- xwfp-",
        r"[A-Za-z0-9\-.%]{10,}",
    ),
    (
        "Slack webhook",
        "hooks.slack.com/services/ hooks.slack.com/workflows/ hooks.slack.com/triggers/",
        r"[\w/]{16,}",
    ),
    (
        "Discord webhook",
        "discord.com/api/webhooks/ discordapp.com/api/webhooks/",
        rf"\d{{10,}}/{_ANY}{{20,}}",
    ),
    ("Teams webhook", ".webhook.office.com/webhookb2/", r"[A-Za-z0-9\-@/]{30,}"),
    ("Zapier webhook", "hooks.zapier.com/hooks/catch/", r"[\w/]{8,}"),
    ("Google Chat webhook key", "chat.googleapis.com/v1/spaces/", r"\S{20,}"),
    ("AWS access key id", "AKIA ASIA AROA AIDA ABIA ACCA", r"[A-Z0-9]{12,}"),
    ("AWS Bedrock key", "ABSK", r"[A-Za-z0-9+/]{60,}={0,2}"),
    ("AWS MWS token", "amzn.mws.", _UUID),
    ("Google API key", "AIza", rf"{_ANY}{{20,}}"),
    ("Google OAuth token", "ya29.", r"[A-Za-z0-9_\-.]{16,}"),
    ("Google OAuth client secret", "GOCSPX-", rf"{_ANY}{{16,}}"),
    ("Google refresh token", "1//0", rf"{_ANY}{{20,}}"),
    ("Azure client secret", "", r"[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.\-]{31,34}"),
    ("Alibaba Cloud key id", "LTAI", rf"{_ALNUM}{{12,}}"),
    ("Tencent Cloud key id", "AKID", rf"{_ALNUM}{{13,}}"),
    ("Yandex Cloud key", "AQVN t1.9eu", r"[A-Za-z0-9_\-.=]{30,}"),
    ("DigitalOcean token", "dop_v1_ doo_v1_ dor_v1_", rf"{_HEX}{{16,}}"),
    ("Heroku key", "HRKU-", rf"{_ANY}{{20,}}"),
    ("Cloudflare origin key", "v1.0-", rf"{_HEX}{{20,}}-{_HEX}{{100,}}"),
    ("Netlify token", "nfp_ nfc_ nfo_ nfu_ nfb_", rf"{_ALNUM}{{20,}}"),
    ("Vercel token", "vcp_ vci_ vca_ vcr_ vck_ vercel_blob_rw_", r"\w{20,}"),
    ("Fly.io token", "fo1_ fm1r_ fm1a_ fm2_", r"[A-Za-z0-9_+/=,\-]{20,}"),
    ("Render key", "rnd_", rf"{_ALNUM}{{16,}}"),
    ("Supabase key", "sbp_ sb_secret_", rf"{_ANY}{{16,}}"),
    ("PlanetScale token", "pscale_tkn_ pscale_pw_ pscale_oauth_", r"[A-Za-z0-9_\-.=]{20,}"),
    ("Neon key", "napi_", rf"{_ALNUM}{{20,}}"),
    ("Databricks token", "dapi dkea dose", rf"{_HEX}{{30,}}(?:-\d)?"),
    ("New Relic key", "NRAK- NRII- NRJS- NRRA- NRAL-", rf"{_ANY}{{16,}}"),
    ("Grafana token", "glc_ glsa_", r"[A-Za-z0-9+/=_]{20,}"),
    ("Sentry token", "sntrys_ sntryu_", r"[A-Za-z0-9+/=_\-]{20,}"),
    ("Honeycomb key", "hcaik_ hcamk_ hcbik_", rf"{_ALNUM}{{20,}}"),
    ("Dynatrace token", "dt0c01. dt0s01. dt0s16.", r"[A-Z0-9.]{20,}"),
    ("Logfire token", "pylf_v1_ pylf_v2_", r"\w{16,}"),
    ("HashiCorp Vault token", "hvs. hvb. hvr.", rf"{_ANY}{{20,}}"),
    ("Pulumi token", "pul-", rf"{_HEX}{{30,}}"),
    ("Doppler token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", r"[A-Za-z0-9_\-.]{20,}"),
    ("1Password token", "ops_eyJ", r"[A-Za-z0-9+/=_\-]{40,}"),
    ("Infisical token", "st.", rf"{_HEX}{{8}}[A-Za-z0-9\-]*\.{_HEX}{{20,}}\.{_HEX}{{20,}}"),
    ("age secret key", "AGE-SECRET-KEY-1 AGE-SECRET-KEY-PQ-1", r"[A-Z0-9]{20,}"),
    ("npm token", "npm_", rf"{_ALNUM}{{16,}}"),
    ("PyPI token", "pypi-", rf"(?=[A-Za-z_\-]{{0,64}}\d){_ANY}{{16,}}"),
    ("RubyGems key", "rubygems_", rf"{_HEX}{{20,}}"),
    ("NuGet key", "oy2", r"[a-z0-9]{43}(?![a-z0-9])"),
    ("crates.io token", "cio", rf"{_ALNUM}{{32}}(?!{_ALNUM})"),
    ("Docker Hub token", "dckr_pat_ dckr_oat_", rf"{_ANY}{{16,}}"),
    ("Clojars token", "CLOJARS_", r"[a-z0-9]{40,}"),
    ("Artifactory token", "cmVmdGtu AKCp", rf"{_ALNUM}{{20,}}"),
    ("SonarQube token", "squ_ sqp_ sqa_", rf"{_HEX}{{30,}}"),
    ("CircleCI token", "CCIPAT_ CCIPRJ_", r"\w{20,}"),
    ("Buildkite token", "bkua_ bkct_", rf"{_HEX}{{30,}}"),
    ("Atlassian token", "ATATT3 ATCTT3 ATBB", r"[A-Za-z0-9_\-=]{20,}"),
    ("Linear token", "lin_api_ lin_oauth_", rf"{_ALNUM}{{20,}}"),
    ("Notion token", "ntn_ secret_", rf"(?=[A-Za-z]{{0,64}}\d){_ALNUM}{{30,}}"),
    ("Airtable token", "pat", rf"{_ALNUM}{{14}}\.{_HEX}{{40,}}"),
    ("Figma token", "figd_ figu_ figoh_ figor_", rf"{_ANY}{{20,}}"),
    ("Postman key", "PMAK-", rf"{_HEX}{{20,}}-{_HEX}{{20,}}"),
    ("Typeform token", "tfp_", rf"{_ANY}{{30,}}"),
    ("Contentful token", "CFPAT-", rf"{_ANY}{{30,}}"),
    ("Dropbox token", "sl.", rf"(?=[A-Za-z_\-]{{0,64}}\d){_ANY}{{60,}}"),
    ("LaunchDarkly key", "api- sdk- mob- rel-", _UUID),
    ("PostHog key", "phx_ phc_ phs_", rf"{_ALNUM}{{20,}}"),
    ("Segment token", "sgp_", rf"{_ALNUM}{{40,}}"),
    ("Mapbox token", "sk.eyJ tk.eyJ", r"[A-Za-z0-9_\-.]{20,}"),
    ("Facebook token", "EAAC EAAB EAAG EAAM", rf"{_ALNUM}{{30,}}"),
    ("Twitter bearer token", "AAAAAAAAAAAAAAAAAAAAA", r"[A-Za-z0-9%]{30,}"),
    ("Hugging Face token", "hf_ api_org_", rf"{_ALNUM}{{16,}}"),
    ("Replicate token", "r8_", rf"{_ALNUM}{{30,}}"),
    ("Groq key", "gsk_", rf"{_ALNUM}{{30,}}"),
    ("xAI key", "xai-", rf"{_ALNUM}{{40,}}"),
    ("Perplexity key", "pplx-", rf"{_ALNUM}{{30,}}"),
    ("LangSmith key", "lsv2_pt_ lsv2_sk_ ls__", r"\w{30,}"),
    ("Pinecone key", "pcsk_", r"\w{30,}"),
    ("Together key", "tgp_v1_", rf"{_ANY}{{20,}}"),
    ("Fireworks key", "fw_", rf"{_ALNUM}{{22,}}"),
    ("Tavily key", "tvly-", rf"{_ANY}{{16,}}"),
    ("Weights & Biases key", "wandb_v1_", r"\w{30,}"),
    ("Stripe key", "sk_live_ sk_test_ rk_live_ rk_test_ pk_live_ pk_test_ whsec_", rf"{_ALNUM}{{10,}}"),
    ("ElevenLabs key", "sk_", rf"{_HEX}{{40,}}"),
    ("Square token", "sq0atp- sq0csp- sq0idp- EAAA", rf"{_ANY}{{20,}}"),
    ("Braintree token", "access_token$production$ access_token$sandbox$", r"[a-z0-9$]{20,}"),
    ("Plaid token", "access-sandbox- access-development- access-production-", _UUID),
    ("Shopify token", "shpat_ shpss_ shpca_ shppa_", rf"{_HEX}{{30,}}"),
    ("SendGrid key", "SG.", rf"{_ANY}{{8,}}\.{_ANY}{{8,}}"),
    ("Brevo key", "xkeysib- xsmtpsib-", rf"{_ANY}{{30,}}"),
    ("Mailgun key", "key-", rf"{_HEX}{{32}}(?!{_HEX})"),
    ("Twilio key", "AC SK", rf"{_HEX}{{32}}(?!{_HEX})"),
    ("EasyPost key", "EZAK EZTK", rf"{_ALNUM}{{40,}}"),
    ("Shippo token", "shippo_live_ shippo_test_", rf"{_HEX}{{30,}}"),
    ("Duffel token", "duffel_live_ duffel_test_", rf"{_ANY}{{30,}}"),
    ("Flutterwave key", "FLWSECK-", rf"{_ANY}{{16,}}"),
    ("Flutterwave key", "FLWSECK_TEST- FLWPUBK_TEST-", rf"{_ALNUM}{{12,}}"),
    ("Razorpay key", "rzp_live_ rzp_test_", rf"{_ALNUM}{{14,}}"),
    ("WooCommerce key", "ck_ cs_", rf"{_HEX}{{40}}(?!{_HEX})"),
    ("Readme key", "rdme_", r"[a-z0-9]{40,}"),
    ("Prefect key", "pnu_ pnb_", rf"{_ALNUM}{{30,}}"),
    ("Scaleway key", "SCW", r"[A-Z0-9]{17}(?![A-Z0-9])"),
    ("Tailscale key", "tskey-", rf"{_ANY}{{16,}}"),
    ("Adafruit key", "aio_", rf"{_ALNUM}{{28}}(?!{_ALNUM})"),
    ("Telnyx key", "KEY0", rf"{_ALNUM}{{30,}}"),
    ("Frame.io token", "fio-u-", rf"{_ANY}{{40,}}"),
    ("1Password secret key", "A3-", r"[A-Z0-9]{6}-[A-Z0-9]{6,11}(?:-[A-Z0-9]{5}){3,4}"),
    ("Adobe secret", "p8e-", rf"{_ALNUM}{{32}}(?!{_ALNUM})"),
    (
        "Authress key",
        "sc_ ext_ scauth_ authress_",
        r"[a-z0-9]{5,30}\.[a-z0-9]{4,8}\.acc[_\-][a-z0-9\-]{10,32}\.[A-Za-z0-9+/_=\-]{30,120}",
    ),
    ("ClickHouse key", "4b1d", rf"(?=[a-z0-9]{{0,38}}[A-Z]){_ALNUM}{{38}}(?!{_IN_BASE64})"),
    ("Defined Networking token", "dnkey-", rf"{_ANY}{{60,}}"),
    ("GoCardless token", "live_", rf"(?=[A-Za-z_\-]{{0,40}}\d){_ANY}{{40}}(?!{_ANY})"),
    ("Harness key", "pat. sat.", rf"{_ANY}{{22}}\.{_HEX}{{24}}\.{_ALNUM}{{20}}"),
    ("Infracost key", "ico-", rf"{_ALNUM}{{32}}(?!{_ALNUM})"),
    ("42 secret", "s-s4t2ud- s-s4t2af-", rf"{_HEX}{{64}}"),
    ("Mapbox token", "pk. sk. tk.", r"[A-Za-z0-9]{60,}\.[A-Za-z0-9_\-]{22}(?![A-Za-z0-9_\-])"),
    ("Octopus Deploy key", "API-", r"[A-Z0-9]{25,26}(?![A-Z0-9])"),
    ("OpenShift token", "sha256~", rf"{_ANY}{{43}}"),
    ("Scalingo token", "tk-us-", rf"{_ANY}{{48}}"),
    ("SettleMint token", "sm_aat_ sm_pat_ sm_sat_", rf"{_ALNUM}{{16}}"),
    ("Sourcegraph token", "sgp_", rf"(?:local_|{_HEX}{{16}}_)?{_HEX}{{40}}"),
    ("Yandex token", "t1.", rf"{_ANY}{{8,4096}}={{0,2}}\.{_ANY}{{86}}={{0,2}}"),
    ("Yandex access key", "YC", rf"(?=[A-Za-z_\-]{{0,38}}\d){_ANY}{{38}}(?!{_IN_BASE64})"),
    ("MaxMind key", "", r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk"),
    ("Telegram bot token", "", r"\d{8,10}:AA[A-Za-z0-9_\-]{20,}"),
    ("Terraform token", "", r"[A-Za-z0-9]{10,20}\.atlasv1\.[A-Za-z0-9_\-=]{40,}"),
    # the second: one in the middle of a word, since a word may be nothing but beginnings of tokens
    (
        "JSON web token",
        "eyJ",
        rf"(?:(?<!{_ANY}eyJ){_ANY}{{8,}}+|{_ANY}{{8,1024}}+)\.{_ANY}{{8,}}+(?:\.{_ANY}{{4,}}|\.\.{_ANY}+\.{_ANY}+\.{_ANY}+)",
    ),
    (
        "password hash",
        "$1$ $2a$ $2b$ $2y$ $5$ $6$ $y$ $apr1$ $argon2id$ $scrypt$",
        r"[A-Za-z0-9./$=,+]{16,200}",
    ),
)
"""Kind, the beginnings of the secret (kept, since they say what it was), and what follows them."""

_HINTS = {
    "Azure client secret": ("q~",),
    "MaxMind key": ("_mmk",),
    "Telegram bot token": (":aa",),
    "Terraform token": (".atlasv1.",),
}
"""Where the beginning is not fixed."""

_VALUE = r"(?P<secret>[^\s\"'`<>|&;]{1,4096})"

_PLACED: tuple[tuple[str, str, str], ...] = (
    (
        "Authorization header",
        "authorization",
        r"(?i:authorization[\"']?\s{0,4}[:=]\s{0,4}[\"']?(?:bearer|basic|token|digest|apikey|key)\s{1,4})(?P<secret>[A-Za-z0-9+/=_.~\-]{8,})",
    ),
    (
        "Authorization header",
        "bearer basic token",
        r"(?i:bearer|basic|token)\s{1,4}(?P<secret>(?=[A-Za-z_\-./+=~]{0,4096}[\d=])[A-Za-z0-9+/=_.~\-]{16,})",
    ),
    (
        "Authorization header",
        "bearer",
        r"(?i:bearer)\s{1,4}(?P<secret>(?=[A-Za-z_\-./+=~]{0,4096}[\d=])[A-Za-z0-9+/=_.~\-]{8,})",
    ),
    ("FlyV1 token", "flyv1", r"FlyV1 (?P<secret>\S{20,})"),
    (
        "cookie",
        "cookie",
        r"(?i:cookie[\"']?\s{0,4}:\s{0,4}[\"']?)(?P<secret>[^\s\"'=;]{1,128}=[^\"'\n\r]{4,4096})",
    ),
    ("password in a URL", "://", r"://[^\s/:@\"'\\<>]{0,256}:(?P<secret>[^\s/@\"'\\<>]{1,1024})(?=@)"),
    (
        "token in a URL",
        "://",
        r"://(?P<secret>(?=[A-Za-z_\-]{0,256}\d)[A-Za-z0-9_\-]{20,256})(?=(?::x-oauth-basic)?@)",
    ),
    (
        "signature of a URL",
        "sig= signature= x-amz-credential=",
        r"(?i:(?<=[?&;\s\"'\-])(?:sig|signature|x-amz-credential)=)(?P<secret>[A-Za-z0-9%+/=_\-]{16,})",
    ),
    (
        "key of a URL",
        "code=",
        r"(?<=[?&])code=(?P<secret>(?=[A-Za-z%+/=_\-]{0,256}\d)[A-Za-z0-9%+/=_\-]{20,})",
    ),
    (
        "curl user",
        "curl http xh",
        r"\b(?:curl|https?|xh)\b[^|;]{0,400}?\s(?:-u|--user|-U|--proxy-user|-a|--auth)(?:\s{1,4}|=|(?=[\"']))[\"']?[^\s:\"']{0,256}:"
        + _VALUE,
    ),
    (
        "netrc password",
        "machine default",
        r"\b(?:machine\s{1,8}\S{1,255}|default)\s{1,8}(?:(?:login|account)\s{1,8}\S{1,255}\s{1,8}){0,2}password\s{1,8}(?P<secret>[^\s\"'\\]{1,1024})",
    ),
    (
        "netrc password",
        "login",
        r"\blogin\s{1,8}\S{1,255}\s{1,8}password\s{1,8}(?P<secret>[^\s\"'\\]{1,1024})",
    ),
    (
        "pgpass password",
        ":5432: :*:",
        r":(?:5432|\*):[^:\s]{1,64}:[^:\s]{1,64}:(?P<secret>[^\s:\"']{1,1024})(?!\S)",
    ),
    ("password option", "-pass", r"-pass(?:in|out)?\s{1,4}pass:" + _VALUE),
    (
        "mysql password",
        "mysql mariadb",
        r"\b(?:mysql|mariadb)[\w\-]{0,20}\b[^|;\n]{0,400}?\s-p(?P<secret>[^\s\"']{2,256})",
    ),
    ("redis password", "redis-cli", r"\bredis-cli\b[^|;\n]{0,400}?\s-a\s{1,4}[\"']?" + _VALUE),
    ("sshpass password", "sshpass", r"\bsshpass\s{1,4}-p\s{0,4}[\"']?" + _VALUE),
    (
        "login password",
        "docker podman helm az oc skopeo buildah",
        r"\b(?:docker|podman|helm|az|oc|skopeo|buildah)\b[^|;\n]{0,60}?\blogin\b[^|;\n]{0,200}?\s-p\s{1,4}[\"']?"
        + _VALUE,
    ),
    (
        "htpasswd password",
        "htpasswd",
        r"\bhtpasswd\s{1,4}-\w{0,6}b\w{0,6}\s{1,4}\S{1,255}\s{1,4}\S{1,64}\s{1,4}[\"']?" + _VALUE,
    ),
    (
        "SQL password",
        "identified password",
        r"(?i:\bidentified\s{1,4}(?:with\s{1,4}\S{1,40}\s{1,4})?by|\bpassword)\s{1,4}'(?P<secret>[^'\n]{1,256})'",
    ),
    (
        "PuTTY key",
        "private-lines",
        r"(?i:private-lines): \d{1,4}\s{1,4}(?P<secret>(?:[^\w+/=\n]{0,8}\d{0,5}[^\w+/=\n]{0,8}[A-Za-z0-9+/=]{4,128}\s{1,4}){1,400})",
    ),
    ("PuTTY key", "private-mac private-hash", rf"(?i:private-(?:mac|hash)): (?P<secret>{_HEX}{{20,}})"),
    ("private key in hex", "private", rf"(?i:private.{{0,20}}?)(?P<secret>(?:0x)?{_HEX}{{64}})(?!{_HEX})"),
    (
        "kubeconfig key",
        "client-key-data",
        r"client-key-data[\"']?:\s{0,4}[\"']?(?P<secret>[A-Za-z0-9+/=]{16,})",
    ),
)
"""Kind, hints and pattern of secrets that what stands before them gives away."""

_WORDS = (
    r"(?:pass(?:word|wd|phrase|code|wort)|pwd|(?<![A-Za-z])pass|secret(?:[_\-.]?(?:access[_\-.]?)?key)?|token|credentials?|"
    r"(?:api|app|access|account|auth|private|client|encryption|signing|master|shared[_\-.]?access|session|license|service|"
    r"admin|write|read|deploy|consumer|application|secret|storage|primary|secondary|hmac|jwt|ssh|webhook)[_\-.]?key|(?<![A-Za-z])(?:_?auth|pat|dsn|psk|pin))"
)
_TAIL = r"(?:[_\-.]?(?:base(?:64)?|b64|value|string|prod|dev|test|live|staging|old|new|main|root|raw|plain|text|\d{1,3}))?"
SECRET_NAME = re.compile(rf"(?i:{_WORDS}{_TAIL})[\"'\])]{{0,2}}$")
"""The end of a name whose value is a secret: DB_PASSWORD, clientSecret, api-key, AWS_SECRET_ACCESS_KEY."""
PASSWORD_NAME = re.compile(r"(?i:pass(?:word|wd|phrase|code|wort)?|pwd|psk|pin)\W{0,4}$")
"""Of these, the names whose value a human has chosen: words count, too."""
SOME_KEY = re.compile(r"(?i:[a-z0-9][_\-]key)$|[a-z]Key$")
"""Of any other key only a long value is taken for a secret."""
HARMLESS_NAME = re.compile(
    r"(?i:(?:public|cache|primary|foreign|idempotency|partition|sort|unique|object|row|storage[_\-]object)[_\-]?key|(?:resume|page|next|continuation|sync|cursor|max|stop|end|start|eos|bos|pad|mask|special|csrf[_\-]?param|name|type)[_\-]?tokens?|"
    r"token[_\-]?type)$"
)
"""Names that only sound like it: places in a list, and the words of a language model."""
_LAST_WORD = rf"(?i:pass(?:word|wd|phrase|code|wort)?|pwd|secret|token|credentials?|key|auth|pat|dsn|psk|pin){_TAIL}(?![A-Za-z0-9_])"
LAST_WORD = re.compile(_LAST_WORD)
"""The last word of a name that may be a secret's."""
ASSIGNMENT = Rule(
    "assignment",
    ("pass", "pwd", "secret", "token", "credential", "key", "auth", "pat", "dsn", "psk", "pin"),
    re.compile(
        _LAST_WORD + r"[\"'\]\\)]{0,3}(?P<sign>\s{0,4}(?:=>|:=|[:=])\s{0,4}|[\"']?,?\s{1,4})"
        r"(?:\"(?P<double>[^\"\n]{1,4096})\"|'(?P<single>[^'\n]{1,4096})'|`(?P<back>[^`\n]{1,4096})`|"
        r"(?P<bare>[^\s\"'`<>,;&|(){}\[\]]{4,1024})(?P<after>[(\[]?))"
    ),
)
"""The last word of a name, and its value, in every notation that code, commands and configuration have."""
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


def _own() -> list[Rule]:
    rules = []
    for kind, beginnings, rest in PREFIXED:
        starts = beginnings.split()
        before = "(?:" + "|".join(re.escape(start) for start in starts) + ")" if starts else ""
        # a hash begins with punctuation: what stands before it does not matter
        word = "" if beginnings.startswith(("$", ".")) else _WORD
        pattern = re.compile(f"{word}{before}(?P<secret>{rest})")
        hints = tuple(start.lower() for start in starts)
        rules.append(Rule(kind, hints, pattern) if starts else Rule(kind, _HINTS[kind], pattern, look="near"))
    return rules


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
    *_own(),
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
    *(Rule(kind, tuple(hints.split()), re.compile(pattern)) for kind, hints, pattern in _PLACED),
)
"""All that is tried on every text, in this order."""
