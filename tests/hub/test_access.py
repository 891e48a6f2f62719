"""Tokens, Host and Origin, and the allowance of wrong tokens."""

import pytest
from pydantic import SecretStr

from turnwire._runtime.origins import is_loopback, policy_for
from turnwire.hub.config import HubConfig
from turnwire.hub.principals import Principal
from turnwire.hub.server.access import (
    AccessError,
    Allowance,
    Proxies,
    RoleTokens,
    TokenCheck,
    WrongToken,
    address_prefix,
    token_of,
)

TOKEN, VIEW = "control-token-0123456789", "view-token-0123456789"


def configured(**options: object) -> HubConfig:
    return HubConfig.model_validate({"token": SecretStr(TOKEN), "view_token": SecretStr(VIEW), **options})


def test_each_start_has_its_own_tokens_unless_they_are_configured() -> None:
    first, second = RoleTokens.from_config(HubConfig()), RoleTokens.from_config(HubConfig())
    assert len({first.control, first.view, second.control, second.view}) == 4
    assert min(len(first.control), len(first.view)) >= 43
    assert RoleTokens.from_config(configured()) == RoleTokens(TOKEN, VIEW)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"host": "0.0.0.0", "token": None}, "Listening on 0.0.0.0 lets other machines in"),
        ({"host": "192.168.0.7", "token": None}, "configure a token"),
        ({"token": SecretStr("short")}, "at least 16 characters"),
        ({"view_token": SecretStr(TOKEN)}, "are the same"),
    ],
)
def test_a_configuration_that_lets_in_whom_it_should_not_is_refused(
    options: dict[str, object], sentence: str
) -> None:
    with pytest.raises(AccessError, match=sentence):
        RoleTokens.from_config(configured(**options))


def test_a_token_gives_its_role_and_nothing_else_does() -> None:
    tokens = RoleTokens(TOKEN, VIEW)
    assert tokens.role(TOKEN) == "control"
    assert tokens.role(VIEW) == "view"
    for wrong in ("", TOKEN[:-1], TOKEN + "x", "é\udc80"):
        assert tokens.role(wrong) is None


@pytest.mark.parametrize(
    ("listens_on", "host", "allowed"),
    [
        ("127.0.0.1", "127.0.0.1:8787", True),
        ("127.0.0.1", "localhost", True),
        ("127.0.0.1", "LOCALHOST:1", True),
        ("127.0.0.1", "demo.localhost:1", True),
        ("127.0.0.1", "[::1]:8787", True),
        ("127.0.0.1", "console.example", True),
        ("127.0.0.1", "evil.example:8787", False),
        ("127.0.0.1", "127.0.0.1.evil.example", False),
        ("127.0.0.1", "192.168.0.7", False),
        ("127.0.0.1", "127.0.0.1, evil.example", False),
        ("127.0.0.1", "", False),
        ("127.0.0.1", None, False),
        ("127.0.0.1", "[", False),
        ("0.0.0.0", "192.168.0.7:8787", True),
        ("0.0.0.0", "evil.example", False),
        ("build.internal", "build.internal:80", True),
    ],
)
def test_a_host_must_be_known_so_that_a_rebound_name_does_not_get_in(
    listens_on: str, host: str | None, allowed: bool
) -> None:
    assert policy_for(listens_on, ("console.example",), ()).host_allowed(host) is allowed


@pytest.mark.parametrize(
    ("origin", "host", "allowed"),
    [
        (None, "127.0.0.1:1", True),
        ("http://127.0.0.1:1", "127.0.0.1:1", True),
        ("https://127.0.0.1:1", "127.0.0.1:1", True),
        ("https://console.example", "127.0.0.1:1", True),
        ("http://127.0.0.1:2", "127.0.0.1:1", False),
        ("http://localhost:1", "127.0.0.1:1", False),
        ("http://evil.example", "127.0.0.1:1", False),
        ("null", "127.0.0.1:1", False),
        ("file://127.0.0.1:1", "127.0.0.1:1", False),
    ],
)
def test_a_page_must_be_the_hubs_own_or_configured(origin: str | None, host: str, allowed: bool) -> None:
    assert policy_for("127.0.0.1", (), ("https://console.example",)).origin_allowed(origin, host) is allowed


def test_a_token_is_found_in_the_header_or_else_in_the_subprotocol() -> None:
    assert token_of("Bearer abc", None) == ("abc", True)
    assert token_of("bearer abc", "turnwire.v1, turnwire.token.def") == ("abc", True)
    assert token_of("Basic abc", None) == ("", True)
    assert token_of(None, "turnwire.v1, turnwire.token.def") == ("def", False)
    assert token_of(None, "turnwire.v1") == (None, False)


def test_an_allowance_runs_out_for_one_address_and_comes_back() -> None:
    allowance = Allowance(3, 0.5)
    for _ in range(3):
        assert allowance.wait("a", 0.0) == 0
        allowance.spend("a", 0.0)
    assert allowance.wait("a", 0.0) == 2.0
    assert allowance.wait("b", 0.0) == 0
    assert allowance.wait("a", 1.0) == 1.0
    assert allowance.wait("a", 2.0) == 0


def test_an_allowance_remembers_a_bounded_number_of_addresses() -> None:
    allowance = Allowance(1, 0.1)
    for number in range(5000):
        allowance.spend(str(number), 0.0)
    assert len(allowance._spent) == 1024
    assert allowance.wait("4999", 0.0) > 0


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.1.2.3", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("a.b", False),
    ],
)
def test_loopback_is_what_only_this_machine_reaches(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::1", "::/64"),
        ("", ""),
        ("nobody", "nobody"),
    ],
)
def test_an_ipv6_network_counts_as_one_peer(address: str, counted: str) -> None:
    assert address_prefix(address) == counted


def test_a_wrong_token_uses_up_its_neighbours_allowance_and_a_right_one_asks_for_none() -> None:
    refused: list[tuple[str, str, float]] = []
    check = TokenCheck(
        RoleTokens(TOKEN, VIEW),
        Allowance(2, 0.5),
        lambda reason, address, now: refused.append((reason, address, now)),
    )

    def wait(address: str, now: float) -> float | None:
        with pytest.raises(WrongToken) as wrong:
            check.principal("wrong", address, now)
        return wrong.value.retry_after_s

    assert [wait(address, 0) for address in ("2001:db8::1", "2001:db8::2", "2001:db8::3")] == [
        None,
        None,
        2.0,
    ]
    assert wait("2001:db8:0:1::1", 0) is None
    assert check.principal(TOKEN, "2001:db8::4", 0) == Principal("control")
    assert check.principal(VIEW, "2001:db8::4", 0) == Principal("view")
    assert wait("2001:db8::1", 2) is None
    assert [reason for reason, _, _ in refused] == [
        "wrong_token",
        "wrong_token",
        "guessing",
        "wrong_token",
        "wrong_token",
    ]


@pytest.mark.parametrize(
    ("peer", "headers", "client"),
    [
        ("10.1.2.3", {"x-forwarded-for": "192.0.2.1"}, "192.0.2.1"),
        ("::ffff:10.1.2.3", {"x-forwarded-for": "192.0.2.1"}, "192.0.2.1"),
        ("10.1.2.3", {"x-forwarded-for": "6.6.6.6, 192.0.2.1, 10.0.0.9"}, "192.0.2.1"),
        ("10.1.2.3", {"x-forwarded-for": "192.0.2.1:4711"}, "192.0.2.1"),
        ("10.1.2.3", {"x-forwarded-for": "[2001:db8::1]:4711"}, "2001:db8::1"),
        ("10.1.2.3", {"x-forwarded-for": "2001:db8::1"}, "2001:db8::1"),
        ("10.1.2.3", {"x-forwarded-for": "10.9.9.9, 10.8.8.8"}, "10.9.9.9"),
        ("10.1.2.3", {"x-forwarded-for": "192.0.2.1, unknown"}, "10.1.2.3"),
        ("10.1.2.3", {"x-forwarded-for": ""}, "10.1.2.3"),
        ("10.1.2.3", {}, "10.1.2.3"),
        ("10.1.2.3", {"forwarded": 'for=6.6.6.6;by=x, for="[2001:db8::7]:4711";proto=https'}, "2001:db8::7"),
        ("10.1.2.3", {"forwarded": "proto=https;FOR=192.0.2.43"}, "192.0.2.43"),
        ("10.1.2.3", {"forwarded": 'for="x, for="[2001:db8::7]"'}, "10.1.2.3"),
        ("10.1.2.3", {"forwarded": "for=_hidden"}, "10.1.2.3"),
        # Which of the two the proxy wrote is not known: a client that adds the other gains nothing.
        ("10.1.2.3", {"forwarded": "for=6.6.6.6", "x-forwarded-for": "192.0.2.1"}, "10.1.2.3"),
        ("10.1.2.3", {"forwarded": "for=192.0.2.1", "x-forwarded-for": "192.0.2.1"}, "192.0.2.1"),
        ("192.0.2.9", {"x-forwarded-for": "6.6.6.6"}, "192.0.2.9"),
        ("", {"x-forwarded-for": "6.6.6.6"}, ""),
    ],
)
def test_only_a_trusted_proxy_says_where_a_request_comes_from(
    peer: str, headers: dict[str, str], client: str
) -> None:
    assert Proxies(["10.0.0.0/8", "2001:db8:ffff::1"]).client(peer, headers) == client
    assert Proxies([]).client(peer, headers) == peer


def test_a_proxy_that_is_no_address_is_refused() -> None:
    with pytest.raises(AccessError, match=r"trusted_proxies: .*name addresses or networks"):
        Proxies(["proxy.example"])
