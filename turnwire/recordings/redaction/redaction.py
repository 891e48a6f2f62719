r"""Replace a secret by a placeholder of the same length and shape, the same in every place.

Each text is searched at every depth. JSON is read string by string, with the keys beside them. Then the rest is read
without a terminal's colours, without its escapes (`\u002d`, `%2D`, `&#45;`), and as decoded base64 or hexadecimal
digits, wrapped or not. Only letters and digits inside of strings are ever replaced, by letters, and each under the
escape it had; so JSON stays valid, and sizes, structure and times are kept.
"""

import base64
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b

from turnwire.recordings.redaction.escapes import (
    Unescaped,
    has_orders,
    with_blank_orders,
    without,
    without_entities,
    without_form_escapes,
    without_json_escapes,
    without_orders,
    without_percent_escapes,
    without_quoted,
    without_soft_ends,
    without_tags,
)
from turnwire.recordings.redaction.keywords import Keywords
from turnwire.recordings.redaction.secret_kinds import (
    ARTICLES,
    ASSIGNMENT,
    BEFORE,
    CALLED,
    CALLED_BEFORE,
    CLOSING,
    COMPOUND,
    HARMLESS_NAME,
    ITEM,
    LAST_WORD,
    LINE,
    LINE_NAME,
    LIST,
    LIST_LINES,
    LONGEST_LIST,
    LONGEST_NAME,
    NAMES,
    NO_SECRET,
    OPTION,
    PAIRED,
    PASSWORD_NAME,
    RULES,
    SECRET_NAME,
    SENTENCE,
    SOME_KEY,
    WITH,
    Rule,
)

_STRING = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"(\s*:)?', re.DOTALL)
_SIBLINGS = re.compile(r"\s*,\s*")
_ESCAPED = re.compile(r"\\[\"'\\/bfnrtuUxe0-3]")
_ESCAPES = re.compile(r"\\+(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[bfnrt])?|[%=][0-9A-F]{2}|&#?\w{1,7};")
_ENTITY = re.compile(r"&(?:#\w{1,8}|amp|lt|gt|quot|apos|nbsp);")
_ENCODED = re.compile(r"(?<![^\s\"'<>])[^\s\"'<>%+]*+[%+][^\s\"'<>]*+")
_IN_FORM = re.compile(r"%[0-9a-fA-F]{2}|=[^+=]*+\+|\w\+[\w\-]+\+[\w\-]")
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/_\-])[A-Za-z0-9+/_\-]{16,}={0,2}(?![A-Za-z0-9+/=_\-])")
_LINE_END = re.compile(
    r"(?:[\"'][ \t]{0,8}[+.,\\]?|\\)?[ \t]{0,8}(?:\r?\n[ \t>]{0,40}(?:\d{1,6}[\t→|:][ \t]{0,8})?|[ ])[\"']?"
)
_WRAPPED = re.compile(
    rf"(?<![A-Za-z0-9+/_\-])[A-Za-z0-9+/_\-]{{16,}}+(?:{_LINE_END.pattern}[A-Za-z0-9+/_\-]{{1,}}+)++={{0,2}}"
)
"""Base64 that goes on in further lines, also where these are numbered, quoted, or joined by blanks."""
_LONG_WORD = re.compile(r"[A-Za-z0-9+/_\-]{16}")
_HEX = re.compile(
    r"(?<![0-9a-zA-Z])(?:[2-7][0-9a-fA-F]|0[9aAdD]){12,}+(?:\r?\n[ \t]{0,40}(?:[2-7][0-9a-fA-F]|0[9aAdD])++)*+(?![0-9a-zA-Z])"
)
"""Hexadecimal digits of text, in one line or several."""
_HEX_END = re.compile(r"\r?\n[ \t]{0,40}")
_KEY_BEGINS = r"----[- ]BEGIN [A-Za-z0-9 ]{0,40}(?:PRIVATE KEY(?: BLOCK)?|Static key V1)[- ]----"
_KEY_BLOCK = re.compile(
    rf"(?P<begin>{_KEY_BEGINS})(?P<body>[^\x00]{{0,65536}}?)(?P<end>---- ?-?END|\Z)|"
    rf"(?P<begin2>{_KEY_BEGINS})(?P<body2>[^\x00]{{65536}})",
)
_KEY_RUN = re.compile(r"\\+(?:u[0-9a-fA-F]{4}|.)|[A-Za-z0-9+/]{12,}={0,2}")
"""A line of a key, or an escape, which stays."""
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

_INDEX = re.compile(r"\[\w{0,20}\Z")
_STAND_IN = re.compile(r"(?i)^(?:pass(?:word|wd)?|pwd|pw|secret|token|user|bar|\W*)$")
"""What stands for the password in the URL of an example."""

_ALL = (*RULES, LINE, ASSIGNMENT, LIST, SENTENCE, *NAMES)
_KEYWORDS = Keywords(hint for rule in _ALL for hint in rule.hints)
_EVERYWHERE = tuple(number for number, rule in enumerate(_ALL) if not rule.hints)
_BY_HINT: dict[str, list[int]] = {}
for _number, _rule in enumerate(_ALL):
    for _hint in _rule.hints:
        _BY_HINT.setdefault(_hint, []).append(_number)
_TO_BASE64 = str.maketrans("-_", "+/")
_TO_URL = str.maketrans("+/", "-_")
_LONGEST_FORM = 65_536

_DIGIT = re.compile(r"\d")
_BEGINS_LINE = re.compile(r"(?:\A|[\"'`=])[ \t+\-#>|→:0-9\"'`\\]*+\Z")
"""What may stand before the first word of a line: its number, a quote, or the mark of a change."""
_LOWER, _UPPER, _SIGNS = re.compile(r"[a-z]"), re.compile(r"[A-Z]"), re.compile(r"[!#$%^&*+~?]")
_INNER_SIGN = re.compile(r"[A-Za-z][!#$%^&*+~?]+[A-Za-z]")
_CHARACTER = re.compile(r"[A-Za-z0-9]")
_OTHER_CASE = re.compile(r"[a-z](?=[A-Z])|[A-Z](?=[a-z])")
_VOWEL = re.compile(r"[aeiouyAEIOUY]")
_CONSONANTS = re.compile(r"[bcdfghjklmnpqrstvwxzBCDFGHJKLMNPQRSTVWXZ]{5}")
_SPACE = re.compile(r"\s")

_DEEPEST = 5
_LARGE, _MORE_OF_LARGE = 16_384, 2
"""Characters of a large text, and how many layers less it is read through: each layer costs a look at all of it."""
_LONGEST_CALL = 60
_SHORTEST_BINARY = 4096
"""Bytes. A shorter value is read as text, because that costs little."""
_NEVER_IN_TEXT = bytes(byte for byte in range(0x20) if byte not in b"\a\b\t\n\f\r\x1b")
"""Control characters that neither text nor a terminal's colours have; one byte in ten of what is compressed is among them."""
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
        self._clean_readings: dict[bytes, int] = {}
        """Digests of long texts without secrets, and how deep in others they were read."""

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
        key = label = before = plural = ""
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
                if text[end_of_key : found.start()].strip() == "[" and end_of_key > 0:
                    plural = key
                follows = not is_member and _SIBLINGS.fullmatch(text, end_of_value, found.start()) is not None
                if not is_member and plural and (follows or plural is key):
                    singular = plural.removesuffix("s")
                    is_named = _is_name(singular)
                    if (is_named or plural == "keys") and _is_item(singular, body, is_named=is_named):
                        name = singular if is_named else "api_key"
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
        if has_orders(text) and (plain := without_orders(text)).places:
            text = plain.restored(self._deeper(plain.text, depth))
            # what an order stands before begins a word
            clean = self._scan(blank := with_blank_orders(text))
            if clean != blank:
                text = "".join(
                    new if new != old else was for was, old, new in zip(text, blank, clean, strict=True)
                )
        if "=3D" in text or "=\n" in text or "=\r\n" in text:
            text = self._quoted(text, depth)
        if "</" in text:
            plain = without_tags(text)
            if plain.places:
                text = plain.restored(self._deeper(plain.text, depth))
        if "\\" in text and _ESCAPED.search(text):
            meaning = without_json_escapes(text)
            if meaning.text != text:
                text = self._meant(meaning, depth)
        if "&" in text and _ENTITY.search(text):
            text = self._meant(without_entities(text), depth)
        if "%" in text or "+" in text:
            text = _ENCODED.sub(lambda found: self._form(found[0], depth), text)
        if _LONG_WORD.search(text):
            text = _WRAPPED.sub(lambda found: self._wrapped(found[0], depth), text)
            text = _BASE64.sub(lambda found: self._base64(found[0], depth), text)
            text = _HEX.sub(lambda found: self._hex(found[0], depth), text)
        return self._scan(text)

    def _deeper(self, text: str, depth: int) -> str:
        """Read what a layer hid. Layers that are taken off in another order give the same text: it is read once."""
        if len(text) <= _REMEMBERED:
            return self._reading(text, depth)
        digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        if self._clean_readings.get(digest, _DEEPEST + 1) <= depth:
            return text
        clean = self._reading(text, depth + _MORE_OF_LARGE if len(text) > _LARGE else depth)
        if clean == text and len(self._clean_readings) < _MAX_REMEMBERED:
            self._clean_readings[digest] = depth
        return clean

    def _reading(self, text: str, depth: int) -> str:
        return self._prose(text, depth + 1) if depth < _DEEPEST else self._scan(text)

    def _meant(self, meaning: Unescaped, depth: int) -> str:
        return meaning.restored(self._deeper(meaning.text, depth)) if meaning.places else meaning.source

    def _quoted(self, source: str, depth: int) -> str:
        """Look into quoted-printable text."""
        plain = without_soft_ends(source)
        meaning = without_quoted(plain.text)
        if not meaning.places and not plain.places:
            return source
        return plain.restored(meaning.restored(self._deeper(meaning.text, depth)))

    def _form(self, source: str, depth: int) -> str:
        """Look into what may be part of a URL or a form."""
        if "%" in source:
            source = self._meant(without_percent_escapes(source), depth)
        if "+" in source and len(source) < _LONGEST_FORM and _IN_FORM.search(source):
            source = self._meant(without_form_escapes(source), depth)
        return source

    def _wrapped(self, source: str, depth: int) -> str:
        """Look into base64 of several lines; the last one may be shorter, or be no part of it."""
        plain = without(source, _LINE_END)
        width = plain.places[0][0]
        ends = {place: None for place, _ in plain.places}
        size = width
        while size + width in ends:
            size += width
        after = next((place for place in ends if place > size), len(plain.text))
        for end in dict.fromkeys((after if after - size <= width else size, size)):
            if end > width:
                encoded = plain.text[:end]
                clean = self._base64(encoded, depth)
                if clean != encoded:
                    return plain.restored(clean + plain.text[end:])
        return source

    def _base64(self, encoded: str, depth: int) -> str:
        """Look into base64 that holds text; what only looks like it stays."""
        plain = encoded.rstrip("=").translate(_TO_BASE64)
        try:
            if not _is_text(base64.b64decode(plain[:16], validate=True)):
                return encoded
            content = base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
        except ValueError:
            return encoded
        if _is_binary(content):
            return encoded
        # a recording keeps lines that are not UTF-8 like this; the rest of such a line is text
        text = content.decode("utf-8", "surrogateescape")
        clean = self._text(text, depth + 1)
        if clean == text:
            return encoded
        fresh = base64.b64encode(clean.encode("utf-8", "surrogateescape")).decode()
        if "-" in encoded or "_" in encoded:
            fresh = fresh.translate(_TO_URL)
        return fresh.rstrip("=") + encoded[len(encoded.rstrip("=")) :]

    def _hex(self, encoded: str, depth: int) -> str:
        """Look into hexadecimal digits that are ASCII."""
        lines = without(encoded, _HEX_END)
        return lines.restored(self._hex_line(lines.text, depth))

    def _hex_line(self, encoded: str, depth: int) -> str:
        text = bytes.fromhex(encoded).decode("latin-1")
        clean = self._deeper(text, depth)
        if clean == text:
            return encoded
        fresh = clean.encode("latin-1", "replace").hex()
        return fresh.upper() if encoded.isupper() else fresh

    def _scan(self, text: str) -> str:
        low = _lower(text)
        if "key" in low and ("-----begin" in low or "---- begin" in low):
            text = _KEY_BLOCK.sub(self._key_block, text)
        places = _KEYWORDS.places(low)
        hit = set().union(*(_BY_HINT[hint] for hint in places)) if places else set()
        for number in sorted(hit.union(_EVERYWHERE)):
            rule = _ALL[number]
            text = self._changed(text, _matches(rule, text, places), rule)
        return text

    def _changed(self, text: str, matches: Iterator[re.Match[str]], rule: Rule) -> str:
        parts: list[str] = []
        done = 0
        for found in matches:
            if found.start() < done:
                continue
            if rule is LIST:
                span: str | int | None = "item" if found["item"] not in self._replaced else None
            elif rule is SENTENCE:
                span = "said" if found["said"] not in self._replaced and _is_said(found) else None
            else:
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
            "secret"
            if "secret" in rule.pattern.groupindex
            else 1
            if groups and len(found[1] or "") >= 8
            else 0
        )
        secret = found[group]
        if secret in self._replaced or found[0] in self._replaced:
            return None  # a later rule meets what an earlier one has put there
        if rule.mixed and not _has_digit(secret):
            return None
        if rule not in NAMES and rule.kind != "password hash" and _PLACEHOLDER.match(secret):
            return None
        if rule.kind == "password in a URL" and _STAND_IN.match(secret):
            return None
        return group

    def _assigned(self, found: re.Match[str]) -> str | None:
        """The same for NAME = value, which needs a look at what stands before it."""
        groups = found.groupdict()
        quoted = next((name for name in ("double", "single", "back", "element") if groups.get(name)), None)
        group = quoted or "bare"
        value, sign = found[group], groups.get("sign", "=") or "="
        if value in self._replaced or groups.get("after"):
            return None
        at = found.start()
        begun = _begun(found.string, at)
        end = "tag" if groups.get("tag") else "sign" if "sign" in groups else 0
        name = begun + found.string[at : found.start(end)]
        name = _INDEX.sub("", name.rstrip("\"'])\\"))
        if not _is_name(name):
            return None
        if "sign" not in groups and not name.isupper() and ("(" in value or value.endswith(",")):
            return None  # an argument on a line of its own
        if sign.strip(" \t\n\r\"',") == "":  # no sign at all: an option and its value
            is_option = (
                name.startswith("-")
                and "\n" not in sign
                and not value.startswith("-")
                and not _PLACEHOLDER.match(value)
            )
            if is_option:
                return group
            before = found.string[max(0, at - len(begun) - _LONGEST_CALL) : at - len(begun)]
            is_called = "," not in sign and CALLED.search(before) is not None
            is_pair = (
                "," in sign
                and quoted is not None
                and (found.string[found.start("sign") - 1] in "\"'" or before.endswith("{"))
            )
            begins = before.rpartition("\n")[2]
            is_setting = quoted is not None and "," not in sign and _BEGINS_LINE.search(begins) is not None
            is_secret = (
                (is_called or is_pair or is_setting)
                and _has_digit(value)
                and _is_value(name, value, quoted=True)
            )
            return group if is_secret else None
        if sign.strip() in ("(", "{") and not _has_digit(value):
            return None
        is_secret = _is_value(name, value, quoted=quoted is not None, tight=sign in ("=", ":"))
        return group if is_secret else None

    def _put(self, kind: str, secret: str) -> str:
        """Letters for letters and digits; punctuation stays."""
        if secret in self._replaced or (secret.startswith("3D") and secret[2:] in self._replaced):
            return secret  # 3D: what is left of a sign in quoted-printable text
        self.counts[kind] = self.counts.get(kind, 0) + 1
        stream = blake2b(secret.encode("utf-8", "surrogatepass"), key=self._key, digest_size=64).digest()
        fresh = "".join(
            _like(character, _FILLED[stream[at % len(stream)] % len(_FILLED)])
            for at, character in enumerate(secret)
        )
        # what they stand for was looked at before, and a string stays one
        for found in _ESCAPES.finditer(secret):
            fresh = fresh[: found.start()] + found[0] + fresh[found.end() :]
        self._replaced.add(fresh)
        return fresh

    def _key_block(self, found: re.Match[str]) -> str:
        """A private key between its two lines; without the second, what still looks like one."""
        begin, body = found["begin"] or found["begin2"], found["body"] if found["begin"] else found["body2"]
        run = _KEY_RUN if found["end"] else _KEY_LINES
        clean = run.sub(lambda one: one[0] if one[0][0] == "\\" else _CHARACTER.sub("x", one[0]), body)
        if clean != body:
            self.counts["private key"] = self.counts.get("private key", 0) + 1
        return begin + clean + (found["end"] or "")


def _matches(rule: Rule, text: str, known: Mapping[str, Sequence[int]]) -> Iterator[re.Match[str]]:
    """Return where a rule's pattern fits, in order; those of assignments may overlap, since most are none."""
    if rule.look == "all":
        yield from rule.pattern.finditer(text)
        return
    done = 0
    for at in _places(rule.hints, known):
        if at < done or (rule is LINE and not _ends_name(text, at)):
            continue
        if rule is ASSIGNMENT and not _is_named(text, at):
            continue
        if rule is LIST:
            done, items = _items(text, at)
            yield from items
        elif rule is SENTENCE:
            if text[at - 1 : at] == " " and ARTICLES.search(text, max(0, at - 24), at) is not None:
                said = CALLED_BEFORE.search(text, max(0, at - 200), at)
                if said is not None and LAST_WORD.match(text, at) is not None:
                    yield said
            if (here := rule.pattern.match(text, at)) is not None:
                yield here
        elif rule.look == "near":
            end = at + _FAR
            for found in rule.pattern.finditer(text, max(done, at - _NEAR), end):
                done = found.end()
                yield found
            done = max(done, end - _NEAR)
        elif (here := rule.pattern.match(text, at)) is not None:
            done = 0 if rule is ASSIGNMENT else here.end()
            yield here


def _items(text: str, at: int) -> tuple[int, Sequence[re.Match[str]]]:
    """Return where a list ends whose name ends with the plural here, and its secrets."""
    begins = LIST.pattern.match(text, at)
    if begins is None:
        return at, ()
    word = re.match(r"[A-Za-z]+", text[at : at + 12])
    name = _begun(text, at) + (word[0] if word is not None else "")
    is_named = _is_name(name[:-1])
    if not is_named and name.lower() != "keys":
        return at, ()
    start, opened = begins.end(), begins["open"]
    if opened:
        end = text.find(CLOSING[opened], start, start + LONGEST_LIST)
    elif text[start : start + 1] == "\n":
        lines = LIST_LINES.match(text, start)
        end = lines.end() if lines is not None else start
    else:
        space = _SPACE.search(text, start, start + LONGEST_LIST)
        end = space.start() if space is not None else -1
    end = end if end >= 0 else min(len(text), start + LONGEST_LIST)
    found = ITEM.finditer(text, start, end)
    return end, [one for one in found if _is_item(name[:-1], one["item"], is_named=is_named)]


def _is_item(name: str, value: str, *, is_named: bool) -> bool:
    """Tell a secret in a list from the words and numbers that lists have."""
    is_mixed = _has_digit(value) and any(character.isalpha() for character in value)
    if not is_mixed or NO_SECRET.match(value):
        return False
    if PASSWORD_NAME.search(name):
        return _is_value(name, value, quoted=True)
    if not is_named:
        return len(value) >= 16 and value.isalnum() and not value.islower() and not value.isupper()
    return len(value) >= 12 and _is_value(name, value, quoted=True)


def _is_said(found: re.Match[str]) -> bool:
    """Tell the secret of a sentence from what the sentence says about it."""
    groups, value, at = found.groupdict(), found["said"], found.start()
    if NO_SECRET.match(value) or _PLACEHOLDER.match(value) or _ENVIRONMENT_NAME.match(value):
        return False
    has_digit = _has_digit(value)
    is_mixed = has_digit and any(character.isalpha() for character in value)
    if found.re is CALLED_BEFORE:
        return is_mixed and _is_strong(value)
    text, sign = found.string, found["sign"] or ""
    if at > 0 and _CHARACTER.match(text, at - 1) is not None:
        return False
    before = (text, max(0, at - 24), at)
    if groups["key"]:
        return (
            COMPOUND.search(*before) is not None
            and sign.strip() != ""
            and (value.isascii() and len(value) >= 16)
            and (is_mixed or _is_random(value))
        )
    if found["password"].lower() in ("login", "creds", "credentials"):
        return bool(groups["user"]) and is_mixed and _is_strong(value)
    if sign.strip() == "":
        return WITH.search(*before) is not None and is_mixed and _is_strong(value)
    return is_mixed or _is_random(value) or (_INNER_SIGN.search(value) is not None and len(value) >= 8)


def _is_strong(value: str) -> bool:
    """Tell what a human or a program has made up from a word with a number at its end."""
    kinds = sum(
        map(bool, (_DIGIT.search(value), _LOWER.search(value), _UPPER.search(value), _SIGNS.search(value)))
    )
    return len(value) >= 8 and (kinds >= 3 or len(_DIGIT.findall(value)) >= 2)


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


def _places(hints: tuple[str, ...], known: Mapping[str, Sequence[int]]) -> Sequence[int]:
    found = [known[hint] for hint in hints if hint in known]
    return found[0] if len(found) == 1 else sorted(place for places in found for place in places)


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


@lru_cache(maxsize=8192)
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
        if not has_digit and not value.isascii() and value.isalpha() and not quoted:
            return False
        if not has_digit and _SAYS_ITSELF.search(value):
            return False
        # `password: str` and `password = value` are code; `PASSWORD=value` and a quoted word are not
        return quoted or has_digit or tight or _CODE.match(value) is None or _is_random(value)
    if SECRET_NAME.search(name[-LONGEST_NAME:]) is None:
        return len(value) >= 20 and has_digit and value.isascii()
    if len(value) < 8 or (not has_digit and _SAYS_ITSELF.search(value)):
        return False
    if has_digit:
        return any(character.isalpha() for character in value)
    if _is_random(value) or _is_drawn(value):
        return True
    # an env file's line has no code
    return len(value) >= (16 if tight and name.isupper() and value.isalpha() else 20) and (
        _CODE.match(value) is None or (tight and name.isupper() and value.isalpha())
    )


def _is_random(text: str) -> bool:
    """Tell letters that were drawn from the words of a name such as getUserToken: these change their case less often."""
    return len(text) >= 12 and len(_OTHER_CASE.findall(text)) >= 0.4 * len(text)


def _is_drawn(text: str) -> bool:
    """Tell letters of one case that were drawn: words have more vowels, and fewer consonants in a row."""
    if len(text) < 16 or not text.isascii() or not text.isalpha():
        return False
    vowels = len(_VOWEL.findall(text))
    return vowels < 0.25 * len(text) or (vowels < 0.33 * len(text) and _CONSONANTS.search(text) is not None)


def _has_digit(text: str) -> bool:
    return _DIGIT.search(text) is not None or (
        not text.isascii() and any(character.isdigit() for character in text)
    )


def _is_text(head: bytes) -> bool:
    return all(byte >= 0x20 or byte in (9, 10, 13) for byte in head)


def _is_binary(content: bytes) -> bool:
    """Tell whether this is a file of no text, though it begins with some, as PDF does. Reading all of it would take hours."""
    text = content.translate(None, _NEVER_IN_TEXT)
    return len(content) >= _SHORTEST_BINARY and (len(content) - len(text)) * 30 > len(content)


def _like(character: str, letter: str) -> str:
    """Return a letter of as many bytes."""
    if not character.isalnum():
        return character
    code = ord(character)
    return letter if code < 0x80 else "ß" if code < 0x800 else "字" if code < 0x10000 else "\U0001d431"
