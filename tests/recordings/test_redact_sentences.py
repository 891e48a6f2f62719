"""Secrets in what people say, in prompts and commands, and in lists; and sentences that only speak of them."""

import json
import re
from collections.abc import Iterator

from drawn_secrets import drawn

from turnwire.recordings.redaction.redaction import Redaction

SENTENCES = """
my password is {}¦The password is {}, thanks¦the password for the database is {}¦the password of admin is "{}"¦Our wifi password is '{}'¦here is the password: {}
the passphrase: {}¦passphrase is `{}`¦pw: {}¦PW={}¦user: root pw: {}¦log in as admin with password {}¦use {} as the password¦{} is my password¦set the password to {}
API key = {}¦my API key is {}¦the OpenAI API key is {}¦Access token: {}¦the token is {}¦The client secret is {}¦Your temporary password is {}¦default password is {}¦password (root): {}
Password for user bob: {}¦Passwort: {}¦mein Passwort lautet {}¦Kennwort: {}¦mot de passe : {}¦Mon mot de passe est {}¦contraseña: {}¦la contraseña es {}¦senha: {}¦minha senha é {}
пароль: {}¦мой пароль {}¦Пароль от базы: {}¦密码: {}¦密码：{}¦密码是{}¦我的密码是 {}¦パスワード: {}¦パスワードは{}です¦hasło: {}¦moje hasło to {}¦wachtwoord: {}¦het wachtwoord is {}
lösenord: {}¦mitt lösenord är {}¦passord: {}¦salasana: {}¦heslo: {}¦jelszó: {}¦parola: {}¦şifre: {}¦비밀번호: {}¦mật khẩu: {}¦kata sandi: {}¦סיסמה: {}¦PASSWORT={}¦senha_do_banco: {}
"contraseña": "{}"¦db_pw = '{}'¦userPw: "{}"¦* **Password**: {}¦**Password:** `{}`¦| password | {} |¦creds: admin / {}¦login: admin/{}¦password → {}
"""
COMMANDS = """
AWS Secret Access Key [None]: {}¦AWS Secret Access Key [****************ABCD]: {}¦Password for admin: {}¦echo {} | kinit admin¦printf '%s' {} | kinit a¦kinit a <<< {}
echo {} | su -c id¦echo {} | gpg --batch --passphrase-fd 0 -d x¦mosquitto_pub -h h -u a -P {} -t x¦mosquitto_sub -u a --pw {} -t x¦etcdctl --user root:{} get x¦etcdctl --user=root:{} get x
mysql -u root -p{} shop¦mysql -uroot -p'{}' shop¦curl -u admin:{} https://x¦curl --user admin:{} https://x¦sshpass -p {} ssh a@b¦sshpass -p'{}' scp x a@b:¦htpasswd -b .htpasswd bob {}
htpasswd -nbB bob '{}'¦openssl rsa -in k -passin pass:{}¦openssl pkcs12 -export -passout pass:{} -out x¦openssl enc -aes-256-cbc -k {} -in x¦skopeo copy --dest-creds bob:{} a b
wpa_passphrase net {}¦bw unlock {}¦snmpwalk -v3 -u a -A {} -X x h¦useradd -p {} bob¦rabbitmqadmin -u a -p {} list¦nuget setapikey {}¦ipmitool -I lanplus -U a -P {} power status
"""
LISTS = (
    *(
        '"api_keys": ["{}", "{}"]',
        '{{"apiKeys": ["{}", "{}"]}}',
        '{{"a": {{"tokens":["{}","{}"]}}}}',
        '{{"keys": ["{}", "{}"]}}',
    ),
    *(
        "api_keys:\n  - {}\n  - {}\n",
        'auth_tokens:\n- "{}"\n- "{}"\n',
        'API_KEYS = ["{}", "{}"]',
        "apiKeys: ['{}', '{}'],",
    ),
    *("API_KEYS={},{}", 'ACCESS_TOKENS="{},{}"', "passwords: [{}, {}]", "const tokens = [`{}`, `{}`];"),
)
LETTERS = (
    "SERVICE_API_KEY={}",
    "export SERVICE_API_KEY={}",
    "STRIPE_SECRET={}\n",
    "JWT_SECRET={}",
    "MY_TOKEN='{}'",
)
STAYING = """
my password is wrong¦My password is incorrect.¦the password is required¦The password is too short¦password: string¦the passphrase is optional¦Your password was changed
the token is invalid¦API key = none¦api key: required¦set the password to something else¦I changed my password yesterday¦the secret is simple: practice¦password is base64 encoded
the password is stored in config2.yml¦The password is hashed with sha256¦the password is sha256-hashed¦The token is a JWT signed with RS256¦Das Passwort ist falsch¦mot de passe : obligatoire
la contraseña es incorrecta¦a senha é inválida¦пароль: неверный¦密码: 错误¦パスワード: 必須¦hasło: wymagane¦pw: str¦the key is pressed twice¦use it as the password¦token: 1234
password for 3 users¦access token: see above¦keys: [a, b, c]¦tokens: [if, else]¦the secret key is made by openssl rand -hex 32¦api key: see https://example.com/docs¦this is my password manager
The default password is changeme¦mysql -p shop¦docker run --user node:node image¦docker run -u 1000:1000 image¦mkdir -p src/foo2bar¦zip -r a.zip b¦ssh -p 2222 host
"""


def cells(table: str) -> Iterator[str]:
    """Yield what stands between the bars of a table, and in its lines."""
    for line in table.strip().splitlines():
        yield from line.split("¦")


def kept(text: str, *secrets: str) -> bool:
    """Tell whether something of a text's secrets is left: by itself, or in a message."""
    for written in (text, json.dumps({"text": f"Hello. {text}\nThen go on."})):
        clean = Redaction(b"key").apply(written)
        assert len(clean) == len(written)
        if any(secret in clean for secret in secrets):
            return True
    return False


def test_what_people_say_and_type_is_redacted() -> None:
    left = []
    for number, cell in enumerate((*cells(SENTENCES), *cells(COMMANDS))):
        for shape in ("{a16}", "{a24}", "Sommer{d4}x"):
            secret, _ = drawn(shape, f"sentence {number}")
            is_key = re.search(r"(?i)key|token|client secret", cell) and "Sommer" in shape
            if not is_key and kept(cell.replace("{}", secret), secret):
                left.append((cell, shape))
    assert left == []


def test_lists_of_keys_are_redacted() -> None:
    left = []
    for number, cell in enumerate(LISTS):
        secrets = [drawn("{a24}", f"list {number} {one}")[1][0] for one in "ab"]
        if kept(cell.format(*secrets), *secrets):
            left.append(cell)
    assert left == []


def test_keys_of_letters_alone_are_redacted() -> None:
    for number, cell in enumerate(LETTERS):
        for shape in ("{l20}", "{l32}"):
            (secret,) = drawn(shape, f"letters {number}")[1]
            assert not kept(cell.format(secret), secret), cell


def test_sentences_that_only_speak_of_secrets_stay() -> None:
    texts = list(cells(STAYING))
    assert [text for text in texts if Redaction(b"key").apply(text) != text] == []
