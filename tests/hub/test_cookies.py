"""Cookies of logins: whose they are, and which open nothing any more."""

import pytest

from turnwire.hub.principals import Principal
from turnwire.hub.server.access import RoleTokens
from turnwire.hub.server.cookies import REMEMBERED, Cookies, LoggedOut, Login

TOKEN, VIEW = "control-token-0123456789", "view-token-0123456789"
CONTROL, VIEWER = Principal("control"), Principal("view")
NOW = 1_700_000_000.5


def role(cookies: Cookies, value: str) -> str | None:
    login = opened(cookies, value)
    return None if login is None else login.principal.role


def opened(cookies: Cookies, value: str) -> Login | None:
    """The login of a cookie with the key that belongs to it."""
    return cookies.login(value, cookies.key(value) or "")


def test_a_cookie_gives_the_role_of_its_token_and_does_not_hold_it() -> None:
    cookies = Cookies(RoleTokens(TOKEN, VIEW))
    control, view = cookies.give(CONTROL, NOW), cookies.give(VIEWER, NOW)
    assert (role(cookies, control), role(cookies, view)) == ("control", "view")
    assert TOKEN not in control
    assert role(Cookies(RoleTokens(TOKEN, VIEW)), control) == "control"
    assert role(Cookies(RoleTokens("another-token-0123456789", VIEW)), control) is None


@pytest.mark.parametrize(
    "value",
    [
        "",
        ".",
        "..",
        TOKEN,
        "a.1.b",
        "a.-1.b",
        "a.\u0661.b",
        "a.1.\xe9",
        "\ud800.1.x",
        "a." + "9" * 5000 + ".x",
        "." * 9000,
    ],
)
def test_what_is_no_cookie_opens_nothing(value: str) -> None:
    assert opened(Cookies(RoleTokens(TOKEN, VIEW)), value) is None


def test_no_part_of_a_cookie_can_be_exchanged() -> None:
    cookies = Cookies(RoleTokens(TOKEN, VIEW))
    one, other = cookies.give(CONTROL, NOW).split("."), cookies.give(CONTROL, NOW + 9).split(".")
    for place in range(3):
        mixed = [*one]
        mixed[place] = other[place]
        assert opened(cookies, ".".join(mixed)) is None


def test_a_cookie_opens_nothing_without_its_own_key() -> None:
    cookies = Cookies(RoleTokens(TOKEN, VIEW))
    one, other = cookies.give(CONTROL, NOW), cookies.give(CONTROL, NOW)
    proof = one.split(".")[2]
    for key in ("", proof, cookies.key(other) or "", "\xe9", TOKEN):
        assert cookies.login(one, key) is None


def test_a_login_that_is_over_is_over_also_after_a_restart_and_others_go_on() -> None:
    cookies = Cookies(RoleTokens(TOKEN, VIEW))
    one, other = cookies.give(CONTROL, NOW), cookies.give(CONTROL, NOW)
    login = opened(cookies, one)
    assert login is not None
    cookies.log_out(login)
    again = Cookies(RoleTokens(TOKEN, VIEW), cookies.logged_out)
    for known in (cookies, again):
        assert (role(known, one), role(known, other)) == (None, "control")


def test_the_list_of_logins_that_are_over_has_a_bound_and_none_of_them_comes_back() -> None:
    over = LoggedOut()
    logins = [Login(f"id-{number}", number, VIEWER) for number in range(1, 3 * REMEMBERED)]
    for login in logins:
        over = over.with_login(login.id, login.began)
        assert len(over.logins) <= REMEMBERED
    assert all(over.has(login) for login in logins)
    assert not over.has(Login("later", 3 * REMEMBERED, VIEWER))
