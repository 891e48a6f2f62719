"""Rules on web addresses: what one that denies finds, what one that allows covers, and whose reading of an address counts."""

import json
import random
import subprocess

import pytest

from cases import for_each
from turnwire.adapter.permissions import addresses
from turnwire.adapter.permissions.calls import ToolCall
from turnwire.adapter.permissions.grants import Grant
from turnwire.adapter.permissions.rules import PathContext, RuleMatch, first_match, read_rules
from turnwire.protocol.parsing.addresses import read_address

ODD = (
    *(
        "https://example.org/x",
        "HTTPS://EXAMPLE.ORG",
        "https:example.org",
        "https:/example.org",
        "https:///a",
    ),
    *("https://evil.com\\@example.org/", "https:\\\\evil.com\\x", "https://a@b@c/", "https://:@x/", "//x/y"),
    *(
        "https://ev%69l.com",
        "https://ｅｖｉｌ.com/",
        "https://evil。com/",
        "https://bücher.de/",
        "https://ⓔvil.com",
    ),
    *(
        "https://xn--bcher-kva.de/",
        "https://xn--a/",
        "https://faß.de/",
        "https://a\u00adb.org/",
        "https://ẞ.de",
    ),
    *("http://2130706433/", "http://0x7f.1/", "http://0177.0.0.1/", "http://127.1", "http://256.1.1.1/"),
    *(
        "http://0x7f000001:80/",
        "http://1.2.3.4.5/",
        "http://1.2.3.09/",
        "http://0xffffffff1/",
        "http://127.0.0.1./",
    ),
    *("http://[::1]/", "http://[::ffff:127.0.0.1]/", "http://[::1", "http://[1:2]/", "http://[::1%25lo]/"),
    *(
        "https://x:443/",
        "https://x:80/",
        "https://x:0443/",
        "https://x:/",
        "https://x:65536/",
        "https://x:8a/",
    ),
    *(
        "https://user@x/",
        "https://user:pass@x/",
        "https://u%40v:p@x/",
        "https://@x/",
        "https://x@/",
        "https://u:@x",
    ),
    *(
        "  https://x/  ",
        "ht\ntps://x/",
        "https://x\t.org/",
        "https://x/a b",
        "https://a b/",
        "https://x\u3000y/",
    ),
    *(
        "file:///etc/passwd",
        "file://host/x",
        "data:text/html,x",
        "javascript:alert(1)",
        "foo://HOST/x",
        "x",
        "",
    ),
    *("https://x/a/../b", "https://x/%2e%2e/b", "https://x/.%2e/b", "https://x/a/./b", "https://x/a\\..\\b"),
    *("https://x?y", "https://x#y", "https://x/?a=b#c", "https://x/é?é#é", "https://x/%zz", "https://x/\x00"),
    *(
        "https://a..b/",
        "https://.a/",
        "https://a./",
        "https://a_b/",
        "https://-a-/",
        "https://*.x/",
        "https://x^y/",
    ),
    *(
        "wss://x/",
        "ftp://x:21/",
        "blob:https://x/y",
        "mailto:a@b",
        "about:blank",
        "https://x|y/",
        "https://<x>/",
    ),
    *(
        "https://%65vil.com",
        "https://%00/",
        "https://%",
        "https://a%2fb/",
        "https://a%3ab/",
        "https://a%40b/",
    ),
)
"""Addresses that parsers have disagreed about."""

PIECES = (
    *(
        "https:",
        "http:",
        "HTTP:",
        "file:",
        "foo:",
        "//",
        "/",
        "\\",
        "\\\\",
        "@",
        ":",
        "?",
        "#",
        ".",
        "..",
        "%2e",
        "%2F",
    ),
    *(
        "evil.com",
        "EVIL",
        "example.org",
        "user",
        "pass",
        "443",
        "80",
        "8080",
        "0x7f",
        "1",
        "127.0.0.1",
        "[::1]",
        "[",
        "]",
    ),
    *(
        "%69",
        "%",
        "%zz",
        " ",
        "\t",
        "\n",
        "é",
        "ß",
        "ｅ",
        "。",
        "\u00ad",
        "\u200d",
        "xn--",
        "-",
        "_",
        "*",
        "|",
        "\x00",
        "\x7f",
        "🦊",
    ),
)


def by_node(addresses: list[str]) -> list[list[object] | None]:
    """Return scheme, host, port, rest and whether there are credentials, of each; None for what Node refuses."""
    script = """
    const told = JSON.parse(require("fs").readFileSync(0, "utf8")).map((text) => {
      let u;
      try { u = new URL(text); } catch { return null; }  // canParse() of Node 20 refuses letters of Latin-1
      return [u.protocol.slice(0, -1), u.hostname, u.port, u.pathname + u.search + u.hash, !!(u.username || u.password)];
    });
    console.log(JSON.stringify(told));
    """
    ran = subprocess.run(
        ["node", "-e", script],
        input=json.dumps(addresses),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return list(json.loads(ran.stdout))


def ours(text: str) -> list[object] | None:
    read = read_address(text)
    return None if read is None else [read.scheme, read.host, read.port, read.rest, read.has_credentials]


def test_addresses_are_read_as_node_reads_them() -> None:
    chance = random.Random(28)
    odd = [*ODD, *("".join(chance.choices(PIECES, k=chance.randint(1, 8))) for _ in range(10_000))]
    odd += ["https://" + "".join(chance.choices(PIECES[5:], k=chance.randint(1, 8))) for _ in range(10_000)]
    node = by_node(odd)
    assert sum(one is not None for one in node) > 3000
    differing = [
        (text, ours(text), theirs) for text, theirs in zip(odd, node, strict=True) if ours(text) != theirs
    ]
    # Node 20 has an older standard: it refuses labels of no letters in Punycode, and takes the capital sharp s for ss
    assert [one for one in differing if "ẞ" not in one[0] and not ("xn--" in one[0] and one[2] is None)] == []


def judge(url: str, *entries: dict[str, object]) -> RuleMatch | None:
    return first_match(read_rules(entries), ToolCall("WebFetch", {"url": url}, "fetch"), PathContext("/here"))


OFF_THE_HOST = (
    "https://evil.com\\@example.org/",
    "https://example.org\\@evil.com/",
    "https://evil.com/@example.org/",
    "file://example.org/etc/passwd",
    "ftp://example.org/",
    "https://example.org:8443/",
    "http://example.org:443/",
    "https://user@example.org/",
    "https://user:pass@example.org/",
    "https://example.org@evil.com/",
    "https://example.org.evil.com/",
    "https://sub.example.org/",
    "https://example.org./",
    "https://example.org\t/",
    " https://example.org/",
    "https://[bad",
    "example.org",
    "",
)


@for_each("url", OFF_THE_HOST)
def test_a_grant_of_a_domain_covers_its_own_ports_without_credentials(url: str) -> None:
    for content in ("domain:example.org", "domain:*"):
        grant = Grant("WebFetch", content)
        assert not grant.covers(ToolCall("WebFetch", {"url": url}, "fetch"))
    assert judge(url, {"action": "allow", "input": {"url": "domain:example.org"}}) is None
    assert judge(url, {"action": "allow", "input": {"url": "https://example.org/*"}}) is None


@pytest.mark.parametrize(
    "url",
    ["https://example.org/x?y#z", "http://example.org", "https://EXAMPLE.org:443/", "https://ex%61mple.org/"],
)
def test_a_grant_of_a_domain_covers_its_pages(url: str) -> None:
    assert Grant("WebFetch", "domain:example.org").covers(ToolCall("WebFetch", {"url": url}, "fetch"))
    assert judge(url, {"action": "allow", "input": {"url": "domain:example.org"}}) is not None


@for_each(
    "pattern, url, covered",
    [
        ("https://*.python.org/*", "https://docs.python.org/3/", True),
        ("https://*.python.org/*", "https://attacker.net/x.python.org/y", False),
        ("https://*.python.org/*", "https://attacker.net/?x.python.org/y", False),
        ("https://*.python.org/*", "https://attacker.net\\.python.org/y", False),
        ("https://*.python.org/*", "https://u:p@docs.python.org/y", False),
        ("https://*.python.org/*", "https://docs.python.org:99/y", False),
        ("https://*.python.org/*", "http://docs.python.org/y", False),
        ("https://*.python.org:99/*", "https://docs.python.org:99/y", True),
        ("https://docs.python.org*", "https://docs.python.org/3/", True),
        ("https://docs.python.org*", "https://docs.python.org.evil.com/", False),
        ("https://docs.python.org", "https://docs.python.org/", True),
        ("https://docs.python.org", "https://docs.python.org/x", False),
        ("*.python.org/*", "https://attacker.net/x.python.org/y", False),
        ("*.python.org/*", "http://docs.python.org/y", True),
        ("*.python.org/*", "file://docs.python.org/y", False),
        ("https://x/docs/*", "https://x/docs/../secret", False),
        ("https://x/docs/*", "https://x/docs/%2e%2e/secret", False),
        ("https://bücher.de/*", "https://xn--bcher-kva.de/x", True),
        ("https://*.Bücher.de/é*", "https://www.bücher.de/é", True),
        ("http://[::1]/*", "http://[0:0::1]/x", True),
        ("http://[::1]/*", "http://1/x", False),
        ("http://[::1]:8080/*", "http://[::1]:8080/x", True),
        ("https://*", "https://anything.org:8443/x", False),
        ("https://*", "https://anything.org/x", True),
        ("*", "anything", True),
        ("domain:*.python.org", "https://docs.python.org/3", True),
        ("domain:*.python.org", "https://attacker.net/x.python.org", False),
    ],
)
def test_a_wildcard_of_a_rule_that_allows_stays_in_its_part(pattern: str, url: str, *, covered: bool) -> None:
    assert (judge(url, {"action": "allow", "input": {"url": pattern}}) is not None) is covered


EVIL = (
    "https://evil.com/",
    "https://EVIL.com",
    "https://ev%69l.com/x",
    "https://ｅｖｉｌ.com/",
    "https://evil。com/",
    "https://evil.com./x",
    "https://user:pass@evil.com:8443/x",
    "https://evil.com\\@example.org/",
    "ht\ntps://ev\til.com/",
    "  https://evil.com",
    "https:evil.com",
    "evil.com/x",
    "ev\u00adil.com",
)


@for_each("url", EVIL)
@pytest.mark.parametrize("pattern", ["*evil.com*", "domain:evil.com", "*//evil.com/*", "domain:EVIL.com"])
def test_a_rule_that_denies_finds_a_host_however_it_is_spelled(pattern: str, url: str) -> None:
    found = judge(url, {"action": "deny", "input": {"url": pattern}}, {"action": "allow"})
    assert found is not None
    assert found.action == "deny"


@for_each("url", EVIL)
def test_a_regular_expression_that_denies_sees_the_normalized_address(url: str) -> None:
    found = judge(url, {"action": "deny", "regex": {"url": r"//evil\.com/"}}, {"action": "allow"})
    assert found is not None
    assert found.action == "deny"


@for_each(
    "url",
    [
        *(
            "http://127.0.0.1/",
            "http://2130706433/",
            "http://0x7f.1",
            "http://127.1:8080/",
            "http://0177.0.0.1/",
        ),
        *("http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]:99/", "http://①②⑦.0.0.1/", "127.1"),
    ],
)
def test_a_rule_that_denies_finds_an_address_in_numbers(url: str) -> None:
    for pattern in ("*//127.0.0.1*", "domain:127.0.0.1", "http*://127.0.0.1/*"):
        found = judge(url, {"action": "deny", "input": {"url": pattern}})
        assert found is not None
        assert found.action == "deny"


def test_what_is_no_address_is_asked_about_and_other_addresses_are_left_alone() -> None:
    deny: dict[str, object] = {"action": "deny", "input": {"url": "*evil.com*"}}
    for url in ("https://a b/", "http://[::1", "https://x:99999/", "\ud800"):
        found = judge(url, deny, {"action": "allow"})
        assert found is not None
        assert found.action == "ask"
    for url in ("https://example.org/", "https://good.com/evil", "https://evil.org"):
        assert judge(url, deny) is None
        assert judge(url, {"action": "deny", "input": {"url": "domain:evil.com"}}) is None


@for_each("url", [*ODD, "https://docs.python.org.evil.com/", "https://evil.com/?docs.python.org/"])
def test_a_regular_expression_that_allows_sees_the_normalized_address(url: str) -> None:
    allow: dict[str, object] = {"action": "allow", "regex": {"url": r"^https://[^/]*\.python\.org/"}}
    assert judge(url, allow) is None
    assert judge("https://docs.python.org/x", allow) is not None


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("https://good.com\\@evil.com/", "yes"),
        ("https://good.com\\@evil.com", "yes"),
        ("https://good.com\\x\\@EVIL.com:443/y", "yes"),
        ("https://user\\:pass@evil.com/", "yes"),
        ("https://evil.com\\@good.com/", "yes"),
        ("https://good.com#@evil.com/", "maybe"),
        ("https://good.com?@evil.com/", "maybe"),
        ("https://a@evil.com@good.com/", "maybe"),
        ("https://a@b@" + "x@" * 50_000 + "good.com/", "maybe"),
        ("https://good.com/x?to=a@evil.com", "no"),
        ("https://good.com\\x", "no"),
    ],
)
def test_a_host_that_other_programs_read_is_denied_or_asked_about(url: str, found: str) -> None:
    assert addresses.finds_address("domain:evil.com", url) == found
    assert addresses.covers_address("domain:good.com", url) is (url == "https://good.com/x?to=a@evil.com")
