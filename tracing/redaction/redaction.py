r"""What takes a secret's place: something of the same length and look, the same wherever it stands.

A text is read as deep as it goes: JSON string by string, with the keys beside them; then what is left under its escapes
(`\u002d`, `%2D`), and base64 that holds text. Only letters and digits inside of strings are ever replaced, by
letters, and each under the escape it had; so JSON stays valid, and sizes, structure and times are kept.
"""

import base64
import json
import re
from array import array
from collections.abc import Iterator
from hashlib import blake2b

from turnwire.tracing.redaction.escapes import without_json_escapes, without_percent_escapes
from turnwire.tracing.redaction.secret_kinds import (
    ASSIGNMENT,
    BEFORE,
    HARMLESS_NAME,
    LAST_WORD,
    LINE,
    LINE_NAME,
    LONGEST_NAME,
    NAMES,
    OPTION,
    PAIRED,
    PASSWORD_NAME,
    RULES,
    SECRET_NAME,
    SOME_KEY,
    Rule,
)

_STRING = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"(\s*:)?', re.DOTALL)
_SIBLINGS = re.compile(r"\s*,\s*")
_ESCAPED = re.compile(r"\\[\"'\\/bfnrtu]")
_UNSPACED = re.compile(r"[^\s\"'<>]+")
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/=])[A-Za-z0-9+/]{16,}={0,2}(?![A-Za-z0-9+/=])")
_KEY_BLOCK = re.compile(
    r"(?P<begin>-----BEGIN [A-Z0-9 ]{0,40}(?:PRIVATE KEY(?: BLOCK)?|Static key V1)-----)"
    r"(?P<body>[^\x00]{0,65536}?)(?P<end>-----END|\Z)|"
    r"(?P<begin2>-----BEGIN [A-Z0-9 ]{0,40}(?:PRIVATE KEY(?: BLOCK)?|Static key V1)-----)(?P<body2>[^\x00]{65536})",
)
_KEY_RUN = re.compile(r"[A-Za-z0-9+/]{12,}={0,2}")
_KEY_LINES = re.compile(
    r"[A-Za-z0-9+/]{60,}={0,2}(?:[^A-Za-z0-9+/=]{1,12}\d{0,5}[^A-Za-z0-9+/=]{0,8}[A-Za-z0-9+/]{1,80}={0,2}(?![A-Za-z0-9+/=]))*"
)

_OPAQUE = frozenset(
    {"type", "subtype", "uuid", "session_id", "parent_tool_use_id", "tool_use_id", "request_id", "role", "ts"}
)
"""Keys whose values hold a recording together."""

_WEB_KEY_SECRETS = frozenset({"d", "p", "q", "dp", "dq", "qi", "k"})
"""The private members of a JSON web key."""

_PLACEHOLDER = re.compile(
    r"^(?:[<$%{*.\[]|x{4,}|X{4,}|\.{3}|your[_\-]|my[_\-]|example$|process\.env|os\.environ|redacted|changeme$)"
)
_CODE = re.compile(r"^[A-Za-z_][A-Za-z_]*(?:(?:\.|->|::|\?\.)[A-Za-z_][A-Za-z0-9_]*)*[.?!:]*$")
_ENVIRONMENT_NAME = re.compile(r"^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$")
_PATH = re.compile(r"^(?:~|\.{0,2})/|^[A-Za-z]:\\|^https?://")
_SAYS_ITSELF = re.compile(
    r"(?i)passw|secret|token|key|required|optional|string|number|invalid|missing|none|null|true|false|undefined"
)

_DIGIT = re.compile(r"\d")
_SPACE = re.compile(r"\s")

_DEEPEST = 5
_NEAR, _FAR = 300, 900
"""Characters looked at before and after a hint."""
_REMEMBERED = 200
_MAX_REMEMBERED = 100_000
_FILLED = "abcdefghijklmnopqrstuvwxyz"


class Redaction:
    """Replaces secrets; the same secret gets the same replacement, which only this key gives."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self.counts: dict[str, int] = {}
        """How often something of each kind was replaced."""
        self._replaced: set[str] = set()
        self._clean: set[str] = set()

    def apply(self, text: str) -> str:
        """Return a text, or a line of JSON, without secrets and of the same length."""
        return self._text(text, 0)

    def inside(self, source: str) -> str:
        """Return the inside of a JSON string, escapes and all, without secrets and of the same length."""
        return self._inside(source, 0)

    def _text(self, text: str, depth: int) -> str:
        if len(text) < 5 or text in self._clean:
            return text
        if depth < _DEEPEST:
            clean = self._json(text, depth) if _is_json(text) else self._prose(text, depth)
        else:
            clean = self._scan(text)
        if clean == text and len(text) <= _REMEMBERED and len(self._clean) < _MAX_REMEMBERED:
            self._clean.add(text)
        return clean

    def _json(self, text: str, depth: int) -> str:
        """String by string; a string's key, or its neighbour in a list, says what it may be."""
        parts: list[str] = []
        done = 0
        key = label = before = ""
        end_of_key = end_of_value = -1
        is_web_key = '"kty"' in text
        for found in _STRING.finditer(text):
            body, start = found[1], found.start(1)
            if found[2] is not None:
                key, end_of_key = without_json_escapes(body).text, found.end()
                fresh = self._inside(body, depth) if len(body) >= 12 else body
            else:
                is_member = not text[end_of_key : found.start()].strip() and end_of_key > 0
                name = key if is_member else ""
                if name in _OPAQUE:
                    continue
                if name in ("name", "key", "variable"):
                    label = body
                elif name == "value":
                    name = label
                if is_web_key and name in _WEB_KEY_SECRETS:
                    name = "private_key"
                follows = not is_member and _SIBLINGS.fullmatch(text, end_of_value, found.start()) is not None
                fresh = self._member(body, name, before if follows else "", depth)
                before, end_of_value = body, found.end()
            if fresh != body:
                parts += (text[done:start], fresh)
                done = start + len(body)
        return "".join([*parts, text[done:]]) if parts else text

    def _member(self, body: str, name: str, before: str, depth: int) -> str:
        """The string under a key, or after another in a list."""
        fresh = self._inside(body, depth)
        if fresh != body:
            return fresh
        meaning = without_json_escapes(body)
        value = meaning.text
        if name and _is_name(name) and _is_value(name, value, quoted=True):
            return meaning.restored(self._put("assignment", value))
        if before and len(before) < 60:
            if OPTION.match(before) and not _PLACEHOLDER.match(value):
                return meaning.restored(self._put("password option", value))
            if PAIRED.match(before) and ":" in value:
                user, password = value.split(":", 1)
                return meaning.restored(f"{user}:{self._put('curl user', password)}")
        return body

    def _inside(self, source: str, depth: int) -> str:
        if "\\" not in source:
            return self._text(source, depth + 1)
        meaning = without_json_escapes(source)
        return meaning.restored(self._text(meaning.text, depth + 1))

    def _prose(self, text: str, depth: int) -> str:
        """Any text: the deepest reading first, since patterns see through no escapes."""
        if "\\" in text and _ESCAPED.search(text):
            meaning = without_json_escapes(text)
            if meaning.text != text:
                text = meaning.restored(
                    self._prose(meaning.text, depth + 1) if depth < _DEEPEST else meaning.text
                )
        if "%" in text:
            text = _UNSPACED.sub(self._percent, text)
        text = _BASE64.sub(lambda found: self._base64(found[0], depth), text)
        return self._scan(text)

    def _percent(self, found: re.Match[str]) -> str:
        if "%" not in found[0]:
            return found[0]
        meaning = without_percent_escapes(found[0])
        return meaning.restored(self._scan(meaning.text)) if meaning.places else found[0]

    def _base64(self, encoded: str, depth: int) -> str:
        """Look into base64 that holds text; what only looks like it stays."""
        try:
            head = base64.b64decode(encoded[:16], validate=True)
            if not _is_text(head):
                return encoded
            content = base64.b64decode(encoded, validate=True)
            # a recording keeps lines that are not UTF-8 like this; the rest of such a line is text
            text = content.decode("utf-8", "surrogateescape")
        except ValueError:
            return encoded
        clean = self._text(text, depth + 1)
        if clean == text:
            return encoded
        return base64.b64encode(clean.encode("utf-8", "surrogateescape")).decode()

    def _scan(self, text: str) -> str:
        low = _lower(text)
        if "key" in low and "-----begin" in low:
            text = _KEY_BLOCK.sub(self._key_block, text)
        for rule in (*RULES, LINE, ASSIGNMENT, *NAMES):
            text = self._changed(text, _matches(rule, text, low), rule)
        return text

    def _changed(self, text: str, matches: Iterator[re.Match[str]], rule: Rule) -> str:
        parts: list[str] = []
        done = 0
        for found in matches:
            if found.start() < done:
                continue
            span = self._assigned(found) if rule in (ASSIGNMENT, LINE) else self._found(found, rule)
            if span is None:
                continue
            start, end = found.span(span)
            parts += (text[done:start], self._put(rule.kind, text[start:end]))
            done = end
            if rule not in NAMES:
                self._replaced.add(text[found.start() : start] + parts[-1] + text[end : found.end()])
        return "".join([*parts, text[done:]]) if parts else text

    def _found(self, found: re.Match[str], rule: Rule) -> str | int | None:
        """Return the group that is the secret, if this is one."""
        groups = rule.pattern.groups
        group: str | int = (
            "secret" if "secret" in rule.pattern.groupindex else 1 if groups and found[1] else 0
        )
        secret = found[group]
        if secret in self._replaced or found[0] in self._replaced:
            return None  # a later rule meets what an earlier one has put there
        if rule.mixed and not _has_digit(secret):
            return None
        if rule not in NAMES and rule.kind != "password hash" and _PLACEHOLDER.match(secret):
            return None
        return group

    def _assigned(self, found: re.Match[str]) -> str | None:
        """The same for NAME = value, which needs a look at what stands before it."""
        groups = found.groupdict()
        quoted = next((name for name in ("double", "single", "back") if groups.get(name)), None)
        group = quoted or "bare"
        value, sign = found[group], groups.get("sign", "=")
        if value in self._replaced or groups.get("after"):
            return None
        at = found.start()
        name = _begun(found.string, at) + found.string[at : found.start("sign" if "sign" in groups else 0)]
        name = name.rstrip("\"'])\\")
        if not _is_name(name):
            return None
        if "sign" not in groups and not name.isupper() and ("(" in value or value.endswith(",")):
            return None  # an argument on a line of its own
        if sign.strip(" \t\n\r\"',") == "":  # no sign at all: an option and its value
            is_option = name.startswith("-") and not value.startswith("-") and not _PLACEHOLDER.match(value)
            return group if is_option else None
        is_secret = _is_value(name, value, quoted=quoted is not None, tight=sign in ("=", ":"))
        return group if is_secret else None

    def _put(self, kind: str, secret: str) -> str:
        """Letters for letters and digits; punctuation stays."""
        if secret in self._replaced:
            return secret
        self.counts[kind] = self.counts.get(kind, 0) + 1
        stream = blake2b(secret.encode("utf-8", "surrogatepass"), key=self._key, digest_size=64).digest()
        fresh = "".join(
            _like(character, _FILLED[stream[at % len(stream)] % len(_FILLED)])
            for at, character in enumerate(secret)
        )
        self._replaced.add(fresh)
        return fresh

    def _key_block(self, found: re.Match[str]) -> str:
        """A private key between its two lines; without the second, what still looks like one."""
        begin, body = found["begin"] or found["begin2"], found["body"] if found["begin"] else found["body2"]
        run = _KEY_RUN if found["end"] else _KEY_LINES
        clean = run.sub(lambda one: re.sub(r"[A-Za-z0-9]", "x", one[0]), body)
        if clean != body:
            self.counts["private key"] = self.counts.get("private key", 0) + 1
        return begin + clean + (found["end"] or "")


def _matches(rule: Rule, text: str, low: str) -> Iterator[re.Match[str]]:
    """Return where a rule's pattern fits, in order; those of assignments may overlap, since most are none."""
    if rule.look == "all":
        yield from rule.pattern.finditer(text)
        return
    done = 0
    for at in _places(rule.hints, low):
        if at < done or (rule is LINE and not _ends_name(text, at)):
            continue
        if rule is ASSIGNMENT and not _is_named(text, at):
            continue
        if rule.look == "near":
            end = at + _FAR
            for found in rule.pattern.finditer(text, max(done, at - _NEAR), end):
                done = found.end()
                yield found
            done = max(done, end - _NEAR)
        elif (here := rule.pattern.match(text, at)) is not None:
            done = 0 if rule is ASSIGNMENT else here.end()
            yield here


def _begun(text: str, at: int) -> str:
    """Return the beginning of the name whose last word begins here."""
    before = BEFORE.match(text[max(0, at - 80) : at][::-1])
    return before[0][::-1] if before else ""


def _is_named(text: str, at: int) -> bool:
    """Tell whether a name ends with the word here: before its value, of a thousand characters, is looked at."""
    word = LAST_WORD.match(text, at)
    return word is not None and _is_name(_begun(text, at) + word[0])


def _ends_name(text: str, at: int) -> bool:
    """Tell whether a line of an env file has its "=" here."""
    last = text[at - 1 : at]
    return (last.isalnum() or last in ("_", ".", "-")) and LINE_NAME.search(
        text[max(0, at - _NEAR) : at]
    ) is not None


def _places(hints: tuple[str, ...], low: str) -> Iterator[int]:
    places = array("Q")
    for hint in hints:
        at = low.find(hint)
        while at >= 0:
            places.append(at)
            at = low.find(hint, at + 1)
    return iter(places if len(hints) == 1 else sorted(places))


def _lower(text: str) -> str:
    low = text.lower()
    if len(low) == len(text):
        return low
    # one letter has a small form of two characters
    return "".join(small if len(small := character.lower()) == 1 else character for character in text)


def _is_json(text: str) -> bool:
    stripped = text.strip()
    if not stripped or (stripped[0], stripped[-1]) not in (("{", "}"), ("[", "]")):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _is_name(name: str) -> bool:
    end = name[-LONGEST_NAME:]
    return (SECRET_NAME.search(end) or SOME_KEY.search(end)) is not None and HARMLESS_NAME.search(end) is None


def _is_value(name: str, value: str, *, quoted: bool, tight: bool = True) -> bool:
    """Tell a secret from code, types, placeholders and words."""
    if len(value) < 4 or _PLACEHOLDER.match(value) or _ENVIRONMENT_NAME.match(value):
        return False
    if value.replace(".", "").replace(",", "").isdigit():
        return PASSWORD_NAME.search(name) is not None and quoted
    has_digit = _has_digit(value)
    if _SPACE.search(value) is not None:
        return PASSWORD_NAME.search(name) is not None and quoted and has_digit and len(value) <= 128
    if _PATH.match(value) or value.lower() == name.lower():
        return False
    if PASSWORD_NAME.search(name):
        if not has_digit and _SAYS_ITSELF.search(value):
            return False
        # `password: str` and `password = value` are code; `PASSWORD=value` and a quoted word are not
        return quoted or has_digit or tight or _CODE.match(value) is None
    if SECRET_NAME.search(name[-LONGEST_NAME:]) is None:
        return len(value) >= 20 and has_digit and value.isascii()
    if len(value) < 8 or (not has_digit and _SAYS_ITSELF.search(value)):
        return False
    if has_digit:
        return any(character.isalpha() for character in value)
    return len(value) >= 20 and _CODE.match(value) is None


def _has_digit(text: str) -> bool:
    return _DIGIT.search(text) is not None or (
        not text.isascii() and any(character.isdigit() for character in text)
    )


def _is_text(head: bytes) -> bool:
    return all(byte >= 0x20 or byte in (9, 10, 13) for byte in head)


def _like(character: str, letter: str) -> str:
    """Return a letter of as many bytes."""
    if not character.isalnum():
        return character
    code = ord(character)
    return letter if code < 0x80 else "ß" if code < 0x800 else "字" if code < 0x10000 else "\U0001d431"
